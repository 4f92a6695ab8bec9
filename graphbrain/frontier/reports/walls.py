"""Walls: login or consent pages to which temporary redirects lead many pages of a host.

The transaction that records a visit decides whether it met a wall. It compares the target of the redirect with the
targets of the other visits of the batch, and of the last visits of other pages of the host. A chain of redirects counts
as one arrival, also if the crawler reported each of its steps as a visit. Hosts store no walls. The other pages are
read without a lock, so a visit that is recorded at the same moment may not be counted.
Statements: visits/leading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphbrain.base.model import Fetched, Seen
from graphbrain.base.urls.normalization import host_of
from graphbrain.base.urls.walls import ASKED, MANY, bare, destination
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.graph.connection import Tx

__all__ = ["behind"]

Pages = dict[str, tuple[str, Sequence[str]]]
"""Key of a page that was led to a place → its URL, and the steps on its way there."""
LONGEST_CHAIN = 20
"""The most redirects that a crawler follows: of so many pages for each arrival, enough are arrivals."""


def behind(tx: Tx, items: Sequence[Item]) -> list[Item]:
    """Return the visits. A visit that met a wall is returned without its content and links, which are those of the
    wall. The wall is a page like others: the first visit to each destination keeps it as a target without a link."""
    places = sorted({item.leads_to for item in items if item.leads_to is not None})
    if not places:
        return list(items)
    leading: dict[str, Pages] = {}
    for target, pages in tx.one("visits/leading", places=places, limit=MANY * LONGEST_CHAIN)[0]:
        leading[target] = {key: (url, steps) for key, url, steps in pages}
    # Earlier visits have brought the walls to which they were led.
    reached = {bare(item.led_to[-1]) for item in items if item.leads_to is not None and leading.get(item.leads_to)}
    for item in items:
        if item.leads_to is not None:
            leading.setdefault(item.leads_to, {})[item.key] = item.url, item.led_to[:-1]
    walls = {target for target, pages in leading.items() if _arrivals(pages) >= MANY}
    visits: list[Item] = []
    for item in items:
        if item.leads_to not in walls:
            visits.append(item)
            continue
        where = destination(item.url, item.led_to[-1])
        visits.append(_walled(item, item.targets if item.led_by is not None and where not in reached else {}))
        reached.add(where)
    return visits


def _arrivals(pages: Pages) -> int:
    """Return the number of these pages that are no step on the way of another."""
    steps = {step for _, way in pages.values() for step in way}
    return sum(url not in steps for url, _ in pages.values())


def _walled(item: Item, targets: dict[str, tuple[str, float | None]]) -> Item:
    """Return the visit without content, links and facts, so that its page keeps the stored ones. `targets`: pages that
    are created without a link, if they are not known."""
    assert isinstance(item.report, Fetched)
    report = replace(item.report, links=(), changed=None, relevance=None, value=None)
    note = (
        f"{MANY} pages of {host_of(item.url)}, or more, lead to {bare(item.led_to[-1])} for now: {ASKED} "
        "The visit is no change of its page"
    )
    size = sum(len(url) for url, _ in targets.values())
    return replace(
        item, report=report, seen=Seen(at=item.at), targets=targets, link_bytes=size, values={}, facts=[],
        link_facts={}, refused=(), over=0, completeness="none", walled=True, led_by=None,
        note="; ".join(filter(None, (item.note, note))),
    )  # fmt: skip
