"""A lock that a process holds is taken by no other, and by the first that comes once it has ended, however it ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain.crawl import holding
from graphbrain.crawl.holding import Worker

MARK = holding.brain_mark("bolt://a", "neo4j", "crawl")
HOLDS = """
import sys, time
from pathlib import Path
from graphbrain.crawl.holding import Worker, holding
worker = Worker.here()
with holding(Path(sys.argv[1]), sys.argv[2], worker):
    print(worker, flush=True)
    time.sleep(600)
"""


def started(folder: Path) -> tuple[subprocess.Popen[str], Worker]:
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(folder), MARK], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = Worker.of(process.stdout.readline().strip())
    assert worker is not None and worker.pid == process.pid
    return process, worker


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_crawl_held_is_returned_once(tmp_path: Path, number: signal.Signals) -> None:
    own = Worker.here()
    process, other = started(tmp_path)
    try:
        assert not [*holding.ended(tmp_path, MARK, own)], "it runs"
        assert not own.sees_end_of(other)
        process.send_signal(number)
        process.wait()
    finally:
        process.kill()
    assert own.sees_end_of(other)
    assert not [*holding.ended(tmp_path, holding.brain_mark("bolt://b", "", ""), own)]
    assert [[*holding.ended(tmp_path, MARK, own)] for _ in range(2)] == [[other], []]
    assert not [*tmp_path.iterdir()]


def test_an_own_lock_is_held_and_leaves_no_file(tmp_path: Path) -> None:
    own = Worker.here()
    with holding.holding(tmp_path, MARK, own):
        (path,) = tmp_path.iterdir()
        assert path.name.startswith(str(own)) and not [*holding.ended(tmp_path, MARK, own)]
    assert not [*tmp_path.iterdir()]
    with holding.holding(Path("/dev/null/none"), MARK, own):
        pass


@pytest.mark.parametrize("seed", range(30))
def test_the_name_of_a_worker_says_whose_locks_can_be_judged(seed: int) -> None:
    dice, own = random.Random(seed), Worker.here()
    assert Worker.of(str(own)) == own and Worker.of("worker-1") is None
    other = Worker(
        host=dice.choice([own.host, "else-where-1"]),
        pid=dice.choice([os.getpid(), 2**22 + 1]),
        boot=dice.choice([own.boot, "f" * 8]),
        space=dice.choice([own.space, own.space + 1]),
        part=own.part,
    )
    assert Worker.of(str(other)) == other
    assert own.shares_locks(other) == (other.boot == own.boot or other.host == own.host)
    here = (other.boot, other.space) == (own.boot, own.space)
    assert own.sees_end_of(other) == (other.pid > 2**22 if here else other.host == own.host and other.boot != own.boot)
