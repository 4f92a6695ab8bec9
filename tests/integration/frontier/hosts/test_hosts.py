"""What bends a host's pace besides its own delay: complaints, response times, robots.txt, addresses, budgets."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.brain import hosts as hosting
from graphbrain.frontier.hosts import admin
from tests.integration.conftest import START, HandClock, LateReport, crowd, sound
from tests.plugin import Neo4j, emptied, eventually

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

PAGES = [f"http://a.org/{n}" for n in range(6)]
B = "http://b.org/"
ADDRESS = "192.0.2.1"


def names(claims: object) -> list[str]:
    return sorted(claim.host for claim in claims)  # type: ignore[attr-defined]


def fetched(claim: Claim, links: tuple[str, ...] = (), **more: object) -> Fetched:
    return Fetched(claim.url, links, claim, **more)  # type: ignore[arg-type]


def gaps(times: list[float]) -> list[float]:
    return [b - a for a, b in itertools.pairwise(sorted(times))]


def wait_for(brain: Brain, clock: HandClock, host: str, most: float, step: float = 0.5) -> float:
    """Seconds until a page of the host is handed out; it is reported at once."""
    began = clock.at
    while clock.at - began <= most:
        for claim in brain.next_urls(9):
            brain.report([fetched(claim)])
            if claim.host == host:
                return clock.at - began
        clock.pass_(step)
    raise AssertionError(f"no page of {host} for {most} seconds")


# ---------------------------------------------------------------- the delay is the largest of what asks for one


def test_a_complaint_halves_the_rate_and_successes_give_it_back(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0)
    brain.seed([f"http://a.org/{n}" for n in range(60)])
    (claim,) = brain.next_urls(9)
    brain.report([Failed(claim.url, claim, 429, retry_after=1.0)])
    assert (brain.host("a.org").pace, brain.host("a.org").delay) == (0.5, 20.0)
    assert wait_for(brain, clock, "a.org", 30.0, step=5.0) == 20.0
    assert brain.host("a.org").pace == 0.52
    for _ in range(3):
        wait_for(brain, clock, "a.org", 30.0, step=10.0)
    found = brain.host("a.org")
    assert (round(found.pace, 6), round(found.delay, 6), found.complaints) == (0.58, round(10.0 / 0.58, 6), 0)


def test_a_host_without_a_delay_gets_one_when_it_complains(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed(PAGES)
    (claim, *others) = brain.next_urls(2)
    brain.report([Failed(claim.url, claim, 503, retry_after=0.0)])
    brain.give_back(others)
    assert brain.host("a.org").delay == 0.1
    assert names(brain.next_urls(9)) == []
    clock.pass_(0.1)
    assert names(brain.next_urls(9)) == ["a.org"]


def test_the_slowest_is_the_longest_delay(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0, longest_delay_seconds=45.0)
    brain.seed(PAGES)
    for _ in range(5):
        (claim,) = brain.next_urls(1)
        brain.report([Failed(claim.url, claim, 503, retry_after=1.0)])
        clock.pass_(60.0)
    assert brain.host("a.org").delay == 45.0


def test_a_slow_host_is_asked_less_often(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=1.0, response_times=5.0)
    brain.seed(PAGES)
    (claim,) = brain.next_urls(9)
    clock.pass_(4.0)
    brain.report([fetched(claim, seconds=4.0)])
    assert brain.host("a.org").delay == 20.0
    clock.pass_(19.0)
    assert names(brain.next_urls(9)) == []
    clock.pass_(1.0)
    (claim,) = brain.next_urls(9)
    brain.report([fetched(claim, seconds=0.1)])
    assert brain.host("a.org").delay == 1.0


def test_response_times_are_not_kept_unless_they_are_used(make_brain: MakeBrain) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed(PAGES)
    (claim,) = brain.next_urls(9)
    brain.report([fetched(claim, seconds=4.0, address=ADDRESS)])
    assert brain.host("a.org").response_seconds is None
    assert brain.host("a.org").address is None


@pytest.mark.parametrize(
    ("crawl_delay", "delay"), [("5", 5.0), ("0.5", 1.0), ("1000", 300.0), ("soon", 1.0), ("nan", 1.0)]
)
def test_a_crawl_delay_counts_where_it_is_the_largest(make_brain: MakeBrain, crawl_delay: str, delay: float) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed(PAGES)
    brain.set_robots("a.org", f"User-agent: *\nCrawl-delay: {crawl_delay}\n")
    assert brain.host("a.org").delay == delay


def test_a_longer_delay_counts_from_the_last_claim(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed(PAGES)
    brain.next_urls(9)
    brain.set_robots("a.org", "User-agent: *\nCrawl-delay: 5\n")
    clock.pass_(4.5)
    assert names(brain.next_urls(9)) == []
    clock.pass_(0.5)
    assert names(brain.next_urls(9)) == ["a.org"]


# ---------------------------------------------------------------- addresses


def shared(make_brain: MakeBrain, clock: HandClock, hosts: int, **settings: object) -> Brain:
    """A brain with so many hosts of five pages, all at one address."""
    brain = make_brain(**settings)
    brain.seed([f"http://h{n}.org/{m}" for n in range(hosts) for m in range(5)])
    brain.report([Fetched(f"http://h{n}.org/", address=ADDRESS) for n in range(hosts)])
    clock.pass_(60.0)
    return brain


def test_hosts_of_one_address_share_its_delay(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = shared(make_brain, clock, 3, address_delay_seconds=2.0)
    brain.seed([B])
    got = []
    for _ in range(40):
        got += [(clock.at, claim.host) for claim in brain.next_urls(9)]
        clock.pass_(0.5)
    times = [at for at, host in got if host != "b.org"]
    assert len(times) == 10
    assert min(gaps(times)) >= 2.0
    assert set(Counter(host for _, host in got if host != "b.org").values()) <= {3, 4}, "they take turns"
    assert got[0][1] == "b.org" or got[1][1] == "b.org"


def test_hosts_of_one_address_share_its_limit(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    brain = shared(make_brain, clock, 3, address_in_flight=2)
    held = list(brain.next_urls(9))
    assert len(held) == 2
    for turn in range(13):
        assert not brain.next_urls(9)
        brain.report([fetched(held.pop())])
        more = brain.next_urls(9)
        assert len(more) == 1, f"room is used at once, in turn {turn}"
        held += more
    assert ask("MATCH (a:Address) RETURN a.in_flight") == [[2]]
    brain.give_back(held)
    assert ask("MATCH (a:Address) RETURN a.in_flight") == [[0]]


@pytest.mark.parametrize("how", ["failed", "lapsed", "forgotten"])
def test_whatever_ends_a_claim_makes_room_at_its_address(make_brain: MakeBrain, clock: HandClock, how: str) -> None:
    brain = shared(make_brain, clock, 2, address_in_flight=1)
    (claim,) = brain.next_urls(9)
    brain.report([Fetched("http://h0.org/", address="192.0.2.9"), Fetched("http://h1.org/", address="192.0.2.9")])
    if how == "failed":
        brain.report([Failed(claim.url, claim, 500)])
    elif how == "lapsed":
        clock.pass_(301.0)
        brain.tend(0)
    else:
        brain.forget(claim.url)
    assert brain.audit(None).ok
    clock.pass_(61.0)
    assert len(brain.next_urls(9)) == 1


def test_many_hosts_of_a_busy_address_do_not_hide_another(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = shared(make_brain, clock, 60, address_delay_seconds=10.0)
    for _ in range(40):  # all of them wait at their address now
        brain.next_urls(10)
        clock.pass_(0.1)
    brain.seed([f"http://c{n}.org/" for n in range(20)])
    others: list[str] = []
    calls = 0
    while len(others) < 20:
        others += [claim.host for claim in brain.next_urls(10) if claim.host.startswith("c")]
        calls += 1
        assert calls <= 4
    clock.pass_(600.0)
    assert len([claim for claim in brain.next_urls(10) if not claim.host.startswith("c")]) == 1


def test_nothing_is_written_of_addresses_unless_they_have_limits(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain(delay_seconds=1.0, in_flight=3)
    brain.seed([*PAGES, B])
    brain.report([fetched(claim, address=ADDRESS) for claim in brain.next_urls(9)])
    assert ask("MATCH (a:Address) RETURN count(a)") == [[0]]


# ---------------------------------------------------------------- budgets


def budgeted(make_brain: MakeBrain, budget: int = 3, **more: object) -> Brain:
    brain = make_brain(pages_per_host=budget, **more)
    brain.seed([*PAGES, B])
    return brain


def test_a_budget_counts_claims_and_first_visits(make_brain: MakeBrain) -> None:
    brain = budgeted(make_brain)
    held = brain.next_urls(9)
    assert names(held) == ["a.org"] * 3 + ["b.org"]
    assert names(brain.next_urls(9)) == []
    brain.report([fetched(claim) for claim in held])
    answer = brain.next_urls(9)
    assert (len(answer), answer.finished) == (0, True)
    assert brain.host("a.org").budget_used == 3


def test_pages_over_budget_are_looked_at_once(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain(pages_per_host=3)
    brain.seed([f"http://a.org/{n}" for n in range(200)])
    for _ in range(20):
        brain.next_urls(20)
    assert ask("MATCH (p:Page {queue: 'a.org (budget)'}) RETURN count(p)") == [[197]]
    seen: Counter[str] = Counter()
    with brain.graph.trace(lambda name, _rows, _ms: seen.update([name])):
        assert not brain.next_urls(20)
    assert "claims/lock" not in seen


@pytest.mark.parametrize("how", ["given back", "failed", "lapsed", "forgotten"])
def test_a_claim_that_brings_no_page_costs_no_budget(make_brain: MakeBrain, clock: HandClock, how: str) -> None:
    brain = budgeted(make_brain)
    held = [claim for claim in brain.next_urls(9) if claim.host == "a.org"]
    assert not brain.next_urls(9)
    brain.report([fetched(claim) for claim in held[1:]])
    if how == "given back":
        brain.give_back(held[:1])
    elif how == "failed":
        brain.report([Failed(held[0].url, held[0], 404)])
    elif how == "lapsed":
        clock.pass_(301.0)
        brain.tend(0)
    else:
        brain.forget(held[0].url)
    assert brain.host("a.org").budget_used == 2
    assert names(claim for claim in brain.next_urls(9) if claim.host == "a.org") == ["a.org"]


def test_a_visit_nobody_claimed_counts_once(make_brain: MakeBrain) -> None:
    brain = budgeted(make_brain)
    (claim,) = brain.next_urls(1)
    brain.report([Fetched(claim.url)])  # somebody else was there while it is held
    brain.report([Fetched(PAGES[5])])
    brain.report([Fetched(PAGES[5])])
    brain.report([fetched(claim)])
    assert brain.host(claim.host).budget_used == len({claim.url, PAGES[5]})


def test_a_larger_budget_lets_the_others_go_on(make_brain: MakeBrain) -> None:
    brain = budgeted(make_brain)
    brain.report([fetched(claim) for claim in brain.next_urls(9)])
    assert brain.next_urls(9).finished
    brain.change(pages_per_host=4)
    assert names(brain.next_urls(9)) == ["a.org"]
    assert not brain.next_urls(9)
    brain.set_host("a.org", budget=5)
    assert names(brain.next_urls(9)) == ["a.org"]
    brain.set_host("a.org", budget=None)
    assert not brain.next_urls(9)
    brain.change(pages_per_host=0)
    assert names(brain.next_urls(9)) == ["a.org"]


def test_a_change_of_budgets_that_was_killed_is_finished_by_whoever_tends(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock
) -> None:
    brain = budgeted(make_brain)
    brain.report([fetched(claim) for claim in brain.next_urls(9)])
    brain.next_urls(9)
    brain.graph.write(
        lambda tx: tx.do("brain/change", settings={"pages_per_host": 5, "reviewing_hosts": ""}), "brain/change"
    )
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        assert other.next_urls(9).finished
        other.tend(0)
        assert names(other.next_urls(9)) == ["a.org"] * 2


def test_a_budget_on_a_filled_brain_counts_what_was_fetched(make_brain: MakeBrain) -> None:
    brain = make_brain()
    brain.seed([*PAGES, B])
    brain.report([Fetched(url) for url in PAGES[:2]])
    brain.set_host("a.org", budget=4)
    assert names(brain.next_urls(9)) == ["a.org", "a.org", "b.org"]
    assert brain.host("a.org").budget_used == 4
    assert brain.host("b.org").budget_used is None


def test_nobody_gives_a_budget_before_all_count_it(brain: Brain, neo4j: Neo4j, late_report: LateReport) -> None:
    """A report that began before the first was given charges nothing: also the second who gives one waits for it."""
    brain.seed(PAGES)
    report_on = late_report()
    with neo4j.open(crawl="test", auto_tend=False) as first, neo4j.open(crawl="test", auto_tend=False) as second:
        with crowd(lambda _: first.set_host("a.org", budget=4)):
            eventually(
                lambda: brain.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read").get("counts_budgets"),
                "the first who gives a budget",
            )
            with crowd(lambda _: second.set_host("a.org", budget=4)):
                time.sleep(1.0)
                assert brain.host("a.org").own_budget is None
                report_on()
        assert brain.host("a.org").own_budget == 4
    sound(brain)


def test_a_budget_beside_a_delay(make_brain: MakeBrain, clock: HandClock) -> None:
    """Pages that had to wait before there was a budget are set aside one by one, and the others go on."""
    brain = make_brain(delay_seconds=1.0)
    brain.seed([f"http://a.org/{n}" for n in range(40)])
    for _ in range(5):
        brain.report([fetched(claim) for claim in brain.next_urls(20)])
        clock.pass_(1.0)
    brain.change(pages_per_host=7)
    brain.seed([f"http://c{n}.org/" for n in range(30)])
    got: Counter[str] = Counter()
    for _ in range(60):
        held = brain.next_urls(3)
        got.update(claim.host for claim in held)
        brain.report([fetched(claim) for claim in held])
        clock.pass_(1.0)
    assert got["a.org"] == 2
    assert sum(got.values()) == 32
    assert brain.next_urls(9).finished


def test_pages_that_were_fetched_come_back_whatever_the_budget(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="optimal", pages_per_host=2)
    brain.seed(PAGES)
    brain.report([fetched(claim) for claim in brain.next_urls(9)])
    assert not brain.next_urls(9)
    clock.pass_(60 * 86_400.0)
    held = brain.next_urls(9)
    assert sorted(brain.page(claim.url).visits for claim in held) == [1, 1]
    brain.set_robots("a.org", "User-agent: *\nDisallow: /")
    brain.give_back(held)
    assert not brain.next_urls(9)
    assert {brain.page(claim.url).outside_because for claim in held} == {"robots"}
    assert brain.set_robots("a.org", None).let_in == 6
    assert sorted(claim.url for claim in brain.next_urls(9)) == sorted(claim.url for claim in held)


# ---------------------------------------------------------------- robots.txt

FORBIDDING = "User-agent: *\nDisallow: /private\n"


@pytest.fixture
def told(brain: Brain) -> Brain:
    brain.seed(["http://a.org/", "http://a.org/private/1", "http://a.org/private/2", "http://b.org/private/3"])
    return brain


def reasons(ask: Ask) -> dict[object, object]:
    return dict(ask("MATCH (p:Page {state: 'outside'}) RETURN p.url, p.outside_because"))  # type: ignore[arg-type]


def test_forbidden_pages_go_out_and_come_back(told: Brain, ask: Ask) -> None:
    answer = told.set_robots("a.org", FORBIDDING)
    assert (answer.taken_out, answer.let_in, answer.delay) == (2, 0, 0.0)
    assert reasons(ask) == dict.fromkeys(["http://a.org/private/1", "http://a.org/private/2"], "robots")
    assert told.page("http://a.org/private/1").outside_because == "robots"
    assert told.crawl_now(["http://a.org/private/1", "http://a.org/"]) == [False, True]
    assert told.retry("http://a.org/private/1") == 0
    answer = told.set_robots("a.org", b"User-agent: *\nDisallow: /private/2")
    assert (answer.taken_out, answer.let_in) == (0, 1)
    assert told.robots("a.org") == "User-agent: *\nDisallow: /private/2"
    assert sorted(claim.url for claim in told.next_urls(9)) == [
        "http://a.org/", "http://a.org/private/1", "http://b.org/private/3",
    ]  # fmt: skip
    assert told.set_robots("a.org", None).let_in == 1
    assert told.page("http://a.org/private/2").outside_because is None
    assert [claim.url for claim in told.next_urls(9)] == ["http://a.org/private/2"]


@pytest.mark.parametrize("delay", [0.0, 10.0])
def test_a_forbidden_page_that_is_met_later_is_never_handed_out(
    make_brain: MakeBrain, clock: HandClock, delay: float
) -> None:
    brain = make_brain(delay_seconds=delay)
    brain.seed(["http://a.org/"])
    brain.set_robots("a.org", FORBIDDING)
    (claim,) = brain.next_urls(9)
    brain.report([fetched(claim, ("http://a.org/private/new", "http://a.org/open"))])
    clock.pass_(10.0)
    (claim,) = brain.next_urls(9)
    assert claim.url == "http://a.org/open"
    brain.report([fetched(claim)])
    clock.pass_(10.0)
    assert brain.next_urls(9).finished
    assert brain.page("http://a.org/private/new").outside_because == "robots"
    brain.seed(["http://a.org/private/new"])
    brain.change(max_depth=7)  # a scope that would let it in
    assert brain.next_urls(9).finished


def test_a_robots_txt_whose_pass_was_killed_is_obeyed_and_finished(told: Brain, ask: Ask) -> None:
    def only_the_text(text: str | None) -> None:
        told.graph.write(
            lambda tx: admin.set_robots(tx, "a.org", text, None, told.policy.manners, told.now()), "set_robots"
        )

    only_the_text(FORBIDDING)
    assert sorted(claim.url for claim in told.next_urls(9)) == ["http://a.org/", "http://b.org/private/3"]
    only_the_text(None)
    told.tend(0)
    assert reasons(ask) == {}
    assert ask("MATCH (h:Host) WHERE h.robots_news IS NOT NULL RETURN count(h)") == [[0]]
    assert len(told.next_urls(9)) == 2


def test_a_robots_txt_that_forbids_nothing_leaves_no_pages_to_be_judged(told: Brain, ask: Ask) -> None:
    """Neither before nor after it was a page forbidden. Where one was, all are judged anew."""
    news = "MATCH (h:Host) WHERE h.robots_news IS NOT NULL RETURN count(h)"

    def only_the_text(text: str) -> None:
        told.graph.write(
            lambda tx: admin.set_robots(tx, "a.org", text, None, told.policy.manners, told.now()), "set_robots"
        )

    only_the_text("User-agent: *\nAllow: /\nDisallow:\nSitemap: /sitemap.xml")
    assert ask(news) == [[0]]
    only_the_text(FORBIDDING)
    assert ask(news) == [[1]]
    told.tend(0)
    only_the_text("User-agent: *")
    assert ask(news) == [[1]]


def test_whose_rules_hold(make_brain: MakeBrain) -> None:
    brain = make_brain(user_agent="goodbot")
    brain.seed(PAGES)
    text = "User-agent: goodbot\nCrawl-delay: 2\nDisallow:\n\nUser-agent: *\nDisallow: /\nCrawl-delay: 9\n"
    assert brain.set_robots("a.org", text).taken_out == 0
    brain.change(user_agent="otherbot")
    assert brain.page(PAGES[0]).outside_because == "robots"
    assert brain.host("a.org").delay == 9.0
    brain.set_robots("a.org", text, agent="goodbot")
    assert (brain.page(PAGES[0]).outside_because, brain.host("a.org").delay) == (None, 2.0)
    brain.change(user_agent="thirdbot")
    assert brain.page(PAGES[0]).outside_because is None


def test_scope_and_robots_each_keep_a_page_out(told: Brain, ask: Ask) -> None:
    told.set_robots("a.org", FORBIDDING)
    told.change(deny_urls="/private/2")
    assert reasons(ask) == {
        "http://a.org/private/1": "robots", "http://a.org/private/2": "scope",
    }  # fmt: skip
    told.change(deny_urls="")
    assert set(reasons(ask).values()) == {"robots"}
    told.set_robots("a.org", None)
    assert reasons(ask) == {}


def test_a_page_that_is_held_while_it_is_forbidden_does_not_come_again(told: Brain) -> None:
    held = [claim for claim in told.next_urls(9) if "private" in claim.url and claim.host == "a.org"]
    told.set_robots("a.org", FORBIDDING)
    told.give_back(held[:1])
    assert told.report([fetched(held[1])])[0].accepted
    assert told.page(held[0].url).outside_because == "robots"
    assert told.page(held[1].url).outside_because is None, "it was fetched"
    assert not [claim for claim in told.next_urls(9) if "private" in claim.url]


def test_a_long_robots_txt_is_cut_at_a_line(told: Brain) -> None:
    told.set_robots("a.org", FORBIDDING + "# and so on\n" * 100_000 + "Disallow: /\n")
    kept = told.robots("a.org")
    assert kept is not None
    assert 511_000 < len(kept) <= 512_000
    assert kept.endswith("# and so on")
    assert told.page("http://a.org/").state == "frontier"


@pytest.mark.parametrize("text", [b"\x89PNG\0\0", 7, "User-agent: *\0", ["a"]])
def test_what_is_no_robots_txt_is_refused(told: Brain, text: object) -> None:
    with pytest.raises(BadInput):
        told.set_robots("a.org", text)  # type: ignore[arg-type]
    assert told.robots("a.org") is None


@pytest.mark.parametrize(
    "text", [b"Disallow: /\xff\xfe", "\ufeffuser-agent:*\nDISALLOW:/private", "<html>", "", "\udfff:"]
)
def test_whatever_text_a_host_answers_can_be_set(told: Brain, text: str | bytes) -> None:
    told.set_robots("a.org", text)
    assert told.robots("a.org") is not None


def test_a_robots_txt_may_come_before_the_first_page(brain: Brain, ask: Ask) -> None:
    assert brain.set_robots("https://New.org", None).taken_out == 0
    assert ask("MATCH (h:Host) RETURN count(h)") == [[0]]
    brain.set_robots("New.org.", FORBIDDING + "Crawl-delay: 7")
    assert (brain.host("new.org").delay, brain.host("new.org").discovered) == (7.0, START)
    brain.seed(["http://new.org/private/1", "https://new.org/private/2", "http://new.org/"])
    assert [claim.url for claim in brain.next_urls(9)] == ["http://new.org/"]


TEXTS = {
    "": None,
    "1": "User-agent: *\nDisallow: /1\nCrawl-delay: 1",
    "2": "User-agent: *\nDisallow: /2\nCrawl-delay: 2",
}


def test_each_scheme_and_port_has_its_own_robots_txt(make_brain: MakeBrain) -> None:
    """Whatever is set, in any order: each page is judged by the text that holds for it; the longer delay counts."""
    places = ["http://a.org", "https://a.org", "http://a.org:81", "https://a.org:81"]
    names = [*places, "a.org", "a.org:81", "A.org:443", "https://a.org:443/", "//a.org"]
    for seed in range(3):
        chance = random.Random(seed)
        brain = make_brain()
        brain.seed([f"{place}/{n}" for place in places for n in (1, 2)])
        held: dict[str, str | None] = dict.fromkeys(places)  # what holds for an origin
        both = {"a.org": "", "a.org:81": ""}
        own = set[str]()  # those for which a text of their own holds, or that there is none
        for _ in range(6):
            name, (number, text) = chance.choice(names), chance.choice([*TEXTS.items()])
            brain.set_robots(name, text)
            plain = name.lower().replace(":443", "").rstrip("/").removeprefix("//")
            if "://" in plain:
                held[plain] = number or None
                own = own | {plain} if number or both[plain.partition("://")[2]] else own - {plain}
            else:
                both[plain] = number
                for place in (f"http://{plain}", f"https://{plain}"):
                    own -= set() if number else {place}
                    held[place] = held[place] if place in own else number or None
            for place in places:
                because = [brain.page(f"{place}/{n}").outside_because for n in "12"]
                assert because == ["robots" if held[place] == n else None for n in "12"], (seed, name, place)
                shown = brain.robots(place)
                assert shown == TEXTS[held[place] or ""], (seed, name, place)
            for host in ("a.org", "a.org:81"):
                asked = {held[place] for place in places if place.endswith(f"//{host}")}
                assert brain.host(host).delay == max(float(n or 0) for n in asked)
        free = {f"{place}/{n}" for place in places for n in "12" if held[place] != n}
        assert {claim.url for claim in brain.next_urls(99)} <= free
        brain.clear()


def test_texts_of_before_count_for_both_schemes(told: Brain, ask: Ask) -> None:
    told.seed(["https://a.org/private/1"])
    told.set_robots("a.org", FORBIDDING)
    ask("MATCH (h:Host) REMOVE h.robots_origins, h.robots_http_at, h.robots_https_at RETURN count(h)")
    assert told.page("https://a.org/private/1").outside_because == "robots"
    told.set_robots("https://a.org", None)
    assert told.page("https://a.org/private/1").outside_because is None
    assert told.page("http://a.org/private/1").outside_because == "robots"
    found = told.host("a.org").as_dict()
    assert (found["robots_at"], found["robots_http_at"], found["robots_https_at"]) == (START, None, START)
    assert (told.robots("a.org"), told.robots("http://a.org"), told.robots("https://a.org")) == (FORBIDDING,) * 2 + (
        None,
    )


def test_whose_rules_of_an_origins_text_hold(make_brain: MakeBrain) -> None:
    brain = make_brain(user_agent="GoodBot/1.0 (+http://good.org)")
    brain.seed(PAGES)
    text = "User-agent: goodbot\nCrawl-delay: 2\nDisallow:\n\nUser-agent: *\nDisallow: /\nCrawl-delay: 9\n"
    assert brain.set_robots("http://a.org", text).taken_out == 0
    assert brain.host("a.org").delay == 2.0
    brain.change(user_agent="bot")
    assert (brain.page(PAGES[0]).outside_because, brain.host("a.org").delay) == ("robots", 9.0)
    brain.set_robots("http://a.org", text, agent="goodbot/2")
    assert (brain.page(PAGES[0]).outside_because, brain.host("a.org").delay) == (None, 2.0)
    brain.change(user_agent="third bot")
    assert brain.page(PAGES[0]).outside_because is None


# ---------------------------------------------------------------- verbs

SPELT = {
    "xn--bcher-kva.example": [
        "bücher.example",
        "BÜCHER.example.",
        "http://bücher.example/",
        "xn--BCHER-kva.example:80",
    ],
    "a.example:8080": ["A.example:8080", "http://a.example.:8080", "https://a.example:08080/"],
    "a.example:443": ["a.example:443", "http://a.example:443/"],
    "b.example": ["b.example:443", "b.example:80", "https://b.example:443", "//b.example/", "b%2Eexample"],
    "[2001:db8::1]": ["2001:DB8:0::1", "[2001:db8::0001]", "http://[2001:db8::1]:80/"],
}


def test_every_verb_knows_a_host_by_every_spelling(brain: Brain, ask: Ask) -> None:
    brain.seed([f"http://{name}/{n}" for name in SPELT for n in range(2)])
    assert {host.name for host in brain.hosts()} == set(SPELT)
    for name, spellings in SPELT.items():
        assert [brain.host(written).name for written in (name, *spellings)] == [name] * (1 + len(spellings))
        assert all(name in [host.name for host in brain.hosts(written)] for written in spellings)
        first = spellings[0]
        brain.set_host(first, delay=3.0)
        brain.block(first, 60.0)
        assert (brain.host(name).own_delay, brain.host(name).blocked_until) == (3.0, START + 60.0)
        brain.unblock(first)
        assert brain.host(name).blocked_until is None
        assert brain.set_robots(first, "User-agent: *\nDisallow: /").taken_out == 2
        assert brain.robots(first) is not None
        assert brain.set_robots(first, None).let_in == 2
        assert {page.host for page in brain.find(host=first)} == {name}
        assert len(list(brain.dump_pages(host=first))) == 2
        assert list(brain.dump_links(host=first)) == []
        assert brain.retry(host=first) == 0
    assert ask("MATCH (h:Host) RETURN count(h)") == [[len(SPELT)]]


@pytest.mark.parametrize(
    "name", ["", "a.example/x", "http://", "a b", "*.a.example/", "ftp://a.example", "a:b", "/", 7]
)
def test_what_names_no_host_is_refused_by_every_verb(brain: Brain, name: object) -> None:
    calls: list[Callable[[Any], object]] = [
        brain.host, brain.block, brain.unblock, brain.robots, lambda host: brain.set_robots(host, None),
        lambda host: brain.set_host(host, delay=1.0), lambda host: brain.find(host=host),
        lambda host: brain.retry(host=host), lambda host: brain.dump_pages(host=host),
    ]  # fmt: skip
    if name not in ("*.a.example/", "a:b"):  # these are parts of names
        calls.append(lambda text: list(brain.hosts(text)))
    for call in calls:
        with pytest.raises(BadInput) as refused:
            call(name)
        assert str(refused.value).endswith(".")


def test_a_part_of_a_name_finds_hosts(brain: Brain) -> None:
    names = ["a.org", "www.a.org", "a.org:81", "ba.org", "xn--bcher-kva.org", "a.com"]
    brain.seed([f"http://{name}/" for name in names])
    for part, found in {
        ".a.org": ["a.org", "a.org:81", "www.a.org"],
        "*.a.org": ["a.org", "a.org:81", "www.a.org"],
        "A.ORG.": ["a.org", "ba.org", "www.a.org", "xn--bcher-kva.org"],
        "Bücher": ["xn--bcher-kva.org"],
        "bücher.org.": ["xn--bcher-kva.org"],
        "org:81": ["a.org:81"],
        "http://a.com/": ["a.com"],
    }.items():
        assert [host.name for host in brain.hosts(part)] == found, part


def test_a_block_for_ever_ends_the_crawl_until_it_is_lifted(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed(PAGES)
    brain.block("a.org")
    assert brain.next_urls(9).finished
    clock.pass_(1e9)
    answer = brain.next_urls(9)
    assert (len(answer), answer.finished, answer.next_ready) == (0, True, None)
    brain.unblock("a.org")
    assert names(brain.next_urls(9)) == ["a.org"]


def test_the_list_of_hosts(make_brain: MakeBrain) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed([*PAGES, B, "http://c.org/"])
    brain.block("b.org", 60.0)
    held = {claim.host: claim for claim in brain.next_urls(9)}
    brain.report([Failed("http://c.org/", held["c.org"], 429)])

    def listed(*args: str, **which: bool) -> list[str]:
        return [host.name for host in brain.hosts(*args, **which)]

    assert listed() == ["a.org", "b.org", "c.org"]
    assert listed(blocked=True) == ["b.org", "c.org"]
    assert listed(blocked=False) == ["a.org"]
    assert listed(slowed=True) == ["c.org"]
    assert listed(queued=True) == ["a.org", "b.org"]
    assert listed("B.") == ["b.org"]
    assert [host.name for host in brain.hosts(limit=2)] == ["a.org", "b.org"]
    found = brain.host("A.org")
    assert (found.in_flight, found.queued, found.next_at) == (1, True, START + 1.0)
    assert brain.host("c.org").blocked_until == START + 60.0


def test_hosts_are_listed_with_how_many_pages_they_have(make_brain: MakeBrain) -> None:
    brain = make_brain(deny_hosts="b.org")
    brain.seed([*PAGES, B, "http://b.org:8080/", "http://sub.b.org/"])

    def counted(**which: Any) -> dict[str, tuple[int | None, bool, bool]]:
        return {host.name: (host.pages, host.more_pages, host.in_scope) for host in brain.hosts(**which)}

    outside = dict.fromkeys(("b.org", "b.org:8080", "sub.b.org"), (1, False, False))
    assert counted() == {"a.org": (6, False, True), **outside}
    assert counted(outside=False) == {"a.org": (6, False, True)}
    assert counted(outside=True) == outside
    assert counted(outside=True, limit=2) == dict(list(outside.items())[:2])
    assert counted(outside=False, count=5) == {"a.org": (5, True, True)}
    assert counted(outside=False, count=6) == {"a.org": (6, False, True)}
    assert counted(outside=False, count=0) == {"a.org": (0, True, True)}
    found = brain.host("a.org")
    assert (found.pages, found.more_pages, found.in_scope) == (6, False, True)
    assert not brain.host("b.org").in_scope
    for wrong in (-1, 1.5, None, True):
        with pytest.raises(BadInput, match="whole number"):
            brain.hosts(count=wrong)  # type: ignore[arg-type]


def test_a_limit_of_hosts_holds_over_batches(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "LOOK_BATCH", 2)
    brain.seed(f"http://h{n}.org/" for n in range(7))
    every = [f"h{n}.org" for n in range(7)]
    for limit in (0, 1, 2, 3, 6, 7, 8, None):
        assert [host.name for host in brain.hosts(limit=limit)] == every[:limit]
    brain.change(deny_hosts="h0.org h1.org h2.org h5.org")
    assert [host.name for host in brain.hosts(outside=False)] == ["h3.org", "h4.org", "h6.org"]
    assert [host.name for host in brain.hosts(outside=False, limit=2)] == ["h3.org", "h4.org"]


def test_setting_one_thing_leaves_the_others(brain: Brain) -> None:
    brain.seed(PAGES)
    brain.set_host("a.org", delay=3.0, in_flight=2)
    brain.set_host("a.org", budget=5)
    found = brain.host("a.org")
    assert (found.own_delay, found.own_in_flight, found.own_budget) == (3.0, 2, 5)
    brain.set_host("a.org", delay=None, in_flight=None, budget=None)
    found = brain.host("a.org")
    assert (found.own_delay, found.own_in_flight, found.own_budget) == (None, None, None)
    assert (found.delay, found.most_in_flight, found.budget) == (0.0, 0, 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda brain: brain.host("nowhere.org"),
        lambda brain: brain.block("no where"),
        lambda brain: brain.unblock("nowhere.org"),
        lambda brain: brain.set_robots("a.org/page", ""),
        lambda brain: brain.robots("nowhere.org"),
        lambda brain: brain.set_robots("a.org", "", agent=" "),
        lambda brain: brain.block("a.org", -1.0),
        lambda brain: brain.block("a.org", float("nan")),
        lambda brain: brain.block(7),
        lambda brain: brain.hosts(limit=-1),
        lambda brain: brain.set_host("a.org", delay="fast"),
        lambda brain: brain.set_host(None, delay=1.0),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(brain: Brain, call: Callable[[Brain], object]) -> None:
    brain.seed(PAGES)
    with pytest.raises(BadInput):
        call(brain)


@pytest.mark.parametrize(
    ("wrong", "good"),
    [({"address": "nowhere"}, {"address": " 2001:DB8::1 "}), ({"address": 7}, {}), ({"seconds": -1.0}, {"seconds": 0})],
)
def test_wrong_facts_are_refused_by_item(
    make_brain: MakeBrain, wrong: dict[str, object], good: dict[str, object]
) -> None:
    brain = make_brain(address_delay_seconds=1.0)
    answers = brain.report([Fetched(B, **wrong), Failed(PAGES[0], **wrong), Fetched(PAGES[1], **good)])
    assert [answer.accepted for answer in answers] == [False, False, True]
    assert brain.host("a.org").address == ("2001:db8::1" if "address" in good else None)


# ---------------------------------------------------------------- all of it at once


def test_a_huge_blocked_host_hides_nobody(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=1.0)
    brain.seed([f"http://huge.org/{n}" for n in range(1_000)])
    brain.block("huge.org", 3_600.0)
    clock.pass_(1.0)
    small = [f"http://small{n}.org/{m}" for n in range(100) for m in range(2)]
    brain.seed(small)
    got: list[str] = []
    calls = 0
    while len(got) < len(small):
        got += [claim.url for claim in brain.next_urls(50)]
        clock.pass_(0.2)
        calls += 1
        assert calls <= 1_000 // (4 * 50) + 20
    assert sorted(got) == sorted(small)


def test_random_churn_keeps_the_counts(make_brain: MakeBrain, clock: HandClock) -> None:
    """Whatever happens to claims under budgets, addresses and robots, the audit finds nothing."""
    chance = random.Random(5)
    brain = make_brain(delay_seconds=0.5, in_flight=3, pages_per_host=6, address_in_flight=4, address_delay_seconds=0.2)
    urls = [f"http://h{n % 6}.org/{'private/' if n % 5 == 0 else ''}{n}" for n in range(120)]
    brain.seed(urls[:60])
    held: list[Claim] = []
    for step in range(30):
        held += brain.next_urls(chance.randint(1, 8))
        chance.shuffle(held)
        share = chance.randint(0, 6)
        some, held = held[:share], held[share:]
        told = {"address": f"192.0.2.{chance.randint(1, 3)}", "seconds": chance.random()}
        match step % 8:
            case 0:
                brain.give_back(some)
            case 1:
                brain.report(
                    [Failed(claim.url, claim, chance.choice([404, 429, 500]), retry_after=1.0) for claim in some]
                )
            case 2:
                brain.set_host(f"h{chance.randint(0, 5)}.org", budget=chance.choice([None, 0, 3, 30]))
            case 3:
                brain.set_robots(f"h{chance.randint(0, 5)}.org", chance.choice([None, FORBIDDING]))
            case 4:
                brain.forget(chance.choice(urls))
            case 5:
                brain.report([Fetched(chance.choice(urls), **told)])  # type: ignore[arg-type]
            case _:
                links = tuple(chance.sample(urls, 3))
                brain.report([fetched(claim, links, **told) for claim in some])
        clock.pass_(chance.choice([0.1, 1.0, 120.0]))
        if step % 13 == 12:
            brain.change(pages_per_host=chance.choice([4, 0, 9]))
            assert brain.audit(None).ok, brain.audit(None).findings
        if step % 4 == 0:
            brain.tend(0)


def test_no_host_and_no_address_is_asked_early(neo4j: Neo4j) -> None:
    """Four threads with brains of their own on a real clock, until each host was asked some times."""
    hosts = [f"h{n}.org" for n in range(6)]
    address = {host: f"192.0.2.{n // 3}" for n, host in enumerate(hosts)}
    granted: dict[str, list[float]] = defaultdict(list)
    slowed: list[float] = []
    lock = threading.Lock()

    def note(claims: Sequence[Claim]) -> list[Claim]:
        """When the claims were granted; the first one of h5.org, which will complain."""
        with lock:
            for claim in claims:
                for name in (claim.host, address[claim.host]):
                    granted[name].append(claim.until - 60.0)
            complaining = [claim for claim in claims if claim.host == "h5.org" and not slowed][:1]
            slowed.extend(claim.until - 60.0 for claim in complaining)
            return complaining

    def enough() -> bool:
        with lock:
            return min(len(granted[host]) for host in hosts) >= 5

    def crawl(until: float) -> None:
        with neo4j.open(crawl="test", auto_tend=False) as brain:
            while brain.now() < until and not enough():
                before = brain.now()
                held = brain.next_urls(3)
                assert all(before - 0.05 <= claim.until - 60.0 <= brain.now() + 0.05 for claim in held)
                failed = note(held)
                items = [fetched(claim, address=address[claim.host]) for claim in held if claim not in failed]
                brain.report([*items, *(Failed(claim.url, claim, 503, retry_after=0.2) for claim in failed)])

    settings = {"delay_seconds": 0.15, "address_delay_seconds": 0.1, "lease_seconds": 60.0}
    with emptied(neo4j, **settings) as first:
        first.seed([f"http://{host}/{n}" for host in hosts for n in range(40)])
        first.report([Fetched(f"http://{host}/", address=address[host]) for host in hosts])
        first.set_host("h1.org", delay=0.4)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(crawl, [first.now() + 40.0] * 4))
    assert enough()
    least = {**dict.fromkeys(hosts, 0.15), "h1.org": 0.4, **dict.fromkeys(address.values(), 0.1)}
    assert {name for name, times in granted.items() if min(gaps(times)) < least[name] - 0.005} == set()
    after = sorted(at for at in granted["h5.org"] if at >= slowed[0])
    assert min(gaps(after)) >= 0.15 / 0.58 - 0.005, "the pace has recovered to .58 at most"
