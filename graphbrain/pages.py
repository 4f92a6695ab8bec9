"""Discovery in: URLs become (:Page) nodes, once each; pages enter queues, change state, get deeper and are forgotten.

A page is created with its payout as history and nothing else on its accounts, so it is worth 1 before anybody links
to it. Its depth is the fewest clicks from a seed: lowered when a shorter way is found, never raised; what it means
for the pages behind it is passed on later, in small steps (`deepen`).
Statements: pages/*, links/out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbrain import opichits
from graphbrain.graph import Tx
from graphbrain.ledger import Ledger
from graphbrain.model import Page
from graphbrain.opichits import Rule
from graphbrain.scope import Scope
from graphbrain.url import host_of, name_of

__all__ = ["New", "create", "find", "lower", "page", "page_of"]


@dataclass(frozen=True, slots=True)
class New:
    """A page that may have to be created."""

    key: str
    url: str
    depth: int
    is_seed: bool = False
    relevance: float | None = None


def find(tx: Tx, keys: Iterable[str]) -> dict[str, int]:
    """Key → internal id, of the pages that are there."""
    wanted = sorted(set(keys))
    return dict(tx.one("pages/find", keys=wanted)[0]) if wanted else {}


def create(tx: Tx, pages: Iterable[New], scope: Scope, rule: Rule, now: float) -> dict[str, int]:
    """Create pages and their hosts; key → internal id. Pages forgotten for ever are not in the answer."""
    wanted = sorted(pages, key=lambda page: page.key)
    if not wanted:
        return {}
    lanes = _first_lanes(wanted, rule)
    rows = []
    for page, lane in zip(wanted, lanes, strict=True):
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
            ]
        )
    tx.do("pages/hosts", names=sorted({row[2] for row in rows}), now=now)
    made = tx.one("pages/create", rows=rows, now=now)[0]
    return dict(made)


def _first_lanes(pages: Sequence[New], rule: Rule) -> list[int]:
    if rule.order == "breadth_first":
        return [page.depth for page in pages]
    relevance = np.array(
        [np.nan if page.relevance is None else page.relevance for page in pages], dtype=np.float64
    )
    lanes: list[int] = opichits.lane_best_first(np.ones(len(pages)), relevance).tolist()
    return lanes


def lower(tx: Tx, ledger: Ledger, depths: Mapping[int, int], scope: Scope) -> list[tuple[int, str]]:
    """Lower the depth of locked pages (id → depth offered); (id, host) of those that come into the scope by it."""
    ids = list(depths)
    places = ledger.at(ids)
    lowered = [
        (page, depths[page], place)
        for page, place in zip(ids, places.tolist(), strict=True)
        if depths[page] < ledger.depth[place]
    ]
    if not lowered:
        return []
    rows = []
    for page, depth, place in lowered:
        ledger.depth[place] = depth
        rows.append([page, depth, bool(ledger.out_weight[place] > 0)])
    tx.do("pages/deepen", rows=rows)
    return _entering(tx, {page: depth for page, depth, _ in lowered}, scope) if scope.max_depth else []


def _entering(tx: Tx, depths: Mapping[int, int], scope: Scope) -> list[tuple[int, str]]:
    return [
        (page, host)
        for page, url, state, host, fetched in tx.one("pages/scope", ids=sorted(depths))[0]
        if state == "outside" and not fetched and scope.holds(url, host, depths[page])
    ]


def page_of(row: Sequence[Any]) -> Page:
    """A `Page` from the columns page, out_links, in_links, redirects_to."""
    data, out_links, in_links, redirects_to = row
    return Page(
        url=data["url"],
        key=data["key"],
        host=data["host"],
        state=data["state"],
        depth=data["depth"],
        is_seed=data.get("is_seed", False),
        discovered=data["discovered"],
        hub_score=data["hub_history"] + data["hub_cash"],
        authority_score=data["authority_history"] + data["authority_cash"],
        hub_cash=data["hub_cash"],
        hub_history=data["hub_history"],
        hub_paid=data["hub_paid"],
        authority_cash=data["authority_cash"],
        authority_history=data["authority_history"],
        authority_paid=data["authority_paid"],
        out_weight=data["out_weight"],
        in_weight=data["in_weight"],
        out_links=out_links,
        in_links=in_links,
        relevance=data.get("relevance"),
        payout=data.get("payout"),
        status=data.get("status"),
        first_fetched=data.get("first_fetched"),
        fetched=data.get("fetched"),
        changed=data.get("changed"),
        visits=data.get("visits", 0),
        changes=data.get("changes", 0),
        errors=data.get("errors", 0),
        not_before=data.get("not_before"),
        body_hash=data.get("body_hash"),
        etag=data.get("etag"),
        last_modified=data.get("last_modified"),
        queue=data.get("queue"),
        lane=data["lane"],
        waiting_since=data["waiting_since"],
        worker=data.get("worker"),
        lease_until=data.get("lease_until"),
        redirects_to=redirects_to,
    )


def page(tx: Tx, key: str) -> Page | None:
    """Everything about one page, None when it is not there."""
    rows = tx.many("pages/get", key=key)
    return page_of(rows[0]) if rows else None
