"""A bounded sketch of a page's text, which shows how much of it was met before on its host.

A shingle is three words in a row within one block of the text, or a whole block that is shorter. All numbers and dates
count as the same word (`words.masked`). No shingle holds a word of the page's address. A row of numbers with the word
before it is a shingle by itself: so a table of numbers is a text, and a date in a sentence is one shingle. A sketch
keeps the `MOST` smallest hashes of the distinct shingles, and the number of distinct shingles. The smallest hashes are
a uniform sample, and pages that share shingles share them in their samples (Broder, "On the resemblance and
containment of documents", SEQUENCES 1997; Beyer et al., "On synopses for distinct-value estimation", SIGMOD 2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from graphbrain.base.errors import BadInput
from graphbrain.schedule import words
from graphbrain.schedule.words import Masked, Words, distinct, unpacked

__all__ = ["LONGEST", "MOST", "VERSION", "Sketch", "packed", "read", "sketch", "words_of"]

Keys = npt.NDArray[np.uint32]

VERSION = 3
"""The version of sketches, and of all that is made of them. Sketches of two versions are not compared."""
SHORTEST = 2
"""The least number of characters of a word of an address that the sketch leaves out."""
MOST = 256
MOST_SHINGLES = 100_000
_COUNT = np.dtype("<u4")


def packed(data: bytes) -> str:
    """Return the bytes of a sketch as the text that is stored or sent: see `words.packed`."""
    return words.packed(data, version=VERSION)


LONGEST = len(packed(bytes((MOST + 1) * _COUNT.itemsize)))
"""The most characters of a stored sketch."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """`keys`: the smallest hashes of a page's shingles, ascending; `count`: how many distinct shingles it has."""

    keys: Keys
    count: int

    def text(self) -> str:
        """Return the stored form, of at most `LONGEST` characters."""
        head = np.array([self.count], dtype=_COUNT)
        return packed(head.tobytes() + self.keys.astype(_COUNT).tobytes())


def words_of(url: str, text: Words) -> npt.NDArray[np.bool_]:
    """Return a flag for each word of a page: True if the path or the query of its address has the word."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return np.zeros(len(text.hashes), dtype=bool)
    named = Words.of(unquote(f"{parts.path} {parts.query}"))
    return np.isin(text.hashes, named.hashes[named.ends - named.starts >= SHORTEST])


def sketch(pieces: Masked) -> Sketch | None:
    """Return the sketch of a page's pieces; None when the page has no words but those of its address."""
    rows = pieces.rows[:MOST_SHINGLES][pieces.own[:MOST_SHINGLES]]
    keys = distinct((np.concatenate([rows, pieces.numbers[:MOST_SHINGLES]]) >> np.uint64(32)).astype(np.uint32))
    return Sketch(keys[:MOST], len(keys)) if len(keys) else None


def read(text: str) -> Sketch | None:
    """Return the sketch that `Sketch.text` has written; None for a sketch of another version. Raise BadInput for any
    other text."""
    try:
        version, data = unpacked(text)
        numbers = np.frombuffer(data, dtype=_COUNT)
    except ValueError as error:
        raise BadInput(f"shingles must be what graphbrain makes of a body: {error}") from None
    keys = numbers[1:]
    fits = 2 <= len(numbers) <= MOST + 1 and len(keys) == min(int(numbers[0]), MOST)
    if not fits or (keys[1:] <= keys[:-1]).any():
        raise BadInput("shingles must be what graphbrain makes of a body")
    return Sketch(keys.astype(np.uint32), int(numbers[0])) if version == VERSION else None
