"""The table of all hosts that the console shows: its rows, and a part of them in an order.

Statements: watching/hosts, exports/last_id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from graphbrain.base.model import Host
from graphbrain.brain.brain import Brain
from graphbrain.graph.connection import Tx, bound
from graphbrain.service.declared import Query

__all__ = ["COLUMNS", "MOST_ROWS", "Asked", "HostTable", "Mood", "Progress", "Row", "count", "part"]

MANNERS = (
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
COUNTED = ("pages", "known", "frontier", "outside", "left", "failing", "sitemap")
FAULTS = ("client", "refused", "broken", "silent", "other")
COLUMNS = ("name", *COUNTED, *FAULTS, *MANNERS)
"""The columns of a row."""
MOST_ROWS = 1_000
"""The most rows of one answer."""
IDS_AT_ONCE = 20_000
"""Internal ids that one transaction of a count reads."""
COUNT_SHARE, COUNT_ANYWAY = 0.05, 600.0
Progress = Callable[[float], None]
Row = Sequence[Any]
Mood = Literal["all", "waiting", "failing", "blocked", "slowed", "silent", "outside"]


@dataclass(frozen=True, slots=True)
class Counted:
    """Pages as they were counted.

    Attributes:
        pages: The counts of each host by its name, in the order of `COUNTED` and `FAULTS`.
        at: The end of the count in epoch seconds.
        ended: The same by the steady clock.
        took: The seconds that it took.
    """

    pages: dict[str, list[int]]
    at: float
    ended: float
    took: float


class Asked(Query):
    """The part of the table that a tab shows, and its order."""

    text: str = Field("", max_length=200, description="a part of the name", examples=["example"])
    which: Mood = Field("all", examples=["all"])
    by: Literal[COLUMNS] = Field("pages", examples=["pages"])  # type: ignore[valid-type]
    down: bool = Field(True, description="the largest first", examples=[True])
    offset: int = Field(0, ge=0, le=2**53, examples=[0])
    limit: int = Field(100, ge=1, le=MOST_ROWS, examples=[100])


class HostTable:
    """The table of all hosts, in which pages are counted more rarely than hosts are read.

    A count reads every page, in parts, each in a transaction of its own, so that it delays no claim. It takes
    `COUNT_SHARE` of the time at most. A count is never older than `COUNT_ANYWAY` seconds and its own duration.
    """

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._counted: Counted | None = None

    def read(self, progress: Progress) -> dict[str, Any]:
        """Return a row of `COLUMNS` for each host: its pages by state, those that fail by fault, and its manners.

        Args:
            progress: Called with the part of the pages that are counted, from 0 to 1.
        """
        counted = self._count(progress)
        manners = {host.name: [_manner(host, name) for name in MANNERS] for host in self._brain.hosts(count=0)}
        nothing, unknown = [0] * len((*COUNTED, *FAULTS)), [None] * len(MANNERS)
        names = [*counted.pages, *(name for name in manners if name not in counted.pages)]
        rows = [[name, *counted.pages.get(name, nothing), *manners.get(name, unknown)] for name in names]
        return {"columns": COLUMNS, "rows": rows, "counted": counted.at, "count_took": counted.took}

    def _count(self, progress: Progress) -> Counted:
        """Return the last count, or a new one if that is due."""
        before = self._counted
        if before is not None:
            rest = min(before.took / COUNT_SHARE, COUNT_ANYWAY)
            if time.monotonic() < before.ended + rest:
                return before
        began = time.monotonic()
        pages = count(self._brain, progress)
        ended = time.monotonic()
        self._counted = Counted(pages, self._brain.now(), ended, ended - began)
        return self._counted


def count(brain: Brain, progress: Progress) -> dict[str, list[int]]:
    """Return the pages of each host by its name, in the order of `COUNTED` and `FAULTS`. Read all pages, in parts."""
    counts: dict[str, list[int]] = {}
    last = brain.graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    for first in range(0, 0 if last is None else last + 1, IDS_AT_ONCE):
        query = bound(Tx.many, "watching/hosts", first=first, last=min(first + IDS_AT_ONCE - 1, last))
        for name, *numbers in brain.graph.read(query, "watching/hosts"):
            if name is not None:
                counts[name] = [a + b for a, b in zip(counts.get(name, [0] * len(numbers)), numbers, strict=True)]
        progress(min(1.0, (first + IDS_AT_ONCE) / (last + 1)))
    return counts


def part(rows: Sequence[Row], wanted: Asked, now: float) -> tuple[list[Row], int]:
    """Return the rows that are asked for, and how many there are without a limit.

    Rows without a value in the column of the order come last, in either order. Equal ones come by name.
    """
    text = wanted.text.lower()
    fitting = [row for row in rows if text in row[0].lower() and _is(wanted.which, row, now)]
    column = COLUMNS.index(wanted.by)
    with_value = sorted((row for row in fitting if row[column] is not None), key=lambda row: row[0])
    with_value.sort(key=lambda row: row[column], reverse=wanted.down)
    ordered = [*with_value, *sorted((row for row in fitting if row[column] is None), key=lambda row: row[0])]
    return ordered[wanted.offset : wanted.offset + wanted.limit], len(fitting)


def _manner(host: Host, name: str) -> Any:
    """Return a value of a host. Its robots.txt was set for both schemes or for one of them: the latest time counts."""
    if name == "robots_at":
        return max(filter(None, (host.robots_at, host.robots_http_at, host.robots_https_at)), default=None)
    return getattr(host, name)


def _is(mood: Mood, row: Row, now: float) -> bool:
    # Each mood is a condition on the values of a row.
    host = dict(zip(COLUMNS, row, strict=True))
    match mood:
        case "all":
            return True
        case "waiting":
            return bool(host["frontier"])
        case "failing":
            return bool(host["failing"])
        case "blocked":
            return (host["blocked_until"] or 0.0) > now
        case "slowed":
            return host["pace"] is not None and host["pace"] < 1.0
        case "silent":
            return host["probe_at"] is not None
        case "outside":
            return host["in_scope"] is False
