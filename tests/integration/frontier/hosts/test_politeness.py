"""One host is asked no more often, and by no more at once, than its manners say: for all workers together."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import neo4j as driver
import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.frontier.claims.tuning import BULK
from graphbrain.frontier.hosts import admin
from tests.integration.conftest import START, HandClock, lock_awaited
from tests.plugin import PATIENCE, eventually

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

PAGES = [f"http://a.org/{n}" for n in range(6)]
B = "http://b.org/"


@pytest.fixture
def polite(make_brain: MakeBrain) -> Brain:
    """A brain that waits ten seconds between two pages of a host; six pages of one host, one of another."""
    brain = make_brain(delay_seconds=10.0)
    brain.seed([*PAGES, B])
    return brain


def hosts(claims: object) -> list[str]:
    return sorted(claim.host for claim in claims)  # type: ignore[attr-defined]


def host(ask: Ask, name: str = "a.org") -> dict[str, object]:
    ((found,),) = ask("MATCH (h:Host {name: $name}) RETURN properties(h)", name=name)
    assert isinstance(found, dict)
    return found


def test_a_host_grants_one_claim_per_delay(polite: Brain, clock: HandClock) -> None:
    assert hosts(polite.next_urls(9)) == ["a.org", "b.org"]
    assert hosts(polite.next_urls(9)) == []
    clock.pass_(9.9)
    assert hosts(polite.next_urls(9)) == []
    clock.pass_(0.1)
    assert hosts(polite.next_urls(9)) == ["a.org"]


def test_delay_and_lease_count_from_the_lock_not_from_before_the_wait_for_it(
    polite: Brain, clock: HandClock, raw: driver.Driver, ask: Ask
) -> None:
    with ThreadPoolExecutor(1) as pool, raw.session(database="neo4j") as session:
        holder = session.begin_transaction()
        holder.run("MATCH (h:Host {name: 'a.org'}) SET h:Host").consume()
        claiming = pool.submit(polite.next_urls, 9)
        eventually(lambda: lock_awaited(raw), "the claim that waits")
        clock.pass_(4.0)
        holder.rollback()
        claims = claiming.result(timeout=PATIENCE)
    assert host(ask)["next_at"] == START + 14.0
    assert {claim.until for claim in claims} == {START + 4.0 + polite.settings.lease_seconds}


def test_the_answer_says_when_the_host_is_ready(polite: Brain) -> None:
    held = polite.next_urls(9)
    polite.report([Fetched(claim.url, [], claim) for claim in held])
    answer = polite.next_urls(9)
    assert (len(answer), answer.finished, answer.next_ready) == (0, False, START + 10.0)


def test_a_whole_host_is_fetched_at_its_pace(polite: Brain, clock: HandClock) -> None:
    got = []
    for _ in range(6):
        got += [claim.url for claim in polite.next_urls(9) if claim.host == "a.org"]
        clock.pass_(10.0)
    assert sorted(got) == sorted(PAGES)


def test_a_page_that_must_wait_moves_once_to_its_hosts_queue(polite: Brain, clock: HandClock) -> None:
    polite.next_urls(9)
    queues = sorted(str(polite.page(url).queue) for url in PAGES)
    assert queues == ["None", *["a.org"] * 5]
    clock.pass_(10.0)
    polite.next_urls(9)
    assert sorted(str(polite.page(url).queue) for url in PAGES) == ["None", "None", *["a.org"] * 4]


def test_a_call_that_finds_something_moves_a_bounded_number_of_pages(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain(delay_seconds=10.0)
    brain.seed([f"http://a.org/{n}" for n in range(3 * BULK)])
    assert hosts(brain.next_urls(2)) == ["a.org"]
    [[moved]] = ask("MATCH (p:Page {queue: 'a.org'}) RETURN count(p)")
    assert 8 <= int(str(moved)) <= 8 + BULK


def test_a_call_that_finds_nothing_moves_all_that_is_in_the_way(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain(delay_seconds=10.0)
    brain.seed([f"http://a.org/{n}" for n in range(50)])
    brain.next_urls(1)
    answer = brain.next_urls(1)
    assert (len(answer), answer.finished, answer.next_ready) == (0, False, START + 10.0)
    assert ask("MATCH (p:Page {queue: 'a.org'}) RETURN count(p)") == [[49]]


def test_pages_of_a_ready_host_are_found_behind_those_that_wait(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0)
    brain.seed([f"http://a.org/{n}" for n in range(30)])
    clock.pass_(1.0)
    brain.seed([B])
    got = [claim.url for _ in range(12) for claim in brain.next_urls(1)]
    assert B in got


def test_a_hosts_queue_ends_when_it_is_empty(polite: Brain, clock: HandClock, ask: Ask) -> None:
    for _ in range(7):
        polite.next_urls(9)
        clock.pass_(10.0)
    found = host(ask)
    assert "queued" not in found
    assert "ready_at" not in found


def test_a_new_page_of_a_host_whose_queue_has_ended_is_found(polite: Brain, clock: HandClock) -> None:
    for _ in range(7):
        polite.next_urls(9)
        clock.pass_(10.0)
    polite.seed(["http://a.org/new"])
    assert [claim.url for claim in polite.next_urls(9)] == ["http://a.org/new"]


def test_a_page_that_is_given_back_to_a_host_with_a_queue_waits_in_it(polite: Brain) -> None:
    held = [claim for claim in polite.next_urls(9) if claim.host == "a.org"]
    polite.give_back(held)
    assert polite.page(held[0].url).queue == "a.org"


def test_no_more_than_in_flight_are_out_at_once(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(in_flight=2)
    brain.seed([*PAGES, B])
    held = [claim for claim in brain.next_urls(9) if claim.host == "a.org"]
    assert len(held) == 2
    clock.pass_(100.0)
    assert hosts(brain.next_urls(9)) == []
    brain.report([Fetched(held[0].url, [], held[0])])
    assert hosts(brain.next_urls(9)) == ["a.org"]


@pytest.mark.parametrize("how", ["reported", "failed", "given back", "lapsed", "forgotten"])
def test_whatever_ends_a_claim_makes_room(make_brain: MakeBrain, clock: HandClock, ask: Ask, how: str) -> None:
    brain = make_brain(in_flight=1)
    brain.seed(PAGES)
    (claim,) = brain.next_urls(9)
    assert host(ask)["in_flight"] == 1
    if how == "reported":
        brain.report([Fetched(claim.url, [], claim)])
    elif how == "failed":
        brain.report([Failed(claim.url, claim, 500)])
    elif how == "given back":
        brain.give_back([claim])
    elif how == "lapsed":
        clock.pass_(301.0)
        brain.tend(0)
    else:
        brain.forget(claim.url)
    assert host(ask)["in_flight"] == 0
    assert hosts(brain.next_urls(9)) == ["a.org"]


def test_a_blocked_host_is_left_alone(polite: Brain, clock: HandClock) -> None:
    polite.block("a.org", 100.0)
    assert hosts(polite.next_urls(9)) == ["b.org"]
    clock.pass_(99.0)
    assert hosts(polite.next_urls(9)) == []
    clock.pass_(1.0)
    assert hosts(polite.next_urls(9)) == ["a.org"]


def test_a_block_by_hand_shortens_no_wait_that_the_host_has_asked_for(polite: Brain, clock: HandClock) -> None:
    claim = next(claim for claim in polite.next_urls(9) if claim.host == "a.org")
    polite.report([Failed(claim.url, claim, 503, retry_after=600.0)])
    began = clock.at
    polite.block("a.org", 60.0)
    assert polite.host("a.org").blocked_until == began + 600.0
    polite.block("a.org", 3_600.0)
    assert polite.host("a.org").blocked_until == began + 3_600.0
    polite.block("a.org", 60.0)
    assert polite.host("a.org").blocked_until == began + 60.0, "what was set by hand is replaced"


def test_a_block_can_be_lifted(polite: Brain) -> None:
    polite.block("a.org", 100.0)
    polite.next_urls(9)
    polite.unblock("a.org")
    assert hosts(polite.next_urls(9)) == ["a.org"]


def test_a_host_has_its_own_delay(polite: Brain, clock: HandClock) -> None:
    polite.set_host("a.org", delay=2.0)
    polite.next_urls(9)
    clock.pass_(2.0)
    assert hosts(polite.next_urls(9)) == ["a.org"]


def test_a_shorter_delay_holds_at_once(polite: Brain, clock: HandClock) -> None:
    polite.next_urls(9)
    polite.set_host("a.org", delay=1.0)
    clock.pass_(1.0)
    assert hosts(polite.next_urls(9)) == ["a.org"]


def test_a_host_goes_back_to_the_brains_delay(polite: Brain, clock: HandClock) -> None:
    polite.set_host("a.org", delay=0.0)
    polite.set_host("a.org", delay=None)
    polite.next_urls(9)
    clock.pass_(9.0)
    assert hosts(polite.next_urls(9)) == []


def test_a_host_has_its_own_limit(make_brain: MakeBrain) -> None:
    brain = make_brain()
    brain.seed([*PAGES, B])
    brain.set_host("a.org", in_flight=3)
    assert hosts(brain.next_urls(9)) == ["a.org", "a.org", "a.org", "b.org"]


def test_a_retry_after_goes_over_the_delay(polite: Brain, clock: HandClock) -> None:
    held = [claim for claim in polite.next_urls(9) if claim.host == "a.org"]
    polite.report([Failed(held[0].url, held[0], 503, retry_after=50.0)])
    clock.pass_(49.0)
    assert hosts(polite.next_urls(9)) == []
    clock.pass_(1.0)
    assert hosts(polite.next_urls(9)) == ["a.org"]


def test_a_host_without_manners_is_never_written(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain()
    brain.seed(PAGES)
    before = host(ask)
    held = brain.next_urls(9)
    brain.report([Fetched(claim.url, [], claim) for claim in held])
    assert host(ask) == before


def test_the_state_of_a_host_outlives_the_process(polite: Brain, neo4j: object, clock: HandClock) -> None:
    """A second process, opened later, keeps the same distance."""
    polite.next_urls(9)
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:  # type: ignore[attr-defined]
        assert hosts(other.next_urls(9)) == []
        clock.pass_(10.0)
        assert hosts(other.next_urls(9)) == ["a.org"]
        assert hosts(polite.next_urls(9)) == []


def test_a_request_without_a_claim_takes_a_turn_of_its_host(polite: Brain, clock: HandClock) -> None:
    """Turns and claims are a delay apart. A turn that is too late, or forbidden, is refused."""

    def turn(url: str, within: float = 60.0) -> float | None:
        name = url.split("/")[2]
        manners = polite.policy.manners
        return polite.graph.write(lambda tx: admin.turn(tx, name, url, within, manners, clock()), "hosts/turn")

    assert turn(f"{B}x") == 0.0 and turn(f"{B}x") == 10.0 and turn(f"{B}x", 9.0) is None
    assert hosts(polite.next_urls(9)) == ["a.org"]
    clock.pass_(4.0)
    assert turn(PAGES[0]) == turn(f"{B}x") == 6.0
    clock.pass_(6.0)
    assert turn(PAGES[0]) == 0.0
    assert hosts(polite.next_urls(9)) == ["b.org"]
    clock.pass_(10.0)
    assert hosts(polite.next_urls(9)) == ["a.org"]
    polite.set_robots("c.org", "User-agent: *\nDisallow: /private\nCrawl-delay: 25\n")
    assert turn("http://c.org/private/x") is None
    assert turn("http://c.org/x") == 0.0 and turn("http://c.org/x") == 25.0
    polite.block("a.org")
    assert turn(PAGES[0]) is None
