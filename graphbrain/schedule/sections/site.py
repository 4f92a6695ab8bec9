"""The state of one host's learning: its sections, and the properties of its (:Site) node.

A site remembers the last `MOST_VISITS` visits that count, by which its sections are learned anew each time these have
grown by a part; older ones are forgotten. All of it is computed from the state before, under the node's lock.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np

from graphbrain.schedule.sections import tree
from graphbrain.schedule.sections.copies import NO_COPIES, Copies
from graphbrain.schedule.sections.harvest import settled_factor, yield_of_links
from graphbrain.schedule.sections.known import HostSample
from graphbrain.schedule.sections.shapes import name_of
from graphbrain.schedule.sections.tree import CountedVisit, Leaf, Tree

__all__ = ["GROWN", "MOST_VISITS", "ActingSection", "FirstVisit", "Sections", "Site"]

MOST_VISITS = 1_000
LEARNED_FROM = 6
"""Visits before which a host is one section."""
GROWN = 1.05
"""The sections are learned anew when the visits have grown to so many times those that they were learned of."""
MOST_NAMES = 4_096
LONGEST_URL = 1_000
"""Characters of a URL that are remembered."""


@dataclass(frozen=True, slots=True)
class FirstVisit:
    """A first visit of a page.

    `sketch`: the smallest hashes of its shingles, and how many it has; None where its text was not reported. `brings`:
    whether it may bring anything: not a page that is missing, redirects, or is a copy by its own canonical. `at`: the
    time in epoch seconds. `hash`: of its text, where its words are not known: it shows only whether another page has
    the same. `links`: of a page without a text, how many of its links led to pages that were not known, and how many
    it had.
    """

    url: str
    sketch: tuple[Sequence[int], int] | None
    brings: bool = True
    at: float = 0.0
    hash: str | None = None
    links: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ActingSection:
    """A section of a host, as it acts. `factor`: by which its new pages count, a power of two; `changed_at`: how many
    visits it had when this changed; `leaf`: what is known of it; `tried_at`: when a page of it was last visited for the
    first time (epoch seconds; 0: never)."""

    leaf: Leaf
    factor: float
    changed_at: float
    tried_at: float = 0.0

    @property
    def held_down(self) -> bool:
        """True if the section lowers the value of its new pages."""
        return self.factor < 1.0


@dataclass(frozen=True)
class Sections:
    """The sections of a host, with the factors by which their new pages count."""

    tree: Tree = tree.ONE
    by_pattern: Mapping[str, ActingSection] = field(default_factory=dict)
    names: frozenset[int] = frozenset()
    """The names of the last `MOST_NAMES` fetched pages: the last steps of their paths, as numbers."""
    copies: Copies = NO_COPIES

    def is_echo(self, url: str) -> bool:
        """Return whether a page of the same name was fetched."""
        return name_of(url) in self.names

    def of(self, url: str, *, echo: bool | None = None) -> ActingSection:
        """Return the section of a URL; `echo`: where it is not as it is now."""
        return self.acting(self.tree.section_of(url, echo=self.is_echo(url) if echo is None else echo))

    def acting(self, leaf: Leaf) -> ActingSection:
        """Return the section of a leaf of the tree; one of which nothing was learned counts in full."""
        return self.by_pattern.get(leaf.pattern) or ActingSection(leaf, 1.0, 0.0)

    def factor(self, url: str, *, echo: bool | None = None) -> float:
        """Return the factor of a new page of this URL: that of its section times that of a page that it is expected to
        equal. `echo`: whether it counts as an echo, if not as it is now.

        The product has no floor of its own: in a section at the least factor, as of near versions of one text, copies
        still wait behind the pages that they are expected to equal.
        """
        section = self.of(url, echo=echo)
        return section.factor * self.copies.factor(url, section.leaf.pattern)

    def plainer(self, url: str) -> list[tuple[str, float]]:
        """Return the URLs whose pages a page is expected to equal once they are fetched, and by which factor it counts
        beside each."""
        section = self.of(url)
        bases = self.copies.plainer(url, section.leaf.pattern)
        return [(base, section.factor * factor) for base, factor in bases]

    @property
    def acts(self) -> bool:
        """True if a page may have a factor below 1."""
        return bool(self.copies.models) or self.holds_down

    @property
    def holds_down(self) -> bool:
        """True if a section has a factor below 1."""
        return any(section.held_down for section in self.by_pattern.values())

    @property
    def held_down(self) -> frozenset[str]:
        """The patterns of those that count for less than 1."""
        return frozenset(pattern for pattern, section in self.by_pattern.items() if section.held_down)

    def visited(self, visits: Iterable[tuple[str, bool, float]]) -> Sections:
        """Return the same after these visits (URL, was it an echo, when). When sections were visited that are not held
        down is not kept."""
        if not self.holds_down:
            return self
        tried = dict(self.by_pattern)
        for url, echo, at in visits:
            section = tried.get(self.tree.section_of(url, echo=echo).pattern)
            if section is not None and section.held_down:
                tried[section.leaf.pattern] = replace(section, tried_at=max(at, section.tried_at))
        return replace(self, by_pattern=tried)

    def text(self) -> str:
        """Return the text that is stored."""
        factors = {
            pattern: [section.factor, section.changed_at, *([round(section.tried_at)] if section.held_down else [])]
            for pattern, section in self.by_pattern.items()
        }
        names = np.array(sorted(self.names), dtype="<u4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
        parts = [self.tree.plain(), factors, base64.b64encode(names).decode()]
        parts += [self.copies.plain()] if self.copies.at else []
        return json.dumps(parts, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> Sections:
        """Return what `text` has written. Raise ValueError for anything else."""
        try:
            plain, factors, packed, *copies = json.loads(text)
            names = np.frombuffer(base64.b64decode(packed), dtype=np.uint8).reshape(-1, 3).astype(np.uint32)
            learned = tree.read(plain)
            leaves = {leaf.pattern: leaf for leaf in learned.leaves()}
            return cls(
                learned,
                {pattern: ActingSection(leaves[pattern], *map(float, acts)) for pattern, acts in factors.items()},
                frozenset((names @ np.array([1, 1 << 8, 1 << 16], dtype=np.uint32)).tolist()),
                Copies.read(copies[0]) if copies else NO_COPIES,
            )
        except (TypeError, KeyError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"not sections: {error}") from None


@dataclass(frozen=True)
class Site:
    """The visits of a host from which its sections are learned, and the sections.

    `visits`: the remembered visits, the oldest first. `seen`: the number of all visits. `learned_at`: the number of
    visits at the time when the sections were learned.
    """

    known: HostSample
    visits: tuple[CountedVisit, ...] = ()
    seen: int = 0
    learned_at: int = 0
    sections: Sections = field(default_factory=Sections)
    names: tuple[int, ...] = ()
    """as of its sections, the oldest first"""
    hashes: tuple[int, ...] = ()
    """of texts whose words are not known, as numbers: the last `MOST_NAMES`, the oldest first"""

    @classmethod
    def unknown(cls) -> Site:
        """Return a host of which nothing is known."""
        return cls(HostSample.nothing())

    def after(self, visits: Iterable[FirstVisit], most: int) -> tuple[Site, list[tuple[float | None, bool]]]:
        """The site after these visits, at most `most` sections of it; and of each visit what it brought, None where
        that is not known, and whether a page of its name had been fetched before. Their text becomes `known` to this
        site, too: it is not to be used again."""
        shares: list[tuple[float | None, bool]] = []
        read_visits: list[tuple[str, bool, float]] = []
        counted, names = list(self.visits), dict.fromkeys(self.names)
        seen, hashes = self.seen, dict.fromkeys(self.hashes)
        for visit in visits:
            name = name_of(visit.url)
            echo = name in names
            judged = self._judged(visit, echo, hashes)
            if visit.brings and name is not None:
                names.pop(name, None)
                names[name] = None
            shares.append((None if judged is None or judged.weight < 1.0 else judged.brought, echo))
            read_visits.append((visit.url, echo, visit.at))
            if judged is not None and judged.weight > 0.0:
                counted.append(judged)
                seen += 1
        kept = tuple(names)[-MOST_NAMES:]
        site = replace(
            self,
            visits=tuple(counted[-MOST_VISITS:]),
            seen=seen,
            names=kept,
            hashes=tuple(hashes)[-MOST_NAMES:],
            sections=self.sections.visited(read_visits),
        )._learned(most)
        return replace(site, sections=replace(site.sections, names=frozenset(kept))), shares

    def _judged(self, visit: FirstVisit, echo: bool, seen: dict[int, None]) -> CountedVisit | None:
        """Return the yield of a visit. Its text is known from now on, or its hash is one of those that were `seen`."""
        url = visit.url[:LONGEST_URL]
        share = None
        if visit.sketch is not None:
            keys, count = visit.sketch
            hashes = np.asarray(keys, dtype=np.uint32)
            share = self.known.brought(hashes, count)
            self.known.add(hashes, count)
        if not visit.brings:
            return CountedVisit(url, 0.0, 1.0, echo, visit.at)
        if visit.hash is not None:
            number = crc32(visit.hash.encode("utf-8", "surrogatepass"))
            counted = CountedVisit(url, float(number not in seen), 1.0, echo, visit.at)
            seen[number] = None
            return counted
        if visit.links is not None:
            return CountedVisit(url, yield_of_links(*visit.links), 1.0, echo, visit.at)
        return None if share is None else CountedVisit(url, share.brought, share.weight, echo, visit.at)

    def _learned(self, most: int) -> Site:
        """Return the same, its sections learned anew if it has grown enough."""
        if self.seen < LEARNED_FROM or self.seen < self.learned_at * GROWN:
            return self
        learned = tree.learn(self.visits, most)
        acting: dict[str, ActingSection] = {}
        for leaf in learned.leaves():
            before = self.sections.by_pattern.get(leaf.pattern)
            kept = None if before is None else (before.factor, before.changed_at)
            factor, changed_at = settled_factor(leaf.mean, leaf.visits, kept, leaf.count)
            tried_at = max(leaf.last, 0.0 if before is None else before.tried_at)
            acting[leaf.pattern] = ActingSection(leaf, factor, changed_at, tried_at)
        return replace(self, learned_at=self.seen, sections=Sections(learned, acting, copies=self.sections.copies))

    def evidence(self) -> str:
        """Return the visits, and how many there were, as they are kept."""
        rows = [[v.url, round(v.brought, 4), round(v.weight, 4), int(v.echo), round(v.at)] for v in self.visits]
        parts = [self.seen, self.learned_at, rows, self.names, *([self.hashes] if self.hashes else [])]
        plain = json.dumps(parts, separators=(",", ":"))
        return base64.b64encode(zlib.compress(plain.encode(), 1)).decode()

    @classmethod
    def read(cls, sample: str, evidence: str, sections: str) -> Site:
        """Return the site whose `known.text()`, `evidence()` and `sections.text()` these are. Raise ValueError."""
        try:
            seen, learned_at, rows, names, *hashes = json.loads(zlib.decompress(base64.b64decode(evidence)))
            visits = tuple(
                CountedVisit(str(url), float(brought), float(weight), bool(echo), *map(float, at))
                for url, brought, weight, echo, *at in rows
            )
        except (zlib.error, TypeError, ValueError) as error:
            raise ValueError(f"not visits of a site: {error}") from None
        return cls(
            HostSample.read(sample),
            visits,
            int(seen),
            int(learned_at),
            Sections.read(sections),
            tuple(map(int, names)),
            tuple(map(int, hashes[0])) if hashes else (),
        )
