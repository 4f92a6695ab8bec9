"""The opinions agree with each other, with numbers worked out by hand, and with what is known in closed form.

An oracle that is wrong in the same way as the program would prove nothing: so the linear solve, the plain program and
a pencil must say the same before any of them may judge graphbrain.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.linear import Web, intra_host_weights, keeps, solve, worst_error
from tests.reference.plain import AUTHORITY, HUB, Plain


def plain_of(web: Web, alpha: float) -> Plain:
    """The same web for the plain program."""
    plain = Plain(alpha)
    for page in range(web.pages):
        plain.add(page)
        if not np.isnan(web.relevance[page]):
            plain.relevance[page] = float(web.relevance[page])
        plain.set_payout(page, float(web.payout[page]))
    for source, target, weight in zip(web.sources.tolist(), web.targets.tolist(), web.weights.tolist(), strict=True):
        plain.link(source, target, weight)
    return plain


def scores(plain: Plain, side: str, pages: int) -> list[float]:
    return [plain.sides[side, page].score for page in range(pages)]


@st.composite
def webs(draw: st.DrawFn) -> Web:
    """Webs of three to six pages with any links, relevances, payouts and weights."""
    pages = draw(st.integers(3, 6))
    pairs = [(a, b) for a in range(pages) for b in range(pages) if a != b]
    links = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))
    table = np.array(links, dtype=np.int64).reshape(-1, 2)
    share = st.one_of(st.just(np.nan), st.sampled_from([0.0, 1.0]), st.floats(0, 1))
    return Web(
        pages,
        table[:, 0],
        table[:, 1],
        np.array(draw(st.lists(share, min_size=pages, max_size=pages))),
        np.array(draw(st.lists(st.floats(0.0, 5.0), min_size=pages, max_size=pages))),
        np.array([draw(st.sampled_from([1.0, 0.5, 0.25])) for _ in links], dtype=np.float64),
    )


def test_one_link_by_hand() -> None:
    """0 → 1, all as usual: keep is ½ on both sides, so hub(0) = 1 + ½ authority(1), authority(1) = 1 + ½ hub(0):
    both are 2, which is degree + 1; the sides without links are worth their payout, 1."""
    hub, authority = solve(Web.of({0: [1]}), alpha=0.15)
    assert hub == pytest.approx([2.0, 1.0], abs=1e-12)
    assert authority == pytest.approx([1.0, 2.0], abs=1e-12)


def test_one_link_with_everything_bent_by_hand() -> None:
    """0 → 1 of weight ½, r(1) = .8, payouts 2 and 3, alpha = .4.

    keep_hub(0) = .5/1.5 = 1/3; keep_authority(1) = .5/(.5 + .25) = 2/3, of which alpha leaves .6.
    Per unit of weight: hub(0) pays ⅓·h/½, the link of weight ½ brings ⅓·h; authority(1) brings .6·a.
    h = 2 + .6 a, a = 3 + h/3: h = 2 + 1.8 + .2 h = 4.75, a = 3 + 4.75/3.
    """
    web = Web.of({0: [1]}, relevance={1: 0.8}, payout={0: 2, 1: 3}, weights={(0, 1): 0.5})
    hub, authority = solve(web, alpha=0.4)
    assert hub == pytest.approx([4.75, 3.0], abs=1e-12)
    assert authority == pytest.approx([2.0, 3 + 4.75 / 3], abs=1e-12)


def test_two_parents_of_one_child_by_hand() -> None:
    """0 → 2 ← 1 with r(2) = .25 and alpha = 0: keep_authority(2) = 2/(2+3) = .4, each parent gets .2 of a;
    keep_hub = ½. h = 1 + .2 a for both, a = 1 + 2·½h = 1 + h: h = 1.2 + .2 h = 1.5, a = 2.5."""
    hub, authority = solve(Web.of({0: [2], 1: [2]}, relevance={2: 0.25}), alpha=0.0)
    assert hub == pytest.approx([1.5, 1.5, 1.0], abs=1e-12)
    assert authority == pytest.approx([1.0, 1.0, 2.5], abs=1e-12)


def test_keep_is_bounded_by_alpha_and_clipped_relevance() -> None:
    web = Web.of({0: [1, 2, 3]}, relevance={1: 0.0, 2: 1.0})
    hub, authority = keeps(web, alpha=0.2)
    assert hub.tolist() == [0.75, 0.0, 0.0, 0.0]
    assert authority == pytest.approx([0.0, 0.001, 0.8, 0.5], abs=1e-15)
    assert keeps(web, alpha=0.0)[1][2] == pytest.approx(0.999, abs=1e-15)


@pytest.mark.parametrize("pages", [3, 6, 60, 400])
def test_without_alpha_the_score_is_degree_plus_one(pages: int) -> None:
    dice = random.Random(pages)
    links = {a: dice.sample([b for b in range(pages) if b != a], dice.randrange(min(pages, 9))) for a in range(pages)}
    web = Web.of(links, pages=pages)
    hub, authority = solve(web, alpha=0.0)
    assert hub == pytest.approx(web.out_weight + 1, rel=1e-10)
    assert authority == pytest.approx(web.in_weight + 1, rel=1e-10)


def test_alpha_bends_the_scores() -> None:
    """A hub of nine links keeps .9 of its cash without alpha and .85 with it: its targets are worth less."""
    web = Web.of({0: range(1, 10)})
    assert solve(web, alpha=0.0)[1][1] == pytest.approx(2.0)
    assert solve(web, alpha=0.15)[1][1] < 1.96


@settings(max_examples=150)
@given(webs(), st.sampled_from([0.0, 0.05, 0.15, 0.5]))
def test_plain_program_and_linear_solve_agree(web: Web, alpha: float) -> None:
    plain = plain_of(web, alpha)
    plain.settle(1e-10)
    hub, authority = solve(web, alpha)
    assert scores(plain, HUB, web.pages) == pytest.approx(hub, abs=1e-6)
    assert scores(plain, AUTHORITY, web.pages) == pytest.approx(authority, abs=1e-6)
    assert plain.imbalance() < 1e-9


def test_plain_program_follows_a_web_that_changes() -> None:
    """Pushes between changes leave no trace: the end is the solution of the last web alone."""
    dice = random.Random(5)
    plain = Plain()
    for page in range(6):
        plain.add(page)
    pairs = [(a, b) for a in range(6) for b in range(6) if a != b]
    for _ in range(400):
        pair = dice.choice(pairs)
        if pair in plain.links:
            plain.unlink(*pair)
        else:
            plain.link(*pair, weight=dice.choice([1.0, 0.5]))
        if dice.random() < 0.2:
            plain.set_payout(dice.randrange(6), dice.uniform(0, 4))
        if dice.random() < 0.2:
            plain.relevance[dice.randrange(6)] = dice.random()
        for _ in range(dice.randrange(4)):
            plain.push(dice.choice([HUB, AUTHORITY]), dice.randrange(6))
        assert plain.imbalance() < 1e-9
    plain.settle(1e-12)
    web = Web.of(
        {page: [q for p, q in plain.links if p == page] for page in range(6)},
        pages=6,
        relevance=plain.relevance,
        payout=plain.payout,
        weights=plain.links,
    )
    hub, authority = solve(web)
    assert scores(plain, HUB, 6) == pytest.approx(hub, abs=1e-9)
    assert scores(plain, AUTHORITY, 6) == pytest.approx(authority, abs=1e-9)


def test_plain_program_forgets_a_page_with_all_it_paid() -> None:
    plain = Plain()
    plain.link(0, 1)
    plain.link(1, 2)
    plain.link(2, 0)
    plain.settle(1e-12)
    plain.forget(1)
    assert plain.imbalance() < 1e-12
    plain.settle(1e-12)
    # What is left is one link: both its ends are worth 2.
    assert plain.sides[HUB, 2].score == pytest.approx(2.0, abs=1e-9)
    assert plain.sides[AUTHORITY, 0].score == pytest.approx(2.0, abs=1e-9)
    assert plain.sides[AUTHORITY, 2].score == pytest.approx(1.0, abs=1e-9)


def test_weights_inside_a_host() -> None:
    web = Web.of({0: [1, 2], 2: [0]})
    weights = intra_host_weights(["a", "a", "b"], web.sources, web.targets, 0.5)
    assert weights.tolist() == [0.5, 1.0, 1.0]


def test_worst_error_is_relative_and_of_the_worst() -> None:
    assert worst_error([1.0, 2.2, 30.0], [1.0, 2.0, 30.0]) == pytest.approx(0.1)
    assert worst_error([], []) == 0.0
