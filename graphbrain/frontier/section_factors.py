"""The factors by which new pages count for their sections, as a process remembers them.

Statement: sections/read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field

from graphbrain.graph.connection import Tx
from graphbrain.numeric.rules import Rule
from graphbrain.sections.shapes import name_of
from graphbrain.sections.site import Sections

__all__ = ["Acting", "Book"]

FRESH = 1.0
"""Seconds for which a process uses the sections of a host that it has read."""
OUT_FOR = 60.0
"""Seconds for which a page that a process has claimed counts as fetched; by then its visit was learned from."""
HOSTS_KNOWN = 5_000
NOTHING = Sections()


class Book:
    """The sections of hosts that a process has read, with the brain's time of the read; and the names of the pages that
    it has claimed since. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._read: OrderedDict[str, tuple[float, str, Sections]] = OrderedDict()
        self._out: dict[str, dict[int | None, float]] = {}
        """The names of claimed pages, with the times of their claims, by host."""

    def of(self, tx: Tx, hosts: Iterable[str], *, fresh: bool = False) -> Mapping[str, Sections]:
        """The sections of these hosts; `fresh`: as they are in this transaction."""
        names, now = sorted(set(hosts)), self._clock()
        with self._lock:
            known = {name: self._read[name] for name in names if name in self._read}
        stale = [name for name in names if fresh or name not in known or abs(now - known[name][0]) > FRESH]
        if stale:
            stored = dict(tx.one("sections/read", hosts=stale)[0])
            read = {name: (now, *_parsed(known.get(name), stored.get(name, ""))) for name in stale}
            known |= read
            with self._lock:
                self._read.update(read)
                for name in read:
                    before = self._out.get(name, {})
                    self._out[name] = {out: since for out, since in before.items() if abs(now - since) <= OUT_FOR}
                while len(self._read) > HOSTS_KNOWN:
                    self._out.pop(self._read.popitem(last=False)[0], None)
        return {name: known[name][2] for name in names}

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
            self._read.pop(host, None)


def _parsed(known: tuple[float, str, Sections] | None, text: str) -> tuple[str, Sections]:
    if known is not None and known[1] == text:
        return known[1:]
    return text, Sections.read(text) if text else NOTHING


@dataclass(frozen=True, slots=True)
class Acting:
    """The way in which new pages wait by their sections: by the remembered sections, and by the rule of the brain.
    `key_of`: the key of the page of a URL, None where it has none."""

    book: Book
    rule: Rule
    key_of: Callable[[str], str | None] = field(compare=False)
