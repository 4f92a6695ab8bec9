"""What the console shows of a whole crawl, each as plain values. For people: most of it reads every page.

Statements: watching/*.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graphbrain.brain.brain import Brain
from graphbrain.console.minutes import Minutes
from graphbrain.graph.connection import Tx, bound
from graphbrain.masking import masked_values
from graphbrain.metrics.sampling import Sample
from graphbrain.tokens import made_at

__all__ = ["HOST_COLUMNS", "activity", "found", "hosts", "overview"]

HELD, FAILED, NEXT = 100, 50, 20
"""Pages that are listed at most: held, failed, next."""
FAILED_SINCE = 86_400.0
HOURS = 72
OF_HOST = (
    "delay",
    "pace",
    "in_flight",
    "budget",
    "budget_used",
    "blocked_until",
    "probe_at",
    "illness",
    "complaints",
    "robots_at",
    "robots_delay",
    "in_scope",
)
COUNTED = ("pages", "known", "frontier", "outside", "left", "failing")
FAULTS = ("client", "refused", "broken", "silent", "other")
HOST_COLUMNS = ("name", *COUNTED, *FAULTS, *OF_HOST)
"""Columns of a row of `hosts`."""


def overview(brain: Brain, sample: Sample, minutes: Minutes) -> dict[str, Any]:
    """How the crawl goes: `stats`, what the last samples of metrics say, pages by minute and by hour, and workers."""
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
    """All hosts, a row each, of HOST_COLUMNS: their pages by state, how those that fail do, and their manners."""
    rows: dict[str, dict[str, Any]] = {}
    counted = brain.ask("hosts-and-states", limit="all")
    for row in counted.rows:
        rows[row[0]] = dict(zip(counted.columns, row, strict=True))
    failing = brain.ask("failing-hosts", limit="all")
    for row in failing.rows:
        facts = dict(zip(failing.columns, row, strict=True))
        rows.setdefault(facts["host"], {}).update({fault: facts[fault] for fault in FAULTS})
    for host in brain.hosts(count=0):
        rows.setdefault(host.name, {}).update({name: getattr(host, name) for name in OF_HOST})
    numbers = dict.fromkeys((*COUNTED, *FAULTS), 0)
    found = [{"name": name, **dict.fromkeys(OF_HOST), **numbers, **facts} for name, facts in rows.items()]
    return {"columns": HOST_COLUMNS, "rows": [[row[name] for name in HOST_COLUMNS] for row in found]}


def found(brain: Brain) -> dict[str, Any]:
    """What is wrong, the most wasteful first."""
    return {"findings": [each.as_dict() for each in brain.findings()]}


def _epoch(value: datetime | None) -> float | None:
    return None if value is None else value.timestamp()


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same with times in epoch seconds."""
    return {name: _epoch(value) if isinstance(value, datetime) else value for name, value in facts.items()}
