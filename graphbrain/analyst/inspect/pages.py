"""Pages for users: all properties of one, the best ones, and the error of their scores.

Statements: pages/get, pages/top_*, pages/all_*, pages/highest, audit/waiting, audit/forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from graphbrain.base.model import LOOKED_UP, Page
from graphbrain.base.numeric.methods import CASH, SCORES, UNINDEXED
from graphbrain.base.numeric.rules import SEED_FLOW, Forward, Rule
from graphbrain.base.runtime.tokens import made_at
from graphbrain.base.urls.masking import masked_values
from graphbrain.graph.connection import Tx, intact
from graphbrain.scores.accounts.algebra import FIRST_RANK

__all__ = ["ForwardSums", "View", "error_bound", "highest", "page", "page_of", "top", "view"]

TOP = {
    "authority": ("pages/top_authorities", "pages/all_authorities"),
    "hub": ("pages/top_hubs", "pages/all_hubs"),
}
"""Side → the statements for the best pages: among those with a rank, and among all."""
EVERY_PAGE_HAS = (
    *("url", "key", "host", "state", "depth", "discovered", "lane", "waiting_since", "out_weight", "in_weight"),
    *("hub_history", "hub_cash", "hub_paid", "authority_history", "authority_cash", "authority_paid"),
)

NOT_AS_STORED = (
    "is_seed",
    "hub_score",
    "authority_score",
    "out_links",
    "in_links",
    "worker",
    "claimed",
    "redirects_to",
    "scores",
    "echo",
    "harvest",
    *LOOKED_UP,
)
STORED = tuple(
    field.name for field in fields(Page) if field.name not in (*NOT_AS_STORED, "comes_back", "due", "clicks")
)
"""Properties of a stored page that have the same name in a `Page`."""


class View(Protocol):
    """The computation of an engine's scores that are not stored on the pages."""

    def page(self, stored: Page) -> Page:
        """Return the page with its scores and its cash."""

    def hub(self, history: float, cash: float) -> float:
        """Return the score of a hub side with this history and stored cash."""

    def authority(self, history: float, cash: float) -> float:
        """Return the score of an authority side with this history and stored cash."""


def page_of(row: Sequence[Any]) -> Page:
    """Return a `Page` from the columns page, out_links, in_links, redirects_to. Raise Again if a transaction is
    deleting it."""
    # Copy the properties with the same name. A new page does not have all of them, and gets defaults.
    data, out_links, in_links, redirects_to = row
    intact(*map(data.get, EVERY_PAGE_HAS))
    stored = {name: data.get(name) for name in STORED}
    stored = {name: masked_values(value) for name, value in stored.items()}
    stored["hinted"] = data.get("hinted") or None  # 0: the hint names no time
    counts = {name: data.get(name, 0) for name in ("visits", "changes", "errors")}
    flow = {
        "flow": data.get("flow", SEED_FLOW if data.get("is_seed") else 0.0),
        "flow_paid": data.get("flow_paid", 0.0),
    }
    # Rename the other properties, and compute the values that follow from several.
    return Page(
        **{**stored, **counts, **flow},
        is_seed=data.get("is_seed", False),
        hub_score=data["hub_history"] + data["hub_cash"],
        authority_score=data["authority_history"] + data["authority_cash"],
        out_links=out_links,
        in_links=in_links,
        worker=data.get("worker") if data.get("lease") else None,
        claimed=made_at(data["lease"]) if data.get("lease") else None,
        redirects_to=masked_values(redirects_to),
        scores={name: data[name] for name in SCORES if name in data},
        echo=data.get("echo", False),
        harvest=data.get("harvest", 1.0) if data["state"] == "frontier" else None,
    )


def page(tx: Tx, key: str, _rule: Rule) -> Page | None:
    """Return one page with all its properties; None if there is no such page."""
    rows = tx.many("pages/get", key=key)
    return page_of(rows[0]) if rows else None


def top(tx: Tx, n: int, by: str, _rule: Rule) -> list[Page]:
    """Return the `n` pages with the highest score `by` hub, authority, or a score without an index, the best first."""
    if by in (CASH, *UNINDEXED):
        return highest(tx, n, by)
    ranked, every = TOP[by]
    rows = tx.many(ranked, first=FIRST_RANK, limit=n)
    if len(rows) < n:
        rows = tx.many(every, limit=n)
    return [page_of(row) for row in rows]


def highest(tx: Tx, n: int, name: str) -> list[Page]:
    """Return the `n` pages with the largest values of this property, the best first. Pages without it are left out."""
    return [page_of(row) for row in tx.many("pages/highest", name=name, limit=n)]


def view(_tx: Tx, _rule: Rule) -> View | None:
    """Return None: scores follow from the stored properties."""
    return None


def error_bound(tx: Tx, rule: Rule) -> float | None:
    """Return Σ|amount that pushes would pay| / (α·Σ score), the bound of the scores' relative L1 error; None if α is
    0."""
    total, _, waits = tx.one("audit/waiting", alpha=rule.alpha)
    return waits / (rule.alpha * total) if rule.alpha and total else None


@dataclass(frozen=True, slots=True)
class ForwardSums:
    """Sums over a forward account of all pages.

    Attributes:
        got: The amounts that pages have.
        passed: The first amounts of pages plus the amounts that they have passed on. It equals `got`.
        waits: The amounts that wait to be passed on.
        frontier: The amounts that pages of the frontier have.
    """

    account: Forward
    got: float
    passed: float
    waits: float
    frontier: float

    @classmethod
    def of(cls, tx: Tx, account: Forward) -> ForwardSums:
        """Read every page, and return the sums."""
        sums = tx.one(
            "audit/forward",
            name=account.name,
            paid=account.paid,
            seed=account.seed,
            other=account.other,
            share=account.share,
            by_reading=account.by_reading,
        )
        return cls(account, *sums)

    @property
    def frontier_error(self) -> float | None:
        """Return the bound of the relative error of the frontier's sum. None if the frontier has nothing, or no push
        passes the account on.

        An amount that waits comes to pages of the frontier at most once, because these pass nothing on.
        """
        return self.waits / self.frontier if self.frontier and self.account.pushed else None

    @property
    def error(self) -> float | None:
        """Return the bound of the summed errors of all pages' shares in the sum. None if no push passes the account on.

        With residuals r, the errors of the scores are s* - s = (1 - M)^-1·M·r/share, where M passes on at most `share`
        of a score. So the sum of |s* - s| is at most the sum of |r|/(1 - share). By the triangle inequality, the shares
        in the sums differ by at most twice that, relative to the sum (L1).
        """
        if not self.account.pushed:
            return None
        return 2.0 * self.waits / ((1.0 - self.account.share) * self.got) if self.got > 0.0 else 0.0
