"""Accounts under random churn: right after every step, and at the end worth what the linear system says.

A model of the web (plain sets and dictionaries) is kept beside the graph, so that the end is judged by what was asked
for, not by what the graph holds. The seeds are fixed: a failure repeats, and its message names the step.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Claim, Fetched, Link
from graphbrain.base.errors import BadInput, BeingConverted, SettingsError, UnknownPage
from graphbrain.base.settings import ENGINES, PAYOUTS
from graphbrain.base.work import Settled
from graphbrain.scores.accounts import settlement
from graphbrain.scores.accounts.partition import Cost
from tests.integration.conftest import EDITS, Going, churning, crowd, rounds
from tests.reference.exported import export
from tests.reference.linear import Web, intra_host_weights, solve, worst_error

PAGES, HOSTS, STEPS, ROUNDS = 24, 4, 40, 14
SETTLED = 1e-6


@pytest.fixture
def clock() -> Callable[[], float]:
    """The wall's, not the test's: a second visit of a page counts only if it is later than the first."""
    return time.time


def url(page: int) -> str:
    return f"http://host-{page % HOSTS}.example/{page}"


@dataclass
class Model:
    """The web as it should be."""

    links: dict[str, set[str]] = field(default_factory=dict)
    relevance: dict[str, float] = field(default_factory=dict)
    payout: dict[str, float] = field(default_factory=dict)

    def know(self, *urls: str) -> None:
        for one in urls:
            self.links.setdefault(one, set())

    def visited(self, page: str, targets: list[str]) -> None:
        self.know(page, *targets)
        self.links[page] = set(targets) - {page}

    def forget(self, page: str) -> None:
        self.links.pop(page, None)
        self.relevance.pop(page, None)
        self.payout.pop(page, None)
        for targets in self.links.values():
            targets.discard(page)

    def web(self, intra_host_weight: float) -> tuple[list[str], Web]:
        urls = sorted(self.links)
        number = {one: place for place, one in enumerate(urls)}
        pairs = [(number[a], number[b]) for a, targets in self.links.items() for b in targets]
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        sources, targets = table[:, 0], table[:, 1]
        return urls, Web(
            len(urls),
            sources,
            targets,
            np.array([self.relevance.get(one, np.nan) for one in urls]),
            np.array([self.payout.get(one, 1.0) for one in urls]),
            intra_host_weights([one.split("/")[2] for one in urls], sources, targets, intra_host_weight),
        )


class Churn:
    """Random verbs on a brain, and the same on the model."""

    def __init__(self, brain: Brain, seed: int) -> None:
        self.brain, self.dice, self.model = brain, random.Random(seed), Model()

    def verbs(self) -> list[tuple[Callable[[], str], int]]:
        """What can be done, and how often of how many times it is."""
        return [
            (self.visit, 5),
            (self.link, 3),
            (self.unlink, 3),
            (self.relevance, 2),
            (self.payout, 2),
            (self.forget, 2),
            (self.claim, 3),
            (self.tend, 5),
            (self.push_named, 2),
        ]

    def step(self) -> str:
        """Do something; what."""
        verbs = self.verbs()
        chosen = self.dice.choices([verb for verb, _ in verbs], [times for _, times in verbs])[0]
        return chosen()

    def any(self) -> str:
        return url(self.dice.randrange(PAGES))

    def some(self, most: int = 8) -> list[str]:
        return [self.any() for _ in range(self.dice.randrange(most))]

    def known(self) -> str:
        return self.dice.choice(sorted(self.model.links)) if self.model.links else url(0)

    def visit(self) -> str:
        """Two unclaimed visits in one batch: new pages and re-crawls, with links to themselves and double ones."""
        batch = {self.any(): self.some() for _ in range(2)}
        items = []
        for page, targets in batch.items():
            told = self.dice.choice([None, None, self.dice.random()])
            items.append(Fetched(page, targets, relevance=told))
            self.model.visited(page, targets)
            if told is not None:
                self.model.relevance[page] = told
        answers = self.brain.report(items)
        assert all(answer.accepted for answer in answers), answers
        return f"visit {batch}"

    def link(self) -> str:
        a, b = self.any(), self.any()
        if a != b:
            self.brain.link(a, b)
            self.model.know(a, b)
            self.model.links[a].add(b)
        return f"link {a} {b}"

    def unlink(self) -> str:
        a = self.known()
        b = self.dice.choice(sorted(self.model.links.get(a) or {url(1)}))
        self.brain.unlink(a, b)
        self.model.links.get(a, set()).discard(b)
        return f"unlink {a} {b}"

    def relevance(self) -> str:
        page, value = self.known(), self.dice.choice([0.0, 1.0, None, self.dice.random()])
        with contextlib.suppress(UnknownPage):
            self.brain.set_page(page, relevance=value)
            self.model.relevance.pop(page, None)
            if value is not None:
                self.model.relevance[page] = value
        return f"relevance {page} {value}"

    def payout(self) -> str:
        page, value = self.known(), self.dice.choice([0.5, 2.0, 7.25, None])
        with contextlib.suppress(UnknownPage):
            self.brain.set_page(page, payout=value)
            self.model.payout.pop(page, None)
            if value is not None:
                self.model.payout[page] = value
        return f"payout {page} {value}"

    def forget(self) -> str:
        page = self.known()
        self.brain.forget(page)
        self.model.forget(page)
        return f"forget {page}"

    def claim(self) -> str:
        """Claim three pages; one may be forgotten while it is held; give one back, report the rest."""
        claims = list(self.brain.next_urls(3))
        if claims and self.dice.random() < 0.2:
            self.brain.forget(claims[0].url)
            self.model.forget(claims[0].url)
        if len(claims) > 1:
            self.brain.give_back([claims.pop()])
        found = [(claim, self.some()) for claim in claims]
        answers = self.brain.report([Fetched(claim.url, targets, claim) for claim, targets in found])
        for (claim, targets), answer in zip(found, answers, strict=True):
            # A page that was forgotten while it was held, and is found anew by another page of this batch, was never
            # fetched in its new life: its links are news, though the visit is refused .
            anew = any(claim.url in others for other, others in found if other != claim)
            assert answer.accepted or claim.url not in self.model.links or anew, answer
            if answer.accepted or anew:
                self.model.visited(claim.url, targets)
        # So are the targets of a page that was forgotten and not found again.
        self.model.know(*(target for claim, targets in found for target in targets if target != claim.url))
        return f"claim {[(claim.url, targets) for claim, targets in found]}"

    def tend(self) -> str:
        self.brain.tend(0.02, batch=self.dice.choice([1, 5, 30]))
        return "tend"

    def push_named(self) -> str:
        pages = [self.known(), self.known()]
        self.brain.tend(pages=pages)
        return f"push {pages}"


def assert_sound(brain: Brain, what: str) -> None:
    audit = brain.audit(None)
    assert audit.ok, (what, audit.findings)
    assert audit.figures["worst_account_error"] < 1e-11, what


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "shared"),
    [
        (1, {}),
        (6, {"intra_host_weight": 0.5, "reach": 0.85}),
        pytest.param(2, {"intra_host_weight": 0.5}, marks=pytest.mark.nightly),
        pytest.param(3, {"order": "breadth_first", "alpha": 0.4, "eps": 0.005}, marks=pytest.mark.nightly),
        pytest.param(4, {"eps": 0.3}, marks=pytest.mark.nightly),
        pytest.param(5, {"intra_host_weight": 0.0}, marks=pytest.mark.nightly),
    ],
)
def test_accounts_survive_any_change(make_brain: Any, neo4j: Any, seed: int, shared: dict[str, Any]) -> None:
    brain = make_brain(**shared)
    churn = Churn(brain, seed)
    for number in range(STEPS):
        what = churn.step()
        assert_sound(brain, f"step {number}: {what}")
    brain.change(eps=SETTLED)
    assert brain.tend(None).settled
    assert_sound(brain, "settled")
    found = export(neo4j, brain.settings.intra_host_weight)
    urls, web = churn.model.web(brain.settings.intra_host_weight)
    assert found.urls == urls
    assert found.links == {(a, b) for a, targets in churn.model.links.items() for b in targets}
    hub, authority = solve(web, brain.settings.alpha)
    assert worst_error(found.hub, hub) < 1e-4
    assert worst_error(found.authority, authority) < 1e-4


def test_accounts_survive_several_who_change_them_at_once(
    make_brain: Any, neo4j: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four threads with brains of their own on a dozen pages, so that everybody is in everybody's way; one or the other
    makes a settling pass, of many small batches.

    While they work, audits of every account go on beside them: each locks what it looks at, so it must never be wrong.
    """
    monkeypatch.setattr(settlement, "COST", Cost(8.0, 1.0, 0.1))
    brain: Brain = make_brain()
    passes: list[Settled] = []

    with churning(
        neo4j,
        url,
        4,
        *EDITS,
        lambda own, a, _: own.report([Fetched(a(), [a(), a(), a()]), Fetched(a(), [a(), a()])]),
        lambda own, _a, _: own.tend(0.01, batch=6),
        lambda own, _a, _: passes.append(own.settle()),
    ) as going:
        for number, _ in enumerate(rounds(going, 15.0)):
            audit = brain.audit(None)
            assert not {"accounts", "weights"} & set(audit.figures["wrong"]), audit.findings
            if number > 8 and sum(made.sides > 0 for made in passes) > 1:
                break
    assert any(made.sides for made in passes)
    assert_sound(brain, "all are done")
    brain.change(eps=SETTLED)
    assert brain.tend(None).settled
    found = export(neo4j)
    hub, authority = solve(found.web)
    assert worst_error(found.hub, hub) < 1e-4
    assert worst_error(found.authority, authority) < 1e-4


# ---------------------------------------------------------------- everything at once


SETTINGS: dict[str, list[Any]] = {
    "intra_host_weight": [0.0, 0.125, 1.0],
    "payout": list(PAYOUTS),
    "target_relevance": [0.3, 0.7],
    "eps": [0.003, 0.03, 0.3],
    "reach": [0.0, 0.5, 0.9],
    "max_payees": [3, 100_000],
    "order": ["optimal", "best_first", "breadth_first"],
    "window": [0.0, 2.0, 8.0],
    "score": ["history", "history_and_cash"],
    "root_share": [0.0, 0.1],
    "relevance_rule": ["rational", "polynomial"],
    "new_history": ["zero", "mean"],
    "first_cash": ["pages", "root"],
    "passes": [2.0, 16.0],
}
"""Of both engines: what one has no use for can be changed all the same."""
IMPOSSIBLE = (BadInput, SettingsError, UnknownPage, BeingConverted)
"""Payouts and passes under the classic engine, pages that are not there, and what has to be tried again."""


class Anything:
    """Verbs of every kind in random order, each as often as any other, and those that the classic engine refuses twice
    as often; `done` counts those that were not refused."""

    def __init__(self, brain: Brain, seed: int, done: Counter[str]) -> None:
        self.brain, self.dice, self.done = brain, random.Random(seed), done
        self._deck: list[str] = []

    def act(self) -> None:
        verbs = self.verbs()
        if not self._deck:
            self._deck = [*verbs, "payout", "settle"]
            self.dice.shuffle(self._deck)
        name = self._deck.pop()
        with contextlib.suppress(*IMPOSSIBLE):
            verbs[name]()
            self.done[name] += 1

    def verbs(self) -> dict[str, Callable[[], object]]:
        brain, dice, page = self.brain, self.dice, self.page
        setting = dice.choice(list(SETTINGS))
        return {
            "report": lambda: brain.report([self.visit(), self.visit()]),
            "claim": self.claim,
            "seed": lambda: brain.seed([page()]),
            "link": lambda: brain.link(page(), page()),
            "unlink": lambda: brain.unlink(page(), page()),
            "relevance": lambda: brain.set_page(page(), relevance=dice.choice([None, 0.0, 1.0, dice.random()])),
            "payout": lambda: brain.set_page(page(), payout=dice.choice([None, 0.0, 0.5, 7.25])),
            "forget": lambda: brain.forget(page()),
            "tend": lambda: brain.tend(0.02, batch=dice.choice([1, 10, 100])),
            "push": lambda: brain.tend(pages=[page(), page()]),
            "settle": brain.settle,
            "change": lambda: brain.change(**{setting: dice.choice(SETTINGS[setting])}),
            "convert": lambda: brain.convert_engine(dice.choice(ENGINES)),
        }

    def page(self) -> str:
        return url(self.dice.randrange(PAGES))

    def visit(self, claim: Claim | None = None) -> Fetched:
        """With any links, and often a relevance."""
        links = [Link(self.page(), self.dice.choice([None, self.dice.random()])) for _ in range(self.dice.randrange(8))]
        told = self.dice.choice([None, self.dice.random()])
        return Fetched(claim.url if claim else self.page(), links, claim, relevance=told)

    def claim(self) -> None:
        claims = list(self.brain.next_urls(3))
        self.brain.give_back(claims[2:])
        self.brain.report([self.visit(claim) for claim in claims[:2]])


@pytest.mark.long
def test_rounds_of_everything_while_workers_tend(make_brain: Any, neo4j: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two do whatever can be done, engines converted to and fro too, while two workers tend. After each round all
    pause, and nothing may be wrong: no account, no weight, no sum; under the classic engine all cash is 2(N + 1)."""
    monkeypatch.setattr("graphbrain.brain.session.PASS_BATCH", 5)
    monkeypatch.setattr("graphbrain.scores.accounts.payout_policy.BATCH", 5)
    monkeypatch.setattr(settlement, "COST", Cost(8.0, 1.0, 0.1))
    brain: Brain = make_brain(engine="classic", target_hosts="host-1.example")
    done, engines, pauses = Counter[str](), Counter[str](), [threading.Lock(), threading.Lock()]

    def tend(pause: threading.Lock, going: Going) -> None:
        with neo4j.open(crawl="test", auto_tend=False) as own:
            while going():
                with pause, contextlib.suppress(BeingConverted):
                    done["worker's push"] += own.tend(0.1, batch=20, for_everybody=True).pushes
                time.sleep(0.02)

    with contextlib.ExitStack() as opened, crowd(*(partial(tend, pause) for pause in pauses)) as going:
        both = [opened.enter_context(neo4j.open(crawl="test", auto_tend=False)) for _ in pauses]
        actors = [Anything(own, seed, done) for seed, own in enumerate(both)]
        for number in range(ROUNDS):
            with crowd(*(partial(_act, actor) for actor in actors)):
                pass
            assert going()
            with pauses[0], pauses[1]:
                found = brain.audit(None)
                assert found.ok, (number, found.findings)
                assert found.figures["alone"], "somebody wrote meanwhile: no sum was judged"
            engines[brain.settings.engine] += 1
    assert min(engines[each] for each in ENGINES) >= 2, engines
    assert not {"worker's push", *actors[0].verbs()} - set(+done), done
    brain.convert_engine("exact")
    brain.change(eps=SETTLED, max_payees=100_000)
    assert brain.settle(tolerance=1e-12).left == 0
    assert_sound(brain, "all are done")
    there = export(neo4j, brain.settings.intra_host_weight)
    for scores, wanted in zip((there.hub, there.authority), solve(there.web), strict=True):
        assert scores == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def _act(actor: Anything, _: Going) -> None:
    for _ in range(4):
        actor.act()
