"""The two engines, each with its implementation of the steps. The rooms above choose an engine only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphbrain.analyst.inspect import classic_pages, pages
from graphbrain.analyst.inspect.audit import Check, Exact
from graphbrain.analyst.inspect.classic_audit import Classic
from graphbrain.analyst.inspect.pages import View
from graphbrain.base.errors import BeingConverted
from graphbrain.base.model import Page
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import classic_pushes, pushes
from graphbrain.scores.accounts.pushes import Candidate, Pushed, Wanted

__all__ = ["AccountEngine", "of"]


class Cash(Protocol):
    """The interface by which an engine pushes cash. Only the engine knows the type of a batch."""

    def candidates(self, tx: Tx, waiting: Mapping[str, list[Candidate]], wanted: Wanted, rule: Rule, /) -> Any:
        """Return the next batch to spend; None when there is nothing to do. `waiting`: account → the first candidates
        that `upkeep/outstanding` has found."""

    def named(self, ids: Sequence[int], /) -> list[Any]:
        """Return batches of both sides of these pages."""

    def spend(self, tx: Tx, batch: Any, rule: Rule, now: float, /) -> Pushed:
        """Spend a batch of cash in this transaction."""


class Looks(Protocol):
    """The interface by which an engine shows pages and their scores."""

    def page(self, tx: Tx, key: str, rule: Rule, /) -> Page | None:
        """Return everything about one page."""

    def top(self, tx: Tx, n: int, by: str, rule: Rule, /) -> list[Page]:
        """Return the pages of highest score."""

    def view(self, tx: Tx, rule: Rule, /) -> View | None:
        """Return the view that converts stored scores for display; None if scores are shown as stored."""

    def error_bound(self, tx: Tx, rule: Rule, /) -> float | None:
        """Return the largest relative error of the scores; None when that is not known."""


@dataclass(frozen=True, slots=True)
class AccountEngine:
    """One engine: an implementation of the accounts.

    Attributes:
        settles: True if there is a fixed point to which a settling pass can bring all accounts.
    """

    cash: Cash
    looks: Looks
    check: Check
    settles: bool


_ENGINES = {
    "exact": AccountEngine(pushes, pages, Exact(), True),
    "classic": AccountEngine(classic_pushes, classic_pages, Classic(), False),
}


def of(rule: Rule) -> AccountEngine:
    """Return the engine of a brain. Raises BeingConverted while the brain is converted from one engine to the other."""
    if rule.engine not in _ENGINES:
        raise BeingConverted
    return _ENGINES[rule.engine]
