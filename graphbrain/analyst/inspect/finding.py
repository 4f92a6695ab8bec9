"""The rate at which a crawl finds pages, and the end of its frontier at the present pace.

Reports bring pages into the frontier (`found`) and take pages out of it (`left`: fetched, redirecting, missing, given
up). Both are counted by the hour. The counts are extrapolated without a model, and the next hours may differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from graphbrain.base.records import Record

__all__ = ["FEW", "Flows", "Outlook", "outlook"]

FEW = 50
"""The least number of pages that left the frontier for which a pace is given."""
CHANCE = 2.0
"""The number of standard deviations up to which two counts may differ by chance. The standard deviation of a Poisson
count is its root."""
End = Literal["done", "ends", "never", "unknown"]


@dataclass(frozen=True, slots=True)
class Flows:
    """The counts of the last `seconds`.

    Attributes:
        visits: Accepted visits.
        found: Pages that reports brought into the frontier.
        visited: Pages that left the frontier.
        seconds: The length of the period.
    """

    visits: int
    found: int
    visited: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outlook(Record):
    """The frontier, and its end.

    Attributes:
        waiting: Pages that wait for their first visit, or are claimed for it.
        found_per_visit: New pages for each visit in the last hours; None if there was no visit.
        end: "done": no page waits. "ends": the frontier shrinks, and is empty in `hours` at this pace. "never": it
            grows. "unknown": neither is certain.
        hours: Hours until the end; None if not known.
        because: The reason in a sentence.
    """

    waiting: int
    found_per_visit: float | None
    end: End
    hours: float | None
    because: str


def outlook(waiting: int, flows: Flows) -> Outlook:
    """Return the outlook of a frontier of `waiting` pages, by the counts of the last hours."""
    rate = flows.found / flows.visits if flows.visits else None
    end, hours, because = _end(waiting, flows)
    return Outlook(waiting, rate, end, hours, because)


def _end(waiting: int, flows: Flows) -> tuple[End, float | None, str]:
    # Without enough counts nothing is certain.
    visited, discovered = flows.visited, flows.found
    if not waiting:
        return "done", 0.0, "no page waits for its first visit"
    if not visited and not flows.visits:
        return "unknown", None, "nothing was reported lately"
    if visited < FEW:
        return (
            "unknown",
            None,
            f"only {visited} pages have left the frontier lately, and {FEW} are needed",
        )
    # The difference must be more than chance: pages come and go as in a Poisson process.
    counts = f"{visited:,} pages have left the frontier and {discovered:,} were found"
    if abs(visited - discovered) <= CHANCE * sqrt(visited + discovered):
        return "unknown", None, f"{counts}: about as many"
    if discovered > visited:
        return "never", None, f"{counts}: at this pace it grows"
    return "ends", waiting / (visited - discovered) * flows.seconds / 3600.0, f"{counts}: at this pace it ends"
