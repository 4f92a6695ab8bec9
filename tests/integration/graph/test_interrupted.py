"""Ctrl-C while the server is working is obeyed at once; after Ctrl-Z it goes on. The brain can be used afterwards."""

from __future__ import annotations

import os
import signal
import threading
import time

import neo4j as driver
import pytest

from graphbrain import Brain
from graphbrain.graph.connection import Tx


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


def test_who_was_stopped_for_longer_than_a_call_may_take_goes_on(brain: Brain, raw: driver.Driver) -> None:
    attempts: list[int] = []

    def work(tx: Tx) -> int:
        attempts.append(int(tx.one("brain/sizes")[0]))
        if len(attempts) == 1:  # as the server does to a transaction of which it hears nothing
            time.sleep(1.1)
            raw.execute_query(
                "SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.work = 'stopped' "
                "TERMINATE TRANSACTION id YIELD message RETURN message"
            )
        return int(tx.one("brain/sizes")[0])

    brain.graph.limit_seconds = 1.0
    assert brain.graph.read(work, "stopped") == 0
    assert len(attempts) == 2
