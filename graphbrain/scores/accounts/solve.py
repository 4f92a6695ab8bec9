"""The fixed point of the scores, at which no cash waits, by iteration in memory. Pushes tend to the same scores.

With s = (hub, authority), π the payouts and keep as in `algebra`, the fixed point is the linear system

    hub(i)       = π(i) + Σ_{i→j} w(i→j) · keep_authority(j) · authority(j) / in_weight(j)
    authority(j) = π(j) + Σ_{i→j} w(i→j) · keep_hub(i) · hub(i) / out_weight(i)

The substitution of one half into the other gives hub = b + M·hub. Both keeps are at most 1−α, so each round (hub ← b +
M·hub, Gauss-Seidel: the power method) multiplies the error by (1−α)² or less. With α = 0 the keeps are still below 1,
because d/(d+1) is, but convergence can take long.

M = A·Dₐ·Aᵀ·Dₕ, with A the links' weights and D the diagonals keep/d of both sides. So Dₕ·(I − M) is symmetric, and
positive, because no eigenvalue of M is above (1−α)². Conjugate gradients in the inner product ⟨x, y⟩ = Σ Dₕ·x·y (M.
Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. NBS 49, 1952, section 3)
converge in a third of the rounds, each of the same work: at α = .15 a round multiplies the error by .31, not by .72.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from graphbrain.base.numeric import csr
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.csr import Places, Rows
from graphbrain.scores.accounts import algebra

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["FixedPoint", "Flow", "System", "Weighted", "link_weights", "share"]

MOST_ROUNDS = 10_000
AGAIN = 5
"""The number of restarts of conjugate gradients, because rounding errors accumulate while a gap is carried along."""


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Scores of both sides by page, and the amounts that each side has paid per unit of link weight.

    The scores are the result of these payments, s = π + Σ w·Z, up to rounding. The payments Z are keep·s/d, up to the
    change of the last round. So they are consistent accounts: nothing is lost, and little waits.

    Attributes:
        rounds: The number of rounds.
        residual: The relative change (L1) of the last round.
    """

    hub: Floats
    authority: Floats
    hub_paid: Floats
    authority_paid: Floats
    rounds: int
    residual: float


@dataclass(frozen=True, slots=True)
class Weighted:
    """A matrix of link weights, with the interface of `Rows`, in which all weights are 1."""

    matrix: csr_array

    @classmethod
    def of(cls, offsets: Ints, targets: Places, weights: Floats) -> Weighted:
        from scipy.sparse import csr_array

        pages = len(offsets) - 1
        return cls(csr_array((weights, targets, csr.narrow(offsets)), shape=(pages, pages)))

    @property
    def counts(self) -> Floats:
        """Return the sum of the weights of each row."""
        return np.asarray(self.matrix.sum(axis=1), dtype=np.float64).ravel()

    def sums(self, values: Floats) -> Floats:
        """Return the product with a vector."""
        return np.asarray(self.matrix @ values)

    def turned(self) -> Weighted:
        """Return the same matrix with rows and columns exchanged."""
        return Weighted(self.matrix.T.tocsr())


@dataclass(frozen=True, slots=True)
class _Spread:
    """Links in both directions as matrices with a row for each page, and the shares of their scores that both sides
    pass on per unit of link weight."""

    forward: Rows | Weighted
    backward: Rows | Weighted
    hub_share: Floats
    authority_share: Floats

    def ahead(self, hub: Floats) -> Floats:
        """Return the amounts that hubs bring to the authorities along the links."""
        return self.backward.sums(self.hub_share * hub)

    def back(self, authority: Floats) -> Floats:
        """Return the amounts that authorities bring to the hubs along the links."""
        return self.forward.sums(self.authority_share * authority)


@dataclass(frozen=True, slots=True)
class System:
    """The linear system of n pages: the amounts that both sides spread (keep/d along each link), and the payouts."""

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
        """Return the system of the pages 0..n−1. Page i links to `targets[offsets[i] : offsets[i + 1]]`.

        Args:
            offsets: int64[n + 1].
            targets: int32[links].
            alpha: The least share of a score that is not passed on along links, 0 to 1.
            relevance: 0 to 1 for each page, or nan.
            payout: The payout of each page.
            weights: The weight of each link; None: all are 1.
            back: Offsets and sources of the same links by target, if known.
        """
        # Arrange the links in both directions.
        forward: Rows | Weighted
        backward: Rows | Weighted
        if weights is None:
            forward = Rows(offsets, targets)
            backward = Rows(*back) if back else forward.turned()
        else:
            forward = Weighted.of(offsets, targets, weights)
            backward = forward.turned()
        # Compute the share that each unit of link weight passes on.
        out_weight, in_weight = forward.counts, backward.counts
        hub_share = share(algebra.keep_hub(out_weight, alpha), out_weight)
        authority_share = share(algebra.keep_authority(in_weight, relevance, alpha), in_weight)
        return cls(_Spread(forward, backward, hub_share, authority_share), payout)

    def authority(self, hub: Floats) -> Floats:
        """Return the authorities that follow from these hubs."""
        return self.payout + self.spread.ahead(hub)

    def hub(self, authority: Floats) -> Floats:
        """Return the hubs that follow from these authorities."""
        return self.payout + self.spread.back(authority)

    def there_and_back(self, hub: Floats, authority: Floats) -> tuple[Floats, Floats]:
        """Return the hubs that follow from these hubs by way of the authorities, and the authorities that follow from
        these authorities by way of the hubs."""
        return self.hub(self.authority(hub)), self.authority(self.hub(authority))

    def rounds(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield (hub, authority) after each round of the power method, without end. It begins with the payouts."""
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
        """Return the fixed point, by conjugate gradients.

        Args:
            tolerance: The iteration ends when a round would change the scores by less than this share of their sum.
            progress: Is called after each round with its number and that relative change.
            most_rounds: The largest number of rounds.
        """
        hub, rounds = self.payout, 0
        while True:
            # Compute the gap itself: the updates by `descend` accumulate rounding errors.
            new = self.hub(self.authority(hub))
            gap, hub, rounds = new - hub, new, rounds + 1
            residual = _relative(gap, new)
            progress(rounds, residual)
            if residual <= tolerance or rounds >= most_rounds:
                break
            # Step until the updated gap is small enough, and then compute it again.
            for nearer, change in islice(self.descend(hub, self.around(gap)), most_rounds - rounds - 1):
                hub, rounds = nearer, rounds + 1
                progress(rounds, change)
                if change <= tolerance:
                    break
        authority = self.authority(hub)
        hub_paid, authority_paid = self.spread.hub_share * hub, self.spread.authority_share * authority
        return FixedPoint(self.hub(authority), authority, hub_paid, authority_paid, rounds, residual)

    def around(self, hub: Floats) -> Floats:
        """Return M·hub: the part of the hubs' spending that returns to the hubs."""
        return self.spread.back(self.spread.ahead(hub))

    def descend(self, hub: Floats, gap: Floats) -> Iterator[tuple[Floats, float]]:
        """Yield (hub, relative change) after each step of conjugate gradients from these hubs.

        The `gap` is b + M·hub − hub. It must be M times a vector: its part at hubs without links would never vanish.
        """
        inner = self.spread.hub_share
        along, before = gap, float(gap @ (inner * gap))
        while before > 0.0:
            residual = along - self.around(along)
            if (steepness := float(along @ (inner * residual))) <= 0.0:  # only rounding errors remain
                return
            step = before / steepness
            hub = hub + step * along
            gap = gap - step * residual
            yield hub, _relative(gap, hub)
            now = float(gap @ (inner * gap))
            along, before = gap + (now / before) * along, now


def _relative(change: Floats, scores: Floats) -> float:
    """Return the sum of absolute changes as a share of the sum of the scores, and 0 if there are no pages."""
    return float(np.abs(change).sum() / max(np.abs(scores).sum(), 1e-300)) if len(scores) else 0.0


def link_weights(offsets: Ints, targets: Places, hosts: Places, intra_host_weight: float) -> Floats | None:
    """Return the weight of each link by the number of each page's host, or None if all weigh 1."""
    if intra_host_weight == 1.0:
        return None
    inside = np.repeat(hosts, np.diff(offsets)) == hosts[targets]
    return np.where(inside, intra_host_weight, 1.0)


class Flow:
    """The classic walk: at each step every side spends all its cash, along links and through the virtual page.

    Hubs pay the share `hub_share` to the authorities of their successors. The rest passes through the virtual page to
    all hubs in equal parts. Authorities pay the share `authority_share` to the hubs of their predecessors. The rest
    passes through the virtual page to all authorities in equal parts. Pages without links give all to the virtual page.
    The stationary state of the walk has the classic engine's scores: the share of each page in the spent cash.
    """

    def __init__(
        self,
        offsets: Ints,
        targets: Places,
        hub_share: Callable[[Floats], Floats],
        authority_share: Callable[[Floats], Floats],
        weights: Floats | None = None,
    ) -> None:
        """Build the walk from links, with arguments as of `System.of`. The shares are functions of the weight of each
        page's links."""
        self.pages = len(offsets) - 1
        forward = Rows(offsets, targets) if weights is None else Weighted.of(offsets, targets, weights)
        backward = forward.turned()
        out, into = forward.counts, backward.counts
        hub, authority = hub_share(out), authority_share(into)
        self._hub_leak = np.where(out > 0, 1.0 - hub, 1.0)
        self._authority_leak = np.where(into > 0, 1.0 - authority, 1.0)
        self._spread = _Spread(forward, backward, share(hub, out), share(authority, into))

    def step(self, hub: Floats, authority: Floats) -> tuple[Floats, Floats]:
        """Return the cash of both sides after all spend theirs at once."""
        pages = max(self.pages, 1)
        to_authority = self._spread.ahead(hub) + float(self._authority_leak @ authority) / pages
        to_hub = self._spread.back(authority) + float(self._hub_leak @ hub) / pages
        return to_hub, to_authority

    def there_and_back(self, hub: Floats, authority: Floats) -> tuple[Floats, Floats]:
        """Return the part of each side's spending that returns to it along links, H·A·hub and A·H·authority."""
        return self._spread.back(self._spread.ahead(hub)), self._spread.ahead(self._spread.back(authority))

    def rest(
        self,
        tolerance: float = 1e-12,
        most_rounds: int = MOST_ROUNDS,
        progress: Callable[[int, float], None] = lambda *_: None,
    ) -> tuple[Floats, Floats]:
        """Return the (hub, authority) shares in the stationary state.

        Conjugate gradients solve two linear systems: for the payments of the virtual page to all hubs, and for those to
        all authorities. The division of its cash between the two follows from the part that returns to it. Then the
        power method improves the result. It ends at once, unless a page passes on more than it has, which the rule
        `polynomial` permits.

        Args:
            tolerance: The largest change (L1) of the last round.
            most_rounds: The largest number of rounds.
            progress: As in `System.solve`.
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
        """Return nearly the stationary state, by the linear systems. The sum of both sides is 2.

        If the systems have no solution with sums above 0 and without negative cash, all pages have equal shares.
        """
        # Compute the cash that flows if the virtual page pays 1 to all hubs, and if it pays 1 to all authorities.
        equal = np.full(self.pages, 1.0 / max(self.pages, 1))
        by_hubs = self._fed(equal, 0.0 * equal, tolerance, most_rounds, progress)
        by_authorities = self._fed(0.0 * equal, equal, tolerance, most_rounds, progress)
        # Weigh the two so that the virtual page pays what it gets.
        to_authorities = float(self._hub_leak @ by_hubs[0])
        to_hubs = float(self._authority_leak @ by_authorities[1])
        hub = to_hubs * by_hubs[0] + to_authorities * by_authorities[0]
        authority = to_hubs * by_hubs[1] + to_authorities * by_authorities[1]
        sums = float(hub.sum()), float(authority.sum())
        if not (np.isfinite(sums).all() and min(sums) > 0.0 and min(hub.min(), authority.min()) >= 0.0):
            return equal, equal
        return 2.0 * hub / sum(sums), 2.0 * authority / sum(sums)

    def _fed(
        self,
        hubs: Floats,
        authorities: Floats,
        tolerance: float,
        most_rounds: int,
        progress: Callable[[int, float], None],
    ) -> tuple[Floats, Floats]:
        """Return the (hub, authority) cash that flows if the virtual page pays these constant amounts, and keeps what
        it gets."""
        system = System(self._spread, hubs + self._spread.back(authorities))
        hub, rounds = system.payout, 0
        for _ in range(AGAIN):
            new = system.payout + system.around(hub)
            gap, hub, rounds = new - hub, new, rounds + 1
            if _relative(gap, new) <= tolerance:
                break
            for nearer, residual in islice(system.descend(hub, system.around(gap)), most_rounds):
                hub, rounds = nearer, rounds + 1
                progress(rounds, residual)
                if residual <= tolerance:
                    break
        return hub, authorities + self._spread.ahead(hub)

    def spend_all(self, rounds: int, watch: Callable[[Floats, Floats], None]) -> None:
        """Spend in `rounds` rounds: all hubs, then all authorities, then the virtual page. Each begins with 1 + 1 cash.

        `watch` is called with the (hub, authority) histories after each round.
        """
        hub, authority = np.ones(self.pages), np.ones(self.pages)
        hub_spent, authority_spent = np.zeros(self.pages), np.zeros(self.pages)
        pages = max(self.pages, 1)
        to_hubs = to_authorities = 1.0  # the virtual page begins with 1 + 1, too
        for _ in range(rounds):
            # All hubs spend.
            hub_spent += hub
            authority = authority + self._spread.ahead(hub)
            to_hubs += float(self._hub_leak @ hub)
            # All authorities spend, and the virtual page pays.
            authority_spent += authority
            hub = self._spread.back(authority) + to_hubs / pages
            to_authorities += float(self._authority_leak @ authority)
            authority = np.full(self.pages, to_authorities / pages)
            to_hubs = to_authorities = 0.0
            watch(hub_spent, authority_spent)


def share(keep: Floats, weight: Floats) -> Floats:
    """Return keep/d, the share of a score that each unit of link weight gets, and 0 without links."""
    return np.divide(keep, weight, out=np.zeros(len(weight)), where=weight > 0.0)
