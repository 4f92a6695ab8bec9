"""What the console shows of a whole crawl, each as plain values. For people: most of it reads every page.

Statements: watching/*.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from graphbrain.brain.brain import Brain
from graphbrain.console.hosts import COLUMNS, table
from graphbrain.console.minutes import Minutes
from graphbrain.graph.connection import Tx, bound
from graphbrain.metrics.sampling import Sample
from graphbrain.runtime.tokens import made_at
from graphbrain.server import installation, lifecycle
from graphbrain.urls.masking import masked_values

__all__ = ["activity", "found", "host", "hosts", "overview", "page"]

HELD, FAILED, NEXT = 100, 50, 20
"""Pages that are listed at most: held, failed, next."""
FAILED_SINCE = 86_400.0
HOURS = 72
BEST = 50
"""Pages of a host that are listed at most."""
TWINS = 20
"""Pages with the same content that are listed at most."""


def overview(brain: Brain, sample: Sample, minutes: Minutes, data: Path | None = None) -> dict[str, Any]:
    """How the crawl goes: `stats`, what the last samples of metrics say, pages by minute and by hour, workers, disk.

    `data`: the directory of the local server; None: the usual one.
    """
    scanned = sample.scanned
    held = brain.ask("leases").rows
    return {
        "stats": brain.stats(),
        "order": brain.settings.order,
        "active": None if sample.quick is None else sample.quick.active,
        "fresh": None if scanned is None else scanned.fresh,
        "age": None if scanned is None else scanned.age,
        "hosts": None
        if scanned is None
        else {"blocked": scanned.blocked, "slowed": scanned.slowed, "silent": scanned.silent},
        "disk": _disk(brain.graph.uri, data),
        "minutes": minutes.rows(),
        "hours": [
            [_epoch(row[0]), row[1], row[5]] for row in reversed(brain.ask("progress-by-hour", hours=HOURS).rows)
        ],
        "workers": [[row[0], row[1], _epoch(row[2])] for row in held],
    }


def activity(brain: Brain) -> dict[str, Any]:
    """What is done now: pages that are held, the last that failed, those that come next."""
    now = brain.now()
    held = brain.graph.read(bound(Tx.many, "watching/held", now=now, limit=HELD), "watching/held")
    failed = brain.graph.read(
        bound(Tx.many, "watching/failed", since=now - FAILED_SINCE, limit=FAILED), "watching/failed"
    )
    coming = brain.ask("next-pages", limit=NEXT)
    return {
        "now": now,
        "held": [
            {"url": masked_values(url), "worker": worker, "since": made_at(lease) if lease else None, "until": until}
            for url, worker, lease, until in held
        ],
        "failed": [
            dict(zip(("url", "failed", "status", "fault", "error"), masked_values(row), strict=True)) for row in failed
        ],
        "next": [_plain(dict(zip(coming.columns, row, strict=True))) for row in coming.rows],
    }


def hosts(brain: Brain) -> dict[str, Any]:
    """All hosts, a row each: see `console.hosts`."""
    return {"columns": COLUMNS, "rows": table(brain)}


def found(brain: Brain) -> dict[str, Any]:
    """What is wrong, the most wasteful first."""
    return {"findings": [each.as_dict() for each in brain.findings()]}


def page(brain: Brain, key: str) -> dict[str, Any]:
    """When a page comes, the kept history of its visits, and the pages of its host with the same content.

    Empty without that page. The pages of its host are read.
    """
    asked = bound(Tx.many, "watching/page", key=key, now=brain.now(), limit=TWINS + 1)
    rows = brain.graph.read(asked, "watching/page")
    if not rows:
        return {}
    ahead, beside, host_may, changes, states, failures, twins = rows[0]
    shown = [[masked_values(url), same] for url, same in twins[:TWINS]]
    return {
        "ahead": ahead,
        "beside": beside,
        "host_may": host_may,
        "changes": changes,
        "states": states,
        "failures": failures,
        "twins": shown,
        "more_twins": len(twins) > TWINS,
    }


def host(brain: Brain, name: str) -> dict[str, Any]:
    """The pages of a host by state, by fault, and by sitemaps, and the best of them. All its pages are read.

    Raises:
        BadInput: `name` names no host.
        UnknownHost: No page of the host is known.
    """
    asked = bound(Tx.one, "watching/host", name=brain.host(name).name, limit=BEST)
    states, sitemap, faults, best = brain.graph.read(asked, "watching/host")
    return {"states": states, "sitemap": sitemap, "faults": faults, "best": masked_values(best)}


def _disk(uri: str, data: Path | None) -> dict[str, int] | None:
    """The bytes of the local server's directory, and those that its disk has free; None for a server elsewhere."""
    server = lifecycle.find(data)
    if server is None or server.uri != uri:
        return None
    found = lifecycle.status(data)
    return {"used": found.disk, "free": installation.free_bytes(found.data)}


def _epoch(value: datetime | None) -> float | None:
    return None if value is None else value.timestamp()


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same with times in epoch seconds."""
    return {name: _epoch(value) if isinstance(value, datetime) else value for name, value in facts.items()}
