"""README.md and docs/ are true: the program runs, questions have answers, tables and commands are the code's."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import neo4j as driver
import pytest

import graphbrain
from graphbrain import Brain, Failed, Fetched
from graphbrain.analyst.questions import questions
from graphbrain.base.settings import OF_OTHER_PARTS, Settings
from graphbrain.cli.app import cli
from graphbrain.cli.commands import LABORATORY
from graphbrain.demo.web import Web
from graphbrain.schedule import change_rate, optimal_revisits
from tests.documents import OTHER_SETTINGS as OTHER
from tests.documents import PAGES, README, TEXT, TOPICS, blocks, built, section, topics
from tests.plugin import PATIENCE, Neo4j, emptied

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ("http://links.example/", "http://lexicon.example/")


def linked(text: str) -> set[str]:
    """The pages of docs/ that a text outside docs/ links to."""
    return set(re.findall(r"\]\(docs/([\w./-]+\.md)", text))


def test_the_readme_is_short_and_its_doors_are_there() -> None:
    assert len(README.encode()) <= 12_000
    assert linked(README) >= {f"{kind}/index.md" for kind in ("tutorials", "how-to", "reference", "explanation")}
    assert linked(README) <= set(PAGES)


def first_column(text: str) -> list[str]:
    """The first cells of a table's rows, without its head."""
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")][1:]


# ---------------------------------------------------------------- the program and the questions

PROGRAM, SPIDER, *_ = blocks("python")
QUESTIONS = {
    text.strip().rsplit("\n\n", 1)[-1]: query
    for text, query in re.findall(r"((?:^(?!```)[^\n]*\n)+)^```cypher\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
}


def run_program(neo4j: Neo4j, folder: Path, web: Web, *urls: str) -> subprocess.CompletedProcess[str]:
    """The README's program, with the demo's web as its proxy."""
    assert PROGRAM.count("wait=20") == 1  # that long it waits at its end
    (folder / "crawler.py").write_text(PROGRAM.replace("wait=20", "wait=5"), encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and k.lower() != "no_proxy"}
    env = {
        **kept,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]),
        "GRAPHBRAIN_URI": neo4j.uri,
        "GRAPHBRAIN_USER": neo4j.user,
        "GRAPHBRAIN_PASSWORD": neo4j.password,
        "GRAPHBRAIN_CRAWL": "test",
        "GRAPHBRAIN_LIMIT_SECONDS": "300",
        "http_proxy": f"http://{web.proxy}",
    }
    command = [sys.executable, "crawler.py", *urls]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture(scope="module")
def crawled(neo4j: Neo4j, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Brain, str]]:
    """A brain after the README's program has crawled two hosts of the demo's web, and what the program printed; then
    it was started without a URL, and with another site."""
    folder = tmp_path_factory.mktemp("readme")
    with Web(pages=150) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        ran = run_program(neo4j, folder, web, *SEEDS)
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
        before = brain.stats()["states"]
        again = run_program(neo4j, folder, web)
        assert again.returncode == 0 and again.stderr.startswith("Nothing was fetched: "), again.stderr
        other = run_program(neo4j, folder, web, "http://birds.example/")
        assert other.returncode == 1 and not other.stdout
        assert len(other.stderr.splitlines()) == 1 and "graphbrain change" in other.stderr, other.stderr
        assert "allow_hosts ('links.example lexicon.example', not 'birds.example')" in other.stderr
        brain.tend(0)
        assert brain.settings.allow_hosts == "links.example lexicon.example"
        assert brain.stats()["states"] == before
        yield brain, ran.stdout


def test_the_spider_crawls_its_host_and_nothing_else(neo4j: Neo4j, tmp_path: Path) -> None:
    (tmp_path / "spider.py").write_text(SPIDER, encoding="utf-8")
    login = ("-s", f"GRAPHBRAIN_URI={neo4j.uri}", "-s", f"GRAPHBRAIN_PASSWORD={neo4j.password}")
    own = ("-s", "GRAPHBRAIN_CRAWL=test", "-s", f"GRAPHBRAIN_USER={neo4j.user}")
    with Web(pages=120) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and k.lower() != "no_proxy"}
        ran = subprocess.run(
            [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-o", "pages.jsonl", *login, *own],
            cwd=tmp_path,
            env={**kept, "http_proxy": f"http://{web.proxy}"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert time.monotonic() - web.visits[-1].when < 60.0
        assert ran.returncode == 0, ran.stderr
        # One page's base address is nonsense, on purpose, and one of its links.
        assert "Traceback" not in ran.stderr and "ERROR" not in ran.stderr, ran.stderr
        items = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
        assert items and all(item["title"] for item in items)
        assert {visit.host for visit in web.visits} == {"links.example"}
        assert len(items) == brain.stats()["states"]["known"] == 8 and brain.stats()["states"]["outside"]


def test_the_program_is_seventy_lines_at_most_of_the_standard_library() -> None:
    lines = [line for line in PROGRAM.splitlines() if line.strip()]
    assert len(lines) <= 70
    used = set(re.findall(r"^(?:from|import) (\w+)", PROGRAM, re.MULTILINE))
    assert used <= {*sys.stdlib_module_names, "graphbrain"}


def test_the_crawler_to_copy_is_as_long_as_is_said() -> None:
    said = re.search(r"In some (\d+) lines it fetches side by side", TEXT)
    text = (ROOT / "graphbrain/demo/crawler.py").read_text(encoding="utf-8")
    assert said and abs(len(text.splitlines()) - int(said[1])) <= 10, len(text.splitlines())


@pytest.mark.long
def test_the_program_crawls_its_hosts_and_nothing_else(crawled: tuple[Brain, str]) -> None:
    brain, printed = crawled
    reported = [line for line in printed.splitlines() if re.match(r"(new|same|changed|retry|alias|gone) ", line)]
    best = [line for line in printed.splitlines() if re.fullmatch(r" *\d+\.\d\d http://\S+", line)]
    assert len(best) == 5
    assert len(reported) + len(best) == len(printed.splitlines()), printed
    hosts = {line.rsplit(" ", 1)[1].split("/")[2] for line in reported}
    assert hosts == {"links.example", "lexicon.example"}
    states = brain.stats()["states"]
    robots = {line for line in reported if line.endswith("/robots.txt")}
    assert {line.rsplit(" ", 1)[1].split("/")[2] for line in robots} == hosts
    sitemaps = {line for line in reported if line.endswith("/sitemap.xml")}
    assert all(line.startswith("gone ") for line in sitemaps), "this web has none"
    pages = set(reported) - robots - sitemaps
    assert states["known"] == sum(line.startswith("new ") for line in pages) > 20
    assert states["outside"] > 50
    assert brain.audit(None).ok


@pytest.fixture(scope="module")
def looked_at(crawled: tuple[Brain, str], neo4j: Neo4j) -> Iterator[driver.Session]:
    """The same brain with a broken link, a redirect, a claim and a blocked host, and a session to ask it."""
    brain, _ = crawled
    brain.change(allow_hosts="")
    claims = brain.next_urls(3)
    pages = [claim.url for claim in claims]
    brain.report(
        [
            Failed(pages[0], claims[0], 404),
            Failed(pages[1], claims[1], 503, retry_after=600),
            Fetched("http://old.example/", redirected_to="http://new.example/"),
        ]
    )
    login = driver.GraphDatabase.driver(neo4j.uri, auth=(neo4j.user, neo4j.password))
    with login, login.session(database="neo4j") as session:
        yield session


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_question_to_the_graph_only_reads_and_has_an_answer(title: str, looked_at: driver.Session) -> None:
    result = looked_at.run(QUESTIONS[title])
    rows = list(result)
    assert result.consume().query_type == "r"
    assert rows
    assert any(value is not None for value in rows[0].values())


def test_every_block_of_cypher_is_a_question() -> None:
    assert len(QUESTIONS) == len(blocks("cypher")) >= 1


def test_the_table_of_questions_is_the_files() -> None:
    rows = [f"| `{each.name}` | {each.title} | {each.cost or 'little'} |" for each in questions()]
    shown = built("reference/questions.md").splitlines()
    assert [line for line in shown if line in set(rows)] == rows
    for each in questions():
        for param in each.params:
            assert param.name == "limit" or f"`{param.name}` (" in built("reference/questions.md"), each.name


# ---------------------------------------------------------------- tables and names


def test_the_settings_are_the_codes() -> None:
    text = section("reference/settings.md", "Settings")
    rows = {line.split("|")[1].strip(" `"): line for line in text.splitlines() if line.startswith("| `")}
    named = [line.split("|")[1].strip(" `") for line in text.splitlines() if line.startswith("| `")]
    assert sorted(name for name in named if not name.isupper()) == sorted(Settings.names())
    for name, (kind, default, meaning) in Settings.meanings().items():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", rows[name])]
        shown = ("no", "yes")[default] if isinstance(default, bool) else f"`{default}`" if default != "" else "empty"
        assert cells[2:4] == [shown, kind] and cells[5] == meaning, name
    for variable in OF_OTHER_PARTS:
        assert f"`{variable}`" in text


def test_every_setting_has_a_topic() -> None:
    assert OTHER not in topics(), f"TOPICS of docs/_extensions/from_code.py lacks {topics()[OTHER]}"
    named = [name for names in TOPICS.values() for name in names]
    assert sorted(named) == sorted(Settings.names())


def test_the_verbs_are_the_brains() -> None:
    named = {
        name
        for cell in first_column(section("reference/verbs.md", "The verbs"))
        for name in re.findall(r"`(\w+)\(", cell)
    }
    verbs = {name for name, _ in inspect.getmembers(Brain, callable) if not name.startswith("_")}
    assert named == verbs - {"open"}


def test_the_verbs_arguments_are_the_brains() -> None:
    for name, given in re.findall(
        r"`(\w+)\(([^)]*)\)`", "\n".join(first_column(section("reference/verbs.md", "The verbs")))
    ):
        known = set(inspect.signature(getattr(Brain, name)).parameters)
        assert set(re.findall(r"(\w+)=", given)) <= known, name


def test_every_exported_name_is_named() -> None:
    text = section("reference/verbs.md", "The verbs")
    assert not [name for name in graphbrain.__all__ if f"`{name}`" not in text]


def test_the_public_mathematics_is_named_and_explained() -> None:
    """Every name of the two modules stands in the tables, with its arguments, and has a docstring of its own."""
    text = section("reference/mathematics.md", "Mathematics of revisits")
    for module in (optimal_revisits, change_rate):
        for name in module.__all__:
            assert re.search(rf"`{name}[`(]", text), name
            thing = getattr(module, name)
            assert not callable(thing) or name == "Objective" or len((thing.__doc__ or "").split()) > 8, name
    for name, given in re.findall(r"`(\w+)\(([^)]*)\)`", text):
        if (thing := getattr(optimal_revisits, name, None) or getattr(change_rate, name, None)) is not None:
            assert set(re.findall(r"\w+", given)) <= set(inspect.signature(thing).parameters), name


def test_the_commands_are_the_command_lines() -> None:
    named = {
        name
        for cell in first_column(section("reference/commands.md", "The commands"))
        for name in re.findall(r"`([\w-]+)[^`]*`", cell)
    }
    assert named == set(cli.commands) - set(LABORATORY)


def commands(laboratory: bool = False) -> list[str]:
    """Every command that the pages show, of the laboratory or all others: at the start of an indented line, after $, or
    between backticks."""
    shown = re.findall(r"^ *(?:    |\$ )(?:.*&& )?(graphbrain .*?)(?: &)?$", TEXT, re.MULTILINE)
    told = re.findall(r"`(graphbrain [^`\n]+)`", TEXT)
    every = sorted({command.split(" > ")[0] for command in (*shown, *told)})
    return [command for command in every if (command.split()[1] in LABORATORY) == laboratory]


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.parametrize("command", commands())
def test_a_command_is_understood(command: str, tmp_path: Path) -> None:
    understood(command, tmp_path)


def understood(command: str, tmp_path: Path) -> None:
    """It is parsed, options and all, but not run. Capitals are in the place of something of the reader's own."""
    words = [re.sub(r"^(VERSION|N|MB|DIR|SECONDS)$", "1", word) for word in shlex.split(command)[1:]]
    for name in ("report.jsonl", "robots.txt", "urls.txt", "crawl.toml"):
        (tmp_path / name).touch()
    (tmp_path / "archive").mkdir(exist_ok=True)
    here: click.Command = cli
    ctx = click.Context(cli, info_name="graphbrain")
    with inside(tmp_path):
        while isinstance(here, click.Group):
            name, found, words = here.resolve_command(ctx, words)
            assert found is not None, command
            if isinstance(found, click.Group):
                assert words, command
            else:
                parsed = found.make_context(name, list(words), parent=ctx)
                parsed.close()
            here = found


def test_there_are_commands_to_check() -> None:
    assert len(commands()) > 12


def test_the_files_it_names_are_there() -> None:
    named = set(re.findall(r"(?<![\w./-])((?:graphbrain|docker|tests|lab|\.ci)/[\w./]+\w)", TEXT))
    assert len(named) > 4
    assert not [path for path in named if not (ROOT / path).exists() and not path.endswith("/.env")]
