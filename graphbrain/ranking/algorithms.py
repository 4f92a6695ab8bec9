"""Batch scores of a whole web, in memory: PageRank and its kin, HITS, SALSA, OPIC, as pure functions of arrays.

Every score is a distribution: not below zero, sum 1. So a change or an error is the sum of absolute differences (L1)
and means the same for any number of pages. Iterations end when the error is at most `tolerance`: after a change c at
a rate of convergence r it is at most c·r/(1−r). For PageRank r is the damping, and this is a bound; for HITS and OPIC
the worst of the last three rates is taken, and twice the error, for rates still rise: an estimate. They also end
when a change is only rounding: the error may then be above the tolerance, and the scores say so.

Pages without links are pages like others. A reader on one of them goes on by the restart distribution, for PageRank
and its kin; HITS and SALSA give 0 to a hub without links and to an authority without any to it.

Memory beside the rows that are given: 4 bytes a link, and 2 more while the rows are turned; SALSA 30 at its peak. Each
vector takes 8 bytes a page, and there are at most ten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from graphbrain import csr
from graphbrain.arrays import Floats, Ints
from graphbrain.csr import Places, Rows

__all__ = ["Scores", "Until", "Web", "between_hosts", "distribution", "hits", "opic", "pagerank", "salsa"]

DAMPING, TOLERANCE, ITERATIONS = 0.85, 1e-9, 10_000
LEAST_CHANGE = 1e-13
"""A smaller change of a distribution (L1) is only rounding, and ends the iterations whatever the tolerance. Whether
that was reached is another question: at a rate of .99999 the error can be a hundred thousand times the change."""
MOST_ERROR = 2.0
"""Two distributions differ by no more (L1)."""
LEAST_SCORE = 1e-200
"""What is smaller counts as 0: the scores of a lesser community shrink by a factor at each iteration of HITS, and
arithmetic with numbers below 1e-308 is a hundred times slower."""

LEVEL = 0.01
"""So much of equal scores is among the hubs that HITS begins with, if these are of an earlier time."""


@dataclass(frozen=True, slots=True)
class Web:
    """Pages and links. `forward.sums(x)`: of x over each page's successors; `backward`: over its predecessors."""

    forward: Rows
    backward: Rows

    @classmethod
    def of(cls, offsets: Ints, targets: Places, threads: int = 1) -> Web:
        """The web whose page i links to `targets[offsets[i] : offsets[i + 1]]`."""
        forward = Rows(offsets, targets, threads)
        return cls(forward, forward.turned())

    @property
    def pages(self) -> int:
        return len(self.forward.offsets) - 1

    @property
    def links(self) -> int:
        return len(self.forward.targets)


def between_hosts(offsets: Ints, targets: Places, hosts: Places) -> tuple[Ints, Places]:
    """The rows with only those links whose ends have different hosts (`hosts`: a number of each page)."""
    counts = np.zeros(len(offsets), dtype=np.int64)
    kept: list[Places] = [np.empty(0, dtype=np.int32)]
    for start, end in csr.blocks(offsets):
        ends = targets[offsets[start] : offsets[end]]
        sources = np.repeat(np.arange(start, end), np.diff(offsets[start : end + 1]))
        between = hosts[sources] != hosts[ends]
        counts[start + 1 : end + 1] = np.bincount(sources[between] - start, minlength=end - start)
        kept.append(ends[between])
    return np.cumsum(counts), np.concatenate(kept)


@dataclass(frozen=True, slots=True)
class Until:
    """When to end. `tolerance`: the error (L1) that will do. `iterations`: how many are made at most.

    `progress` is told of each iteration and its change; what it raises ends the computation.
    """

    tolerance: float = TOLERANCE
    iterations: int = ITERATIONS
    progress: Callable[[int, float], None] = lambda *_: None


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by page, under the names of the properties that keep them.

    `residual`: the change (L1) at the last iteration. `error`: how far the scores are at most from the limit (L1),
    by the rate of convergence; at most 2, as two distributions differ; infinite when too few iterations were made to
    tell. `converged`: it is at most the tolerance. `eigenvalue`: of HITS the largest eigenvalue of LᵀL, as the last
    iteration estimates it: the square of the singular value whose vectors the scores are.
    """

    columns: Mapping[str, Floats]
    iterations: int
    residual: float
    error: float
    converged: bool
    eigenvalue: float | None = None


def distribution(weights: Floats) -> Floats:
    """Weights, 0 or more each, scaled to sum 1; when all are 0 they say nothing, and all pages are equal."""
    total = float(weights.sum())
    if total > 0.0:
        return weights / total
    return np.full(len(weights), 1.0 / max(len(weights), 1))


# ---------------------------------------------------------------------- PageRank and its kin


def pagerank(
    web: Web,
    *,
    damping: float = DAMPING,
    restart: Floats | None = None,
    until: Until | None = None,
    name: str = "pagerank",
    first: Floats | None = None,
) -> Scores:
    """Where a reader is found who follows a link with probability `damping`, else starts anew.

    `restart`: where he starts, in any scale; None: anywhere. By relevance it is personalised PageRank, from trusted
    pages only it is TrustRank. On a page without links he starts anew, too. x = damping·Lᵀ(x/d) + rest·restart.
    Brin and Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998, section 2.1; Gyöngyi,
    Garcia-Molina, Pedersen, "Combating web spam with TrustRank", VLDB 2004, section 4.
    """
    follows = np.where(web.forward.counts > 0.0, damping, 0.0)
    start = distribution(np.ones(web.pages) if restart is None else restart)
    return _walk(web, follows, start, until or Until(), name, damping, first)


def opic(web: Web, *, until: Until | None = None, name: str = "opic", first: Floats | None = None) -> Scores:
    """Where the cash is spent: each page pays its links and the virtual page alike, which pays all pages alike.

    The limit of OPIC with one score, by the page's share of all history. The virtual page is passed through in the
    same step: so it is PageRank with d/(d+1) as the damping of a page with d links, and cannot swing between the two.
    Abiteboul, Preda, Cobena, "Adaptive on-line page importance computation", WWW 2003, section 3.
    """
    links = web.forward.counts
    return _walk(web, links / (links + 1.0), distribution(np.ones(web.pages)), until or Until(), name, None, first)


def _walk(
    web: Web,
    follows: Floats,
    restart: Floats,
    until: Until,
    name: str,
    rate: float | None,
    first: Floats | None,
) -> Scores:
    """The limit of x ← Lᵀ(follows·x/d) + rest·restart, from the `first` scores or the restart; the rest is what makes
    the sum 1."""
    share = follows / np.maximum(web.forward.counts, 1.0)
    score = restart.copy() if first is None else distribution(first)
    watch = _Watch(until, rate)
    while not watch.done and web.pages:
        new = web.backward.sums(share * score)
        new += (1.0 - float(new.sum())) * restart
        score -= new
        watch.saw(float(np.abs(score, out=score).sum()))
        score = new
    return watch.scores({name: score})


# ---------------------------------------------------------------------- hubs and authorities


def hits(web: Web, *, content: Floats | None = None, until: Until | None = None, first: Floats | None = None) -> Scores:
    """Hubs link to good authorities, authorities are linked from good hubs: a = Lᵀh, h = La, each scaled to sum 1.

    `content`: a score of 0 or more for each page, by which an authority counts for the hubs that link to it:
    h = L(content·a), as in Aduana. When no page that is linked to has any, they say nothing and are left out.
    From equal scores this tends to the one limit they single out, also where the web falls apart: all goes to the
    community of the largest singular value, shared by size between equal ones. Without links all is 0.
    `first`: hubs to begin with. A hundredth of equal scores goes with them, for what is 0 in them would stay so.
    Kleinberg, "Authoritative sources in a hyperlinked environment", JACM 46 (1999), section 3.1.
    """
    linked = web.backward.counts > 0.0
    if content is not None and not np.any(content[linked] > 0.0):
        content = None
    hub = distribution(np.ones(web.pages))
    if first is not None:
        hub = (1.0 - LEVEL) * distribution(first) + LEVEL * hub
    authority = hub.copy()
    watch = _Watch(until or Until(), None)
    if not web.links:
        return watch.scores({"hits_hub": 0.0 * hub, "hits_authority": 0.0 * hub})
    new_hub, new_authority, spare = np.empty((3, web.pages))
    eigenvalue = 0.0
    while not watch.done:
        eigenvalue = _scale(web.backward.sums(hub, new_authority))
        counts = new_authority if content is None else np.multiply(content, new_authority, out=spare)
        eigenvalue *= _scale(web.forward.sums(counts, new_hub))
        watch.saw(max(_distance(new_hub, hub, spare), _distance(new_authority, authority, spare)))
        hub, new_hub, authority, new_authority = new_hub, hub, new_authority, authority
    return watch.scores({"hits_hub": hub, "hits_authority": authority}, eigenvalue)


def salsa(web: Web) -> Scores:
    """SALSA: a reader goes over a random link and then back over another, or the other way round.

    In closed form, without iterations: within a community, pages that links connect in any way, a score is in
    proportion to the number of links; between communities it goes by the number of their hubs, or authorities.
    Lempel, Moran, "SALSA: the stochastic approach for link-structure analysis", ACM TOIS 19 (2001), proposition 6.
    """
    hub_of, authority_of, communities = _communities(web)
    columns = {}
    for name, community, counts in (
        ("salsa_hub", hub_of, web.forward.counts),
        ("salsa_authority", authority_of, web.backward.counts),
    ):
        members = np.bincount(community[counts > 0.0], minlength=communities)
        links = np.bincount(community, weights=counts, minlength=communities)
        each = members / max(int(members.sum()), 1) / np.maximum(links, 1.0)
        columns[name] = counts * each[community]
    return Scores(columns, 0, 0.0, 0.0, True)


def _communities(web: Web) -> tuple[Places, Places, int]:
    """The community of each page as a hub, and as an authority; and how many there are.

    Hubs are the nodes 0..n−1 of one graph and authorities n..2n−1: a page can be in two communities.
    """
    from scipy.sparse import csgraph, csr_array

    pages = web.pages
    if not pages:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), 0
    offsets = csr.narrow(np.concatenate([web.forward.offsets, np.full(pages, web.links)]))
    ends = web.forward.targets + np.int32(pages)
    both = csr_array((np.ones(web.links), ends, offsets), shape=(2 * pages, 2 * pages))
    count, labels = csgraph.connected_components(both, directed=False)
    return labels[:pages], labels[pages:], count


def _scale(score: Floats) -> float:
    """Scale to the sum 1; the sum that it had."""
    total = float(score.sum())
    score /= total
    # Several times as fast as setting what is too small, of which there is much: pages without links.
    np.multiply(score, score >= LEAST_SCORE, out=score)
    return total


def _distance(one: Floats, other: Floats, spare: Floats) -> float:
    """L1; `spare` is written over."""
    np.subtract(one, other, out=spare)
    return float(np.abs(spare, out=spare).sum())


# ---------------------------------------------------------------------- convergence


class _Watch:
    """Counts iterations, and tells from the changes when to end."""

    def __init__(self, until: Until, rate: float | None) -> None:
        self._until = until
        self._rate = rate
        self._rates: deque[float] = deque(maxlen=3)
        self._iterations = 0
        self._change = 0.0
        self._error = 0.0
        self.done = False

    def saw(self, change: float) -> None:
        """Take note of an iteration that has changed the scores by so much."""
        if self._iterations:
            self._rates.append(change / self._change if self._change > 0.0 else 0.0)
        self._iterations += 1
        self._change = change
        error = self._error_after(change)
        self._error = min(error, MOST_ERROR) if np.isfinite(error) else error
        self.done = self._good() or change <= LEAST_CHANGE or self._iterations >= self._until.iterations
        self._until.progress(self._iterations, change)

    def _error_after(self, change: float) -> float:
        if self._rate is not None:
            return change * self._rate / (1.0 - self._rate)
        rate = max(self._rates) if len(self._rates) == 3 else 1.0
        if change <= LEAST_CHANGE and rate >= 1.0:  # at its limit after a few steps: so the last one says
            rate = self._rates[-1] if self._rates else 0.0
        return 2.0 * change * rate / (1.0 - rate) if rate < 1.0 else np.inf

    def _good(self) -> bool:
        return self._error <= self._until.tolerance

    def scores(self, columns: Mapping[str, Floats], eigenvalue: float | None = None) -> Scores:
        return Scores(columns, self._iterations, self._change, self._error, self._good(), eigenvalue)
