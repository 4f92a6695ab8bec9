"""The commands that look and dump, within this process but for those that are broken off."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from graphbrain.base.numeric.methods import SCORES
from tests.acceptance.cli.test_cli import LONG, Run, command, connected, lines, one_sentence, run, started
from tests.recordings import links_of, web_of

__all__ = ["connected", "run"]

A, B, C = "http://a.example/", "http://b.example/x", "http://c.example/"


@pytest.fixture
def small(run: Run) -> Run:
    """A command on a brain where the seed A links to B and C, and B to C."""
    run("seed", A)
    run("report", input=f'{{"url": "{A}", "links": ["{B}", "{C}"]}}\n{{"url": "{B}", "links": ["{C}"]}}\n')
    run("tend")
    return run


def test_a_page_says_why_it_has_its_scores(small: Run) -> None:
    (page,) = lines(small("page", C, "--json"))
    paid = page["payments"]["authority_payers"]
    assert {each["url"] for each in paid} == {A, B}
    assert 1 + sum(each["cash"] for each in paid) == pytest.approx(page["authority_score"])
    shown = small("page", page["key"], terminal=True).stdout
    assert re.search(r"authority \d+(\.\d+)? is 1 for being there and the rest from pages that link to it:", shown)
    assert re.search(rf"^\d\.\d+ +\d+\.\d% +{B}$", shown, re.MULTILINE)
    assert lines(small("page", C, "--payers", 1, "--json"))[0]["payments"]["authority_payers"] == paid[:1]


def test_links_both_ways(small: Run) -> None:
    both = lines(small("links", B, "--json"))
    assert [(link["way"], link["url"]) for link in both] == [("out", C), ("in", A)]
    assert [link["url"] for link in lines(small("links", A, "--out", "-n", 1, "--json"))] == [C]
    assert [link["url"] for link in lines(small("links", both[0]["key"], "--in", "--json"))] == [A, B]
    assert small("links", A, "--in", terminal=True).stdout == "linked from:\nnothing\n"
    assert small("links", A, "--in").stdout.count("\n") == 1, "the header"
    rows = [line.split("\t") for line in small("links", B).stdout.splitlines()]
    assert [(row[0], row[-1]) for row in rows] == [("way", "url"), ("out", C), ("in", A)]
    one_sentence(small("links", "http://z.example/"), "http://z.example/ is not in the graph")


def test_paths_and_that_there_is_none(small: Run) -> None:
    small("unlink", A, C)
    small("seed", "http://z.example/")
    assert [step["url"] for step in lines(small("path", C, "--json"))] == [A, B, C]
    assert re.findall(r"http\S+", small("path", A, C).stdout) == [A, B, C]
    one_sentence(small("path", C, A), C, A, "2 lead from there back")
    one_sentence(small("path", C, "http://z.example/"), "nor back")
    small("link", "http://y.example/", C)
    one_sentence(small("path", "http://y.example/", "--json"), "no links lead from a seed to http://y.example/")
    one_sentence(small("path", "example"), "'example' names no page")


def test_find(small: Run) -> None:
    assert [page["url"] for page in lines(small("find", "x", "--host", "b.example", "--json"))] == [B]
    assert {page["url"] for page in lines(small("find", "--regex", "[ac].ex", "--unfetched", "--json"))} == {C}
    assert len(lines(small("find", "example", "-n", 2, "--json"))) == 2
    assert re.fullmatch(
        r"authority +hub +state +url\n +\d\.\d\d +\d\.\d\d +known +http://b\S+\n",
        small("find", "/x", terminal=True).stdout,
    )
    nothing = small("find", "--min-score", 50, terminal=True)
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "graphbrain: no page fits.\n")
    one_sentence(small("find", "--regex", "("), "regular expression")
    for number in ("nan", "inf", "-inf"):
        one_sentence(small("find", "--min-score", number), "min_score must be a finite number")
    assert small("find").returncode == 2


def test_batch_scores_are_shown(small: Run) -> None:
    without = small("dump", "pages", "--format", "csv", "--columns", "all", "--raw").stdout.splitlines()[0].split(",")
    assert set(SCORES) < set(without)
    assert not re.search("^pagerank", small("page", B, terminal=True).stdout, re.MULTILINE)
    one_sentence(small("top", "--by", "pagerank"), "No page has", "run 'graphbrain rank pagerank' first")
    one_sentence(small("find", "x", "--by", "salsa_hub"), "No page has", "run 'graphbrain rank salsa' first")
    for method in ("pagerank", "salsa"):
        small("rank", method)
    assert (
        small("dump", "pages", "--format", "csv", "--columns", "all", "--raw").stdout.splitlines()[0].split(",")
        == without
    ), "the same header"
    scores = {page["url"]: page["pagerank"] for page in lines(small("dump", "pages", "--json"))}
    assert sum(scores.values()) == pytest.approx(1.0)
    best = lines(small("top", 2, "--by", "pagerank", "--json"))
    assert [page["url"] for page in best] == sorted(scores, key=lambda url: -scores[url])[:2]
    shown = small("top", 2, "--by", "pagerank", terminal=True).stdout.splitlines()
    assert shown[0].split() == ["#", "pagerank", "authority", "in", "out", "url"]
    assert shown[1].split()[1] == f"{scores[C]:.3g}"
    assert re.search(rf"^pagerank +{scores[B]:.3g}$", small("page", B, terminal=True).stdout, re.MULTILINE)
    assert re.search(r"^salsa_authority +0\.\d+$", small("page", B, terminal=True).stdout, re.MULTILINE)
    assert "opic" not in small("page", B, terminal=True).stdout
    found = small("find", "example", "--by", "pagerank", "--min-score", scores[C]).stdout.splitlines()
    assert [line.split() for line in found[:1]] == [["pagerank", "authority", "state", "url"]]
    assert [line.split()[-1] for line in found[1:]] == [C]
    small("seed", "http://new.example/")
    assert small("find", "new.", "--by", "pagerank").stdout.split("\n")[1] == "\t1.0\tfrontier\thttp://new.example/"
    assert small("top", "--by", "hits").returncode == 2


def test_dumps_have_the_same_in_every_format(small: Run, tmp_path: Path) -> None:
    pages = lines(small("dump", "pages", "--json"))
    links = lines(small("dump", "links", "--json"))
    assert {page["url"] for page in pages} == {A, B, C}
    assert {(link["source"], link["target"]) for link in links} == {(A, B), (A, C), (B, C)}
    for what, items in (("pages", pages), ("links", links)):
        rows = list(
            csv.DictReader(small("dump", what, "--format", "csv", "--columns", "all", "--raw").stdout.splitlines())
        )
        assert [list(row) for row in rows] == [list(item) for item in items]
        for row, item in zip(rows, items, strict=True):
            assert {name: json.loads(cell) if cell in ("true", "false") else cell for name, cell in row.items()} == {
                name: "" if value is None else value if isinstance(value, bool) else str(value)
                for name, value in item.items()
            }
        assert small("dump", what, tmp_path / f"{what}.gz", "--columns", "all", "--raw").stdout == ""
        text = gzip.decompress((tmp_path / f"{what}.gz").read_bytes()).decode()
        assert [json.loads(line) for line in text.splitlines()] == items
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links.gz", "pages.gz"]


def test_nodes_and_edges_are_read_back_as_a_recorded_crawl(small: Run, tmp_path: Path) -> None:
    small("dump", "pages", tmp_path / "x.nodes.tsv", "--format", "nodes")
    small("dump", "links", tmp_path / "x.edges.tsv", "--format", "edges")
    web = web_of(tmp_path / "x.edges.tsv")
    assert {url: set(links_of(web, page)) for page, url in enumerate(web.urls)} == {A: {B, C}, B: {C}, C: set()}


def test_a_dump_that_cannot_be_written(small: Run, tmp_path: Path) -> None:
    small("dump", "pages", tmp_path / "x.csv")
    rows = list(csv.DictReader((tmp_path / "x.csv").read_text().splitlines()))
    assert len(rows[0]) < 20 and all(re.fullmatch(r"(\d{4}-\d\d-\d\dT.*Z)?", row["fetched"]) for row in rows)
    for arguments in ((), ("--format", "jsonl"), (tmp_path / "x.jsonl",)):
        written = small("dump", "pages", *arguments).stdout or (tmp_path / "x.jsonl").read_text()
        for page in map(json.loads, written.splitlines()):
            assert list(page) == list(rows[0]), "the same columns in each format"
            assert page["fetched"] is None or re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", page["fetched"])
    raw = lines(small("dump", "pages", "--raw"))
    assert list(raw[0]) == list(rows[0]) and isinstance(raw[0]["fetched"], float | None)
    one = small("dump", "pages", "--columns", "url, visits").stdout.splitlines()[0]
    assert list(json.loads(one)) == ["url", "visits"]
    one_sentence(small("dump", "pages", "--columns", "urll"), "did you mean url?")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").startswith("url,state,")
    one_sentence(small("dump", "pages", tmp_path / "x.xlsx"), ".xlsx", "--format")
    assert not (tmp_path / "x.xlsx").exists()
    one_sentence(small("dump", "pages", tmp_path / "no" / "x"), str(tmp_path / "no" / "x"), "cannot be written")
    assert small("dump", "pages", tmp_path).returncode == 2


def test_a_dump_that_is_broken_off(small: Run, connected: dict[str, str], tmp_path: Path) -> None:
    """By a reader that goes, or by Ctrl-C: nothing is said but that, and no half a file stays."""
    pages = [f"http://a.example/{'x' * 500}/{n}" for n in range(4000)]
    small("report", input=json.dumps({"url": A, "links": pages}))
    for what in ("pages", "links"):
        with started(connected, "dump", what) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(LONG) == 1
            assert process.stderr is not None
            assert process.stderr.read() == ""
    os.mkfifo(tmp_path / "pipe")
    with started(connected, "dump", "pages", tmp_path / "pipe") as process, (tmp_path / "pipe").open() as reader:
        reader.readline()
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        reader.read()
        _, err = process.communicate(timeout=LONG)
        assert (process.returncode, err.lstrip()) == (130, "graphbrain: interrupted.\n")


def test_a_hint_by_key(small: Run) -> None:
    (page,) = lines(small("page", B, "--json"))
    assert re.search(r"\b1 (moved|old)", small("hint", page["key"], terminal=True).stdout)
    stranger = page["key"][::-1]
    refused = small("hint", stranger, terminal=True)
    one_sentence(refused, stranger, "no page has this key")
    assert "1 refused" in refused.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="nothing here is always full")
@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
def test_a_stdout_that_cannot_be_written(small: Run, connected: dict[str, str], redirected: str) -> None:
    """Whether it shows at the first line, in the middle, at the end, or in what an error has left to be written."""
    many = [f"http://a.example/{'x' * 500}/{n}" for n in range(40)]
    small("report", input=json.dumps({"url": A, "links": many}))
    for arguments in (("page", A, "--json"), ("dump", "pages"), ("find", "a"), ("--version",)):
        line = f"{shlex.join(command(*arguments))} {redirected}"
        done = subprocess.run(["sh", "-c", line], env=connected, capture_output=True, text=True, timeout=LONG)
        one_sentence(done, "stdout cannot be written", "send it elsewhere")
    line = f"{shlex.join(command('link', A, C))} {redirected}"
    quiet = subprocess.run(["sh", "-c", line], env=connected, capture_output=True, text=True, timeout=LONG)
    assert (quiet.returncode, quiet.stderr) == (0, "graphbrain: 1 link added.\n"), "it writes to stderr alone"


def test_a_terminal_of_80_columns_shows_whole_lines_and_a_pipe_whole_values(small: Run) -> None:
    long = "http://www.example.org/" + "a-very-long-path/" * 20 + "page.html"
    small("link", B, long)
    small("link", long, C)
    small("tend")
    small("rank", "salsa")
    with_it = [
        ("page", B), ("links", B), ("links", C, "--in"), ("path", A, long), ("path", long),
        ("find", "example"), ("top",), ("top", "--by", "hub"), ("top", 9, "--by", "salsa_authority"),
        ("find", "example", "--by", "salsa_authority"), ("rank", "pagerank"),
    ]  # fmt: skip
    others = [
        ("page", long), ("hosts",), ("host", "a.example"), ("stats",), ("audit", "--all"), ("schema", "check"),
        ("settings",), ("rank",), ("tend",), ("engine",), ("next", "1"),
    ]  # fmt: skip
    for arguments in with_it + others:
        seen, piped = small(*arguments, terminal=True), small(*arguments)
        assert (seen.returncode, seen.stderr) == (0, ""), arguments
        assert seen.stdout and "\t" not in seen.stdout
        assert not [line for line in seen.stdout.splitlines() if len(line) > 80 and line != long], seen.stdout
        assert (
            "…" not in piped.stdout.replace("password\tGRAPHBRAIN_PASSWORD\tclient\t…", "")
            and "\x1b" not in piped.stdout
        )
        for block in piped.stdout.removesuffix("\n").split("\n\n"):
            counts = {len(line.split("\t")) for line in block.split("\n")}
            assert len(counts) == 1 and counts.pop() > 1, (arguments, piped.stdout)
        if arguments in with_it:
            assert "http://www.example.org/…" in seen.stdout and "page.html" in seen.stdout, seen.stdout
            assert any(line.split("\t")[-1] == long for line in piped.stdout.splitlines())


def test_of_nothing_a_pipe_gets_the_header(run: Run) -> None:
    for arguments in (("top",), ("next",), ("find", "x"), ("hosts",), ("rank",)):
        nothing = run(*arguments)
        assert nothing.stdout.count("\n") == 1 and "\t" in nothing.stdout, arguments
        assert run(*arguments, terminal=True).stdout == ""
