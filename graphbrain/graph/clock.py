"""The brain's time: the clock of the server that writes, continued without a step when another server takes over.

A single server's clock is the brain's time. In a cluster the server that writes, the leader, can change, and the clocks
of two members differ. The model:

1. *Brain time is the leader's clock plus a shift.* The shift is 0 until the leader changes. A process that meets a new
   leader chooses the shift such that its own brain time goes on without a step, forward or back, and records it on the
   brain with the leader's name (`clock_by`, `clock_shift`, `clock_shift_at`). All processes read the brain about once a
   second, so all follow the same record, without a lock. Only a process that changes the record locks the brain. A
   difference of at most `JUMP` is not recorded: time steps forward by it, or stops for as long.
2. *The shift fades.* It loses `FADE` of the leader's time that passes. Brain time then runs slower or faster by that
   part, until it is the leader's clock again. The record alone determines the shift, so all processes compute the same.
3. *Brain time never runs backwards in a process.* `now` is never less than it was before.
4. *The latest process wins.* A process that finds the record behind its own brain time raises the shift, under the
   lock. A process that finds the record ahead steps forward.
5. *A process that has just started has no brain time of its own.* At a leader that the record does not name, its brain
   time is the leader's clock, but not less than the high-water mark on the brain (`clock_seen`).
6. *One exception.* Where the clock of one and the same server was set back, brain time follows it, with a warning, and
   the times that the clock wrote while it was ahead are corrected (`graphbrain.frontier.hosts.clock_ahead`). So a wrong
   clock can be corrected.

The limits of the model: the high-water mark is written once a minute. If a process starts while the leader changes to a
member whose clock is behind, its brain time can be behind that of the others by a minute. It is so until one of the
others has seen the new leader, about a second later. For that second a host's delay can be too short.

A connection that does not route (`bolt://`) knows one server, names none, and follows the record of the others. The
idea of a clock that the data carries and that only moves forward is of Kulkarni et al., "Logical Physical Clocks"
(OPODIS 2014); the fading is the slewing of NTP (RFC 5905, §11.3).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

__all__ = ["FADE", "JUMP", "STEADY", "Record", "Timekeeper", "steady"]

STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that is never set and that runs while the machine sleeps: `time.monotonic` may stop then."""
JUMP = 1.0
"""Seconds. If two measurements differ by more, the server's clock was set; a smaller difference is drift."""
FADE = 0.02
"""The seconds by which a shift shrinks in a second: a shift of a minute has faded after 50 minutes."""


steady = partial(time.clock_gettime, STEADY)
"""Returns the time of the steady clock in seconds, from an unknown beginning."""


@dataclass(frozen=True, slots=True)
class Record:
    """The shift of brain time against the leader's clock, as the brain records it.

    Attributes:
        by: The address of the leader; None if it is not known.
        shift: Seconds by which brain time was ahead of the leader's clock at `since`; negative if it was behind.
        since: Epoch seconds by the leader's clock.
        seen: The high-water mark of brain time, in epoch seconds; 0 if there is none.
    """

    by: str | None = None
    shift: float = 0.0
    since: float = 0.0
    seen: float = 0.0

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Record:
        """Return the record among the properties of a brain. A brain without one has no shift."""
        return cls(
            stored.get("clock_by"),
            float(stored.get("clock_shift") or 0.0),
            float(stored.get("clock_shift_at") or 0.0),
            float(stored.get("clock_seen") or 0.0),
        )

    @property
    def notes(self) -> dict[str, Any]:
        """The record as properties of the brain."""
        return {"clock_by": self.by, "clock_shift": self.shift, "clock_shift_at": self.since}

    def shift_at(self, at: float) -> float:
        """Return the shift that has not faded yet at a time of the leader's clock."""
        faded = FADE * max(0.0, at - self.since)
        return math.copysign(max(0.0, abs(self.shift) - faded), self.shift)


@dataclass(frozen=True, slots=True)
class _Pace:
    """Brain time as a function of the steady clock. It is never changed but replaced, so `now` needs no lock.

    Attributes:
        offset: The leader's clock minus the steady clock.
        record: The shift.
        floor: Brain time when this function began. Later brain time is not less.
    """

    offset: float = 0.0
    record: Record = Record()
    floor: float = -math.inf

    def at(self, ticks: float) -> float:
        leader = ticks + self.offset
        return max(self.floor, leader + self.record.shift_at(leader))


class Timekeeper:
    """The brain's time in one process, from measurements of the leader's clock (`measured`) and the record on the brain
    (`agree`). Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pace = _Pace()
        self.member: str | None = None
        """The address of the server whose clock was measured last; None if the connection does not route."""
        self._runs = False
        """True if this process has a brain time of its own: it has read the record once."""
        self._was_set_back = False
        """True if the clock of the same server was set back since the record was read."""

    def now(self) -> float:
        """Return brain time in epoch seconds."""
        return self._pace.at(steady())

    def measured(self, member: str | None, offset: float, first: bool = False) -> float:
        """Add a measurement of the leader's clock.

        Args:
            member: The address of the leader; None if the connection does not route.
            offset: Its clock minus the steady clock, in seconds.
            first: True for the first measurement of a connection.

        Returns:
            The seconds by which the clock of the same server was set since the last measurement; 0 at the first one,
            and for another server.
        """
        with self._lock:
            ticks = steady()
            before = self._pace
            if first or member == self.member:
                # Follow the clock of the same server, also if it was set back.
                jump = 0.0 if first else offset - before.offset
                self._was_set_back |= jump < -JUMP
                floor = -math.inf if first or jump < -JUMP else before.at(ticks)
                self._pace = replace(before, offset=offset, floor=floor)
            else:
                # Continue brain time without a step at another server.
                jump, leader = 0.0, ticks + offset
                self._was_set_back = False
                self._pace = _continued(before.at(ticks), member, leader, offset)
            self.member = member
            return jump

    def agree(self, stored: Mapping[str, Any]) -> Record | None:
        """Follow the record among the properties of a brain, unless it is behind the time of this process or names
        another leader.

        Returns:
            None, or the record that must replace it. The caller locks the brain and writes `shift`.
        """
        record = Record.of(stored)
        with self._lock:
            ticks = steady()
            wanted = self._wanted(record, ticks)
            self._follow(wanted or record, ticks)
            return wanted

    def shift(self, stored: Mapping[str, Any], server: str | None) -> dict[str, Any]:
        """Return the properties that record this process's time, for a brain that a transaction at `server` has locked.

        The result is empty if the connection does not route, or if the clock of this server is not measured yet.
        """
        if server is None or server != self.member:
            return {}
        self.agree(stored)
        with self._lock:
            leader = steady() + self._pace.offset
            return Record(server, self._pace.record.shift_at(leader), leader).notes

    def _wanted(self, record: Record, ticks: float) -> Record | None:
        """Return the record that must replace this one; None if this process follows it."""
        if self.member is None or self._was_set_back:
            return None
        leader, names_leader = ticks + self._pace.offset, record.by == self.member
        by_record = leader + record.shift_at(leader)
        if self._runs:
            own = self._pace.at(ticks)
            replaces = abs(by_record - own) > JUMP and (not names_leader or by_record < own)
        else:
            own = max(leader, record.seen)
            replaces = abs(by_record - own) > JUMP and record.by is not None and not names_leader
        return self._from(record, own, leader) if replaces else None

    def _from(self, record: Record, brain_time: float, leader: float) -> Record:
        return replace(record, by=self.member, shift=brain_time - leader, since=leader)

    def _follow(self, record: Record, ticks: float) -> None:
        floor = -math.inf if self._was_set_back or not self._runs else self._pace.at(ticks)
        self._pace = replace(self._pace, record=record, floor=floor)
        self._runs, self._was_set_back = True, False


def _continued(brain_time: float, member: str | None, leader: float, offset: float) -> _Pace:
    return _Pace(offset, Record(member, brain_time - leader, leader), brain_time)
