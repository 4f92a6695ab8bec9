"""What is learned of one host: its sections, and what stands on its (:Site) node.

A site remembers the last `MOST_VISITS` visits that count, by which its sections are learned anew each time these have
grown by a part; older ones are forgotten. All of it is computed from what stood there before, under the node's lock.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphbrain.sections import tree
from graphbrain.sections.harvest import settled_factor
from graphbrain.sections.known import Known, kind_of
from graphbrain.sections.tree import Leaf, Tree, Visited

__all__ = ["MOST_VISITS", "Section", "Sections", "Site", "Visit"]

MOST_VISITS = 1_000
LEARNED_FROM = 6
"""Visits before which a host is one section."""
GROWN = 1.2
"""The sections are learned anew when the visits have grown to so many times those that they were learned of."""
LONGEST_URL = 1_000
"""Characters of a URL that are remembered."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A first visit of a page. `sketch`: the smallest hashes of its shingles, and how many it has; None where its text
    was not told. `brings`: may it bring anything? Not a page that is missing, an alias, or a copy by its own word."""

    url: str
    sketch: tuple[Sequence[int], int] | None
    brings: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a host, as it acts. `factor`: by which its new pages count, a power of two; `changed_at`: how many
    visits it had when this changed; `leaf`: what is known of it."""

    leaf: Leaf
    factor: float
    changed_at: float


@dataclass(frozen=True)
class Sections:
    """The sections of a host as they act."""

    tree: Tree = tree.ONE
    by_pattern: Mapping[str, Section] = field(default_factory=dict)

    def of(self, url: str) -> Section:
        """The section of a URL."""
        leaf = self.tree.section_of(url)
        return self.by_pattern.get(leaf.pattern) or Section(leaf, 1.0, 0.0)

    def factor(self, url: str) -> float:
        """By which factor a new page of this URL counts."""
        return self.of(url).factor

    @property
    def acts(self) -> bool:
        """Does any of them count for less than 1?"""
        return any(section.factor < 1.0 for section in self.by_pattern.values())

    def text(self) -> str:
        """As it is kept."""
        factors = {pattern: [section.factor, section.changed_at] for pattern, section in self.by_pattern.items()}
        return json.dumps([self.tree.plain(), factors], separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> Sections:
        """What `text` has written. Raises ValueError where it is something else."""
        try:
            plain, factors = json.loads(text)
            found = tree.read(plain)
            leaves = {leaf.pattern: leaf for leaf in found.leaves()}
            return cls(
                found,
                {pattern: Section(leaves[pattern], float(f), float(at)) for pattern, (f, at) in factors.items()},
            )
        except (TypeError, KeyError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"not sections: {error}") from None


@dataclass(frozen=True)
class Site:
    """A host, as it was learned. `visits`: those that are remembered, the oldest first; `seen`: how many there were in
    all; `learned_at`: how many there were when the sections were learned."""

    known: Known
    visits: tuple[Visited, ...] = ()
    seen: int = 0
    learned_at: int = 0
    sections: Sections = field(default_factory=Sections)

    @classmethod
    def unknown(cls) -> Site:
        """A host of which nothing is known."""
        return cls(Known.nothing())

    def after(self, visits: Iterable[Visit], most: int) -> tuple[Site, list[float | None]]:
        """The site after these visits, at most `most` sections of it; and the share of each visit that was new, None
        where that is not known. Their text becomes `known` to this site, too: it is not to be used again."""
        shares: list[float | None] = []
        counted = list(self.visits)
        seen = self.seen
        for visit in visits:
            found = self._judged(visit)
            shares.append(None if found is None else found.brought)
            if found is not None and found.weight > 0.0:
                counted.append(found)
                seen += 1
        site = replace(self, visits=tuple(counted[-MOST_VISITS:]), seen=seen)
        return site._learned(most), shares

    def _judged(self, visit: Visit) -> Visited | None:
        """What a visit brought; its text is known from now on."""
        url = visit.url[:LONGEST_URL]
        share = None
        if visit.sketch is not None:
            keys, count = visit.sketch
            hashes = np.asarray(keys, dtype=np.uint32)
            share = self.known.share(hashes, count)
            self.known.add(hashes, count, kind_of(url))
        if not visit.brings:
            return Visited(url, 0.0, 1.0)
        return None if share is None else Visited(url, share.new, share.weight)

    def _learned(self, most: int) -> Site:
        """The same, its sections learned anew if it has grown enough."""
        if self.seen < LEARNED_FROM or self.seen < self.learned_at * GROWN:
            return self
        found = tree.learn(self.visits, most)
        acting: dict[str, Section] = {}
        for leaf in found.leaves():
            before = self.sections.by_pattern.get(leaf.pattern)
            kept = None if before is None else (before.factor, before.changed_at)
            factor, changed_at = settled_factor(leaf.mean, leaf.visits, kept)
            acting[leaf.pattern] = Section(leaf, factor, changed_at)
        return replace(self, learned_at=self.seen, sections=Sections(found, acting))

    def evidence(self) -> str:
        """The visits, and how many there were, as they are kept."""
        rows = [[visit.url, round(visit.brought, 4), round(visit.weight, 4)] for visit in self.visits]
        plain = json.dumps([self.seen, self.learned_at, rows], separators=(",", ":"))
        return base64.b64encode(zlib.compress(plain.encode(), 3)).decode()

    @classmethod
    def read(cls, known: str, evidence: str, sections: str) -> Site:
        """The site whose `known.text()`, `evidence()` and `sections.text()` these are. Raises ValueError."""
        try:
            seen, learned_at, rows = json.loads(zlib.decompress(base64.b64decode(evidence)))
            visits = tuple(Visited(str(url), float(brought), float(weight)) for url, brought, weight in rows)
        except (zlib.error, TypeError, ValueError) as error:
            raise ValueError(f"not visits of a site: {error}") from None
        return cls(Known.read(known), visits, int(seen), int(learned_at), Sections.read(sections))
