"""Recorded crawls driven through the public client: each page once, whatever interrupts it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.brain.workers import WorkerPool
from graphbrain_lab.recording import Recording, read
from graphbrain_lab.replay import ReplayProgress, replay
from tests.acceptance.cli.test_cli import alone, on_terminal, one_sentence
from tests.plugin import PATIENCE, eventually

ROOT = Path(__file__).resolve().parents[3]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "graphbrain", *map(str, arguments)]


@pytest.fixture
def connected(neo4j: Any, brain: Any) -> dict[str, str]:
    """The environment of a process that works on the (empty) brain."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_")}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        "COLUMNS": "80",
        "GRAPHBRAIN_URI": neo4j.uri,
        "GRAPHBRAIN_USER": neo4j.user,
        "GRAPHBRAIN_PASSWORD": neo4j.password,
        "GRAPHBRAIN_CRAWL": brain.settings.crawl,
    }


def web(pages: int = 120, links: int = 900, *, ring: bool = True) -> Recording:
    """A random web with self-links and duplicates; with `ring`, a part nothing else reaches."""
    dice = random.Random(7)
    edges = [(dice.randrange(pages), int(pages * dice.random() ** 2)) for _ in range(links)]
    edges += edges[:50]
    if ring:
        edges += [(pages, pages + 1), (pages + 1, pages + 2), (pages + 2, pages)]
    return Recording.of(*zip(*edges, strict=True), pages=pages + 3 * ring, name="web")


def put(recording: Recording, path: Path) -> Path:
    """Write it as an edge list. A page without links is not in it, so there must be none."""
    pairs = zip(recording.sources.tolist(), recording.targets.tolist(), strict=True)
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    return path


def test_everything_is_reported_once_and_settled(brain: Any) -> None:
    recording = web()
    seen: list[ReplayProgress] = []
    result = replay(brain, recording, batch=17, progress=seen.append)
    assert result.complete
    assert result.settled
    assert not result.interrupted
    assert (result.pages, result.links) == (recording.pages, recording.links)
    assert result.known_pages == recording.pages
    assert result.known_links == len(recording.distinct[0])
    assert (result.refused, result.links_refused) == (0, 0)
    assert result.pushes > 0
    assert result.payments >= result.pushes
    assert result.links_per_second > 0
    assert set(result.next_ms) == {"first_p50", "first_p99", "last_p50", "last_p99"}
    assert result.client_memory > 10_000_000
    assert (seen[0].pages, seen[0].total) == (0, recording.pages)
    assert (seen[-1].phase, seen[-1].pages) == ("settle", recording.pages)
    assert brain.next_urls(10).finished
    assert brain.audit(None).ok
    page = brain.page(recording.urls[0])
    assert page.visits == 1


def test_seeds_given_reach_only_their_part(brain: Any) -> None:
    recording = web()
    first = recording.pages - 3
    result = replay(brain, recording, seeds=[first])
    assert (result.pages, result.known_pages) == (3, 3)
    assert result.complete


def test_limit_then_on_to_the_end(brain: Any) -> None:
    recording = web()
    first = replay(brain, recording, limit=50, batch=20)
    assert (first.pages, first.complete, first.settled) == (50, False, True)
    totals: list[int] = []
    second = replay(brain, recording, progress=lambda p: totals.append(p.total))
    assert second.pages == recording.pages - 50
    assert second.complete
    assert totals[0] == recording.pages - 50
    third = replay(brain, recording)
    assert (third.pages, third.complete) == (0, True)
    assert brain.audit(None).ok


def test_workers_beside_it(brain: Any) -> None:
    recording = web(400, 4000)
    result = replay(brain, recording, workers=2)
    assert result.complete
    assert result.settled
    assert result.pages == recording.pages
    assert result.known_links == len(recording.distinct[0])
    assert brain.audit(None).ok


def test_pages_that_were_never_crawled_have_no_links(brain: Any, tmp_path: Path) -> None:
    (tmp_path / "x.edges.tsv").write_text("0\t1\n0\t2\n1\t2\n")
    (tmp_path / "x.nodes.tsv").write_text("0\t1\thttp://a.org/\n1\t1\thttp://b.org/\n2\t0\thttp://c.org/never\n")
    result = replay(brain, read(tmp_path / "x.edges.tsv"))
    assert (result.pages, result.known_links, result.complete) == (3, 3, True)
    assert brain.page("http://c.org/never").out_links == 0


def test_a_brain_with_other_pages_is_told_apart(brain: Any) -> None:
    brain.seed(["http://elsewhere.example/"])
    with pytest.raises(BadInput, match="another crawl than web"):
        replay(brain, web())
    assert [claim.url for claim in brain.next_urls(500)] == ["http://elsewhere.example/"], "nothing was written"


def test_a_page_that_is_not_in_the_recording_ends_it(brain: Any) -> None:
    recording = web()
    brain.seed([recording.urls[recording.seeds()[0]], "http://elsewhere.example/"])
    with pytest.raises(BadInput, match=r"elsewhere\.example.*not in web"):
        replay(brain, recording)


@pytest.mark.long
@pytest.mark.parametrize("workers", [pytest.param(0, marks=pytest.mark.nightly), 1])
def test_ctrl_c_gives_back_what_is_not_reported(
    connected: dict[str, str], brain: Any, tmp_path: Path, workers: int
) -> None:
    recording = web(1500, 20_000, ring=False)
    edges = put(recording, tmp_path / "web.tsv")
    line = command("replay", edges, "--batch", 10, "--workers", workers, "--json")
    pipe = subprocess.PIPE
    process = subprocess.Popen(line, env=connected, stdout=pipe, stderr=pipe, text=True)
    try:
        eventually(lambda: brain.stats()["states"].get("known", 0) >= 100, "a hundred pages", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("graphbrain: interrupted")
    first = json.loads(out)
    assert first["interrupted"]
    assert not first["complete"]
    stats = brain.stats()
    assert stats["leased"] == 0, "nothing is left claimed"
    assert stats["states"]["known"] == first["pages"]
    rest = subprocess.run(line, env=connected, capture_output=True, text=True, timeout=PATIENCE)
    assert rest.returncode == 0, rest.stderr
    second = json.loads(rest.stdout)
    assert second["complete"]
    again = read(edges)
    assert first["pages"] + second["pages"] == again.pages
    assert second["known_links"] == len(again.distinct[0])
    assert brain.audit(None).ok


def test_the_table_fits_80_columns(connected: dict[str, str], tmp_path: Path) -> None:
    edges = put(web(ring=False), tmp_path / "web.tsv")
    code, seen = on_terminal(connected, "replay", edges)
    assert code == 0 and "complete" in seen
    assert max(map(len, seen.splitlines())) <= 80
    done = subprocess.run(command("replay", edges), env=connected, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("name\tvalue\n") and "\ncomplete\ttrue\n" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr, "no progress bar where there is no terminal"


# ---------------------------------------------------------------------- the pool by itself


def test_pool_settles_and_counts(brain: Any) -> None:
    replay(brain, web(), limit=60)
    pages = web().urls
    for page in pages[:20]:
        brain.set_page(page, payout=3.0)
    with WorkerPool.beside(brain, 2) as pool:
        eventually(lambda: pool.totals.pushes, "pushes of the workers")
        totals = pool.stop()
    assert totals.pushes > 0
    assert pool.restarts == 0
    assert pool.failed is None
    assert brain.audit(None).ok


def test_pool_that_cannot_work_says_why_and_does_not_go_on(neo4j: Any) -> None:
    said: list[str] = []
    pool = WorkerPool(1, uri=neo4j.uri, user=neo4j.user, password="wrong", say=said.append)
    pool.start()
    assert pool.join(PATIENCE), "it does not start again and again"
    assert pool.failed is not None
    assert "password" in pool.failed
    assert said == []


def test_pool_waits_for_a_database_that_is_away() -> None:
    said: list[str] = []
    settings = {"uri": "bolt://127.0.0.1:9", "limit_seconds": 1.0, "password": "x"}
    pool = WorkerPool(1, say=said.append, **settings)
    pool.start()
    eventually(lambda: said and pool.restarts, "a worker that was started again")
    pool.stop()
    assert pool.failed is None


def test_pool_runs_from_any_directory(connected: dict[str, str], brain: Any, tmp_path: Path) -> None:
    code = (
        "import sys, json; from graphbrain.brain.workers import WorkerPool\n"
        "pool = WorkerPool(1, until_settled=True, **json.load(sys.stdin)).start()\n"
        "print(pool.join(300), pool.failed, pool.restarts)\n"
    )
    s = brain.settings
    order = {"uri": s.uri, "user": s.user, "password": s.password, "crawl": s.crawl}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(order),
        env=connected,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stdout == "True None 0\n", done.stderr


def test_replay_in_a_thread(brain: Any) -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(replay(brain, web(), limit=20)))
    thread.start()
    thread.join(PATIENCE)
    assert results[0].pages == 20


def test_a_recording_that_cannot_be_read(tmp_path: Path) -> None:
    one_sentence(alone("replay", tmp_path / "no"), "cannot be read")
    (tmp_path / "bad").write_text("0 1\n1 x\n")
    one_sentence(alone("replay", tmp_path / "bad"), "bad, line 2")
