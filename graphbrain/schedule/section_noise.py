"""The noise of a section's template: where its pages differed from their first visit to their second.

At its second visit nothing is known yet of a page's places. But pages of a section have one template, and what differs
on nearly all of them at one place of it is noise there: an advertisement, a counter, related links. Such a place is
found on other pages by the block before it or behind it. Of each is kept on how many pages it differed; of the section,
how many pages were compared. These are observations of the probability that it differs though nothing has happened.
Each page counts once, so one that changes often weighs no more than another, and what changes on all pages at once is a
change of each that was visited twice before.

A section is here what addresses show without learning: the folders of a path without their numbers, the ending, and the
names of arguments. What is kept of a host is bounded (`LARGEST`), and only its own pages write it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from zlib import crc32

from graphbrain.schedule.blocks import VERSION, Difference, VisitStep
from graphbrain.schedule.sections.shapes import NUMBER, ending_of
from graphbrain.schedule.words import packed, unpacked

__all__ = ["FEW_VISITS", "LARGEST", "HostNoise", "probability_of"]

FEW_VISITS = 3
"""Visits after which a page needs no others: where it was still for so long, a difference is its own."""
MOST_SECTIONS, MOST_SPOTS = 6, 40
"""Sections of a host, and places of each, that are kept: of sections the latest, of places those that differed on most
pages."""
MORE = 1.3
"""By so much a place may be larger than on average: where more differs, there may be something else beside it."""
MOST_SEEN = 255
"""Compared pages of a section; then all its counts are halved."""
_SECTION, _SPOT = struct.Struct("<HBB"), struct.Struct("<HBB")
LARGEST = len(packed(bytes(MOST_SECTIONS * (_SECTION.size + MOST_SPOTS * _SPOT.size))))
"""The most characters of the stored text."""


@dataclass(frozen=True, slots=True)
class SectionNoise:
    """`seen`: compared pages. `spots`: the mark of a place → on how many of them it differed, and how many blocks it
    held on average; the latest first."""

    seen: int = 0
    spots: dict[int, tuple[int, int]] = field(default_factory=dict)

    def probability(self, difference: Difference) -> float:
        """Return the probability that a difference of a page with few visits is a change."""
        if difference.prior is None:
            return difference.probability
        noise, content = difference.prior
        seen_spots = [self.spots[mark] for mark in difference.marks if mark in self.spots]
        moved = max((pages for pages, size in seen_spots if difference.size <= size * MORE), default=0)
        return min(difference.probability, 1 - (noise + moved) / (noise + content + self.seen))

    def after(self, differences: Sequence[Difference]) -> SectionNoise:
        """Return the same after another page was compared."""
        spots = dict(self.spots)
        size_of: dict[int, int] = {}
        for difference in differences:
            for mark in difference.marks if difference.prior is not None else ():
                size_of[mark] = min(max(size_of.get(mark, 0), difference.size), 255)
        for mark, size in size_of.items():
            pages, mean = spots.get(mark, (0, 0))
            spots[mark] = pages + 1, round((pages * mean + size) / (pages + 1))
        by = 2 if self.seen + 1 > MOST_SEEN else 1
        latest = sorted(spots.items(), key=lambda spot: (-spot[1][0], spot[0] not in size_of))[:MOST_SPOTS]
        return SectionNoise((self.seen + 1) // by, {mark: (pages // by, size) for mark, (pages, size) in latest})


NOTHING = SectionNoise()


def probability_of(step: VisitStep, section: SectionNoise | None) -> float | None:
    """Return how probable it is that a page has changed. `section`: of a page with no more than `FEW_VISITS` visits."""
    if section is None or not step.differences:
        return step.probability
    return max(map(section.probability, step.differences))


@dataclass(frozen=True)
class HostNoise:
    """The noise of a host's sections. `sections`: by their keys, the latest last."""

    sections: dict[int, SectionNoise] = field(default_factory=dict)

    def of(self, url: str) -> SectionNoise:
        """Return that of a page's section."""
        return self.sections.get(_key_of(url), NOTHING)

    def after(self, url: str, step: VisitStep) -> HostNoise:
        """Return the same after the second visit of a page. One that found another page shows nothing."""
        if step.probability is None or (step.probability > 0.0 and not step.differences):
            return self
        key = _key_of(url)
        others = {other: section for other, section in self.sections.items() if other != key}
        kept = list({**others, key: self.of(url).after(step.differences)}.items())
        return HostNoise(dict(kept[-MOST_SECTIONS:]))

    def text(self) -> str:
        """Return the text that is stored."""
        data = bytearray()
        for key, section in self.sections.items():
            data += _SECTION.pack(key, section.seen, len(section.spots))
            for mark, (pages, size) in section.spots.items():
                data += _SPOT.pack(mark, pages, size)
        return packed(bytes(data), version=VERSION)

    @classmethod
    @lru_cache(maxsize=256)
    def read(cls, text: str | None) -> HostNoise:
        """Return what `text` has written; of none, or of that of another version of blocks, nothing is known."""
        sections: dict[int, SectionNoise] = {}
        version, data = (VERSION, b"") if text is None else unpacked(text)
        at = 0
        while version == VERSION and at < len(data):
            key, seen, count = _SECTION.unpack_from(data, at)
            at += _SECTION.size
            spots = _SPOT.iter_unpack(data[at : at + count * _SPOT.size])
            sections[key] = SectionNoise(seen, {mark: (pages, size) for mark, pages, size in spots})
            at += count * _SPOT.size
        return cls(sections)


def _key_of(url: str) -> int:
    path, _, query = url.partition("?")
    *folders, last = path.split("/")
    opened = ["#" if NUMBER.fullmatch(step) else step for step in folders]
    names = sorted({each.partition("=")[0] for each in query.split("&")})
    text = "/".join([*opened, last if query else ending_of(last), *names])
    return crc32(text.encode("utf-8", "surrogatepass")) & 0xFFFF
