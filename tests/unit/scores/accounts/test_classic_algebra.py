"""The classic engine's algebra against the ancestors' numbers (reference/opic-hits-original.md §1.2, §3, §6)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.numeric.rules import ClassicOptions
from graphbrain.scores.accounts import classic_algebra
from graphbrain.scores.accounts.classic_algebra import Books, Side, Turn, Virtual
from tests.reference.ancestors import T1, T4, TOY, Ancestors

NO_WINDOW = ClassicOptions(window=0.0)


def f(*values: float) -> classic_algebra.Floats:
    return np.array(values, dtype=np.float64)


class Web:
    """A web of a handful of pages in arrays, as the ledger holds them."""

    def __init__(
        self, web: Mapping[int, tuple[int, ...]], options: ClassicOptions, relevance: Mapping[int, float]
    ) -> None:
        self.pages = sorted(web)
        self.options = options
        at = {page: place for place, page in enumerate(self.pages)}
        self.out = [np.array([at[t] for t in web[page]], dtype=np.int64) for page in self.pages]
        into = [[at[s] for s in self.pages if page in web[s]] for page in self.pages]
        self.into = [np.array(sources, dtype=np.int64) for sources in into]
        dh, da = f(*map(len, self.out)), f(*map(len, self.into))
        r = f(*(relevance.get(page, math.nan) for page in self.pages))
        n = len(self.pages)
        self.books = Books(
            Side(np.ones(n), np.zeros(n), np.zeros(n), dh, classic_algebra.hub_share(dh, options.root_share)),
            Side(
                np.ones(n),
                np.zeros(n),
                np.zeros(n),
                da,
                classic_algebra.authority_share(da, r, options.relevance_rule, options.root_share),
            ),
        )
        self.virtual = Virtual(pages=n)

    def spend(self, *sides: tuple[str, int]) -> None:
        at = {page: place for place, page in enumerate(self.pages)}
        turns = []
        for side, page in sides:
            payees = (self.out if side == "h" else self.into)[at[page]]
            turns.append(Turn(side == "h", at[page], payees, np.ones(len(payees))))
        classic_algebra.spend(self.books, turns, self.virtual, self.options)

    def pay(self) -> None:
        """The virtual page pays; the offsets are put into the cash at once."""
        self.virtual.pay(self.options)
        self.books.hub.cash += self.virtual.hub_offset
        self.books.authority.cash += self.virtual.authority_offset
        self.virtual.hub_offset = self.virtual.authority_offset = 0.0

    def update(self) -> None:
        """One pass over every side; cash that differs in its last bits only counts as equal."""
        sides = [
            (round(cash, 9), page, side)
            for side, own in (("h", self.books.hub), ("a", self.books.authority))
            for page, cash in zip(self.pages, own.cash.tolist(), strict=True)
        ]
        self.spend(*((side, page) for _, page, side in sorted(sides, reverse=True)))
        self.pay()

    @property
    def total(self) -> float:
        books, virtual = self.books, self.virtual
        return float(books.hub.cash.sum() + books.authority.cash.sum()) + virtual.hub_cash + virtual.authority_cash


def make(
    web: Mapping[int, tuple[int, ...]],
    options: ClassicOptions = NO_WINDOW,
    relevance: Mapping[int, float] | None = None,
) -> Web:
    return Web(web, options, relevance or {})


def about(*values: float) -> object:
    return pytest.approx(values, abs=1e-6)


# ---------------------------------------------------------------- single steps, §6.1


def test_single_steps_on_the_toy_web() -> None:
    """Hub of 3, authority of 2, hub of 4 (dangling), authority of 3 (nobody links to it), the virtual page; all cash
    is 10 throughout."""
    web = make(TOY)
    hub, authority, virtual = web.books.hub, web.books.authority, web.virtual
    assert web.total == 10
    web.spend(("h", 3))
    assert web.total == pytest.approx(10, abs=1e-12)
    assert authority.cash == about(1.25, 1.25, 1, 1.25)
    assert (virtual.authority_cash, virtual.clock, virtual.hub_total) == about(1.25, 1, 1)
    assert (hub.history[2], hub.cash[2]) == (1, 0)
    web.spend(("a", 2))
    assert hub.cash == about(1.4166667, 1, 0.4166667, 1)
    assert (authority.history[1], authority.cash[1], authority.updated[1]) == about(1.25, 0, 1)
    assert (virtual.hub_cash, virtual.clock, virtual.authority_total) == about(1.4166667, 2.25, 1.25)
    assert web.total == pytest.approx(10, abs=1e-12)
    web.spend(("h", 4))
    assert (hub.history[3], hub.updated[3]) == about(1, 2.25)
    assert (virtual.authority_cash, virtual.clock, virtual.hub_total) == about(2.25, 3.25, 2)
    assert web.total == pytest.approx(10, abs=1e-12)
    web.spend(("a", 3))
    assert (authority.history[2], authority.updated[2]) == about(1, 3.25)
    assert (virtual.hub_cash, virtual.clock, virtual.authority_total) == about(2.4166667, 4.25, 2.25)
    assert web.total == pytest.approx(10, abs=1e-12)
    web.pay()
    assert hub.cash == about(1.9791667, 1.5625, 0.9791667, 0.5625)
    assert authority.cash == about(1.8541667, 0.6041667, 0.6041667, 1.8541667)
    assert (virtual.hub_cash, virtual.authority_cash) == about(0, 0)
    assert (virtual.hub_history, virtual.authority_history, virtual.clock) == about(2.4166667, 2.25, 4.25)
    assert web.total == pytest.approx(10, abs=1e-12)


def test_a_whole_pass_on_the_toy_web() -> None:
    """§6.2: each side spends also what it got earlier in the pass; of equals the higher page first, its hub first."""
    web = make(TOY)
    web.update()
    hub, authority, virtual = web.books.hub, web.books.authority, web.virtual
    assert hub.history == about(1.4444444, 1.3333333, 1.3333333, 1)
    assert authority.history == about(1.3333333, 1.3333333, 1, 1)
    assert hub.cash == about(0.9305556, 0.9305556, 2.0416667, 0.9305556)
    assert authority.cash == about(0.8611111, 1.5833333, 0.8611111, 1.8611111)
    assert (virtual.clock, virtual.hub_total, virtual.authority_total) == about(9.7777778, 5.1111111, 4.6666667)


def test_passes_on_the_web_of_five() -> None:
    """§6.2: one, two and a hundred passes."""
    web = make(T4)
    hub, authority = web.books.hub, web.books.authority
    web.update()
    assert hub.history == about(2.4444444, 1.3333333, 1.3333333, 1.3333333, 1)
    assert authority.history == about(2.6666667, 1.3333333, 1, 1, 1)
    assert (web.virtual.clock, web.virtual.hub_total, web.virtual.authority_total) == about(14.4444444, 7.4444444, 7)
    web.update()
    assert hub.history / web.virtual.hub_total == about(0.306673, 0.179271, 0.179271, 0.179271, 0.155515)
    for _ in range(98):
        web.update()
    assert hub.history / hub.history.sum() == about(0.294313, 0.176532, 0.176532, 0.176532, 0.176090)
    assert authority.history / authority.history.sum() == about(0.294963, 0.176591, 0.176149, 0.176149, 0.176149)
    assert web.total == pytest.approx(12, abs=1e-12)


def test_one_step_of_plain_opic() -> None:
    """The documents' first example, (cash, history) of one score and no virtual page: 1 (0, 10), 2 (4, 3), 3 (6, 3),
    4 (3, 0), and page 3 is updated. What it spends stands on its hub side here, what all receive on the other."""
    web = make(TOY)
    hub, authority = web.books.hub, web.books.authority
    hub.cash[:], hub.history[:] = (0, 0, 6, 0), (10, 3, 3, 0)
    authority.cash[:] = (0, 4, 0, 3)
    hub.share[:] = 1.0
    web.spend(("h", 3))
    assert list(zip((hub.cash + authority.cash).tolist(), hub.history.tolist(), strict=True)) == [
        (2, 10),
        (6, 3),
        (0, 9),
        (5, 0),
    ]


def test_one_step_without_a_virtual_page() -> None:
    """The documents' example, in the direction of the code: page 2 passes on everything."""
    web = make(TOY)
    hub, authority = web.books.hub, web.books.authority
    hub.cash[:], hub.history[:] = (3, 4, 3, 0), (2, 3, 1, 2)
    authority.cash[:], authority.history[:] = (1, 5, 2, 1), (2, 1, 1, 1)
    hub.share[:] = authority.share[:] = 1.0
    web.spend(("h", 2), ("a", 2))
    assert (hub.cash.tolist(), hub.history.tolist()) == ([5.5, 0, 5.5, 0], [2, 7, 1, 2])
    assert (authority.cash.tolist(), authority.history.tolist()) == ([1, 0, 2, 5], [2, 6, 1, 1])


@pytest.mark.parametrize(("r", "hub", "virtual"), [(0.5, 1.25, 1.25), (1.0, 1.3333333, 1.0), (0.25, 1.1458333, 1.5625)])
def test_the_polynomial_of_relevance(r: float, hub: float, virtual: float) -> None:
    """§6.3: an authority with three predecessors, all cash 1."""
    web = make(
        {1: (4,), 2: (4,), 3: (4,), 4: ()}, ClassicOptions(window=0.0, relevance_rule="polynomial"), relevance={4: r}
    )
    web.spend(("a", 4))
    assert web.books.hub.cash[:3] == about(hub, hub, hub)
    assert web.virtual.hub_cash == pytest.approx(virtual, abs=1e-6)


# ---------------------------------------------------------------- fixed points, §6.3


@pytest.mark.parametrize(
    ("web", "hub", "authority"),
    [
        (T4, f(5, 3, 3, 3, 3) / 17, f(5, 3, 3, 3, 3) / 17),
        (TOY, f(2, 2, 4, 1) / 9, f(2, 3, 1, 3) / 9),
        (T1, f(3, 2, 2, 1) / 8, f(1, 2, 2, 3) / 8),
    ],
)
def test_without_relevance_a_score_is_degree_plus_one(
    web: dict[int, tuple[int, ...]], hub: classic_algebra.Floats, authority: classic_algebra.Floats
) -> None:
    made = make(web)
    for _ in range(3_000):
        made.update()
    assert made.books.hub.history / made.virtual.hub_total == pytest.approx(hub, abs=1e-4)
    assert made.books.authority.history / made.virtual.authority_total == pytest.approx(authority, abs=1e-4)
    assert made.total == pytest.approx(classic_algebra.total_cash(len(web)), rel=1e-12)


def test_the_error_falls_like_one_over_the_passes() -> None:
    """§1.2.10: on the web of five the worst relative error is .02 to .03 after 10 passes, a tenth of that after 100,
    and a hundredth after 1000."""
    web, due = make(T4), f(5, 3, 3, 3, 3) / 17
    passes = 0
    for until, least in ((10, 2e-2), (100, 2e-3), (1000, 2e-4)):
        while passes < until:
            web.update()
            passes += 1
        for side, total in ((web.books.hub, web.virtual.hub_total), (web.books.authority, web.virtual.authority_total)):
            worst = float(np.max(np.abs(side.history / total - due) / due))
            assert least < worst < 1.5 * least, until


def test_relevance_bends_the_fixed_point() -> None:
    """The toy web with r = 1 at page 2 and .1 at page 4, by the ancestors' polynomial."""
    web = make(TOY, ClassicOptions(window=0.0, relevance_rule="polynomial"), {2: 1.0, 4: 0.1})
    for _ in range(3_000):
        web.update()
    assert web.books.hub.history / web.virtual.hub_total == pytest.approx(
        f(0.305626, 0.135181, 0.448363, 0.110831), abs=1e-4
    )
    assert web.books.authority.history / web.virtual.authority_total == pytest.approx(
        f(0.224344, 0.369133, 0.118138, 0.288385), abs=1e-4
    )


@pytest.mark.parametrize("web", [TOY, T1, T4])
@pytest.mark.parametrize("window", [0.0, 8.0])
@pytest.mark.parametrize("relevance", [{}, {1: 1.0, 2: 0.0, 4: 0.2}])
def test_it_is_what_the_plain_second_opinion_says(
    web: dict[int, tuple[int, ...]], window: float, relevance: dict[int, float]
) -> None:
    options = ClassicOptions(window=window)
    ours = make(web, options, relevance)
    plain = Ancestors(dict(web), relevance, window * classic_algebra.total_cash(len(web)))
    for _ in range(50):
        ours.update()
        plain.update()
    for side, own in (("h", ours.books.hub), ("a", ours.books.authority)):
        assert own.cash == pytest.approx([plain.cash[side, page] for page in sorted(web)], rel=1e-9, abs=1e-9)
        assert own.history == pytest.approx([plain.history[side, page] for page in sorted(web)], rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------- history


@pytest.mark.parametrize(
    ("passed", "after"), [(0, 13), (250, 10.5), (999, 3.01), (1000, 3), (2000, 1.5), (-500, 13), (-1e9, 13)]
)
def test_the_window(passed: float, after: float) -> None:
    """§6.3: T = 1000, history 10, cash 3. A clock that went back counts as standing (it gave 18)."""
    assert classic_algebra.history(10.0, 3.0, passed, 1000.0) == pytest.approx(after)


def test_no_window_forgets_nothing() -> None:
    assert classic_algebra.history(10.0, 3.0, 1e12, math.inf) == 13


def test_the_window_grows_with_the_crawl() -> None:
    """F7: a constant window is shorter than one sweep of a large web."""
    assert ClassicOptions(window=8.0).length(9) == 160
    assert ClassicOptions(window=0.0).length(9) == math.inf
    assert ClassicOptions(window=86_400.0, window_unit="seconds").length(10**6) == 86_400


# ---------------------------------------------------------------- shares


def test_shares_of_relevance() -> None:
    """q(0) = 0, q(½) = d/(d+1), q(1) = 1 by both rules; nothing without links; unknown is ½."""
    for rule in ("rational", "polynomial"):
        share = classic_algebra.authority_share(f(3, 3, 3, 3, 0), f(0, 0.5, 1, math.nan, 1), rule, 0.0)
        assert share == pytest.approx([0, 0.75, 1, 0.75, 0])


def test_the_polynomial_overshoots_and_the_rational_rule_does_not() -> None:
    """F17: at d = 4 its most is 1.0083 near r = .75."""
    r = np.linspace(0, 1, 1001)
    assert classic_algebra.authority_share(np.full(1001, 4.0), r, "polynomial", 0.0).max() == pytest.approx(
        1.0083, abs=1e-4
    )
    rational = classic_algebra.authority_share(np.full(1001, 4.0), r, "rational", 0.0)
    assert rational.max() == 1.0
    assert (np.diff(rational) > 0).all()


def test_no_weight_makes_a_share_negative() -> None:
    """The polynomial's is below 0 where d < 1/3 and r is small, as with links that weigh little inside a host."""
    r, d = np.meshgrid(np.linspace(0, 1, 201), [1 / 1024, 0.125, 0.25, 1 / 3, 1.0, 100.0])
    assert (2.0 * r * ((2.0 * d / (d + 1.0)) * (1.0 - r) + (r - 0.5))).min() < -0.01
    for rule in ("rational", "polynomial"):
        assert classic_algebra.authority_share(d.ravel(), r.ravel(), rule, 0.0).min() == 0.0


def test_the_root_takes_at_least_its_share() -> None:
    assert classic_algebra.hub_share(f(0, 1, 99), 0.2) == pytest.approx([0, 0.5, 0.8])
    for rule in ("rational", "polynomial"):
        assert classic_algebra.authority_share(f(99, 99), f(1, 0.75), rule, 0.2) == pytest.approx([0.8, 0.8])


def test_a_side_whose_weight_is_wrong_pays_the_virtual_page() -> None:
    """A weight of 0 or less where there are links is a fault that an audit finds; no cash is lost by it."""
    for weight in (-1.0, 0.0):
        side = Side(f(1, 1), f(0, 0), f(0, 0), f(weight, 0), classic_algebra.hub_share(f(weight, 0), 0.0))
        other = Side(f(1, 1), f(0, 0), f(0, 0), f(0, 1), f(0, 0))
        virtual = Virtual(pages=2)
        classic_algebra.spend(Books(side, other), [Turn(True, 0, np.array([1]), np.ones(1))], virtual, NO_WINDOW)
        assert (side.cash.tolist(), other.cash.tolist()) == ([0.0, 1.0], [1.0, 1.0])
        assert virtual.authority_cash == Virtual(pages=2).authority_cash + 1.0


# ---------------------------------------------------------------- the virtual page


def test_who_owes_pays_nothing() -> None:
    virtual = Virtual(pages=4, hub_cash=-1.0, authority_cash=2.0)
    virtual.pay(NO_WINDOW)
    assert (virtual.hub_offset, virtual.authority_offset) == (0.5, 0.0)
    assert (virtual.hub_cash, virtual.authority_cash) == (-1.0, 0.0)


def test_without_pages_it_keeps_what_it_has() -> None:
    virtual = Virtual()
    virtual.pay(NO_WINDOW)
    assert virtual == Virtual()


def test_settled_is_when_the_total_cash_was_spent_so_often() -> None:
    """Nine pages and the virtual one hold 20: sixteen times over is 320."""
    assert Virtual(pages=9, spent=1320, stirred=1000).settled(ClassicOptions())
    assert not Virtual(pages=9, spent=1319, stirred=1000).settled(ClassicOptions())


webs = st.dictionaries(st.integers(0, 7), st.frozensets(st.integers(0, 7)), min_size=1).map(
    lambda web: {
        page: tuple(sorted(web.get(page, frozenset()) - {page})) for page in {*web, *frozenset().union(*web.values())}
    }
)


@given(
    webs, st.lists(st.tuples(st.sampled_from("hav"), st.integers(0, 7))), st.sampled_from(["rational", "polynomial"])
)
def test_cash_is_conserved_whatever_is_spent(
    web: dict[int, tuple[int, ...]], steps: list[tuple[str, int]], rule: str
) -> None:
    made = make(web, ClassicOptions(relevance_rule=rule), dict.fromkeys(web, 0.75))
    for side, number in steps:
        if side == "v":
            made.pay()
        else:
            made.spend((side, made.pages[number % len(made.pages)]))
        assert made.total == pytest.approx(classic_algebra.total_cash(len(made.pages)), rel=1e-12)
        assert made.virtual.hub_total == pytest.approx(made.books.hub.history.sum())
        assert min(made.books.hub.cash.min(), made.books.authority.cash.min()) >= 0.0
