"""How fast a crawl finds pages, and when its frontier will be done at the pace it goes now.

Reports bring pages into the frontier (`found`) and take pages out of it (`left`: fetched, redirecting, missing, given
up). Both are counted by the hour, and here extrapolated as they are: what the next hours bring may be otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from graphbrain.records import Record

__all__ = ["FEW", "Flows", "Outlook", "outlook"]

FEW = 50
"""Of fewer pages that have left the frontier no pace is told."""
CHANCE = 2.0
"""Standard deviations: numbers that differ by less may be the same (of counts by chance, the root of their sum)."""
End = Literal["done", "ends", "never", "unknown"]


@dataclass(frozen=True, slots=True)
class Flows:
    """What was counted in `seconds`: accepted visits, pages that came into the frontier by them, and that left it.
    `uncounted`: visits that were told to processes of an older graphbrain, which counts no more of them."""

    visits: int
    found: int
    left: int
    uncounted: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outlook(Record):
    """The frontier, and its end.

    `waiting`: pages that wait for their first visit, or are held for it. `found_per_visit`: how many new pages a visit
    has found lately, None where there was none. `end`: "done": nothing waits; "ends": the frontier shrinks, and is
    empty in `hours` at this pace; "never": it grows; "unknown". `because`: the same in a sentence.
    """

    waiting: int
    found_per_visit: float | None
    end: End
    hours: float | None
    because: str


def outlook(waiting: int, flows: Flows) -> Outlook:
    """What is to be said of a frontier of `waiting` pages by what was counted lately."""
    counted = flows.visits - flows.uncounted
    rate = flows.found / counted if counted > 0 else None
    end, hours, because = _end(waiting, flows)
    return Outlook(waiting, rate, end, hours, because)


def _end(waiting: int, flows: Flows) -> tuple[End, float | None, str]:
    left, found = flows.left, flows.found
    if not waiting:
        return "done", 0.0, "no page waits for its first visit"
    if flows.uncounted:
        return "unknown", None, "an older graphbrain has taken reports lately, and does not count what they find"
    if not left and not flows.visits:
        return "unknown", None, "nothing was reported lately"
    if left < FEW:
        return (
            "unknown",
            None,
            f"only {left} pages have left the frontier lately, and {FEW} are needed",
        )
    counts = f"{left:,} pages have left the frontier and {found:,} were found"
    if abs(left - found) <= CHANCE * sqrt(left + found):
        return "unknown", None, f"{counts}: about as many"
    if found > left:
        return "never", None, f"{counts}: at this pace it grows"
    return "ends", waiting / (left - found) * flows.seconds / 3600.0, f"{counts}: at this pace it ends"
