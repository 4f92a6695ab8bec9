"""The options of the verbs of hosts: hosts, set_host."""

from __future__ import annotations

from dataclasses import dataclass

from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.options.declare import declared

__all__ = ["COUNTED", "LONGEST_HAND_DELAY", "HostFilter", "HostOptions"]

COUNTED = 1_000
"""The most pages of a host that are counted in a list. The index counts a million in less than a second."""
LONGEST_HAND_DELAY = 86_400.0
"""The longest delay in seconds that a user may set for a host."""
_COUNT = Bounds(0, LARGEST, below=True)


@dataclass(frozen=True, slots=True)
class HostFilter:
    """The hosts that fit all that is given, and how they are listed: the options of `hosts`."""

    text: str | None = declared(None, "Only hosts whose name contains this", example="example")
    blocked: bool | None = declared(
        None, "Only hosts that are, or are not, blocked or backed off now", off="not-blocked"
    )
    queued: bool | None = declared(
        None, "Only hosts that have, or have not, pages in their own queues", off="not-queued"
    )
    slowed: bool | None = declared(None, "Only hosts that are, or are not, asked less often", off="not-slowed")
    silent: bool | None = declared(
        None, "Only hosts that are, or are not, probed alone because they do not answer", off="not-silent"
    )
    outside: bool | None = declared(None, "Only hosts that are, or are not, outside of the scope", off="not-outside")
    count: int = declared(COUNTED, "Most pages of a host that are counted", bounds=Bounds(0, LARGEST), example=1000)
    limit: int | None = declared(None, "End after this number", instead="all", bounds=Bounds(0, LARGEST), example=100)


@dataclass(frozen=True, slots=True)
class HostOptions:
    """One host's own politeness: the options of `set_host`. None is the brain's setting."""

    delay: float | None = declared(
        ...,
        "Least seconds between two claims",
        bounds=Bounds(0, LONGEST_HAND_DELAY),
        by_room=True,
        metavar="SECONDS|none",
        example=2.0,
    )
    in_flight: int | None = declared(
        ..., "Most claims at once; 0 is no limit", bounds=_COUNT, by_room=True, metavar="N|none", example=1
    )
    budget: int | None = declared(
        ..., "Most pages fetched for the first time", bounds=_COUNT, by_room=True, metavar="N|none", example=1000
    )
