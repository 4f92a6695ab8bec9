"""The views of the console as plain values. Those of one page or host are read by its key.

Statements: watching/*, hosts/known.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from graphbrain.base.records import Asked
from graphbrain.base.runtime.tokens import made_at
from graphbrain.base.urls.masking import masked_values
from graphbrain.brain.brain import Brain
from graphbrain.brain.names import Names
from graphbrain.graph.connection import Tx, bound
from graphbrain.graph.server import installation, lifecycle
from graphbrain.service.console.minutes import Minutes
from graphbrain.service.metrics.sampling import Sample

__all__ = ["activity", "host", "overview", "page"]

HELD, FAILED, NEXT = 100, 50, 20
"""The largest numbers of pages that are listed: held, failed, next."""
FAILED_SINCE = 86_400.0
HOURS = 72
BEST = 50
"""The largest number of pages of a host that are listed."""
TWINS = 20
"""The largest number of pages with the same content that are listed."""


def overview(brain: Brain, sample: Sample, minutes: Minutes, data: Path | None = None) -> dict[str, Any]:
    """Return figures of the crawl, pages by minute and by hour, workers and disk. No page is read.

    Figures for which every page must be read are those of the last sample of metrics, with its time.

    Args:
        brain: The brain.
        sample: The last sample.
        minutes: The counts by minute.
        data: The directory of the local server; None: the usual one.
    """
    # Claims by worker are few, and are read now; figures of pages are those of the last sample.
    scanned = sample.scanned
    leases = _records(brain.ask("leases"))
    # The figures write this process's counters, from which the hours are read.
    figures = brain.quick_figures(None if scanned is None else scanned.first_visits)
    hours = _records(brain.ask("progress-by-hour", hours=HOURS))
    return {
        "stats": {**figures, "leased": sum(each["pages"] for each in leases)},
        "order": brain.settings.order,
        "active": None if sample.quick is None else sample.quick.active,
        "lapsed": None if sample.quick is None else sample.quick.lapsed,
        "scanned": _scanned(brain, sample),
        "disk": _disk(brain.graph.uri, data),
        "minutes": minutes.rows(),
        "hours": [[_epoch(each["hour"]), each["pages"]] for each in reversed(hours)],
        "workers": [[each["worker"], each["pages"], _epoch(each["first_lapses"])] for each in leases],
    }


def _scanned(brain: Brain, sample: Sample) -> dict[str, Any] | None:
    """Return the figures for which every page was read, and the brain's time when they were; None: not yet."""
    if sample.scanned is None or sample.scanned_at is None:
        return None
    figures = asdict(sample.scanned)
    age = max(0.0, time.time() - sample.scanned_at)
    return {**figures, "error_bound": sample.error_bound, "as_of": brain.now() - age, "took": sample.scan_took}


def activity(brain: Brain) -> dict[str, Any]:
    """Return the pages that are held now, the last that failed, and those that come next."""
    # Pages that crawlers hold, pages that have failed, and pages that come next.
    now = brain.now()
    leases = brain.graph.read(bound(Tx.many, "watching/held", now=now, limit=HELD), "watching/held")
    failed = brain.graph.read(
        bound(Tx.many, "watching/failed", since=now - FAILED_SINCE, limit=FAILED), "watching/failed"
    )
    coming = brain.ask("next-pages", limit=NEXT)
    return {
        "now": now,
        "held": [
            {"url": masked_values(url), "worker": worker, "since": made_at(lease) if lease else None, "until": until}
            for url, worker, lease, until in leases
        ],
        "failed": [
            dict(zip(("url", "failed", "status", "fault", "error"), masked_values(row), strict=True)) for row in failed
        ],
        "next": [
            {name: _epoch(value) if isinstance(value, datetime) else value for name, value in each.items()}
            for each in _records(coming)
        ],
    }


def page(brain: Brain, key: str) -> dict[str, Any]:
    """Return the place of a page in its queue, the least seconds between two of its visits where the order has such a
    time, the kept history of its visits, and the pages of its host with the same content.

    Empty without that page. The pages of its host are read.
    """
    query = bound(Tx.many, "watching/page", key=key, now=brain.now(), limit=TWINS + 1)
    rows = brain.graph.read(query, "watching/page")
    if not rows:
        return {}
    # One more twin than is shown is read, to know whether there are more.
    ahead, beside, host_may, changes, states, failures, twins = rows[0]
    settings = brain.settings
    shown = [[masked_values(url), same] for url, same in twins[:TWINS]]
    return {
        "ahead": ahead,
        "beside": beside,
        "host_may": host_may,
        "least": settings.revisit_seconds if settings.order == "optimal" else None,
        "changes": changes,
        "states": states,
        "failures": failures,
        "twins": shown,
        "more_twins": len(twins) > TWINS,
    }


def host(brain: Brain, name: str) -> dict[str, Any]:
    """Return the pages of a host by state, by fault, and by sitemaps, and the best ones. All its pages are read.

    Raises:
        BadInput: `name` names no host.
        UnknownHost: No page of the host is known.
    """
    query = bound(Tx.one, "watching/host", name=Names(brain.session).known_host(name), limit=BEST)
    states, sitemap, faults, best = brain.graph.read(query, "watching/host")
    return {"states": states, "sitemap": sitemap, "faults": faults, "best": masked_values(best)}


def _disk(uri: str, data: Path | None) -> dict[str, int] | None:
    """Return the bytes of the local server's directory, and the free bytes of its disk; None for a server elsewhere."""
    server = lifecycle.find(data)
    if server is None or server.uri != uri:
        return None
    status = lifecycle.status(data)
    return {"used": status.disk, "free": installation.free_bytes(status.data)}


def _records(answer: Asked) -> list[dict[str, Any]]:
    """Return the rows of an answer by the names of its columns."""
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def _epoch(value: datetime | None) -> float | None:
    return None if value is None else value.timestamp()
