"""The one place where the ledger of a brain's engine is chosen."""

from __future__ import annotations

from collections.abc import Iterable

from graphbrain.accounts.classic_ledger import ClassicLedger
from graphbrain.accounts.exact_ledger import Ledger
from graphbrain.accounts.ledger import Accounts
from graphbrain.errors import BeingConverted
from graphbrain.graph.connection import Tx
from graphbrain.rules import Rule

__all__ = ["Accounts", "lock", "of"]

_LEDGERS: dict[str, type[Accounts]] = {"exact": Ledger, "classic": ClassicLedger}


def of(rule: Rule) -> type[Accounts]:
    """The engine's kind of ledger. Raises BeingConverted when the brain is between two engines."""
    if rule.engine not in _LEDGERS:
        raise BeingConverted
    return _LEDGERS[rule.engine]


def lock(tx: Tx, ids: Iterable[int], rule: Rule) -> Accounts:
    """Lock pages in the order of their ids; raises as `Accounts.lock`, and BeingConverted."""
    return of(rule).lock(tx, ids, rule)
