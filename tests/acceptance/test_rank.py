"""`graphbrain rank` as a user meets it."""

from __future__ import annotations

import signal
from itertools import count, pairwise

from graphbrain import Brain, Fetched
from tests.acceptance.cli.test_cli import LONG, Run, connected, lines, on_terminal, one_sentence, run, started
from tests.plugin import eventually
from tests.verbs import top_of

__all__ = ["connected", "run"]

A, B, C, FAR = "http://a.org/", "http://a.org/b", "http://a.org/c", "http://far.org/"


def test_ranking_on_the_command_line(run: Run, brain: Brain, connected: dict[str, str]) -> None:
    none = run("rank")
    assert none.returncode == 0
    assert "no batch scores yet" in none.stderr
    brain.seed([A])
    brain.report([Fetched(A, [B, C, FAR], body_hash="1"), Fetched(B, [C], body_hash="2")])

    done = run("rank", "pagerank", "--top", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t") for line in done.stdout.splitlines()[:2]] == [
        ["score", "#", "value", "url"], ["pagerank", "1", str(brain.page(C).scores["pagerank"]), C],
    ]  # fmt: skip
    assert "\nconverged\ttrue\n" in done.stdout
    code, seen = on_terminal(connected, "rank", "pagerank", "--top", "2")
    assert code == 0 and seen.splitlines()[1].split()[2] == C
    assert "error       at most" in seen
    assert "written     pagerank" in seen
    assert max(map(len, seen.splitlines())) <= 80

    (told,) = lines(run("rank", "trustrank", "--only-external", "--damping", "0", "--json"))
    assert told["best"] == {"trustrank": [[A, 1.0]]}
    assert (told["damping"], told["restart"], told["links"]) == (0.0, "seeds", 1)
    assert run("rank", "hits", "--content", "--no-write").returncode == 0

    listed = lines(run("rank", "--json"))
    assert [each["method"] for each in listed] == ["trustrank", "pagerank"]
    table = on_terminal(connected, "rank")[1].splitlines()
    assert len(table) == 3
    assert max(map(len, table)) <= 80
    assert "external links, seeds" in table[1]

    few = run("rank", "opic", "--iterations", "1")
    assert few.returncode == 1
    assert "the tolerance was not reached; allow more --iterations" in few.stderr
    rounded = run("rank", "pagerank", "--damping", "0.999999")
    assert rounded.returncode == 1
    assert "the tolerance was not reached; arithmetic allows no less" in rounded.stderr
    assert "\nconverged\tfalse\n" in rounded.stdout
    code, seen = on_terminal(connected, "rank", "pagerank", "--damping", "0.999999")
    assert code == 1 and "above the tolerance of 1e-09" in seen
    assert max(map(len, seen.splitlines())) <= 80


def test_mistakes(run: Run) -> None:
    one_sentence(run("rank", "pagerank", "--damping", "1"), "damping must be from 0 to below 1")
    one_sentence(run("rank", "trustrank", "--trust", "http://x.org/"), "http://x.org/ is not in the graph")
    without = run("rank", "--top", "3")
    assert without.returncode == 2
    assert "METHOD" in without.stderr


def test_scores_are_kept_fresh_beside_a_crawl(brain: Brain, connected: dict[str, str]) -> None:
    """Two workers, one of whom ranks at a time; what the crawl finds meanwhile has its score soon, and the order goes
    by it."""
    brain.change(value="pagerank", order="best_first", delay_seconds=0.0)
    brain.seed([A])
    brain.rank("pagerank", damping=0.8)
    seen, numbers = set[float](), count()

    def crawled() -> bool:
        number = next(numbers)
        brain.report([Fetched(f"http://x{number}.org/", [B, f"http://y{number}.org/"], body_hash="x")])
        seen.add(brain.rankings()[0].started)
        return len(seen) > 4

    with started(connected, "work", "--workers", "2", "--rank", "pagerank", "--every", "1s") as process:
        eventually(crawled, "four times that it was ranked again", process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LONG)
    assert (process.returncode, "ranks by" in err) == (0, False), err
    assert min(later - one for one, later in pairwise(sorted(seen))) >= 1.0
    last = brain.rankings()[0]
    assert last.damping == 0.8
    if not last.complete:  # Ctrl-C has met it in the middle of a ranking
        brain.rank("pagerank", damping=0.8)
    ranked = top_of(brain, 1, by="pagerank")
    assert ranked[0].url == brain.next_urls(1)[0].url == B


def test_mistakes_in_keeping_scores_fresh(run: Run) -> None:
    for words, says in (
        (("--every", "1h"), "--every is for --rank"),
        (("--rank", "best"), "'best' is not one of"),
        (("--rank", "hits", "--every", "soon"), "'soon' is no time; give one as in 90s, 30m, 1h or 2d"),
        (("--rank", "hits", "--every", "0m"), "0.0 is not in the range"),
    ):
        done = run("work", *words)
        assert done.returncode == 2
        assert says in done.stderr
