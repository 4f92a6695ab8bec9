"""The fixed point in memory, against the direct solve of the same system by somebody else."""

from __future__ import annotations

import numpy as np
import pytest

from graphbrain.scores.accounts.solve import FixedPoint, Flow, System
from tests.reference.linear import Web
from tests.reference.linear import solve as direct


def random_web(pages: int, links: int, seed: int) -> Web:
    dice = np.random.default_rng(seed)
    pairs = dice.integers(0, pages, (links, 2))
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    relevance = np.where(dice.random(pages) < 0.3, np.nan, dice.random(pages))
    weights = dice.choice([1.0, 0.25], len(pairs))
    return Web(pages, pairs[:, 0], pairs[:, 1], relevance, dice.random(pages) * 3, weights)


def system(web: Web, alpha: float) -> System:
    offsets = np.concatenate([[0], np.cumsum(np.bincount(web.sources, minlength=web.pages))])
    return System.of(
        offsets,
        web.targets.astype(np.int32),
        alpha=alpha,
        relevance=web.relevance,
        payout=web.payout,
        weights=web.weights,
    )


def ours(web: Web, alpha: float, **more: object) -> FixedPoint:
    return system(web, alpha).solve(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", [0.0, 0.15, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_solution_of_the_linear_system(alpha: float, seed: int) -> None:
    web = random_web(60, 400, seed)
    hub, authority = direct(web, alpha)
    found = ours(web, alpha, tolerance=1e-13)
    assert np.allclose(found.hub, hub, rtol=1e-9)
    assert np.allclose(found.authority, authority, rtol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-13, 0.1])
def test_what_is_held_is_what_is_paid(tolerance: float) -> None:
    """By every page, and however early the iteration ends."""
    web = random_web(80, 500, 9)
    found = ours(web, 0.15, tolerance=tolerance)
    to_hubs = np.bincount(web.sources, web.weights * found.authority_paid[web.targets], web.pages)
    to_authorities = np.bincount(web.targets, web.weights * found.hub_paid[web.sources], web.pages)
    assert np.allclose(found.hub, web.payout + to_hubs, rtol=1e-12)
    assert np.allclose(found.authority, web.payout + to_authorities, rtol=1e-12)
    held = found.hub.sum() + found.authority.sum()
    paid = 2 * web.payout.sum() + web.out_weight @ found.hub_paid + web.in_weight @ found.authority_paid
    assert held == pytest.approx(paid, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.15, 0.0])
def test_it_takes_far_fewer_rounds_than_the_power_method(alpha: float) -> None:
    """And comes to where that comes; pages without links on either side are among them."""
    web = random_web(3000, 9000, 5)
    found = ours(web, alpha, tolerance=1e-10)
    far = (np.abs(hub - found.hub).sum() / hub.sum() for hub, _ in system(web, alpha).rounds())
    rounds = next(number for number, error in enumerate(far, start=1) if error <= 1e-10 or number == 2000)
    assert 2 * found.rounds < rounds < 2000
    assert (web.out_weight == 0.0).any()
    assert (web.in_weight == 0.0).any()


def test_the_relative_change_is_true() -> None:
    """It is what another round would change, not what has been carried along."""
    web = random_web(500, 3000, 7)
    found = ours(web, 0.15, tolerance=1e-11)
    hub, authority = system(web, 0.15).hub(found.authority), system(web, 0.15).authority(found.hub)
    assert np.abs(hub - found.hub).sum() <= 1e-11 * hub.sum()
    assert np.abs(authority - found.authority).sum() <= 1e-11 * authority.sum()


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_it_makes_no_more_rounds_than_it_may(most: int) -> None:
    told: list[int] = []
    found = ours(random_web(80, 500, 9), 0.15, tolerance=0.0, most_rounds=most, progress=lambda n, _: told.append(n))
    assert told == list(range(1, most + 1))
    assert found.rounds == most


def test_without_links_everybody_has_its_payout() -> None:
    empty = Web(3, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), payout=np.array([1.0, 2.0, 0.0]))
    found = ours(empty, 0.15)
    assert found.hub.tolist() == found.authority.tolist() == [1.0, 2.0, 0.0]
    assert ours(Web(0, empty.sources, empty.targets), 0.15).rounds == 1


def flow(links: dict[int, list[int]], relevance: dict[int, float] | None = None) -> Flow:
    """The classic walk on a small web: d/(d+1) goes on, and by the ancestors' polynomial of the relevance back."""
    pages = 1 + max(max([page, *targets]) for page, targets in links.items())
    out = np.array([len(links.get(page, ())) for page in range(pages)])
    targets = np.array([t for page in range(pages) for t in links.get(page, ())], dtype=np.int32)
    r = np.array([(relevance or {}).get(page, 0.5) for page in range(pages)])
    return Flow(
        np.concatenate([[0], np.cumsum(out)]),
        targets,
        lambda out: out / (out + 1.0),
        lambda into: np.where(into > 0, 2 * r * (2 * into / (into + 1.0) * (1 - r) + r - 0.5), 0.0),
    )


T4 = {0: [1, 2, 3, 4], 1: [0, 2], 2: [0, 3], 3: [0, 4], 4: [0, 1]}
TOY = {0: [1], 1: [3], 2: [0, 1, 3]}


@pytest.mark.parametrize(
    ("web", "hub", "authority"),
    [
        (T4, np.array([5, 3, 3, 3, 3]) / 17, np.array([5, 3, 3, 3, 3]) / 17),
        (TOY, np.array([2, 2, 4, 1]) / 9, np.array([2, 3, 1, 3]) / 9),
    ],
)
def test_the_classic_walk_rests_at_degree_plus_one(
    web: dict[int, list[int]], hub: np.ndarray, authority: np.ndarray
) -> None:
    """reference/opic-hits-original.md §6.3"""
    found = flow(web).rest()
    assert np.allclose(found[0], hub, atol=1e-9)
    assert np.allclose(found[1], authority, atol=1e-9)


def test_relevance_bends_the_classic_walk() -> None:
    """reference/opic-hits-original.md §6.3: toy, r2 = 1, r4 = .1"""
    hub, authority = flow(TOY, {1: 1.0, 3: 0.1}).rest()
    assert np.allclose(hub, [0.305626, 0.135181, 0.448363, 0.110831], atol=1e-4)
    assert np.allclose(authority, [0.224344, 0.369133, 0.118138, 0.288385], atol=1e-4)


def test_spending_all_again_and_again_comes_to_the_same() -> None:
    seen: list[np.ndarray] = []
    flow(T4).spend_all(1000, lambda hub, _: seen.append(hub / hub.sum()))
    goal = np.array([5, 3, 3, 3, 3]) / 17
    errors = [np.abs(share / goal - 1).max() for share in seen]
    assert errors[9] < 0.1
    assert errors[99] < 0.01
    assert errors[999] < 0.001


def test_the_classic_walk_comes_to_rest_in_few_rounds() -> None:
    """Where power iteration alone takes a thousand: cash goes round and round in a community of pages of many links."""
    dice = np.random.default_rng(2)
    links = {page: sorted({int(n) for n in dice.integers(0, 60, 200)} - {page}) for page in range(50)}
    links |= {page: sorted({int(n) for n in dice.integers(50, 200, 3)} - {page}) for page in range(60, 150)}
    rounds: list[int] = []
    walk = flow(links)
    hub, authority = walk.rest(1e-12, progress=lambda number, _: rounds.append(number))
    assert len(rounds) < 100
    slow_hub = slow_authority = np.full(walk.pages, 1.0 / walk.pages)
    for _ in range(5_000):
        to_hub, to_authority = walk.step(slow_hub, slow_authority)
        slow_hub, slow_authority = (slow_hub + to_hub) / 2, (slow_authority + to_authority) / 2
    np.testing.assert_allclose(hub, slow_hub / slow_hub.sum(), rtol=1e-9)
    np.testing.assert_allclose(authority, slow_authority / slow_authority.sum(), rtol=1e-9)
