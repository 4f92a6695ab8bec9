"""The table of all hosts that the console shows: its rows, and a part of them in an order.

Statements: watching/hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphbrain.brain.brain import Brain
from graphbrain.graph.connection import Tx, bound

__all__ = ["COLUMNS", "Asked", "Mood", "Row", "part", "table"]

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
Row = Sequence[Any]
Mood = Literal["all", "waiting", "failing", "blocked", "slowed", "silent", "outside"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A part of the table.

    Attributes:
        text: A part of the names, in any case.
        which: Which hosts.
        by: The column by which they are sorted.
        down: True if the largest comes first.
        offset: The number of rows before the part.
        limit: The largest number of rows in the part.
    """

    text: str = ""
    which: Mood = "all"
    by: str = "pages"
    down: bool = True
    offset: int = 0
    limit: int = 100


def table(brain: Brain) -> list[Row]:
    """Return a row of `COLUMNS` for each host: its pages by state, those that fail by fault, and its manners.

    Every page and every host is read.
    """
    counted = brain.graph.read(bound(Tx.many, "watching/hosts"), "watching/hosts")
    counts = {row[0]: row[1:] for row in counted}
    manners = {host.name: [getattr(host, name) for name in MANNERS] for host in brain.hosts(count=0)}
    nothing, unknown = [0] * len((*COUNTED, *FAULTS)), [None] * len(MANNERS)
    names = [*counts, *(name for name in manners if name not in counts)]
    return [[name, *counts.get(name, nothing), *manners.get(name, unknown)] for name in names]


def part(rows: Sequence[Row], asked: Asked, now: float) -> tuple[list[Row], int]:
    """Return the rows that are asked for, and how many there are without a limit.

    Rows without a value in the column of the order come last, in either order. Equal ones come by name.
    """
    text = asked.text.lower()
    found = [row for row in rows if text in row[0].lower() and _is(asked.which, row, now)]
    place = COLUMNS.index(asked.by)
    known = sorted((row for row in found if row[place] is not None), key=lambda row: row[0])
    known.sort(key=lambda row: row[place], reverse=asked.down)
    ordered = [*known, *sorted((row for row in found if row[place] is None), key=lambda row: row[0])]
    return ordered[asked.offset : asked.offset + asked.limit], len(found)


def _is(mood: Mood, row: Row, now: float) -> bool:
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
