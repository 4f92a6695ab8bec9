"""The options of the verb that lists hosts."""

from __future__ import annotations

from dataclasses import dataclass

from graphbrain.numeric.bounds import LARGEST, Bounds
from graphbrain.options.declare import declared

__all__ = ["COUNTED", "HostFilter"]

COUNTED = 1_000
"""The most pages of a host that are counted in a list. The index counts a million in less than a second."""


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
