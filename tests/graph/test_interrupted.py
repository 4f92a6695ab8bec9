"""Ctrl-C while the server is working: it is obeyed at once, and the brain can be used afterwards."""

from __future__ import annotations

import os
import signal
import threading
import time

import neo4j as driver
import pytest

from graphbrain import Brain


def test_an_interruption_while_it_waits_for_an_answer(brain: Brain, raw: driver.Driver) -> None:
    held = "MATCH (b:Brain {key: 'brain'}) SET b:Brain"
    with raw.session(database="neo4j") as session, session.begin_transaction() as holder:
        holder.run(held).consume()
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            brain.change(eps=0.05)
        assert time.monotonic() - started < 5.0
        holder.rollback()
    assert brain.settings.eps == 0.03
    brain.change(eps=0.07)
    assert brain.settings.eps == 0.07
