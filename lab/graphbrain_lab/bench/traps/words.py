"""Text of real words: the vocabulary of Python's language reference, drawn by its frequencies.

`pydoc_data.topics` is part of the standard library, so that every Python has the words. They differ a little between
versions of Python, and so do the sites. On one machine a seed always gives the same text. Two texts that are drawn
independently share few runs of five words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from random import Random

__all__ = ["SHINGLE", "foreign", "name", "sentences", "shingles", "slug", "words"]

SHINGLE = 5
"""Number of words of a shingle."""
FLAT = 0.8
"""Frequencies are raised to this power, because short texts have more different words than a reference manual."""
SLUG_RANKS = (60, 1800)
"""Names are made of words of these ranks, which are neither very frequent nor rare."""
SENTENCE = (7, 16)
_WORD = re.compile(r"\b[a-z]{2,14}\b")
_TOKEN = re.compile(r"\w+")
_VOWELS = "aeiou"


@lru_cache(1)
def _vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words by falling frequency, and the cumulated weights for drawing them."""
    from pydoc_data.topics import topics

    counts = Counter(word for text in topics.values() for word in _WORD.findall(text.lower()))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ranked), tuple(accumulate(count**FLAT for _, count in ranked))


def words(dice: Random, count: int) -> list[str]:
    known, weights = _vocabulary()
    return dice.choices(known, cum_weights=weights, k=count)


def sentences(dice: Random, count: int) -> str:
    """Return a text of `count` words in sentences."""
    drawn, parts = words(dice, count), list[str]()
    while drawn:
        length = dice.randint(*SENTENCE)
        sentence, drawn = drawn[:length], drawn[length:]
        parts.append(" ".join(sentence).capitalize() + ".")
    return " ".join(parts)


def name(dice: Random, count: int = 2) -> str:
    """Return a title of `count` words."""
    return " ".join(dice.sample(_vocabulary()[0][slice(*SLUG_RANKS)], count))


def slug(title: str) -> str:
    """Return a title in the form of a URL's step."""
    return "-".join(_TOKEN.findall(title.lower()))


def foreign(text: str, language: int) -> str:
    """Return the text in the invented language of this number: vowels are shifted, and words get other ends."""
    if not language:
        return text
    shift = {vowel: _VOWELS[(place + language) % len(_VOWELS)] for place, vowel in enumerate(_VOWELS)}
    table = str.maketrans({**shift, **{vowel.upper(): other.upper() for vowel, other in shift.items()}})
    end = ("en", "is", "ado", "emme")[(language - 1) % 4]
    return _TOKEN.sub(lambda word: word[0].translate(table) + (end if len(word[0]) > 3 else ""), text)


def shingles(texts: Sequence[str]) -> set[tuple[str, ...]]:
    """Return all runs of `SHINGLE` words of a text. A shorter text is a single run."""
    return set(_runs(_TOKEN.findall(" ".join(texts).lower())))


def _runs(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for begin in range(max(1, len(tokens) - SHINGLE + 1)):
        yield tuple(tokens[begin : begin + SHINGLE])
