"""`graphbrain import` into a local server for real: by Neo4j's tool, beside others, killed, and with wrong input."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j as driver
import pytest

from graphbrain import Brain, Fetched
from graphbrain.cli.app import cli
from graphbrain.files import neo4j_admin
from graphbrain.graph.schema import PAGE_CHAIN
from graphbrain.graph.server import installation, lifecycle
from tests.plugin import PATIENCE, eventually

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]
TOKENS = "MATCH (t:AccessToken) RETURN t.name, t.role, t.digest, t.made, t.expires, t.revoked"
DUMP = """
MATCH (p:Page) WITH p ORDER BY p.url
RETURN p {.*, last_lease: null, discovered: null, waiting_since: null},
  [(p)-[:LINKS]->(q) | q.url] AS links
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A local server of its own, since an import restarts it; with a space in its name."""
    path = tmp_path_factory.mktemp("import") / "data directory"
    lifecycle.start(path, memory=768)
    yield path
    lifecycle.stop(path, timeout=20)


@pytest.fixture
def run(home: Path) -> Run:
    """Run a command on that server to its end."""

    def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(*arguments), env=env(home), capture_output=True, text=True, timeout=PATIENCE, **more
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "graphbrain", *map(str, arguments)]


def env(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") or k == "GRAPHBRAIN_JAVA"}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "80", "GRAPHBRAIN_DATA": str(home)}


def ask(home: Path, text: str) -> list[list[Any]]:
    found = lifecycle.find(home)
    assert found is not None
    with driver.GraphDatabase.driver(
        found.uri, auth=(found.user, found.password), notifications_min_severity="OFF"
    ) as opened:
        return [record.values() for record in opened.execute_query(text, database_="neo4j").records]


def opened(home: Path, **settings: Any) -> Brain:
    found = lifecycle.find(home)
    assert found is not None
    return Brain.open(uri=found.uri, user=found.user, password=found.password, **settings)


def put(path: Path, pages: int = 300) -> Path:
    """A random web as an edge list, gzipped, with two lines that are none."""
    dice = random.Random(3)
    lines = [f"{dice.randrange(pages)}\t{int(pages * dice.random() ** 2)}" for _ in range(8 * pages)]
    path.write_bytes(gzip.compress("\n".join(["x y", *lines, "1"]).encode()))
    return path


def visits(path: Path) -> Path:
    """The like in JSON lines, with everything that a visit can say and a table of text could break at."""
    dice = random.Random(3)
    urls = [f'http://host-{n % 7}.org/\'{n}\\,;é?q="{n}"' for n in range(200)]
    said = [{"hash": 'say "a", \\\\ é'}, {"etag": 'W/"x"'}, {"relevance": 0.7}, {"last_modified": " "}, {}]
    lines = ["{}", "not json"]
    for n, url in enumerate(urls[:150]):
        links = [{"url": dice.choice(urls), "relevance": dice.random()}, *dice.choices(urls, k=8)]
        lines.append(json.dumps({"url": url, "links": links, "fetched": 1.6e9 + n / 7, **said[n % len(said)]}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def whole(page: dict[str, Any], links: list[str]) -> tuple[dict[str, Any], list[str]]:
    return {name: value for name, value in page.items() if value is not None}, sorted(links)


@pytest.mark.long
@pytest.mark.nightly
def test_offline_is_the_same_as_batches_and_keeps_the_brain(run: Run, home: Path, tmp_path: Path) -> None:
    """Settings, password, ports and memory stay; who is connected goes on after the restart."""
    file = visits(tmp_path / "visits")
    with opened(home, eps=0.05, delay_seconds=0.0, crawl="mine", auto_tend=False) as other:
        batches = run("import", file, "--batches", "--no-settle", "--json", "--crawl", "mine")
        assert batches.returncode == 0, batches.stderr
        wanted = [whole(*row) for row in ask(home, DUMP)]
        other.clear()
        before = installation.read_state(home), installation.password(home), installation.configured_memory(home)
        assert run("token", "make", "crawler-1", "--role", "crawler").returncode == 0
        tokens = ask(home, TOKENS)
        done = run("import", file, "--offline", "--no-settle", "--json")
        assert done.returncode == 0, done.stderr
        assert [whole(*row) for row in ask(home, DUMP)] == wanted
        for (names,) in ask(home, "MATCH (p:Page) RETURN DISTINCT keys(p)"):
            ahead = [name in neo4j_admin.AHEAD for name in names]
            assert ahead == sorted(ahead, reverse=True), "a page's chain begins with what changes most"
            assert names[:6] == [*reversed(PAGE_CHAIN)][:6], "the accounts before all"
        after = installation.read_state(home), installation.password(home), installation.configured_memory(home)
        assert ask(home, TOKENS) == tokens != []
        assert before[1:] == after[1:]
        assert [before[0][port] for port in ("bolt_port", "http_port")] == [
            after[0][port] for port in ("bolt_port", "http_port")
        ]
        assert before[0]["pid"] != after[0]["pid"]
        assert {path.name for path in (home / "data" / "databases").iterdir()} == {"neo4j", "system", "store_lock"}
        assert not (home / "bulk").exists()
        first, second = json.loads(batches.stdout), json.loads(done.stdout)
        assert (first["way"], second["way"], second["refused"]) == ("batches", "offline", 2)
        assert {name: first[name] for name in ("pages", "links", "hosts", "frontier")} == {
            name: second[name] for name in ("pages", "links", "hosts", "frontier")
        }
        assert "visits, line 1" in done.stderr
        assert other.report([Fetched("http://new.org/", ["http://new.org/2"])])[0].accepted
        assert (other.settings.eps, other.settings.crawl) == (0.05, "mine")
        assert other.tend(None).settled
        found = other.audit(None)
        assert found.ok, found.findings
        assert ask(home, "SHOW INDEXES YIELD state WHERE state <> 'ONLINE' RETURN count(*)") == [[0]]
        other.clear()


@pytest.mark.long
@pytest.mark.nightly
def test_a_kill_while_the_tool_works_leaves_the_old_database(home: Path, tmp_path: Path) -> None:
    web = put(tmp_path / "web.gz", 3000)
    with opened(home) as other:
        other.clear()
    before = ask(home, "MATCH (b:Brain) RETURN properties(b)")
    # While the tool is at work, whose files are seen first.
    process = subprocess.Popen(command("import", web, "--offline"), env=env(home), stderr=subprocess.DEVNULL)
    eventually((home / "data" / "databases" / installation.NEW_STORE).exists, "the tool's database", process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert ask(home, "MATCH (p:Page) RETURN count(p)") == [[0]]
    assert ask(home, "MATCH (b:Brain) RETURN properties(b)") == before
    # Ctrl-C at the same place, once what the killed one had begun is over: nothing is left of it.
    (home / "bulk" / "import.args").unlink()
    process = subprocess.Popen(command("import", web, "--offline"), env=env(home), stderr=subprocess.PIPE, text=True)
    eventually((home / "bulk" / "import.args").exists, "the tool", process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert not (home / "bulk").exists()
    assert not (home / "data" / "databases" / installation.NEW_STORE).exists()
    # While the tool waits to be told what to do: it ends with whoever has begun it, and the next import goes on.
    process = subprocess.Popen(command("import", web, "--offline"), env=env(home), stderr=subprocess.DEVNULL)
    eventually((home / "bulk" / "import.args").exists, "the tool", process)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.long
def test_a_kill_once_the_new_database_is_marked_leaves_it_to_any_start(run: Run, home: Path, tmp_path: Path) -> None:
    """The first to open it makes it a brain, which is as old as the one before."""
    web = put(tmp_path / "web.gz", 3000)
    with opened(home) as other:
        other.clear()
    before = ask(home, "MATCH (b:Brain) RETURN properties(b)")
    process = subprocess.Popen(
        command("import", web, "--offline", "--no-settle"), env=env(home), stderr=subprocess.DEVNULL
    )
    eventually((home / "data" / installation.NEW_STORE).exists, "the mark", process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lifecycle.stop(home, timeout=20)
    lifecycle.start(home, memory=768)
    with opened(home) as other:
        assert other.stats()["pages"] > 2000
        assert other.audit(None).ok
        assert ask(home, "MATCH (b:Brain) RETURN b.revision, b.created")[0][1] == before[0][0]["created"]
    done = run("import", web, "--offline")
    assert done.returncode == 1
    assert "clear --yes" in done.stderr


def test_moving_in_can_end_anywhere(tmp_path: Path) -> None:
    """Each step of the move, then again from the beginning: the new folders end in the old ones' place."""
    for steps in range(4):
        home = tmp_path / str(steps)
        for folder in ("databases", "transactions"):
            for name in ("neo4j", installation.NEW_STORE):
                (home / "data" / folder / name).mkdir(parents=True)
                (home / "data" / folder / name / name).touch()
        installation.take_new_store(home)
        assert (home / "data" / "databases" / "neo4j" / "neo4j").exists(), "nothing happens without the mark"
        installation.mark_new_store(home)
        if steps > 0:
            (home / "data" / "databases" / "neo4j" / "neo4j").unlink()
        if steps > 1:
            (home / "data" / "databases" / "neo4j").rmdir()
        if steps > 2:
            new = home / "data" / "databases" / installation.NEW_STORE
            new.rename(new.with_name("neo4j"))
        installation.take_new_store(home)
        installation.take_new_store(home)
        left = {path.relative_to(home / "data").as_posix() for path in (home / "data").rglob("*") if path.is_file()}
        assert left == {f"{folder}/neo4j/{installation.NEW_STORE}" for folder in ("databases", "transactions")}


def test_wrong_input_is_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>\n")
    (tmp_path / "empty").write_text("")
    run("clear", "--yes")
    for arguments, said in (
        ([tmp_path / "none"], "cannot be read"),
        ([tmp_path], "cannot be read"),
        ([tmp_path / "page.html"], "begins with"),
        ([tmp_path / "empty"], "is empty"),
    ):
        done = run("import", *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("graphbrain: ")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert run("import").returncode == 2
    assert "import" in cli.commands


def test_not_enough_room_is_said_before_anything_happens(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from graphbrain.base.errors import ServerFailed
    from graphbrain.files.importer import run as bulk

    monkeypatch.setattr(installation, "LEAST_FREE_BYTES", 10**15)
    with opened(home, auto_tend=False) as brain:
        brain.clear()
        with pytest.raises(ServerFailed, match="make room"):
            bulk(brain, [put(tmp_path / "web.gz")], data=home, batches=False)
        assert brain.stats()["pages"] == 0


@pytest.mark.long
def test_nobody_reports_into_a_database_that_is_about_to_go(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From its last look at the old database on the import lets nobody in; what was accepted before it goes by."""
    from graphbrain.base.errors import BadInput, GraphUnavailable
    from graphbrain.files import importer

    late = Fetched("http://late.example/", ["http://late.example/next"], body_hash="late")
    mark, make = installation.mark_new_store, neo4j_admin.Workshop.make
    with opened(home, auto_tend=False) as brain, opened(home, auto_tend=False, limit_seconds=2.0) as other:
        brain.clear()

        def marked(data: Path) -> None:
            with pytest.raises(GraphUnavailable, match="imported"):
                other.report([late])
            mark(data)

        def made(*arguments: Any, **more: Any) -> None:
            make(*arguments, **more)
            assert other.report([late])[0].accepted

        with monkeypatch.context() as patch:
            patch.setattr(neo4j_admin.Workshop, "make", made)
            with pytest.raises(BadInput, match="The brain holds"):
                importer.run(brain, [put(tmp_path / "web.gz")], data=home, batches=False)
        assert other.report([late])[0].accepted, "the brain is open again"
        brain.clear()
        with monkeypatch.context() as patch:
            patch.setattr(installation, "mark_new_store", marked)
            done = importer.run(brain, [put(tmp_path / "web.gz")], data=home)
        other.graph.limit_seconds = PATIENCE
        assert other.report([late])[0].accepted
        assert brain.stats()["pages"] == done.pages + 2
