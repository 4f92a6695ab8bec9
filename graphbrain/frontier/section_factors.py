"""The factors by which new pages count for their sections, as a process remembers them.

Statement: sections/read.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Tx
from graphbrain.schedule.sections.shapes import name_of
from graphbrain.schedule.sections.site import Sections

__all__ = ["NOTHING", "Acting", "Book"]

FRESH = 1.0
"""Seconds for which a process uses the sections of a host that it has read, if it cannot compare the count of
learnings."""
LONGEST = 60.0
"""Seconds for which it uses them at most. The count of learnings begins again after `clear`, so an equal count may
belong to other sections."""
OUT_FOR = 60.0
"""Seconds for which a claimed page counts as fetched. By then its sections were learned from its visit."""
HOSTS_KNOWN = 5_000
NOTHING = Sections()
"""The sections of a host of which no sections were learned."""


class _Read(NamedTuple):
    """The sections of a host, as they were read.

    Attributes:
        at: The time of the read.
        learned: The number of times that sections of the host had been learned.
        text: The stored text.
        sections: The sections.
    """

    at: float
    learned: int
    text: str
    sections: Sections


class Book:
    """The sections of hosts that a process has read, and the names of pages that it has claimed lately. The clock is
    the brain's. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._read: OrderedDict[str, _Read] = OrderedDict()
        self._out: dict[str, dict[int | None, float]] = {}
        """Host → the names of claimed pages, with the times of their claims."""

    def of(
        self, tx: Tx, hosts: Iterable[str], *, fresh: bool = False, learned: Mapping[str, int] | None = None
    ) -> Mapping[str, Sections]:
        """Return the sections of these hosts.

        Args:
            tx: The transaction.
            hosts: The names of the hosts.
            fresh: Read all of them in this transaction.
            learned: The number of times that the sections of each host were learned, as this transaction has read it; a
                host without sections is missing. Then only sections that have changed are read.
        """
        names, now = sorted(set(hosts)), self._clock()
        with self._lock:
            current = {name: self._read[name] for name in names if name in self._read}
        # Read the sections that are not known, too old, or have changed.
        stale = [name for name in names if fresh or not _is_current(current.get(name), name, learned, now)]
        if stale:
            wanted = stale if learned is None else [name for name in stale if name in learned]
            rows = tx.one("sections/read", hosts=wanted)[0] if wanted else []
            stored = {host: (times, text) for host, text, times in rows}
            read = {name: _parsed(current.get(name), now, *stored.get(name, (0, ""))) for name in stale}
            current |= read
            self._keep(read, now)
        return {name: current[name].sections for name in names}

    def _keep(self, read: Mapping[str, _Read], now: float) -> None:
        with self._lock:
            self._read.update(read)
            for name in read:
                self._read.move_to_end(name)
                before = self._out.get(name, {})
                self._out[name] = {out: since for out, since in before.items() if abs(now - since) <= OUT_FOR}
            while len(self._read) > HOSTS_KNOWN:
                self._out.pop(self._read.popitem(last=False)[0], None)

    def out(self, host: str) -> Container[int | None]:
        """Return the names of pages of a host that this process has claimed lately."""
        with self._lock:
            return self._out.get(host, {})

    def took(self, pages: Iterable[tuple[str, str]]) -> None:
        """Note that these pages (URL, host) were claimed for their first visit. Other pages of the same names count as
        echoes, until sections are learned from these visits."""
        now = self._clock()
        with self._lock:
            for url, host in pages:
                if host in self._out:
                    self._out[host][name_of(url)] = now

    def forget(self, host: str) -> None:
        """Let the next call of `of` read the sections of this host, which were just learned."""
        with self._lock:
            # The entry stays, since the names of claimed pages are dropped together with it.
            if (entry := self._read.get(host)) is not None:
                self._read[host] = _Read(-math.inf, -1, entry.text, entry.sections)


def _is_current(entry: _Read | None, host: str, learned: Mapping[str, int] | None, now: float) -> bool:
    if entry is None:
        return False
    if learned is None:
        return abs(now - entry.at) <= FRESH
    return entry.learned == learned.get(host, 0) and abs(now - entry.at) <= LONGEST


def _parsed(entry: _Read | None, now: float, learned: int, text: str) -> _Read:
    if entry is not None and entry.text == text:
        return _Read(now, learned, text, entry.sections)
    return _Read(now, learned, text, Sections.read(text) if text else NOTHING)


@dataclass(frozen=True, slots=True)
class Acting:
    """The use of sections for the order of new pages.

    Attributes:
        book: The sections that this process has read.
        rule: The rule of the brain.
        key_of: Returns the key of the page of a URL; None if the URL names no page.
    """

    book: Book
    rule: Rule
    key_of: Callable[[str], str | None] = field(compare=False)
