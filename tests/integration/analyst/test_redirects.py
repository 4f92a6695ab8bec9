"""Questions about redirects on a web of little else."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from graphbrain import Brain, Failed, Fetched, Hint
from graphbrain.analyst.questions import ask
from tests.integration.analyst.webs import B


def test_a_circle_of_redirects_is_told_once_and_a_chain_that_leads_into_it_is_marked(brain: Brain) -> None:
    brain.seed([f"{B}/"])
    for begin, end in (("2", "3"), ("3", "1"), ("1", "2"), ("in", "2"), ("way", "in")):
        brain.report([Fetched(f"{B}/{begin}", redirected_to=f"{B}/{end}")])
    chains = [
        (row[1], [url.removeprefix(f"{B}/") for url in row[2]]) for row in ask(brain.graph, "redirect-chains").rows
    ]
    assert chains == [(True, ["way", "in", "2", "3", "1", "2"]), (True, ["1", "2", "3", "1"])]
    assert {row[0] for row in ask(brain.graph, "redirects").rows} == {0}, "no page spells the old address"


def said(brain: Brain, name: str, *columns: str, **given: object) -> list[tuple[object, ...]]:
    answer = ask(brain.graph, name, limit="all", **given)
    return sorted(zip(*map(answer.column, columns), strict=True), key=str)


def short(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows with paths in place of URLs."""

    def cut(cell: object) -> object:
        if isinstance(cell, list):
            return [cut(each) for each in cell]
        return cell.removeprefix(f"{B}/") if isinstance(cell, str) else cell

    return [tuple(map(cut, row)) for row in rows]


def test_what_counts_links_across_redirects_counts_right(brain: Brain) -> None:
    """Pages link to redirects for good, for now, of both kinds in a row, in circles, and to those that end in a 404."""
    pages = {
        "": ["temp", "list", "loop", "mix", "now", "lost", "turn"],
        "list": ["dead", "only"],
        "only": [],
        "behind": [],
        "one": ["two"],
        "two": ["one"],
    }
    for_good = {
        "loop": "pool",
        "pool": "loop",
        "mix": "temp",
        "hinted": "behind",
        "old": "only",
        "way": "old",
        "turn": "back",
    }
    for_now = {"temp": "list", "now": "then", "then": "now", "lost": "dead", "back": "turn"}
    brain.change(delay_seconds=0)
    brain.seed([f"{B}/"])
    brain.hint([Hint(f"{B}/{path}") for path in ("hinted", "one", "two", "way")])
    for path, links in pages.items():
        brain.report([Fetched(f"{B}/{path}", [f"{B}/{link}" for link in links], body=path.encode())])
    for path, target in for_good.items():
        brain.report([Fetched(f"{B}/{path}", status=301, redirected_to=f"{B}/{target}")])
    for path, target in for_now.items():  # a followed one brings what its target has
        links = [f"{B}/{link}" for link in pages.get(target, ())]
        brain.report([Fetched(f"{B}/{path}", links, status=302, led_to=[f"{B}/{target}"])])
    brain.report([Failed(f"{B}/dead", status=404)])
    brain.tend(None)
    assert brain.audit(None).ok
    assert short(said(brain, "broken-links", "on", "names", "broken")) == [
        ("", "loop", "loop"),
        ("", "lost", "dead"),
        ("", "now", "now"),
        ("", "turn", "turn"),
        ("list", "dead", "dead"),
    ]
    assert short(said(brain, "links-to-redirects", "on", "names", "steps", "to", "way")) == [
        ("", "loop", None, None, ["pool", "loop"]),
        ("", "mix", 2, "temp", ["temp", "list"]),
        ("", "turn", None, None, ["back", "turn"]),
    ]
    assert short(said(brain, "redirect-chains", "circle", "chain")) == [
        (False, ["mix", "temp", "list"]),
        (False, ["way", "old", "only"]),
        (True, ["back", "turn", "back"]),
        (True, ["loop", "pool", "loop"]),
        (True, ["now", "then", "now"]),
    ]
    assert short(said(brain, "orphans", "url")) == [("one",), ("two",)]
    assert short(said(brain, "top-hubs", "url", "out_links"))[:1] == [("", 6)]  # mix ends at temp, too
    assert {path for (path,) in short(said(brain, "top-hubs", "url"))}.isdisjoint({*for_good, *for_now})
    in_links = {row[0]: row[1] for row in short(said(brain, "few-in-links", "url", "in_links", most=9))}
    assert (in_links["list"], in_links["only"], in_links["temp"], brain.page(f"{B}/behind").in_links) == (1, 1, 1, 0)
    found = {each.title: each.count for each in brain.findings()}
    assert found["Links to pages that fail"] == 5
    assert found["Links that name redirects"] == 3
    assert found["Links to redirects that lead to redirects"] == 3
    assert found["Pages that no page links to"] == 2


MODEL = Path(__file__).parents[3] / "docs/reference/data-model.md"


@pytest.mark.usefixtures("answers_lost")
def test_what_a_page_is_follows_from_one_condition_of_the_data_model(brain: Brain) -> None:
    """Whatever is reported, each page meets one of the conditions that the data model documents."""
    section = MODEL.read_text("utf-8").partition("## What a page is")[2].partition("\n## ")[0]
    conditions = dict(re.findall(r"^\| ([a-z ]+) \| `(\(?p\.[^`]+)`", section, re.MULTILINE))
    assert len(conditions) == 5
    dice = random.Random(5)
    brain.change(delay_seconds=0, max_errors=2, allow_hosts="*.example")
    urls = [f"{B}/{number}" for number in range(60)]
    brain.seed(urls[:20])
    for _ in range(6):
        reports: list[Fetched | Failed] = []
        for url in dice.sample(urls, 20):
            links = [*dice.sample(urls, 3), f"http://other{dice.randrange(3)}.org/"]
            status = dice.choice((None, 404, 410, 500, 503))
            page = Fetched(url, links, led_to=dice.choice(((), (urls[0],))))
            answers = (page, Failed(url, status=status), Fetched(url, status=302, led_to=(urls[1],)))
            reports.append(dice.choice((*answers, Fetched(url, redirected_to=dice.choice(urls)))))
        brain.report(reports)
        brain.park(dice.choice(urls))
        cases = " ".join(f"+ CASE WHEN {text} THEN ['{name}'] ELSE [] END" for name, text in conditions.items())
        text = f"MATCH (p:Page) WITH p, [] {cases} AS meets RETURN meets, count(*), collect(p.url)[..3]"
        found = brain.graph.read(lambda tx, text=text: tx.ask("what", text, {})[1], "what")
        assert all(len(meets) == 1 for meets, _, _ in found), found
    assert {meets[0] for meets, _, _ in found} == set(conditions)
