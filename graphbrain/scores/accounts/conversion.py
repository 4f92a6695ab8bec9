"""Conversion from one engine to the other: the data of each engine, and the restart of the accounts.

While a brain is converted, its `engine` is neither of the two (`between`), and only the conversion can lock accounts.
Each batch is one transaction that checks that the brain is still in that state. The last batch locks the (:Brain) and
gives it the new engine. A conversion that was killed is run again and continues, or is reverted.

The classic engine pays all pages in equal parts. A brain with this engine keeps the policy of payouts in
`exact_payout`. When the exact engine returns, the policy is scaled anew and applied by the same backfill as after any
change of it. Statements: classic/make_index_*,
classic/drop_index_*, classic/reset, accounts/reset, brain/lock, brain/read, brain/change, brain/advance, brain/sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain.base.numeric.rules import Rule
from graphbrain.graph import schema
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.scores.accounts import ledgers, payout_policy
from graphbrain.scores.accounts.classic_algebra import Virtual
from graphbrain.scores.accounts.classic_ledger import virtual_properties

__all__ = ["begin", "between", "finish", "furnish", "properties", "reset"]

SIDES = ("hub", "authority")
RESET = {"exact": "accounts/reset", "classic": "classic/reset"}


def between(engine: str) -> str:
    """Return the value of the brain's `engine` while it is converted to this one."""
    return f"to_{engine}"


def properties(rule: Rule, now: float, pages: int = 0, before: float = 0.0) -> dict[str, float | None]:
    """Return the virtual page's properties of the (:Brain), all null for the exact engine.

    `pages` and `before`: the number of pages and the clock with which the engine begins.
    """
    clock = rule.classic.clock(now, before)
    fresh = virtual_properties(Virtual(pages=pages, hub_held=float(pages), clock=clock, updated=clock))
    return dict(fresh) if _meant(rule.engine) == "classic" else dict.fromkeys(fresh)


def _meant(engine: str) -> str:
    """Return the engine that a brain has, or that a conversion gives it."""
    return engine.removeprefix("to_")


def furnish(graph: Graph, engine: str = "exact") -> None:
    """Make the indexes on cash that the classic engine needs, or drop them.

    `engine`: the engine if there is no brain yet. Indexes cannot be made under the brain's lock. So the process reads
    the engine again afterwards, and starts again if the brain was converted in the meantime. The process that ends last
    leaves the right indexes.
    """
    built, wanted = None, _wanted(graph, engine)
    while built != wanted:
        for side in SIDES:
            statement = f"classic/make_index_{side}" if wanted == "classic" else f"classic/drop_index_{side}"
            graph.write(bound(Tx.do, statement), "engine/furnish", slow=True)
        built, wanted = wanted, _wanted(graph, engine)
    schema.await_indexes(graph)


def _wanted(graph: Graph, engine: str) -> str:
    """Return the engine for which the brain needs indexes."""
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
    return engine if stored is None else _meant(stored["engine"])


def begin(tx: Tx, engine: str, rule: Rule, now: float) -> None:
    """Close the accounts to all other transactions.

    Raises:
        Outdated: The brain has changed since `rule` was made.
    """
    stored = _same(tx, rule)
    state: dict[str, Any] = {"engine": between(engine), "converted_until": "", "settling": None, "settling_until": None}
    if engine == "classic":
        kept = stored.get("exact_payout") or (rule.payout if rule.payout != "uniform" else None)
        state |= {"payout": "uniform", "payout_scale": 1.0, "repaying": None, "exact_payout": kept}
    tx.do("brain/change", settings={**state, **properties(replace(rule, engine=engine), now)})


def reset(tx: Tx, engine: str, ids: Sequence[int], last: str, rule: Rule, now: float) -> None:
    """Restart the accounts of pages, and write the marks that follow from them."""
    own = replace(rule, engine=engine)
    kind = ledgers.of(own)
    kind.lock_present(tx, ids, own)
    clock = {"clock": own.classic.clock(now)} if engine == "classic" else {}
    tx.do(RESET[engine], ids=sorted(ids), **clock)
    kind.lock_present(tx, ids, own).write(tx, now, all_marks=True)
    tx.do("brain/advance", after=last)


def finish(tx: Tx, engine: str, rule: Rule, now: float) -> None:
    """Give the brain its new engine.

    Raises:
        Outdated: The brain has changed since `rule` was made.
    """
    stored = _same(tx, rule)
    pages = tx.one("brain/sizes")[0]
    settings: dict[str, Any] = {"engine": engine, "converted_until": None}
    if engine == "exact":
        payout = stored.get("exact_payout") or rule.payout
        settings |= {"payout": payout, "exact_payout": None, **payout_policy.scaled(tx, replace(rule, payout=payout))}
    virtual = properties(replace(rule, engine=engine), now, pages, stored.get("virtual_clock") or 0.0)
    tx.do("brain/change", settings={**settings, **virtual})


def _same(tx: Tx, rule: Rule) -> Mapping[str, Any]:
    """Lock the (:Brain) and return its properties.

    Raises:
        Outdated: They do not match `rule`.
    """
    stored: Mapping[str, Any] = tx.one("brain/lock")[0]
    # No page is locked, so the kind of the ledger does not matter: only the revision is compared.
    ledgers.lock(tx, (), replace(rule, engine="exact"))
    return stored
