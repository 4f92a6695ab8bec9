"""A bounded sketch of a page's text, which shows how much of it was met before on its host.

A shingle is `WIDTH` words in a row within one block of the text, or a whole block that is shorter; numbers and dates
are one word (`blocks.masked`). Of the hashes of the distinct shingles the `MOST` smallest are kept, and how many there
are: a uniform sample of them, and the same shingles are in the samples of all pages that have them (Broder, "On the
resemblance and containment of documents", SEQUENCES 1997; Beyer et al., "On synopses for distinct-value estimation",
SIGMOD 2007).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from graphbrain.errors import BadInput
from graphbrain.schedule import blocks

__all__ = ["LONGEST", "MOST", "Sketch", "read", "sketch"]

Keys = npt.NDArray[np.uint32]

WIDTH = 3
MOST = 256
MOST_SHINGLES = 100_000
_COUNT = np.dtype("<u4")
LONGEST = 4 * -(-(MOST + 1) * _COUNT.itemsize // 3)
"""Characters of what is kept."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_AGAIN = np.uint64(0xBF58476D1CE4E5B9)


@dataclass(frozen=True, slots=True)
class Sketch:
    """`keys`: the smallest hashes of a page's shingles, ascending; `count`: how many distinct shingles it has."""

    keys: Keys
    count: int

    def text(self) -> str:
        """Return the stored form, of at most `LONGEST` characters."""
        head = np.array([self.count], dtype=_COUNT)
        return base64.b64encode(head.tobytes() + self.keys.astype(_COUNT).tobytes()).decode()


def sketch(pieces: Sequence[blocks.Piece]) -> Sketch | None:
    """The sketch of a page's blocks; None when it has no words."""
    hashes = _hashed(piece.words for piece in pieces)
    if not len(hashes):
        return None
    distinct = np.unique(hashes)
    return Sketch(distinct[:MOST].astype(np.uint32), len(distinct))


def read(text: str) -> Sketch:
    """Return the sketch that `Sketch.text` has written. Raise BadInput when it has not."""
    try:
        numbers = np.frombuffer(base64.b64decode(text, validate=True), dtype=_COUNT)
    except ValueError as error:
        raise BadInput(f"shingles must be what graphbrain makes of a body: {error}") from None
    keys = numbers[1:]
    fits = 2 <= len(numbers) <= MOST + 1 and len(keys) == min(int(numbers[0]), MOST)
    if not fits or (keys[1:] <= keys[:-1]).any():
        raise BadInput("shingles must be what graphbrain makes of a body")
    return Sketch(keys.astype(np.uint32), int(numbers[0]))


class _Numbers(dict[str, int]):
    """The number of each word: worked out once."""

    def __missing__(self, word: str) -> int:
        number = self[word] = crc32(word.encode("utf-8", "surrogatepass"))
        return number


def _hashed(texts: Iterable[Sequence[str]]) -> Keys:
    """Return the hashes of all shingles, not yet distinct: each of 32 bits."""
    words: list[int] = []
    lengths: list[int] = []
    number_of = _Numbers().__getitem__
    for text in texts:
        words.extend(map(number_of, text))
        lengths.append(len(text))
        if len(words) >= MOST_SHINGLES:
            break
    if not words:
        return np.empty(0, dtype=np.uint32)
    numbers = np.array(words, dtype=np.uint64)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    # Each shingle begins at a word that has WIDTH - 1 words behind it in its block; or at the block's first word.
    places = np.arange(len(numbers))
    end_of = np.repeat(ends, lengths)
    starts = places[(places + WIDTH <= end_of) | (places == np.repeat(begins, lengths))]
    mixed = np.zeros(len(starts), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for step in range(WIDTH):
            at = starts + step
            inside = at < end_of[starts]
            word = (numbers[np.minimum(at, len(numbers) - 1)] + np.uint64(1)) * inside
            mixed = np.bitwise_xor(mixed, word) * _MIX
            mixed ^= mixed >> np.uint64(29)
        mixed = mixed * _MIX_AGAIN
        mixed ^= mixed >> np.uint64(32)
    return (mixed & np.uint64(0xFFFFFFFF)).astype(np.uint32)
