"""Claims: order, tokens, leases that lapse, and what to expect when there is nothing to claim."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import neo4j as driver
import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.frontier.claims.batches import Holder
from graphbrain.frontier.claims.sampling import Reach
from graphbrain.frontier.claims.sources import ClaimRequest
from graphbrain.frontier.claims.taking import take as attempt
from graphbrain.graph.statements import statement
from tests.integration.conftest import START, Going, HandClock, crowd, pass_by, plan_anew, rounds
from tests.plugin import PATIENCE, Neo4j

MakeBrain = Callable[..., Brain]

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"


def urls(claims: object) -> list[str]:
    return [claim.url for claim in claims]  # type: ignore[attr-defined]


# ---------------------------------------------------------------- order


def test_breadth_first_goes_by_depth(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first")
    brain.seed([A])
    brain.report([Fetched(A, ["http://one.org/"])])
    brain.report([Fetched("http://one.org/", ["http://two.org/"])])
    brain.report([Fetched("http://two.org/", ["http://three.org/"])])
    clock.pass_(1.0)
    brain.report([Fetched(A, ["http://one.org/late"]), Fetched("http://two.org/", [B])])
    brain.seed([C])
    assert urls(brain.next_urls(9)) == [C, "http://one.org/late", "http://three.org/", B]


def test_breadth_first_follows_a_depth_that_is_lowered(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first")
    chain = [f"http://chain.org/{n}" for n in range(5)]
    brain.seed([chain[0]])
    for page, following in itertools.pairwise(chain):
        brain.report([Fetched(page, [following])])
    clock.pass_(1.0)  # of equal depth, who has waited longest
    brain.report([Fetched("http://seed.org/", [A]), Fetched(A, [B])])
    brain.seed([chain[3]])
    brain.tend(None)
    assert brain.page(chain[4]).lane == 2
    assert urls(brain.next_urls(9)) == [chain[4], B]


def test_best_first_follows_the_score_of_unfetched_pages(brain: Brain) -> None:
    """Three pages wait; who is linked to most is worth most, once the cash has been pushed."""
    brain.seed([A, B, C])
    fans = {A: 2, B: 40, C: 10}
    brain.report(
        [Fetched(f"http://fan{n}.org/", [url]) for url, many in fans.items() for n in range(100 * many, 101 * many)]
    )
    brain.tend(None)
    assert urls(brain.next_urls(9)) == [B, C, A]


def test_best_first_follows_relevance(brain: Brain) -> None:
    brain.seed([A, B, C])
    brain.set_page(B, relevance=0.9)
    brain.set_page(C, relevance=0.1)
    assert urls(brain.next_urls(9)) == [B, A, C]


def test_in_a_lane_the_oldest_comes_first(brain: Brain, clock: HandClock) -> None:
    for url in (C, A, B):
        brain.seed([url])
        clock.pass_(1.0)
    assert urls(brain.next_urls(9)) == [C, A, B]


def test_a_change_of_order_holds_at_once(brain: Brain) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [Link(B, 0.9)])])
    brain.seed([C])
    held = brain.next_urls(2)
    assert urls(held) == [B, C]
    brain.give_back(held)
    brain.change(order="breadth_first")
    assert urls(brain.next_urls(2)) == [C, B]


# ---------------------------------------------------------------- what a claim says


def test_a_claim_says_what_the_last_visit_returned(brain: Brain) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1, worker="me")
    assert (claim.url, claim.host, claim.depth, claim.until) == (A, "a.org", 0, START + 300.0)
    page = brain.page(A)
    assert (page.worker, page.lease_until, page.queue) == ("me", START + 300.0, None)


def test_the_claims_of_a_call_share_one_token_and_calls_do_not(brain: Brain) -> None:
    brain.seed([A, B, C])
    first, second = brain.next_urls(2), brain.next_urls(2)
    assert len({claim.token for claim in first}) == 1
    assert first[0].token != second[0].token


def test_no_page_is_handed_out_twice(brain: Brain, second: Brain) -> None:
    brain.seed([f"http://a.org/{n}" for n in range(100)])
    got = [*brain.next_urls(30), *second.next_urls(30), *brain.next_urls(60), *second.next_urls(9)]
    assert len({claim.url for claim in got}) == len(got) == 100


def test_no_page_is_handed_out_twice_to_racing_callers(brain: Brain, second: Brain) -> None:
    brain.seed([f"http://a.org/{n}" for n in range(120)])
    got: list[str] = []

    def take(own: Brain) -> None:
        while claims := own.next_urls(7):
            got.extend(claim.url for claim in claims)

    threads = [threading.Thread(target=take, args=(own,)) for own in (brain, second) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(f"http://a.org/{n}" for n in range(120))


@pytest.mark.long
def test_no_page_is_held_by_two_however_it_is_planned(
    brain: Brain, neo4j: Neo4j, raw: driver.Driver, clock: HandClock
) -> None:
    """Some plans used to look at pages before they locked them: one claim in a thousand was another's too."""
    brain.seed([f"http://h{n % 7}.org/{n}" for n in range(400)])
    held, twice, counting = set[str](), list[str](), threading.Lock()

    def take(going: Going) -> None:
        with neo4j.open(crawl="test", auto_tend=False, clock=clock) as own:
            while going():
                got = own.next_urls(6)
                urls = {claim.url for claim in got}
                with counting:
                    twice.extend(urls & held)
                    held.update(urls)
                time.sleep(0.01)
                with counting:
                    held.difference_update(urls)
                assert all(own.give_back(got))

    with crowd(*[take] * 8, partial(pass_by, raw), partial(plan_anew, raw)) as going:
        for _ in rounds(going, 10.0):
            time.sleep(0.1)
    assert not twice


# ---------------------------------------------------------------- when there is nothing


def test_an_empty_brain_is_finished(brain: Brain) -> None:
    answer = brain.next_urls(1)
    assert (list(answer), answer.finished, answer.next_ready) == ([], True, None)


def test_it_is_not_finished_while_somebody_holds_a_page(brain: Brain, second: Brain) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    answer = second.next_urls(1)
    assert (answer.finished, answer.next_ready) == (False, claim.until)


def test_it_is_not_finished_where_each_read_comes_too_late(brain: Brain, second: Brain) -> None:
    """Another worker reports its page, with a link to a new one, after each look at what waits; and claims the new page
    after each look at leases."""
    brain.seed([A])
    held = list(brain.next_urls(1))
    steps: list[str] = []

    def elsewhere(name: str, *_: object) -> None:
        if name == "claims/outlook":
            held[:] = brain.next_urls(1)
            steps.append("claim")
        elif name == "claims/front":
            brain.report([Fetched(held[0].url, [f"{A}{len(steps)}"], held.pop())])
            steps.append("report")

    with second.graph.trace(elsewhere):
        answer = second.next_urls(1)
    assert (list(answer), answer.finished, steps) == ([], False, ["report", "claim"] * 2)
    brain.report([Fetched(held[0].url, [], held[0])])
    assert second.next_urls(1).finished


def test_it_is_finished_when_all_is_fetched(brain: Brain) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [], brain.next_urls(1)[0])])
    assert brain.next_urls(1).finished


def test_fewer_than_asked_is_not_finished(brain: Brain) -> None:
    brain.seed([A])
    answer = brain.next_urls(5)
    assert (len(answer), answer.finished) == (1, False)


def test_wait_returns_as_soon_as_there_is_something(make_brain: MakeBrain) -> None:
    brain = make_brain()
    brain.seed([B])
    brain.next_urls(1)  # held by somebody, so the crawl is not finished
    late = threading.Timer(0.3, lambda: brain.seed([A]))
    late.start()
    started = time.monotonic()
    assert urls(brain.next_urls(1, wait=2 * PATIENCE)) == [A]
    assert time.monotonic() - started < PATIENCE
    late.join()


def test_wait_gives_up(brain: Brain) -> None:
    brain.seed([A])
    brain.next_urls(1)
    assert not brain.next_urls(1, wait=0.1)


def test_wait_does_not_wait_for_a_finished_crawl(brain: Brain) -> None:
    started = time.monotonic()
    assert brain.next_urls(1, wait=2 * PATIENCE).finished
    assert time.monotonic() - started < PATIENCE


# ---------------------------------------------------------------- renew, give back, lapse


def test_renewed_claims_are_held_longer(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    clock.pass_(200.0)
    (renewed,) = brain.renew([claim])
    assert renewed is not None
    assert renewed.until == brain.page(A).lease_until == START + 500.0
    clock.pass_(200.0)
    assert brain.tend(0).swept == 0


def test_renewing_for_a_given_time(brain: Brain) -> None:
    brain.seed([A])
    (renewed,) = brain.renew(brain.next_urls(1), seconds=9.0)
    assert renewed is not None
    assert renewed.until == START + 9.0


def test_a_lost_claim_cannot_be_renewed(brain: Brain) -> None:
    brain.seed([A, B])
    held = brain.next_urls(2)
    brain.report([Fetched(A, [], held[0] if held[0].url == A else held[1])])
    assert [claim is None for claim in brain.renew(sorted(held, key=lambda c: c.url))] == [
        True,
        False,
    ]


@pytest.mark.usefixtures("answers_lost")
def test_of_several_claims_of_one_page_each_is_seen_by_itself(brain: Brain) -> None:
    brain.seed([A])
    (held,) = brain.next_urls(1)
    wrong = replace(held, token="none of its")
    assert [claim and claim.token for claim in brain.renew([held, wrong])] == [held.token, None]
    assert [claim and claim.token for claim in brain.renew([wrong, held, held])] == [None, held.token, held.token]
    assert brain.give_back([wrong, held, wrong]) == [False, True, False]
    assert brain.stats()["leased"] == 0


def test_claims_that_are_given_back_wait_again(brain: Brain) -> None:
    brain.seed([A, B])
    held = list(brain.next_urls(2))
    assert brain.give_back(held) == [True, True]
    assert sorted(urls(brain.next_urls(9))) == [A, B]


def test_giving_back_again_says_the_same(brain: Brain) -> None:
    brain.seed([A])
    held = list(brain.next_urls(1))
    assert brain.give_back(held) == [True]
    assert brain.give_back(held) == [True]


def test_a_lost_claim_cannot_be_given_back(brain: Brain) -> None:
    brain.seed([A])
    held = list(brain.next_urls(1))
    brain.report([Fetched(A, [], held[0])])
    assert brain.give_back(held) == [False]


def test_a_lapsed_lease_is_swept_and_the_page_waits_where_it_was(brain: Brain, clock: HandClock) -> None:
    for url in (A, B, C):
        brain.seed([url])
        clock.pass_(1.0)
    (first,) = brain.next_urls(1)
    assert first.url == A
    before = brain.page(A)
    clock.pass_(301.0)
    assert brain.tend(0).swept == 1
    after = brain.page(A)
    assert (after.lane, after.waiting_since) == (before.lane, before.waiting_since)
    assert urls(brain.next_urls(9)) == [A, B, C]


def test_a_lease_is_not_swept_before_its_time(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.next_urls(1)
    clock.pass_(299.0)
    assert brain.tend(0).swept == 0


def test_the_next_caller_sweeps_too(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.next_urls(1)
    clock.pass_(301.0)
    time.sleep(1.05)  # a process looks once a second, by its own watch
    assert urls(brain.next_urls(1)) == [A]


def test_a_few_claims_that_could_not_be_had_are_left_to_the_next_call(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=60.0)
    brain.seed([f"http://a{n}.org/" for n in range(97)] + [f"http://b.org/{n}" for n in range(6)])
    looks: list[str] = []
    with brain.graph.trace(lambda name, *_: looks.append(name)):
        first = brain.next_urls(100)
    assert len(first) in range(95, 99), "of 97 hosts a page each, and of another one of its three to six pages"
    assert (looks.count("claims/lock"), first.next_ready, first.finished) == (1, clock(), False)
    rest = brain.next_urls(100)
    assert (len(first) + len(rest), rest.next_ready) == (98, clock() + 60.0)


def test_more_lapse_than_fit_one_transaction(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed([f"http://a.org/{n}" for n in range(1_200)])
    assert len(brain.next_urls(1_200)) == 1_200
    clock.pass_(301.0)
    assert brain.tend(0).swept == 1_200


# ---------------------------------------------------------------- fencing


def test_a_late_worker_cannot_undo_the_next_ones_work(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    (late,) = brain.next_urls(1, worker="late")
    clock.pass_(301.0)
    brain.tend(0)
    (now,) = brain.next_urls(1, worker="now")
    assert brain.renew([late]) == [None]
    assert brain.give_back([late]) == [False]
    assert not brain.report([Failed(A, late, 500)])[0].accepted
    assert (brain.page(A).worker, brain.page(A).lease_until) == ("now", now.until)


def test_a_made_up_token_is_nobodys(brain: Brain) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    forged = replace(claim, token="0" * 32)
    assert brain.renew([forged]) == [None]
    assert brain.give_back([forged]) == [False]
    assert not brain.report([Fetched(A, [], forged)])[0].accepted


def test_a_claim_whose_answer_was_lost_is_found_again(brain: Brain) -> None:
    """The transaction committed, the connection broke: the second attempt returns what the first took."""
    brain.seed([A, B, C])
    holders = [Holder("feed" * 8, "me")] * 2
    wish = ClaimRequest({"lanes": 2}, holders, brain.now, 300.0, brain.policy.manners, brain.session.finder, Reach())
    tried: set[str] = set()
    work = partial(attempt, wish=wish, tried=tried)
    first = brain.graph.write(work, "claims/take")
    again = brain.graph.write(work, "claims/take")
    assert {claim.url for claim in again.claims} == {claim.url for claim in first.claims}
    assert len(brain.next_urls(9)) == 1


# ---------------------------------------------------------------- pages that leave the scope while held or resting


def test_a_held_page_that_leaves_and_enters_the_scope_is_held_once(brain: Brain) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    brain.change(deny_hosts="a.org")
    brain.change(deny_hosts="")
    assert not brain.next_urls(1)
    assert brain.report([Fetched(A, [], claim)])[0].accepted


def test_a_held_page_that_leaves_the_scope_does_not_wait_again(brain: Brain) -> None:
    brain.seed([A])
    held = list(brain.next_urls(1))
    brain.change(deny_hosts="a.org")
    brain.give_back(held)
    assert (brain.page(A).state, brain.page(A).queue) == ("outside", None)
    assert brain.next_urls(1).finished


@pytest.mark.parametrize("barred", ["scope", "robots"])
def test_the_lease_of_a_page_that_waits_no_more_names_no_time(brain: Brain, clock: HandClock, barred: str) -> None:
    """A crawler has died with pages that must not be fetched any more: nothing comes when their leases lapse."""
    brain.seed([f"{A}{number}" for number in range(4)])
    for _ in range(4):
        assert len(brain.next_urls(1)) == 1
        clock.pass_(20.0)
    if barred == "scope":
        brain.change(deny_hosts="a.org")
    else:
        brain.set_robots("a.org", "User-agent: *\nDisallow: /")
        brain.tend(0)
    assert brain.next_urls(5).next_ready is None


def test_a_resting_page_that_leaves_the_scope_is_not_handed_out(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.report([Failed(A, brain.next_urls(1)[0], 500)])
    brain.change(deny_hosts="a.org")
    clock.pass_(100_000.0)
    brain.tend(0)
    assert brain.next_urls(1).finished


def test_a_resting_page_that_leaves_and_enters_the_scope_goes_on_resting_or_waits(
    brain: Brain, clock: HandClock
) -> None:
    brain.seed([A])
    brain.report([Failed(A, brain.next_urls(1)[0], 500)])
    brain.change(deny_hosts="a.org")
    brain.change(deny_hosts="")
    clock.pass_(100_000.0)
    brain.tend(0)
    assert urls(brain.next_urls(9)) == [A]


def test_a_shorter_way_to_a_held_page_outside_does_not_hand_it_out(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    brain.report([Fetched(B, [C])])
    (claim,) = brain.next_urls(1)
    assert claim.url == C
    brain.change(max_depth=1)
    assert brain.page(C).state == "outside"
    clock.pass_(1.0)
    brain.report([Fetched(A, [B, C])])
    assert not brain.next_urls(1)
    assert brain.report([Fetched(C, [], claim)])[0].accepted


def test_hosts_that_leave_their_queue_while_they_are_read_are_left_out(brain: Brain, raw: driver.Driver) -> None:
    """A property that the index had may be gone when the statement reads it from the host: claims met a null once."""
    brain.seed([A])
    text, stop = statement("claims/ready_hosts").text, threading.Event()
    raw.execute_query("UNWIND range(1, 50) AS n CREATE (:Host {name: 'h' + n, next_at: 0.0})")

    def come_and_go() -> None:
        while not stop.is_set():
            raw.execute_query("MATCH (h:Host) SET h.queued = true, h.ready_at = 1.0")
            raw.execute_query("MATCH (h:Host) REMOVE h.queued, h.ready_at")

    coming = threading.Thread(target=come_and_go)
    coming.start()
    try:
        until, met, found = time.monotonic() + 1.5, 0, 0
        while time.monotonic() < until or (not found and time.monotonic() < until + PATIENCE):
            rows = raw.execute_query(text, now=5.0, limit=50, most=8, budget=0).records[0][0]
            met += sum(None in row for row in rows)
            found += len(rows)
    finally:
        stop.set()
        coming.join()
    assert not met and found
