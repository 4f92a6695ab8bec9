"""Discovery in: URLs become (:Page) nodes, once each; pages enter queues, change state, get deeper and are forgotten.

A page is created with the account that its engine begins with; whoever creates pages locks and writes their accounts
in the same transaction. Its depth is the fewest clicks from a seed: lowered when a shorter way is found, never
raised; what it means for the pages behind it is passed on later, in small steps (`deepen`).
Statements: pages/*, links/led_to, audit/waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from graphbrain.accounts import algebra, ledgers
from graphbrain.accounts.algebra import FIRST_RANK, NONE
from graphbrain.accounts.ledgers import Accounts
from graphbrain.accounts.sides import score
from graphbrain.arrays import Floats
from graphbrain.graph.connection import Tx, intact
from graphbrain.hosts.politeness import SHARED_QUEUE
from graphbrain.methods import SCORES, UNINDEXED
from graphbrain.model import ROBOTS, Page
from graphbrain.rules import Rule
from graphbrain.scope import Scope
from graphbrain.tokens import made_at
from graphbrain.url import host_of, name_of, surplus

__all__ = [
    "New",
    "View",
    "begin",
    "create",
    "error_bound",
    "find",
    "goals",
    "highest",
    "look",
    "look_again",
    "lower",
    "page",
    "page_of",
    "top",
    "view",
]

TOP = {
    "authority": ("pages/top_authorities", "pages/all_authorities"),
    "hub": ("pages/top_hubs", "pages/all_hubs"),
}
"""The best pages: among those with a rank, and among all."""
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
)
STORED = tuple(field.name for field in fields(Page) if field.name not in (*NOT_AS_STORED, "comes_back", "due"))
"""What stands on a page under the name that it has in a `Page`."""


@dataclass(frozen=True, slots=True)
class New:
    """A page that may have to be created."""

    key: str
    url: str
    depth: int
    is_seed: bool = False
    relevance: float | None = None
    in_weight: float = 0.0
    """what its finders will link to it with, in the same transaction: saves a second write of the page"""


class View(Protocol):
    """How an engine tells scores that do not stand on the pages as they are."""

    def page(self, found: Page) -> Page:
        """The page with its scores, and its cash."""

    def hub(self, history: float, cash: float) -> float:
        """The score of a hub side with this history and stored cash."""

    def authority(self, history: float, cash: float) -> float:
        """The score of an authority side with this history and stored cash."""


def find(tx: Tx, keys: Iterable[str]) -> dict[str, int]:
    """Key → internal id, of the pages that are there."""
    return {key: page for key, page, *_ in look(tx, keys)}


def look(tx: Tx, keys: Iterable[str]) -> list[tuple[str, int, float, bool, str | None]]:
    """(key, internal id, out_weight, whether it is an alias, why its address may get better) of pages that are there.

    Raises Again when one is just being deleted.
    """
    wanted = sorted(set(keys))
    found: list[tuple[str, int, float, bool, str | None]] = tx.one("pages/find", keys=wanted)[0] if wanted else []
    for _, _, weight, alias, _ in found:
        intact(weight, alias)
    return found


def goals(tx: Tx, ids: Mapping[str, int], aliases: Collection[str]) -> dict[str, int]:
    """Key → id of the page that it leads to, of all these: its own, but for `aliases` that lead to some page."""
    if not aliases:
        return dict(ids)
    led = dict(tx.one("links/led_to", ids=sorted(ids[key] for key in aliases))[0])
    return {key: led.get(page, page) for key, page in ids.items()}


def look_again(tx: Tx, ids: Iterable[int], at: float | None) -> None:
    """Remember to look at the in-links of locked pages at that time (or no more): an alias has some, or a page none."""
    if wanted := sorted(ids):
        tx.do("pages/look_again", ids=wanted, at=at)


def create(
    tx: Tx, pages: Iterable[New], scope: Scope, rule: Rule, now: float, mark: str | None = None
) -> dict[str, int]:
    """Create pages and their hosts; key → internal id. Pages forgotten for ever are not in the answer.

    `mark`: a token that the pages carry as that of their last lease, so that who has created them can be told.
    """
    wanted = sorted(pages, key=lambda page: page.key)
    if scope.old_keys is not None:
        wanted = _not_forgotten(tx, wanted, scope.old_keys)
    if not wanted:
        return {}
    rows = []
    payouts = _first_payouts(wanted, rule)
    marks = _first_marks(wanted, payouts, rule)
    for page, payout, lane, priority in zip(wanted, payouts.tolist(), *marks, strict=True):
        host = host_of(page.url)
        state = "frontier" if scope.holds(page.url, host, page.depth) else "outside"
        rows.append(
            [
                page.key,
                page.url,
                host,
                name_of(page.url),
                page.depth,
                page.is_seed,
                state,
                lane,
                page.relevance,
                page.in_weight,
                priority,
                None if payout == 1.0 else payout,
                payout if ledgers.of(rule).keeps_payouts else 0.0,
                surplus(page.url) or None,
            ]
        )
    tx.do("pages/hosts", names=sorted({row[2] for row in rows}), now=now)
    made = tx.one("pages/create", rows=rows, account=ledgers.of(rule).first, mark=mark, now=now)[0]
    return dict(made)


def begin(tx: Tx, ledger: Accounts, made: Sequence[int]) -> None:
    """Tell the accounts of pages that this transaction has created (`create`), and locked, which links to them are
    there: none, but where somebody else has linked to them before they were locked."""
    if made:
        ledger.begin_unlinked(tx.one("pages/unlinked", ids=made)[0])


def _not_forgotten(tx: Tx, wanted: Sequence[New], old_keys: Callable[[str], str | None]) -> list[New]:
    """Without those that were forgotten for ever when they had other keys."""
    old = {page.key: key for page in wanted if (key := old_keys(page.url)) is not None}
    gone = set(tx.one("pages/forgotten", keys=sorted(set(old.values())))[0])
    return [page for page in wanted if old.get(page.key) not in gone]


def _first_payouts(pages: Sequence[New], rule: Rule) -> Floats:
    seed = np.array([page.is_seed for page in pages])
    hosts = [host_of(page.url) for page in pages] if rule.knows_hosts else ()
    return algebra.payout(rule, _relevances(pages), np.zeros(len(pages), dtype=bool), seed, hosts)


def _relevances(pages: Sequence[New]) -> Floats:
    return np.array([np.nan if page.relevance is None else page.relevance for page in pages])


def _first_marks(pages: Sequence[New], payouts: Floats, rule: Rule) -> tuple[list[int], list[int | None]]:
    """Lanes and authority priorities of pages that nobody but the virtual page has paid yet."""
    weight = np.array([p.in_weight for p in pages])
    depth = np.array([float(p.depth) for p in pages])
    lanes, priorities = ledgers.of(rule).first_marks(_relevances(pages), weight, depth, payouts, rule)
    return lanes.tolist(), [None if bucket == NONE else bucket for bucket in priorities.tolist()]


def lower(tx: Tx, ledger: Accounts, depths: Mapping[int, int], scope: Scope) -> None:
    """Lower the depth of locked pages (id → depth offered), and let those in that come into the scope by it."""
    lowered = ledger.lower(depths)
    if not lowered:
        return
    leading = ledger.may_link(lowered)
    tx.do("pages/deepen", rows=[[page, depths[page], on] for page, on in zip(lowered, leading, strict=True)])
    if scope.max_depth:
        _let_in(tx, {page: depths[page] for page in lowered}, scope)


def _let_in(tx: Tx, depths: Mapping[int, int], scope: Scope) -> None:
    """Pages wait to be fetched with everybody: claims will sort them by host. Who is held waits when it comes back."""
    rows = [
        [page, "frontier", None if busy else SHARED_QUEUE, None]
        for page, url, state, host, fetched, busy, because in tx.one("pages/scope", ids=sorted(depths))[0]
        if state == "outside" and because != ROBOTS and not fetched and scope.holds(url, host, depths[page])
    ]
    if rows:
        tx.do("pages/state", rows=rows)


def page_of(row: Sequence[Any]) -> Page:
    """A `Page` from the columns page, out_links, in_links, redirects_to. Raises Again when it is just being deleted."""
    data, out_links, in_links, redirects_to = row
    intact(*map(data.get, EVERY_PAGE_HAS))
    stored = {name: data.get(name) for name in STORED}
    counts = {name: data.get(name, 0) for name in ("visits", "changes", "errors")}
    return Page(
        **{**stored, **counts},
        is_seed=data.get("is_seed", False),
        hub_score=score(data["hub_history"], data["hub_cash"]),
        authority_score=score(data["authority_history"], data["authority_cash"]),
        out_links=out_links,
        in_links=in_links,
        worker=data.get("worker") if data.get("lease") else None,
        claimed=made_at(data["lease"]) if data.get("lease") else None,
        redirects_to=redirects_to,
        scores={name: data[name] for name in SCORES if name in data},
    )


def page(tx: Tx, key: str, _rule: Rule) -> Page | None:
    """Everything about one page, None when it is not there."""
    rows = tx.many("pages/get", key=key)
    return page_of(rows[0]) if rows else None


def top(tx: Tx, n: int, by: str, _rule: Rule) -> list[Page]:
    """The `n` pages of highest score, `by` hub, authority, or what has no index, best first."""
    if by in UNINDEXED:
        return highest(tx, n, by)
    ranked, everybody = TOP[by]
    rows = tx.many(ranked, first=FIRST_RANK, limit=n)
    if len(rows) < n:
        rows = tx.many(everybody, limit=n)
    return [page_of(row) for row in rows]


def highest(tx: Tx, n: int, name: str) -> list[Page]:
    """The `n` pages of which the property of this name is largest, best first; fewer where no more have it."""
    return [page_of(row) for row in tx.many("pages/highest", name=name, limit=n)]


def view(_tx: Tx, _rule: Rule) -> View | None:
    """Scores are told as they stand on the pages."""
    return None


def error_bound(tx: Tx, rule: Rule) -> float | None:
    """Σ|what pushes would pay| / (α·Σ score) bounds the relative L1 error of the scores; None when α is 0."""
    held, _, waits = tx.one("audit/waiting", alpha=rule.alpha)
    return waits / (rule.alpha * held) if rule.alpha and held else None
