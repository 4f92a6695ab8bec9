"""Batch scores of a whole web in memory (PageRank and its variants, HITS, SALSA, OPIC) as pure functions of arrays.

Every score is a distribution: no value is negative, and the sum is 1. A change or an error is the sum of absolute
differences (L1), so it means the same for any number of pages. An iteration ends when its error is at most `tolerance`.
After a change c at a convergence rate r the error is at most c·r/(1−r). For PageRank r is the damping, and the error is
a bound. For HITS and OPIC the error is an estimate: r is the largest of the last three rates, and the error is doubled,
because rates still rise. An iteration also ends when a change is only rounding. The error can then be above the
tolerance, and the scores report it.

Pages without links take part. For PageRank and its variants a reader on such a page continues by the restart
distribution. HITS and SALSA give 0 to a hub without links and to an authority without links to it.

The memory needed beside the given rows is 4 bytes a link, and 2 more while the rows are transposed; SALSA needs 30 at
its peak. Each vector takes 8 bytes a page, and there are at most ten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from graphbrain.base.numeric import csr
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.csr import Places, Rows
from graphbrain.base.numeric.methods import DAMPING, ITERATIONS, TOLERANCE

__all__ = [
    "LEVEL",
    "LinkGraph",
    "Scores",
    "Until",
    "Watch",
    "between_hosts",
    "distribution",
    "follows",
    "hits",
    "opic",
    "pagerank",
    "salsa",
    "salsa_each",
    "scale_by",
    "share",
]

LEAST_CHANGE = 1e-13
"""A change of a distribution (L1) up to this value is only rounding, and ends the iterations whatever the tolerance is.
The error can still exceed the tolerance: at a rate of .99999 it can be a hundred thousand times the change."""
MOST_ERROR = 2.0
"""The largest possible difference of two distributions (L1)."""
LEAST_SCORE = 1e-200
"""Smaller scores count as 0. At each iteration of HITS the scores of a lesser community shrink by a factor, and
arithmetic with numbers below 1e-308 is a hundred times slower."""

LEVEL = 0.01
"""The share of equal scores that is mixed into the hubs that HITS begins with, if these are from an earlier run."""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages and links of a web.

    Attributes:
        forward: `forward.sums(x)` sums x over the successors of each page.
        backward: `backward.sums(x)` sums x over the predecessors of each page.
    """

    forward: Rows
    backward: Rows

    @classmethod
    def of(cls, offsets: Ints, targets: Places, threads: int = 1) -> LinkGraph:
        """Return the web whose page i links to `targets[offsets[i] : offsets[i + 1]]`."""
        forward = Rows(offsets, targets, threads)
        return cls(forward, forward.turned())

    @property
    def pages(self) -> int:
        return len(self.forward.offsets) - 1

    @property
    def links(self) -> int:
        return len(self.forward.targets)


def between_hosts(offsets: Ints, targets: Places, hosts: Places) -> tuple[Ints, Places]:
    """Return the rows with only the links whose ends have different hosts.

    Args:
        offsets: int64[n + 1]; the links of page i are `targets[offsets[i] : offsets[i + 1]]`.
        targets: The pages that are linked to, one for each link.
        hosts: The number of each page's host, one for each page.
    """
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
    """The conditions that end an iteration.

    Attributes:
        tolerance: The largest acceptable error (L1).
        iterations: The largest number of iterations.
        progress: Is called after each iteration with its number and its change. An exception from it ends the
            computation.
    """

    tolerance: float = TOLERANCE
    iterations: int = ITERATIONS
    progress: Callable[[int, float], None] = lambda *_: None


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by page, under the names of the properties that keep them.

    Attributes:
        residual: The change (L1) at the last iteration.
        error: The largest possible distance (L1) from the limit, by the convergence rate: at most 2, and infinite after
            too few iterations to estimate a rate.
        converged: True if the error is at most the tolerance.
        eigenvalue: For HITS, the largest eigenvalue of LᵀL as the last iteration estimates it, which is the square of
            the singular value whose vectors the scores are.
    """

    columns: Mapping[str, Floats]
    iterations: int
    residual: float
    error: float
    converged: bool
    eigenvalue: float | None = None


def distribution(weights: Floats) -> Floats:
    """Return these weights (each 0 or more) scaled to the sum 1. If all are 0, all pages get the same weight."""
    total = float(weights.sum())
    if total > 0.0:
        return weights / total
    return np.full(len(weights), 1.0 / max(len(weights), 1))


# ---------------------------------------------------------------------- PageRank and its kin


def pagerank(
    web: LinkGraph,
    *,
    damping: float = DAMPING,
    restart: Floats | None = None,
    until: Until | None = None,
    name: str = "pagerank",
    first: Floats | None = None,
) -> Scores:
    """Return the distribution of a reader who follows a link with probability `damping`, and restarts otherwise.

    The solution of x = damping·Lᵀ(x/d) + rest·restart. A reader on a page without links restarts. With relevance as
    `restart` this is personalised PageRank; with trusted pages alone it is TrustRank.

    Brin and Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998, section 2.1; Gyöngyi,
    Garcia-Molina, Pedersen, "Combating web spam with TrustRank", VLDB 2004, section 4.

    Args:
        web: The pages and links.
        damping: The probability of following a link, 0 to below 1.
        restart: A weight for each page, in any scale; None: the same for all.
        until: The conditions that end the iteration.
        name: The property that keeps the score.
        first: The scores to begin with; None: the restart distribution.
    """
    start = distribution(np.ones(web.pages) if restart is None else restart)
    return _walk(web, damping, start, until or Until(), name, first)


def opic(web: LinkGraph, *, until: Until | None = None, name: str = "opic", first: Floats | None = None) -> Scores:
    """Return each page's share of the cash that is spent in the long run, as in OPIC with one score.

    A page pays the virtual page as much as each of its links. The virtual page pays all pages in equal parts. Here the
    virtual page pays in the same step, so that cash cannot oscillate between it and the pages. So the method is
    PageRank with d/(d+1) as the damping of a page with d links. Abiteboul, Preda, Cobena, "Adaptive on-line page
    importance computation", WWW 2003, section 3.
    """
    return _walk(web, None, distribution(np.ones(web.pages)), until or Until(), name, first)


def follows(links: Floats, damping: float | None) -> Floats:
    """Return the probability with which a reader of each page follows a link.

    Args:
        links: The number of links of each page.
        damping: The probability on a page with links; None: d/(d+1) with d links, as in OPIC.
    """
    return links / (links + 1.0) if damping is None else np.where(links > 0.0, damping, 0.0)


def share(links: Floats, damping: float | None) -> Floats:
    """Return the part of each page's score that each of its links passes on. Arguments as in `follows`."""
    return follows(links, damping) / np.maximum(links, 1.0)


def _walk(
    web: LinkGraph,
    damping: float | None,
    restart: Floats,
    until: Until,
    name: str,
    first: Floats | None,
) -> Scores:
    """Return the limit of x ← Lᵀ(follows·x/d) + rest·restart, where the rest makes the sum 1.

    The iteration begins with `first`, or with the restart distribution.
    """
    each = share(web.forward.counts, damping)
    score = restart.copy() if first is None else distribution(first)
    watch = Watch(until, damping)
    while not watch.done and web.pages:
        new = web.backward.sums(each * score)
        new += (1.0 - float(new.sum())) * restart
        score -= new
        watch.saw(float(np.abs(score, out=score).sum()))
        score = new
    return watch.scores({name: score})


# ---------------------------------------------------------------------- hubs and authorities


def hits(
    web: LinkGraph, *, content: Floats | None = None, until: Until | None = None, first: Floats | None = None
) -> Scores:
    """Return hubs and authorities: a = Lᵀh, h = La, each scaled to sum 1.

    The iteration begins with equal scores, so that its limit is unique, also if the web is not connected. The community
    with the largest singular value gets all; communities with equal values share it by size. Without links all scores
    are 0. Kleinberg, "Authoritative sources in a hyperlinked environment", JACM 46 (1999), section 3.1.

    Args:
        web: The pages and links.
        content: A weight of 0 or more for each page. It is the factor of the page's authority in the sum of a hub that
            links to it: h = L(content·a), as in Aduana. It is ignored if it is 0 for all pages that are linked to.
        until: The conditions that end the iteration.
        first: The hubs to begin with. They are mixed with `LEVEL` of equal scores, because a score of 0 would stay 0.
    """
    linked = web.backward.counts > 0.0
    if content is not None and not np.any(content[linked] > 0.0):
        content = None
    # Begin with equal scores, or near the given ones.
    hub = distribution(np.ones(web.pages))
    if first is not None:
        hub = (1.0 - LEVEL) * distribution(first) + LEVEL * hub
    authority = hub.copy()
    watch = Watch(until or Until(), None)
    if not web.links:
        return watch.scores({"hits_hub": 0.0 * hub, "hits_authority": 0.0 * hub})
    new_hub, new_authority, spare = np.empty((3, web.pages))
    eigenvalue = 0.0
    while not watch.done:
        # a = Lᵀh and h = L(content·a), each scaled to 1; the product of the scales is the eigenvalue.
        eigenvalue = _scale(web.backward.sums(hub, new_authority))
        counts = new_authority if content is None else np.multiply(content, new_authority, out=spare)
        eigenvalue *= _scale(web.forward.sums(counts, new_hub))
        watch.saw(max(_distance(new_hub, hub, spare), _distance(new_authority, authority, spare)))
        hub, new_hub, authority, new_authority = new_hub, hub, new_authority, authority
    return watch.scores({"hits_hub": hub, "hits_authority": authority}, eigenvalue)


def salsa(web: LinkGraph) -> Scores:
    """Return SALSA scores, of a reader who follows a random link forward and then another one back, or the reverse.

    The closed form needs no iteration. A community is a set of pages that links connect in any direction. Within a
    community a score is proportional to the number of links; between communities it is proportional to the number of
    their hubs, or of their authorities. Lempel, Moran, "SALSA: the stochastic approach for link-structure analysis",
    ACM TOIS 19 (2001), proposition 6.
    """
    hub_of, authority_of, communities = _communities(web)
    columns = {}
    for name, community, counts in (
        ("salsa_hub", hub_of, web.forward.counts),
        ("salsa_authority", authority_of, web.backward.counts),
    ):
        members = np.bincount(community[counts > 0.0], minlength=communities)
        links = np.bincount(community, weights=counts, minlength=communities).astype(np.float64)
        columns[name] = counts * salsa_each(members, links, int(members.sum()))[community]
    return Scores(columns, 0, 0.0, 0.0, True)


def salsa_each(members: Ints | Floats, links: Floats, all_members: int) -> Floats:
    """Return the SALSA score that each link gives its page, by community.

    Args:
        members: The number of hubs (or authorities) of each community.
        links: The number of links of each community.
        all_members: The number of hubs (or authorities) of the web.
    """
    return np.asarray(members / max(all_members, 1) / np.maximum(links, 1.0))


def _communities(web: LinkGraph) -> tuple[Places, Places, int]:
    """Return the community of each page as a hub, the community of each page as an authority, and the number of
    communities.

    Hubs are the nodes 0..n−1 of one graph and authorities n..2n−1, so a page can be in two communities.
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
    """Scale a score to the sum 1 in place, and return the sum that it had."""
    return scale_by(score, float(score.sum()))


def scale_by(score: Floats, total: float) -> float:
    """Divide a score by `total` in place, and return it. Scores below `LEAST_SCORE` become 0.

    `total`: the sum of the whole score, of which `score` may be a part.
    """
    score /= total
    # Many scores are too small, because many pages have no links. Multiplication is several times as fast as
    # assignment.
    np.multiply(score, score >= LEAST_SCORE, out=score)
    return total


def _distance(one: Floats, other: Floats, spare: Floats) -> float:
    """Return the L1 distance. `spare` is overwritten."""
    np.subtract(one, other, out=spare)
    return float(np.abs(spare, out=spare).sum())


# ---------------------------------------------------------------------- convergence


class Watch:
    """The decision when an iteration ends, by the changes of its steps."""

    def __init__(self, until: Until, rate: float | None) -> None:
        self._until = until
        self._rate = rate
        self._rates: deque[float] = deque(maxlen=3)
        self._iterations = 0
        self._change = 0.0
        self._error = 0.0
        self.done = False

    def saw(self, change: float) -> None:
        """Record an iteration and its change of the scores."""
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
        # HITS can reach its limit after fewer than three rates: the last change then shows it.
        if change <= LEAST_CHANGE and rate >= 1.0:
            rate = self._rates[-1] if self._rates else 0.0
        return 2.0 * change * rate / (1.0 - rate) if rate < 1.0 else np.inf

    def _good(self) -> bool:
        return self._error <= self._until.tolerance

    def scores(self, columns: Mapping[str, Floats], eigenvalue: float | None = None) -> Scores:
        return Scores(columns, self._iterations, self._change, self._error, self._good(), eigenvalue)
