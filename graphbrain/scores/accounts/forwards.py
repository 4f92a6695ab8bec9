"""The fixed point of forward accounts, computed in memory and written at once. Pushes would take much longer.

The links are exported, and the fixed point s = first + share · Σ w·s/d is found in memory while other transactions run.
Then pages pass on the amounts due, batch by batch. Each page gets the amounts that its sources have paid, so the
accounts are right at every commit whatever has changed, and a kill needs no repair. Pushes do the pages that are still
off afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.csr import Rows
from graphbrain.base.numeric.rules import Forward, Rule
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph
from graphbrain.graph.exports import LinkTable
from graphbrain.scores.accounts import solve

__all__ = ["Goal", "batches", "find_goal", "fixed_point"]

STEADY = 0.01
"""Rounds end when one changes the scores by less than this share of the allowed error."""
MOST_ROUNDS = 1_000
CLOSE = 0.5
"""A page is skipped if its missing amount is at most this share of the allowed error."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of an account.

    Attributes:
        table: The exported links.
        scores: The score of each page at the fixed point.
        off: The places of the pages that have passed on too little or too much for it.
    """

    table: LinkTable
    scores: Floats
    off: Ints


def find_goal(graph: Graph, rule: Rule, account: Forward, tolerance: float) -> Goal:
    """Export the links and find the fixed point of an account. All its pages must begin with the same amount, and all
    with links pass on.

    Args:
        graph: The connection.
        rule: The settings.
        account: The forward account.
        tolerance: The largest sum of errors of shares (as `analyst.inspect.pages.ForwardSums.error`).
    """
    # Solve for the scores.
    table = exports.links(graph)
    weights = None
    if rule.intra_host_weight != 1.0:
        hosts = exports.terms(graph, table).hosts
        weights = solve.link_weights(table.offsets, table.targets, hosts, rule.intra_host_weight)
    allowed = (1.0 - account.share) * tolerance / 2.0
    out, scores = fixed_point(table, account, weights, STEADY * allowed)
    # Find the pages whose payments do not fit their scores.
    paid = exports.column(graph, table, account.paid)
    goals = account.share * scores
    missing = np.abs(goals - out * np.where(np.isnan(paid), 0.0, paid))
    return Goal(table, scores, np.flatnonzero((missing > CLOSE * allowed * goals) & (out > 0.0)))


def fixed_point(table: LinkTable, account: Forward, weights: Floats | None, change: float) -> tuple[Floats, Floats]:
    """Return the weight of each page's links, and each page's score.

    Rounds end when one changes the scores by at most the share `change` of their sum.
    """
    if weights is None:
        rows: Rows | solve.Weighted = Rows(table.offsets, table.targets)
    else:
        rows = solve.Weighted.of(table.offsets, table.targets, weights)
    out, back = rows.counts, rows.turned()
    each = np.divide(account.share, out, out=np.zeros(table.pages), where=out > 0.0)
    scores = first = np.full(table.pages, account.other)
    for _ in range(MOST_ROUNDS):
        before, scores = scores, first + back.sums(each * scores)
        if np.abs(scores - before).sum() <= change * scores.sum():
            break
    return out, scores


def batches(goal: Goal, most: int) -> Iterator[dict[int, float]]:
    """Yield the pages that are off, each with its score at the fixed point, in batches of about `most` payments. The
    largest scores come first."""
    places = goal.off[np.argsort(-goal.scores[goal.off], kind="stable")]
    counts = np.diff(goal.table.offsets)[places]
    part = np.cumsum(counts) // max(1, most)
    for some in np.split(places, np.flatnonzero(np.diff(part)) + 1) if len(places) else ():
        yield dict(zip(goal.table.ids[some].tolist(), goal.scores[some].tolist(), strict=True))
