"""What a crawl is told of changes: by text, by simhash, by the crawler, by a detector; ETag and Last-Modified."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from graphbrain import Brain, Claim, Fetched, Seen
from graphbrain.schedule.blocks import LARGEST_SKETCH
from graphbrain.schedule.fingerprints import text_blocks
from tests.integration.conftest import START, HandClock
from tests.plugin import Neo4j

MakeBrain = Callable[..., Brain]

A, B = "http://a.org/", "http://b.org/"
PROSE_WORDS = [one + two + three for one in "bdfgk" for two in "aeiou" for three in "lmnrst"]
PROSE = " ".join(f"word{n * n % 997}" for n in range(700))


def html(text: str, extra: str = "") -> bytes:
    return f"<html><p>{PROSE}</p><p>{text}</p>{extra}".encode()


def outcomes(brain: Brain, clock: HandClock, *visits: dict[str, Any]) -> list[str | None]:
    found = []
    for visit in visits:
        clock.pass_(60.0)
        found.append(brain.report([Fetched(A, **visit)])[0].outcome)
    return found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("body", ["new", "changed", "changed", "changed", "same"]),
        ("text", ["new", "same", "changed", "changed", "same"]),
        ("simhash", ["new", "same", "same", "changed", "same"]),
        ("blocks", ["new", "same", "changed", "changed", "same"]),
    ],
)
def test_a_script_a_date_and_a_new_paragraph(
    make_brain: MakeBrain, clock: HandClock, change: str, expected: list[str]
) -> None:
    other = " ".join(f"other{n}" for n in range(200))
    brain = make_brain(change=change)
    bodies = (html("Monday"), html("Monday", "<script>7"), html("Tuesday"), html(other), html(other))
    assert outcomes(brain, clock, *({"body": body} for body in bodies)) == expected
    page = brain.page(A)
    assert (page.visits, page.changes) == (5, expected.count("changed"))
    assert (page.text_hash is None, page.simhash is None) == (change == "body", change not in ("simhash", "blocks"))


def test_what_changes_at_every_visit_is_no_change_from_the_third_on(brain: Brain, clock: HandClock) -> None:
    sentences = [f"<p>{' '.join(PROSE.split()[n : n + 9])}" for n in range(0, 600, 9)]

    def shown(more: str = "") -> dict[str, Any]:
        own = clock() % 997
        words = " ".join(f"w{own * n % 991:.0f}" for n in range(1, 30))
        return {"body": f"<html>{''.join(sentences[:9])}<div>{words}</div>{''.join(sentences[9:])}{more}".encode()}

    def seen(*more: str) -> list[str | None]:
        return [outcomes(brain, clock, shown(text))[0] for text in more]

    assert seen("", "", "", "") == ["new", "changed", "same", "same"]
    priced = seen("<p>a price of $5", "<p>a price of $5", "<p>a price of $6", "<p>a price of $6", "")
    assert priced == ["changed", "same", "changed", "same", "changed"]
    kept = blocks_of(brain)
    assert kept is not None
    assert len(kept) <= LARGEST_SKETCH


def blocks_of(brain: Brain) -> str | None:
    ids = [brain.page(A).id]
    found: str | None = brain.graph.read(lambda tx: tx.records("visits/read", ids=ids, few=0)[0].blocks, "test")
    return found


def test_pages_of_a_brain_without_blocks_are_not_called_changed(make_brain: MakeBrain, clock: HandClock) -> None:
    """Their simhash decides once more, and then they have blocks."""
    old = make_brain(change="simhash")
    first, dated, edited = html("Monday"), html("7 May 2026"), html("Tuesday <p>one more sentence in the page")
    assert outcomes(old, clock, {"body": first}) == ["new"]
    assert blocks_of(old) is None
    old.change(change="blocks")
    assert outcomes(old, clock, {"body": dated}) == ["same"]
    assert blocks_of(old) is not None
    assert outcomes(old, clock, {"body": dated}, {"body": edited}) == ["same", "changed"]


def test_blocks_that_were_taken_elsewhere(brain: Brain, clock: HandClock) -> None:
    one, other = (text_blocks(html(text), "text/html") for text in ("one", "other"))
    assert outcomes(brain, clock, *({"blocks": blocks} for blocks in (one, one, other))) == ["new", "same", "changed"]


@pytest.mark.parametrize("change", ["text", "simhash", "blocks"])
def test_workers_of_two_versions_find_no_change_in_each_others_hashes(
    make_brain: MakeBrain, clock: HandClock, change: str
) -> None:
    """Those of version 1 have no mark. What both keep is compared as soon as two visits are of one version."""
    older = [
        {"body_hash": hash, "text_hash": hash, "simhash": 5, "blocks": "1;AAAAAAA="} for hash in ("1" * 32, "2" * 32)
    ]
    one, other = ({"body": html(text)} for text in ("one", " ".join(f"other{n}" for n in range(200))))
    brain = make_brain(change=change)
    assert outcomes(brain, clock, older[0], one, older[1], one) == ["new", "same", "same", "same"]
    assert (brain.page(A).text_hash or "").startswith("text2:")
    assert outcomes(brain, clock, other) == ["changed"]
    assert brain.page(A).changes == 1


def test_small_steps_add_up_to_a_change(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(change="simhash")
    words = PROSE.split()
    found: list[str | None] = []
    for step in range(40):
        words[step * 5 : step * 5 + 5] = [f"new{step}x{n}" for n in range(5)]
        found += outcomes(brain, clock, {"body": ("<html>" + " ".join(words)).encode()})
    assert found.count("same") > 20
    assert found.count("changed") >= 2


def test_the_crawler_says_it_itself(brain: Brain, clock: HandClock) -> None:
    visits = ({"body": b"1"}, {"body": b"1", "changed": True}, {"body": b"2", "changed": False}, {"changed": True})
    assert outcomes(brain, clock, *visits) == ["new", "changed", "same", "changed"]


def test_its_own_hashes_are_compared(brain: Brain, clock: HandClock) -> None:
    visits = ({"text_hash": "a"}, {"text_hash": "a", "body_hash": "1"}, {"text_hash": "b"}, {"body_hash": "1"})
    assert outcomes(brain, clock, *visits) == ["new", "same", "changed", "same"]
    simhashes = ({"simhash": 2**64 - 1}, {"simhash": -2}, {"simhash": 0})
    brain.forget(A)
    assert outcomes(brain, clock, *simhashes) == ["new", "same", "changed"]
    assert brain.page(A).simhash == 0


@pytest.mark.usefixtures("brain")
def test_a_detector_of_ones_own(neo4j: Neo4j, clock: HandClock) -> None:
    asked: list[tuple[Seen, Seen]] = []

    def detector(old: Seen, new: Seen) -> bool:
        asked.append((old, new))
        return new.etag != old.etag

    with neo4j.open(crawl="test", auto_tend=False, clock=clock, detector=detector) as own:
        visits = ({"body": b"1", "etag": "x"}, {"body": b"2", "etag": "x"}, {"body": b"2", "etag": "y"})
        assert outcomes(own, clock, *visits) == ["new", "same", "changed"]
    assert len(asked) == 2
    assert asked[1][0].at == START + 60.0
    assert asked[1][1].at == START + 180.0


def test_when_it_changed_last_is_shown(brain: Brain, clock: HandClock) -> None:
    outcomes(brain, clock, {"body": b"1"}, {"body": b"2"}, {"body": b"2"})
    assert (brain.page(A).changed, brain.page(A).fetched) == (START + 120.0, START + 180.0)


# ---------------------------------------------------------------- ETag, Last-Modified


def reclaimed(brain: Brain) -> Claim:
    """The page, claimed again though it was fetched just now."""
    assert brain.crawl_now([A]) == [True]
    (claim,) = brain.next_urls(1)
    return claim


def test_validators_go_round(brain: Brain, clock: HandClock) -> None:
    seen = []
    for visit in (
        {"etag": "1", "last_modified": "Mon"},
        {"etag": "1", "last_modified": "Mon", "not_modified": True},
        {"not_modified": True},
        {"etag": "2", "not_modified": True},
        {"etag": "3"},
        {},
    ):
        clock.pass_(60.0)
        claim = reclaimed(brain) if seen else None
        (answer,) = brain.report([Fetched(A, claim=claim, body=None if "not_modified" in visit else b"x", **visit)])
        assert answer.accepted, answer.reason
        page = brain.page(A)
        seen.append((page.etag, page.last_modified))
        if claim is not None:
            assert (claim.etag, claim.last_modified) == seen[-2]
    assert seen == [("1", "Mon"), ("1", "Mon"), ("1", "Mon"), ("2", "Mon"), ("3", None), (None, None)]
    assert brain.page(A).visits == 6


@pytest.mark.parametrize(
    "bad",
    [
        {"simhash": 1.5},
        {"simhash": 2**65},
        {"simhash": True},
        {"text_hash": 7},
        {"blocks": "none"},
        {"blocks": 7},
        {"content_type": b"x"},
        {"changed": "yes"},
        {"fetched_at": float("nan")},
    ],
    ids=str,
)
def test_what_is_no_hash_is_refused_by_item(brain: Brain, bad: dict[str, Any]) -> None:
    good, wrong = brain.report([Fetched(B, body=b"x"), Fetched(A, **bad)])
    assert (good.accepted, wrong.accepted) == (True, False)
    assert next(iter(bad)) in wrong.reason


def test_pages_of_a_section_tell_each_other_what_is_noise(brain: Brain, clock: HandClock) -> None:
    def told(pages: range, more: str = "") -> list[str | None]:
        reports = []
        for number in pages:
            words = " ".join(random.Random(clock() * number).sample(PROSE_WORDS, 12))
            own = f"<h1>Page {number}</h1><p>Its own text is about {number * number}.</p>{more}"
            body = f"<html>{own}<h2>From our partners</h2><p>{words}</p><p>The foot of all pages</p>"
            reports.append(Fetched(f"{A}items/{number}", body=body.encode()))
        clock.pass_(60.0)
        return [answer.outcome for answer in brain.report(reports)]

    assert told(range(1, 9)) == ["new"] * 8
    assert told(range(1, 5)) == ["changed", "same", "same", "same"]  # within a report
    assert told(range(5, 8)) == ["same"] * 3  # and from one to the next
    assert told(range(8, 9), "<p>A new paragraph.</p>") == ["changed"]


SHOP = '<html><title>{title}</title><p>{text}</p><img src="{image}"><script type="application/ld+json">{data}</script>'


def test_the_parts_in_which_a_page_changes(make_brain: MakeBrain, clock: HandClock) -> None:
    """Only a part that `change_in` names makes a page changed, and the answer has all parts that differ then."""
    first = {"title": "a shop", "text": "ten left", "image": "/a.png", "data": '{"price": 5}'}
    brain = make_brain(change_in="text, structured_data images")
    found = []

    def visit(links: list[str], noindex: bool = False, **edits: str) -> None:
        first.update(edits)
        clock.pass_(60.0)
        body, facts = SHOP.format(**first).encode(), {"title": first["title"], "noindex": noindex}
        found.append(brain.report([Fetched(A, links, body=body, content_type="text/html", **facts)])[0].changed_in)

    visit([B])
    visit([B])
    visit([B], data='{"price": 6}')
    visit([B, "http://c.org/"])
    assert brain.page(A).changed_in == ["structured_data"]
    visit([B], image="/b.png", text="nine left")
    visit([B], noindex=True)
    visit([B], noindex=True, title="sold")
    assert found == [(), (), ("structured_data",), (), ("text", "links", "images"), (), ("text", "title")]
    assert brain.page(A).changes == 3
    brain.change(change_in="robots")
    visit([B], noindex=False, text="one left")
    assert found[-1] == ("text", "robots")
    assert brain.page(A).changed_in == ["text", "robots"]


def test_a_repeated_report_has_the_same_parts_and_a_304_has_none(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B], claim=next(iter(brain.next_urls(1))), body=html("one"), title="a")])
    brain.crawl_now([A])
    clock.pass_(60.0)
    report = Fetched(A, [B], claim=next(iter(brain.next_urls(1))), body=html("two"), title="b")
    assert [brain.report([report])[0].changed_in for _ in range(2)] == [("text", "title")] * 2
    clock.pass_(60.0)
    assert brain.report([Fetched(A, not_modified=True)])[0].changed_in == ()
    assert brain.page(A).changed_in == ["text", "title"]


def test_a_detector_and_the_crawler_decide_for_the_whole_page(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(change_in="links")
    visits = ({"body": b"1"}, {"body": b"1", "changed": True}, {"body": b"2"})
    assert outcomes(brain, clock, *visits) == ["new", "changed", "same"]
    assert brain.page(A).changed_in == ["text"]
