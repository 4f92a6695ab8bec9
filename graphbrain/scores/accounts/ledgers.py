"""The only place that chooses the ledger of a brain's engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphbrain.base.errors import BeingConverted
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts.classic_ledger import ClassicLedger
from graphbrain.scores.accounts.exact_ledger import Ledger
from graphbrain.scores.accounts.ledger import Accounts

__all__ = ["Accounts", "lock", "of"]

_LEDGERS: dict[str, type[Accounts]] = {"exact": Ledger, "classic": ClassicLedger}


def of(rule: Rule) -> type[Accounts]:
    """Return the engine's kind of ledger.

    Raises:
        BeingConverted: The brain is between two engines.
    """
    if rule.engine not in _LEDGERS:
        raise BeingConverted
    return _LEDGERS[rule.engine]


def lock(tx: Tx, ids: Iterable[int], rule: Rule, created: Sequence[int] = ()) -> Accounts:
    """Lock pages in the order of their ids, with arguments and errors as of `Accounts.lock`.

    Raises:
        BeingConverted: The brain is between two engines.
    """
    return of(rule).lock(tx, ids, rule, created)
