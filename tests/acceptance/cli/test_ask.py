"""`graphbrain ask` as a stranger uses it: lists, answers in three forms, and says what is wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphbrain import Brain, Failed, Fetched
from tests.acceptance.cli.test_cli import Done, environment, within
from tests.plugin import Neo4j, emptied

FORMULA = '=HYPERLINK("http://evil.example/","x")'


@pytest.fixture(scope="module")
def evil(neo4j: Neo4j) -> Iterator[Brain]:
    """A crawl of one broken link, whose server says what no program should take for more than a text."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed(["http://a.example/"])
        brain.report(
            [Fetched("http://a.example/", ["http://a.example/<script>alert(1)</script>", "http://a.example/b"])]
        )
        brain.report(
            [
                Failed("http://a.example/<script>alert(1)</script>", error=FORMULA),
                Failed("http://a.example/b", error="\x1b[31mred\x1b]0;owned\x07\nnext"),
            ]
        )
        yield brain


def asking(neo4j: Neo4j) -> dict[str, str]:
    """The environment of a command that asks the crawl `test`."""
    login = {"GRAPHBRAIN_URI": neo4j.uri, "GRAPHBRAIN_USER": neo4j.user, "GRAPHBRAIN_PASSWORD": neo4j.password}
    return environment(**login, GRAPHBRAIN_CRAWL="test")


@pytest.fixture
def run(neo4j: Neo4j, evil: Brain) -> object:  # noqa: ARG001  # the crawl that is asked
    """A function: arguments → the finished command, in this process."""

    def command(*words: str) -> Done:
        return within(asking(neo4j), "ask", *words)

    return command


def test_it_lists_the_questions(run) -> None:  # type: ignore[no-untyped-def]
    lines = run().stdout.splitlines()
    assert lines[0] == "group\tname\ttitle" and len(lines) > 30
    assert json.loads(run("--json").stdout.splitlines()[0])["params"] is not None


def test_it_answers_in_three_forms_and_none_of_them_is_dangerous(run) -> None:  # type: ignore[no-untyped-def]
    told = run("broken-pages")
    assert told.returncode == 0 and not told.stderr
    assert "\x1b" not in told.stdout and len(told.stdout.splitlines()) == 3
    assert "\\x1b[31mred\\x1b]0;owned\\x07\\nnext" in told.stdout
    rows = list(csv.DictReader(io.StringIO(run("broken-pages", "--format", "csv").stdout)))
    assert {row["error"][:12] for row in rows} == {"'=HYPERLINK(", "\\x1b[31mred\\"}
    found = [json.loads(line) for line in run("broken-pages", "--json").stdout.splitlines()]
    assert {row["error"] for row in found} >= {FORMULA}
    assert found[0]["linked_from"] == ["http://a.example/"]


def test_it_is_told_parameters_and_explains_itself(run) -> None:  # type: ignore[no-untyped-def]
    assert len(run("broken-pages", "--param", "limit=1").stdout.splitlines()) == 2
    how = run("broken-pages", "--how").stdout
    assert "MATCH (to:Page)" in how and "LIMIT 50" in how
    given = run("who-pays", "--how", "--param", "url=http://a.example/b", "--param", "limit=7").stdout
    assert ":param url => 'http://a.example/b'\n\n" in given and "LIMIT 7" in given
    assert run("who-pays", "--param", "url=HTTP://A.example:80/b").stdout.splitlines()[1].endswith("http://a.example/b")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_on_a_terminal_titles_are_whole_and_a_single_row_is_read_vertically(neo4j: Neo4j, evil: Brain) -> None:  # noqa: ARG001
    def shown(*words: str) -> list[str]:
        import pty

        ours, theirs = pty.openpty()
        env = asking(neo4j) | {"NO_COLOR": "1"}
        command = subprocess.Popen([sys.executable, "-m", "graphbrain", "ask", *words], stdout=theirs, env=env)
        os.close(theirs)
        text = b""
        with suppress(OSError), os.fdopen(ours, "rb", 0) as terminal:  # what Linux says when the other end has gone
            while part := terminal.read(4096):
                text += part
        assert command.wait(60) == 0
        return text.decode().splitlines()

    listed = shown()
    assert listed[0] == "Progress" and all(len(line) <= 80 and "…" not in line for line in listed)
    words = " ".join(" ".join(listed).split())
    assert "redirect-chains Redirects that lead to redirects, and those that lead in a circle redirects" in words
    one = shown("broken-pages", "--param", "limit=1")
    assert [line.split()[0] for line in one[1:]] == ["status", "fault", "error", "links", "linked_from", "url"]
    assert one[0] == "Pages that are broken, by how many pages link to them"


def test_it_is_asked_since_a_day(run) -> None:  # type: ignore[no-untyped-def]
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert len(run("new-pages", "--since", "2026-01-01").stdout.splitlines()) == 2
    assert run("failures-by-day", "--since", today, "--json").stdout.count(today) == 1
    assert re.search(r"timestamp\(\) / 1000.0 - \d+\.\d+ \* 86400", run("new-pages", "--how", "--since", today).stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ok.html", "--since", "2999-01-01"], "since must not be in the future"),
        (["ok.html", "--since", "nonsense"], "a day such as 2026-11-01"),
        (["no-such-folder/x.html"], "cannot be written"),
    ],
)
def test_a_summary_is_refused_before_anything_is_read(
    neo4j: Neo4j,
    evil: Brain,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    told = within(asking(neo4j), "summary", "--trace", *words)
    assert told.returncode and said in told.stderr and "analyst/" not in told.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nothing-such"], 1, "There is no question"),
        (["broken-pages", "--param", "limit"], 2, "NAME=VALUE"),
        (["broken-pages", "--param", "limit=x"], 1, "limit must be a whole number"),
        (["broken-pages", "--param", "size=1"], 1, "has no parameter 'size'; it takes limit"),
        (["who-pays", "--param", "url=http://nowhere.example/"], 1, "is not in the graph"),
        (["external-domains", "--param", "host=nohost"], 1, "No page of host 'nohost' is known"),
        (["host-cash", "--param", "host=nohost"], 1, "No page of host 'nohost' is known"),
        (["brokn-pages"], 1, "did you mean broken-pages?"),
        (["new-pages", "--since", "2999-01-01"], 1, "since must not be in the future"),
        (["new-pages", "--since", "nonsense"], 2, "a day such as 2026-11-01"),
        (["new-pages", "--since", "2026-11-01", "--param", "days=2"], 2, "either --since or --param days"),
        (["states", "--since", "2026-11-01"], 1, "states cannot be asked since a day; it has no parameter days."),
        (["--since", "2026-11-01"], 2, "Name a question"),
        (["--how"], 2, "Name a question"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(run, words: list[str], code: int, said: str) -> None:  # type: ignore[no-untyped-def]
    told = run(*words)
    assert (told.returncode, told.stdout) == (code, "")
    assert said in told.stderr and "Traceback" not in told.stderr


@pytest.mark.usefixtures("evil")
def test_findings_and_summary_show_what_is_new_since_the_last_look(neo4j: Neo4j, tmp_path: Path) -> None:
    look = tmp_path / "look.json"

    def command(*words: str) -> Done:
        return within(asking(neo4j), *words)

    first = command("findings", "--json", "--look", str(look))
    assert first.returncode == 0 and "keeps this look" in first.stderr, first.stderr
    found = [json.loads(line) for line in first.stdout.splitlines()]
    assert {each["title"]: each["before"] for each in found}["Pages that fail"] is None
    kept = json.loads(look.read_text())
    failing = next(each for each in kept["findings"] if each["title"] == "Pages that fail")
    assert failing["count"] == 2
    failing["count"] = 1
    kept["findings"].append({**failing, "title": "Once found <b>", "count": 1_200})
    look.write_text(json.dumps(kept))
    asked = command("summary", str(tmp_path / "crawl.html"), "--look", str(look))
    assert asked.returncode == 0 and "compared with the look of" in asked.stderr, asked.stderr
    html = (tmp_path / "crawl.html").read_text("utf-8")
    assert '<span class="change">1 more</span>' in html
    assert "No longer found since the last look: Once found &lt;b&gt; (1,200)." in html
    table = list(csv.DictReader(io.StringIO(command("findings", "--format", "csv", "--look", str(look)).stdout)))
    assert {row["finding"]: (row["count"], row["before"]) for row in table}["Pages that fail"] == ("2", "2")
    assert "Once found <b>" not in {row["finding"] for row in table}
    look.write_text(json.dumps({**kept, "brain": {"name": "other", "created": 1.0}}))
    refused = command("findings", "--look", str(look))
    assert refused.returncode == 1 and "another brain (other)" in refused.stderr
    assert json.loads(look.read_text())["brain"]["name"] == "other", "a look that is refused keeps nothing"
