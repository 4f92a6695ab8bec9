"""A crawl ends when it is to end, whatever its hosts do: by Ctrl-C, SIGTERM and --max-time, once and twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from graphbrain.crawl.running import GRACE
from tests.acceptance.hostile_web import Reply, Site, page
from tests.acceptance.test_crawl import command, hostile
from tests.plugin import PATIENCE, Neo4j, emptied, eventually

ENDING = 25.0
"""Seconds beside the grace that a busy machine may take to give back, to count, and to print."""


def stalled(dice: random.Random) -> Site:
    """A host of which most pages hang before an answer, or within one."""
    paths = [f"/{n}" for n in range(8)]
    pages = {path: Reply(how=dice.choice(["hang", "drip"]), kind="dead") for path in paths}
    return Site("stalled.example", {"/": page(*paths, "/good"), "/good": page(), **pages})


@pytest.mark.parametrize("seed", range(3))
def test_answers_that_hang_do_not_hold_a_crawl(neo4j: Neo4j, seed: int) -> None:
    """What hangs is given back, and can be claimed at once."""
    dice = random.Random(seed)
    limited, times = seed == 0, dice.choice([1, 2])
    number = dice.choice([signal.SIGINT, signal.SIGTERM])
    with hostile(stalled(dice)) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        words, env = command(neo4j, web.proxy, "http://stalled.example/", "--no-contact", "--no-sitemaps")
        running = subprocess.Popen(
            [*words, *(["--max-time", "5s"] if limited else [])],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            eventually(lambda: len(web.visits) > (1 if limited else 5), "pages that hang", running)
            began = time.monotonic()
            for _ in range(0 if limited else times):
                with suppress(ProcessLookupError):
                    running.send_signal(number)
                time.sleep(1.0)
            said = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
        took = time.monotonic() - began
        assert running.returncode == (3 if limited else 130), said
        assert took < ENDING + (GRACE if limited or times == 1 else 0.0) + (5.0 if limited else 0.0), (took, said)
        assert "Traceback" not in "".join(said)
        assert brain.stats()["leased"] == 0, brain.stats()
        assert brain.audit(None).ok


def test_what_a_killed_crawl_held_can_be_fetched_at_once(neo4j: Neo4j, tmp_path: Path) -> None:
    """By the next crawl on the same data directory; a lease would hold it for five minutes."""
    pages = {f"/{n}": Reply(how="hang", kind="dead") for n in range(6)}
    site = Site("stalled.example", {"/": page(*pages), **pages})
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        words, env = command(neo4j, web.proxy, "http://stalled.example/", "--no-contact", "--no-sitemaps")
        env |= {"GRAPHBRAIN_DATA": str(tmp_path)}
        running = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: brain.stats()["leased"] >= 6, "claims", running)
        finally:
            running.kill()
            running.wait()
        assert brain.stats()["leased"] >= 6
        ran = subprocess.run(
            [*words, "--max-time", "1s"], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert "of a crawl that was killed can be fetched again at once" in ran.stderr, ran
        assert brain.stats()["leased"] == 0 and not [*(tmp_path / "crawls").iterdir()]
        assert brain.audit(None).ok
