"""What cannot be served now gives way to the next, and the answer to a short call says when there is more."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from graphbrain.frontier.claims import tuning
from tests.integration.conftest import HandClock

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]
ORDERS = ("optimal", "best_first", "breadth_first")
OTHERS = [f"http://c{n}.org/" for n in range(5)]


def pages(host: str, many: int) -> list[str]:
    return [f"http://{host}/{n}" for n in range(many)]


def fetched(claim: Claim) -> Fetched:
    return Fetched(claim.url, [], claim)


def behind(brain: Brain, clock: HandClock, many: int) -> None:
    """Many pages of one host, and behind them one each of some others."""
    brain.seed(pages("big.org", many))
    clock.pass_(0.5)
    brain.seed(OTHERS)


# ---------------------------------------------------------------- pages that stand in the way


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [1, 3])
def test_pages_of_a_host_that_is_not_ready_hide_nobody(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, order: str, n: int
) -> None:
    brain = make_brain(order=order, delay_seconds=60.0)
    behind(brain, clock, 1_200)
    got = {claim.host for _ in range(1 + math.ceil(6 / n)) for claim in brain.next_urls(n)}
    assert len(got) == 6
    assert ask("MATCH (p:Page {queue: '*'}) RETURN count(p)") == [[0]], "each of them moves once"


@pytest.mark.parametrize("order", ORDERS)
def test_where_they_are_too_many_to_be_moved_at_once_others_are_found_behind_them(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    monkeypatch.setattr(tuning, "BULK", 20)
    monkeypatch.setattr(tuning, "CLEARING", 0.0)
    monkeypatch.setattr(tuning, "BEYOND", (50, 200, 3_000))
    brain = make_brain(order=order, delay_seconds=60.0)
    behind(brain, clock, 600)
    assert [claim.host for claim in brain.next_urls(1)] == ["big.org"]
    assert sorted(claim.url for _ in OTHERS for claim in brain.next_urls(1)) == OTHERS
    assert ask("MATCH (p:Page {queue: '*'}) RETURN count(p) > 100") == [[True]]
    answer = brain.next_urls(1)
    assert not answer
    assert (answer.next_ready or 0.0) > clock.at


def test_pages_over_a_budget_hide_nobody(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    brain = make_brain(pages_per_host=2)
    behind(brain, clock, 300)
    got = [claim.host for _ in range(7) for claim in brain.next_urls(1)]
    assert sorted(got) == sorted(["big.org"] * 2 + [url.split("/")[2] for url in OTHERS])
    assert ask("MATCH (p:Page {queue: 'big.org (budget)'}) RETURN count(p)") == [[298]]
    brain.set_host("big.org", budget=0)
    assert len(brain.next_urls(9)) == 9


def test_pages_that_a_robots_txt_forbids_hide_nobody(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed(["http://big.org/"])
    brain.next_urls(1)
    brain.set_robots("big.org", "User-agent: *\nDisallow: /")
    clock.pass_(5.0)
    behind(brain, clock, 300)
    assert len([claim for _ in range(5) for claim in brain.next_urls(1)]) == 5


def test_a_blocked_host_in_front_hides_nobody_and_comes_back(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    behind(brain, clock, 300)
    brain.block("big.org", 100.0)
    assert len([claim for _ in range(5) for claim in brain.next_urls(1)]) == 5
    assert brain.next_urls(1).next_ready == clock.at + 100.0
    clock.pass_(100.0)
    assert len(brain.next_urls(300)) == 300


# ---------------------------------------------------------------- when there is more


def test_a_lease_that_lapses_on_a_blocked_host_is_ready_when_the_host_is(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(lease_seconds=100.0)
    brain.seed(["http://a.org/"])
    brain.next_urls(1)
    brain.block("a.org", 1_000.0)
    answer = brain.next_urls(1)
    assert answer.next_ready == clock.at + 1_000.0
    clock.at = answer.next_ready
    assert len(brain.next_urls(1)) == 1


def test_a_host_all_of_whose_claims_are_out_is_ready_when_a_lease_lapses(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(lease_seconds=1_000.0, in_flight=1)
    brain.seed(pages("a.org", 9))
    brain.next_urls(1)
    answer = brain.next_urls(1)
    assert answer.next_ready == clock.at + 1_000.0
    clock.at = answer.next_ready
    assert len(brain.next_urls(1)) == 1


def test_many_leases_of_blocked_hosts_say_nothing_of_now(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(lease_seconds=100.0)
    brain.seed([f"http://a{n}.org/" for n in range(60)])
    assert len(brain.next_urls(60)) == 60
    for n in range(60):
        brain.block(f"a{n}.org", 1_000.0 + n)
    answer = brain.next_urls(1)
    assert answer.next_ready == clock.at + 1_000.0
    clock.at = answer.next_ready
    assert len(brain.next_urls(1)) == 1


@pytest.mark.parametrize("seed", range(4))
def test_at_the_time_that_was_told_there_is_something(make_brain: MakeBrain, clock: HandClock, seed: int) -> None:
    """Hosts with delays, limits and blocks of all kinds, claims that end in all ways: whoever is told a time, and comes
    then, gets something; and nobody is told a moment that has passed."""
    dice = random.Random(seed)
    brain = make_brain(
        order=ORDERS[seed % 3],
        delay_seconds=dice.choice([0.0, 0.5, 20.0]),
        in_flight=dice.choice([0, 1, 3]),
        lease_seconds=dice.choice([30.0, 400.0]),
        max_errors=50,
    )
    hosts = [f"h{n}.org" for n in range(8)]
    brain.seed([url for host in hosts for url in pages(host, dice.randrange(1, 12))])
    for host in hosts[:3]:
        brain.set_host(host, delay=dice.choice([0.0, 7.0, 100.0]), in_flight=dice.choice([0, 1, 2]))
    out: list[Claim] = []
    told, fresh, in_vain = None, 0, 0
    for _ in range(120):
        n = dice.choice([1, 2, 5, 30])
        answer = brain.next_urls(n)
        in_vain = 0 if answer or told is None else in_vain + 1
        assert in_vain <= 3, f"nothing at {told}, as it was told"
        out += answer
        told = None
        if len(answer) < n and answer.next_ready is not None:
            assert answer.next_ready > clock.at or answer
            told = max(clock.at, answer.next_ready)
        if told is None or dice.random() < 0.4:
            dice.shuffle(out)
            items = [out.pop() for _ in range(dice.randrange(len(out) + 1))]
            brain.report(
                [
                    fetched(claim)
                    if dice.random() < 0.6
                    else Failed(claim.url, claim, dice.choice([500, 503, 404]), retry_after=dice.choice([None, 3.0]))
                    for claim in items
                ]
            )
            if dice.random() < 0.2:
                brain.block(dice.choice(hosts), dice.choice([5.0, 300.0]))
            told = None
            clock.pass_(dice.choice([0.0, 1.0, 10.0]))
        else:
            clock.at = told
            fresh += 1
    assert fresh > 20
