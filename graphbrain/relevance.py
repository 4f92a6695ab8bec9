"""How near a text is to a topic: a plain start, for crawlers that bring nothing of their own.

A topic is some words, or some pages that are about it. A text is as near to it as the angle between the two says, each
a vector of its words (stop words left out, a word that comes often counting by its logarithm): Salton, Wong, Yang, "A
vector space model for automatic indexing", CACM 1975. Needs scikit-learn: `pip install
'graphbrain-crawler[relevance]'`. Any function of a text that returns 0..1 can take its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from graphbrain import installs
from graphbrain.errors import BadInput, SettingsError

__all__ = ["TopicRelevance", "guess"]

WORDS_HALF, PAGES_HALF = 0.1, 0.2
"""Cosines that count as ½. A few words can hardly fill a page, but an example page is like others of its language."""
INHERITED = 0.5
"""How much of its page's relevance a link passes on."""


class TopicRelevance:
    """A topic; called with a text it returns how near that is, from 0 (shares no word) to below 1.

    The cosine c of text and topic counts c / (c + half), so `half` is the cosine of a text that is as near as one of
    which nothing is known (½). Thread-safe. Raises BadInput for a topic without words, SettingsError without
    scikit-learn.
    """

    def __init__(self, texts: Sequence[str], half: float) -> None:
        if not 0 < half < 1:
            raise BadInput(f"half must lie between 0 and 1, not {half!r}.")
        self._half = half
        topic = np.asarray(self._unit(texts or [""]).sum(axis=0)).ravel()
        length = float(np.linalg.norm(topic))
        if not length:
            raise BadInput("A topic needs at least one word of two letters or more that is not as common as 'the'.")
        self._topic = topic / length

    @classmethod
    def from_words(cls, words: Iterable[str], half: float = WORDS_HALF) -> TopicRelevance:
        """The topic that these words name, all of the same weight; 'owl' and 'owls' are two words."""
        if isinstance(words, str):
            words = words.split()
        return cls([" ".join(words)], half)

    @classmethod
    def from_pages(cls, texts: Iterable[str], half: float = PAGES_HALF) -> TopicRelevance:
        """The topic that these pages (their visible texts) have in common, each of the same weight."""
        return cls([texts] if isinstance(texts, str) else list(texts), half)

    def __call__(self, text: str) -> float:
        """How near `text` is to the topic."""
        cosine = float((self._unit([text]) @ self._topic)[0])
        return cosine / (cosine + self._half)

    def _unit(self, texts: Sequence[str]) -> Any:
        """One row of unit length for each text (of zeros for one without words)."""
        rows = self._words.transform(texts)
        rows.data = 1.0 + np.log(rows.data)
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1, 1))
        return rows.multiply(1.0 / np.maximum(lengths, 1.0)).tocsr()

    @cached_property
    def _words(self) -> Any:
        """Counts words in 2²⁰ places by their hash: it has nothing to learn, so any text can come."""
        try:
            from sklearn.feature_extraction.text import HashingVectorizer
        except ImportError:
            how = installs.command("relevance", "scikit-learn")
            raise SettingsError(
                f"Text relevance needs scikit-learn, which is not installed: {how}, or bring a function of your own."
            ) from None
        return HashingVectorizer(stop_words="english", strip_accents="unicode", norm=None, alternate_sign=False)


def guess(page: float | None, anchor: float | None) -> float | None:
    """The guess for a link's target: half what the link's text says, half what its page passes on; where nothing is
    known of the text (None) what the page passes on, and nothing where nothing is known of the page.

    After Hersovici et al., "The shark-search algorithm", WWW 1998: pages of a topic link to each other.
    """
    if page is None:
        return None
    return INHERITED * page if anchor is None else (anchor + INHERITED * page) / 2
