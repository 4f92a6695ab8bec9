"""Recorded crawls, replayed through the client, against the linear system that their scores must solve.

The oracle of each test is made from the recording, not from the graph: a link or a relevance that got lost on the way
shows as a wrong score. Seconds are measured on two quiet cores.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from graphbrain import Answer, Brain, Fetched
from graphbrain.base.settings import PAYOUTS
from graphbrain.base.urls.normalization import host_of
from graphbrain_lab.recording import Recording, read
from graphbrain_lab.replay import replay
from tests.recordings import Recordings
from tests.reference.exported import Exported, export
from tests.reference.linear import Floats, Web, payouts, solve, worst_error

pytestmark = pytest.mark.data

EPS = 1e-6
TOLERANCE = 1e-4
MakeBrain = Callable[..., Brain]


def web_of(recording: Recording, relevance: Sequence[float] = (), payout: Sequence[float] = ()) -> Web:
    """The recorded web as a brain should know it: distinct links, none from a page to itself."""
    sources, targets = np.array(recording.sources), np.array(recording.targets)
    pairs = np.unique(np.stack([sources, targets], axis=1)[sources != targets], axis=0)
    return Web(
        len(recording.urls),
        pairs[:, 0].astype(np.int64),
        pairs[:, 1].astype(np.int64),
        np.array(relevance, dtype=np.float64),
        np.array(payout, dtype=np.float64),
    )


def in_order(found: Exported, recording: Recording, values: Floats) -> Floats:
    """A column of the graph in the order of the recording's pages."""
    number = found.number
    return values[[number[url] for url in recording.urls]]


def assert_whole(recording: Recording, web: Web, result: Any, brain: Brain) -> None:
    """Every page was reported once, every link is known, and the audit of all accounts finds nothing."""
    assert (result.complete, result.settled, result.refused, result.links_refused) == (True, True, 0, 0)
    assert result.pages == result.known_pages == recording.pages
    assert result.links == recording.links
    assert result.known_links == len(web.sources)
    audit = brain.audit(None)
    assert audit.ok, audit.findings
    assert audit.figures["accounts_checked"] == 2 * recording.pages


def assert_solved(recording: Recording, web: Web, neo4j: Any, alpha: float = 0.15) -> Exported:
    """Links are the recorded ones, and each page's two scores solve the system."""
    found = export(neo4j)
    urls = recording.urls
    assert found.links == {(urls[a], urls[b]) for a, b in zip(web.sources.tolist(), web.targets.tolist(), strict=True)}
    hub, authority = solve(web, alpha)
    assert worst_error(in_order(found, recording, found.hub), hub) < TOLERANCE
    assert worst_error(in_order(found, recording, found.authority), authority) < TOLERANCE
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", ["hollins.dat.gz", pytest.param("gr0.California.gz", marks=pytest.mark.nightly)])
def test_a_replayed_crawl_solves_the_system(make_brain: MakeBrain, neo4j: Any, data_dir: Recordings, name: str) -> None:
    recording = read(data_dir / name)
    assert recording.pages == data_dir.facts[name].pages
    brain = make_brain(eps=EPS)
    web = web_of(recording)
    result = replay(brain, recording)
    assert_whole(recording, web, result, brain)
    assert_solved(recording, web, neo4j)


class Judge:
    """A brain whose crawler knows how near each page is to the topic: everything else is the brain's own."""

    def __init__(self, brain: Brain, relevance: dict[str, float]) -> None:
        self._brain, self._relevance = brain, relevance

    def __getattr__(self, name: str) -> Any:
        return getattr(self._brain, name)

    def report(self, items: Sequence[Fetched]) -> list[Answer]:
        """Report with the relevance of each page."""
        return self._brain.report(
            [dataclasses.replace(item, relevance=self._relevance.get(item.url)) for item in items]
        )


@pytest.mark.long
@pytest.mark.nightly
def test_relevance_and_payout_bend_the_scores_as_the_system_says(
    make_brain: MakeBrain, neo4j: Any, made_data: Recordings
) -> None:
    """Relevances 0, 1, anything between and unknown come with the visits, some are corrected later, payouts differ.

    Coarsely settled first, so that the corrections meet a web that has paid; then finely.
    """
    recording = read(made_data / "hollins.dat.gz")
    dice = random.Random(20)
    told = {url: dice.choice([0.0, 1.0, dice.random(), dice.random()]) for url in recording.urls if dice.random() < 0.8}
    brain = make_brain(eps=0.03)
    result = replay(Judge(brain, told), recording)  # type: ignore[arg-type]
    for url in dice.sample(recording.urls, 100):
        told[url] = dice.random()
        brain.set_page(url, relevance=told[url])
    payouts = {url: dice.choice([0.25, 0.5, 3.0, 40.0]) for url in dice.sample(recording.urls, 200)}
    for url, payout in payouts.items():
        brain.set_page(url, payout=payout)
    brain.change(eps=EPS)
    assert brain.tend(None).settled
    web = web_of(
        recording,
        [told.get(url, np.nan) for url in recording.urls],
        [payouts.get(url, 1.0) for url in recording.urls],
    )
    assert_whole(recording, web, result, brain)
    found = assert_solved(recording, web, neo4j)
    # It matters: the plain system has other scores.
    plain = solve(web_of(recording))[1]
    assert worst_error(in_order(found, recording, found.authority), plain) > 0.5


@pytest.mark.long
def test_every_policy_and_weight_solves_the_system(make_brain: MakeBrain, neo4j: Any, made_data: Recordings) -> None:
    """All on one brain that two thirds of hollins were crawled with: each change begins where the one before ended."""
    recording = read(made_data / "hollins.dat.gz")
    dice = random.Random(21)
    told = {url: dice.random() for url in recording.urls if dice.random() < 0.5}
    brain = make_brain(eps=0.03)
    replay(Judge(brain, told), recording, limit=2 * recording.pages // 3)  # type: ignore[arg-type]
    brain.seed(dice.sample(recording.urls, 20))
    brain.change(eps=EPS)
    targets = Counter(host_of(url) for url in recording.urls).most_common(2)[-1][0]
    brain.change(target_hosts=targets)
    for policy, weight in zip(PAYOUTS, (0.5, 1.0, 0.25, 1 / 1024, 0.75, 1.0, 0.0), strict=True):
        brain.change(payout=policy, intra_host_weight=weight)
        assert brain.tend(None).settled
        audit = brain.audit(None)
        assert audit.ok, audit.findings
        found = export(neo4j, weight)
        fetched = found.column("first_fetched", 0.0) > 0
        seeds = found.column("is_seed", 0.0) > 0
        on_target = np.array([page["host"] == targets for page in found.pages])
        target = brain.settings.target_relevance
        wanted = payouts(policy, found.web.relevance, fetched, seeds, target, on_target=on_target)
        assert wanted.min() > 0.0 or policy not in ("uniform", "relevance")
        assert wanted.mean() == pytest.approx(1.0)
        hub, authority = solve(dataclasses.replace(found.web, payout=wanted))
        assert np.max(np.abs(found.hub - hub) / np.maximum(1.0, hub)) < TOLERANCE, policy
        assert np.max(np.abs(found.authority - authority) / np.maximum(1.0, authority)) < TOLERANCE, policy


def test_without_alpha_scores_are_degrees_plus_one(make_brain: MakeBrain, neo4j: Any, made_data: Recordings) -> None:
    """Without α cash leaks so slowly that all of hollins takes twice the payments of the first test: this is the part
    that its first 200 pages make, with the links among them."""
    whole = read(made_data / "hollins.dat.gz")
    first = (whole.sources < 200) & (whole.targets < 200)
    part = Recording.of(whole.sources[first], whole.targets[first], pages=200, urls=list(whole.urls[:200]))
    web = web_of(part)
    assert len(web.sources) > 2_000
    brain = make_brain(eps=EPS, alpha=0.0)
    result = replay(brain, part)
    assert_whole(part, web, result, brain)
    found = assert_solved(part, web, neo4j, alpha=0.0)
    assert worst_error(in_order(found, part, found.hub), web.out_weight + 1) < TOLERANCE
    assert worst_error(in_order(found, part, found.authority), web.in_weight + 1) < TOLERANCE
