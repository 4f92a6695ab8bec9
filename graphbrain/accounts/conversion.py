"""From one engine to the other: what of a brain's database belongs to an engine, and how accounts begin anew.

While a brain is converted its `engine` says so, and only the conversion can lock accounts. Each batch is one
transaction that finds the brain still in that state; the last one, with the (:Brain) locked, gives it its new engine.
So a conversion that was killed is simply run again and goes on where it stopped, or is turned back.
The classic engine pays all pages alike. The policy of payouts stands aside on the brain meanwhile (`exact_payout`), and
comes back with the exact engine: scaled anew, and paid by the same pass as after any change of it.
Statements: classic/make_index_*, classic/drop_index_*, classic/reset, accounts/reset, brain/lock, brain/read,
brain/change, brain/advance, brain/sizes, brain/await_indexes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain.accounts import ledgers, payout_policy
from graphbrain.accounts.classic_algebra import Virtual
from graphbrain.accounts.classic_ledger import virtual_properties
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.rules import Rule

__all__ = ["begin", "between", "finish", "furnish", "properties", "reset"]

SIDES = ("hub", "authority")
RESET = {"exact": "accounts/reset", "classic": "classic/reset"}


def between(engine: str) -> str:
    """The brain's `engine` while it is converted to this one."""
    return f"to_{engine}"


def properties(rule: Rule, now: float, pages: int = 0, before: float = 0.0) -> dict[str, float | None]:
    """What stands on the (:Brain) for the engine that it has, or is being given, and that begins with so many pages;
    its clock has said `before` already."""
    clock = rule.classic.clock(now, before)
    fresh = virtual_properties(Virtual(pages=pages, hub_held=float(pages), clock=clock, updated=clock))
    return dict(fresh) if _meant(rule.engine) == "classic" else dict.fromkeys(fresh)


def _meant(engine: str) -> str:
    """The engine that a brain has, or is being given."""
    return engine.removeprefix("to_")


def furnish(graph: Graph, engine: str = "exact") -> None:
    """Make the indexes on cash that the classic engine needs, or drop them: for the engine that the brain has, or is
    being given; for `engine` where there is no brain yet.

    Indexes cannot be made under the brain's lock. So whoever has made or dropped them looks again, and does the other
    thing if the brain was converted meanwhile: the last of several is right.
    """
    made, wanted = None, _wanted(graph, engine)
    while made != wanted:
        for side in SIDES:
            statement = f"classic/make_index_{side}" if wanted == "classic" else f"classic/drop_index_{side}"
            graph.write(bound(Tx.do, statement), "engine/furnish")
        made, wanted = wanted, _wanted(graph, engine)
    graph.read(lambda tx: tx.do("brain/await_indexes"), "brain/await_indexes")


def _wanted(graph: Graph, engine: str) -> str:
    """The engine that the brain's indexes are to fit."""
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
    return engine if stored is None else _meant(stored["engine"])


def begin(tx: Tx, engine: str, rule: Rule, now: float) -> None:
    """Close the accounts to all others. Raises Outdated when the brain has been changed since `rule` was made."""
    stored = _same(tx, rule)
    state: dict[str, Any] = {"engine": between(engine), "converted_until": "", "settling": None, "settling_until": None}
    if engine == "classic":
        kept = stored.get("exact_payout") or (rule.payout if rule.payout != "uniform" else None)
        state |= {"payout": "uniform", "payout_scale": 1.0, "repaying": None, "exact_payout": kept}
    tx.do("brain/change", settings={**state, **properties(replace(rule, engine=engine), now)})


def reset(tx: Tx, engine: str, ids: Sequence[int], last: str, rule: Rule, now: float) -> None:
    """Let the accounts of pages begin anew, with the marks that follow."""
    own = replace(rule, engine=engine)
    kind = ledgers.of(own)
    kind.lock_present(tx, ids, own)
    clock = {"clock": own.classic.clock(now)} if engine == "classic" else {}
    tx.do(RESET[engine], ids=sorted(ids), **clock)
    kind.lock_present(tx, ids, own).write(tx, now, all_marks=True)
    tx.do("brain/advance", after=last)


def finish(tx: Tx, engine: str, rule: Rule, now: float) -> None:
    """Give the brain its new engine. Raises Outdated, as `begin`."""
    stored = _same(tx, rule)
    pages = tx.one("brain/sizes")[0]
    settings: dict[str, Any] = {"engine": engine, "converted_until": None}
    if engine == "exact":  # the accounts have begun with what pages were paid last, if at all
        payout = stored.get("exact_payout") or rule.payout
        settings |= {"payout": payout, "exact_payout": None, **payout_policy.scaled(tx, replace(rule, payout=payout))}
    virtual = properties(replace(rule, engine=engine), now, pages, stored.get("virtual_clock") or 0.0)
    tx.do("brain/change", settings={**settings, **virtual})


def _same(tx: Tx, rule: Rule) -> Mapping[str, Any]:
    """Lock the (:Brain): what stands on it, if it is as `rule` says. Raises Outdated."""
    stored: Mapping[str, Any] = tx.one("brain/lock")[0]
    # No page is locked, so whose ledger it is does not matter: only the revision is compared.
    ledgers.lock(tx, (), replace(rule, engine="exact"))
    return stored
