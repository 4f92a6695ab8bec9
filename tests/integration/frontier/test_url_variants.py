"""One page, many ways to write its URL: the address is as a site wrote it, and gives way to a better one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Claim, Failed, Fetched, Hint
from tests.integration.conftest import HandClock, sound
from tests.plugin import Neo4j

MakeBrain = Callable[..., Brain]
A, B = "http://a.org/", "http://b.org/"


def claim(brain: Brain, host: str = "a.org") -> Claim:
    [held] = [each for each in brain.next_urls(50) if each.host == host]
    return held


WRITTEN = [
    "http://a.org/i.jpg?w=1200&h=630&auto=format&s=d5ed",
    "http://a.org/diff?cv%5B%5D=5&cv%5B%5D=4",
    "http://a.org/gitweb/?p=x.git;a=log",
    "http://a.org/service?wsdl",
    "http://a.org/go?http://c.example/x",
    "http://a.org/bin?a+b",
    "http://a.org/x?q=a%20b",
    "http://a.org/%7ejoe/caf%c3%a9",
    "http://a.org/p?utm%5Fsource=x",
    "http://a.org/s;jsessionid=A1?PHPSESSID=x",
]


def test_pages_are_handed_out_and_reported_as_they_were_linked(brain: Brain) -> None:
    brain.report([Fetched(B, WRITTEN)])
    held = [each for each in brain.next_urls(50) if each.host == "a.org"]
    assert {each.url for each in held} == set(WRITTEN)
    assert all(answer.accepted for answer in brain.report([Fetched(each.url, claim=each) for each in held]))
    assert {brain.page(url).state for url in WRITTEN} == {"known"}
    assert not brain.next_urls(50)
    sound(brain)


def test_a_page_that_was_not_fetched_takes_a_spelling_with_less_in_it(brain: Brain) -> None:
    written = [f"{A}?PHPSESSID=1&utm_source=2&x=1", f"{A}?PHPSESSID=2&x=1", f"{A}?PHPSESSID=3&x=1", f"{A}?x=1"]
    for number, url in enumerate(written):
        brain.report([Fetched(f"http://b.org/{number}", [url])])
        assert brain.page(f"{A}?x=1").url == written[number if number != 2 else 1]
    brain.report([Fetched("http://b.org/9", [written[0]])])
    assert brain.page(written[0]).url == written[3]


@pytest.mark.parametrize("way", ["one page", "one report", "seed", "hint"])
def test_of_several_spellings_at_once_the_cleanest_is_taken(brain: Brain, way: str) -> None:
    poor, good = f"{A}?gclid=1&x=1", f"{A}?x=1"
    if way == "one page":
        brain.report([Fetched(B, [poor, good, poor])])
    elif way == "one report":
        brain.report([Fetched(B, [poor]), Fetched("http://c.org/", [good])])
    elif way == "seed":
        brain.report([Fetched(B, [poor])])
        assert brain.seed([poor, good, poor]).known == 1
    else:
        brain.report([Fetched(B, [poor])])
        brain.hint([Hint(good)])
    assert brain.page(poor).url == good


def test_a_page_that_somebody_fetched_by_a_better_spelling_takes_that(brain: Brain) -> None:
    brain.report([Fetched(B, [f"{A}?gclid=1"])])
    brain.report([Fetched(A)])
    assert (brain.page(A).url, brain.page(A).state) == (A, "known")


def test_a_page_that_was_fetched_keeps_its_address_until_it_fails(brain: Brain, clock: HandClock) -> None:
    poor, good = f"{A}?gclid=1", A
    brain.report([Fetched(poor), Fetched(B, [good])])
    assert brain.page(A).url == poor
    clock.pass_(1.0)
    brain.report([Failed(poor, status=500), Fetched("http://c.org/", [good])])
    clock.pass_(1.0)
    brain.report([Fetched("http://d.org/", [good])])
    assert brain.page(A).url == good


def test_a_spelling_that_robots_allow_lets_a_barred_page_in(brain: Brain) -> None:
    barred, allowed = f"{A}list?sort=asc&page=2", f"{A}list?page=2&sort=asc"
    brain.report([Fetched(B, [A, barred])])
    brain.set_robots("a.org", "User-agent: *\nDisallow: /*?sort=")
    assert brain.page(barred).outside_because == "robots"
    brain.report([Fetched("http://b.org/1", [barred])])
    assert brain.page(barred).state == "outside"
    brain.report([Fetched("http://b.org/2", [allowed])])
    page = brain.page(barred)
    assert (page.url, page.state, page.outside_because) == (allowed, "frontier", None)
    assert allowed in {each.url for each in brain.next_urls(10)}
    sound(brain)


def test_a_spelling_that_the_scope_allows_lets_a_page_in(make_brain: MakeBrain) -> None:
    brain = make_brain(deny_urls=r"\?print")
    barred, allowed = f"{A}x?print&id=1", f"{A}x?id=1&print"
    brain.report([Fetched(B, [barred])])
    assert brain.page(barred).outside_because == "scope"
    brain.report([Fetched("http://b.org/1", [allowed])])
    assert (brain.page(barred).url, brain.page(barred).state) == (allowed, "frontier")


@pytest.mark.parametrize("order", ["optimal", "best_first"])
def test_a_server_that_has_its_own_order_of_arguments_is_followed(
    make_brain: MakeBrain, clock: HandClock, neo4j: Neo4j, order: str
) -> None:
    make_brain(order=order)
    with neo4j.open(crawl="test", clock=clock, auto_tend=False) as brain:
        ours, theirs = f"{A}?a=1&b=2", f"{A}?b=2&a=1"
        brain.seed([ours])
        held = claim(brain)
        [answer] = brain.report([Fetched(held.url, claim=held, status=301, redirected_to=theirs)])
        assert (answer.accepted, answer.outcome) == (True, "retry")
        assert theirs in answer.reason
        held = claim(brain)
        assert held.url == theirs
        assert brain.page(ours).errors == 0
        [answer] = brain.report([Fetched(held.url, [B], held)])
        assert answer.outcome == "new"
        assert (brain.page(ours).state, brain.page(ours).url) == ("known", theirs)
        assert brain.stats()["pages"] == 2
        sound(brain)


def test_a_server_that_bounces_between_two_spellings_is_left_in_the_end(make_brain: MakeBrain) -> None:
    brain = make_brain(max_errors=1, park_after_seconds=0.0)
    one, other = f"{A}?a=1&b=2", f"{A}?b=2&a=1"
    brain.seed([one])
    visits = 0
    while held := brain.next_urls(5):
        visits += 1
        [page] = held
        brain.report([Fetched(page.url, claim=page, status=301, redirected_to=other if page.url == one else one)])
    assert visits == 4
    assert (brain.page(one).state, brain.page(one).errors) == ("parked", 1)
    sound(brain)


def test_a_users_rule_that_joins_hosts_takes_a_page_to_the_other(neo4j: Neo4j, brain: Brain) -> None:
    def one_site(url: str) -> str:
        return url.replace("//www.", "//")

    with neo4j.open(crawl="test", canonical=one_site, auto_tend=False) as own:
        own.seed([A])
        own.set_host("a.org", delay=1.0, in_flight=1)
        held = claim(own)
        [answer] = own.report([Fetched(held.url, claim=held, status=301, redirected_to="http://www.a.org/")])
        assert answer.outcome == "retry"
        assert (own.host("a.org").in_flight, own.page(A).host) == (0, "www.a.org")
        held = claim(own, "www.a.org")
        assert held.url == "http://www.a.org/"
        assert own.report([Fetched(held.url, claim=held)])[0].accepted
    sound(brain)


def test_claims_go_by_their_key_whatever_the_rules_say(neo4j: Neo4j, brain: Brain) -> None:
    brain.seed([f"{A}?id=1&ref=x", f"{A}q?ref=y"])
    calls = iter(range(10_000))
    with neo4j.open(crawl="test", canonical=lambda url: f"{url.split('?')[0]}{next(calls)}", auto_tend=False) as odd:
        held = odd.next_urls(10)
        assert len(held) == 2
        assert None not in odd.renew(held)
        assert all(answer.accepted for answer in odd.report([Fetched(each.url, [B], each) for each in held]))
        assert {each.host for each in odd.next_urls(10)} == {"b.org"}
    sound(brain)
