"""The driver's part of each method: the sequence of steps, and the decision to end. The driver gets only sums.

The options, their checks and the bound on the error are those of `graphbrain rank` (`base.options.scores`,
`scores.ranking.algorithms`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graphbrain.base.numeric.rules import SEED_FLOW, Forward, Rule
from graphbrain.base.options.scores import RankOptions
from graphbrain.files.spark import steps
from graphbrain.files.spark.engine import Engine
from graphbrain.scores.accounts.settlement import LEAST_ALPHA, STEADY, waiting_share
from graphbrain.scores.ranking.algorithms import Until, Watch

__all__ = ["Found", "audit", "live_pagerank", "rank", "settle"]

Progress = Callable[[int, float], None]
"""Is called after each iteration with its number and its change."""
MOST_ROUNDS = 10_000
AUDIT_TOLERANCE = 1e-9
"""The least difference that is a fault, relative to the expected value, as in `analyst.inspect.audit`."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a method. The scores are in the states of the engine.

    Attributes:
        columns: The name of each score → its column of the state.
        pages: The number of pages.
        links: The number of links.
        iterations: The number of iterations.
        residual: The change (L1) of the last iteration. For accounts it is relative to the sum of the scores.
        error: The bound on the L1 error by the rate of convergence.
        converged: True if the error is within the tolerance.
        eigenvalue: For HITS, the largest eigenvalue of LᵀL.
        passed: The sum that pages pass on, an argument of `brain.rank.for_later`.
        brought: For HITS, the sum that authorities pass back to hubs.
    """

    columns: Mapping[str, str]
    pages: int
    links: int
    iterations: int
    residual: float
    error: float
    converged: bool
    eigenvalue: float | None = None
    passed: float = 0.0
    brought: float = 0.0


def rank(engine: Engine, wish: RankOptions, progress: Progress = lambda *_: None) -> Found:
    """Run a method of `graphbrain rank`, with checked options."""
    web = dict(engine.run(steps.count, {}))
    if wish.method == "salsa":
        return _salsa(engine, web)
    until = Until(wish.tolerance or 0.0, wish.iterations or 1, progress)
    if wish.method == "hits":
        return _hits(engine, web, until)
    return _walk(engine, web, wish, until)


def _walk(engine: Engine, web: Mapping[str, float], wish: RankOptions, until: Until) -> Found:
    broadcast = {**web, **({} if wish.damping is None else {"damping": wish.damping})}
    sums = engine.run(steps.walk_begin, broadcast)
    watch = Watch(until, wish.damping)
    while not watch.done and web["pages"]:
        sums = engine.run(steps.walk, {**broadcast, "passed": sums["passed"]})
        watch.saw(sums["change"])
    return _found(web, watch, {wish.method: "score"}, passed=sums["passed"])


def _hits(engine: Engine, web: Mapping[str, float], until: Until) -> Found:
    columns = {"hits_hub": "hub", "hits_authority": "authority"}
    watch = Watch(until, None)
    sums = dict(engine.run(steps.hits_begin, web))
    broadcast = {**web, "content": sums["content"]}
    if not web["links"]:
        engine.run(steps.hits_none, broadcast)
        return _found(web, watch, columns)
    eigenvalue = 0.0
    while not watch.done:
        eigenvalue = sums["out_hub"]
        first = engine.run(steps.hits_authority, {**broadcast, "out_hub": sums["out_hub"]})
        eigenvalue *= first["into_authority"]
        sums = {**first, **engine.run(steps.hits_hub, {**broadcast, "into_authority": first["into_authority"]})}
        watch.saw(max(sums["hub_change"], sums["authority_change"]))
    return _found(web, watch, columns, eigenvalue=eigenvalue, passed=sums["out_hub"], brought=sums["into_authority"])


def _salsa(engine: Engine, web: Mapping[str, float]) -> Found:
    """Label the communities. The scores follow from their sizes (`cluster.salsa`)."""
    engine.run(steps.label_begin, web)
    moved, rounds = 1.0, 0
    while moved:
        engine.run(steps.label_authority, web)
        moved, rounds = engine.run(steps.label_hub, web)["moved"], rounds + 1
    columns = {"salsa_hub": "salsa_hub", "salsa_authority": "salsa_authority"}
    return Found(columns, int(web["pages"]), int(web["links"]), rounds, 0.0, 0.0, True)


def _found(
    web: Mapping[str, float],
    watch: Watch,
    columns: Mapping[str, str],
    *,
    eigenvalue: float | None = None,
    passed: float = 0.0,
    brought: float = 0.0,
) -> Found:
    scores = watch.scores({}, eigenvalue)
    return Found(
        columns,
        int(web["pages"]),
        int(web["links"]),
        scores.iterations,
        scores.residual,
        scores.error,
        scores.converged,
        eigenvalue,
        passed,
        brought,
    )


def settle(engine: Engine, rule: Rule, tolerance: float, progress: Progress = lambda *_: None) -> Found:
    """Find the fixed point of the accounts.

    Args:
        engine: The engine, with the terms `payout` and `relevance`, and links weighed by the rule.
        rule: The settings.
        tolerance: The bound on the relative error of the scores, as of a settling pass.
        progress: Is called after each round with its number and relative change.
    """
    # Prepare the linear system, and the constants of Chebyshev's iteration for its radius.
    web = dict(engine.run(steps.count, {}))
    broadcast = {**web, "alpha": rule.alpha}
    norm = engine.run(steps.system, broadcast)["payout"]
    least = max(rule.alpha, LEAST_ALPHA)
    allowed, radius = STEADY * waiting_share(rule, tolerance), (1.0 - least) ** 2
    gamma, shrink = 2.0 / (2.0 - radius), radius / (2.0 - radius)
    # Iterate until the gap is small enough.
    omega, rounds, residual = 1.0, 0, float("inf")
    while residual > allowed and rounds < MOST_ROUNDS:
        nearer = residual
        while nearer > allowed and rounds < MOST_ROUNDS:
            engine.run(steps.authority, broadcast)
            sums = engine.run(steps.hub, {**broadcast, "omega": omega, "gamma": gamma})
            rounds, nearer, norm = rounds + 1, sums["gap"] / max(norm, 1e-300), sums["hub"]
            omega = 1.0 / (1.0 - shrink**2 / (2.0 if omega == 1.0 else 4.0) * omega)
            progress(rounds, nearer)
        # The last round is one of the power method, without acceleration. Its hubs and its gap follow exactly from the
        # authorities.
        engine.run(steps.authority, broadcast)
        sums = engine.run(steps.hub, {**broadcast, "omega": 1.0, "gamma": 1.0})
        omega, rounds, residual, norm = 1.0, rounds + 1, sums["gap"] / max(norm, 1e-300), sums["hub"]
        progress(rounds, residual)
    columns = {"hub": "hub", "authority": "authority"}
    # The gap of the hubs is the amount that they would still pay. Σ|gap| / (α·Σ score) bounds the relative error.
    error = residual / least
    return Found(columns, int(web["pages"]), int(web["links"]), rounds, residual, error, error <= tolerance)


def live_pagerank(engine: Engine, account: Forward, tolerance: float, progress: Progress = lambda *_: None) -> Found:
    """Find the fixed point of live PageRank, s = first + share · Σ w·s/d.

    `tolerance` is the largest relative error (L1). After a round that changes the scores by c, the error is at most
    c·share / (1 − share).
    """
    web = dict(engine.run(steps.count, {}))
    broadcast = {**web, "first": account.other, "share": account.share}
    engine.run(steps.live_begin, broadcast)
    rounds, error, residual = 0, float("inf"), 0.0
    while error > tolerance and rounds < MOST_ROUNDS and web["pages"]:
        sums = engine.run(steps.live, broadcast)
        rounds, residual = rounds + 1, sums["change"] / sums["sum"]
        error = residual * account.share / (1.0 - account.share)
        progress(rounds, residual)
    return Found(
        {account.name: "score"}, int(web["pages"]), int(web["links"]), rounds, residual, error, error <= tolerance
    )


def audit(engine: Engine, rule: Rule) -> Mapping[str, float]:
    """Compare all accounts with the payments of their neighbours. The faults of each page are in the states.

    Returns:
        The number of faults by each name of `steps.AUDITED`, and the sums of `waiting` and `scores`.
    """
    broadcast = {"alpha": rule.alpha, "first": rule.live_pagerank.other, "seed_flow": SEED_FLOW}
    web = engine.run(steps.count, broadcast)
    for step in (steps.audit_ahead, steps.audit_back, steps.audit_live, steps.audit_flow):
        engine.run(step, broadcast)
    return {**web, **engine.run(steps.audit_end, {**broadcast, "tolerance": AUDIT_TOLERANCE})}
