"""The algebra of OPIC-HITS against numbers worked out by hand, its limits, and its edges.

The expected numbers are plain fractions that follow from the equations in docs/explanation/scores.md, not output of the
code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.ids import WHOLE, hashed
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Again
from graphbrain.schedule import lanes
from graphbrain.scores.accounts import algebra
from graphbrain.scores.accounts.algebra import NONE
from graphbrain.scores.accounts.exact_ledger import _COLUMNS as COLUMNS
from graphbrain.scores.accounts.exact_ledger import AccountMarks, Ledger

NAN = math.nan
shares = st.floats(0, 1)
sizes = st.floats(0, 1e9)
weights = st.integers(0, 10**6).map(lambda n: n / 1024)
alphas = st.floats(0, 0.999)


def f(*values: float) -> algebra.Floats:
    return np.array(values, dtype=np.float64)


# ---------------------------------------------------------------- what workers agree on


def test_defaults_of_the_rule() -> None:
    """The defaults: α .15, eps .03, intra-host weight off, 100,000 payees, best first."""
    assert Rule() == Rule(0.15, 0.03, 1.0, 100_000, "best_first")


def test_none_is_no_bucket_that_could_occur() -> None:
    """The log2 of a float lies within ±1,100: NONE must be far from all of them, and fit Neo4j."""
    assert NONE == -(2**63)


# ---------------------------------------------------------------- keep


def test_keep_of_hubs() -> None:
    """d/(d+1): nothing without links, ½ ⅔ ¾ ⅚, then .85 from d = 6 (6/7 = .857) to any d."""
    keep = algebra.keep_hub(f(0, 1, 2, 3, 5, 6, 100, 1e9), 0.15)
    assert keep == pytest.approx([0, 1 / 2, 2 / 3, 3 / 4, 5 / 6, 0.85, 0.85, 0.85], abs=1e-15)


def test_keep_of_hubs_with_discounted_links() -> None:
    """Weight ½ alone is ½/1½ = ⅓; 2¼ is 2¼/3¼ = 9/13."""
    assert algebra.keep_hub(f(0.5, 2.25), 0.15) == pytest.approx([1 / 3, 9 / 13], abs=1e-15)


def test_a_weight_below_0_waits_for_no_push() -> None:
    assert algebra.priority(f(0, 5), f(-1, -2), 0.03).tolist() == [NONE, NONE]


def test_a_weight_below_0_keeps_its_cash() -> None:
    """It is a fault that an audit finds; it must not become an infinity that spreads."""
    assert algebra.keep_hub(f(-1, -0.5), 0.15).tolist() == [0.0, 0.0]
    assert algebra.keep_authority(f(-1, -0.5), f(0.5, math.nan), 0.15).tolist() == [0.0, 0.0]


def test_keep_of_hubs_without_alpha_is_never_all() -> None:
    keep = algebra.keep_hub(f(0, 6, 999), 0.0)
    assert keep == pytest.approx([0, 6 / 7, 0.999], abs=1e-15)


def test_keep_of_authorities() -> None:
    """r = ¼ makes the virtual page a parent of weight 3, r = .8 one of ¼, r = ½ one of 1.

    d = 1, 3, 17 at r = ¼: 1/4, 3/6, 17/20 = .85 (just not capped); 18/21 = .857 is capped.
    d = 1, 2 at r = .8: 1/1.25 = .8, 2/2.25 = .889 is capped.
    """
    d = f(0, 1, 3, 17, 18, 1, 2, 1, 4)
    r = f(0.25, 0.25, 0.25, 0.25, 0.25, 0.8, 0.8, 0.5, 0.5)
    keep = algebra.keep_authority(d, r, 0.15)
    assert keep == pytest.approx([0, 1 / 4, 1 / 2, 0.85, 0.85, 0.8, 0.85, 1 / 2, 4 / 5], abs=1e-12)


def test_keep_of_authorities_at_the_ends_of_relevance() -> None:
    """r = 0 counts as .001: one parent against 999. r = 1 counts as .999: 999 to one, then α's cap.

    Unknown counts as ½. A page without links keeps nothing whatever its relevance.
    """
    d = f(1, 1, 1, 0, 0, 999)
    r = f(0, 1, NAN, 0, 1, 0)
    keep = algebra.keep_authority(d, r, 0.0)
    assert keep == pytest.approx([0.001, 0.999, 0.5, 0, 0, 0.5], abs=1e-12)
    assert algebra.keep_authority(f(1), f(1), 0.15) == pytest.approx([0.85], abs=1e-15)


def test_relevance_is_clipped_and_unknown_is_half() -> None:
    clipped = algebra.clip_relevance(f(NAN, 0, 0.0005, 0.001, 0.3, 0.999, 0.9999, 1))
    assert clipped.tolist() == [0.5, 0.001, 0.001, 0.001, 0.3, 0.999, 0.999, 0.999]


@given(weights, shares, alphas)
def test_a_side_with_links_passes_on_some_and_not_all(d: float, r: float, alpha: float) -> None:
    for keep in (algebra.keep_hub(f(d), alpha)[0], algebra.keep_authority(f(d), f(r), alpha)[0]):
        assert 0 <= keep <= 1 - alpha
        assert (keep == 0) == (d == 0)


@given(weights, weights, shares, shares, alphas, alphas)
def test_keep_grows_with_links_and_relevance_and_falls_with_alpha(
    d: float, e: float, r: float, s: float, alpha: float, beta: float
) -> None:
    (d, e), (r, s), (alpha, beta) = sorted((d, e)), sorted((r, s)), sorted((alpha, beta))
    assert algebra.keep_hub(f(d), alpha) <= algebra.keep_hub(f(e), alpha)
    assert algebra.keep_hub(f(e), beta) <= algebra.keep_hub(f(e), alpha)
    assert algebra.keep_authority(f(d), f(r), alpha) <= algebra.keep_authority(f(e), f(r), alpha)
    assert algebra.keep_authority(f(e), f(r), alpha) <= algebra.keep_authority(f(e), f(s), alpha)
    assert algebra.keep_authority(f(e), f(s), beta) <= algebra.keep_authority(f(e), f(s), alpha)


@given(weights, alphas)
def test_half_relevance_makes_both_sides_alike(d: float, alpha: float) -> None:
    """Without it the score at the fixed point would not be degree + 1."""
    hub = algebra.keep_hub(f(d), alpha)
    assert algebra.keep_authority(f(d), f(0.5), alpha) == pytest.approx(hub, abs=1e-15)


# ---------------------------------------------------------------- residual and priority


def test_residual_is_what_a_push_would_pay() -> None:
    """½·3 − 2·¼ = 1; nothing waits at .75·4 − 3·1; .6·1 − 1·.8 takes .2 back."""
    left = algebra.residual(f(0.5, 0.75, 0.6), f(3, 4, 1), f(2, 3, 1), f(0.25, 1, 0.8))
    assert left == pytest.approx([1.0, 0.0, -0.2], abs=1e-15)


def test_priority_is_the_power_of_four_of_what_waits_per_link() -> None:
    """floor(½·log2 x) of x = |p|/(d+1). d = 1: p = 2, 8, 7.99, 1, ½, .49, −8 are x = 1, 4, 3.995, ½, ¼, .245, 4."""
    got = algebra.priority(f(2, 8, 7.99, 1, 0.5, 0.49, -8), np.ones(7), 0.03)
    assert got.tolist() == [0, 1, 0, -1, -1, -2, 1]
    # p = 16: d = 0.5 is x = 10.7; d = 3 is 4; d = 4 is 3.2; d = 31 is ½; d = 64 is .246.
    assert algebra.priority(np.full(5, 16.0), f(0.5, 3, 4, 31, 64), 0.03).tolist() == [1, 1, 0, -1, -2]


def test_priority_is_none_up_to_eps_and_without_links() -> None:
    """eps = 1/64, exact in binary: x = 1/64 is not worth a push, the next float above is (4⁻³)."""
    eps = 1 / 64
    above = np.nextafter(eps, 1)
    got = algebra.priority(f(2 * eps, 2 * above, -2 * eps, 0, 1e6), f(1, 1, 1, 1, 0), eps)
    assert got.tolist() == [NONE, -3, NONE, NONE, NONE]


def test_priority_of_very_little_and_very_much() -> None:
    """Buckets go on below zero and far up: x = 4⁻¹⁵ and 4²⁰."""
    got = algebra.priority(f(2.0**-29, 2.0**41), f(1, 1), 1e-12)
    assert got.tolist() == [-15, 20]
    assert got.dtype == np.int64


@given(sizes, sizes, weights, st.floats(1e-9, 1))
def test_priority_grows_with_what_waits_and_tells_what_is_worth_a_push(
    p: float, q: float, d: float, eps: float
) -> None:
    low, high = algebra.priority(f(*sorted((p, q))), f(d, d), eps).tolist()
    assert low <= high
    x = max(p, q) / (d + 1)
    assert (high != NONE) == (x > eps and d > 0)
    if high != NONE:
        assert 4.0**high <= x * (1 + 1e-12) and x <= 4.0 ** (high + 1) * (1 + 1e-12)


# ---------------------------------------------------------------- rank


def test_rank_counts_quarter_powers_of_two() -> None:
    """floor(4·log2 s): 32 is 20, 38 is 20.99, 38.1 is 21.01, 64 is 24, 1000 is 39.86."""
    got = algebra.rank(f(32, 38, 38.1, 64, 1000))
    assert got.tolist() == [20, 20, 21, 24, 39]


def test_rank_is_none_for_the_many_pages_near_their_payout() -> None:
    """Scores below 32 have no place in the index; nor have those of pages that owe more than they hold."""
    got = algebra.rank(f(32, 31.999999, 1, 0.5, 0, -300))
    assert got.tolist() == [20, NONE, NONE, NONE, NONE, NONE]
    assert got.dtype == np.int64
    assert algebra.FIRST_RANK == 20


@given(sizes, sizes)
def test_rank_grows_with_the_score(a: float, b: float) -> None:
    low, high = algebra.rank(f(*sorted((a, b)))).tolist()
    assert low <= high
    assert high == NONE or high >= 20


# ---------------------------------------------------------------- lanes


def lane_of(score: Floats, relevance: Floats) -> Ints:
    return lanes.frontier_lane(lanes.weighed(Rule(), score, relevance, np.ones(len(score))))


def test_lane_takes_relevance_into_account() -> None:
    """The value is score·2r, so ½ and unknown change nothing; ¼ halves it: an octave down, which is 4096 lanes.

    r = 1 counts as .999: 1.998, which is not quite an octave up.
    """
    octave = 8 * 4096
    one = int(lane_of(np.ones(1), np.full(1, 0.5))[0])
    got = lane_of(np.ones(5), f(0.5, 0.25, 0.125, 1, NAN))
    assert got.tolist() == [one, one + octave, one + 2 * octave, one - octave + 8 * 6, one]


def test_lanes_end_at_both_ends() -> None:
    """Scores of zero and below wait in the last lane, with those below 2⁻⁶⁴; from 2⁶⁴ on all are in the first.

    Lane 0 is for pages that are wanted at once.
    """
    got = lane_of(f(0, -5, 1e-30, 2.0**63.9, 2.0**64, 2.0**500), np.full(6, 0.5)).tolist()
    assert got[0] == got[1] == got[2] == lanes.FRONTIER_END - 1
    assert got[3] > got[4] == got[5] > 0


@given(sizes, sizes, shares, shares)
def test_better_pages_never_wait_in_later_lanes(a: float, b: float, r: float, s: float) -> None:
    (a, b), (r, s) = sorted((a, b)), sorted((r, s))
    worse, better = lane_of(f(a, b), f(r, s)).tolist()
    assert 1 <= better <= worse < lanes.FRONTIER_END


# ---------------------------------------------------------------- a whole web by hand
#
# Pages 1 → 2, 2 → 4, 3 → {1, 2, 4}. Out-degrees 1 1 3 0, in-degrees 1 2 0 2 (of pages 1 2 3 4).
# A new page has history 1 on both sides, no cash, and has paid nothing. α = .15, r = ½.

LINKS = {1: [2], 2: [4], 3: [1, 2, 4], 4: []}
OUT = f(1, 1, 3, 0)
IN = f(1, 2, 0, 2)


def locked(rule: Rule, pages: Iterable[int], **columns: Callable[[int], float]) -> Ledger:
    """A ledger as accounts/lock would give it: new pages, but for the columns given as functions of the page's id."""
    new: dict[str, float] = {
        "hub_history": 1,
        "authority_history": 1,
        "relevance": -1,
        "first_fetched": -1,
        "lane": 1000,
        "url_weight": 1,
    }
    rows = [[i, *(columns[name](i) if name in columns else new.get(name, 0) for name in COLUMNS)] for i in pages]
    return Ledger(rows, rule)


def fresh(rule: Rule | None = None, relevance: float = -1.0) -> Ledger:
    """The ledger of these four pages, with ids 1..4; pages 1 and 2 share a host, 3 and 4 another."""
    ledger = locked(
        rule or Rule(),
        LINKS,
        out_weight=lambda i: OUT[i - 1],
        in_weight=lambda i: IN[i - 1],
        relevance=lambda _: relevance,
    )
    ledger.hosts = np.array(["a", "a", "b", "b"], dtype=object)
    return ledger


def push_hub(ledger: Ledger, page: int) -> None:
    payees = ledger.at(LINKS[page])
    ledger.push("hub", ledger.at([page]), np.repeat(ledger.at([page]), len(payees)), payees)


def push_authority(ledger: Ledger, page: int) -> None:
    payees = ledger.at([p for p, targets in LINKS.items() if page in targets])
    ledger.push("authority", ledger.at([page]), np.repeat(ledger.at([page]), len(payees)), payees)


def test_what_waits_in_a_new_web() -> None:
    """Hubs wait for ½ ½ ¾ –, per link ¼ ¼ 3/16: buckets −1 −1 −2. Authorities for ½ ⅔ – ⅔, per
    link ¼ 2/9 – 2/9: buckets −1 −2 – −2."""
    ledger = fresh()
    assert ledger.waiting("hub") == pytest.approx([1 / 2, 1 / 2, 3 / 4, 0], abs=1e-15)
    assert ledger.waiting("authority") == pytest.approx([1 / 2, 2 / 3, 0, 2 / 3], abs=1e-15)
    marks = AccountMarks(ledger)
    assert marks.hub_priority.tolist() == [-1, -1, -2, NONE]
    assert marks.authority_priority.tolist() == [-1, -2, NONE, -2]
    assert marks.hub_rank.tolist() == marks.authority_rank.tolist() == [NONE] * 4
    assert marks.lane.tolist() == [int(lanes.frontier_lane(1.0))] * 4


def test_one_push_of_a_hub() -> None:
    """Page 3 spends: keeps ¾ of 1 for three links, ¼ each. It holds 1 as before, all as history."""
    ledger = fresh()
    push_hub(ledger, 3)
    assert ledger.authority_cash.tolist() == [0.25, 0.25, 0, 0.25]
    assert ledger.hub_paid.tolist() == [0, 0, 0.25, 0]
    assert ledger.hub_history.tolist() == [1, 1, 1, 1]
    assert ledger.waiting("hub")[2] == 0
    # Page 1's authority has 1.25 now and waits for ½ of it, pages 2 and 4 for ⅔ of it.
    assert ledger.waiting("authority") == pytest.approx([5 / 8, 5 / 6, 0, 5 / 6], abs=1e-15)


def test_cash_goes_there_and_back() -> None:
    """After page 3's hub, page 2's authority: it has 1.25, keeps ⅔ for two links, 5/12 each.

    Then page 3 again: history 1 + 5/12 = 17/12, paid ¼·17/12 = 17/48, so 5/48 more for each.
    """
    ledger = fresh()
    push_hub(ledger, 3)
    push_authority(ledger, 2)
    assert ledger.authority_history[1] == 1.25 and ledger.authority_cash[1] == 0
    assert ledger.authority_paid[1] == pytest.approx(5 / 12, abs=1e-15)
    assert ledger.hub_cash == pytest.approx([5 / 12, 0, 5 / 12, 0], abs=1e-15)
    push_hub(ledger, 3)
    assert ledger.hub_history[2] == pytest.approx(17 / 12, abs=1e-15)
    assert ledger.hub_cash[2] == 0
    assert ledger.hub_paid[2] == pytest.approx(17 / 48, abs=1e-15)
    assert ledger.authority_cash == pytest.approx([17 / 48, 5 / 48, 0, 17 / 48], abs=1e-15)


def test_a_second_push_pays_nothing() -> None:
    ledger = fresh()
    push_hub(ledger, 3)
    before = [ledger.authority_cash.copy(), ledger.hub_history.copy(), ledger.hub_paid.copy()]
    push_hub(ledger, 3)
    after = [ledger.authority_cash, ledger.hub_history, ledger.hub_paid]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_two_hubs_that_pay_the_same_page_in_one_batch() -> None:
    """Pages 1 and 3 both pay page 2: ½ and ¼."""
    ledger = fresh()
    pages = ledger.at([1, 3])
    ledger.push("hub", pages, ledger.at([1, 3, 3, 3]), ledger.at([2, 1, 2, 4]))
    assert ledger.authority_cash.tolist() == [0.25, 0.75, 0, 0.25]


def assert_held(ledger: Ledger, weight: Callable[[int, int], float] = lambda _a, _b: 1.0) -> None:
    """Every side holds 1 and what its neighbours have paid over the links, whatever was pushed when."""
    hub, authority = np.ones(4), np.ones(4)
    for source, targets in LINKS.items():
        for target in targets:
            hub[source - 1] += weight(source, target) * ledger.authority_paid[target - 1]
            authority[target - 1] += weight(source, target) * ledger.hub_paid[source - 1]
    assert ledger.hub_score == pytest.approx(hub, abs=1e-14)
    assert ledger.authority_score == pytest.approx(authority, abs=1e-14)


def test_a_web_that_is_locked_as_a_whole_is_spent_at_once() -> None:
    ledger = fresh()
    pushes, payments = ledger.spend_among(LINKS)
    assert pushes > 6 and payments > 10  # some sides more than once
    marks = AccountMarks(ledger)
    assert set(marks.hub_priority.tolist()) | set(marks.authority_priority.tolist()) == {NONE}
    assert_held(ledger)
    assert ledger.spend_among(LINKS) == (0, 0)


def test_only_sides_all_of_whose_links_are_known_are_spent() -> None:
    """That 3 links to 4, too, is not known here: 3's hub and 4's authority stay as they are."""
    ledger = fresh()
    ledger.spend_among({1: [2], 2: [4], 3: [1, 2]})
    assert (ledger.hub_paid > 0).tolist() == [True, True, False, False]
    assert (ledger.authority_paid > 0).tolist() == [True, True, False, False]
    assert_held(ledger)


def test_a_side_with_too_many_links_is_not_spent_with_the_others() -> None:
    ledger = fresh(Rule(max_payees=2))
    ledger.spend_among(LINKS)
    assert (ledger.hub_paid > 0).tolist() == [True, True, False, False]
    assert (ledger.authority_paid > 0).tolist() == [True, True, False, True]
    assert_held(ledger)


def test_links_of_less_weight_are_all_links_too() -> None:
    """Inside a host a link weighs ⅜ here: 1 → 2 and 3 → 4."""
    ledger = fresh(Rule(intra_host_weight=3 / 8))
    ledger.out_weight[:] = [3 / 8, 1, 2 + 3 / 8, 0]
    ledger.in_weight[:] = [1, 1 + 3 / 8, 0, 1 + 3 / 8]
    ledger.spend_among(LINKS)
    assert (ledger.hub_paid > 0).tolist() == [True, True, True, False]
    assert (ledger.authority_paid > 0).tolist() == [True, True, False, True]
    assert_held(ledger, lambda a, b: 3 / 8 if (a > 2) == (b > 2) else 1.0)


def test_nothing_is_spent_among_no_links() -> None:
    assert fresh().spend_among({}) == (0, 0)
    assert fresh().spend_among({4: []}) == (0, 0)


def test_a_link_inside_a_host_carries_its_weight() -> None:
    """Pages 1 and 2 share a host, 3 and 4 another. With intra-host weight ½ page 3 has out-weight
    1 + 1 + ½ = 2½: keeps 2½/3½ = 5/7, pays 2/7 per unit: 2/7 to pages 1 and 2 and 1/7 to page 4."""
    ledger = fresh(Rule(intra_host_weight=0.5))
    ledger.out_weight[2] = 2.5
    push_hub(ledger, 3)
    assert ledger.authority_cash == pytest.approx([2 / 7, 2 / 7, 0, 1 / 7], abs=1e-15)
    assert ledger.hub_paid[2] == pytest.approx(2 / 7, abs=1e-15)


def test_a_new_link_is_paid_what_the_others_have_got() -> None:
    """After 3's hub (paid ¼) and 2's authority (paid 5/12): 3 loses 2 and pays back on both ends;
    linked again, the accounts are as before."""
    ledger = fresh()
    push_hub(ledger, 3)
    push_authority(ledger, 2)
    ledger.relink([3], [2], -1)
    assert ledger.hub_cash == pytest.approx([5 / 12, 0, 0, 0], abs=1e-15)
    assert ledger.authority_cash == pytest.approx([0.25, -0.25, 0, 0.25], abs=1e-15)
    assert (ledger.out_weight[2], ledger.in_weight[1]) == (2, 1)
    ledger.relink([3], [2], 1)
    assert ledger.hub_cash == pytest.approx([5 / 12, 0, 5 / 12, 0], abs=1e-15)
    assert ledger.authority_cash == pytest.approx([0.25, 0, 0, 0.25], abs=1e-15)
    assert (ledger.out_weight[2], ledger.in_weight[1]) == (3, 2)


def test_several_links_of_one_page_at_once() -> None:
    """4 → 1 and 4 → 2 appear after 1's and 2's authorities have paid ½ and ⅓: 4 gets both."""
    ledger = fresh()
    push_authority(ledger, 1)
    push_authority(ledger, 2)
    ledger.relink([4, 4], [1, 2], 1)
    assert ledger.hub_cash[3] == pytest.approx(1 / 2 + 1 / 3, abs=1e-15)
    assert (ledger.out_weight[3], *ledger.in_weight[:2]) == (2, 2, 3)


def test_unknown_relevance_comes_as_minus_one() -> None:
    assert np.isnan(fresh().relevance).all()
    assert fresh(relevance=0.0).relevance.tolist() == [0.0] * 4


def test_breadth_first_lanes_are_depths() -> None:
    ledger = locked(Rule(order="breadth_first"), LINKS, depth=lambda i: i % 3, authority_history=lambda _: 5.0)
    assert ledger.marks_before.lane.tolist() == [2, 3, 1, 2]


@given(st.data())
def test_pushes_in_any_order_keep_every_account_right(data: st.DataObject) -> None:
    """History + cash = 1 + what the neighbours have paid, for each side, whatever is pushed."""
    ledger = fresh(relevance=data.draw(st.sampled_from([-1.0, 0.0, 0.3, 1.0])))
    for side, page in data.draw(
        st.lists(
            st.tuples(st.sampled_from(["hub", "authority"]), st.sampled_from([1, 2, 3, 4])),
            max_size=30,
        )
    ):
        degree = OUT if side == "hub" else IN
        if degree[page - 1]:
            (push_hub if side == "hub" else push_authority)(ledger, page)
    for page in LINKS:
        due_hub = 1 + sum(ledger.authority_paid[q - 1] for q in LINKS[page])
        due_authority = 1 + sum(ledger.hub_paid[p - 1] for p in LINKS if page in LINKS[p])
        place = page - 1
        assert ledger.hub_history[place] + ledger.hub_cash[place] == pytest.approx(due_hub)
        got = ledger.authority_history[place] + ledger.authority_cash[place]
        assert got == pytest.approx(due_authority)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=8, unique=True), st.integers(0, 10**12))
def test_a_ledger_finds_the_pages_it_holds_and_no_others(ids: list[int], other: int) -> None:
    ids.sort()
    ledger = locked(Rule(), ids)
    assert ledger.at(ids).tolist() == list(range(len(ids)))
    assert ledger.holds(ids)
    assume(other not in ids)
    assert not ledger.holds([other])
    with pytest.raises(Again):
        ledger.at([other])


@pytest.mark.parametrize("known", [True, False])
def test_a_page_knows_by_a_number_which_links_it_has(known: bool) -> None:
    """Unless it had some of which nobody knows: then, in the end, still nobody does."""
    ledger = locked(
        Rule(), range(1, 6), out_weight=lambda i: float(i == 5), links_sum=lambda i: 7 if known and i == 5 else -1
    )
    ledger.relink([1, 1, 2, 5], [2, 3, 1, 1], 1)
    ledger.relink([1, 2], [2, 1], -1)

    def term(page: int) -> int:
        return int(hashed(np.array([page]))[0])

    assert ledger.links_sum.tolist() == [term(3), 0, 0, 0, (7 + term(1)) & WHOLE if known else NONE]


# ---------------------------------------------------------------- payouts


@pytest.mark.parametrize(
    ("policy", "shares"),
    [
        ("uniform", [1, 1, 1, 1]),
        ("unfetched", [0, 1, 0, 1]),
        ("fetched", [1, 0, 1, 0]),
        ("target", [0, 1, 1, 0]),
        ("relevance", [0.001, 0.75, 0.999, 0.5]),
        ("trusted", [1, 0, 0, 1]),
        ("hosts", [0, 1, 0, 1]),
    ],
)
def test_payouts_by_policy(policy: str, shares: list[float]) -> None:
    """Relevances 0, ¾, 1 and unknown; the first and third page were fetched, the first and last are seeds."""
    fetched, seed = np.array([True, False, True, False]), np.array([True, False, False, True])
    rule = Rule(payout=policy, target_relevance=0.75, target_hosts="a.org", payout_scale=4.0)
    hosts = ["b.org", "a.org", "aa.org", "www.a.org"]
    paid = algebra.payout(rule, np.array([0.0, 0.75, 1.0, np.nan]), fetched, seed, hosts)
    assert paid.tolist() == [4.0 * share for share in shares]


@pytest.mark.parametrize(("target", "is_one"), [(0.5, True), (0.51, False)])
def test_unknown_relevance_is_a_half_for_targets_too(target: float, is_one: bool) -> None:
    none = np.zeros(1, dtype=bool)
    paid = algebra.payout(Rule(payout="target", target_relevance=target), np.array([np.nan]), none, none)
    assert paid.tolist() == [float(is_one)]


def test_the_rule_by_what_stands_on_the_brain() -> None:
    """What is no part of the rule is left out; what was never set is as by default."""
    assert Rule.of({"alpha": 0.25, "revision": 3, "crawl": "x"}) == Rule(alpha=0.25, revision=3)
    bent = Rule.of({"payout": "trusted", "payout_scale": 2.0, "repaying": "", "revision": 4})
    assert bent == Rule(payout="trusted", payout_scale=2.0, repaying=True, revision=4)
    assert [rule.bends_payouts for rule in (bent, Rule(), Rule(repaying=True))] == [True, False, True]
