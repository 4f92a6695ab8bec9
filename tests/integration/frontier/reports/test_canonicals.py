"""Links that count for the page that a canonical names, and come back: whatever changes, and whoever works at once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.frontier.reports import canonicals
from tests.integration.conftest import HandClock, lose_an_answer, sound
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]
ENGINES = ("exact", "classic")
A, B, C, D, P, Q = (f"http://a.org/{name}" for name in "abcdpq")
AWAY = "http://b.org/"
FOLLOW = {"canonical_links": "follow"}


def told(brain: Brain, clock: HandClock, *visits: Fetched | Failed) -> None:
    clock.pass_(1.0)
    assert all(answer.accepted for answer in brain.report(visits))
    brain.tend(None)


def out(brain: Brain, url: str) -> list[str]:
    return sorted(neighbours(brain, url)[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_links_count_for_the_page_that_a_canonical_names(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, engine: str
) -> None:
    brain = make_brain(engine=engine, **FOLLOW)
    told(brain, clock, Fetched(P, [A, B]), Fetched(Q, [A]), Fetched(A, [C], canonical=B))
    assert (out(brain, P), out(brain, Q)) == ([A, B], [A])  # B was not fetched yet
    told(brain, clock, Fetched(B, [A, D]))
    assert (out(brain, P), out(brain, Q), out(brain, A), out(brain, B)) == ([B], [B], [C], [D])
    assert (brain.page(A).in_links, brain.page(B).in_links) == (0, 2)
    told(brain, clock, Fetched(AWAY, [A, C]))  # a link that is met later
    assert out(brain, AWAY) == sorted([B, C])
    assert ask("MATCH (p:Page) WHERE p.look_again IS NOT NULL RETURN count(p)") == [[0]]
    told(brain, clock, Fetched(A, [C], canonical=A))
    assert (out(brain, P), out(brain, Q), out(brain, B)) == ([A, B], [A], [A, D])
    assert out(brain, AWAY) == sorted([A, C])


def test_links_stay_where_canonicals_are_only_noted(brain: Brain, clock: HandClock, ask: Ask) -> None:
    told(brain, clock, Fetched(P, [A]), Fetched(A, canonical=B), Fetched(B))
    assert out(brain, P) == [A]
    assert ask("MATCH (p:Page) WHERE p.canonical_key IS NOT NULL RETURN count(p)") == [[0]]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_setting_is_taken_up_and_put_down(make_brain: MakeBrain, clock: HandClock, ask: Ask, engine: str) -> None:
    brain = make_brain(engine=engine)
    told(brain, clock, Fetched(P, [A]), Fetched(A, canonical=B), Fetched(B), Fetched(C, canonical=AWAY), Fetched(AWAY))
    brain.change(**FOLLOW)
    brain.tend(None)
    assert out(brain, P) == [B]
    assert ask("MATCH (p:Page)-[:CANONICAL]->(q) RETURN p.url, q.url") == [[A, B]]
    sound(brain)
    brain.change(canonical_links="note")
    brain.tend(None)
    assert out(brain, P) == [A]
    assert ask("MATCH ()-[r:CANONICAL|SPELLS]->() RETURN count(r)") == [[0]]


def test_a_page_that_is_named_back_keeps_its_links(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(**FOLLOW)
    told(brain, clock, Fetched(P, [A, B]), Fetched(A, canonical=B), Fetched(B, canonical=A))
    assert out(brain, P) == [A, B]
    told(brain, clock, Fetched(B, canonical=B))
    assert out(brain, P) == [B]
    told(brain, clock, Fetched(B, canonical=A))
    assert out(brain, P) == [A, B]


def test_canonicals_in_a_circle_lead_nowhere_and_a_chain_to_its_end(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(**FOLLOW)
    told(brain, clock, Fetched(P, [A, B, C]), Fetched(A, canonical=B), Fetched(B, canonical=C), Fetched(C))
    assert out(brain, P) == [C]
    told(brain, clock, Fetched(C, canonical=A))
    assert out(brain, P) == [A, B, C]
    told(brain, clock, Fetched(C, canonical=D), Fetched(D))
    assert out(brain, P) == [D]


def test_a_page_of_another_host_or_one_that_was_not_fetched_counts_for_nobody(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(**FOLLOW)
    told(brain, clock, Fetched(P, [A, B]), Fetched(A, canonical=AWAY), Fetched(AWAY), Fetched(B, canonical=C))
    assert out(brain, P) == [A, B]


def test_links_come_back_while_the_page_that_is_named_is_missing(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(**FOLLOW)
    told(brain, clock, Fetched(P, [A]), Fetched(A, canonical=B), Fetched(B))
    assert out(brain, P) == [B]
    for _ in range(8):
        clock.pass_(40 * 86_400.0)
        told(brain, clock, Failed(B, None, 404))
    assert brain.page(B).state == "gone"
    assert out(brain, P) == [A]
    told(brain, clock, Fetched(B))
    assert out(brain, P) == [B]
    told(brain, clock, Fetched(B, redirected_to=C))
    assert out(brain, P) == [A]
    told(brain, clock, Fetched(B), Fetched(A, redirected_to=D))
    assert out(brain, P) == [D]


@pytest.mark.usefixtures("answers_lost")
@pytest.mark.parametrize("forgotten", [A, B])
def test_a_page_of_a_pair_is_forgotten(make_brain: MakeBrain, clock: HandClock, forgotten: str) -> None:
    brain = make_brain(**FOLLOW)
    told(brain, clock, Fetched(P, [A]), Fetched(A, [C], canonical=B), Fetched(B))
    brain.forget(forgotten)
    brain.tend(None)
    assert out(brain, P) == ([A] if forgotten == B else [B])
    sound(brain)
    told(brain, clock, Fetched(P, [A]), Fetched(A, canonical=B), Fetched(B))
    assert out(brain, P) == [B]


def test_more_pages_than_one_step_takes_count_for_one_that_is_forgotten(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonicals, "SETTLED_AT_ONCE", 4)
    brain = make_brain(**FOLLOW)
    copies = [f"http://a.org/{number}" for number in range(10)]
    told(brain, clock, Fetched(P, copies), Fetched(B), *(Fetched(url, canonical=B) for url in copies))
    assert (out(brain, P), brain.page(B).in_links) == ([B], 1)
    brain.forget(B)
    brain.tend(None)
    assert out(brain, P) == sorted(copies)
    assert ask("MATCH ()-[r:CANONICAL|SPELLS]->() RETURN count(r)") == [[0]]


def test_a_page_whose_links_count_for_another_is_no_orphan(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(orphans="forget", **FOLLOW)
    brain.seed([P])
    (claim,) = brain.next_urls(1)
    told(brain, clock, Fetched(P, [A, B], claim=claim))
    claims = {claim.url: claim for claim in brain.next_urls(5)}
    told(brain, clock, Fetched(A, claim=claims[A], canonical=B), Fetched(B, claim=claims[B]))
    assert out(brain, P) == [B]
    assert brain.page(A).state == "known"


@pytest.mark.parametrize("engine", ENGINES)
def test_links_by_hand_follow_canonicals(make_brain: MakeBrain, clock: HandClock, engine: str) -> None:
    brain = make_brain(engine=engine, **FOLLOW)
    told(brain, clock, Fetched(P), Fetched(A, canonical=B), Fetched(B))
    brain.link(P, A)
    assert out(brain, P) == [B]
    brain.unlink(P, A)
    assert out(brain, P) == []


def test_steps_whose_answers_are_lost_are_done_once(
    make_brain: MakeBrain, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = make_brain(**FOLLOW)
    clock.pass_(1.0)
    brain.report([Fetched(P, [A]), Fetched(Q, [A]), Fetched(A, canonical=B)])
    left = lose_an_answer(monkeypatch)
    brain.report([Fetched(B)])
    assert not left
    for _ in range(3):
        lose_an_answer(monkeypatch)
        brain.tend(0.0)
    brain.tend(None)
    assert (out(brain, P), out(brain, Q)) == ([B], [B])
    sound(brain)


class Churn:
    """Pages whose links and canonicals change at every visit."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.urls = [f"http://h{number % 2}.org/{number}" for number in range(14)]
        self.links: dict[str, list[str]] = {}
        self.canonicals: dict[str, str] = {}

    def visit(self, url: str) -> Fetched | Failed:
        chance = self.dice.random()
        if chance < 0.1:
            self.links.pop(url, None)
            self.canonicals.pop(url, None)
            return Fetched(url, redirected_to=self.dice.choice([u for u in self.urls if u != url]))
        self.links[url] = self.dice.sample(self.urls, self.dice.randrange(6))
        self.canonicals[url] = self.dice.choice([url, *self.urls])
        return Fetched(url, self.links[url], canonical=self.canonicals[url], body=f"{chance}".encode())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(2))
def test_after_churn_all_links_are_where_pages_have_named_them(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, engine: str, seed: int
) -> None:
    churn = Churn(seed)
    brain = make_brain(engine=engine, intra_host_weight=churn.dice.choice([1.0, 0.25, 0.0]), **FOLLOW)
    for round_ in range(16):
        clock.pass_(10.0)
        brain.report([churn.visit(url) for url in churn.dice.sample(churn.urls, churn.dice.randrange(1, 6))])
        if churn.dice.random() < 0.15:
            gone = churn.dice.choice(churn.urls)
            brain.forget(gone)
            for links in churn.links.values():
                while gone in links:
                    links.remove(gone)
            churn.links.pop(gone, None)
        if churn.dice.random() < 0.5:
            brain.tend(churn.dice.choice([0.0, None]))
        if round_ % 8 == 7:
            sound(brain)
    brain.tend(None)
    sound(brain)
    assert ask("MATCH (p:Page) WHERE p.look_again IS NOT NULL RETURN count(p)") == [[0]]
    brain.change(canonical_links="note")
    # Visits that tell the same links again, without redirects or canonicals: nothing is left of either.
    clock.pass_(10.0)
    told(brain, clock, *(Fetched(url, churn.links.get(url, ())) for url in churn.urls))
    brain.tend(None)
    for url in churn.urls:
        assert out(brain, url) == sorted(set(churn.links.get(url, ())) - {url}), url
    assert ask("MATCH ()-[r:CANONICAL|SPELLS|REDIRECTS_TO]->() RETURN count(r)") == [[0]]
    sound(brain)


@pytest.mark.parametrize("engine", ENGINES)
def test_processes_that_report_and_tend_at_once_agree(
    make_brain: MakeBrain, clock: HandClock, ask: Ask, engine: str
) -> None:
    brain = make_brain(engine=engine, **FOLLOW)
    others = [make_brain(engine=engine, **FOLLOW) for _ in range(2)]
    urls = [f"http://a.org/{number}" for number in range(30)]

    def work(own: Brain, number: int) -> None:
        dice = random.Random(number)
        for _ in range(12):
            own.report(
                [
                    Fetched(url, dice.sample(urls, 5), canonical=dice.choice(urls[:6]), body=b"x")
                    for url in dice.sample(urls, 4)
                ]
            )
            own.tend(0.0)

    threads = [threading.Thread(target=work, args=(own, n)) for n, own in enumerate((*others, brain))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.pass_(1.0)
    brain.tend(None)
    sound(brain)
    astray = "MATCH (p:Page)-[:CANONICAL]->() WHERE EXISTS { (p)<-[:LINKS]-() } AND NOT {in_circle} RETURN p.url"
    ends = {str(source): str(target) for source, target in ask("MATCH (p:Page)-[:CANONICAL]->(q) RETURN p.url, q.url")}

    def circles(url: str) -> bool:
        met = {url}
        while url in ends:
            url = ends[url]
            if url in met:
                return True
            met.add(url)
        return False

    linked = {str(row[0]) for row in ask(astray.replace(" AND NOT {in_circle}", ""))}
    assert all(circles(url) for url in linked)
    assert ask("MATCH (p:Page) WHERE p.look_again IS NOT NULL RETURN count(p)") == [[0]]


def test_an_audit_finds_links_that_do_not_count_for_the_page_that_is_named(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    brain = make_brain(**FOLLOW)
    told(brain, clock, Fetched(P, [A]), Fetched(A, canonical=B), Fetched(B))
    sound(brain)
    ask("MATCH ()-[r:CANONICAL]->() DELETE r")
    assert brain.audit().figures["wrong"] == {"canonicals": 1}
    ask("MATCH (p:Page {url: $url}) SET p.look_again = 1.0", url=B)
    brain.tend(None)  # whoever tends writes it again
    sound(brain)
    learned = '[[0.5,9.0,3.0,0.5],{"":[0.3,1]},""]'
    ask("MERGE (s:Site {host: 'a.org'}) SET s.sections = $learned", learned=learned)
    wrong = brain.audit()
    assert wrong.figures["wrong"] == {"sections": 2}, wrong.findings
    brain.clear()
