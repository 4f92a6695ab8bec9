"""What is read first and locked later: another caller acts in between, and what was read is not acted on.

Every test forces one interleaving: `meanwhile` runs `act` on another brain right before the statement that locks.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from graphbrain.frontier.claims.batches import Holder
from graphbrain.frontier.claims.sampling import Reach
from graphbrain.frontier.claims.sources import ClaimRequest
from graphbrain.frontier.claims.taking import Taken, take
from graphbrain.frontier.corrections import edits
from tests.integration.conftest import HandClock, meanwhile
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
Patch = pytest.MonkeyPatch
Wait = Callable[[Brain, HandClock], None]

HOUR, DAY = 3_600.0, 86_400.0
ORDERS = ("optimal", "best_first", "breadth_first")
PAGES = [f"http://h{n // 2}.org/{n}" for n in range(6)]


def urls(claims: object) -> list[str]:
    return sorted(claim.url for claim in claims)  # type: ignore[attr-defined]


def visit(brain: Brain, n: int = 9) -> list[str]:
    """Claim up to so many pages, and report them as fetched."""
    claims = list(brain.next_urls(n))
    brain.report([Fetched(claim.url, (), claim, body=b"x") for claim in claims])
    return urls(claims)


def by_intervals(brain: Brain, clock: HandClock) -> None:
    """Visited pages that are due by an interval."""
    brain.change(intervals=f"/ {HOUR:.0f}")
    brain.seed(PAGES)
    assert visit(brain) == PAGES
    clock.pass_(HOUR + 1.0)


def by_hand(brain: Brain, clock: HandClock) -> None:
    """Visited pages that are wanted at once, and get an interval meanwhile: they wait again after the visit."""
    brain.seed(PAGES)
    assert visit(brain) == PAGES
    clock.pass_(HOUR)
    brain.crawl_now(PAGES)
    for url in PAGES:
        brain.set_page(url, interval=HOUR)
    clock.pass_(1.0)


def by_worth(brain: Brain, clock: HandClock) -> None:
    """Visited pages that wait in the lanes of the order."""
    brain.seed(PAGES)
    assert visit(brain) == PAGES
    clock.pass_(2 * DAY)


def first_visits(brain: Brain, clock: HandClock) -> None:
    """New pages, which wait again after the visit."""
    brain.change(intervals=f"/ {HOUR:.0f}")
    brain.seed(PAGES)
    clock.pass_(1.0)


WAYS = [
    *((order, wait) for order in ORDERS for wait in (by_intervals, by_hand, first_visits)),
    ("optimal", by_worth),
]
each_way = pytest.mark.parametrize(("order", "wait"), WAYS)


# ---------------------------------------------------------------- claims


@each_way
@pytest.mark.parametrize("delay", [0.0, 5.0])
def test_a_page_that_is_visited_meanwhile_is_not_handed_out_before_it_is_due(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str, wait: Wait, delay: float
) -> None:
    """With a delay, the pages wait in their hosts' own queues, and the hosts are ready again."""
    brain = make_brain(order=order)
    wait(brain, clock)
    brain.change(delay_seconds=delay)
    if delay:
        assert len(brain.next_urls(9)) == 3  # the others move to their hosts' queues
        clock.pass_(delay)
    second.session.refresh()
    seen: list[str] = []

    def others() -> None:
        seen.extend(visit(second))
        clock.pass_(delay)

    left = meanwhile(monkeypatch, brain, "claims/lock", others)
    claims = brain.next_urls(9)
    assert not left and len(seen) == (3 if delay else 6)
    assert not set(urls(claims)) & set(seen)
    assert claims.next_ready is not None and claims.next_ready > clock()


@pytest.mark.parametrize("order", ORDERS)
def test_a_page_that_is_wanted_meanwhile_is_handed_out(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    """It waits since later than when it was read, but it is wanted at once: whether it was visited or not."""
    brain = make_brain(order=order)
    brain.seed(PAGES)
    second.session.refresh()

    def others() -> None:
        clock.pass_(1.0)
        visited = visit(second, 3)
        clock.pass_(1.0)
        second.crawl_now(PAGES)
        assert len(visited) == 3

    left = meanwhile(monkeypatch, brain, "claims/lock", others)
    assert urls(brain.next_urls(9)) == PAGES
    assert not left


@pytest.mark.parametrize("order", ORDERS)
def test_a_page_whose_lane_changes_meanwhile_is_handed_out(
    make_brain: MakeBrain, second: Brain, monkeypatch: Patch, order: str
) -> None:
    """Pushes, links and values move pages from lane to lane all the time: they wait since the same moment."""
    brain = make_brain(order=order, value="own")
    brain.seed(PAGES)
    second.session.refresh()
    lanes = [brain.page(url).lane for url in PAGES]

    def others() -> None:
        for url in PAGES:
            second.set_page(url, value=50.0)

    left = meanwhile(monkeypatch, brain, "claims/lock", others)
    looks: list[str] = []
    with brain.graph.trace(lambda name, *_: looks.append(name)):
        assert urls(brain.next_urls(6)) == PAGES
    assert not left and looks.count("claims/lock") == 1
    assert ([brain.page(url).lane for url in PAGES] != lanes) == (order != "breadth_first")


def test_a_page_whose_visit_was_before_it_was_found_is_not_handed_out_before_it_is_due(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    """An old visit is reported meanwhile: the page waits since earlier than when it was read, and is not due."""
    brain = make_brain()
    brain.seed(PAGES)

    def others() -> None:
        second.report([Fetched(url, (), fetched_at=clock() - HOUR) for url in PAGES[:3]])

    left = meanwhile(monkeypatch, brain, "claims/lock", others)
    assert urls(brain.next_urls(9)) == PAGES[3:]
    assert not left


def taken(brain: Brain, n: int, most_moves: int = 0, front: int = 0) -> Taken:
    """One claiming transaction."""
    manners, finder = brain.policy.manners, brain.session.finder
    holders = [Holder("feed" * 8, "me")] * n
    places = {"front" if front else "lanes": n}
    wish = ClaimRequest(places, holders, brain.now, 300.0, manners, finder, Reach(), most_moves=most_moves, depth=front)
    return brain.graph.write(lambda tx: take(tx, wish, set()), "claims/take")


@each_way
def test_a_page_of_the_front_that_is_visited_meanwhile_is_not_handed_out_before_it_is_due(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str, wait: Wait
) -> None:
    brain = make_brain(order=order)
    wait(brain, clock)
    brain.give_back(brain.next_urls(len(PAGES)))  # it knows the lanes now
    second.session.refresh()
    left = meanwhile(monkeypatch, brain, "claims/lock", lambda: visit(second, 4))
    got = taken(brain, 9, front=100)
    assert not left
    assert (len(got.claims), got.lost, got.overtaken) == (2, 4, 0)


@each_way
def test_a_page_of_the_front_that_is_visited_meanwhile_is_not_moved(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str, wait: Wait
) -> None:
    """It waits with all the others until it is due. The hosts are blocked, so the others move."""
    brain = make_brain(order=order)
    wait(brain, clock)
    brain.give_back(brain.next_urls(len(PAGES)))  # it knows the lanes now
    for host in ("h0.org", "h1.org", "h2.org"):
        brain.block(host, DAY)
    second.session.refresh()
    left = meanwhile(monkeypatch, brain, "claims/lock", lambda: second.report([Fetched(PAGES[0], (), body=b"y")]))
    got = taken(brain, 0, most_moves=100, front=100)
    assert not left
    assert (got.moved, got.lost) == (5, 1)
    assert [brain.page(url).queue for url in PAGES[:3]] == ["*", "h0.org", "h1.org"]


@pytest.mark.parametrize("order", ORDERS)
def test_pages_that_another_caller_took_are_lost_and_others_only_overtaken(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    """`lost` says how many callers there are; a page that was forgotten says nothing of that."""
    brain = make_brain(order=order)
    gone = ["http://gone.org/1", "http://gone.org/2"]
    visited, failing = "http://visited.org/", "http://failing.org/"
    brain.seed([*gone, visited, failing, *PAGES])
    second.session.refresh()
    clock.pass_(1.0)

    def others() -> None:
        held = {claim.url: claim for claim in second.next_urls(99)}
        second.report([Fetched(visited, (), held[visited]), Failed(failing, held[failing])])
        second.give_back(held[url] for url in (*gone, *PAGES[:3]))
        for url in gone:
            second.forget(url)

    left = meanwhile(monkeypatch, brain, "claims/lock", others)
    got = taken(brain, 99)
    assert not left
    assert (urls(got.claims), got.lost, got.overtaken) == (PAGES[:3], 5, 2)
    assert got.in_vain


def test_a_host_that_gets_a_page_while_its_queue_seems_empty_stays_ready(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    """Whether a host's queue is empty is read again under the host's lock."""
    brain = make_brain(delay_seconds=5.0)
    brain.seed(PAGES[:2])
    (claim,) = brain.next_urls(2)
    brain.report([Failed(claim.url, claim, 500)])
    (other,) = set(PAGES[:2]) - {claim.url}
    brain.forget(other)  # it waited in the host's own queue, which is empty now
    clock.pass_(2 * HOUR)
    left = meanwhile(monkeypatch, brain, "hosts/lock", lambda: second.tend(0))
    got = taken(brain, 9)
    assert not left and not got.claims and not got.reviewed
    assert urls(brain.next_urls(1)) == [claim.url]


# ---------------------------------------------------------------- hosts that are read without a lock


@pytest.mark.parametrize("order", ORDERS)
def test_a_claim_may_go_out_as_a_block_begins_and_belongs_to_it(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    """Where nothing is asked of all hosts, a claim locks no host: it counts as made before the block.

    So what it brings belongs to the event that the block is of: it halves the rate no further.
    """
    brain = make_brain(order=order)
    second.session.refresh()
    brain.seed(PAGES[:1])
    (held,) = second.next_urls(1)
    brain.seed(PAGES[1:2])
    clock.pass_(1.0)
    second_answer = Failed(held.url, held, 503, retry_after=100.0)
    left = meanwhile(monkeypatch, brain, "hosts/read", lambda: second.report([second_answer]), after=True)
    (late,) = brain.next_urls(9)
    assert not left and late.url == PAGES[1]
    assert brain.host("h0.org").blocked_until == clock() + 100.0
    pace = brain.host("h0.org").pace
    brain.report([Failed(late.url, late, 503)])
    assert brain.host("h0.org").pace == pace < 1.0
    brain.seed(["http://h0.org/new"])
    assert not brain.next_urls(9), "who comes after the block sees it"


def report_beside_a_silence(monkeypatch: Patch, brain: Brain, second: Brain, well: Claim, quiet: Claim) -> None:
    """Report one page well; the other one times out when the hosts are read, and before they are locked."""
    left = meanwhile(
        monkeypatch,
        brain,
        "hosts/read",
        lambda: second.report([Failed(quiet.url, quiet, error="time-out")]),
        after=True,
    )
    brain.report([Fetched(well.url, (), well)])
    assert not left


def test_an_answer_beside_a_silence_counts_as_before_it(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    """A report locks no host that it has no news for: where the host falls silent meanwhile, the answer came first."""
    brain = make_brain(dead_after=3)
    brain.seed(PAGES[:2])
    quiet, well = brain.next_urls(2)
    clock.pass_(1.0)
    report_beside_a_silence(monkeypatch, brain, second, well, quiet)
    assert brain.host("h0.org").unanswered == 1
    clock.pass_(DAY)
    brain.seed(["http://h0.org/new"])
    brain.report([Fetched(claim.url, (), claim) for claim in brain.next_urls(1)])
    assert brain.host("h0.org").unanswered == 0


def test_an_answer_of_a_host_that_is_known_to_be_silent_counts_whatever_comes_meanwhile(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    brain = make_brain(dead_after=3)
    brain.seed(PAGES[:2])
    quiet, well = brain.next_urls(2)
    brain.report([Failed("http://h0.org/9", error="time-out", fetched_at=clock.pass_(1.0))])
    assert brain.host("h0.org").unanswered == 1
    clock.pass_(HOUR)
    report_beside_a_silence(monkeypatch, brain, second, well, quiet)
    assert brain.host("h0.org").unanswered == 0


# ---------------------------------------------------------------- pages that come back by themselves


@pytest.mark.parametrize("order", ORDERS)
def test_an_alias_that_is_looked_at_meanwhile_is_not_handed_out(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    brain = make_brain(order=order)
    moved = Fetched(PAGES[0], status=301, redirected_to=PAGES[5])
    brain.report([moved])
    visit(brain)
    clock.pass_(2 * DAY)
    seen: list[str] = []

    def others() -> None:
        for claim in second.next_urls(9):
            seen.append(claim.url)
            second.report(
                [
                    Fetched(
                        claim.url,
                        (),
                        claim,
                        **({"status": 301, "redirected_to": PAGES[5]} if claim.url == PAGES[0] else {}),
                    )
                ]
            )

    left = meanwhile(monkeypatch, brain, "claims/lock", others)
    assert PAGES[0] not in urls(brain.next_urls(9))
    assert not left and PAGES[0] in seen


@pytest.mark.parametrize("order", ORDERS)
def test_an_alias_that_is_held_meanwhile_is_not_handed_out(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    brain = make_brain(order=order)
    brain.report([Fetched(PAGES[0], status=301, redirected_to=PAGES[5])])
    visit(brain)
    clock.pass_(2 * DAY)
    left = meanwhile(monkeypatch, brain, "claims/lock", lambda: second.next_urls(9))
    assert PAGES[0] not in urls(brain.next_urls(9))
    assert not left


@pytest.mark.parametrize("order", ORDERS)
def test_a_failed_page_that_is_tried_meanwhile_does_not_wait_again_before_its_time(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    brain = make_brain(order=order)
    brain.seed(PAGES[:1])
    brain.report([Failed(PAGES[0], brain.next_urls(1)[0], 500)])
    clock.pass_(DAY)

    def others() -> None:
        second.tend(0)
        second.report([Failed(PAGES[0], second.next_urls(1)[0], 500)])

    left = meanwhile(monkeypatch, brain, "claims/retry", others)
    assert brain.tend(0).released == 0
    page = brain.page(PAGES[0])
    assert not left and page.queue is None
    assert page.errors == 1 and page.not_before is not None and page.not_before > clock()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("renewed", [True, False])
def test_a_lease_that_is_not_lapsed_any_more_is_not_swept(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str, renewed: bool
) -> None:
    """Its holder has renewed it; or another caller has swept it, and holds the page."""
    brain = make_brain(order=order)
    brain.seed(PAGES[:1])
    held = list(brain.next_urls(1))
    clock.pass_(301.0)

    def others() -> None:
        if renewed:
            assert second.renew(held) != [None]
        else:
            second.tend(0)
            held[:] = second.next_urls(1)

    left = meanwhile(monkeypatch, brain, "claims/held", others)
    assert brain.tend(0).swept == 0
    assert not left
    assert brain.report([Fetched(PAGES[0], (), held[0])])[0].accepted


# ---------------------------------------------------------------- accounts, links and what is looked at again


@pytest.mark.usefixtures("unspent")
@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_cash_that_is_pushed_meanwhile_is_not_pushed_again(
    make_brain: MakeBrain, second: Brain, monkeypatch: Patch, engine: str
) -> None:
    brain = make_brain(engine=engine)
    second.session.refresh()
    brain.report([Fetched(PAGES[0], PAGES[1:3])])
    keys = [PAGES[0], PAGES[1]]
    left = meanwhile(
        monkeypatch, brain, "accounts/lock" if engine == "exact" else "classic/lock", lambda: second.tend(None)
    )
    done = brain.tend(pages=keys)
    assert not left
    assert engine == "classic" or done.pushes == 0


@pytest.mark.parametrize("orphans", ["park", "forget"])
def test_an_orphan_that_is_linked_to_meanwhile_is_none(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, orphans: str
) -> None:
    brain = make_brain(orphans=orphans)
    a, b, c = PAGES[:3]
    brain.report([Fetched(a, [b]), Fetched(c)])
    brain.report([Fetched(a, [], fetched_at=clock.pass_(1.0), body=b"x")])
    second.session.refresh()
    left = meanwhile(
        monkeypatch,
        brain,
        "accounts/lock",
        lambda: second.report([Fetched(c, [b], fetched_at=clock.pass_(1.0), body=b"y")]),
    )
    brain.tend(0)
    assert not left
    assert brain.page(b).state == "frontier"


def test_an_alias_that_leads_elsewhere_meanwhile_takes_its_links_there(
    brain: Brain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    a, b, c, d = PAGES[:4]
    brain.report([Fetched(c, [a]), Fetched(b), Fetched(d)])
    brain.report([Fetched(a, status=301, redirected_to=b, fetched_at=clock.pass_(1.0))])
    left = meanwhile(
        monkeypatch,
        brain,
        "accounts/lock",
        lambda: second.report([Fetched(a, status=301, redirected_to=d, fetched_at=clock.pass_(1.0))]),
    )
    brain.tend(0)
    second.tend(0)
    assert not left
    assert neighbours(brain, c)[0] == [d]


def test_an_alias_that_is_a_page_again_meanwhile_keeps_its_links(
    brain: Brain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    a, b, c = PAGES[:3]
    brain.report([Fetched(c, [a]), Fetched(b)])
    brain.report([Fetched(a, status=301, redirected_to=b, fetched_at=clock.pass_(1.0))])
    left = meanwhile(
        monkeypatch,
        brain,
        "accounts/lock",
        lambda: second.report([Fetched(a, [b], body=b"x", fetched_at=clock.pass_(1.0))]),
    )
    brain.tend(0)
    second.tend(0)
    assert not left
    assert (brain.page(a).state, neighbours(brain, c)[0]) == ("known", [a])


def test_a_page_that_becomes_less_deep_meanwhile_passes_its_new_depth_on(
    brain: Brain, second: Brain, clock: HandClock, monkeypatch: Patch
) -> None:
    """A way of five clicks; then one of three, and, while that is passed on, one of one."""
    root, *way, last = [f"http://deep.org/{n}" for n in range(7)]
    brain.seed([root])
    for url, link in zip([root, *way], [*way, last], strict=True):
        brain.report([Fetched(url, [link], brain.next_urls(1)[0])])
    assert [brain.page(url).depth for url in (way[4], last)] == [5, 6]
    brain.report([Fetched(way[1], [way[2], way[4]], fetched_at=clock.pass_(1.0), body=b"x")])
    second.session.refresh()
    left = meanwhile(
        monkeypatch,
        brain,
        "accounts/lock",
        lambda: second.report([Fetched(root, [way[0], way[4]], fetched_at=clock.pass_(1.0), body=b"y")]),
    )
    brain.tend(0)
    assert not left
    assert [brain.page(url).depth for url in (way[4], last)] == [1, 2]


@pytest.mark.parametrize("order", ORDERS)
def test_pages_that_are_held_visited_or_forgotten_meanwhile_are_remarked_as_they_are(
    make_brain: MakeBrain, second: Brain, clock: HandClock, monkeypatch: Patch, order: str
) -> None:
    """A change of settings goes through all pages: they were listed before they are locked."""
    brain = make_brain(order=order)
    brain.seed(PAGES)
    clock.pass_(1.0)
    second.session.refresh()
    held: list[str] = []

    def others() -> None:
        claims = list(second.next_urls(2))
        held.extend(claim.url for claim in claims[:1])
        second.report([Fetched(claim.url, (), claim, body=b"x") for claim in claims[1:]])
        second.forget(next(url for url in PAGES if url not in {claim.url for claim in claims}))

    left = meanwhile(monkeypatch, brain, "accounts/lock", others)
    brain.change(intervals=f"/ {HOUR:.0f}", value="own")
    assert not left
    assert brain.page(held[0]).queue is None and brain.page(held[0]).lease_until is not None
    assert len(brain.next_urls(9)) == 3
    clock.pass_(HOUR + 1.0)
    assert len(brain.next_urls(9)) == 5, "the visited one by its interval, and those whose leases have lapsed"


def test_a_page_that_is_forgotten_while_its_marks_are_written_is_left_out(
    brain: Brain, second: Brain, monkeypatch: Patch
) -> None:
    brain.seed(PAGES)
    ids = sorted(brain.graph.read(lambda tx: tx.one("pages/ids_from", after="", limit=99), "pages/ids_from")[0])
    left = meanwhile(monkeypatch, brain, "accounts/lock", lambda: second.forget(PAGES[0]))
    brain.session.perform("remark", edits.remark, ids)
    assert not left
    assert len(brain.next_urls(9)) == 5
