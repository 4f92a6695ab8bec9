"""The server's clock was ahead for a while: what it wrote meanwhile keeps nobody waiting once it is right again."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

import pytest

from graphbrain import Brain, Claim, Failed, Fetched, Resource
from graphbrain.analyst import dictionary
from graphbrain.base.model import FOR_EVER, AnyReport
from graphbrain.frontier.hosts.clock_ahead import SLACK
from tests.integration.conftest import START, HandClock

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
ORDERS = ("optimal", "best_first", "breadth_first")
JUMPS = (120.0, DAY, 400 * DAY)


def pages(host: str, many: int) -> list[str]:
    return [f"http://{host}/{n}" for n in range(many)]


def fetched(claim: Claim) -> Fetched:
    return Fetched(claim.url, [], claim, body=b"x")


def crawl(brain: Brain, clock: HandClock, until: float, most: int = 3_000) -> list[str]:
    """Fetch whatever can be had until then, as soon as it can; the URLs in their order."""
    urls: list[str] = []
    for _ in range(most):
        claims = brain.next_urls(4)
        brain.report([fetched(claim) for claim in claims])
        urls += [claim.url for claim in claims]
        if not claims and (claims.next_ready is None or claims.next_ready >= until):
            return urls
        if not claims:
            clock.at = max(clock.at, claims.next_ready or 0.0)
    raise AssertionError("it does not end")


# ---------------------------------------------------------------- what waits


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("tended", [True, False])
def test_hosts_that_were_asked_meanwhile_are_asked_again(
    make_brain: MakeBrain, clock: HandClock, order: str, jump: float, tended: bool
) -> None:
    brain = make_brain(order=order, delay_seconds=1.0)
    brain.seed([url for n in range(3) for url in pages(f"h{n}.org", 4)])
    clock.pass_(jump)
    first = crawl(brain, clock, clock.at + 1.5)
    clock.pass_(MINUTE - jump)
    if tended:
        brain.tend(None)
    rest = crawl(brain, clock, clock.at + MINUTE)
    assert sorted({*first, *rest}) == sorted(url for n in range(3) for url in pages(f"h{n}.org", 4))
    assert len(rest) < 12 - 3


@pytest.mark.parametrize("jump", JUMPS)
def test_other_hosts_do_not_hide_those_that_were_asked_meanwhile(
    make_brain: MakeBrain, second: Brain, clock: HandClock, jump: float
) -> None:
    """The brain remembers how late it was: a crawl that always has something else to do finds it out, too."""
    brain = make_brain(delay_seconds=1.0)
    brain.seed(pages("slow.org", 3))
    clock.pass_(jump)
    brain.session.refresh()  # as all processes do now and then
    (claim,) = brain.next_urls(4)
    brain.report([fetched(claim)])
    clock.pass_(1.0 - jump)
    brain.seed([f"http://other{n}.org/" for n in range(40)])
    second.session.refresh()
    second.tend(0.0)
    seen: set[str] = set()
    for _ in range(5):
        clock.pass_(1.0)
        seen |= {claim.host for claim in brain.next_urls(8)}
    assert "slow.org" in seen


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("status", [500, 503, None])
def test_a_page_that_failed_meanwhile_is_tried_again_as_soon_as_if_it_had_failed_now(
    make_brain: MakeBrain, clock: HandClock, jump: float, status: int | None
) -> None:
    brain = make_brain()
    brain.seed(["http://a.org/"])
    clock.pass_(jump)
    brain.report([Failed("http://a.org/", brain.next_urls(1)[0], status)])
    brain.session.refresh()  # as all processes do now and then
    clock.pass_(1.0 - jump)
    brain.session.refresh()
    brain.tend(None)
    page = brain.page("http://a.org/")
    assert page.not_before is not None and page.failed is not None
    assert page.failed <= clock() + 5.0
    assert page.not_before - clock() <= 8 * MINUTE
    assert crawl(brain, clock, clock.at + 10 * MINUTE) == ["http://a.org/"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("jump", JUMPS)
def test_a_page_that_was_claimed_or_visited_meanwhile_comes_back_in_its_time(
    make_brain: MakeBrain, clock: HandClock, order: str, jump: float
) -> None:
    """The one by the end of its lease, the other by its interval."""
    brain = make_brain(order=order, lease_seconds=300.0)
    held, visited = "http://a.org/", "http://b.org/"
    brain.seed([held, visited])
    clock.pass_(jump)
    claims = {claim.url: claim for claim in brain.next_urls(2)}
    brain.report([fetched(claims[visited])])
    brain.set_page(visited, interval=HOUR)
    brain.session.refresh()  # as all processes do now and then
    clock.pass_(1.0 - jump)
    brain.session.refresh()
    brain.tend(None)
    assert (brain.page(held).lease_until or 0.0) - clock() <= 300.1
    assert brain.page(visited).waiting_since - clock() <= HOUR
    clock.pass_(301.0)
    brain.tend(None)
    assert [claim.url for claim in brain.next_urls(9)] == [held]
    clock.pass_(HOUR)
    assert visited in [claim.url for claim in brain.next_urls(9)]


@pytest.mark.parametrize("jump", JUMPS)
def test_a_host_that_complained_or_fell_silent_meanwhile_waits_as_long_as_if_it_had_now(
    make_brain: MakeBrain, clock: HandClock, jump: float
) -> None:
    brain = make_brain(dead_after=1)
    brain.seed(["http://slow.org/", "http://dead.org/"])
    clock.pass_(jump)
    claims = {claim.host: claim for claim in brain.next_urls(2)}
    brain.report([Failed("http://slow.org/", claims["slow.org"], 503), Failed("http://dead.org/", claims["dead.org"])])
    brain.session.refresh()  # as all processes do now and then
    clock.pass_(1.0 - jump)
    brain.session.refresh()
    brain.tend(None)
    assert (brain.host("slow.org").blocked_until or 0.0) - clock() <= 60.0
    assert (brain.host("dead.org").probe_at or 0.0) - clock() <= 60.0


@pytest.mark.usefixtures("answers_lost")
@pytest.mark.parametrize("what", ["failed", "leased"])
def test_a_crawl_that_waits_for_what_was_written_meanwhile_finds_that_out(
    make_brain: MakeBrain, clock: HandClock, what: str
) -> None:
    """No process noted how late it was: what would come next shows that the clock was ahead."""
    brain = make_brain(lease_seconds=300.0)
    brain.seed(["http://a.org/"])
    clock.pass_(DAY)
    claims = list(brain.next_urls(1))
    if what == "failed":
        brain.report([Failed("http://a.org/", claims[0], 500)])
    clock.pass_(1.0 - DAY)
    waits = brain.next_urls(1)
    assert waits.next_ready is not None and waits.next_ready - clock() < 8 * MINUTE
    clock.at = waits.next_ready + 0.1
    brain.tend(0.0)
    assert [claim.url for claim in brain.next_urls(1)] == ["http://a.org/"]


# ---------------------------------------------------------------- what stays


def test_what_was_set_by_hand_stays(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain()
    brain.seed(["http://a.org/1", "http://b.org/1", "http://c.org/1"])
    clock.pass_(DAY)
    brain.block("a.org", 30 * DAY)
    brain.block("b.org")
    brain.crawl_now(["http://c.org/1"])
    brain.session.refresh()
    blocked, wanted = brain.host("a.org").blocked_until, brain.page("http://c.org/1").waiting_since
    clock.pass_(1.0 - DAY)
    brain.session.refresh()
    brain.tend(None)
    assert brain.host("a.org").blocked_until == blocked == START + 31 * DAY
    assert brain.host("b.org").blocked_until is not None
    assert brain.page("http://c.org/1").waiting_since == wanted
    assert not brain.next_urls(9)


def test_a_clock_that_goes_right_changes_nothing(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    """Blocks, probes, retries, intervals and turns that lie in the future for good reasons stay where they are."""
    brain = make_brain(delay_seconds=30.0, dead_after=1)
    brain.seed([f"http://{name}.org/{n}" for name in ("slow", "dead", "well", "failing") for n in range(2)])
    claims = {claim.host: claim for claim in brain.next_urls(9)}
    brain.report(
        [
            Failed(claims["slow.org"].url, claims["slow.org"], 503, retry_after=5_000.0),
            Failed(claims["dead.org"].url, claims["dead.org"]),
            fetched(claims["well.org"]),
            Failed(claims["failing.org"].url, claims["failing.org"], 500),
        ]
    )
    brain.set_page(claims["well.org"].url, interval=DAY)
    times = (
        "MATCH (p:Page) RETURN p.url, p.waiting_since, p.not_before, p.fetched, p.failed ORDER BY p.url "
        "UNION ALL MATCH (p:Host) RETURN p.name AS `p.url`, p.blocked_until AS `p.waiting_since`, "
        "p.next_at AS `p.not_before`, p.probe_at AS `p.fetched`, p.slowed_at AS `p.failed`"
    )
    clock.pass_(1.0)
    before = ask(times)
    brain.session.put_clock_right()
    brain.tend(None)
    assert ask(times) == before


# ---------------------------------------------------------------- who says so


def test_the_brain_says_that_its_clock_was_ahead(
    make_brain: MakeBrain, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    brain = make_brain()
    clock.pass_(DAY)
    brain.session.refresh()
    with caplog.at_level(logging.WARNING, "graphbrain"):
        clock.pass_(-DAY)
        brain.session.refresh()
        brain.session.refresh()
    assert [record.message.split(" s ahead")[0][-5:] for record in caplog.records] == ["86400"]


# ---------------------------------------------------------------- anything


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_while_it_is_ahead_all_that_waits_is_fetched_soon(
    make_brain: MakeBrain, clock: HandClock, seed: int
) -> None:
    """Hosts answer anything while the clock jumps ahead and back at random. Then all are well, and the clock is right:
    every page is fetched within a day, as it would be had the clock gone right."""
    dice = random.Random(seed)
    brain = make_brain(
        order=ORDERS[seed % 3],
        delay_seconds=dice.choice([0.0, 1.0]),
        in_flight=dice.choice([0, 2]),
        address_delay_seconds=dice.choice([0.0, 1.0]),
        dead_after=dice.choice([0, 2]),
        max_errors=50,
        lease_seconds=600.0,
    )
    hosts = [f"h{n}.org" for n in range(4)]
    everything = [url for host in hosts for url in pages(host, 6)]
    out: list[Claim] = []

    def answer(claim: Claim) -> Fetched | Failed:
        at = {"address": f"192.0.2.{int(claim.host[1]) % 2}"}
        what = dice.randrange(6)
        if what < 2:
            return Fetched(claim.url, [], claim, body=b"x", **at)  # type: ignore[arg-type]
        return Failed(claim.url, claim, *[(500,), (503,), (429,), ()][what - 2], **at)  # type: ignore[arg-type]

    jumped = 0.0
    for step in range(40):
        if dice.random() < 0.2:
            change = dice.choice([0.0, *JUMPS]) - jumped
            clock.pass_(change)
            jumped += change
        brain.seed(dice.sample(everything, 2) if step else everything[:12])
        dice.shuffle(out)
        ended = [out.pop() for _ in range(dice.randrange(len(out) + 1))]
        brain.report([answer(claim) for claim in ended if dice.random() < 0.8])  # the others lapse
        out += brain.next_urls(dice.randrange(1, 9))
        if dice.random() < 0.3:
            brain.tend(0.0)
        clock.pass_(dice.choice([0.0, 0.5, 30.0, 150.0]))
    clock.pass_(-jumped)
    brain.seed(everything)
    brain.session.refresh()
    brain.tend(None)
    crawl(brain, clock, clock.at + DAY)
    assert not [page.url for page in brain.find(fetched=False)]
    assert all(host.in_flight == 0 for host in brain.hosts())


def test_a_host_all_of_whose_pages_have_failed_is_not_taken_to_have_others(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    """It is asked for its pages again no sooner than `health.SOONEST` after the last try, as the outlook says."""
    brain = make_brain()
    brain.seed(pages("a.org", 3))
    clock.pass_(DAY)
    for _ in range(8):
        claims = brain.next_urls(9)
        clock.at = max(clock.at, claims.next_ready or 0.0) if not claims else clock.at
        clock.pass_(1.0)
        brain.report([Failed(claim.url, claim) for claim in claims])
    tried = "MATCH (h:Host {name: 'a.org'}) RETURN h.tried_all"
    brain.session.refresh()
    brain.next_urls(9)
    assert ask(tried) == [[True]]
    clock.pass_(1.0 - DAY)
    brain.session.refresh()
    brain.tend(None)
    assert ask(tried) == [[True]]
    empty = 0
    while not (claims := brain.next_urls(9)):
        empty += 1
        assert claims.next_ready is not None and claims.next_ready > clock.at
        clock.at = claims.next_ready
    assert empty <= 3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("status", [None, 500])
def test_hosts_that_open_one_after_another_are_not_announced_before_their_pages(
    make_brain: MakeBrain, clock: HandClock, order: str, status: int | None
) -> None:
    """Each of the hosts opens before its page is due again, and `next_ready` counts with both."""
    brain = make_brain(order=order)
    hosts = [f"h{n}.org" for n in range(10)]
    brain.seed([url for host in hosts for url in pages(host, 3)])
    for n, host in enumerate(hosts):
        brain.set_host(host, delay=20.0 + n)
        for url in pages(host, 3):
            brain.set_page(url, interval=300.0)
    clock.pass_(DAY)
    left = dict.fromkeys(hosts, 3)
    while any(left.values()):
        claims = brain.next_urls(10)
        for claim in claims:
            left[claim.host] -= 1
        brain.report([fetched(claim) if status is None else Failed(claim.url, claim, status) for claim in claims])
        clock.at = max(clock.at, claims.next_ready or 0.0)
    brain.session.refresh()  # as all processes do now and then
    clock.pass_(MINUTE - DAY)
    until, empty, seen = clock.at + HOUR, 0, set[str]()
    while seen < set(hosts):
        claims = brain.next_urls(4)
        brain.report([fetched(claim) for claim in claims])
        seen |= {claim.host for claim in claims}
        empty = 0 if claims else empty + 1
        assert empty <= 3
        clock.at = max(clock.at + 0.01, claims.next_ready or clock.at)
        assert clock.at < until


STAYS = {
    "blocked_until": "set by hand, or reckoned from blocked_at",
    **dict.fromkeys(("LINKS.since", "LEADS_TO.since"), "shown only"),
    **dict.fromkeys(("began", "seen", "tends_until"), "of the hours that the clock had: counters that are shown"),
}
"""The times that are left as they are, and why."""


@pytest.mark.parametrize("seed", range(6))
def test_no_time_of_any_node_is_left_of_a_clock_that_was_ahead(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, seed: int
) -> None:
    """Hosts, their robots.txt, sitemaps and other sites answer anything while the clock is ahead. Once it is right and
    the brain was tended, no event lies in the future, and nothing waits for longer than the longest wait."""
    dice = random.Random(seed)
    jump = dice.choice([HOUR, DAY, 100 * DAY])
    brain = make_brain(delay_seconds=dice.choice([0.0, 1.0]), allow_hosts="*.org", max_errors=3, lease_seconds=600.0)
    kinds = ("page", "robots", "sitemap", "link")
    hosts = [f"h{number}.org" for number in range(4)]
    brain.seed([f"http://{host}/" for host in hosts])
    for step in range(30):
        if step == 10:
            clock.pass_(jump)
        claims = brain.next_urls(8, kinds=kinds)
        brain.report([_anything(claim, dice) for claim in claims if dice.random() < 0.9])
        if dice.random() < 0.3:
            brain.check_links()
        clock.pass_(dice.choice([1.0, 40.0, HOUR / 2]))
    clock.pass_(-jump)
    brain.session.refresh()
    brain.tend(None)
    now = clock()
    for label, names in dictionary.NODES.items():
        for name, (unit, _) in names.items():
            if unit != dictionary.TIME or name in STAYS:
                continue
            rows = ask(f"MATCH (n:{label}) WHERE n.{name} IS NOT NULL RETURN n.{name}")
            written = [at for (value,) in rows for at in (value if isinstance(value, list) else [value])]
            longest = LONGEST.get(name, 0.0)
            assert all(at <= now + longest + SLACK for at in written if at < FOR_EVER), (label, name)  # type: ignore[operator]
    assert not ask("MATCH (q:ResourceQueue) WHERE q.at > $latest RETURN q.key", latest=now + 14 * DAY)


LONGEST: dict[str, float] = {
    **dict.fromkeys(("not_before", "recheck_at", "probe_at", "due_at", "at", "ready_at", "robots_hold"), 14 * DAY),
    **dict.fromkeys(("next_at", "turn_at"), MINUTE),
    "lease_until": 600.0,
    "ripe_at": 2 * DAY,
}
"""The longest waits that follow from what happens in the test; 0 of events."""


def _anything(claim: Claim, dice: random.Random) -> AnyReport:
    """An answer, of any kind."""
    fails = dice.random() < 0.3
    host = f"http://{claim.host}"
    if claim.kind == "page":
        links = [f"{host}/{dice.randrange(20)}" for _ in range(3)] + [f"http://other{dice.randrange(5)}.com/"]
        return Failed(claim.url, claim, dice.choice([500, 404, None])) if fails else Fetched(claim.url, links, claim)
    if fails:
        return Resource(claim.url, claim, dice.choice([500, 404, None]))
    if dice.random() < 0.1:
        return Resource(claim.url, claim, 301, redirected_to=f"{host}/{claim.kind}{dice.randrange(9)}")
    if claim.kind == "robots":
        return Resource(claim.url, claim, 200, f"Sitemap: {host}/map{dice.randrange(3)}.xml".encode())
    if claim.kind == "sitemap":
        entries = "".join(f"<url><loc>{host}/{number}</loc></url>" for number in range(dice.randrange(9)))
        return Resource(claim.url, claim, 200, f"<urlset>{entries}</urlset>".encode())
    return Resource(claim.url, claim, 200)
