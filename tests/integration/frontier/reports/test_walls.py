"""Walls: many pages of a host lead for now to one, a login perhaps. Their visits are no changes, whatever comes."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from graphbrain import Brain, Fetched, Link
from graphbrain.base.urls.walls import ASKED, MANY
from tests.integration.conftest import HandClock

SITE = "http://a.example"
LOGIN = f"{SITE}/login"


def member(number: int) -> str:
    return f"{SITE}/members/{number}"


def real(number: int, clock: HandClock) -> Fetched:
    """A page as those see it who have logged in."""
    text = f"<title>M{number}</title><p>All about member {number}, who is known to all as number {number}."
    links = [Link(f"{SITE}/of/{number}", anchor=f"of {number}"), f"{SITE}/"]
    return Fetched(
        member(number), links, body=text.encode(), content_type="text/html", fetched_at=clock(), relevance=0.9,
        title=f"M{number}", size=len(text),
    )  # fmt: skip


def led(number: int, clock: HandClock, status: int = 302, end: str = LOGIN) -> Fetched:
    """The same without a session: the form, which links to its own pages."""
    where = f"{end}?next=/members/{number}"
    return Fetched(
        member(number), [f"{SITE}/forgot", f"{SITE}/register"], status=status, led_to=[where], body=b"<form>who?",
        content_type="text/html", fetched_at=clock(), relevance=0.1,
    )  # fmt: skip


def kept(brain: Brain, number: int) -> tuple[object, ...]:
    """What is known of a page's content, and its links."""
    page = brain.page(member(number))
    links = sorted((link.url, link.anchor) for link in brain.links(member(number)))
    return page.changed, page.changes, page.relevance, links


@pytest.mark.parametrize("status", [302, 303, 307])
@pytest.mark.parametrize("at_once", [True, False])
def test_an_ended_session_is_no_edit(brain: Brain, clock: HandClock, status: int, at_once: bool) -> None:
    numbers = range(12)
    brain.report([real(number, clock) for number in numbers])
    before = {number: kept(brain, number) for number in numbers}
    clock.pass_(86_400.0)
    visits = [led(number, clock, status) for number in numbers]
    answers = brain.report(visits) if at_once else [brain.report([visit])[0] for visit in visits]
    # One after another the first ones might lead anywhere.
    first = 0 if at_once else MANY - 1
    assert [answer.outcome for answer in answers] == ["changed"] * first + ["same"] * (12 - first)
    assert all(ASKED in answer.reason and f"lead to {LOGIN} for now" in answer.reason for answer in answers[first:])
    assert all(not answer.reason for answer in answers[:first])
    assert {number: kept(brain, number) for number in numbers[first:]} == {n: before[n] for n in numbers[first:]}
    assert all(brain.page(member(number)).led_to == [f"{LOGIN}?next=/members/{number}"] for number in numbers)
    host = brain.host("a.example")
    assert (host.wall, host.walled) == (LOGIN, 12)
    assert [(h.wall, h.walled) for h in brain.hosts()] == [(LOGIN, 12)]
    # With a session again, a page is as it was; and one that was edited meanwhile is seen to be.
    clock.pass_(86_400.0)
    assert [a.outcome for a in brain.report([real(n, clock) for n in range(6, 11)])] == ["same"] * 5
    edited = real(11, clock)
    (answer,) = brain.report(
        [Fetched(edited.url, edited.links, body=b"<p>something else entirely", fetched_at=clock.pass_(9.0))]
    )
    assert answer.outcome == "changed"
    assert brain.host("a.example").walled == 6
    assert brain.page(member(8)).led_to is None
    # The last of them leaves it.
    clock.pass_(86_400.0)
    brain.report([real(number, clock) for number in range(2)])
    assert (brain.host("a.example").wall, brain.host("a.example").walled) == (None, None)


def test_what_is_no_wall(brain: Brain, clock: HandClock) -> None:
    """Pages that lead to themselves, each elsewhere, by a refresh, or from hosts of which each has few."""
    own = [Fetched(member(n), status=302, led_to=[f"{member(n)}?session={n}"], fetched_at=clock()) for n in range(9)]
    assert not any(answer.reason for answer in brain.report(own))
    each = [Fetched(f"{SITE}/o/{n}", status=302, led_to=[f"{SITE}/at/{n}"], fetched_at=clock()) for n in range(9)]
    assert not any(answer.reason for answer in brain.report(each))
    fresh = [Fetched(f"{SITE}/f/{n}", led_to=[LOGIN], body=b"x%d" % n, fetched_at=clock()) for n in range(9)]
    assert not any(answer.reason for answer in brain.report(fresh))
    few = [
        Fetched(f"http://{host}.example/{n}", status=302, led_to=["http://sso.example/"], fetched_at=clock())
        for host in "bcdef"
        for n in range(MANY - 1)
    ]
    assert not any(answer.reason for answer in brain.report(few))
    assert [host.wall for host in brain.hosts()] == [None] * 5 + [None] * (len(list(brain.hosts())) - 5)


def test_a_wall_of_another_host_and_two_of_one(brain: Brain, clock: HandClock) -> None:
    def visits(host: str, end: str, count: int) -> list[Fetched]:
        return [
            Fetched(
                f"http://{host}/{end[-1]}{n}",
                status=307,
                led_to=["http://x.example/", f"{end}?{n}"],
                fetched_at=clock(),
            )
            for n in range(count)
        ]

    brain.report(visits("b.example", "http://sso.example/a", 6) + visits("b.example", "http://sso.example/b", 8))
    brain.report(visits("b.example.org", "http://sso.example/c", 5))
    walls = {host.name: (host.wall, host.walled) for host in brain.hosts() if host.wall}
    assert walls == {"b.example": ("http://sso.example/b", 8), "b.example.org": ("http://sso.example/c", 5)}


def test_it_takes_no_lock_of_a_host_and_one_statement(brain: Brain, clock: HandClock) -> None:
    """A report of pages that lead elsewhere locks what it locked before; one of others sends what it sent before."""
    brain.report([real(number, clock) for number in range(9)])

    def sent(report: list[Fetched]) -> Counter[str]:
        counted: Counter[str] = Counter()
        with brain.graph.trace(lambda name, *_: counted.update([name])):
            brain.report(report)
        return counted

    clock.pass_(60.0)
    assert sent([led(number, clock) for number in range(9)])["visits/leading"] == 1
    clock.pass_(60.0)
    walled, well = sent([led(0, clock)]), sent([real(1, clock)])
    assert "visits/leading" not in well
    hosts = {name for name in walled if name.startswith("hosts/")}
    assert hosts <= {name for name in well if name.startswith("hosts/")}


@pytest.mark.parametrize("seed", range(6))
def test_sessions_that_come_and_go(brain: Brain, clock: HandClock, seed: int) -> None:
    """Whatever visits come in whatever batches: once a wall is known a page changes when its own content does."""
    drawn = random.Random(seed)
    versions, has_been = dict.fromkeys(range(10), 0), dict[int, int]()
    brain.report([led(number, clock) for number in range(20, 20 + MANY)])  # these are never seen
    for _ in range(12):
        clock.pass_(3_600.0)
        visits, wanted = [], []
        for number in drawn.sample(range(10), drawn.randint(1, 6)):
            if drawn.random() < 0.3:
                versions[number] += 1
            if drawn.random() < 0.5:
                visits.append(led(number, clock, drawn.choice([302, 303, 307])))
                wanted.append("same" if number in has_been else "new")
                has_been.setdefault(number, -1)
                continue
            known = has_been.get(number)
            changed = known is not None and known != -1 and known != versions[number]
            wanted.append("new" if known is None else "changed" if changed else "same")
            has_been[number] = versions[number]
            text = f"<p>{'word ' * 40} {'edited ' * versions[number]}".encode()
            visits.append(Fetched(member(number), [f"{SITE}/of/{number}"], body=text, fetched_at=clock()))
        assert [answer.outcome for answer in brain.report(visits)] == wanted


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_is_one_arrival(brain: Brain, clock: HandClock, seed: int) -> None:
    """However many pages lead on to one, each followed to the end: a wall has as many arrivals as no other leads to."""
    drawn = random.Random(seed)
    for number, heads in enumerate([1, MANY - 1, MANY, MANY + 2]):
        end, step = f"{SITE}/end/{number}", f"{SITE}/step/{number}"
        steps = [f"{step}/{place}" for place in range(drawn.randint(1, 12))]
        ways = [steps[place:] for place in range(len(steps))]
        ways += [
            [f"{SITE}/head/{number}/{head}", *drawn.choice(ways[: 1 if head == 0 else None])] for head in range(heads)
        ]
        visits = [Fetched(way[0], status=302, led_to=[*way[1:], end], fetched_at=clock()) for way in ways]
        drawn.shuffle(visits)
        cut = drawn.randrange(len(visits))
        alone, together = brain.report(visits[:cut]), brain.report(visits)
        assert (ASKED in " ".join(answer.reason or "" for answer in together)) == (heads >= MANY)
        assert heads >= MANY or not any(answer.reason for answer in alone)
        host = brain.host("a.example")
        assert (host.wall, host.walled) == ((end, heads) if heads >= MANY else (None, None))
        brain.report([Fetched(way[0], body=b"a page", fetched_at=clock.pass_(9.0)) for way in ways])


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("query", ["", "?id={}", "?next=/members/{}"])
def test_a_wall_is_a_page_with_its_own_claim(brain: Brain, at_once: bool, query: str) -> None:
    """Nobody else names it. Targets that differ by more than the name of the page are pages of their own."""
    ends = {number: f"{SITE}/there{query.format(number)}" for number in range(MANY + 3)}
    brain.seed([member(number) for number in ends])
    claims = [claim for _ in ends for claim in brain.next_urls(1)]
    visits = [
        Fetched(claim.url, (), claim, status=302, led_to=[ends[int(claim.url.rpartition("/")[2])]]) for claim in claims
    ]
    for part in [visits] if at_once else [[visit] for visit in visits]:
        brain.report(part)
    claimed = {claim.url for _ in range(2 * MANY) for claim in brain.next_urls(9)}
    assert claimed <= set(ends.values())
    echoes = 1 if at_once else MANY - 1
    assert len(claimed) == {"": 1, "?id={}": len(ends), "?next=/members/{}": echoes}[query]
