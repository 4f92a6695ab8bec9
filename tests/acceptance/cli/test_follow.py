"""One process for a crawler's whole life: claims by `next --follow`, reports by `report --follow`, lines in and out."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from graphbrain.content.wire import report_schema
from tests.acceptance.cli.test_cli import LONG, command, connected, lines, run, started
from tests.documents import TEXT

__all__ = ["connected", "run"]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Talk:
    """A process that is spoken to line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._rest = b""

    def say(self, *words: object) -> None:
        """Write lines, at once."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{word if isinstance(word, str) else json.dumps(word)}\n" for word in words))
        self.process.stdin.flush()

    def hear(self, count: int, within: float = LONG) -> list[Any]:
        """The next lines; fewer when no more come in time."""
        file: IO[str] | None = self.process.stdout
        assert file is not None
        until = time.monotonic() + within
        while self._rest.count(b"\n") < count and (left := until - time.monotonic()) > 0:
            if select.select([file], [], [], left)[0]:
                part = os.read(file.fileno(), 65_536)
                if not part:
                    break
                self._rest += part
        found = self._rest.splitlines(keepends=True)
        self._rest = b"".join(found[count:])
        return [json.loads(line) for line in found[:count]]

    def end(self) -> tuple[int, str]:
        """End its stdin, and wait for its end: its exit code, and what it said."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        return self.gone()

    def gone(self) -> tuple[int, str]:
        """Wait for its end: its exit code, and what it said."""
        code = self.process.wait(LONG)
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        assert "Traceback" not in said and "Fatal" not in said, said
        return code, said.lstrip()


def test_a_crawler_in_another_language(run: Run, connected: dict[str, str]) -> None:
    """It asks for as many pages as it can fetch, and no more are ever held; each line is answered as it comes."""
    run("seed", *(f"http://a.example/{n}" for n in range(5)))
    pipe = {"stdin": subprocess.PIPE}
    with started(connected, "next", "--follow", **pipe) as one, started(connected, "report", "--follow", **pipe) as two:
        asking, reporting = Talk(one), Talk(two)
        assert asking.hear(1, 1.5) == [], "nothing is claimed that nobody has asked for"
        assert lines(run("stats", "--json"))[0]["leased"] == 0
        asking.say(2)
        claims = asking.hear(2)
        assert len(claims) == 2
        assert lines(run("stats", "--json"))[0]["leased"] == 2
        fetched = 0
        while claims:
            claim = claims.pop()
            links = ["http://a.example/found"] if fetched == 0 else []
            reporting.say({"url": claim["url"], "claim": claim, "links": links})
            (answer,) = reporting.hear(1)
            assert (answer["accepted"], answer["url"], answer["line"]) == (True, claim["url"], fetched + 1)
            fetched += 1
            asking.say({"n": 1})
            claims += asking.hear(1, LONG if fetched + len(claims) < 6 else 0.1)
        assert fetched == 6
        code, said = asking.gone()
        assert code == 0 and "the crawl is finished" in said
        assert reporting.end() == (0, "")


def test_a_crawler_in_another_language_gets_robots_txt_as_claims(run: Run, connected: dict[str, str]) -> None:
    run("seed", "http://a.example/", "http://a.example/private")
    pipe = {"stdin": subprocess.PIPE}
    with started(connected, "next", "--follow", **pipe) as one, started(connected, "report", "--follow", **pipe) as two:
        asking, reporting = Talk(one), Talk(two)
        asking.say({"n": 2, "kinds": ["robots"]}, {"n": 1, "kinds": ["page", "robots"]})
        (claim,) = asking.hear(1)
        assert (claim["kind"], claim["url"]) == ("robots", "http://a.example/robots.txt")
        text = "User-agent: *\nDisallow: /private\n"
        reporting.say({"url": claim["url"], "claim": claim, "status": 200, "body": text})
        assert reporting.hear(1)[0]["outcome"] == "new"
        asking.say({"n": 1, "kinds": ["page", "robots"]})
        (page,) = asking.hear(1)
        assert page["url"] == "http://a.example/" and "kind" not in page
        code, said = asking.end()
        assert code == 0 and said.count("ask for 1 to 10000 pages") == 1
        assert reporting.end() == (0, "")
    assert run("next", "--kinds", "page,map").stderr.count("kinds are of") == 1


def test_each_line_of_a_follower_has_its_answer(connected: dict[str, str]) -> None:
    a = "http://a.example/"
    with started(connected, "report", "--follow", "--batch", 100, stdin=subprocess.PIPE) as process:
        talk = Talk(process)
        talk.say({"url": a}, "nonsense", "", {"url": a, "stauts": 1}, {"url": a}, {"url": "ftp://x/"}, {"url": a})
        answers = talk.hear(6)
        assert [answer["line"] for answer in answers] == [1, 2, 4, 5, 6, 7], "in their order; a blank line is none"
        assert [answer["outcome"] for answer in answers] == ["new", None, None, "same", None, "same"]
        assert "line 2: Not JSON" in answers[1]["reason"]
        assert answers[2]["url"] == a and "line 4" in answers[2]["reason"] and "'status'" in answers[2]["reason"]
        assert answers[4]["url"] == "ftp://x/" and "line 6: url" in answers[4]["reason"]
        talk.say({"url": a})
        assert talk.hear(1)[0]["accepted"], "a bad line was not the end"
        code, said = talk.end()
        assert code == 1 and said == "graphbrain: 3 of 7 items were refused.\n"


def test_what_can_be_no_request_for_pages_is_said_and_asks_for_none(run: Run, connected: dict[str, str]) -> None:
    run("seed", "http://a.example/")
    with started(connected, "next", "--follow", stdin=subprocess.PIPE) as process:
        talk = Talk(process)
        talk.say("many", "0", '{"n": 2, "m": 3}', "true", "1.5", "10001", "[" * 9_000)
        talk.say(1)
        assert [claim["url"] for claim in talk.hear(1)] == ["http://a.example/"]
        code, said = talk.end()
        assert code == 0
        assert said.count("ask for 1 to 10000 pages") == 7 and "line 1:" in said and "line 7:" in said


def test_all_that_was_asked_for_is_handed_out_after_the_end_of_stdin(run: Run, connected: dict[str, str]) -> None:
    connected["GRAPHBRAIN_DELAY_SECONDS"] = "0.5"
    run("seed", *(f"http://a.example/{n}" for n in range(4)))
    done = run("next", 1, "--follow", input="2\n")
    assert (done.returncode, len(lines(done)), done.stderr) == (0, 3, "")
    left = run("next", 5, "--follow", "--wait", 1)
    assert len(lines(left)) == 1 and "there was no page for 1 s" in left.stderr


@pytest.mark.parametrize("verb", ["next", "report"])
def test_a_follower_is_ended_by_ctrl_c_in_a_sentence(run: Run, connected: dict[str, str], verb: str) -> None:
    run("seed", "http://a.example/")
    with started(connected, verb, "--follow", stdin=subprocess.PIPE) as process:
        talk = Talk(process)
        talk.say(1 if verb == "next" else {"url": "http://a.example/"})
        assert talk.hear(1)
        process.send_signal(signal.SIGINT)
        assert talk.gone() == (130, "graphbrain: interrupted.\n")


def test_a_claim_that_nobody_can_read_is_given_back(run: Run, connected: dict[str, str]) -> None:
    run("seed", *(f"http://a.example/{n}" for n in range(3)))
    with started(connected, "next", "--follow", stdin=subprocess.PIPE) as process:
        talk = Talk(process)
        talk.say(1)
        assert talk.hear(1)
        assert process.stdout is not None
        process.stdout.close()
        talk.say(2)
        process.stdout = None
        assert talk.gone() == (1, "")
    assert lines(run("stats", "--json"))[0]["leased"] == 1


def test_a_reporter_whose_answers_nobody_reads_ends_quietly(connected: dict[str, str]) -> None:
    with started(connected, "report", "--follow", stdin=subprocess.PIPE) as process:
        talk = Talk(process)
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        talk.say({"url": "http://a.example/"})
        assert talk.gone() == (1, "")


def test_claims_are_renewed_and_given_back(run: Run) -> None:
    run("seed", *(f"http://a.example/{n}" for n in range(3)))
    claims = run("next", 3, "--json").stdout
    longer = run("renew", "--seconds", 5_000, "--json", input=claims)
    assert longer.returncode == 0 and longer.stderr == "graphbrain: 3 claims held longer.\n"
    for before, after in zip(map(json.loads, claims.splitlines()), lines(longer), strict=True):
        assert after == {**before, "until": after["until"]} and after["until"] > before["until"] + 4_000
    reports = "".join(json.dumps({"url": c["url"], "claim": c}) + "\n" for c in lines(longer))
    assert "3 claims given back" in run("give-back", input=reports).stderr, "the lines of a report have them, too"
    assert lines(run("stats", "--json"))[0]["leased"] == 0
    lost = run("renew", "--json", input=claims)
    assert lost.returncode == 1 and "3 were lost" in lost.stderr
    assert [answer["lost"] for answer in lines(lost)] == [True] * 3
    again = run("next", 1, "--json").stdout
    bad = run("give-back", "--json", input=f"nonsense\n\n{again}" + '{"url": "http://b.example/", "key": "x"}\n')
    assert bad.returncode == 1 and "line 1: Not JSON" in bad.stderr and "line 4: 'claim'" in bad.stderr
    assert [answer.get("given_back") for answer in lines(bad)] == [None, True, None]
    assert lines(bad)[2]["url"] == "http://b.example/"
    assert run("give-back").returncode == 0, "nothing is given back of nothing"


def test_without_a_stdin_there_are_no_lines(connected: dict[str, str]) -> None:
    for arguments in (("next", "--follow"), ("report",), ("report", "--follow"), ("renew",)):
        line = f"{shlex.join(command(*arguments))} <&-"
        done = subprocess.run(["sh", "-c", line], env=connected, capture_output=True, text=True, timeout=LONG)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


FETCH = """#!{python}
import json, sys
for line in sys.stdin:
    claim = json.loads(line)
    depth = claim["depth"]
    links = [f"{{claim['url']}}{{n}}/" for n in range(3)] if depth < 2 else []
    print(json.dumps({{"url": claim["url"], "claim": claim, "links": links}}), flush=True)
"""


def test_the_readmes_crawler_in_a_shell(run: Run, connected: dict[str, str], tmp_path: Path) -> None:
    """One page, three behind it, and three behind each of these; then it ends by itself."""
    scripts = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    (script,) = [script for script in scripts if "graphbrain next" in script]
    (tmp_path / "fetch").write_text(FETCH.format(python=sys.executable))
    (tmp_path / "fetch").chmod(0o755)
    (tmp_path / "graphbrain").write_text(f'#!/bin/sh\nexec {sys.executable} -m graphbrain "$@"\n')
    (tmp_path / "graphbrain").chmod(0o755)
    run("seed", "http://a.example/")
    env = {**connected, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(["bash", "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=LONG)
    assert (ran.returncode, ran.stdout) == (0, ""), ran
    finished, _, due = ran.stderr.partition("; the next one from ")
    assert finished == "graphbrain: the crawl is finished: nothing waits and nothing is claimed"
    assert "revisit_seconds" in due and due.count("\n") == 1
    assert lines(run("stats", "--json"))[0]["states"] == {"known": 13}


def test_the_schema_is_printed_without_a_brain(run: Run) -> None:
    done = run("--uri", "bolt://127.0.0.1:9", "report", "--schema")
    assert done.returncode == 0 and json.loads(done.stdout) == report_schema()
