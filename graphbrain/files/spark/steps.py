"""The steps of each method for one block of pages, as pure functions of arrays.

A step gets a block, the state of its pages, the sums that have arrived and the numbers of the driver. It returns the
new state, the values to send and the block's part of sums over all pages. Between two steps the driver gets only these
sums. A step needs only sums that an earlier step returns. For example, a page knows what it passes on before it
arrives, so that a normalisation needs no separate step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphbrain.base.numeric.arrays import Floats
from graphbrain.files.spark.blocks import AHEAD, BACK, BITS, LEAST_AHEAD, LEAST_BACK, Block
from graphbrain.scores.accounts import algebra, solve
from graphbrain.scores.ranking import algorithms

__all__ = ["SUMS", "Broadcast", "Result", "State", "Step"]

State = Mapping[str, Floats]
"""Columns over the pages of a block."""
Broadcast = Mapping[str, float]
"""Numbers of the driver: options, and sums of earlier steps."""
SUMS = 8
"""The largest number of sums of one step."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a step on one block.

    Attributes:
        state: The new state of the block's pages.
        send: (AHEAD or BACK, one value for each page), or None after the last step.
        sums: The block's part of each sum over all pages.
    """

    state: State
    send: tuple[str, Floats] | None = None
    sums: Mapping[str, float] = field(default_factory=dict)


Step = Callable[[Block, State, Floats, Broadcast], Result]


# ---------------------------------------------------------------------- counts of links


def count(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Send 1 along each link, so that each page gets the number of its in-links. The sums describe the whole web."""
    restart = block.terms.get("restart")
    sums = {
        "pages": float(block.pages),
        "links": float(len(block.links.sources)),
        "restart": float(block.pages if restart is None else restart.sum()),
        "content": 0.0,
    }
    return Result({}, (AHEAD, np.ones(block.pages)), sums)


# ---------------------------------------------------------------------- PageRank and its variants


def _damping(broadcast: Broadcast) -> float | None:
    return broadcast.get("damping")


def _restart(block: Block, broadcast: Broadcast) -> Floats:
    """Return the restart distribution. It is equal if no page has a weight."""
    weights = block.terms.get("restart")
    if weights is None or broadcast["restart"] <= 0.0:
        return np.full(block.pages, 1.0 / max(broadcast["pages"], 1.0))
    return weights / broadcast["restart"]


def _walked(block: Block, score: Floats, change: float, broadcast: Broadcast) -> Result:
    passed = float(algorithms.follows(block.out, _damping(broadcast)) @ score)
    each = algorithms.share(block.out, _damping(broadcast)) * score
    return Result({"score": score}, (AHEAD, each), {"passed": passed, "change": change})


def walk_begin(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Begin with the restart distribution."""
    return _walked(block, _restart(block, broadcast), 0.0, broadcast)


def walk(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:
    """Make one iteration of `algorithms.pagerank` or `opic`: x ← Lᵀ(follows·x/d) + rest·restart.

    The rest is 1 − `passed`, the sum that the earlier step passed on.
    """
    score = arrived + (1.0 - broadcast["passed"]) * _restart(block, broadcast)
    return _walked(block, score, float(np.abs(score - state["score"]).sum()), broadcast)


# ---------------------------------------------------------------------- hubs and authorities


def hits_begin(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Begin with equal hubs. `arrived` are the in-links of each page."""
    hub = np.full(block.pages, 1.0 / max(broadcast["pages"], 1.0))
    begun = {"hub": hub, "authority": hub, "into": arrived}
    content = block.terms.get("content")
    counted = 0.0 if content is None else float(content[arrived > 0.0].sum())
    return Result(begun, (AHEAD, hub), {"out_hub": float(block.out @ hub), "content": counted})


def hits_authority(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:
    """Make the first half of an iteration of `algorithms.hits`: a = Lᵀh, scaled to sum 1."""
    authority = arrived.copy()
    algorithms.scale_by(authority, broadcast["out_hub"])
    content = block.terms.get("content") if broadcast["content"] > 0.0 else None
    counted = authority if content is None else content * authority
    sums = {
        "into_authority": float(state["into"] @ counted),
        "authority_change": float(np.abs(authority - state["authority"]).sum()),
    }
    return Result({**state, "authority": authority}, (BACK, counted), sums)


def hits_hub(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:
    """Make the second half of an iteration of `algorithms.hits`: h = L(content·a), scaled to sum 1."""
    hub = arrived.copy()
    algorithms.scale_by(hub, broadcast["into_authority"])
    sums = {"out_hub": float(block.out @ hub), "hub_change": float(np.abs(hub - state["hub"]).sum())}
    return Result({**state, "hub": hub}, (AHEAD, hub), sums)


def hits_none(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Give all pages of a web without links the score 0."""
    return Result({"hub": np.zeros(block.pages), "authority": np.zeros(block.pages)})


# ---------------------------------------------------------------------- accounts


def system(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Begin with the payouts as hubs, in the linear system of `scores.accounts.solve`. `arrived` are the in-weights."""
    out, alpha = block.out, broadcast["alpha"]
    keep_hub = algebra.keep_hub(out, alpha)
    keep_authority = algebra.keep_authority(arrived, block.terms["relevance"], alpha)
    payout = block.terms["payout"]
    begun = {
        "hub": payout,
        "before": payout,
        "authority": payout,
        "hub_share": solve.share(keep_hub, out),
        "authority_share": solve.share(keep_authority, arrived),
    }
    return Result(begun, (AHEAD, begun["hub_share"] * payout), {"payout": float(payout.sum())})


def authority(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Set the authorities that follow from the hubs."""
    new = block.terms["payout"] + arrived
    sums = {"authority": float(new.sum()), "authority_change": float(np.abs(new - state["authority"]).sum())}
    return Result({**state, "authority": new}, (BACK, state["authority_share"] * new), sums)


def hub(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:
    """Set the hubs by Chebyshev's semi-iteration: y ← ω·(y + γ·(b + M·y − y) − y₋₁) + y₋₁.

    G. Golub, R. Varga, "Chebyshev semi-iterative methods", Numerische Mathematik 3 (1961). It has the rate of conjugate
    gradients, and needs no inner products. `gap` is |b + M·y − y| (L1). With γ = ω = 1 it is the power method: the hubs
    are then exactly what the authorities pay.
    """
    through = block.terms["payout"] + arrived
    gap = float(np.abs(through - state["hub"]).sum())
    nearer = state["hub"] + broadcast["gamma"] * (through - state["hub"])
    new = broadcast["omega"] * (nearer - state["before"]) + state["before"]
    sums = {"gap": gap, "hub": float(np.abs(new).sum())}
    return Result({**state, "hub": new, "before": state["hub"]}, (AHEAD, state["hub_share"] * new), sums)


# ---------------------------------------------------------------------- live PageRank


def live_begin(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Begin with the first amounts of a forward account, and pass them on."""
    first = np.full(block.pages, broadcast["first"])
    return Result({"score": first}, (AHEAD, broadcast["share"] * solve.share(np.ones(block.pages), block.out) * first))


def live(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:
    """Make one round of the fixed point of `scores.accounts.forwards`: s = first + share · Σ w·s/d."""
    score = broadcast["first"] + arrived
    sums = {"change": float(np.abs(score - state["score"]).sum()), "sum": float(score.sum())}
    each = broadcast["share"] * solve.share(np.ones(block.pages), block.out) * score
    return Result({"score": score}, (AHEAD, each), sums)


# ---------------------------------------------------------------------- SALSA


def label_begin(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Give each page as a hub its own number as a label. `arrived` are the in-links of each page."""
    hub = (block.number * (1 << BITS) + np.arange(block.pages)).astype(np.float64)
    begun = {"hub": hub, "authority": np.full(block.pages, np.inf), "into": arrived, "out": block.out}
    return Result(begun, (LEAST_AHEAD, hub), {})


def label_authority(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Give each page as an authority the least label of the hubs that link to it."""
    return Result({**state, "authority": arrived}, (LEAST_BACK, arrived), {})


def label_hub(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Give each page as a hub the least label of its targets. The sum counts the labels that have changed."""
    hub = np.minimum(state["hub"], arrived)
    return Result({**state, "hub": hub}, (LEAST_AHEAD, hub), {"moved": float((hub != state["hub"]).sum())})


# ---------------------------------------------------------------------- audit


def audit_ahead(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Keep the in-weights, and send the amounts that hubs have paid."""
    return Result({"in_weight": arrived}, (AHEAD, block.terms["hub_paid"]), {})


def audit_back(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Keep the amounts that authorities have got, and send the amounts that they have paid."""
    return Result({**state, "authority_got": arrived}, (BACK, block.terms["authority_paid"]), {})


def audit_live(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Keep the amounts that hubs have got, and send the live PageRank that pages have passed on."""
    return Result({**state, "hub_got": arrived}, (AHEAD, np.nan_to_num(block.terms["live_pagerank_paid"])), {})


def audit_flow(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:  # noqa: ARG001
    """Keep the live PageRank that pages have got, and send the flow that they have passed on."""
    return Result({**state, "live_got": arrived}, (AHEAD, np.nan_to_num(block.terms["flow_paid"])), {})


AUDITED = ("authority", "hub", "in_weight", "out_weight", "live_pagerank", "flow")
"""The names of the numbers that an audit compares, and of their faults."""


def audit_end(block: Block, state: State, arrived: Floats, broadcast: Broadcast) -> Result:
    """Compare the accounts of each page with the payments of its neighbours.

    A fault is a difference above the share `tolerance` of the expected value.
    """
    # Pair the value that each page has with the value that follows from its neighbours.
    terms = block.terms
    first = np.where(terms["seed"] > 0.0, broadcast["seed_flow"], 0.0)
    pairs = {
        "authority": (terms["authority"], terms["payout"] + state["authority_got"]),
        "hub": (terms["hub"], terms["payout"] + state["hub_got"]),
        "in_weight": (terms["in_weight"], state["in_weight"]),
        "out_weight": (terms["out_weight"], block.out),
        "live_pagerank": (_or(terms["live_pagerank"], broadcast["first"]), broadcast["first"] + state["live_got"]),
        "flow": (_or(terms["flow"], first), first + arrived),
    }
    # Count the faults.
    off = {
        name: np.abs(has - expected) > broadcast["tolerance"] * (1.0 + np.abs(expected))
        for name, (has, expected) in pairs.items()
    }
    sums = {name: float(wrong.sum()) for name, wrong in off.items()}
    # Add up the amounts that pushes would pay, for the error bound.
    out_weight, in_weight = block.out, state["in_weight"]
    keep_hub = algebra.keep_hub(out_weight, broadcast["alpha"])
    keep_authority = algebra.keep_authority(in_weight, terms["relevance"], broadcast["alpha"])
    hub_waits = algebra.residual(keep_hub, terms["hub"], out_weight, terms["hub_paid"])
    authority_waits = algebra.residual(keep_authority, terms["authority"], in_weight, terms["authority_paid"])
    sums["waiting"] = float((np.abs(hub_waits) + np.abs(authority_waits)).sum())
    sums["scores"] = float((terms["hub"] + terms["authority"]).sum())
    columns = {f"{name}_has": has for name, (has, _) in pairs.items()}
    columns |= {f"{name}_due": expected for name, (_, expected) in pairs.items()}
    return Result({**columns, "wrong": sum(off.values()).astype(np.float64)}, None, sums)


def _or(column: Floats, otherwise: Floats | float) -> Floats:
    """Return a column with its unknown values (nan) replaced."""
    return np.where(np.isnan(column), otherwise, column)
