"""Each judge of a world, held against logs that keep the promise and logs that break it: none is silent by nature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphbrain_lab.bench.worlds.judges import judge
from graphbrain_lab.bench.worlds.kinds import KINDS
from graphbrain_lab.bench.worlds.log import Called, Entry, Happened, Log, LoggedGrant, Reported, Returned
from graphbrain_lab.bench.worlds.progress import allowance, counted
from graphbrain_lab.bench.worlds.watch import WorldWatch
from graphbrain_lab.bench.worlds.world import (
    DAY,
    HOUR,
    MINUTE,
    Crawler,
    Phase,
    Rules,
    Window,
    World,
    WorldFile,
    WorldGoal,
    WorldHost,
    WorldPage,
)

A, B = "a.example", "b.example"
WELL = Phase(0.0, "fetched", 0.3)
LEASE = 300.0


def host(name: str, pages: int = 3, *ill: Phase, **more: Any) -> WorldHost:
    """A host of pages /0, /1, … that are well, and /bad0, … that are not."""
    good = tuple(WorldPage(f"/{number}", (WELL,)) for number in range(pages))
    return WorldHost(name, (*good, *(WorldPage(f"/bad{number}", (phase,)) for number, phase in enumerate(ill))), **more)


def world(*hosts: WorldHost, **more: Any) -> World:
    settings = {"order": "optimal", "delay_seconds": 1.0, "lease_seconds": LEASE, **more.pop("settings", {})}
    crawlers = more.pop("crawlers", (Crawler("c0", 10_000),))
    return World(1, more.pop("days", 9.0), hosts or (host(A),), crawlers, (), settings, **more)


def url(path: object, name: str = A) -> str:
    return f"http://{name}/{path}"


def seed(*urls: str, at: float = 0.0) -> list[Entry]:
    return [Happened(at, at, "seed", each) for each in urls]


def call(at: float, *urls: str, asked: int = 9, until: float | None = None, **more: Any) -> Called:
    """A call; the token of a claim is the moment at which it was made."""
    grants = tuple(
        LoggedGrant(each, each.split("/")[2], f"t{at:g}", at + LEASE if until is None else until) for each in urls
    )
    return Called(
        at, more.pop("clock", at), more.pop("crawler", "c0"), asked, grants, more.pop("ready", at + 1), **more
    )


def report(at: float, page: str, claimed: float, outcome: str = "fetched", **more: Any) -> Reported:
    return Reported(at, more.pop("clock", at), "c0", page, page.split("/")[2], f"t{claimed:g}", outcome, **more)


def visit(at: float, page: str, outcome: str = "fetched", **more: Any) -> list[Entry]:
    """A call that brings a page, and its report half a second later."""
    return [call(at, page), report(at + 0.5, page, at, outcome, **more)]


def judged(of: World, *entries: Entry | list[Entry], ended: float = 8 * DAY, **more: Any) -> list[tuple[str, str]]:
    """(judge, text) of what is found in these entries."""
    flat = [each for part in entries for each in (part if isinstance(part, list) else [part])]
    return [(each.judge, each.text) for each in judge(of, Log(flat, ended, **more))]


def kinds(*args: Any, **more: Any) -> list[str]:
    return [kind for kind, _ in judged(*args, **more)]


def all_of(*paths: object, name: str = A, start: float = 0.0, gap: float = 1.0) -> list[Entry]:
    """Pages that are well are visited one after another."""
    return [each for n, path in enumerate(paths) for each in visit(start + gap * n, url(path, name))]


EVERY = [url(number) for number in range(3)]


def test_a_crawl_that_keeps_all_promises() -> None:
    assert judged(world(), seed(*EVERY), all_of(0, 1, 2), call(4.0, ready=None, finished=True)) == []


# ---------------------------------------------------------------- progress


def test_a_page_that_nobody_hands_out() -> None:
    [(kind, text)] = judged(world(), seed(*EVERY), all_of(0, 1))
    assert (kind, "http://a.example/2 was found at 0 s" in text) == ("progress", True)


def test_a_page_that_comes_too_late() -> None:
    """10 · 3 pages · 1 s."""
    assert kinds(world(), seed(*EVERY), all_of(0, 1), visit(29.0, url(2))) == []
    assert kinds(world(), seed(*EVERY), all_of(0, 1), visit(31.0, url(2))) == ["progress"]


def test_an_attempt_that_brought_nothing_does_not_count() -> None:
    assert kinds(world(), seed(*EVERY), all_of(0, 1), visit(5.0, url(2), "broken")) == ["progress"]


def test_what_links_name_is_found_when_they_are_read() -> None:
    found = [seed(url(0)), visit(0.0, url(0), links=tuple(EVERY)), visit(2.0, url(1))]
    assert kinds(world(), *found, visit(30.0, url(2))) == []
    assert kinds(world(), *found, visit(31.0, url(2))) == ["progress"]


def test_what_nobody_named_is_not_missed() -> None:
    assert kinds(world(), seed(url(0)), visit(0.0, url(0))) == []


def test_few_places_are_promised_nothing() -> None:
    assert kinds(world(crawlers=(Crawler("c0", 0),)), seed(*EVERY), all_of(0, 1)) == []


def test_the_allowance() -> None:
    """Two minutes for each nine ill pages, a day at most, and what their fetches take."""
    bad = Phase(0.0, "silent", 5.0, None)
    assert allowance(world(), host(A)) == 30.0
    assert allowance(world(), host(A, 3, bad)) == 10 * 4 + 120 + 5
    assert allowance(world(), host(A, 3, *[bad] * 10)) == 10 * 13 + 240 + 50
    slow = world(crawlers=(Crawler("c0", 9, speed=2.0),), settings={"in_flight": 1})
    assert allowance(slow, host(A, 3, bad)) == 10 * 4 * 10 + 120 + 10
    assert allowance(world(), host(A, 3, rate=6.0)) == 300.0
    assert allowance(world(), host(A, 3, crawl_delay=3.0)) == 90.0


def test_time_that_does_not_count() -> None:
    assert counted(0.0, 10.0, []) == 10.0
    assert counted(0.0, 10.0, [(5.0, 20.0)]) == 25.0
    assert counted(0.0, 10.0, [(5.0, 20.0), (15.0, 30.0), (31.0, 32.0)]) == 36.0
    assert counted(7.0, 10.0, [(5.0, 20.0)]) == 30.0
    assert counted(7.0, 10.0, [(0.0, 6.0), (17.0, 30.0)]) == 17.0


@pytest.mark.parametrize(("back", "found"), [(2 * HOUR + 149, []), (2 * HOUR + 151, ["progress"])])
def test_an_outage_and_as_long_again(back: float, found: list[str]) -> None:
    down = Window("outage", 0.0, HOUR, Phase(0.0, "silent", 0.1, None))
    ill = world(host(A, windows=(down,)))
    assert (
        kinds(ill, seed(*EVERY), visit(0.0, url(0), "silent"), all_of(0, 1, start=HOUR), visit(back, url(2))) == found
    )


def test_a_line_that_was_down() -> None:
    line = (Window("line", 0.0, HOUR, Phase(0.0, "silent", 0.1, None)),)
    assert kinds(world(line=line), seed(*EVERY), all_of(0, 1, start=HOUR), visit(2 * HOUR + 149, url(2))) == []
    assert kinds(world(line=line), seed(*EVERY), all_of(0, 1, start=HOUR), visit(2 * HOUR + 151, url(2))) == [
        "progress"
    ]


def test_a_page_that_was_ill_itself() -> None:
    flips = WorldPage("/2", (Phase(0.0, "broken", 0.3, 500), Phase(HOUR, "fetched")))
    of = world(replace(host(A, 2), pages=(*host(A, 2).pages, flips)))
    end = 4 * HOUR + 300 + 30 + 120 + 0.3
    start = [seed(*EVERY), all_of(0, 1), visit(2.0, url(2), "broken")]
    assert kinds(of, *start, visit(end - 1, url(2))) == []
    assert kinds(of, *start, visit(end + 1, url(2))) == ["progress"]
    never = replace(flips, phases=flips.phases[:1])
    assert kinds(world(replace(host(A, 2), pages=(*host(A, 2).pages, never))), *start) == []


def test_times_in_which_it_must_not_be_fetched() -> None:
    shut = Happened(3.0, 3.0, "robots", A, text="User-agent: *\nDisallow: /")
    open_ = Happened(HOUR, HOUR, "robots", A)
    start = [seed(*EVERY), all_of(0, 1), shut]
    assert kinds(world(), *start, open_, visit(HOUR + 26, url(2))) == []
    assert kinds(world(), *start, open_, visit(HOUR + 28, url(2))) == ["progress"]
    assert kinds(world(), *start) == []
    block = Happened(3.0, 3.0, "block", A, HOUR)
    assert kinds(world(), seed(*EVERY), all_of(0, 1), block, visit(HOUR + 29, url(2))) == []
    asked = [seed(*EVERY), all_of(0, 1), visit(3.0, url(2), "refused", status=503, retry_after=HOUR)]
    assert kinds(world(), *asked, visit(HOUR + 29, url(2))) == []
    assert kinds(world(), *asked, visit(HOUR + 31, url(2))) == ["progress"]


def test_a_page_that_was_forgotten_is_not_missed() -> None:
    gone = Happened(5.0, 5.0, "forget", url(2))
    assert kinds(world(), seed(*EVERY), all_of(0, 1), gone) == []
    assert kinds(world(), seed(*EVERY), all_of(0, 1), gone, seed(url(2), at=9.0)) == ["progress"]


def test_a_claim_that_nobody_reports() -> None:
    start = [seed(*EVERY), all_of(0, 1), call(2.0, url(2))]
    assert kinds(world(), *start, visit(620.0, url(2))) == []
    assert kinds(world(), *start, visit(640.0, url(2))) == ["progress"]


def test_a_goal() -> None:
    of = world(goals=(WorldGoal(10.0, (url(2),)),))
    assert kinds(of, seed(*EVERY), all_of(0, 1, 2)) == []
    assert kinds(of, seed(*EVERY), all_of(0, 1), visit(11.0, url(2))) == ["progress"]


# ---------------------------------------------------------------- polite


def test_a_host_that_is_asked_too_early() -> None:
    [(kind, text)] = judged(world(), seed(*EVERY), all_of(0, 1, 2, gap=0.6))[:1]
    assert (kind, "0.600 s after the last time" in text) == ("polite", True)


def test_a_host_that_is_asked_twice_in_one_call() -> None:
    assert "polite" in kinds(world(), seed(*EVERY), call(0.0, url(0), url(1)))


def test_a_crawl_delay() -> None:
    slow = Happened(0.0, 0.0, "robots", A, text="User-agent: graphbrain\nCrawl-delay: 3")
    assert "polite" in kinds(world(), seed(*EVERY), slow, all_of(0, 1, 2))
    assert kinds(world(), seed(*EVERY), slow, all_of(0, 1, 2, gap=3.0)) == []


def test_more_claims_than_a_host_may_have() -> None:
    of = world(settings={"in_flight": 1})
    assert kinds(of, seed(*EVERY), all_of(0, 1, 2)) == []
    assert "polite" in kinds(of, seed(*EVERY), call(0.0, url(0)), call(2.0, url(1)), visit(400.0, url(2)))


def test_a_host_that_asked_to_be_left_alone() -> None:
    start = [seed(*EVERY), visit(0.0, url(0)), visit(1.0, url(1), "refused", status=503, retry_after=60.0)]
    assert "polite" in kinds(world(), *start, visit(50.0, url(2)))
    assert "polite" not in kinds(world(), *start, visit(62.0, url(2)))
    free = Happened(10.0, 10.0, "unblock", A)
    assert "polite" not in kinds(world(), *start, free, visit(50.0, url(2)))


def test_a_host_that_is_blocked_or_forbidden() -> None:
    for event in (
        Happened(2.0, 2.0, "block", A, HOUR),
        Happened(2.0, 2.0, "robots", A, text="User-agent: *\nDisallow: /"),
        Happened(2.0, 2.0, "deny_host", A),
    ):
        assert "polite" in kinds(world(), seed(*EVERY), all_of(0, 1), event, visit(9.0, url(2))), event.what


def test_a_jump_excuses_what_it_explains() -> None:
    jump = Happened(1.2, 3_601.2, "jump", value=HOUR)
    fast = [call(1.3, url(1), clock=3_601.3), report(1.8, url(1), 1.3, clock=3_601.8)]
    assert kinds(world(), seed(*EVERY), visit(1.0, url(0))[:1], jump, fast) == ["progress"] * 2


def failing(of: str, start: float, times: int) -> list[Entry]:
    return [each for n in range(times) for each in visit(start + 100.0 * n, url(n, of), "broken", status=500)]


def test_ill_hosts_take_a_tenth() -> None:
    """Two claims of an ill host among three, while a host that is well has a page due."""
    of = world(host(A, 5), host(B, 20))
    start = [seed(*EVERY, url(3), url(4)), visit(0.0, url(0)), failing(B, 2 * HOUR, 9)]
    well = visit(2 * HOUR + 1_000, url(1))
    one, two = call(4 * HOUR, url(10, B)), call(4 * HOUR + 5, url(11, B))
    assert "polite" not in kinds(of, *start, well, one)
    assert "polite" in kinds(of, *start, well, one, two)
    others = [visit(4 * HOUR + 2 + n, url(n)) for n in (2, 3, 4)]
    assert "polite" not in kinds(of, *start, well, one, *others, two), "nothing else is due"


def test_a_host_that_answers_is_not_ill() -> None:
    of = world(host(A, 5), host(B, 20))
    start = [seed(*EVERY), visit(0.0, url(0)), failing(B, 2 * HOUR, 9), visit(3 * HOUR, url(15, B), "missing")]
    held = [call(4 * HOUR, url(10, B)), call(4 * HOUR + 5, url(11, B))]
    assert "polite" not in kinds(of, *start, *held)


# ---------------------------------------------------------------- once


def test_a_page_that_is_held_is_handed_out() -> None:
    [(kind, text)] = judged(world(host(A, 1)), seed(url(0)), call(0.0, url(0)), visit(9.0, url(0)))
    assert (kind, "claimed by another worker for 291.0 s more" in text) == ("once", True)
    assert kinds(world(host(A, 1)), seed(url(0)), call(0.0, url(0)), visit(301.0, url(0))) == []
    back = Returned(3.0, 3.0, "c0", url(0), A, "t0")
    assert kinds(world(host(A, 1)), seed(url(0)), call(0.0, url(0)), back, visit(9.0, url(0))) == []


@pytest.mark.parametrize(
    ("outcome", "wait", "least"),
    [
        ("fetched", None, DAY),
        ("missing", None, DAY),
        ("moved", None, DAY),
        ("broken", None, 30.0),
        ("silent", None, 30.0),
        ("not_sent", None, 30.0),
        ("refused", None, 30.0),
        ("refused", 120.0, 120.0),
    ],
)
def test_a_page_that_comes_before_it_is_due(outcome: str, wait: float | None, least: float) -> None:
    of = world(host(A, 1))
    first = [
        seed(url(0)),
        visit(0.0, url(0)) if outcome == "fetched" else visit(0.0, url(0), outcome, retry_after=wait),
    ]
    assert "once" in kinds(of, *first, visit(0.5 + least - 1, url(0)))
    assert "once" not in kinds(of, *first, visit(0.5 + least + 1, url(0)))


@pytest.mark.parametrize("order", ["best_first", "breadth_first"])
def test_an_order_that_does_not_come_back(order: str) -> None:
    of = world(host(A, 1), settings={"order": order})
    assert kinds(of, seed(url(0)), visit(0.0, url(0)), visit(5 * DAY, url(0))) == ["once"]


@pytest.mark.parametrize("what", ["hint", "crawl_now", "seed", "forget"])
def test_what_lets_a_page_come_sooner(what: str) -> None:
    of, first = world(host(A, 1)), [seed(url(0)), visit(0.0, url(0))]
    event = Happened(5.0, 5.0, what, url(0))
    again = seed(url(0), at=6.0) if what == "forget" else []
    assert kinds(of, *first, event, again, visit(9.0, url(0))) == []
    assert kinds(of, *first, event, again, visit(9.0, url(0)), visit(99.0, url(0))) == ["once"], "only once"


def test_a_retry_is_of_a_host() -> None:
    of, first = world(host(A, 1), host(B, 1)), [seed(url(0)), visit(0.0, url(0), "missing")]
    assert kinds(of, *first, Happened(5.0, 5.0, "retry", A), visit(9.0, url(0))) == []
    assert kinds(of, *first, Happened(5.0, 5.0, "retry", B), visit(9.0, url(0))) == ["once"]


def test_a_report_that_was_refused_is_none() -> None:
    of = world(host(A, 1))
    assert kinds(of, seed(url(0)), visit(0.0, url(0), accepted=False), visit(9.0, url(0))) == []


def test_a_page_that_was_forgotten_for_ever() -> None:
    gone = Happened(5.0, 5.0, "forget_for_ever", url(0))
    assert kinds(world(host(A, 1)), seed(url(0)), visit(0.0, url(0)), gone, visit(9.0, url(0))) == ["once"]


def test_a_lease_of_a_future_that_is_none() -> None:
    """The clock was a day ahead for a minute: what was claimed then is held for a lease, and no longer."""
    ahead, back = Happened(0.0, DAY, "jump", value=DAY), Happened(60.0, 60.0, "jump", value=-DAY)
    held = call(5.0, url(0), clock=DAY + 5, until=DAY + 5 + LEASE)
    start = [seed(url(0)), ahead, held, back]
    assert "once" not in kinds(world(host(A, 1)), *start, visit(61.0 + LEASE, url(0)))
    assert "once" in kinds(world(host(A, 1)), *start, visit(50.0 + LEASE, url(0)))


# ---------------------------------------------------------------- honest


def test_a_caller_that_comes_in_vain() -> None:
    empty = [call(10.0 + n, as_told=True) for n in range(4)]
    start = [seed(*EVERY), all_of(0, 1, 2)]
    assert kinds(world(), *start, empty[:3]) == []
    assert kinds(world(), *start, empty) == ["honest"]
    of_itself = [replace(each, as_told=False) for each in empty]
    assert kinds(world(), *start, of_itself) == []
    asked = Happened(12.5, 12.5, "hint", url(0))
    assert kinds(world(), *start, empty[:3], asked, empty[3]) == []


def test_others_who_were_quicker() -> None:
    of = world(host(A, 3), host(B, 1))
    empty = [call(10.0 + n, as_told=True) for n in range(3)]
    other = replace(call(12.2, url(0, B)), crawler="c1")
    start = [seed(*EVERY), all_of(0, 1, 2)]
    assert "honest" not in kinds(of, *start, empty, other, call(14.0, as_told=True))


def test_finished_is_said_too_early() -> None:
    over = call(5.0, ready=None, finished=True)
    found = judged(world(), seed(*EVERY), all_of(0, 1), over, visit(9.0, url(2)))
    assert [kind for kind, _ in found] == ["honest", "honest"]
    assert "1 pages of a.example were never fetched" in found[0][1]
    assert "claimed after finished was answered at 5 s" in found[1][1]


def test_what_may_come_after_finished() -> None:
    over = call(5.0, ready=None, finished=True)
    start = [seed(*EVERY), all_of(0, 1, 2), over]
    assert kinds(world(), *start, visit(2 * DAY, url(0))) == [], "a revisit"
    moved = [seed(*EVERY), all_of(0, 1), visit(2.0, url(2), "moved", target=url(0)), over]
    assert "honest" not in kinds(world(), *moved, visit(2 * DAY, url(2))), "an alias"
    parked = [each for n in range(5) for each in visit(40.0 * n + 3, url(2), "broken")]
    later = call(400.0, ready=None, finished=True)
    last = visit(450.0, url(0), "missing")
    assert "honest" not in kinds(world(), seed(*EVERY), all_of(0, 1), parked, last, later, visit(DAY, url(2)))
    once = [seed(*EVERY), all_of(0, 1), visit(2.0, url(2), "broken"), visit(3.0, url(0), "missing"), over]
    assert "honest" in kinds(world(), *once, visit(DAY, url(2))), "a page that failed once, of a host that is well"


def test_pages_of_a_host_that_was_ill() -> None:
    over = call(5.0, ready=None, finished=True)
    ill = [seed(*EVERY), visit(0.0, url(0)), visit(1.0, url(1), "silent"), over]
    assert "honest" not in kinds(world(), *ill, visit(DAY, url(1)), visit(DAY + 2, url(2)))


def test_an_event_lets_pages_come_after_finished() -> None:
    over = call(5.0, ready=None, finished=True)
    event = Happened(6.0, 6.0, "seed", url("new"))
    assert kinds(world(), seed(*EVERY), all_of(0, 1, 2), over, event, visit(9.0, url("new"))) == []


def test_no_time_is_named() -> None:
    nothing = call(5.0, ready=None)
    assert kinds(world(), seed(*EVERY), all_of(0, 1, 2), nothing) == ["honest"]
    assert "honest" not in kinds(world(), seed(*EVERY), all_of(0, 1), call(2.5, url(2)), nothing), "it is held"


# ---------------------------------------------------------------- audit


def test_the_audit_counts() -> None:
    found = judged(world(), seed(*EVERY), all_of(0, 1, 2), audit=("1 lease has no page.",))
    assert found == [("audit", "1 lease has no page.")]


def test_rounds_are_counted_by_the_true_clock() -> None:
    """After the brain's clock has jumped back, attempts count that seem to be older than those before."""
    watch = WorldWatch(world(jumps=((100.0, -DAY),)))
    back = Happened(100.0, 100.0 - DAY, "jump", "", -DAY)
    early, late = visit(50.0, url("bad0"), "broken"), [call(200.0, url("bad0"), clock=200.0 - DAY)]
    late += [report(201.0, url("bad0"), 200.0, "broken", clock=201.0 - DAY)]
    for entry in (*early, back, *late):
        watch.take(entry)
    assert watch.hosts[A].rounds() == 2


def test_a_clock_that_jumps_back_begins_a_retry_after_anew() -> None:
    refused = visit(10.0, url("bad0"), "refused", retry_after=3_600.0)
    back = Happened(1_000.0, 1_000.0 - DAY, "jump", "", -DAY)
    for at, found in ((4_590.0, []), (9_000.0, ["progress"])):
        late = [call(at, url(0), clock=at - DAY), report(at + 0.5, url(0), at, clock=at + 0.5 - DAY)]
        of = world(host(A, 1, Phase(0.0, "refused", 0.3, 503, 3_600.0)), jumps=((1_000.0, -DAY),))
        answers = judged(of, seed(url(0), url("bad0")), refused, back, late)
        assert [judge for judge, _ in answers if judge == "progress"] == found, at


# ---------------------------------------------------------------- robots.txt and sitemaps

ROBOTS, MAP = url("robots.txt"), url("s.xml")
TEXT = Rules(sitemaps=(MAP,)).as_text()


def asking(*hosts: WorldHost, **more: Any) -> World:
    """A world whose crawler claims robots.txt and sitemaps, too. Its host has one sitemap."""
    of = WorldHost(
        A,
        host(A).pages,
        robots=WorldFile("/robots.txt", (WELL,), TEXT),
        sitemaps=(WorldFile("/s.xml", (WELL,), lists=(url(2),)),),
    )
    return world(*(hosts or (of,)), crawlers=(Crawler("c0", 10_000, kinds=KINDS),), **more)


def ask(at: float, *urls: str, **more: Any) -> Called:
    """A call for all kinds. A claim's kind follows from its URL."""
    made = call(at, *urls, **more)
    grants = tuple(replace(each, kind=kind_of(each.url), home=home_of(each.url)) for each in made.grants)
    return replace(made, grants=grants, kinds=KINDS)


def kind_of(page: str) -> Any:
    return "robots" if page.endswith("robots.txt") else "sitemap" if page.endswith(".xml") else "page"


def home_of(page: str) -> str:
    return "" if kind_of(page) == "page" else page


def tell(at: float, page: str, claimed: float, outcome: str = "fetched", **more: Any) -> Reported:
    return replace(report(at, page, claimed, outcome, **more), kind=kind_of(page), home=home_of(page))


def read(at: float, page: str, outcome: str = "fetched", **more: Any) -> list[Entry]:
    """A call of a crawler that asks for all kinds, and its report half a second later."""
    return [ask(at, page), tell(at + 0.5, page, at, outcome, **more)]


KNOWN = [*read(0.0, ROBOTS, text=TEXT)]
"""The robots.txt is read."""
READ = [*KNOWN, *read(1.0, url(0)), *read(2.0, MAP, links=(url(2),)), *read(3.0, url(1)), *read(4.0, url(2))]


def test_a_crawl_of_all_kinds_that_keeps_all_promises() -> None:
    over = replace(ask(5.0, ready=None), finished=True)
    assert judged(asking(), seed(url(0), url(1)), READ, over) == []


def test_a_robots_txt_that_no_crawler_gets() -> None:
    """10 · (3 pages and a robots.txt) · 1 s."""
    rest = [*read(45.0, url(0)), *read(46.0, url(1)), *read(47.0, MAP, links=(url(2),)), *read(48.0, url(2))]
    found = judged(asking(), seed(url(0), url(1)), read(41.0, ROBOTS, text=TEXT), rest)
    assert [kind for kind, _ in found] == ["progress"]
    assert f"{ROBOTS} was found at 0 s and is well, but was not read by 40 s" in found[0][1]
    assert "it was at 41 s" in found[0][1]
    assert judged(asking(), seed(url(0), url(1)), read(39.0, ROBOTS, text=TEXT), rest) == []


def test_pages_wait_for_a_robots_txt() -> None:
    """The time does not count in which it is not known: 40 s, and for an ill file two minutes, a minute, and its
    fetch."""
    fails = WorldFile("/robots.txt", (Phase(0.0, "refused", 0.3, 503), Phase(HOUR, "fetched", 0.3)), TEXT)
    of = asking(WorldHost(A, host(A).pages, robots=fails))
    start = [seed(url(0), url(1)), read(0.0, ROBOTS, "refused", status=503), read(2 * HOUR, ROBOTS, text=TEXT)]
    assert kinds(of, *start, read(2 * HOUR + 90, url(0)), read(2 * HOUR + 91, url(1))) == []
    late = [read(2 * HOUR + 219, url(0)), read(2 * HOUR + 222, url(1))]
    assert kinds(of, *start, *late) == ["progress"]
    end = 2 * HOUR + 120 + 220 + 1
    slow = [seed(url(0)), read(0.0, ROBOTS, "refused", status=503), read(end, ROBOTS, text=TEXT)]
    assert kinds(of, *slow, read(end + 1, url(0))) == ["progress"], "it was well for as long as it had failed"


def test_pages_that_a_sitemap_lists_are_found() -> None:
    start = [seed(url(0), url(1)), READ[:-2]]
    assert kinds(asking(), *start, read(42.0, url(2))) == []
    assert kinds(asking(), *start, read(43.0, url(2))) == ["progress"]
    unread = [seed(url(0), url(1)), READ[:5], tell(2.5, MAP, 2.0, links=(url(2),), accepted=False), READ[6:8]]
    assert kinds(asking(), *unread) == ["progress"], "the sitemap, and not its page"


def test_a_sitemap_that_no_crawler_gets() -> None:
    """Its robots.txt was read at .5 s; 10 · (3 pages, a robots.txt and a sitemap) · 1 s, and two minutes."""
    start = [seed(url(0), url(1)), KNOWN, read(1.0, url(0)), read(2.0, url(1))]
    listed = [url(2)]
    assert judged(asking(), *start, read(170.0, MAP, links=tuple(listed)), read(171.5, url(2))) == []
    [(kind, text)] = judged(asking(), *start, read(172.0, MAP, links=tuple(listed)), read(173.0, url(2)))
    assert (kind, f"{MAP} was found at 0 s" in text) == ("progress", True)


def test_a_page_that_a_robots_txt_forbids() -> None:
    shut = Rules(forbids=("/1",), sitemaps=(MAP,)).as_text()
    start = [seed(url(0), url(1)), read(0.0, ROBOTS, text=shut), READ[2:6], READ[8:]]
    assert judged(asking(), *start) == []
    assert [kind for kind, _ in judged(asking(), *start, read(9.0, url(1)))] == ["polite"]
    again = [read(0.75 * DAY, url("robots.txt", B)), read(DAY, ROBOTS, text=TEXT)]
    of = asking(*asking().hosts, host(B, 1))
    assert judged(of, *start, *again, read(DAY + 300, url(1))) == []
    assert [kind for kind, _ in judged(of, *start, *again, read(DAY + 400, url(1)))] == ["progress"]


def test_claims_of_every_kind_count_for_a_host() -> None:
    fast = [seed(url(0), url(1)), KNOWN, ask(0.7, url(0)), *READ[3:]]
    assert [kind for kind, _ in judged(asking(), *fast)] == ["polite"], "0.7 s after the robots.txt"
    of = asking(settings={"in_flight": 1})
    both = [seed(url(0), url(1)), KNOWN, ask(1.0, url(0)), ask(2.5, MAP)]
    assert any("1 claims of a.example were out" in text for _, text in judged(of, *both))
    asked = [seed(url(0)), KNOWN, read(1.0, url(0)), read(2.0, MAP, "refused", status=503, retry_after=60.0)]
    assert any("asked for a wait" in text for _, text in judged(asking(), *asked, ask(50.0, url(0))))


def test_a_redirected_robots_txt_asks_the_other_host() -> None:
    """Its delay holds, and the rules are those of the first host."""
    there = url("robots.txt", B)
    moved = Phase(0.0, "moved", 0.2, 301, target=there)
    of = asking(
        WorldHost(A, host(A).pages, robots=WorldFile("/robots.txt", (moved,))),
        replace(host(B, 1), robots=WorldFile("/robots.txt", (WELL,), Rules(forbids=("/",)).as_text())),
    )
    first = read(0.0, ROBOTS, "moved", target=there, status=301)

    def second(at: float, **more: Any) -> list[Entry]:
        grant = LoggedGrant(there, B, f"t{at:g}", at + LEASE, kind="robots", home=ROBOTS)
        made = replace(ask(at), grants=(grant,))
        return [made, replace(tell(at + 0.5, there, at, **more), home=ROBOTS)]

    forbidden = [seed(url(0)), first, second(1.0, text=Rules(forbids=("/",)).as_text())]
    assert kinds(of, *forbidden) == []
    assert kinds(of, *forbidden, read(3.0, url(0))) == ["polite"]
    assert kinds(of, *forbidden[:2], read(0.9, there), second(1.0, text=""), read(2.0, url(0))) == ["polite"]


def test_a_ring_of_redirects_ends() -> None:
    ring = Phase(0.0, "moved", 0.2, 301, target=ROBOTS)
    of = asking(WorldHost(A, host(A).pages, robots=WorldFile("/robots.txt", (ring,))))
    moves = [each for n in range(6) for each in read(float(n), ROBOTS, "moved", target=ROBOTS, status=301)]
    assert kinds(of, seed(url(0)), moves, read(6.0, url(0))) == []
    assert kinds(of, seed(url(0)), moves[:-2], read(6.0, url(0))) == ["robots", "progress"]


def test_a_page_before_its_robots_txt() -> None:
    rest = [read(1.0, ROBOTS, text=TEXT), read(2.0, url(1)), read(3.0, MAP, links=(url(2),)), read(4.0, url(2))]
    [(kind, text)] = judged(asking(), seed(url(0), url(1)), read(0.0, url(0)), *rest)
    assert (kind, "the robots.txt of a.example was never read" in text) == ("robots", True)
    alone = replace(asking().crawlers[0], name="pages", kinds=("page",))
    of = replace(asking(), crawlers=(*asking().crawlers, alone))
    assert judged(of, seed(url(0), url(1)), visit(0.0, url(0)), *rest) == []
    late = tell(0.5, ROBOTS, 0.0, text=TEXT, accepted=False)
    assert "robots" in kinds(asking(), seed(url(0), url(1)), ask(0.0, ROBOTS), late, READ[2:])


def test_a_robots_txt_that_is_set_or_forgotten() -> None:
    by_hand = Happened(0.0, 0.0, "robots", A, text=TEXT)
    assert "robots" not in kinds(asking(), seed(url(0), url(1)), by_hand, READ[2:])
    gone = Happened(0.5, 0.5, "robots", A)
    assert "robots" in kinds(asking(), seed(url(0), url(1)), by_hand, gone, READ[2:])


@pytest.mark.parametrize(
    ("page", "outcome", "least"),
    [
        (ROBOTS, "fetched", 20 * HOUR),
        (ROBOTS, "missing", 20 * HOUR),
        (ROBOTS, "silent", 15.0),
        (ROBOTS, "refused", 15.0),
        (MAP, "fetched", HOUR),
        (MAP, "missing", HOUR),
        (MAP, "broken", HOUR),
    ],
)
def test_a_file_that_comes_before_it_is_due(page: str, outcome: str, least: float) -> None:
    start = [seed(url(0), url(1)), READ, read(21 * HOUR, page, outcome)]
    again = 21 * HOUR + 0.5 + least
    assert "once" not in kinds(asking(), *start, read(again + 1, page))
    assert kinds(asking(), *start, read(again - 1, page)).count("once") == 1
    held = [seed(url(0), url(1)), READ, ask(21 * HOUR, page)]
    back = Returned(21 * HOUR + 1, 21 * HOUR + 1, "c0", page, A, f"t{21 * HOUR:g}", kind_of(page), page)
    assert "once" in kinds(asking(), *held, ask(21 * HOUR + 5, page))
    assert "once" not in kinds(asking(), *held, back, ask(21 * HOUR + 5, page))
    assert "once" not in kinds(asking(), *held, ask(21 * HOUR + LEASE + 1, page)), "it lapsed"


def test_a_redirect_is_followed_at_once() -> None:
    moved = [seed(url(0), url(1)), READ, read(21 * HOUR, MAP, "moved", target=url("t.xml"), status=301)]
    assert "once" not in kinds(asking(), *moved, read(21 * HOUR + 1, MAP, links=(url(2),)))


def test_a_sitemap_that_is_named_anew_comes_at_once() -> None:
    """One that was dead is tried when a robots.txt begins to name it."""
    start = [seed(url(0), url(1)), read(0.0, ROBOTS, "missing"), read(1.0, url(0)), read(2.0, MAP, "missing")]
    again = [read(20 * HOUR + 1, ROBOTS, text=TEXT), read(20 * HOUR + 2, MAP, links=(url(2),))]
    assert "once" not in kinds(asking(), *start, *again)


def test_sitemaps_have_a_quarter() -> None:
    """Two of four claims, while a page of a host that is well is due."""
    others = tuple(WorldHost(f"h{n}.example", (WorldPage("/0", (WELL,)),)) for n in range(4))
    of = asking(*asking().hosts, *others)
    known = [each for n in range(4) for each in read(n + 1.0, url("robots.txt", f"h{n}.example"))]
    seeds = seed(*EVERY, *(url(0, f"h{n}.example") for n in range(4)))
    maps = [url("s.xml", f"h{n}.example") for n in range(2)]
    due = 2 * HOUR
    start = [seeds, KNOWN, known]
    assert "sitemaps" in kinds(of, *start, ask(due, *maps, asked=4))
    assert "sitemaps" not in kinds(of, *start, ask(due, *maps, asked=8)), "a quarter"
    assert "sitemaps" not in kinds(of, *start, ask(due, maps[0], asked=1)), "at least one"
    pages = [url(0, "h2.example"), url(0, "h3.example"), url(0)]
    assert "sitemaps" not in kinds(of, *start, ask(due, *maps, *pages, asked=7)), "no page is due any more"


def test_after_finished_a_file_may_bring_pages() -> None:
    over = replace(ask(5.0, ready=None), finished=True)
    new = [seed(url(0), url(1)), READ, over, read(2 * HOUR, MAP, links=(url(2), url("new")))]
    assert kinds(asking(), *new, read(2 * HOUR + 1, url("new"))) == []


def test_a_lease_of_a_file_lets_no_time_be_named() -> None:
    nothing = ask(5.5, ready=None)
    assert "honest" in kinds(asking(), seed(url(0), url(1)), READ, nothing)
    assert "honest" not in kinds(asking(), seed(url(0), url(1)), READ, ask(5.0, MAP), nothing), "it is held"


def test_the_allowance_with_files() -> None:
    """One more for the robots.txt; files that are ill count as pages that are ill do."""
    assert allowance(asking(), asking().hosts[0]) == 40.0
    ill = tuple(WorldFile(f"/{n}.xml", (Phase(0.0, "silent", 5.0, None),)) for n in range(10))
    of = asking(WorldHost(A, host(A).pages, sitemaps=ill))
    assert allowance(of, of.hosts[0]) == 40 + 2 * 2 * MINUTE + 50


def test_a_crawl_that_is_finished_without_a_robots_txt() -> None:
    """It does not wait for one that fails on another host, to which it redirects; it does for one that was not read."""
    moved = Phase(0.0, "moved", 0.2, 301, target=url("robots.txt", B))
    of = asking(WorldHost(A, host(A).pages, robots=WorldFile("/robots.txt", (moved,))), host(B, 1))
    there = LoggedGrant(url("robots.txt", B), B, "t1", 1.0 + LEASE, kind="robots", home=ROBOTS)
    led = [*read(0.0, ROBOTS, "moved", target=url("robots.txt", B)), replace(ask(1.0), grants=(there,))]
    fails = [replace(tell(1.5, there.url, 1.0, "broken", status=500), home=ROBOTS)]
    over = replace(ask(5.0, ready=None), finished=True)
    later = [replace(ask(9.0), grants=(replace(there, token="t9", until=9.0 + LEASE),))]
    later += [replace(tell(9.5, there.url, 9.0, text=TEXT), home=ROBOTS), *read(10.0, url(0))]
    assert "honest" not in kinds(of, seed(url(0)), led, fails, over, later)
    assert "honest" in kinds(of, seed(url(0)), over)
    assert "honest" in kinds(of, seed(url(0)), led[:2], over), "it did not fail"


# ---------------------------------------------------------------- orders by hand


def hand(at: float, what: str, target: str = "", text: str = "", **more: Any) -> Happened:
    return Happened(at, at, what, target, text=text, **more)


def test_a_paused_brain_gives_no_claims_and_says_so() -> None:
    start = [seed(*EVERY), all_of(0, 1), hand(2.5, "pause")]
    paused = call(3.0, ready=None, paused=True)
    assert kinds(world(), *start, paused, hand(4.0, "resume"), visit(4.0, url(2))) == []
    assert kinds(world(), *start, paused, hand(7_000.0, "resume"), visit(7_009.0, url(2))) == [], "it does not count"
    assert kinds(world(), *start, visit(3.0, url(2))) == ["obedient"]
    assert kinds(world(), *start, call(3.0, ready=None)) == ["honest", "obedient"]
    assert kinds(world(), *start, call(3.0, ready=None, paused=True, finished=True)) == ["honest", "obedient"]
    assert "obedient" in kinds(world(), seed(*EVERY), all_of(0, 1), paused)
    assert "obedient" in kinds(world(), *start, hand(2.6, "pause"))
    assert "obedient" in kinds(world(), seed(*EVERY), hand(0.0, "resume"))


def test_another_brain_object_takes_a_pause_up_within_a_second() -> None:
    start = [seed(*EVERY), all_of(0, 1), hand(2.5, "pause")]
    assert "obedient" not in kinds(world(), *start, replace(call(3.0, url(2)), apart=True))
    assert "obedient" in kinds(world(), *start, replace(call(3.6, url(2)), apart=True))


@pytest.mark.parametrize("what", ["retry_page", "crawl_now", "seed", "retry"])
def test_a_parked_page_is_not_claimed_until_it_is_asked_for(what: str) -> None:
    start = [seed(*EVERY), all_of(0, 1), hand(2.0, "park", url(2))]
    over = call(9.0, ready=None, finished=True)
    assert kinds(world(), *start, over) == []
    assert kinds(world(), *start, visit(3.0, url(2))) == ["obedient"]
    assert kinds(world(), *start, hand(3.0, "hint", url(2)), visit(3.0, url(2))) == ["obedient"]
    back = hand(7_000.0, what, A if what == "retry" else url(2))
    assert kinds(world(), *start, back, visit(7_020.0, url(2))) == []
    assert kinds(world(), *start, back, visit(7_040.0, url(2))) == ["progress"]


def test_the_answers_to_link_and_unlink() -> None:
    start = [seed(*EVERY), visit(0.0, url(0), links=(url(1),)), all_of(1, 2, start=1.0)]
    for what, other, done in (("link", url(1), False), ("link", url(2), True), ("unlink", url(1), True)):
        assert kinds(world(), *start, hand(5.0, what, url(0), other, done=done)) == []
        assert kinds(world(), *start, hand(5.0, what, url(0), other, done=not done)) == ["obedient"]
    again = hand(5.0, "unlink", url(0), url(1)), hand(6.0, "unlink", url(0), url(1), done=False)
    assert kinds(world(), *start, *again) == []
    assert kinds(world(), *start, hand(5.0, "link", url(0), url("new"))) == []


def test_settings_that_change_hold_from_then_on() -> None:
    start = [seed(*EVERY), all_of(0, 1), Happened(1.6, 1.6, "set", value=5.0, text="delay_seconds")]
    assert "polite" in kinds(world(), *start, visit(3.0, url(2)))
    assert "polite" not in kinds(world(), *start, visit(2.2, url(2))), "within a second"
    assert kinds(world(), *start, visit(6.0, url(2))) == []
