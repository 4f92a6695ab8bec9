"""The desk between a brain and an event loop: how many claims it holds, and when it says that all is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from graphbrain.crawl.scrapy import prefetch
from graphbrain.crawl.scrapy.prefetch import Desk, FinishedVisit, PageToFetch, Report, Witness
from tests.integration.conftest import HandClock
from tests.plugin import PATIENCE, Neo4j


@pytest.fixture
def opened(neo4j: Neo4j, brain: Brain, clock: HandClock) -> Iterator[Callable[[], Desk]]:  # noqa: ARG001
    """A desk on a view of its own of the brain."""
    with ExitStack() as stack:
        yield lambda: Desk(stack.enter_context(neo4j.open(crawl="test", auto_tend=False, clock=clock)))


@contextmanager
def working(desk: Desk) -> Iterator[Desk]:
    desk.open()
    try:
        yield desk
    finally:
        assert desk.close() == 0


def soon(told: Callable[[], object], seconds: float = PATIENCE) -> bool:
    until = time.monotonic() + seconds
    while not (so := told()) and time.monotonic() < until:
        time.sleep(0.02)
    return bool(so)


def fetched(claim: Claim) -> FinishedVisit:
    return FinishedVisit(claim, Fetched(claim.url, (), claim))


def test_no_more_claims_are_held_than_may_be(brain: Brain, opened: Callable[[], Desk]) -> None:
    """Whatever is at hand, being read, or not written yet counts."""
    brain.seed(f"http://h{n}.org/" for n in range(30))
    with working(opened()) as desk:
        out: list[PageToFetch] = []

        def take() -> bool:
            desk.want(10, 4)
            if (taken := desk.take()) is not None:
                out.append(taken)
            return taken is not None

        for _ in range(4):
            assert soon(take)
        assert not soon(take, 0.5)
        assert brain.stats()["leased"] == 4
        for taken in out[:3]:
            desk.done(fetched(taken.claim))
        assert soon(lambda: (desk.want(10, 4), desk.counts["claimed"] == 7)[1])
        time.sleep(0.2)
        assert desk.counts["claimed"] == 7 and brain.stats()["leased"] == 4
        for _ in range(3):
            assert soon(take)
        for taken in out[3:]:
            desk.done(fetched(taken.claim))
    assert brain.stats()["leased"] == 0


def test_visits_are_reported_together_while_claims_bring_what_is_wanted(
    brain: Brain, opened: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that could bring the pages that are missing are reported at once, with those that end with them."""
    brain.seed(f"http://h{n}.org/" for n in range(30))
    desk = opened()
    written: list[int] = []
    report = desk.brain.report
    monkeypatch.setattr(desk.brain, "report", lambda items: [written.append(len(items)), report(items)][1])
    monkeypatch.setattr(prefetch, "GATHERED", PATIENCE)
    monkeypatch.setattr(prefetch, "ENOUGH", 6)

    def take(count: int) -> list[Claim]:
        out: list[Claim] = []
        for _ in range(count):
            assert soon(lambda: (desk.want(10, 100), desk.ready)[1])
            taken = desk.take()
            assert taken is not None
            out.append(taken.claim)
        return out

    with working(desk):
        held = take(20)
        for claim in held[:5]:
            desk.done(fetched(claim))
        time.sleep(0.5)
        assert written == [], "there may come more"
        desk.done(fetched(held[5]))
        assert soon(lambda: sum(written) == 6)
        assert written == [6], "that is enough"
        held[20:] = take(10)  # the last ones: of the next claim nothing comes
        assert soon(lambda: (desk.want(10, 100), desk._hungry)[1])
        desk.done(fetched(held[6]))
        assert soon(lambda: sum(written) == 7), "it may bring what is missing"
        monkeypatch.setattr(prefetch, "TOGETHER", PATIENCE)
        for claim in held[7:12]:
            desk.done(fetched(claim))
        time.sleep(0.5)
        assert written == [6, 1], "others end with them"
        desk.done(fetched(held[12]))
        assert soon(lambda: written == [6, 1, 6])
        for claim in held[13:]:
            desk.done(fetched(claim))
    assert sum(written) == 30
    assert brain.stats()["leased"] == 0


def asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of pages for which the desk calls its brain from now on."""
    calls: list[int] = []
    ask = desk.brain.next_urls
    monkeypatch.setattr(desk.brain, "next_urls", lambda n, **more: [calls.append(n), ask(n, **more)][1])
    return calls


def first_page(desk: Desk, pages: int) -> Claim:
    """The first page that the desk has, where so many are wanted."""
    assert soon(lambda: (desk.want(pages, 4), desk.ready)[1])
    taken = desk.take()
    assert taken is not None
    return taken.claim


def test_a_call_that_got_too_few_pages_is_repeated_when_the_next_can_be_claimed(
    brain: Brain, opened: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not before, nor after a report: a page of the host is due within the longest pause."""
    monkeypatch.setattr(prefetch, "LONGEST_PAUSE", PATIENCE)
    brain.change(delay_seconds=PATIENCE / 2)
    brain.seed(["http://a.org/1", "http://a.org/2"])
    desk = opened()
    calls = asked(desk, monkeypatch)
    with working(desk):
        desk.done(fetched(first_page(desk, 4)))
        assert soon(lambda: (desk.want(4, 4), desk.counts["reported"] == 1)[1])
        for _ in range(20):
            desk.want(4, 4)
            time.sleep(0.02)
        assert calls == [4]


def test_a_report_is_followed_by_a_claim_where_no_time_is_known(
    brain: Brain, opened: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call got one page of two. What its report brings is claimed at once, long before its lease ends."""
    monkeypatch.setattr(prefetch, "LONGEST_PAUSE", brain.settings.lease_seconds / 2)
    brain.seed(["http://a.org/1"])
    desk = opened()
    calls = asked(desk, monkeypatch)
    with working(desk):
        claim = first_page(desk, 2)
        time.sleep(0.2)
        desk.want(2, 4)
        assert calls == [2]
        desk.done(FinishedVisit(claim, Fetched(claim.url, ["http://b.org/"], claim)))
        assert soon(lambda: (desk.want(2, 4), desk.ready)[1])
        assert calls == [2, 2]


def test_nothing_is_asked_for_before_the_start_pages_are_known(
    brain: Brain, opened: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = opened()
    calls = asked(desk, monkeypatch)
    seeding, may_seed = threading.Event(), threading.Event()
    seed = desk.brain.seed

    def held_up(urls: object) -> object:
        seeding.set()
        assert may_seed.wait(PATIENCE)
        return seed(urls)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.brain, "seed", held_up)
    desk.seed("http://a.org/")
    with working(desk):
        assert seeding.wait(PATIENCE)
        for _ in range(10):
            desk.want(1, 4)
            time.sleep(0.02)
        assert not calls and not desk.over
        may_seed.set()
        assert soon(lambda: (desk.want(1, 4), desk.ready)[1])
        assert calls == [1]
    assert brain.stats()["leased"] == 0


def test_few_pages_are_asked_for_together(opened: Callable[[], Desk]) -> None:
    desk = opened()
    desk.want(3, 100, 4)
    assert not desk._claim_now.is_set()
    desk.want(4, 100, 4)
    assert desk._claim_now.is_set()
    desk._claim_now.clear()
    desk.want(1, 100)
    assert desk._claim_now.is_set(), "unless it is said that one is worth it"
    assert desk.close() == 0


def test_a_retry_is_not_waited_for_but_a_host_and_somebodys_lease_are(
    brain: Brain, opened: Callable[[], Desk], clock: HandClock
) -> None:
    brain.seed(["http://a.org/1", "http://b.org/1"])
    one, two = sorted(brain.next_urls(2), key=lambda claim: claim.url)
    with working(opened()) as desk:
        desk.want(4, 4)
        time.sleep(0.5)
        assert not desk.over, "somebody else holds both, for as long as a lease"
        brain.report([Failed(one.url, one, 500, retry_after=300.0)])
        time.sleep(1.5)
        desk.want(4, 4)
        assert not desk.over, "somebody else holds one"
        brain.report([Fetched(two.url, ["http://b.org/2"], two)])
        brain.change(delay_seconds=60.0)
        assert soon(lambda: (desk.want(4, 4), desk.ready)[1])
        taken = desk.take()
        assert taken is not None and taken.claim.url == "http://b.org/2"
        desk.done(FinishedVisit(taken.claim, Fetched(taken.claim.url, ["http://b.org/3"], taken.claim)))
        time.sleep(1.5)
        desk.want(4, 4)
        assert not desk.over, "a page waits a minute for its host"
        clock.pass_(61.0)
        assert soon(lambda: (desk.want(4, 4), desk.ready)[1])
        last = desk.take()
        assert last is not None and last.claim.url == "http://b.org/3"
        desk.done(fetched(last.claim))
        # All that is left is to be tried again, in five minutes.
        assert soon(lambda: (desk.want(4, 4), desk.over)[1])
        assert not brain.next_urls(1).finished


class Broken(Witness):
    """One with a defect."""

    def before(self, reports: Sequence[Report]) -> None:  # noqa: ARG002
        raise ZeroDivisionError("a defect")


def test_an_unknown_error_of_a_thread_ends_the_crawl(neo4j: Neo4j, brain: Brain, clock: HandClock) -> None:
    """The crawl would wait for the thread for ever; nothing is recorded, and the page is claimed again later."""
    brain.seed(["http://h.org/"])
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as own:
        desk = Desk(own, witness=Broken())
        desk.open()
        desk.want(1, 1)
        assert soon(lambda: desk.ready)
        taken = desk.take()
        assert taken is not None and not desk.over
        desk.done(fetched(taken.claim))
        assert soon(lambda: desk.over)
        assert "ZeroDivisionError: a defect" in str(desk.failure)
        assert desk.close() == 1 and brain.stats()["leased"] == 1
