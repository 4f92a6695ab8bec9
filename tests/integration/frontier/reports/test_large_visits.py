"""Pages with more links than one transaction may write: at every commit all is right, wherever it is broken off."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.base.errors import GraphTooSmall, UnknownPage
from graphbrain.brain import push
from graphbrain.brain import report as reporting
from graphbrain.frontier import discovery
from graphbrain.frontier.corrections import edits
from graphbrain.frontier.reports import large_visits as parting
from graphbrain.frontier.reports import report
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.graph.connection import Tx
from tests.integration.conftest import HandClock, sound

MakeBrain = Callable[..., Brain]
URLS = [f"http://a{n % 3}.org/{n}" for n in range(24)]


class BrokenOff(Exception):
    """A kill between two transactions."""


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few links are too many for a transaction."""
    monkeypatch.setattr(report, "MOST_OF_ONE", 6)
    monkeypatch.setattr(report, "MOST_OF_ALL", 12)
    monkeypatch.setattr(parting, "AT_ONCE", 3)
    monkeypatch.setattr(edits, "UNLINKED_AT_ONCE", 3)
    monkeypatch.setattr(edits, "DEEPENED_AT_ONCE", 2)


def links_of(brain: Brain, url: str) -> list[str]:
    return sorted(link.url for link in brain.links(url, "out"))


def test_long_urls_are_parted_by_their_bytes(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few links there are, no transaction is given more bytes of new URLs than its bound, and one more URL."""
    longest = 500
    monkeypatch.setattr(report, "BYTES_OF_ONE", 2_000)
    monkeypatch.setattr(report, "BYTES_OF_ALL", 4_000)
    monkeypatch.setattr(reporting, "BATCH_BYTES", 2_000)
    sizes: list[int] = []
    create = discovery.create

    def counted(tx: object, pages: Iterable[discovery.New], *more: object, **how: object) -> dict[str, int]:
        given = list(pages)
        sizes.append(sum(len(page.url) for page in given))
        return create(tx, given, *more, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(discovery, "create", counted)
    links = {
        f"http://p{page}.org/": [f"http://q{page}.org/{n}/".ljust(longest, "x") for n in range(count)]
        for page, count in enumerate((1, 3, 30, 2, 2, 2))
    }
    answers = brain.report([Fetched(url, urls) for url, urls in links.items()])
    assert [answer.links for answer in answers] == [1, 3, 30, 2, 2, 2]
    assert max(sizes) <= 2_000 + longest and len(sizes) > 8
    for url, urls in links.items():
        assert links_of(brain, url) == sorted(urls)
    sound(brain)


@pytest.mark.long
@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"engine": "classic"},
        *(
            pytest.param(settings, marks=pytest.mark.nightly)
            for settings in ({"intra_host_weight": 0.25}, {"intra_host_weight": 0.0}, {"orphans": "park"})
        ),
    ],
    ids=str,
)
def test_after_each_part_all_is_right(
    make_brain: MakeBrain, clock: HandClock, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    brain = make_brain(delay_seconds=0.0, **settings)
    rng = random.Random(str(settings))
    write, after, parts = brain.graph.write, [1_000_000], [0]

    def audited(work: Callable[..., object], name: str, **how: bool) -> object:
        done = write(work, name, **how)
        if name in ("report", "forget"):
            sound(brain)
            parts[0] += 1
            after[0] -= 1
            if not after[0]:
                raise BrokenOff
        return done

    monkeypatch.setattr(brain.graph, "write", audited)
    expected: dict[str, list[str]] = {}
    for _ in range(9):
        clock.pass_(10.0)
        told = {url: rng.sample(URLS, rng.choice([0, 1, 8, 15, 20])) for url in rng.sample(URLS[:4], 2)}
        items = [Fetched(url, [Link(each, rng.random()) for each in links]) for url, links in told.items()]
        after[0] = rng.choice([1, 2, 3, 4, 1_000_000])
        try:
            brain.report(items)
        except BrokenOff:
            clock.pass_(1.0)
            after[0] = 1_000_000
            assert all(answer.accepted or answer.reason == "a later visit is known" for answer in brain.report(items))
        expected |= {url: sorted(set(links) - {url}) for url, links in told.items()}
        assert {url: links_of(brain, url) for url in told} == {url: expected[url] for url in told}
        brain.tend(0.0, passes=False)
        sound(brain)
    assert parts[0] > 40
    dense = max(expected, key=lambda url: len(expected[url]))
    after[0] = 2
    with pytest.raises(BrokenOff):
        brain.forget(dense)
    assert brain.page(dense) is not None
    brain.forget(dense, for_ever=True)
    with pytest.raises(UnknownPage):
        brain.page(dense)
    sound(brain)


@pytest.mark.usefixtures("narrow")
def test_a_claimed_page_broken_off_half_way_is_reported_again(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = make_brain()
    brain.seed([URLS[0]])
    (claim,) = brain.next_urls(1)
    record, left = report.record, [1]

    def broken(tx: Tx, items: list[Item], heavy: bool, *given: object) -> object:
        if heavy and left and left.pop():
            raise BrokenOff
        return record(tx, items, heavy, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(report, "record", broken)
    with pytest.raises(BrokenOff):
        brain.report([Fetched(claim.url, URLS, claim)])
    sound(brain)
    page = brain.page(claim.url)
    assert page is not None
    assert (page.state, page.visits, page.out_weight) == ("frontier", 0, len(URLS) - 1)
    (answer,) = brain.report([Fetched(claim.url, URLS, claim)])
    assert (answer.accepted, answer.outcome, answer.links) == (True, "new", len(URLS) - 1)


@pytest.mark.usefixtures("narrow")
def test_a_lapsed_claim_brings_no_part_of_its_links(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(lease_seconds=10.0)
    brain.report([Fetched(URLS[0], URLS[:3])])
    brain.crawl_now([URLS[0]])
    (claim,) = brain.next_urls(1)
    clock.pass_(100.0)
    brain.tend(1.0)
    (answer,) = brain.report([Fetched(URLS[0], URLS[3:], claim)])
    assert not answer.accepted
    assert links_of(brain, URLS[0]) == sorted(URLS[1:3])


@pytest.mark.usefixtures("narrow")
def test_a_page_that_is_gone_loses_its_links_in_parts(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_errors=1)
    brain.report([Fetched(URLS[0], URLS)])
    clock.pass_(10.0)
    (answer,) = brain.report([Failed(URLS[0], status=404)])
    assert (answer.outcome, links_of(brain, URLS[0])) == ("gone", [])
    sound(brain)


@pytest.mark.usefixtures("narrow")
def test_what_memory_cannot_hold_is_refused_alone(make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    brain = make_brain()
    brain.seed(URLS[:2])
    claims = {claim.url: claim for claim in brain.next_urls(2)}
    add = parting._add

    def no_memory(*_given: object) -> None:
        raise GraphTooSmall("Neo4j has too little memory")

    monkeypatch.setattr(parting, "_add", no_memory)
    items = [Fetched(URLS[0], URLS, claims[URLS[0]]), Fetched(URLS[1], URLS[:2], claims[URLS[1]])]
    large, small = brain.report(items)
    assert (large.accepted, small.accepted) == (False, True)
    assert "23 links are more than Neo4j's memory holds" in large.reason
    page = brain.page(URLS[0])
    assert page is not None
    assert (page.errors, page.out_weight) == (1, 0.0)
    monkeypatch.setattr(parting, "_add", add)
    sound(brain)


def test_a_side_that_memory_cannot_hold_is_left_and_the_others_are_pushed(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = make_brain()
    brain.report([Fetched(URLS[n], URLS[n + 1 : n + 1 + many]) for n, many in enumerate([20, 3, 2, 5])])
    cash = brain.engine.cash
    spend = cash.spend

    def small(tx: object, work: tuple[str, list[int]], rule: object, now: float) -> object:
        if cash.payees(tx, work) > 6:  # type: ignore[arg-type]
            raise GraphTooSmall
        return spend(tx, work, rule, now)  # type: ignore[arg-type]

    monkeypatch.setattr(push, "MANY", 6)
    monkeypatch.setattr(cash, "spend", small)
    assert brain.tend(None, passes=False).settled
    sound(brain)
    waiting = {url: brain.page(url).hub_cash for url in URLS[:4]}  # type: ignore[union-attr]
    assert waiting[URLS[0]] > 0.1
