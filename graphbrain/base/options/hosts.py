"""The hosts that a caller selects, and the values of a host that can be set, each with its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphbrain.base.numeric.bounds import LARGEST, Bounds

__all__ = ["COUNTED", "HOST_VALUES", "LONGEST_HAND_DELAY", "HostFilter"]

COUNTED = 1_000
"""The most pages of a host that are counted in a list. The index counts a million in less than a second."""
LONGEST_HAND_DELAY = 86_400.0
"""The longest delay in seconds that a user may set for a host."""
HOST_VALUES: Mapping[str, Bounds] = {
    "delay": Bounds(0, LONGEST_HAND_DELAY),
    **dict.fromkeys(("in_flight", "budget"), Bounds(0, LARGEST, below=True)),
}


@dataclass(frozen=True, slots=True)
class HostFilter:
    """The hosts that fit all that is given, and how they are listed: the arguments of `Brain.hosts`."""

    text: str | None = None
    blocked: bool | None = None
    queued: bool | None = None
    slowed: bool | None = None
    silent: bool | None = None
    outside: bool | None = None
    count: int = COUNTED
    limit: int | None = None
