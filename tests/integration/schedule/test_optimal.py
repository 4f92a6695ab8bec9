"""The order `optimal`: new pages and copies in one currency, learning, wishes; claims under it, and changes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.base.errors import BadInput, SettingsError, UnknownPage
from graphbrain.schedule import change_rate, lanes
from tests.integration.conftest import START, HandClock, sound
from tests.verbs import top_of

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[Any]]]
DAY = 86_400.0
A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"


def fetch(brain: Brain, *bodies: tuple[str, str]) -> None:
    """Visit pages without claims."""
    brain.report([Fetched(url, body=body.encode()) for url, body in bodies])


def urls(brain: Brain, n: int = 100) -> list[str]:
    return [claim.url for claim in brain.next_urls(n)]


# ---------------------------------------------------------------- coming back


def test_a_fetched_page_comes_back_after_the_least_time_and_not_before(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    brain.report([Fetched(A, (), claim, body=b"x")])
    clock.pass_(DAY - 1.0)
    nothing = brain.next_urls(1)
    assert (len(nothing), nothing.finished, nothing.next_ready) == (0, True, pytest.approx(START + DAY))
    clock.pass_(1.0)
    assert urls(brain) == [A]


def test_a_page_that_is_given_back_or_lapses_waits_again(brain: Brain, clock: HandClock) -> None:
    fetch(brain, (A, "x"))
    clock.pass_(2 * DAY)
    assert brain.give_back(brain.next_urls(1)) == [True]
    assert urls(brain) == [A]
    clock.pass_(1_000.0)
    brain.tend(0)
    assert urls(brain) == [A]


def test_the_oldest_of_equal_pages_comes_first(brain: Brain, clock: HandClock) -> None:
    for url in (C, A, B):
        fetch(brain, (url, "x"))
        clock.pass_(60.0)
    clock.pass_(2 * DAY)
    assert urls(brain) == [C, A, B]


def test_what_changes_often_comes_back_before_what_never_does(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(oldest_reserve=0.0)
    for day in range(12):
        fetch(brain, (A, "always the same"), (B, f"news of {day}"))
        clock.pass_(DAY)
    assert brain.page(B).rate > 0.5 > 0.1 > brain.page(A).rate  # type: ignore[operator]
    assert urls(brain) == [B, A]


def test_a_valuable_new_page_comes_before_a_copy_and_a_poor_one_after_it(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(frontier_reserve=0.0, oldest_reserve=0.0, value="authority")
    for _ in range(3):
        fetch(brain, (A, str(clock())))
        clock.pass_(2 * DAY)
    brain.seed([B, C])
    brain.set_page(B, relevance=0.9)
    brain.set_page(C, relevance=0.001)
    assert urls(brain) == [B, A, C]


def test_more_depth_of_discovery_puts_new_pages_first(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(frontier_reserve=0.0, oldest_reserve=0.0, discovery_days=0.01)
    fetch(brain, (A, "x"))
    brain.seed([B])
    clock.pass_(20 * DAY)
    assert urls(brain, 1) == [A]
    brain.give_back(brain.next_urls(2))
    brain.change(discovery_days=100.0)
    assert urls(brain, 1) == [B]


def test_the_frontier_and_the_oldest_have_their_reserves(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(frontier_reserve=0.25, oldest_reserve=0.25, discovery_days=0.0)
    fetch(brain, *((f"http://old.org/{n}", "x") for n in range(20)))
    brain.set_page("http://old.org/7", relevance=0.001)
    clock.pass_(10 * DAY)
    fetch(brain, ("http://old.org/7", "x"))
    clock.pass_(10 * DAY)
    brain.seed([f"http://new.org/{n}" for n in range(20)])
    got = urls(brain, 8)
    assert sum("new" in url for url in got) == 2


def test_the_aim_of_the_seeds_prefers_pages_that_will_have_changed(make_brain: MakeBrain, clock: HandClock) -> None:
    """A changes many times a day, and its copy is stale at once: worth no visit for freshness, but for change it is."""
    brain = make_brain(oldest_reserve=0.0)
    fetch(brain, (A, "x"), (B, "x"))
    brain.set_page(A, rate=50.0)
    brain.set_page(B, rate=0.3)
    clock.pass_(2 * DAY)
    assert urls(brain, 1) == [B]
    brain.give_back(brain.next_urls(2))
    clock.pass_(400.0)
    brain.tend(0)
    brain.change(freshness_value=0.0, change_value=1.0)
    assert urls(brain, 1) == [A]


def test_no_page_with_value_starves(make_brain: MakeBrain, clock: HandClock) -> None:
    """Ten pages that change at every look, and one that never did: it is visited all the same."""
    brain = make_brain(revisit_seconds=3_600.0)
    fetch(brain, (A, "x"), *((f"http://b.org/{n}", "x") for n in range(10)))
    for hour in range(60):
        clock.pass_(6 * 3_600.0)
        visits = [(claim, b"x" if claim.url == A else str(hour).encode()) for claim in brain.next_urls(5)]
        brain.report([Fetched(claim.url, (), claim, body=body) for claim, body in visits])
    assert brain.page(A).visits > 2


# ---------------------------------------------------------------- learning


def test_the_belief_is_that_of_the_formulas(brain: Brain, clock: HandClock) -> None:
    fetch(brain, (A, "1"))
    shape, scale = np.array([change_rate.PRIOR.shape]), np.array([change_rate.PRIOR.scale])
    for days, body in ((2.0, "1"), (5.0, "2"), (1.0, "2"), (3.0, "3")):
        changed = np.array([body != brain_body(brain)])
        clock.pass_(days * DAY)
        fetch(brain, (A, body))
        shape, scale = change_rate.after_visit(shape, scale, np.array([days]), changed)
    page = brain.page(A)
    assert (page.rate_shape, page.rate_scale) == (pytest.approx(shape[0]), pytest.approx(scale[0]))
    assert page.rate == pytest.approx(shape[0] / scale[0])
    assert page.lane == int(lanes.revisit_lane(page.authority_score, shape[0], scale[0]))


_LAST: dict[int, str] = {}


def brain_body(brain: Brain) -> str:
    """The body whose hash the page carries: one of the short ones that are used here."""
    from hashlib import blake2b

    stored = brain.page(A).body_hash
    candidates = {blake2b(text.encode(), digest_size=len(stored or "") // 2).hexdigest(): text for text in "123"}
    return candidates.get(stored or "", "1")


def test_a_visit_that_compares_nothing_teaches_nothing(brain: Brain, clock: HandClock) -> None:
    brain.report([Fetched(A)])
    clock.pass_(DAY)
    brain.report([Fetched(A)])
    assert brain.page(A).rate is None
    clock.pass_(DAY)
    brain.report([Fetched(A, not_modified=True)])
    assert brain.page(A).rate is not None


def test_a_failure_teaches_nothing_and_the_page_waits_for_its_retry(brain: Brain, clock: HandClock) -> None:
    fetch(brain, (A, "x"))
    clock.pass_(DAY)
    (claim,) = brain.next_urls(1)
    brain.report([Failed(A, claim, error="time-out")])
    page = brain.page(A)
    assert (page.state, page.queue, page.rate, page.fetched) == ("known", None, None, START)
    assert page.not_before is not None and page.not_before > clock()
    clock.pass_(2 * 3_600.0)
    brain.tend(0)
    assert urls(brain) == [A]


def test_a_users_own_estimator_is_asked(neo4j: object, make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    seen = []

    def mine(shape: np.ndarray, _scale: np.ndarray, days: np.ndarray, changed: np.ndarray) -> tuple[object, object]:
        seen.append((days.tolist(), changed.tolist()))
        return np.full(len(shape), 2.0), np.full(len(shape), np.nan if changed[0] else 4.0)

    with neo4j.open(crawl="test", auto_tend=False, clock=clock, estimator=mine) as other:  # type: ignore[attr-defined]
        fetch(other, (A, "x"))
        clock.pass_(3 * DAY)
        fetch(other, (A, "x"))
        assert brain.page(A).rate == 0.5
        clock.pass_(DAY)
        fetch(other, (A, "y"))  # what is no belief leaves what was known
    assert (brain.page(A).rate_shape, brain.page(A).rate_scale) == (2.0, 4.0)
    assert seen == [([3.0], [False]), ([1.0], [True])]


def test_priors_are_learned_from_first_visits_again_and_pages_change_lanes(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    """300 pages, each visited twice a day apart, nearly all of them changed; one host's never do."""
    brain = make_brain()
    busy = [f"http://busy.org/{n}" for n in range(220)]
    still = [f"http://still.org/{n}" for n in range(80)]
    once = ["http://busy.org/new", "http://still.org/new", "http://elsewhere.org/new"]
    fetch(brain, *((url, "1") for url in (*busy, *still, *once)))
    before = brain.page(once[0]).lane
    clock.pass_(DAY)
    fetch(brain, *((url, "2") for url in busy), *((url, "1") for url in still))
    brain.tend(0)
    schedule = brain.policy.schedule
    assert schedule.prior.rate > 5 * change_rate.PRIOR.rate
    assert schedule.priors["still.org"].rate < 0.2 < schedule.priors["busy.org"].rate
    assert brain.page(once[0]).lane != before
    rates = {url: float(lanes.read_lanes([brain.page(url).lane]).scale[0]) for url in once}
    assert rates[once[1]] > 5 * rates[once[0]]
    seen = brain.session.stored["prior_seen"]
    assert seen == 300
    brain.tend(0)
    assert brain.session.stored["prior_seen"] == seen


# ---------------------------------------------------------------- what pages are worth


@pytest.mark.usefixtures("answers_lost")
def test_own_values_order_the_frontier(make_brain: MakeBrain) -> None:
    brain = make_brain(value="own", value_by_relevance=False)
    brain.seed([A, B, C])
    brain.set_page(A, value=0.25)
    brain.set_page(C, value=8.0)
    assert brain.page(C).value == 8.0
    assert urls(brain) == [C, B, A]


@pytest.mark.parametrize("order", ["optimal", "best_first"])
def test_the_value_may_be_a_batch_score(make_brain: MakeBrain, order: str) -> None:
    brain = make_brain(order=order, value="pagerank", max_payees=1)
    brain.seed([A, B, C])
    brain.report([Fetched(f"http://d{n}.org/", [C, B] if n else [C]) for n in range(3)])
    brain.rank("pagerank")
    brain.tend(0)
    assert urls(brain) == [C, B, A]


def test_hubs_can_be_what_counts(make_brain: MakeBrain) -> None:
    brain = make_brain(value="hub")
    brain.seed([A, B])
    brain.link(B, C)
    brain.link(B, "http://d.org/")
    brain.link("http://e.org/", C)
    brain.link("http://e.org/", "http://d.org/")
    brain.tend(None)
    assert urls(brain, 1)[0] in (B, "http://e.org/")


def test_a_page_moves_lanes_only_when_its_class_changes(brain: Brain, clock: HandClock) -> None:
    fetch(brain, (A, "x"))
    lane = brain.page(A).lane
    brain.link(B, A)
    brain.tend(None)
    assert brain.page(A).authority_score > 1.0
    clock.pass_(1.0)
    brain.report([Fetched(f"http://fan.org/{n}", [A]) for n in range(60)])
    brain.tend(None)
    assert brain.page(A).lane != lane
    assert lanes.read_lanes([brain.page(A).lane]).scale == lanes.read_lanes([lane]).scale


# ---------------------------------------------------------------- wishes


def test_crawl_now_comes_before_all_under_every_order(make_brain: MakeBrain, clock: HandClock) -> None:
    for order in ("optimal", "best_first", "breadth_first"):
        brain = make_brain(order=order)
        brain.report([Fetched(A, [Link(f"http://a.org/{n}", 0.9) for n in range(5)], body=b"x")])
        clock.pass_(1.0)
        assert brain.crawl_now([A, "http://new.org/", "no url"]) == [True, True, False]
        assert set(urls(brain, 2)) == {A, "http://new.org/"}
        clock.pass_(301.0)
        brain.tend(0)
        (first, second) = brain.next_urls(2)
        assert {first.url, second.url} == {A, "http://new.org/"}
        claim = first if first.url == A else second
        brain.report([Fetched(A, (), claim, body=b"y")])
        assert A not in urls(brain)


def test_crawl_now_brings_back_what_was_given_up(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_errors=1, park_after_seconds=0.0)
    brain.seed([A, B])
    for claim in brain.next_urls(2):
        brain.report([Failed(claim.url, claim, 404 if claim.url == A else 500)])
    assert (brain.page(A).state, brain.page(B).state) == ("gone", "parked")
    assert brain.crawl_now([A, B]) == [True, True]
    assert sorted(urls(brain)) == [A, B]
    assert brain.page(A).errors == 0
    clock.pass_(1.0)


def test_crawl_now_does_not_take_a_held_page_away_nor_one_from_outside(make_brain: MakeBrain) -> None:
    brain = make_brain(deny_hosts="b.org")
    brain.seed([A])
    (claim,) = brain.next_urls(1)
    assert brain.crawl_now([A, B]) == [True, False]
    assert urls(brain) == []
    assert brain.report([Fetched(A, (), claim)])[0].accepted


@pytest.mark.parametrize("order", ["optimal", "best_first"])
def test_a_fixed_interval_holds_under_every_order(make_brain: MakeBrain, clock: HandClock, order: str) -> None:
    brain = make_brain(order=order, intervals="/news 600; [0-9] 1800")
    pages = ["http://a.org/news", "http://a.org/2", "http://a.org/own"]
    fetch(brain, *((url, "x") for url in pages))
    brain.set_page(pages[2], interval=200.0)
    seen: dict[str, list[float]] = {url: [] for url in pages}
    for _ in range(40):
        clock.pass_(100.0)
        claims = list(brain.next_urls(9))
        for claim in claims:
            seen[claim.url].append(clock() - START)
        brain.report([Fetched(claim.url, (), claim, body=b"x") for claim in claims])
    assert seen[pages[0]] == [600.0 * n for n in range(1, 7)]
    assert seen[pages[1]] == [1800.0, 3600.0]
    assert seen[pages[2]] == [200.0 * n for n in range(1, 21)]
    page = brain.page(pages[2])
    assert (page.interval, page.comes_back) == (200.0 / DAY, 200.0 / DAY)
    assert page.due == pytest.approx(page.fetched + 200.0)  # type: ignore[operator]
    brain.set_page(pages[2], interval=None)
    brain.change(intervals="")
    clock.pass_(1_800.0)
    assert urls(brain) == []


def test_a_page_says_when_it_comes_back(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(revisit_seconds=3_600.0)
    fetch(brain, (A, "x"), (B, "x"))
    assert brain.page(A).comes_back is None  # nobody has come back to anything yet: there is no pace
    for _ in range(6):
        clock.pass_(5 * DAY)
        for claim in brain.next_urls(2):
            body = str(clock()).encode() if claim.url == B else b"x"
            brain.report([Fetched(claim.url, (), claim, body=body)])
    pace = brain.stats()["pace"]
    assert pace["price"] > 0
    often, seldom = brain.page(B), brain.page(A)
    assert often.comes_back < seldom.comes_back  # type: ignore[operator]
    assert often.due == pytest.approx(often.fetched + often.comes_back * DAY)  # type: ignore[operator]
    brain.set_page(A, value=0.25)
    brain.set_page(B, interval=7.0 * DAY)
    brain.report([Fetched("http://c.org/", [A])])
    brain.rank("pagerank")
    for value in ("authority", "own", "pagerank"):
        brain.change(value=value)
        told = {page.url: page for page in brain.dump_pages()}
        assert {url: page.comes_back for url, page in told.items()}[B] == 7.0
        assert told[A].comes_back is not None
        assert all(page == brain.page(url) for url, page in told.items())
        assert {page.url: page for page in brain.find("org")} == told
        assert {page.url: page for page in top_of(brain, 9)} == told


@pytest.mark.parametrize(
    ("name", "value"),
    [("value", -1.0), ("value", float("nan")), ("rate", 0.0), ("rate", "x"), ("interval", 0.0)],
)
def test_wishes_that_mean_nothing_are_refused(brain: Brain, name: str, value: Any) -> None:
    brain.seed([A])
    with pytest.raises(BadInput, match=name):
        brain.set_page(A, **{name: value})
    with pytest.raises(UnknownPage):
        brain.set_page(B, **{name: 2.0})


@pytest.mark.parametrize("intervals", ["600", "( 600", "/news/ soon", "/news/ 0.5", "(a+)+$ 600"])
def test_intervals_that_cannot_be_read_are_refused(brain: Brain, intervals: str) -> None:
    with pytest.raises(SettingsError):
        brain.change(intervals=intervals)


# ---------------------------------------------------------------- hosts


def test_a_host_rests_while_its_pages_are_unripe_and_hides_nobody(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0, revisit_seconds=3_600.0)
    many = [f"http://many.org/{n}" for n in range(6)]
    brain.seed(many)
    for _ in range(20):
        for claim in brain.next_urls(3):
            brain.report([Fetched(claim.url, (), claim, body=b"x")])
        clock.pass_(10.0)
    nothing = brain.next_urls(3)
    assert (len(nothing), nothing.finished) == (0, True)
    assert nothing.next_ready is not None and START + 3_600.0 <= nothing.next_ready <= clock() + 3_600.0
    brain.crawl_now([many[3]])
    assert urls(brain) == [many[3]]
    clock.pass_(4_000.0)
    brain.tend(0)
    assert len(urls(brain)) == 1


def test_a_resting_host_wakes_for_a_new_page(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0)
    brain.seed(["http://h.org/1", "http://h.org/2"])
    for _ in range(4):
        for claim in brain.next_urls(3):
            brain.report([Fetched(claim.url, (), claim, body=b"x")])
        clock.pass_(10.0)
    assert brain.next_urls(3).finished
    brain.report([Fetched(A, ["http://h.org/3"])])
    assert urls(brain) == ["http://h.org/3"]


def sleep_over(brain: Brain, clock: HandClock, pages: int = 3) -> list[str]:
    """A host with so many pages, each fetched 10 seconds after the one before; it rests until the first is due."""
    many = [f"http://many.org/{n}" for n in range(pages)]
    brain.seed(many)
    for _ in range(3 * pages):
        for claim in brain.next_urls(pages):
            brain.report([Fetched(claim.url, (), claim, body=b"x")])
        clock.pass_(10.0)
    assert urls(brain) == []
    return many


RESTS = "MATCH (h:Host {name: 'many.org'}) RETURN h.resting, h.queued, h.ready_at"


def test_a_visit_does_not_wake_its_host_before_a_page_is_due(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    brain = make_brain(delay_seconds=5.0)
    sleep_over(brain, clock)
    due = ask(RESTS)[0][2]
    assert ask(RESTS) == [[True, None, due]]
    assert due == min(brain.page(f"http://many.org/{n}").fetched for n in range(3)) + DAY
    clock.pass_(due - clock() + 1.0)
    (claim,) = brain.next_urls(3)
    # It was the only one that was due.
    later = sorted(brain.page(f"http://many.org/{n}").fetched + DAY for n in range(3))[1]
    assert ask(RESTS) == [[True, None, later]]
    brain.report([Fetched(claim.url, (), claim, body=b"y")])
    assert ask(RESTS) == [[True, None, later]]


def test_the_audit_tells_of_a_host_that_rests_too_long(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    brain = make_brain(delay_seconds=5.0)
    sleep_over(brain, clock)
    assert brain.audit(None).findings == ()
    ask("MATCH (h:Host {name: 'many.org'}) SET h.ready_at = h.ready_at + 120.0")
    assert brain.audit(None).findings == ("Host many.org rests for longer than until one of its pages may be visited.",)
    clock.pass_(2 * DAY)
    assert brain.audit(1).findings == ()  # it is looked at by now


def test_a_hint_wakes_a_resting_host_when_it_makes_a_page_due(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0)
    many = sleep_over(brain, clock)
    assert [answer.outcome for answer in brain.hint([many[1]])] == ["moved"]
    assert urls(brain) == [many[1]]


def test_a_shorter_time_between_visits_wakes_resting_hosts(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0)
    many = sleep_over(brain, clock)
    clock.pass_(3_600.0)
    assert urls(brain) == []
    brain.change(revisit_seconds=1_800.0)
    assert set(urls(brain)) <= set(many)
    assert brain.next_urls(3).next_ready == pytest.approx(clock() + 10.0)


def test_an_interval_of_its_own_wakes_the_host_in_time(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(delay_seconds=10.0)
    many = sleep_over(brain, clock)
    brain.set_page(many[2], interval=600.0)
    clock.pass_(600.0)
    assert urls(brain) == [many[2]]


def test_a_host_of_which_more_pages_are_due_is_not_reviewed(make_brain: MakeBrain, clock: HandClock) -> None:
    """It is, when the last of them is claimed."""
    brain = make_brain(delay_seconds=10.0)
    brain.seed(f"http://many.org/{n}" for n in range(4))
    reviewed: list[bool] = []
    for _ in range(4):
        statements: list[str] = []
        with brain.graph.trace(lambda name, _rows, _ms, to=statements: to.append(name)):  # type: ignore[misc]
            assert len(brain.next_urls(4)) == 1
        taking = statements[statements.index("claims/take") :]
        reviewed.append("claims/lane_heads" in taking[: taking.index("COMMIT")])
        clock.pass_(10.0)
    assert reviewed == [False, False, False, True]


def test_of_a_host_with_a_queue_the_best_page_comes_each_time_however_many_lanes_it_is_in(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(delay_seconds=5.0, value="own", oldest_reserve=0.0)
    many = [f"http://many.org/{n}" for n in range(40)]
    brain.seed(many)
    for n, url in enumerate(many):
        brain.set_page(url, value=2.0 ** (n * 7 % 40 - 20))
    best = sorted(many, key=lambda url: -brain.page(url).value)
    handed_out = []
    for _ in many[:30]:
        handed_out += urls(brain)
        clock.pass_(5.0)
    assert handed_out == best[:30]
    brain.seed(["http://many.org/late"])
    brain.set_page("http://many.org/late", value=1e6)
    brain.crawl_now([many[0]])
    assert urls(brain) == [many[0]]
    clock.pass_(5.0)
    assert urls(brain) == ["http://many.org/late"]
    clock.pass_(5.0)
    assert urls(brain) == [best[30]]


# ---------------------------------------------------------------- changes of the order


def test_from_best_first_to_optimal_and_back(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first")
    fetch(brain, (A, "x"))
    clock.pass_(DAY)
    fetch(brain, (A, "y"))
    brain.seed([B])
    assert brain.page(A).queue is None
    brain.change(order="optimal")
    assert brain.page(A).queue == "*"
    clock.pass_(2 * DAY)
    assert set(urls(brain)) == {A, B}
    clock.pass_(301.0)
    brain.tend(0)
    brain.change(order="breadth_first")
    assert brain.page(A).queue is None
    assert urls(brain) == [B]


def test_pages_that_leave_the_scope_do_not_come_back_until_they_are_in_again(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain()
    fetch(brain, (A, "x"), (B, "x"))
    brain.change(deny_hosts="a.org")
    clock.pass_(2 * DAY)
    assert (brain.page(A).state, urls(brain)) == ("outside", [B])
    fetch(brain, (A, "y"))
    assert (brain.page(A).state, brain.page(A).queue) == ("outside", None)
    brain.change(deny_hosts="")
    clock.pass_(2 * DAY)
    assert (brain.page(A).state, A in urls(brain)) == ("known", True)


def test_a_killed_change_of_order_is_finished_by_whoever_tends(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = make_brain(order="best_first")
    fetch(brain, *((f"http://a.org/{n}", "x") for n in range(30)))
    monkeypatch.setattr("graphbrain.frontier.corrections.requeue.BATCH", 4)
    stop = iter([False, False])

    class Killed(BaseException):
        pass

    def dies(_done: int, _total: int) -> None:
        if next(stop, True):
            raise Killed

    with pytest.raises(Killed):
        brain.change(dies, order="optimal")
    clock.pass_(2 * DAY)
    second.tend(None)
    assert len(urls(second)) == 30


@pytest.mark.parametrize("change", ["order", "scope"])
def test_a_visit_counts_from_when_it_was_made_whatever_the_page_waited_for(
    make_brain: MakeBrain, clock: HandClock, change: str
) -> None:
    """A page that was found long before it was fetched, and only now waits to be visited again."""
    brain = make_brain(order="best_first" if change == "order" else "optimal")
    brain.seed([A])
    clock.pass_(5 * DAY)
    (claim,) = brain.next_urls(1)
    if change == "scope":
        brain.change(deny_hosts="a.org")
    brain.report([Fetched(A, (), claim, body=b"x")])
    if change == "scope":
        brain.change(deny_hosts="")
    else:
        brain.change(order="optimal")
    brain.tend(None)
    clock.pass_(DAY - 1.0)
    assert not brain.next_urls(1)
    clock.pass_(2.0)
    assert urls(brain) == [A]


# ---------------------------------------------------------------- the crawler's own scores


D = "http://d.org/"


def values(brain: Brain, *urls: str) -> list[float | None]:
    return [brain.page(url).value for url in urls]


def test_a_report_brings_what_its_page_and_its_links_are_worth(make_brain: MakeBrain, clock: HandClock) -> None:
    """On a scale of the crawler's own, as `set_value` takes it: the order goes by it at once."""
    brain = make_brain(value="own", order="best_first")
    brain.report([Fetched(A, [Link(B, value=3), Link(C, value=250.0), D], value=40)])
    assert values(brain, A, B, C, D) == [40.0, 3.0, 250.0, None]
    assert [claim.url for claim in brain.next_urls(2)] == [C, B]
    clock.pass_(1.0)
    brain.report([Fetched("http://e.org/", [Link(D, value=5), Link(B, value=1), Link(A, value=99)])])
    assert values(brain, A, B, D) == [40.0, 3.0, 5.0]
    clock.pass_(1.0)
    brain.report([Fetched(B, value=0.5), Fetched(A)])
    brain.report([Fetched("http://e.org/", [Link(B, value=7)])])
    assert values(brain, A, B) == [40.0, 0.5]
    sound(brain)


def test_a_reported_value_moves_a_page_that_is_visited_again(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(value="own")
    brain.report([Fetched(A, body=b"1", value=1.0), Fetched(B, body=b"2", value=1.0)])
    clock.pass_(10 * DAY)
    brain.report([Fetched(A, body=b"1", value=5_000.0), Fetched(B, body=b"2")])
    assert brain.page(A).lane < brain.page(B).lane
    brain.set_page(B, value=5_000.0)
    assert brain.page(A).lane == brain.page(B).lane
    sound(brain)


def test_a_value_that_is_not_asked_for_is_kept(make_brain: MakeBrain) -> None:
    brain = make_brain(order="best_first")
    brain.report([Fetched(A, [Link(B, value=1000), C], value=1000)])
    assert (values(brain, B), brain.page(B).lane == brain.page(C).lane) == ([1000.0], True)
    brain.change(value="own")
    assert brain.page(B).lane < brain.page(C).lane
    sound(brain)
