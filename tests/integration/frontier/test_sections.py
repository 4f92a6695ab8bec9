"""What is learned of sections from visits, and what follows for the pages that wait."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.base.errors import UnknownHost
from graphbrain.frontier import section_factors
from tests.integration.conftest import HandClock, lose_an_answer

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]
HOME = "http://s.example/"
LEARNED_FROM = "MATCH (p:Page) WHERE p.brought IS NOT NULL"


class Site:
    """A host with articles of their own words, and a copy of each under another URL."""

    def __init__(self, seed: int = 1) -> None:
        dice = random.Random(seed)
        words = [a + b for a in "bdfgklmnprst" for b in ("ane", "elo", "ust", "imra", "argo", "ently", "sora", "unt")]
        self.template = [" ".join(dice.choice(words) for _ in range(6)) for _ in range(8)]
        self.articles = [" ".join(dice.choice(words) for _ in range(120)) for _ in range(200)]

    def body(self, number: int) -> bytes:
        parts = [*self.template, self.articles[number]]
        return f"<html><body>{''.join(f'<p>{part}</p>' for part in parts)}</body></html>".encode()

    def fetched(self, number: int, copy: bool, **more: object) -> Fetched:
        return Fetched(self.url(number, copy), body=self.body(number), **more)  # type: ignore[arg-type]

    @staticmethod
    def url(number: int, copy: bool) -> str:
        return f"{HOME}{'print' if copy else 'article'}/{number}"


def learned(ask: Ask) -> list[object]:
    return ask("MATCH (s:Site) RETURN s.host, s.learned, s.sections")[0]


def test_visits_are_noted_and_learned_from_once(brain: Brain, ask: Ask) -> None:
    site = Site()
    brain.report([site.fetched(number, copy) for number in range(20) for copy in (False, True)])
    assert ask("MATCH (p:Page) WHERE p.unlearned IS NOT NULL RETURN count(p)") == [[40]]
    brain.tend(None)
    assert ask("MATCH (p:Page) WHERE p.unlearned IS NOT NULL OR p.shingles IS NOT NULL RETURN count(p)") == [[0]]
    brought = dict(ask("MATCH (p:Page) RETURN p.url, p.brought"))  # type: ignore[arg-type]
    assert all(brought[site.url(number, True)] == 0.0 for number in range(5, 20))  # type: ignore[operator]
    assert all(brought[site.url(number, False)] > 0.9 for number in range(5, 20))  # type: ignore[operator]
    before = learned(ask)
    brain.report([site.fetched(number, False) for number in range(20)])
    brain.tend(None)
    assert learned(ask) == before


def test_a_lost_answer_teaches_once(brain: Brain, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site()
    brain.report([site.fetched(number, False) for number in range(3)])
    left = lose_an_answer(monkeypatch)
    brain.tend(None)
    assert not left
    assert ask("MATCH (p:Page) WHERE p.brought IS NULL RETURN count(p)") == [[0]]


def test_pages_that_are_missing_or_lead_elsewhere_bring_nothing(brain: Brain, ask: Ask) -> None:
    brain.seed([f"{HOME}{kind}/{number}" for kind in ("gone", "moved", "for-now", "busy") for number in range(4)])
    claims = {claim.url: claim for claim in brain.next_urls(20)}
    brain.report(
        [
            *(Failed(f"{HOME}gone/{n}", claims[f"{HOME}gone/{n}"], 404) for n in range(4)),
            *(
                Fetched(
                    f"{HOME}{kind}/{n}", claim=claims[f"{HOME}{kind}/{n}"], status=status, redirected_to=f"{HOME}at/{n}"
                )
                for kind, status in (("moved", 301), ("for-now", 302))
                for n in range(4)
            ),
            *(Failed(f"{HOME}busy/{n}", claims[f"{HOME}busy/{n}"], 500) for n in range(4)),
        ]
    )
    brain.tend(None)
    brought = ask(
        "MATCH (p:Page) WHERE p.brought IS NOT NULL RETURN split(p.url, '/')[3] AS kind, sum(p.brought), count(p)"
    )
    assert sorted(brought) == [["for-now", 0.0, 4], ["gone", 0.0, 4], ["moved", 0.0, 4]]


def test_a_page_that_names_another_as_its_canonical_brings_nothing(brain: Brain, ask: Ask) -> None:
    site = Site()
    brain.report([site.fetched(number, False) for number in range(8)])
    odd = [
        Fetched(f"{HOME}odd/{number}", body=site.body(100 + number), canonical=site.url(number, False))
        for number in range(8)
    ]
    alone = [
        Fetched(f"{HOME}alone/{number}", body=site.body(120 + number), canonical=f"{HOME}never/{number}")
        for number in range(8)
    ]
    brain.report([*odd, *alone])
    brain.tend(None)
    rows = ask(f"{LEARNED_FROM} RETURN split(p.url, '/')[3] AS kind, round(avg(p.brought), 1)")
    assert sorted(rows) == [["alone", 1.0], ["article", 1.0], ["odd", 0.0]]


def test_threads_that_learn_at_once_learn_what_one_does(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain()
    others = [make_brain() for _ in range(3)]
    site = Site()
    visits = [site.fetched(number, copy) for number in range(60) for copy in (False, True)]
    for start in range(0, len(visits), 10):
        brain.report(visits[start : start + 10])
        threads = [threading.Thread(target=each.tend, args=(None,)) for each in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert ask("MATCH (p:Page) WHERE p.unlearned IS NOT NULL RETURN count(p)") == [[0]]
    assert ask("MATCH (s:Site) RETURN count(s)") == [[1]]
    host, times, text = learned(ask)
    assert host == "s.example"
    assert times == 12
    assert "article" in str(text)


def test_all_hosts_that_are_due_are_learned_from_together(make_brain: MakeBrain, ask: Ask) -> None:
    """In one transaction, and from each the same is learned as from it alone."""
    brain, site = make_brain(), Site()
    visits = [site.fetched(number, copy) for number in range(20) for copy in (False, True)]
    others = [
        replace(visit, url=visit.url.replace("s.example", name))
        for name in ("a.example", "z.example")
        for visit in visits
    ]
    brain.report([visit for three in zip(visits, others[:40], others[40:], strict=True) for visit in three])
    statements: list[str] = []
    with brain.graph.trace(lambda name, *_: statements.append(name)):
        brain.tend(None)
    assert [statements.count(f"sections/{name}") for name in ("visits", "lock", "learned")] == [1, 1, 1]
    brought = "MATCH (p:Page) WHERE p.host = $host RETURN split(p.url, '/')[3] + '/' + split(p.url, '/')[4], p.brought"
    alone, *together = ([*sorted(ask(brought, host=name))] for name in ("s.example", "a.example", "z.example"))
    assert together == [alone, alone] and len(alone) == 40
    sites = ask("MATCH (s:Site) RETURN s.host, s.learned, s.known, s.sections IS NOT NULL ORDER BY s.host")
    assert [row[:2] for row in sites] == [["a.example", 1], ["s.example", 1], ["z.example", 1]]
    assert len({str(row[2:]) for row in sites}) == 1


def test_nothing_is_noted_where_no_sections_are_wanted(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain(sections_per_host=0)
    site = Site()
    brain.report([site.fetched(number, True) for number in range(10)])
    brain.tend(None)
    assert ask("MATCH (s:Site) RETURN count(s)") == [[0]]
    assert ask("MATCH (p:Page) WHERE p.unlearned IS NOT NULL RETURN count(p)") == [[0]]


def test_a_page_that_is_forgotten_takes_its_note_along_and_clear_forgets_sites(brain: Brain, ask: Ask) -> None:
    site = Site()
    brain.report([site.fetched(number, False) for number in range(10)])
    brain.forget(site.url(0, False))
    brain.tend(None)
    assert ask("MATCH (p:Page) WHERE p.brought IS NOT NULL RETURN count(p)") == [[9]]
    brain.clear()
    assert ask("MATCH (s:Site) RETURN count(s)") == [[0]]


# ---------------------------------------------------------------------- what follows for pages that wait

ACTING = {"value": "authority harvest", "order": "best_first"}


def learn_that_copies_bring_nothing(brain: Brain, site: Site, first: int = 0, last: int = 20) -> None:
    brain.report([site.fetched(number, copy) for number in range(first, last) for copy in (False, True)])
    brain.tend(None)


def claimed_at_once(brains: Sequence[Brain], n: int) -> list[str]:
    """The keys that a thread for each of these brains gets, `n` at a time, until nothing is left."""
    got: list[str] = []

    def claim(own: Brain) -> None:
        while claims := own.next_urls(n):
            got.extend(each.key for each in claims)

    threads = [threading.Thread(target=claim, args=(own,)) for own in brains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def harvests(ask: Ask) -> dict[str, list[object]]:
    """By kind of page the factors that pages wait with which were never fetched."""
    rows = ask(
        "MATCH (p:Page) WHERE p.first_fetched IS NULL"
        " RETURN split(p.url, '/')[3] AS kind, collect(DISTINCT coalesce(p.harvest, 1.0))"
    )
    return {str(kind): list(found) for kind, found in rows}  # type: ignore[call-overload]


def test_of_pages_of_one_name_one_is_claimed_where_names_tell_copies(make_brain: MakeBrain) -> None:
    """Each page is there under folders without end, and nothing but its name says which pages are the same."""
    brain, site, dice = make_brain(**ACTING), Site(), random.Random(1)

    def url(number: int) -> str:
        return f"{HOME}{''.join(dice.choices('bdfgkl', k=9))}/{number}"

    brain.report([Fetched(url(number), body=site.body(number)) for _ in range(3) for number in range(12)])
    brain.tend(None)
    brain.report([Fetched(HOME, [url(number) for number in range(30, 40) for _ in range(4)])])
    first = brain.next_urls(10)
    assert {claim.url.split("/")[-1] for claim in first} == {str(number) for number in range(30, 40)}
    shown = {section.pattern for claim in first if (section := brain.page(claim.url).section)}
    assert shown == {"!echo"}, "a page that is out is no echo of itself"
    # The others of their names count as copies before the first ones are reported, and are claimed all the same.
    brain.report([Fetched(HOME + "more", [url(number) for number in range(40, 45)])])
    names = [claim.url.split("/")[-1] for claim in [*brain.next_urls(5), *brain.next_urls(40)]]
    assert sorted(names[:5]) == [str(number) for number in range(40, 45)]
    assert sorted(names[5:]) == sorted(3 * [str(number) for number in range(30, 40)])


def test_a_page_leaves_the_first_visit_to_one_under_a_plainer_url_that_waits(make_brain: MakeBrain) -> None:
    """Where a page is known under its plain URL. Of others the decorated URL is as good."""
    brain, site = make_brain(**ACTING), Site()

    def url(number: int, session: bool) -> str:
        return f"{HOME}article/{number}" + (f"?visitor=a{number}b" if session else "")

    both = [Fetched(url(number, session), body=site.body(number)) for number in range(12) for session in (False, True)]
    alone = [Fetched(url(number, True), body=site.body(number)) for number in range(20, 50)]
    brain.report([*both, *alone])
    brain.tend(None)
    waiting = [url(number, session) for number in range(100, 110) for session in (True, False)]
    brain.report([Fetched(HOME, [*waiting, *(url(number, True) for number in range(120, 130))])])
    first = {claim.url for claim in brain.next_urls(20)}
    assert first == {url(number, False) for number in range(100, 110)} | {
        url(number, True) for number in range(120, 130)
    }
    assert {claim.url for claim in brain.next_urls(20)} == {url(number, True) for number in range(100, 110)}


def test_where_all_copies_had_a_plainer_page_others_wait_before_that_is_known(make_brain: MakeBrain) -> None:
    brain, site = make_brain(**ACTING), Site()
    argument = "?visitor=1"
    brain.report([site.fetched(number, False) for number in range(20)])
    brain.report([Fetched(site.url(number, False) + argument, body=site.body(number)) for number in range(20)])
    brain.tend(None)
    copies = [site.url(number, False) + argument for number in range(100, 110)]
    others = [site.url(number, False) for number in range(120, 130)]
    brain.report([Fetched(HOME, [*copies, *others])])
    assert {claim.url for claim in brain.next_urls(10)} == set(others)
    assert {claim.url for claim in brain.next_urls(20)} == set(copies)


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_a_new_page_of_a_section_that_brings_little_waits_behind_others(
    make_brain: MakeBrain, ask: Ask, engine: str
) -> None:
    brain, site = make_brain(engine=engine, **ACTING), Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 40) for copy in (True, False)])])
    found = harvests(ask)
    assert found["article"] == [1.0]
    assert max(found["print"]) <= 0.25  # type: ignore[type-var]
    first = [claim.url.split("/")[3] for claim in brain.next_urls(20)]
    assert first == ["article"] * 20
    assert [claim.url.split("/")[3] for claim in brain.next_urls(40)] == ["print"] * 20


@pytest.mark.parametrize("engine", ["exact", "classic"])
@pytest.mark.parametrize("order", ["best_first", "optimal"])
def test_pages_whose_section_has_fallen_are_put_back_when_their_turn_comes(
    make_brain: MakeBrain, ask: Ask, order: str, engine: str
) -> None:
    brain, site = make_brain(**{**ACTING, "order": order, "engine": engine}), Site()
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 120) for copy in (True, False)])])
    assert harvests(ask)["print"] == [1.0]
    learn_that_copies_bring_nothing(brain, site)
    claimed = [claim for _ in range(10) for claim in brain.next_urls(10)]
    assert len({claim.key for claim in claimed}) == 100
    assert [claim.url.split("/")[3] for claim in claimed] == ["article"] * 100
    assert max(harvests(ask)["print"]) <= 0.25  # type: ignore[type-var]
    rest = [claim for _ in range(12) for claim in brain.next_urls(10)]
    assert len({claim.key for claim in rest} | {claim.key for claim in claimed}) == 200
    assert brain.audit().ok


def test_claims_read_the_sections_of_a_host_when_it_was_learned_from_and_not_again(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain, site = make_brain(**ACTING), Site()
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(60) for copy in (True, False)])])
    reads: list[str] = []

    def claim(n: int) -> int:
        before = reads.count("sections/read")
        clock.pass_(5.0)  # what was read at a report is used for a second
        with brain.graph.trace(lambda name, *_: reads.append(name)):
            assert len(brain.next_urls(n)) == n
        return reads.count("sections/read") - before

    assert claim(5) == 0  # nothing was learned yet
    learn_that_copies_bring_nothing(brain, site)
    assert [claim(5) for _ in range(4)] == [1, 0, 0, 0]
    clock.pass_(section_factors.LONGEST)
    assert claim(5) == 1


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_what_is_asked_for_by_hand_is_not_put_back(make_brain: MakeBrain, engine: str) -> None:
    brain, site = make_brain(**ACTING, engine=engine), Site()
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 40) for copy in (True, False)])])
    learn_that_copies_bring_nothing(brain, site)
    brain.crawl_now([site.url(30, True)])
    assert [claim.url for claim in brain.next_urls(1)] == [site.url(30, True)]


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_pages_whose_section_has_risen_are_moved(make_brain: MakeBrain, ask: Ask, engine: str) -> None:
    brain, site = make_brain(**ACTING, engine=engine), Site()
    learn_that_copies_bring_nothing(brain, site, 0, 6)
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(150, 200)])])
    low = max(harvests(ask)["print"])  # type: ignore[type-var]
    assert low < 1.0  # type: ignore[operator]
    for number in range(20, 120, 10):
        brain.report([site.fetched(each, True) for each in range(number, number + 10)])
        brain.tend(None)
    assert harvests(ask)["print"] == [1.0]
    assert ask("MATCH (s:Site) WHERE s.raising RETURN count(s)") == [[0]]
    assert brain.audit().ok


def test_nothing_waits_by_its_section_where_value_does_not_say_so(make_brain: MakeBrain, ask: Ask) -> None:
    brain, site = make_brain(value="authority", order="best_first"), Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 40) for copy in (True, False)])])
    assert harvests(ask) == {"print": [1.0], "article": [1.0]}


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_crawlers_that_claim_at_once_put_back_and_lose_nothing(
    make_brain: MakeBrain, second: Brain, engine: str
) -> None:
    brain, site = make_brain(**ACTING, engine=engine), Site()
    second.close()
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 120) for copy in (True, False)])])
    learn_that_copies_bring_nothing(brain, site)
    got = claimed_at_once([brain] * 4, 7)
    assert len(got) == len(set(got)) == 200
    assert brain.audit().ok


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_seeds_do_not_wait_by_their_sections(make_brain: MakeBrain, ask: Ask, engine: str) -> None:
    brain, site = make_brain(**ACTING, engine=engine), Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.seed([site.url(number, True) for number in range(20, 30)])
    assert len(brain.next_urls(10)) == 10
    assert harvests(ask)["print"] == [1.0]


# ---------------------------------------------------------------------- sections that are held down are tried


def kinds(brain: Brain, calls: int, n: int = 10) -> list[str]:
    """The kinds of the pages that so many calls hand out, which nobody visits."""
    return [claim.url.split("/")[3] for _ in range(calls) for claim in brain.next_urls(n)]


def choose(brain: Brain, ask: Ask) -> None:
    """As when a host's sections were learned anew."""
    ask("MATCH (s:Site) SET s.raising = true")
    brain.tend(None)


def chosen(ask: Ask) -> int:
    return ask("MATCH (p:Page) WHERE p.try_at >= 0 RETURN count(p)")[0][0]  # type: ignore[return-value]


@pytest.mark.parametrize("engine", ["exact", "classic"])
@pytest.mark.parametrize("order", ["best_first", "optimal"])
def test_a_share_of_the_claims_of_new_pages_tries_sections_that_are_held_down(
    make_brain: MakeBrain, ask: Ask, order: str, engine: str
) -> None:
    brain, site = make_brain(**{**ACTING, "order": order}, engine=engine, harvest_reserve=0.1), Site()
    learn_that_copies_bring_nothing(brain, site)
    links = [site.url(number, copy) for number in range(20, 200) for copy in (True, False)]
    brain.report([Fetched(HOME, links)])
    choose(brain, ask)
    assert chosen(ask) == 13  # the root of 180
    found = kinds(brain, 12)
    assert len(found) == 120
    assert found.count("print") == 12
    assert chosen(ask) == 1
    assert brain.audit().ok


def test_nothing_is_tried_where_it_is_not_wanted(make_brain: MakeBrain, ask: Ask) -> None:
    for more in ({"harvest_reserve": 0.0}, {"value": "authority"}, {"order": "breadth_first"}):
        brain, site = make_brain(**{**ACTING, **more}), Site()
        learn_that_copies_bring_nothing(brain, site)
        brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 120) for copy in (False, True)])])
        choose(brain, ask)
        is_acting = "harvest_reserve" in more
        assert (chosen(ask) > 0) == is_acting
        assert kinds(brain, 10).count("article") == (100 if is_acting else 50)
        brain.clear()


def test_the_section_that_was_longest_untried_comes_first_however_large_another_is(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    brain, site = make_brain(**ACTING, harvest_reserve=0.5), Site()
    # Copies of three kinds on one host, of which one has many pages and was visited last.
    for kind in ("few", "some", "many"):
        clock.at += 100.0
        brain.report(
            [
                visit
                for number in range(20)
                for visit in (
                    site.fetched(number, False),
                    Fetched(f"{HOME}{kind}/{number}", body=site.body(number)),
                )
            ]
        )
        brain.tend(None)
    count = {"few": 5, "some": 10, "many": 400}
    brain.report(
        [Fetched(HOME, [f"{HOME}{kind}/{number}" for kind, n in count.items() for number in range(20, 20 + n)])]
    )
    choose(brain, ask)
    assert len(brain.sections("s.example")) > 1
    brain.report([Fetched(f"{HOME}news", [site.url(number, False) for number in range(50, 150)])])
    tried: list[str] = []
    for _ in range(8):
        clock.at += 10.0
        claims = brain.next_urls(2)
        tried += [claim.url.split("/")[3] for claim in claims if "article" not in claim.url]
        # Whoever is tried brings nothing again, as before.
        brain.report([Fetched(claim.url, claim=claim, body=site.body(1)) for claim in claims])
        brain.tend(None)
    assert set(tried[:3]) <= {"few", "some", "many"}
    sections = {section.pattern for section in brain.sections("s.example") if section.factor < 1.0}
    if len(sections) >= 3:
        assert set(tried[:3]) == {"few", "some", "many"}


@pytest.mark.usefixtures("answers_lost")
def test_pages_are_chosen_anew_when_half_of_those_that_were_have_been_tried(make_brain: MakeBrain, ask: Ask) -> None:
    brain, site = make_brain(**ACTING, harvest_reserve=1.0), Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(20, 120)])])
    choose(brain, ask)
    assert chosen(ask) == 10
    for _ in range(4):
        claims = brain.next_urls(3)
        brain.report([Fetched(claim.url, claim=claim, body=site.body(1)) for claim in claims])
        brain.tend(None)
    assert 5 <= chosen(ask) <= 10
    assert ask("MATCH (p:Page) WHERE p.try_at < 0 RETURN count(p)") == [[0]]


def test_what_was_chosen_and_waits_no_more_stands_in_nobodys_way(make_brain: MakeBrain, ask: Ask) -> None:
    brain, site = make_brain(**ACTING, harvest_reserve=0.1), Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 120) for copy in (True, False)])])
    choose(brain, ask)
    # All that were chosen are claimed otherwise, and all others are chosen behind them.
    first = [str(url) for [url] in ask("MATCH (p:Page) WHERE p.try_at >= 0 RETURN p.url")]
    brain.crawl_now(first)
    assert {claim.url for claim in brain.next_urls(len(first))} == set(first)
    ask("MATCH (p:Page) WHERE p.harvest < 1 AND p.queue IS NOT NULL AND p.try_at IS NULL SET p.try_at = 1e12")
    assert "print" in kinds(brain, 4)
    assert ask("MATCH (p:Page) WHERE p.url IN $urls AND p.try_at >= 0 RETURN count(p)", urls=first) == [[0]]


def test_who_claims_at_once_tries_each_page_once(make_brain: MakeBrain, ask: Ask) -> None:
    brains, site = [make_brain(**ACTING, harvest_reserve=0.5) for _ in range(3)], Site()
    brain = brains[0]
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(20, 120) for copy in (True, False)])])
    choose(brain, ask)
    got = claimed_at_once(brains, 5)
    assert len(got) == len(set(got)) == 200
    assert brain.audit().ok


def test_sections_are_counted_and_shown(brain: Brain) -> None:
    site = Site()
    learn_that_copies_bring_nothing(brain, site)
    brain.report([Fetched(HOME, [site.url(number, True) for number in range(20, 40)])])
    found = brain.sections("s.example")
    assert sum(section.pages for section in found) == 61
    assert sum(section.fetched for section in found) == 41
    assert sum(section.waiting for section in found) == 20
    [low] = [section for section in found if section.harvest < 0.3]
    assert low.fetched in (20, 21)
    assert low.waiting == 20
    assert low.copies >= 15
    assert low.factor <= 0.25
    with pytest.raises(UnknownHost):
        brain.sections("never.example")


# ---------------------------------------------------------------------- pages that are expected to equal others


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_a_page_that_is_expected_to_equal_a_fetched_one_waits_behind_others_of_its_section(
    make_brain: MakeBrain, ask: Ask, engine: str
) -> None:
    brain, site = make_brain(engine=engine, **ACTING), Site()
    waiting = [f"{site.url(number, False)}{sort}" for number in range(40, 60) for sort in ("", "?sort=name")]
    brain.report([Fetched(HOME, waiting)])
    # Of each article a copy with an argument; of others, which have it as well, there is none without it.
    brain.report([site.fetched(number, False) for number in range(60)])
    brain.report([Fetched(f"{site.url(number, False)}?sort=name", body=site.body(number)) for number in range(30)])
    alone = [f"{HOME}article/{number}?sort=name" for number in range(300, 320)]
    others = range(130, 190)
    brain.report([Fetched(f"{HOME}article/{number}?sort=name", body=site.body(number)) for number in others])
    brain.tend(None)
    page = brain.page(f"{site.url(50, False)}?sort=name")
    assert page.expected_copy is not None
    assert page.expected_copy.factor <= 0.25
    brain.report([Fetched(f"{HOME}more", [*alone, *(f"{site.url(number, False)}?sort=name" for number in (35, 36))])])
    factor = dict(ask("MATCH (p:Page) WHERE p.first_fetched IS NULL RETURN p.url, coalesce(p.harvest, 1.0)"))  # type: ignore[arg-type]
    section = brain.page(alone[0]).section
    assert section is not None
    assert {factor[url] for url in alone} == {section.factor}
    copy = f"{site.url(35, False)}?sort=name"
    echoes = brain.page(copy).section
    assert echoes is not None
    assert factor[copy] == echoes.factor * page.expected_copy.factor
    first = [claim.url for claim in brain.next_urls(20)]  # those that wait since before are put back
    assert set(first) == set(alone) or section.factor < 1.0
    brain.next_urls(20)
    assert brain.audit().ok


def test_copies_that_turn_out_to_differ_wait_no_longer(make_brain: MakeBrain, ask: Ask) -> None:
    brain, site = make_brain(**ACTING), Site()
    copies = [f"{site.url(number, False)}?sort=name" for number in range(30)]
    brain.report([site.fetched(number, False) for number in range(60)])
    brain.report([Fetched(url, body=site.body(number)) for number, url in enumerate(copies[:20])])
    brain.tend(None)
    brain.report([Fetched(HOME, [f"{site.url(number, False)}?sort=name" for number in range(50, 60)])])
    low = "MATCH (p:Page) WHERE p.first_fetched IS NULL AND p.url CONTAINS '?sort' RETURN max(coalesce(p.harvest, 1.0))"
    assert ask(low)[0][0] < 1.0  # type: ignore[operator]
    differing = [
        Fetched(f"{site.url(number, False)}?sort=name", body=site.body(number + 70)) for number in range(20, 50)
    ]
    for start in range(0, len(differing), 10):
        brain.report(differing[start : start + 10])
        brain.tend(None)
    brain.report([site.fetched(number, False) for number in range(140, 200)])
    brain.tend(None)
    assert ask(low) == [[1.0]]
    assert brain.audit().ok


# ---------------------------------------------------------------------- brains made before


def not_learned(make_brain: MakeBrain, clock: HandClock, engine: str = "exact") -> Brain:
    """A brain that has visited pages, half of them copies, and has learned nothing."""
    brain, site = make_brain(sections_per_host=0, engine=engine, **ACTING), Site()
    for start in range(0, 120, 20):
        for copy in (False, True):
            clock.pass_(1.0)
            brain.report([site.fetched(number, copy) for number in range(start, start + 20)])
    brain.report([Fetched(HOME, [site.url(number, copy) for number in range(120, 200) for copy in (False, True)])])
    brain.tend(None)
    return brain


@pytest.mark.parametrize("engine", ["exact", "classic"])
def test_a_brain_made_before_learns_of_what_stands_on_its_pages_when_it_is_told(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, engine: str
) -> None:
    brain = not_learned(make_brain, clock, engine)
    assert ask("MATCH (s:Site) RETURN count(s)") == [[0]]
    steps: list[tuple[int, int]] = []
    brain.change(lambda done, of: steps.append((done, of)), sections_per_host=200)
    assert len(steps) > 1
    brain.tend(None)
    brought = ask("MATCH (p:Page) WHERE p.brought IS NOT NULL RETURN split(p.url, '/')[3], avg(p.brought), count(p)")
    assert sorted(brought) == [["article", 1.0, 120], ["print", 0.0, 120]]
    assert ask("MATCH (p:Page) WHERE p.unlearned IS NOT NULL OR p.shingles IS NOT NULL RETURN count(p)") == [[0]]
    before = learned(ask)
    claimed = [claim.url.split("/")[3] for _ in range(8) for claim in brain.next_urls(10)]
    assert claimed == ["article"] * 80  # those that wait are put back
    brain.change(sections_per_host=200)  # told again it learns nothing twice
    brain.tend(None)
    assert learned(ask) == before
    assert brain.audit().ok


@pytest.mark.usefixtures("answers_lost")
def test_learning_of_before_goes_on_where_it_was_broken_off(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = not_learned(make_brain, clock)

    def break_off(done: int, _of: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        brain.change(break_off, sections_per_host=200)
    assert 0 < ask("MATCH (p:Page) WHERE p.unlearned IS NOT NULL RETURN count(p)")[0][0] < 241  # type: ignore[operator]
    lose_an_answer(monkeypatch)
    brain.tend(None)
    assert ask("MATCH (p:Page) WHERE p.brought IS NOT NULL AND p.url CONTAINS '/print/' RETURN count(p)") == [[120]]
    assert ask("MATCH (b:Brain) RETURN b.relearning") == [[None]]


def test_pages_without_a_text_are_evidence_by_the_pages_that_they_are_first_to_name(brain: Brain, ask: Ask) -> None:
    lists = [f"{HOME}list?color={number}" for number in range(40)]
    brain.report([Fetched(HOME, [*lists, *(f"{HOME}chapter/{number}" for number in range(30))])])
    for number in range(30):
        below = [f"{HOME}chapter/{number}/{section}" for section in range(3)]
        brain.report([Fetched(lists[number], lists), Fetched(f"{HOME}chapter/{number}", [HOME, *below])])
    brain.report([Fetched(f"{HOME}picture.png")])
    assert ask("MATCH (p:Page {url: $url}) RETURN p.shingles", url=lists[3]) == [["+0/39"]]
    brain.tend(None)
    brought = dict(ask("MATCH (p:Page) WHERE p.brought IS NOT NULL RETURN p.url, p.brought"))  # type: ignore[arg-type]
    assert all(0.0 < brought[url] <= 0.1 for url in lists[:30])  # type: ignore[operator]
    assert all(brought[f"{HOME}chapter/{number}"] > 0.8 for number in range(30))  # type: ignore[operator]
    assert f"{HOME}picture.png" not in brought, "without a text and links it shows nothing"
    held, free = (brain.page(url).section for url in (lists[35], f"{HOME}chapter/7/1"))
    assert held is not None
    assert free is not None
    assert held.factor <= 0.5
    assert free.factor == 1.0


def test_a_large_host_is_learned_from_many_visits_at_once_or_after_ten_seconds(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    brain, site = make_brain(), Site()
    brain.report([Fetched(f"{HOME}page/{number}", body=site.body(number % 200)) for number in range(300)])
    brain.tend(None)
    waits = "MATCH (p:Page) WHERE p.unlearned IS NOT NULL RETURN count(p)"
    assert ask("MATCH (s:Site) RETURN s.learns_after") == [[16]]
    brain.report([Fetched(f"{HOME}more/{number}", body=site.body(number)) for number in range(15)])
    brain.tend(1.0)
    assert ask(waits) == [[15]]
    brain.report([Fetched(f"{HOME}more/15", body=site.body(15))])
    brain.tend(1.0)
    assert ask(waits) == [[0]]
    brain.report([Fetched(f"{HOME}more/16", body=site.body(16))])
    clock.pass_(11.0)
    brain.tend(1.0)
    assert ask(waits) == [[0]]
