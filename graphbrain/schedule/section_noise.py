"""The noise of a section's template: where its pages differed from their first visit to their second.

At its second visit nothing is known yet of a page's places. But the pages of a section have one template. A place of
the template that differs on nearly all pages holds noise: an advertisement, a counter, related links. The block before
or behind such a place identifies it on other pages. A host stores for each place on how many pages it differed, and for
each section how many pages were compared. Both numbers are observations of the probability that the place differs
though the page has not changed. Each page counts once, so a page that changes often weighs no more than another. A page
that was visited more often is judged by its own places, so a change of all pages at once is a change there.

A section is here what addresses show without learning: the folders of a path without their numbers, the ending, and the
names of arguments. The stored text of a host is bounded (`LARGEST`), and only reports on its own pages write it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp, lgamma
from zlib import crc32

from graphbrain.schedule.blocks import VERSION, Difference, VisitStep
from graphbrain.schedule.sections.shapes import NUMBER, ending_of
from graphbrain.schedule.words import packed, unpacked

__all__ = ["FEW_VISITS", "LARGEST", "HostNoise", "probability_of"]

FEW_VISITS = 3
"""Up to this number of visits, a page is compared with other pages of its section. A page with more visits is judged by
its own places."""
MOST_SECTIONS, MOST_SPOTS = 6, 40
"""The most sections of a host, and places of a section, that are stored: the latest sections, and the places that
differed on most pages."""
NOISE = (1.0, 1.0)
"""The Beta prior of how often a place of noise differs from one visit of its page to the next."""
MORE = 1.3
"""A difference counts as the place's noise up to this multiple of the place's mean size. A larger one may hold a
change, too."""
MOST_SEEN = 255
"""The most compared pages of a section; beyond it, all counts of the section are halved."""
_SECTION, _SPOT = struct.Struct("<HBB"), struct.Struct("<HBB")
LARGEST = len(packed(bytes(MOST_SECTIONS * (_SECTION.size + MOST_SPOTS * _SPOT.size))))
"""The most characters of the stored text."""


@dataclass(frozen=True, slots=True)
class SectionNoise:
    """The noise of one section.

    Attributes:
        seen: The number of compared pages.
        spots: The mark of a place → on how many pages it differed, and its mean number of blocks. The places that
            differed on most pages come first.
    """

    seen: int = 0
    spots: dict[int, tuple[int, int]] = field(default_factory=dict)

    def probability(self, difference: Difference) -> float:
        """Return the probability that a difference of a page with few visits is a change."""
        if difference.content is None:
            return difference.probability
        spots = [self.spots[mark] for mark in difference.marks if mark in self.spots]
        pages = max((pages for pages, size in spots if difference.size <= size * MORE), default=0)
        factor = max(1.0, _evidence(difference.content, min(pages, self.seen), self.seen)) if pages else 1.0
        return difference.probability / (difference.probability + factor * (1 - difference.probability))

    def after(self, differences: Sequence[Difference]) -> SectionNoise:
        """Return the noise of the section after another page was compared."""
        spots = dict(self.spots)
        # The size of each place that differs for the first time on this page.
        size_of: dict[int, int] = {}
        for difference in differences:
            for mark in difference.marks if difference.content is not None else ():
                size_of[mark] = min(max(size_of.get(mark, 0), difference.size), 255)
        for mark, size in size_of.items():
            pages, mean = spots.get(mark, (0, 0))
            spots[mark] = pages + 1, round((pages * mean + size) / (pages + 1))
        # Places that differed on most pages are stored; of equals, those of this page.
        noisiest = sorted(spots.items(), key=lambda spot: (-spot[1][0], spot[0] not in size_of))[:MOST_SPOTS]
        divisor = 2 if self.seen + 1 > MOST_SEEN else 1
        counts = {mark: (pages // divisor, size) for mark, (pages, size) in noisiest}
        return SectionNoise((self.seen + 1) // divisor, counts)


def _evidence(content: tuple[float, float], pages: int, seen: int) -> float:
    """Return the factor by which noise is more probable at a place that differed on `pages` of `seen` other pages.

    It is the ratio of the probabilities of these counts and of another difference, in a place of noise and in one of
    content, by the same ratio without other pages. How often a place differs is Beta distributed: noise by `NOISE`.
    """

    def logarithm(kind: tuple[float, float], pages: int, seen: int) -> float:
        differing, same = kind[0] + pages, kind[1] + seen - pages
        return lgamma(differing) + lgamma(same) - lgamma(differing + same)

    def ratio(pages: int, seen: int) -> float:
        return logarithm(NOISE, pages, seen) - logarithm(content, pages, seen)

    return exp(ratio(pages + 1, seen + 1) - ratio(1, 1))


NOTHING = SectionNoise()


def probability_of(step: VisitStep, section: SectionNoise | None) -> float | None:
    """Return the probability that a page has changed; None if its blocks cannot be compared. `section`: the noise of
    the page's section; None for a page with more than `FEW_VISITS` visits."""
    if section is None or not step.differences:
        return step.probability
    return max(map(section.probability, step.differences))


@dataclass(frozen=True)
class HostNoise:
    """The noise of a host's sections. `sections`: the key of a section → its noise; the latest section is the last."""

    sections: dict[int, SectionNoise] = field(default_factory=dict)

    def of(self, url: str) -> SectionNoise:
        """Return the noise of a page's section."""
        return self.sections.get(_key_of(url), NOTHING)

    def after(self, url: str, step: VisitStep) -> HostNoise:
        """Return the noise of the host after the second visit of a page. A visit that found an altogether different
        page shows no noise."""
        if step.probability is None or (step.probability > 0.0 and not step.differences):
            return self
        key = _key_of(url)
        others = {other: section for other, section in self.sections.items() if other != key}
        sections = list({**others, key: self.of(url).after(step.differences)}.items())
        return HostNoise(dict(sections[-MOST_SECTIONS:]))

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
        """Return the noise that the method `text` has written; none for no text, and for a text of another version of
        blocks."""
        sections: dict[int, SectionNoise] = {}
        version, data = (VERSION, b"") if text is None else unpacked(text)
        offset = 0
        while version == VERSION and offset < len(data):
            key, seen, count = _SECTION.unpack_from(data, offset)
            offset += _SECTION.size
            spots = _SPOT.iter_unpack(data[offset : offset + count * _SPOT.size])
            sections[key] = SectionNoise(seen, {mark: (pages, size) for mark, pages, size in spots})
            offset += count * _SPOT.size
        return cls(sections)


def _key_of(url: str) -> int:
    path, _, query = url.partition("?")
    *folders, last = path.split("/")
    plain_folders = ["#" if NUMBER.fullmatch(step) else step for step in folders]
    names = sorted({each.partition("=")[0] for each in query.split("&")})
    text = "/".join([*plain_folders, last if query else ending_of(last), *names])
    return crc32(text.encode("utf-8", "surrogatepass")) & 0xFFFF
