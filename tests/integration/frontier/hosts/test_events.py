"""Refusals and silence are events of a host, and pauses of a page: whatever a server answers, the others go on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from tests.integration.conftest import START, HandClock

MakeBrain = Callable[..., Brain]
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
A = "a.org"
SEEDS = range(4)


def pages(host: str, many: int) -> list[str]:
    return [f"http://{host}/{n}" for n in range(many)]


def refused(claim: Claim, wait: float | None = None, status: int = 429) -> Failed:
    return Failed(claim.url, claim, status, retry_after=wait)


def silent(claim: Claim) -> Failed:
    return Failed(claim.url, claim, error="time-out")


def fetched(claim: Claim) -> Fetched:
    return Fetched(claim.url, [], claim)


def crawl(brain: Brain, clock: HandClock, until: float, most: int = 400) -> Iterator[Claim]:
    """The claims that are handed out one by one until then, as soon as they can be."""
    for _ in range(most):
        claims = brain.next_urls(1)
        if claims:
            yield claims[0]
        elif claims.next_ready is None or claims.next_ready >= until:
            return
        else:
            assert claims.next_ready > clock.at
            clock.at = claims.next_ready
    raise AssertionError("it does not end")


# ---------------------------------------------------------------- a page that is refused


@pytest.mark.parametrize("order", ["optimal", "best_first", "breadth_first"])
@pytest.mark.parametrize("wait", [None, 0.0, 30.0])
def test_one_page_that_is_always_refused_keeps_no_other_waiting(
    make_brain: MakeBrain, clock: HandClock, order: str, wait: float | None
) -> None:
    brain = make_brain(order=order, delay_seconds=1.0)
    brain.seed(pages(A, 14))
    bad, good, refusals = f"http://{A}/0", set[str](), 0
    brain.set_page(bad, relevance=0.99)  # it comes before the others
    for claim in crawl(brain, clock, START + DAY, 60):
        if claim.url == bad:
            refusals += 1
            brain.report([refused(claim, wait, 503)])
        else:
            good.add(claim.url)
            brain.report([fetched(claim)])
        if len(good) == 13:
            break
    assert len(good) == 13
    assert refusals >= 1
    assert clock.at - START < 15 * MINUTE
    page = brain.page(bad)
    assert page.state == "frontier"
    assert page.errors < refusals, "the first refusal is nobody's fault"


def test_a_page_that_is_refused_waits_longer_each_time_and_is_never_given_up(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain()
    brain.seed([f"http://{A}/"])
    pauses = []
    for claim in crawl(brain, clock, START + 9 * DAY):
        pauses.append(clock.at)
        brain.report([refused(claim)])
        assert (brain.host(A).blocked_until or 0.0) - clock.at <= 6 * HOUR
    gaps = [after - before for before, after in pairwise(pauses)]
    assert gaps[:4] == [60.0, 120.0, 240.0, 480.0]
    assert max(gaps) == DAY
    assert brain.page(f"http://{A}/").state == "frontier"


def test_a_visit_that_succeeds_ends_a_pages_pauses(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="optimal", revisit_seconds=0.0)
    brain.seed([f"http://{A}/"])
    told = []
    for number, claim in zip(range(5), crawl(brain, clock, START + 300 * DAY), strict=False):
        told.append(clock.at)
        brain.report([fetched(claim) if number == 2 else refused(claim)])
    assert MINUTE <= told[1] - told[0] <= 1.25 * MINUTE
    assert told[2] - told[1] == 2 * MINUTE
    assert 0.5 * MINUTE <= told[4] - told[3] <= 1.25 * MINUTE


def test_retry_lets_a_refused_page_wait_as_if_it_never_was(brain: Brain, clock: HandClock, ask: object) -> None:
    brain.seed([f"http://{A}/"])
    (claim,) = brain.next_urls(1)
    brain.report([refused(claim, 0.0)])
    assert ask("MATCH (p:Page) RETURN p.refusals") == [[1]]  # type: ignore[operator]
    assert brain.retry(f"http://{A}/") == 1
    clock.pass_(1.0)
    assert [claim.url for claim in brain.next_urls(1)] == [f"http://{A}/"]
    assert ask("MATCH (p:Page) RETURN p.refusals") == [[None]]  # type: ignore[operator]


@pytest.mark.parametrize("status", [403, 413, 500, 502, None])
def test_a_retry_after_holds_for_the_page_whatever_the_failure(
    make_brain: MakeBrain, clock: HandClock, status: int | None
) -> None:
    brain = make_brain(longest_block_seconds=5 * DAY)
    brain.seed([f"http://{A}/"])
    (claim,) = brain.next_urls(1)
    brain.report([Failed(claim.url, claim, status, retry_after=3 * DAY)])
    assert brain.page(claim.url).not_before == clock.at + 3 * DAY
    assert brain.host(A).blocked_until is None


@pytest.mark.parametrize("asked", [10.0, HOUR, DAY, 1e9])
@pytest.mark.parametrize("status", [429, 500])
def test_a_retry_after_is_obeyed_up_to_a_setting(
    make_brain: MakeBrain, clock: HandClock, asked: float, status: int
) -> None:
    brain = make_brain(longest_block_seconds=2 * HOUR)
    brain.seed([f"http://{A}/"])
    (claim,) = brain.next_urls(1)
    brain.report([Failed(claim.url, claim, status, retry_after=asked)])
    page, host = brain.page(claim.url), brain.host(A)
    assert (page.not_before or 0.0) - clock.at >= min(asked, 2 * HOUR)
    assert (page.not_before or 0.0) - clock.at <= 2 * HOUR + MINUTE
    if status == 429:
        assert host.blocked_until == clock.at + min(asked, 2 * HOUR)


# ---------------------------------------------------------------- one event


@pytest.mark.parametrize("delay", [0.0, 0.05, 2.0])
def test_slowing_down_starts_from_the_delay_in_force(make_brain: MakeBrain, delay: float) -> None:
    brain = make_brain(delay_seconds=delay)
    brain.seed(pages(A, 3))
    brain.report([refused(brain.next_urls(1)[0])])
    assert brain.host(A).delay == (2 * delay or 0.1)


def outcome_of_burst(brain: Brain, clock: HandClock, waits: list[float | None], parts: int) -> tuple[object, ...]:
    brain.seed(pages(A, len(waits)))
    held = sorted(brain.next_urls(len(waits)), key=lambda claim: claim.url)
    assert len(held) == len(waits)
    items = [refused(claim, wait) for claim, wait in zip(held, waits, strict=True)]
    for start in range(0, len(items), -(-len(items) // parts)):
        brain.report(items[start : start + -(-len(items) // parts)])
    host = brain.host(A)
    return (host.blocked_until or 0.0) - clock.at, host.complaints, host.pace, host.delay, host.next_at


@pytest.mark.parametrize("seed", SEEDS)
def test_a_burst_is_one_event_in_however_many_calls_it_is_told(
    make_brain: MakeBrain, clock: HandClock, seed: int
) -> None:
    dice = random.Random(seed)
    many = dice.choice([2, 5, 16])
    waits = [dice.choice([None, 0.0, 5.0, 400.0]) for _ in range(many)]
    found = {outcome_of_burst(make_brain(), clock, waits, parts) for parts in (1, 2, many)}
    assert len(found) == 1
    ((blocked, complaints, pace, _, _),) = found
    asked = [MINUTE if wait is None else wait for wait in waits]
    assert (blocked, complaints, pace) == (max(asked), 1, 0.5)


def test_what_was_handed_out_after_an_event_is_another(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed(pages(A, 9))
    late, first = brain.next_urls(2)
    clock.pass_(1.0)
    brain.report([refused(first)])
    clock.pass_(MINUTE)
    (second,) = brain.next_urls(1)
    clock.pass_(1.0)
    brain.report([refused(second)])
    assert (brain.host(A).complaints, brain.host(A).blocked_until) == (2, clock.at + 2 * MINUTE)
    brain.report([refused(late)])  # from before both
    assert (brain.host(A).complaints, brain.host(A).blocked_until) == (2, clock.at + 2 * MINUTE)


def test_a_success_from_before_an_event_forgives_nothing(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(in_flight=5)
    brain.seed(pages(A, 9))
    bad, early, other = brain.next_urls(3)
    clock.pass_(1.0)
    brain.report([refused(bad, 1.0)])
    clock.pass_(10.0)
    brain.report([fetched(early)])
    assert (brain.host(A).complaints, brain.host(A).pace) == (1, 0.5)
    (fresh,) = brain.next_urls(1)
    clock.pass_(1.0)
    brain.report([fetched(other), fetched(fresh)])
    assert (brain.host(A).complaints, brain.host(A).pace) == (0, 0.52)


def test_failures_that_nobody_claimed_are_one_event_until_it_is_over(brain: Brain, clock: HandClock) -> None:
    brain.seed(pages(A, 9))
    for number in range(6):
        brain.report([Failed(f"http://{A}/{number}", status=503)])
        clock.pass_(0.01)
    assert brain.host(A).complaints == 1
    clock.pass_(MINUTE)
    brain.report([Failed(f"http://{A}/7", status=503)])
    assert brain.host(A).complaints == 2


# ---------------------------------------------------------------- a host that does not answer


def die(brain: Brain, clock: HandClock, times: int = 3) -> None:
    """Let the host give no answer so many times, a minute each."""
    for _ in range(times):
        held = brain.next_urls(9)
        assert held
        clock.pass_(MINUTE)
        brain.report([silent(claim) for claim in held])


def test_a_host_that_does_not_answer_is_probed_at_growing_intervals(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed(pages(A, 300))
    die(brain, clock)
    host = brain.host(A)
    assert (host.unanswered, host.illness, host.failing_since) == (3, "silent", START + MINUTE)
    assert host.probe_at == clock.at + 2 * MINUTE / 6, "a sixth of the time for which it has failed"
    assert [host.name for host in brain.hosts(silent=True)] == [A]
    assert not list(brain.hosts(silent=False))
    began, probes = clock.at, []
    for claim in crawl(brain, clock, START + 4 * DAY):
        probes.append(clock.at - began)
        assert not brain.next_urls(9), "one at a time"
        brain.report([silent(claim)])
        began = clock.at
    assert probes[0] == 20.0
    assert all(after >= before for before, after in pairwise(probes))
    assert max(probes) <= DAY
    assert 40 < len(probes) < 60
    assert brain.next_urls(1).finished, "nobody waits for a host that has been dead for so long"
    assert not list(brain.find(state="parked")), "the host is to blame, not its pages"
    clock.pass_(DAY)
    (claim,) = brain.next_urls(9)
    brain.report([fetched(claim)])
    host = brain.host(A)
    assert (host.unanswered, host.failing_since, host.illness) == (0, None, None)
    assert len(brain.next_urls(9)) == 9


@pytest.mark.parametrize("answer", [500, 503])
def test_an_answer_that_is_not_well_ends_the_silence_and_not_the_illness(
    make_brain: MakeBrain, clock: HandClock, answer: int
) -> None:
    brain = make_brain()
    brain.seed(pages(A, 300))
    die(brain, clock)
    clock.pass_(MINUTE)
    (claim,) = brain.next_urls(9)
    brain.report([Failed(claim.url, claim, answer, retry_after=0.0)])
    host = brain.host(A)
    assert (host.unanswered, host.illness) == (0, "broken" if answer == 500 else "refused")
    assert host.probe_at is not None and host.probe_at > clock.at


@pytest.mark.parametrize("answer", [200, 404, "unclaimed"])
def test_the_first_well_answer_opens_it(make_brain: MakeBrain, clock: HandClock, answer: int | str) -> None:
    brain = make_brain()
    brain.seed(pages(A, 300))
    die(brain, clock)
    assert not brain.next_urls(9)
    if answer == "unclaimed":
        brain.report([Fetched(f"http://{A}/299")])
    else:
        clock.pass_(MINUTE)
        (claim,) = brain.next_urls(9)
        brain.report([fetched(claim) if answer == 200 else Failed(claim.url, claim, int(answer))])
    assert (brain.host(A).unanswered, brain.host(A).probe_at) == (0, None)
    assert brain.next_urls(9)


def test_time_outs_that_were_under_way_together_are_one_event(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed(pages(A, 300))
    held = brain.next_urls(16)
    clock.pass_(MINUTE)
    for claim in held:
        brain.report([silent(claim)])
        clock.pass_(0.1)
    assert brain.host(A).unanswered == 1
    assert len(brain.next_urls(9)) == 1, "it is asked one at a time until it answers"


def test_it_can_be_switched_off(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(dead_after=0)
    brain.seed(pages(A, 300))
    die(brain, clock, 6)
    assert brain.host(A).unanswered == 0
    assert len(brain.next_urls(9)) == 9


def test_it_can_be_opened_by_hand(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed(pages(A, 300))
    die(brain, clock)
    brain.unblock(A)
    assert len(brain.next_urls(9)) == 9


def test_all_dead_hosts_together_hold_a_tenth_of_the_claims(make_brain: MakeBrain, clock: HandClock) -> None:
    """Twenty dead hosts and one that answers: after a while nearly all places are the living one's."""
    brain = make_brain(lease_seconds=10_000.0)
    dead = [f"dead{n}.org" for n in range(20)]
    brain.seed([url for host in dead for url in pages(host, 6)])
    for _ in range(6):  # pages that failed wait some minutes before they are tried again
        held = brain.next_urls(400)
        clock.pass_(10 * MINUTE)
        brain.report([silent(claim) for claim in held])
    assert len(list(brain.hosts(silent=True))) == 20
    brain.seed(pages("live.org", 400))
    out: list[Claim] = []
    probed = set()
    for turn in range(40):
        out += brain.next_urls(50 - len(out))
        probing = [claim for claim in out if claim.host != "live.org"]
        assert len(probing) <= 5
        probed |= {claim.host for claim in probing}
        ended = [claim for claim in out if claim.host == "live.org" or turn % 4 == 3][:30]
        out = [claim for claim in out if claim not in ended]
        clock.pass_(MINUTE)
        brain.report([fetched(claim) if claim.host == "live.org" else silent(claim) for claim in ended])
    assert len(probed) > 3, "they take turns"
    brain.report([silent(claim) for claim in out])
    assert all(host.in_flight == 0 for host in brain.hosts())


# ---------------------------------------------------------------- whatever a server does


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in SEEDS[1:])])
def test_whatever_servers_answer_politeness_holds_and_ends_well(
    make_brain: MakeBrain, clock: HandClock, seed: int
) -> None:
    """Hosts answer 200, 404, 429, 503, 500 or nothing at random for an hour, with claims that end in any order; then
    they are well. Blocks are bounded, nothing is counted twice or left over, and all pages are fetched within a day."""
    dice = random.Random(seed)
    brain = make_brain(
        order=dice.choice(["optimal", "best_first"]),
        delay_seconds=dice.choice([0.0, 1.0]),
        in_flight=dice.choice([0, 2]),
        dead_after=dice.choice([0, 1, 3]),
        max_errors=50,
        lease_seconds=600.0,
    )
    hosts = [f"h{n}.org" for n in range(4)]
    brain.seed([url for host in hosts for url in pages(host, 8)])
    out: list[Claim] = []
    while clock.at < START + HOUR:
        dice.shuffle(out)
        ended = [out.pop() for _ in range(dice.randrange(len(out) + 1))]
        items = [
            dice.choice([fetched, silent, refused, lambda c: refused(c, dice.choice([0.0, 1.0, 90.0]), 503)])(claim)
            for claim in ended
            if dice.random() < 0.9  # the others lapse
        ]
        if dice.random() < 0.5:
            brain.report(items)
        else:
            for item in items:
                brain.report([item])
        out += brain.next_urls(dice.randrange(1, 9))
        for host in brain.hosts():
            assert (host.blocked_until or 0.0) - clock.at <= 6 * HOUR
            assert (host.probe_at or 0.0) - clock.at <= DAY
        clock.pass_(dice.choice([0.0, 0.5, 30.0, 150.0]))
    for claim in crawl(brain, clock, clock.at + 2 * DAY):
        brain.report([fetched(claim)])
    assert not [page.url for page in brain.find(fetched=False)]
    assert all(host.in_flight == 0 for host in brain.hosts())


def test_ill_hosts_get_a_place_in_the_order_in_which_their_probes_became_due(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    """One place for thirty ill hosts: whoever fails goes to the end of the line, and none is left out for another."""
    brain = make_brain(lease_seconds=10_000.0)
    ill = [f"ill{n}.org" for n in range(30)]
    brain.seed([url for host in ill for url in pages(host, 40)])
    for _ in range(3):
        held = brain.next_urls(400)
        clock.pass_(MINUTE)
        brain.report([silent(claim) for claim in held])
    assert len(list(brain.hosts(silent=True))) == 30
    probed: list[str] = []
    while len(probed) < 150:
        claims = brain.next_urls(9)
        assert len(claims) <= 1
        if not claims:
            assert claims.next_ready is not None and claims.next_ready > clock.at
            clock.at = claims.next_ready
            continue
        clock.pass_(2.0)
        brain.report([silent(claims[0])])
        probed.append(claims[0].host)
    counts = [probed.count(host) for host in ill]
    assert max(counts) - min(counts) <= 2, counts
