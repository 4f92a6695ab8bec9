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

__all__ = ["Acting", "Book"]

FRESH = 1.0
"""Seconds for which a process uses the sections of a host that it has read, where it does not know how often the host
was learned from."""
LONGEST = 60.0
"""Seconds for which it uses them at most. Counts begin anew after `clear`: an equal one may be of other sections."""
OUT_FOR = 60.0
"""Seconds for which a page that a process has claimed counts as fetched; by then its visit was learned from."""
HOSTS_KNOWN = 5_000
NOTHING = Sections()


class _Read(NamedTuple):
    """The sections of a host as they were read; `learned`: how often the host had been learned from."""

    at: float
    learned: int
    text: str
    sections: Sections


class Book:
    """The sections of hosts that a process has read, with the brain's time of the read; and the names of the pages that
    it has claimed since. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._read: OrderedDict[str, _Read] = OrderedDict()
        self._out: dict[str, dict[int | None, float]] = {}
        """The names of claimed pages, with the times of their claims, by host."""

    def of(
        self, tx: Tx, hosts: Iterable[str], *, fresh: bool = False, learned: Mapping[str, int] | None = None
    ) -> Mapping[str, Sections]:
        """Return the sections of these hosts.

        Args:
            fresh: Read them in this transaction.
            learned: How often each host was learned from, as this transaction has read it; a host without sections is
                missing. Then only those are read that have changed.
        """
        names, now = sorted(set(hosts)), self._clock()
        with self._lock:
            current = {name: self._read[name] for name in names if name in self._read}
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
        """Note that these pages (URL, host) were claimed for their first visit. Pages of their names that are claimed
        next count as echoes, as long as it is not known whether the visit has brought anything."""
        now = self._clock()
        with self._lock:
            for url, host in pages:
                if host in self._out:
                    self._out[host][name_of(url)] = now

    def forget(self, host: str) -> None:
        """Read the sections of this host anew when they are wanted: it was just learned from."""
        with self._lock:
            if (entry := self._read.get(host)) is not None:  # it keeps its place: what is out is dropped with it
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
    """The way in which new pages wait by their sections: by the remembered sections, and by the rule of the brain.
    `key_of`: the key of the page of a URL, None where it has none."""

    book: Book
    rule: Rule
    key_of: Callable[[str], str | None] = field(compare=False)
