"""The two engines, and what each does in its own way: the one place, above the ledgers, where an engine is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphbrain.accounts import classic_pushes, pushes
from graphbrain.accounts.pushes import Pushed
from graphbrain.errors import BeingConverted
from graphbrain.graph.connection import Tx
from graphbrain.inspect import classic_pages, pages
from graphbrain.inspect.audit import Check, Exact
from graphbrain.inspect.classic_audit import Classic
from graphbrain.inspect.pages import View
from graphbrain.model import Page
from graphbrain.rules import Rule

__all__ = ["Engine", "of"]


class Cash(Protocol):
    """Spreading cash. What a batch is, only the engine knows."""

    def candidates(self, tx: Tx, most: int, spread: int, rule: Rule, fewer: int, /) -> Any:
        """What to spend next, at most so many payments; None when there is nothing to do."""

    def named(self, ids: Sequence[int], /) -> list[Any]:
        """Batches of both sides of these pages."""

    def spend(self, tx: Tx, batch: Any, rule: Rule, now: float, /) -> Pushed:
        """Spend a batch."""


class Looks(Protocol):
    """Pages as people see them."""

    def page(self, tx: Tx, key: str, rule: Rule, /) -> Page | None:
        """Everything about one page."""

    def top(self, tx: Tx, n: int, by: str, rule: Rule, /) -> list[Page]:
        """The best pages."""

    def view(self, tx: Tx, rule: Rule, /) -> View | None:
        """How scores are told; None: as they stand on the pages."""

    def error_bound(self, tx: Tx, rule: Rule, /) -> float | None:
        """At most how far the scores are off, relative; None when that is not known."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to keep the accounts."""

    cash: Cash
    looks: Looks
    check: Check
    settles: bool
    """Is there a fixed point that a settling pass can bring all accounts to?"""


_ENGINES = {
    "exact": Engine(pushes, pages, Exact(), True),
    "classic": Engine(classic_pushes, classic_pages, Classic(), False),
}


def of(rule: Rule) -> Engine:
    """A brain's engine. Raises BeingConverted when it is between two."""
    if rule.engine not in _ENGINES:
        raise BeingConverted
    return _ENGINES[rule.engine]
