"""Where all pushes lead: the scores at which no cash is left to spread, by iteration in memory.

With s = (hub, authority), π the payouts and keep as in `algebra`, the fixed point is the linear system

    hub(i)       = π(i) + Σ_{i→j} w(i→j) · keep_authority(j) · authority(j) / in_weight(j)
    authority(j) = π(j) + Σ_{i→j} w(i→j) · keep_hub(i) · hub(i) / out_weight(i)

With one half substituted into the other it is hub = b + M·hub. Both keeps are at most 1−α, so each round (hub ← b +
M·hub, Gauss-Seidel: the power method) shrinks the error by (1−α)² or more. Without a floor (α = 0) they are below 1
all the same, for d/(d+1) is, but it can take long.

M = A·Dₐ·Aᵀ·Dₕ, with A the links' weights and D the diagonals keep/d of both sides, so Dₕ·(I − M) is symmetric, and
positive, for no eigenvalue of M is above (1−α)²: conjugate gradients in the inner product ⟨x, y⟩ = Σ Dₕ·x·y (M.
Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. NBS 49, 1952, section 3) come
there in a third of the rounds, each of the same work: at α = .15 they shrink the error by .31, not by .72.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from graphbrain import csr
from graphbrain.accounts import algebra
from graphbrain.arrays import Floats, Ints
from graphbrain.csr import Places, Rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["FixedPoint", "Flow", "System", "Weighted", "link_weights"]

MOST_ROUNDS = 10_000
AGAIN = 5
"""So often conjugate gradients begin anew, for rounding gathers while a gap is carried along."""


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Scores of both sides and what each has paid per link, by page; rounds made, and the last relative change (L1).

    The scores are what these payments make, s = π + Σ w·Z, but for rounding; the payments Z are keep·s/d but for what
    the last round would have changed. So they are accounts as they may stand: nothing is lost, and little waits.
    """

    hub: Floats
    authority: Floats
    hub_paid: Floats
    authority_paid: Floats
    rounds: int
    residual: float


@dataclass(frozen=True, slots=True)
class Weighted:
    """A matrix of link weights, to be used like `Rows`, which knows only ones."""

    matrix: csr_array

    @classmethod
    def of(cls, offsets: Ints, targets: Places, weights: Floats) -> Weighted:
        from scipy.sparse import csr_array

        pages = len(offsets) - 1
        return cls(csr_array((weights, targets, csr.narrow(offsets)), shape=(pages, pages)))

    @property
    def counts(self) -> Floats:
        """The sum of each row's weights."""
        return np.asarray(self.matrix.sum(axis=1), dtype=np.float64).ravel()

    def sums(self, values: Floats) -> Floats:
        """The product with a vector."""
        return np.asarray(self.matrix @ values)

    def turned(self) -> Weighted:
        """The same matrix with rows and columns exchanged."""
        return Weighted(self.matrix.T.tocsr())


@dataclass(frozen=True, slots=True)
class _Spread:
    """Links both ways as matrices (each row a page's), and what both sides pass on per unit of link weight."""

    forward: Rows | Weighted
    backward: Rows | Weighted
    hub_share: Floats
    authority_share: Floats

    def ahead(self, hub: Floats) -> Floats:
        """What hubs bring to the authorities along the links."""
        return self.backward.sums(self.hub_share * hub)

    def back(self, authority: Floats) -> Floats:
        """What authorities bring to the hubs along the links."""
        return self.forward.sums(self.authority_share * authority)


@dataclass(frozen=True, slots=True)
class System:
    """The linear system of n pages: what both sides spread (keep/d along each link), and the payouts."""

    spread: _Spread
    payout: Floats

    @classmethod
    def of(
        cls,
        offsets: Ints,
        targets: Places,
        *,
        alpha: float,
        relevance: Floats,
        payout: Floats,
        weights: Floats | None = None,
        back: tuple[Ints, Places] | None = None,
    ) -> System:
        """Of pages whose links are rows (`targets[offsets[i] : offsets[i + 1]]`).

        `relevance`: 0..1 or nan; `payout`: of each page; `weights`: of the links, all 1 when None; `back`: offsets and
        sources of the same links by the pages they lead to, where they are known.
        """
        forward: Rows | Weighted
        backward: Rows | Weighted
        if weights is None:
            forward = Rows(offsets, targets)
            backward = Rows(*back) if back else forward.turned()
        else:
            forward = Weighted.of(offsets, targets, weights)
            backward = forward.turned()
        out_weight, in_weight = forward.counts, backward.counts
        hub_share = _share(algebra.keep_hub(out_weight, alpha), out_weight)
        authority_share = _share(algebra.keep_authority(in_weight, relevance, alpha), in_weight)
        return cls(_Spread(forward, backward, hub_share, authority_share), payout)

    def authority(self, hub: Floats) -> Floats:
        """The authorities that these hubs make."""
        return self.payout + self.spread.ahead(hub)

    def hub(self, authority: Floats) -> Floats:
        """The hubs that these authorities make."""
        return self.payout + self.spread.back(authority)

    def there_and_back(self, hub: Floats, authority: Floats) -> tuple[Floats, Floats]:
        """Each side after a round of its own: what it makes of the other side, and that of it."""
        return self.hub(self.authority(hub)), self.authority(self.hub(authority))

    def rounds(self) -> Iterator[tuple[Floats, Floats]]:
        """(hub, authority) after each round of the power method from the payouts, without end."""
        hub = self.payout
        while True:
            authority = self.authority(hub)
            hub = self.hub(authority)
            yield hub, authority

    def solve(
        self,
        *,
        tolerance: float = 1e-9,
        progress: Callable[[int, float], None] = lambda *_: None,
        most_rounds: int = MOST_ROUNDS,
    ) -> FixedPoint:
        """The fixed point, by conjugate gradients.

        Ends when a round would change the scores by less than `tolerance` of their sum, or after `most_rounds`;
        `progress` is told after each how many they are, and that relative change.
        """
        hub, rounds = self.payout, 0
        while True:
            # The gap gathers rounding while it is carried along; so, in the end, and to begin with, it is found anew.
            new = self.hub(self.authority(hub))
            gap, hub, rounds = new - hub, new, rounds + 1
            residual = _relative(gap, new)
            progress(rounds, residual)
            if residual <= tolerance or rounds >= most_rounds:
                break
            for nearer, left in islice(self.descend(hub, self.around(gap)), most_rounds - rounds - 1):
                hub, rounds = nearer, rounds + 1
                progress(rounds, left)
                if left <= tolerance:
                    break
        authority = self.authority(hub)
        hub_paid, authority_paid = self.spread.hub_share * hub, self.spread.authority_share * authority
        return FixedPoint(self.hub(authority), authority, hub_paid, authority_paid, rounds, residual)

    def around(self, hub: Floats) -> Floats:
        """M·hub: what comes back to the hubs of what they spread."""
        return self.spread.back(self.spread.ahead(hub))

    def descend(self, hub: Floats, gap: Floats) -> Iterator[tuple[Floats, float]]:
        """Conjugate gradients from these hubs, with b + M·hub − hub as the `gap`: (hub, relative change) after each.

        The gap must be M times something: what hubs without links have of it would stay for ever.
        """
        inner = self.spread.hub_share
        along, before = gap, float(gap @ (inner * gap))
        while before > 0.0:
            left = along - self.around(along)
            if (steepness := float(along @ (inner * left))) <= 0.0:  # all that is left is rounding
                return
            step = before / steepness
            hub = hub + step * along
            gap = gap - step * left
            yield hub, _relative(gap, hub)
            now = float(gap @ (inner * gap))
            along, before = gap + (now / before) * along, now


def _relative(change: Floats, scores: Floats) -> float:
    """The change, absolute and in sum, as a share of the scores' sum; 0 of no pages."""
    return float(np.abs(change).sum() / max(np.abs(scores).sum(), 1e-300)) if len(scores) else 0.0


def link_weights(offsets: Ints, targets: Places, hosts: Places, intra_host_weight: float) -> Floats | None:
    """The weight of each link, by the number of each page's host; None: all weigh 1."""
    if intra_host_weight == 1.0:
        return None
    inside = np.repeat(hosts, np.diff(offsets)) == hosts[targets]
    return np.where(inside, intra_host_weight, 1.0)


class Flow:
    """The classic walk: cash that goes all the way from side to side, what is not passed on through the virtual page.

    hub → successors' authority by `hub_share`, the rest to the virtual page, which pays all hubs alike; authority →
    predecessors' hub by `authority_share`, the rest through the virtual page to all authorities alike. Pages without
    links give it all. Where it comes to rest are the classic engine's scores: the share of each page in what is spent.
    """

    def __init__(
        self,
        offsets: Ints,
        targets: Places,
        hub_share: Callable[[Floats], Floats],
        authority_share: Callable[[Floats], Floats],
        weights: Floats | None = None,
    ) -> None:
        """Of rows of links, as `System.of`; the shares follow from the sum of the weights of each page's links."""
        self.pages = len(offsets) - 1
        forward = Rows(offsets, targets) if weights is None else Weighted.of(offsets, targets, weights)
        backward = forward.turned()
        out, into = forward.counts, backward.counts
        hub, authority = hub_share(out), authority_share(into)
        self._hub_leak = np.where(out > 0, 1.0 - hub, 1.0)
        self._authority_leak = np.where(into > 0, 1.0 - authority, 1.0)
        self._spread = _Spread(forward, backward, _share(hub, out), _share(authority, into))

    def step(self, hub: Floats, authority: Floats) -> tuple[Floats, Floats]:
        """What both sides get when all spend what they have at once."""
        pages = max(self.pages, 1)
        to_authority = self._spread.ahead(hub) + float(self._authority_leak @ authority) / pages
        to_hub = self._spread.back(authority) + float(self._hub_leak @ hub) / pages
        return to_hub, to_authority

    def there_and_back(self, hub: Floats, authority: Floats) -> tuple[Floats, Floats]:
        """What comes back to each side of what it spends, along the links alone: H·A·hub and A·H·authority."""
        return self._spread.back(self._spread.ahead(hub)), self._spread.ahead(self._spread.back(authority))

    def rest(
        self,
        tolerance: float = 1e-12,
        most_rounds: int = MOST_ROUNDS,
        progress: Callable[[int, float], None] = lambda *_: None,
    ) -> tuple[Floats, Floats]:
        """(hub, authority) shares at rest; `progress` as of `System.solve`.

        What the virtual page pays all hubs, and all authorities, goes its way by two linear systems, which are solved
        by conjugate gradients; how it divides its cash follows from what comes back. Power iteration has the last word:
        from there it ends at once, unless a page gives on more than it has (the ancestors' polynomial).
        """
        hub, authority = self._rest(tolerance, most_rounds, progress)
        for rounds in range(most_rounds):
            next_hub, next_authority = self.step(hub, authority)
            change = float(np.abs(next_hub - hub).sum() + np.abs(next_authority - authority).sum())
            progress(rounds + 1, change)
            hub, authority = (next_hub + hub) / 2, (next_authority + authority) / 2
            if change <= tolerance:
                break
        return hub / max(hub.sum(), 1e-300), authority / max(authority.sum(), 1e-300)

    def _rest(
        self, tolerance: float, most_rounds: int, progress: Callable[[int, float], None]
    ) -> tuple[Floats, Floats]:
        """About the same, each side of sum 1: equal shares where the linear systems have no such solution."""
        alike = np.full(self.pages, 1.0 / max(self.pages, 1))
        fed_hubs = self._fed(alike, 0.0 * alike, tolerance, most_rounds, progress)
        fed_authorities = self._fed(0.0 * alike, alike, tolerance, most_rounds, progress)
        to_authorities = float(self._hub_leak @ fed_hubs[0])
        to_hubs = float(self._authority_leak @ fed_authorities[1])
        hub, authority = (
            to_hubs * one + to_authorities * other for one, other in zip(fed_hubs, fed_authorities, strict=True)
        )
        sums = float(hub.sum()), float(authority.sum())
        if not (np.isfinite(sums).all() and min(sums) > 0.0 and min(hub.min(), authority.min()) >= 0.0):
            return alike, alike
        return 2.0 * hub / sum(sums), 2.0 * authority / sum(sums)

    def _fed(
        self,
        hubs: Floats,
        authorities: Floats,
        tolerance: float,
        most_rounds: int,
        progress: Callable[[int, float], None],
    ) -> tuple[Floats, Floats]:
        """(hub, authority) cash that passes where so much is paid in, and what leaks is not paid again."""
        system = System(self._spread, hubs + self._spread.back(authorities))
        hub, rounds = system.payout, 0
        for _ in range(AGAIN):
            new = system.payout + system.around(hub)
            gap, hub, rounds = new - hub, new, rounds + 1
            if _relative(gap, new) <= tolerance:
                break
            for nearer, left in islice(system.descend(hub, system.around(gap)), most_rounds):
                hub, rounds = nearer, rounds + 1
                progress(rounds, left)
                if left <= tolerance:
                    break
        return hub, authorities + self._spread.ahead(hub)

    def spend_all(self, rounds: int, watch: Callable[[Floats, Floats], None]) -> None:
        """`rounds` times: all hubs spend, then all authorities, then the virtual page, from 1 + 1 of cash each;
        `watch` is shown the (hub, authority) histories after each."""
        hub, authority = np.ones(self.pages), np.ones(self.pages)
        hub_spent, authority_spent = np.zeros(self.pages), np.zeros(self.pages)
        pages = max(self.pages, 1)
        to_hubs = to_authorities = 1.0  # the virtual page begins with 1 + 1, too
        for _ in range(rounds):
            hub_spent += hub
            authority = authority + self._spread.ahead(hub)
            to_hubs += float(self._hub_leak @ hub)
            authority_spent += authority
            hub = self._spread.back(authority) + to_hubs / pages
            to_authorities += float(self._authority_leak @ authority)
            authority = np.full(self.pages, to_authorities / pages)
            to_hubs = to_authorities = 0.0
            watch(hub_spent, authority_spent)


def _share(keep: Floats, weight: Floats) -> Floats:
    """keep/d: what each unit of link weight gets of a score; 0 without links."""
    return np.divide(keep, weight, out=np.zeros(len(weight)), where=weight > 0.0)
