"""Where pages wait does not depend on the engine; a visit that changes no account says when its page comes back."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched, Link
from graphbrain.base.model import Claim
from graphbrain.base.settings import ENGINES
from tests.integration.conftest import HandClock

MakeBrain = Callable[..., Brain]
LEAST, LEASE = 1_000.0, 100.0
LINKS = {n: [(n + step) % 12 for step in (1, 2, 5)] for n in range(12)}


def url(page: int) -> str:
    return f"http://h{page % 3}.example/p{page}"


def fetched(page: int, claim: Claim | None = None) -> Fetched:
    return Fetched(url(page), [url(target) for target in LINKS[page]], claim, body_hash="same")


def optimal(make_brain: MakeBrain, engine: str, **settings: object) -> Brain:
    """A brain that knows all links of a small web, none of whose pages has been visited."""
    given = {"order": "optimal", "revisit_seconds": LEAST, "lease_seconds": LEASE, **settings}
    brain = make_brain(engine=engine, **given)
    brain.seed([url(page) for page in LINKS])
    for page, targets in LINKS.items():
        for target in targets:
            brain.link(url(page), url(target))
    return brain


@pytest.mark.parametrize("engine", ENGINES)
def test_a_first_visit_that_brings_no_new_link_lets_its_page_wait(
    make_brain: MakeBrain, clock: HandClock, engine: str
) -> None:
    brain = optimal(make_brain, engine)
    brain.report([fetched(page) for page in LINKS])
    assert not brain.next_urls(20)
    clock.pass_(LEAST - 1.0)
    assert not brain.next_urls(20)
    clock.pass_(2.0)
    assert len(brain.next_urls(20)) == 12


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_asked_for_by_hand_is_asked_for_once(make_brain: MakeBrain, clock: HandClock, engine: str) -> None:
    brain = optimal(make_brain, engine)
    brain.report([fetched(page) for page in LINKS])
    clock.pass_(LEAST / 2)
    brain.crawl_now([url(3)])
    [claim] = brain.next_urls(5)
    brain.report([fetched(3, claim)])
    assert not brain.next_urls(5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_of_ones_own_counts_at_once(make_brain: MakeBrain, engine: str) -> None:
    """Also where the links by which it comes are known."""
    brain = optimal(make_brain, engine, value="own")
    links = [Link(url(target), value=9.0 if target == 5 else None) for target in LINKS[0]]
    brain.report([Fetched(url(0), links, body_hash="same")])
    assert brain.next_urls(1)[0].url == url(5)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_page_is_handed_out_before_it_is_due(make_brain: MakeBrain, clock: HandClock, engine: str) -> None:
    """Whatever was done to it before: claimed in vain, given back, lapsed, reported late, asked for, linked, pushed."""
    for seed in range(4):
        dice = random.Random(seed)
        brain = optimal(make_brain, engine)
        due: dict[str, float] = {}
        held: list[Claim] = []
        for _ in range(120):
            what = dice.choice(["claim", "claim", "report", "report", "back", "lapse", "bare", "ask", "push", "link"])
            some = [held.pop(dice.randrange(len(held))) for _ in range(min(len(held), dice.randrange(1, 4)))]
            if what == "claim":
                held += some
                for claim in brain.next_urls(dice.randrange(1, 5)):
                    assert due.get(claim.url, 0.0) <= clock(), (seed, claim.url)
                    held.append(claim)
            elif what == "report":
                answers = brain.report([fetched(int(claim.url.rsplit("p", 1)[1]), claim) for claim in some])
                due |= {a.url: clock() + LEAST for a in answers if a.accepted}
            elif what == "back":
                brain.give_back(some)
            elif what == "bare":
                page = dice.randrange(12)
                held += some
                brain.report([fetched(page)])
                due[url(page)] = clock() + LEAST
            elif what == "ask":
                held += some
                page = dice.randrange(12)
                brain.crawl_now([url(page)])
                due.pop(url(page), None)
            elif what == "push":
                brain.tend(0.0, batch=dice.choice([1, 100]))
            elif what == "link":
                source, target = dice.sample(range(12), 2)
                dice.choice([brain.link, brain.unlink])(url(source), url(target))
                held += some
            if what == "lapse":
                held = []
                clock.pass_(LEASE + 1.0)
            clock.pass_(dice.choice([0.0, 1.0, 30.0]))
        assert brain.audit(None).ok
