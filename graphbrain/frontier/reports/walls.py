"""Walls: login or consent pages to which temporary redirects lead many pages of a host.

The transaction that records a visit decides whether it met a wall. It compares the target of the redirect with the
targets of the other visits of the batch, and of the last visits of other pages of the host. Hosts store no walls. The
other pages are read without a lock, so a visit that is recorded at the same moment may not be counted.
Statements: visits/leading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphbrain.base.model import Fetched, Seen
from graphbrain.base.urls.normalization import host_of
from graphbrain.base.urls.walls import ASKED, MANY, bare
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.graph.connection import Tx

__all__ = ["behind"]


def behind(tx: Tx, items: Sequence[Item]) -> list[Item]:
    """Return the visits. A visit that met a wall is returned without its content and links, which are those of the
    wall."""
    places = sorted({item.leads_to for item in items if item.leads_to is not None})
    if not places:
        return list(items)
    leading = {url: set(keys) for url, keys in tx.one("visits/leading", places=places, limit=MANY)[0]}
    for item in items:
        if item.leads_to is not None:
            leading.setdefault(item.leads_to, set()).add(item.key)
    return [_walled(item) if len(leading.get(item.leads_to or "", ())) >= MANY else item for item in items]


def _walled(item: Item) -> Item:
    """Return the visit without content, links and facts, so that its page keeps the stored ones."""
    assert isinstance(item.report, Fetched)
    report = replace(item.report, links=(), changed=None, relevance=None, value=None)
    note = (
        f"{MANY} pages of {host_of(item.url)}, or more, lead to {bare(item.led_to[-1])} for now: {ASKED} "
        "The visit is no change of its page"
    )
    return replace(
        item, report=report, seen=Seen(at=item.at), targets={}, link_bytes=0, values={}, facts=[],
        link_facts={}, refused=(), over=0, completeness="none", walled=True, led_by=None,
        note="; ".join(filter(None, (item.note, note))),
    )  # fmt: skip
