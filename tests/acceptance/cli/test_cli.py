"""The command line as a user meets it: processes, pipes, JSON, one sentence for each mistake."""

from __future__ import annotations

import fcntl
import gc
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import click
import psutil
import pytest
from click.testing import CliRunner

from graphbrain import __version__
from graphbrain.base.settings import Settings
from graphbrain.cli import app
from graphbrain.cli.app import cli
from graphbrain.cli.common import Number
from tests.plugin import PATIENCE, eventually

ROOT = Path(__file__).resolve().parents[3]
LONG = PATIENCE
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def for_us(name: str) -> bool:
    """Is this variable of the environment read by graphbrain?"""
    return name == "COLUMNS" or name.startswith("GRAPHBRAIN_")


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what a developer's shell set for graphbrain, or for all Pythons."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and k != "PYTHONUNBUFFERED"}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "80", **more}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "graphbrain", *map(str, arguments)]


@pytest.fixture
def connected(neo4j: Any, brain: Any) -> dict[str, str]:
    """The environment of a process that works on the (empty) brain."""
    return environment(
        GRAPHBRAIN_URI=neo4j.uri,
        GRAPHBRAIN_USER=neo4j.user,
        GRAPHBRAIN_PASSWORD=neo4j.password,
        GRAPHBRAIN_CRAWL=brain.settings.crawl,
        GRAPHBRAIN_DELAY_SECONDS="0",
    )


def within(env: dict[str, str], *arguments: object, input: str = "", terminal: bool = False) -> Done:
    """What `graphbrain` does in this environment, without the second that a process of its own takes to begin."""
    out, err = io.StringIO(), io.StringIO()
    out.isatty = lambda: terminal  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [*filter(for_us, os.environ)]:
            patch.delenv(name)
        for name in filter(for_us, env):
            patch.setenv(name, env[name])
        patch.setenv("NO_COLOR", "1")
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(input.encode())))
        patch.setattr(gc, "freeze", lambda: None)
        code = app._run([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue(), err.getvalue()
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def apart(env: dict[str, str], *arguments: object, input: str = "") -> Done:
    """The same in a process of its own."""
    with started({**env, "PYTHONFAULTHANDLER": "1"}, *arguments, stdin=subprocess.PIPE) as process:
        try:
            out, err = process.communicate(input, timeout=LONG)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # it says where it hangs
            pytest.fail(f"{arguments} hangs: {process.communicate()[1]}")
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture
def run(connected: dict[str, str]) -> Run:
    """Run a command on the brain to its end; the tests look at code, stdout and stderr.

    Within this process, but for `work`, which takes its signals; `terminal`: as if stdout were one.
    """

    def run(*arguments: object, input: str = "", terminal: bool = False) -> Done:
        if arguments[0] == "work":
            return apart(connected, *arguments, input=input)
        return within(connected, *arguments, input=input, terminal=terminal)

    return run


def lines(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """The JSON lines of stdout."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def one_sentence(done: subprocess.CompletedProcess[str], *words: str, code: int = 1) -> None:
    """It failed with one line on stderr that begins with the program's name and has these words."""
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert re.fullmatch(r"graphbrain: [^\n]+\n", done.stderr), done.stderr
    for word in words:
        assert word in done.stderr


@contextmanager
def started(env: dict[str, str], *arguments: object, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A command under way; killed at the end of the block if it still runs."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command(*arguments), env=env, stdout=pipe, stderr=pipe, text=True, **more)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def on_terminal(env: dict[str, str], *arguments: object, columns: int = 80) -> tuple[int, str]:
    """The exit code of a command on a terminal, and what is to be seen there of its results."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {**{name: value for name, value in env.items() if name != "COLUMNS"}, "TERM": "xterm-256color"}
    process = subprocess.Popen(command(*arguments), env=env, stdin=slave, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    parts = []
    try:
        with suppress(OSError):  # of a terminal that nobody has any more
            while part := os.read(master, 65_536):
                parts.append(part)
        _, err = process.communicate(timeout=LONG)
        assert b"Traceback" not in err, err
    finally:
        process.kill()
        os.close(master)
    text = b"".join(parts).decode().replace("\r\n", "\n")
    return process.returncode, re.sub(r"\x1b\[\d+m", "", text)


# ---------------------------------------------------------------------- without a server


def alone(*arguments: object, **env: str) -> Done:
    return within(environment(**env), *arguments)


def test_help_names_every_command() -> None:
    crawl = ["seed", "next", "report", "work", "tend", "import", "top", "page", "links", "path", "find"]
    keep = ["link", "unlink", "forget", "clear", "hosts", "host", "robots"]
    done = alone("--help")
    for name in [*crawl, "stats", "audit", "dump", "server", "schema", "demo", *keep]:
        assert re.search(rf"^  {name} ", done.stdout, re.MULTILINE), name
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    listed = done.stdout.split("-h, --help")[1]
    assert "..." not in listed, "no sentence is cut"
    own = listed.partition("\nLaboratory:")[0]
    assert len(re.findall(r"^  [a-z]", own, re.MULTILINE)) <= 50
    titles = re.findall(r"^([A-Z][^:\n]*):$", listed, re.MULTILINE)
    assert titles[0] == "Crawl" and len(titles) > 5, "commands are listed in sections"
    assert len(re.findall(r"^  [a-z]", listed, re.MULTILINE)) == len(cli.commands), "each command once"


def everything(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, inner in group.commands.items():
        yield (*names, name), inner
        if isinstance(inner, click.Group):
            yield from everything(inner, *names, name)


WITHOUT_A_BRAIN = {("simulate",), ("server", "prepare"), ("wacz",), ("mirror",)}
WITHOUT_A_BRAIN |= {("spark", name) for name in ("rank", "settle", "audit", "import")}


@pytest.mark.parametrize("names", [names for names, _ in everything(cli)], ids=" ".join)
def test_every_help_is_in_sentences_and_every_command_takes_a_connection(
    names: tuple[str, ...],
) -> None:
    done = CliRunner().invoke(cli, [*names, "--help"])
    assert done.exit_code == 0
    assert re.search(r"^  [A-Z].*[.]$", done.output, re.MULTILINE)
    found = dict(everything(cli))[names]
    options = {option for param in found.params for option in param.opts}
    if not isinstance(found, click.Group) and names not in WITHOUT_A_BRAIN:
        assert {"--uri", "--user", "--password", "--crawl", "--data", "--trace"} <= options


@pytest.mark.parametrize(
    "names", [names for names, found in everything(cli) if any(isinstance(p.type, Number) for p in found.params)]
)
def test_what_is_no_finite_number_is_refused_before_anything_is_done(names: tuple[str, ...]) -> None:
    """Of ranges here, one option after another; of other numbers by the verb: a test for each stands with it."""
    for param in dict(everything(cli))[names].params:
        if isinstance(param.type, Number):
            for number in ("nan", "inf"):
                done = CliRunner().invoke(cli, [*names, "1", f"{param.opts[0]}={number}"])
                assert done.exit_code == 2
                assert re.search(f"{number}'? is (not (a finite number|in the range)|no time)", done.output), (
                    done.output
                )


def test_no_option_takes_a_range_of_floats_with_nan_in_it() -> None:
    floats = [p for _, found in everything(cli) for p in found.params if isinstance(p.type, click.FloatRange)]
    assert floats
    assert all(isinstance(param.type, Number) for param in floats)


NO_NUMBER = ("value", "rate", "interval", "payout", "relevance")


@pytest.mark.parametrize("name", NO_NUMBER)
def test_a_page_has_no_number_that_is_none(run: Run, name: str) -> None:
    for number in ("nan", "inf"):
        one_sentence(run("page", "http://a.example/", "--set", f"{name}={number}"), f"not {number}")


def test_version() -> None:
    assert apart(environment(), "--version").stdout == f"graphbrain {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["frobnicate"], ["top", "--by", "colour"], ["seed"], ["audit", "--all", "--sample", "3"]],
)
def test_a_wrong_command_line_is_exit_2(arguments: list[str]) -> None:
    done = apart(environment(), *arguments)
    assert done.returncode == 2
    assert "Usage: graphbrain" in done.stderr


def test_no_server_says_what_to_do(tmp_path: Path) -> None:
    done = alone("top", GRAPHBRAIN_DATA=str(tmp_path))
    one_sentence(done, "graphbrain server start", "GRAPHBRAIN_URI", str(tmp_path))
    one_sentence(alone("--data", tmp_path / "x", "stats"), "graphbrain server start")


def test_an_address_where_nothing_answers() -> None:
    env = {"GRAPHBRAIN_URI": "bolt://127.0.0.1:9", "GRAPHBRAIN_LIMIT_SECONDS": "2"}
    one_sentence(alone("stats", **env), "127.0.0.1:9")
    one_sentence(alone("stats", GRAPHBRAIN_URI="ftp://nowhere"), "ftp://nowhere")


def test_settings_that_are_none() -> None:
    env = {"GRAPHBRAIN_URI": "bolt://127.0.0.1:9", "GRAPHBRAIN_EPSILON": "1"}
    one_sentence(alone("stats", **env), "GRAPHBRAIN_EPSILON")
    env = {"GRAPHBRAIN_URI": "bolt://127.0.0.1:9", "GRAPHBRAIN_DELAY": "1"}
    one_sentence(alone("stats", **env), "did you mean GRAPHBRAIN_DELAY_SECONDS?")
    env = {"GRAPHBRAIN_URI": "bolt://127.0.0.1:9", "GRAPHBRAIN_EPS": "many"}
    one_sentence(alone("stats", **env), "eps", "many")


def test_uri_and_data_exclude_each_other(tmp_path: Path) -> None:
    done = alone("--uri", "bolt://x", "stats", "--data", tmp_path)
    assert done.returncode == 2
    assert "not both" in done.stderr


def test_a_server_that_does_not_run(tmp_path: Path) -> None:
    status = alone("server", "status", "--data", tmp_path, "--json")
    assert status.returncode == 1
    assert lines(status)[0]["running"] is False
    stopped = alone("server", "stop", "--data", tmp_path)
    assert (stopped.returncode, stopped.stderr) == (0, "graphbrain: it did not run.\n")
    one_sentence(alone("server", "logs", "--data", tmp_path), "no log", str(tmp_path))


# ---------------------------------------------------------------------- on a live brain


def test_wrong_password(connected: dict[str, str]) -> None:
    done = alone("stats", **{**connected, "GRAPHBRAIN_PASSWORD": "wrong"})
    one_sentence(done, "password")
    done = alone("--password", "wrong", "stats", **connected)
    one_sentence(done, "password")


@pytest.mark.long
def test_round_trip_by_json(run: Run, connected: dict[str, str]) -> None:
    seeded = run("seed", "http://a.example/", "http://b.example/x#part", "--json")
    nothing_else = {"outside": 0, "gone": 0, "forgotten": 0, "remarks": []}
    assert lines(seeded) == [{"created": 2, "known": 0, "refused": [], **nothing_else}]
    claims = lines(run("next", 2, "--json"))
    assert {claim["url"] for claim in claims} == {"http://a.example/", "http://b.example/x"}
    nothing = run("next", "--json")
    assert (nothing.stdout, nothing.returncode) == ("", 0)

    reports = [
        {
            "url": claim["url"],
            "claim": claim,
            "links": ["http://c.example/", {"url": "http://d.example/", "relevance": 0.9}],
            "body": "hello",
        }
        for claim in claims
    ]
    text = "".join(json.dumps(report) + "\n" for report in reports)
    answers = lines(apart(connected, "report", "--json", input=text))
    assert [answer["url"] for answer in answers] == [report["url"] for report in reports]
    assert all(answer["accepted"] and answer["links"] == 2 for answer in answers)

    again = run("report", "--json", input=text.splitlines()[0] + "\n")
    assert lines(again)[0]["accepted"], "the same report under the same token is the same answer"

    page = lines(run("page", "http://A.example", "--json"))[0]
    assert (page["url"], page["out_links"]) == ("http://a.example/", 2)
    linked = lines(run("links", "http://A.example", "--out", "--json"))
    assert sorted(link["url"] for link in linked) == ["http://c.example/", "http://d.example/"]

    assert run("tend", "--json").returncode == 0
    best = lines(run("top", 2, "--json"))
    assert {page["url"] for page in best} == {"http://c.example/", "http://d.example/"}
    assert lines(run("top", 1, "--by", "hub", "--json"))[0]["url"][:9] in ("http://a.", "http://b.")
    stats = lines(run("stats", "--json"))[0]
    assert (stats["pages"], stats["links"]) == (4, 4)
    audit = run("audit", "--all", "--json")
    assert lines(audit)[0]["ok"] is True, audit.stdout
    assert audit.returncode == 0


def test_a_terminal_shows_what_fits_and_a_pipe_gets_whole_values(run: Run, connected: dict[str, str]) -> None:
    """On a real terminal; test_cli_look goes through all commands."""
    long = "http://www.example.org/" + "a-very-long-path/" * 20 + "page.html"
    run("report", input=json.dumps({"url": "http://[::1]/brackets", "links": [long], "status": 200}))
    code, seen = on_terminal(connected, "find", "example", columns=80)
    assert code == 0 and max(map(len, seen.splitlines())) == 80, seen
    assert "http://www.example.org/…" in seen and seen.endswith("page.html\n")
    assert run("find", "example").stdout.split("\n")[1].split("\t")[-1] == long


def test_refused_items_are_said_and_the_others_kept(run: Run) -> None:
    seeded = run("seed", "http://a.example/", "ftp://b.example/", "nonsense")
    assert seeded.returncode == 1
    assert "ftp://b.example/" in seeded.stderr
    assert "not http" in seeded.stderr
    text = (
        '\ufeff{"url": "http://a.example/"}\nnot json\n\n{"no": "url"}\n'
        '{"url": "http://c.example/", "color": 1}\n{"url": "ftp://x/"}\n' + "[" * 100_000 + "\n"
    )
    done = run("report", "--json", input=text)
    assert done.returncode == 1
    answers = lines(done)
    assert [answer["accepted"] for answer in answers] == [True, False, False, False, False, False]
    assert "line 2" in answers[1]["reason"]
    assert "line 4" in answers[2]["reason"]
    assert "color" in answers[3]["reason"]
    assert "line 7: Not JSON" in answers[5]["reason"]
    assert "5 of 6" in done.stderr


def test_seed_reads_a_file_and_stdin(run: Run, tmp_path: Path) -> None:
    text = "\ufeffhttp://a.example/\n# seeds\n\n  http://b.example/  \n"
    (tmp_path / "seeds").write_text(text, encoding="utf-8")
    assert lines(run("seed", "--file", tmp_path / "seeds", "--json"))[0]["created"] == 2
    assert lines(run("seed", "--file", "-", "--json", input=text))[0]["known"] == 2
    missing = run("seed", "--file", tmp_path / "none")
    assert missing.returncode == 2
    assert "none" in missing.stderr


def test_corrections_say_what_they_did(run: Run) -> None:
    a, b = "http://a.example/", "http://b.example/"

    def said(*arguments: object, code: int = 0) -> str:
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (code, ""), done
        return done.stderr.removeprefix("graphbrain: ")

    run("seed", a, b)
    assert said("link", a, b) == "1 link added.\n"
    assert said("link", a, b) == "the link was there.\n"
    assert lines(run("page", a, "--json"))[0]["out_links"] == 1
    assert said("unlink", a, b) == "1 link removed.\n"
    assert said("unlink", a, b, code=1) == f"no link leads from {a} to {b}.\n"
    assert said("unlink", a, "http://nowhere.example/", code=1).startswith("no link leads from")
    assert lines(run("page", a, "--json"))[0]["out_links"] == 0
    assert said("page", a, "--set", "relevance=0.25") == f"the relevance of {a} is set to 0.25.\n"
    assert lines(run("page", a, "--json"))[0]["relevance"] == 0.25
    assert said("page", a, "--set", "relevance=none") == f"the relevance of {a} is no longer set.\n"
    assert lines(run("page", a, "--json"))[0]["relevance"] is None
    told = said("page", a, "--set", "payout=2", "--set", "rate=0.5").splitlines()
    assert told == [f"the payout of {a} is set to 2.", f"graphbrain: the rate of {a} is set to 0.5."]
    one_sentence(run("page", a, "--set", "relevance=7"), "7")
    one_sentence(run("page", a, "--set", "relevance=high"), "high")
    for name in NO_NUMBER:
        absent = run("page", "http://nowhere.example/", "--set", f"{name}=1")
        one_sentence(absent, "http://nowhere.example/ is not in the graph")
    one_sentence(run("tend", "http://nowhere.example/"), "http://nowhere.example/ is not in the graph")
    run("link", b, a)
    assert said("forget", b, "http://nowhere.example/", code=1).splitlines() == [
        "1 page forgotten, with 1 link.", "graphbrain: http://nowhere.example/ is not in the graph.",
    ]  # fmt: skip
    one_sentence(run("page", b), b)
    assert said("forget", "--for-ever", b) == "0 pages forgotten, with 0 links; 1 is refused from now on.\n"
    assert run("seed", b).returncode == 1
    assert said("now", a) == "1 page is claimed before all others.\n"
    assert said("now", "--host", a.split("/")[2]) == "1 page is claimed before all others.\n"
    new = "http://new.example/"
    assert said("now", new, code=1) == f"{new}: not known yet; --new makes pages of them. Nothing was done.\n"
    assert said("now", "--pattern", "new.example", code=1) == "no page in the scope fits that.\n"
    assert said("now", "--new", new) == "1 page is claimed before all others.\n"
    assert run("audit", "--all").returncode == 0


def test_hosts(run: Run, connected: dict[str, str], tmp_path: Path) -> None:
    run("seed", "http://a.example/", "http://a.example/private", "http://b.example/")
    done = run("host", "a.example", "--delay", "5", "--budget", "7", "--json")
    assert [lines(done)[0][name] for name in ("delay", "own_budget", "own_in_flight")] == [5.0, 7, None]
    assert lines(run("host", "a.example", "--budget", "none", "--json"))[0]["own_budget"] is None
    assert "blocked_until\t9999-12-31" in run("host", "b.example", "--block", "for-ever").stdout
    assert "for ever" in on_terminal(connected, "host", "b.example")[1]
    assert [host["name"] for host in lines(run("hosts", "--blocked", "--json"))] == ["b.example"]
    assert "a.example" in run("hosts").stdout
    assert lines(run("host", "b.example", "--unblock", "--json"))[0]["blocked_until"] is None
    one_sentence(run("host", "nowhere.example"), "nowhere.example")
    one_sentence(run("host", "a.example", "--delay", "-1"), "-1")
    assert run("host", "a.example", "--delay", "soon").returncode == 2
    assert run("host", "a.example", "--block", "5", "--unblock").returncode == 2
    file = tmp_path / "robots.txt"
    file.write_text("User-agent: *\nDisallow: /private\nCrawl-delay: 9\n")
    assert lines(run("robots", "a.example", str(file), "--json")) == [{"delay": 9.0, "taken_out": 1, "let_in": 0}]
    assert run("robots", "a.example").stdout.startswith("User-agent: *")
    assert lines(run("robots", "a.example", "--remove", "--json"))[0]["let_in"] == 1
    one_sentence(run("robots", "a.example", "--remove"), "No robots.txt was set for a.example")
    assert run("robots", "HTTPS://A.example:443/", str(file)).returncode == 0
    found = lines(run("host", "//A.EXAMPLE.:80/", "--json"))[0]
    assert (found["name"], found["robots_http_at"], found["robots_https_at"] is None) == ("a.example", None, False)
    assert run("robots", "https://a.example").stdout.startswith("User-agent: *")
    assert "no robots.txt" in run("robots", "http://a.example").stderr
    assert len(lines(run("find", "--host", "http://A.example", "--json"))) == 2
    one_sentence(run("dump", "pages", "--host", "a.example/x"), "without a path")
    one_sentence(run("change", "allow_hosts=http://a.example/x"), "without a path")
    one_sentence(run("hosts", "a*.example"), "a*.example")
    file.write_bytes(b"\0\1")
    one_sentence(run("robots", "a.example", str(file)), "text")


def test_hints_from_files_and_pings(run: Run, tmp_path: Path) -> None:
    sitemap, index, broken = (tmp_path / name for name in ("sitemap.xml", "index.xml", "broken.xml"))
    entry = (
        "<url><loc>http://a.example/1</loc><lastmod>2024-01-01</lastmod></url><url><loc>ftp://a.example/</loc></url>"
    )
    sitemap.write_text(f"<urlset>{entry}</urlset>")
    index.write_text("<sitemapindex><sitemap><loc>http://a.example/more.xml</loc></sitemap></sitemapindex>")
    broken.write_text("<urlset><url>")
    done = run("hint", sitemap, index, "http://a.example/2", "--json")
    answers = lines(done)
    assert done.returncode == 1
    assert [item.get("outcome") for item in answers] == ["new", None, None, "new"]
    assert answers[2] == {"sitemap": "http://a.example/more.xml"}
    assert "ftp://a.example/" in done.stderr
    assert "-\told\t1\n" in run("hint", "-", input='{"url": "http://a.example/1", "at": 1e9}').stdout
    one_sentence(run("hint", broken), "broken.xml", "not XML")
    broken.write_text("<urlset>\n<url><loc>http://a.example/?a=1&b=3</loc></url>\n<url><loc>http://a.exa")
    done = run("hint", broken)
    assert (done.returncode, [line.split("\t")[1:] for line in done.stdout.splitlines()[1:]]) == (
        1, [["new", "1"], ["refused", "1"]],
    )  # fmt: skip
    assert "broken.xml: refused: line 3: an entry is broken." in done.stderr
    assert "broken.xml: mended: it is not XML (" in done.stderr
    one_sentence(run("hint", tmp_path / "nowhere.xml"), "nowhere.xml")


def test_retry(run: Run) -> None:
    url = "http://a.example/"
    report = json.dumps({"url": url, "failed": True, "status": 404})
    assert run("report", input=report).returncode == 0
    assert "1 page waits again" in run("retry", url).stderr
    one_sentence(run("retry", "--host", "a.example", "--state", "gone"), "0 pages wait again")
    one_sentence(run("retry", "--host", "nowhere.example"), "'nowhere.example'")
    one_sentence(run("retry", "http://nowhere.example/"), "http://nowhere.example/ is not in the graph")
    assert lines(run("page", url, "--json"))[0]["errors"] == 0
    one_sentence(run("retry"), "URLs")


def test_change(run: Run) -> None:
    a, b = "http://a.example/", "http://a.example/b"
    run("seed", a)
    run("link", a, b)
    done = run("change", "payout=trusted", "intra_host_weight=0.5")
    assert (done.returncode, done.stdout) == (0, "")
    assert "now holds for all" in done.stderr
    assert [lines(run("page", one, "--json"))[0]["payout"] for one in (a, b)] == [2.0, 0.0]
    assert lines(run("page", a, "--json"))[0]["out_weight"] == 0.5
    for wrong, word in (("payout=nobody", "trusted"), ("payuot=x", "did you mean 'payout'?"), ("crawl=other", "crawl")):
        one_sentence(run("change", wrong), word)
    one_sentence(run("change", "payout"), "NAME=VALUE")
    assert run("change").returncode == 2
    assert run("audit", "--all").returncode == 0


def test_settings_say_what_holds_and_where_it_comes_from(run: Run, connected: dict[str, str]) -> None:
    one_sentence(run("settings", "delay"), "did you mean 'delay_seconds'?")
    run("change", "eps=0.1", "allow_hosts=a.example b.example")
    connected["GRAPHBRAIN_LEASE_SECONDS"] = "77"
    found = {each["name"]: (each["source"], each["value"]) for each in lines(run("settings", "--json"))}
    assert set(found) == set(Settings.names())
    assert found["eps"] == ("brain", 0.1) and found["alpha"] == ("default", 0.15)
    assert found["allow_hosts"] == ("brain", "a.example b.example")
    assert found["lease_seconds"] == ("GRAPHBRAIN_LEASE_SECONDS", 77.0)
    assert found["uri"][0] == "GRAPHBRAIN_URI" and found["password"] == ("GRAPHBRAIN_PASSWORD", "(not shown)")
    (user,) = lines(run("--user", connected["GRAPHBRAIN_USER"], "settings", "user", "--json"))
    assert (user["source"], user["kind"]) == ("--user", "client")
    del connected["GRAPHBRAIN_LEASE_SECONDS"]
    assert lines(run("settings", "lease_seconds", "--json"))[0]["source"] == "default", "to look changes nothing"
    changed = [line.split("\t")[0] for line in run("settings", "--changed").stdout.splitlines()[1:]]
    assert "eps" in changed and "alpha" not in changed
    code, seen = on_terminal(connected, "settings", "--changed")
    assert code == 0 and re.search(r"^eps +brain +shared +0.100$", seen, re.MULTILINE), seen


def test_clear_wants_a_yes(run: Run) -> None:
    run("seed", "http://a.example/")
    assert run("clear", input="").returncode != 0
    assert run("clear", input="n\n").returncode == 1
    assert lines(run("stats", "--json"))[0]["pages"] == 1
    assert run("clear", "--yes").returncode == 0
    assert lines(run("stats", "--json"))[0]["pages"] == 0


def test_a_reader_that_goes_away_is_no_error(run: Run, connected: dict[str, str]) -> None:
    links = [f"http://a.example/{'x' * 500}/{i}" for i in range(400)]
    run("report", input=json.dumps({"url": "http://a.example/", "links": links}))
    run("tend")
    for table in ([], ["--json"]):
        with started(connected, "top", 400, *table) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(LONG) in (0, 1), "1 if it had not said all before"
            assert process.stderr is not None
            assert process.stderr.read() == ""
    # It has gone before anything is said, and what is said fits into a buffer until the end.
    for short in (["--help"], ["report", "--schema"]):
        with started(connected, *short) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert (process.wait(LONG), process.stderr.read()) == (1, "")


def test_trace_names_statements_on_stderr(run: Run) -> None:
    done = run("-v", "stats", "--json")
    assert len(lines(done)) == 1
    assert re.search(r"\d ms +\d+ rows  \w+/\w+", done.stderr)


def test_schema(run: Run) -> None:
    assert run("schema", "apply").returncode == 0
    done = run("schema", "check", "--json")
    assert done.returncode == 0
    assert "version" in lines(done)[0]


def children(process: subprocess.Popen[str], count: int, besides: int = 0) -> list[psutil.Process]:
    """Its worker processes, once there are `count` of them."""

    def found() -> list[psutil.Process]:
        those = [c for c in psutil.Process(process.pid).children() if c.pid != besides]
        return those if len(those) >= count else []

    return eventually(found, f"{count} worker processes", process)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_work_ends_in_order(run: Run, connected: dict[str, str], number: signal.Signals) -> None:
    run("seed", *(f"http://a.example/{i}" for i in range(5)))
    with started(connected, "work", "--workers", 2, "--json") as process:
        workers = children(process, 2)
        assert len(workers) == 2
        eventually(lambda: all(worker.net_connections("tcp") for worker in workers), "workers at work", process)
        process.send_signal(number)
        out, err = process.communicate(timeout=LONG)
        assert process.returncode == 0, err
        assert "pushes" in json.loads(out)
        assert "Traceback" not in err


def test_work_until_settled(run: Run) -> None:
    pages = [f"http://a.example/{i}" for i in range(20)]
    text = "".join(json.dumps({"url": url, "links": [p for p in pages if p != url][:7]}) + "\n" for url in pages)
    run("report", input=text)
    done = run("work", "--workers", 2, "--until-settled", "--json")
    assert done.returncode == 0, done.stderr
    assert lines(done)[0]["settled"] is True
    assert run("audit", "--all").returncode == 0


def test_a_killed_worker_is_replaced(connected: dict[str, str]) -> None:
    with started(connected, "work", "--workers", 1, "--json") as process:
        (first,) = children(process, 1)
        first.kill()
        assert children(process, 1, besides=first.pid), "another takes its place"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LONG)
    assert f"Worker process {first.pid} was killed by signal 9" in err


def test_workers_do_not_outlive_their_parent(connected: dict[str, str]) -> None:
    with started(connected, "work", "--workers", 1) as process:
        workers = children(process, 1)
        process.kill()
        _, alive = psutil.wait_procs(workers, timeout=LONG)
        assert not alive
