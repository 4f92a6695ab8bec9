"""Ctrl-C while the server is working is obeyed at once; after Ctrl-Z it goes on. The brain can be used afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import neo4j as driver
import pytest

from graphbrain import Brain
from graphbrain.graph.connection import Tx
from tests.integration.conftest import lock_awaited
from tests.plugin import PATIENCE, Neo4j, eventually

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
from graphbrain import Brain
uri, user, password = sys.stdin.read().split()
with Brain.open(uri=uri, user=user, password=password, crawl="test", auto_tend=False) as brain:
    try:
        brain.change(eps=0.05)
    except KeyboardInterrupt:
        print("interrupted, eps", brain.settings.eps, flush=True)
    brain.change(eps=0.07)
"""


@pytest.mark.usefixtures("brain")
def test_an_interruption_while_it_waits_for_an_answer(
    neo4j: Neo4j, raw: driver.Driver, ask: Callable[..., list[list[object]]]
) -> None:
    """A process waits for a lock that is not let go before it has obeyed; then it goes on with the same brain."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHBRAIN_")}
    with (
        raw.session(database="neo4j") as session,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**kept, "PYTHONPATH": str(ROOT)},
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            with session.begin_transaction() as holder:
                holder.run("MATCH (b:Brain {key: 'brain'}) SET b:Brain").consume()
                process.stdin.write(f"{neo4j.uri} {neo4j.user} {neo4j.password or '-'}")
                process.stdin.close()
                eventually(lambda: lock_awaited(raw), "somebody who waits for the lock", process)
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted, eps 0.03\n"
                holder.rollback()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
    assert ask("MATCH (b:Brain) RETURN b.eps") == [[0.07]]


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
