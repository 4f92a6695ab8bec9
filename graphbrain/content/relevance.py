"""The relevance of a text to a topic: a simple measure for crawlers without one of their own.

A topic is given by words, or by pages about it. The relevance is the cosine of two vectors of words, without stop words
and with logarithmic counts: Salton, Wong, Yang, "A vector space model for automatic indexing", CACM 1975. It needs
scikit-learn: `pip install 'graphbrain-crawler[relevance]'`. Any function of a text that returns 0 to 1 can replace it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.runtime import installs

__all__ = ["TopicRelevance", "guess"]

WORDS_HALF, PAGES_HALF = 0.1, 0.2
"""Cosines that count as ½, for a topic of words and for one of pages. A page is rarely close to a few words. It is
closer to any page of its language."""
INHERITED = 0.5
"""The share of its page's relevance that a link passes on."""


class TopicRelevance:
    """A topic. A call with a text returns its relevance, from 0 (no common word) to below 1. Thread-safe.

    The relevance is c / (c + half), where c is the cosine of text and topic. A text with the cosine `half` has the
    relevance ½, as an unknown text has.

    Raises:
        BadInput: The topic has no words, or `half` is not between 0 and 1.
        SettingsError: scikit-learn is not installed.
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
        """Return the topic of these words, all with the same weight; 'owl' and 'owls' are two words."""
        if isinstance(words, str):
            words = words.split()
        return cls([" ".join(words)], half)

    @classmethod
    def from_pages(cls, texts: Iterable[str], half: float = PAGES_HALF) -> TopicRelevance:
        """Return the common topic of these pages (their visible texts), each with the same weight."""
        return cls([texts] if isinstance(texts, str) else list(texts), half)

    def __call__(self, text: str) -> float:
        """Return the relevance of `text`, from 0 to below 1."""
        cosine = float((self._unit([text]) @ self._topic)[0])
        return cosine / (cosine + self._half)

    def _unit(self, texts: Sequence[str]) -> Any:
        """Return one row of unit length for each text, and a row of zeros for a text without words."""
        rows = self._words.transform(texts)
        rows.data = 1.0 + np.log(rows.data)
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1, 1))
        return rows.multiply(1.0 / np.maximum(lengths, 1.0)).tocsr()

    @cached_property
    def _words(self) -> Any:
        """Return the counter of words in 2²⁰ places by their hash. It learns nothing, so it accepts any text."""
        try:
            from sklearn.feature_extraction.text import HashingVectorizer
        except ImportError:
            how = installs.command("relevance", "scikit-learn")
            raise SettingsError(
                f"Text relevance needs scikit-learn, which is not installed: {how}, or bring a function of your own."
            ) from None
        return HashingVectorizer(stop_words="english", strip_accents="unicode", norm=None, alternate_sign=False)


def guess(page: float | None, anchor: float | None) -> float | None:
    """Return the guessed relevance of a link's target: half from the link's text, half from its page.

    After Hersovici et al., "The shark-search algorithm", WWW 1998: pages of a topic link to each other.

    Args:
        page: The relevance of the page, 0 to 1; None: unknown, and so is the result.
        anchor: The relevance of the link's text; None: unknown, and the page alone decides.
    """
    if page is None:
        return None
    return INHERITED * page if anchor is None else (anchor + INHERITED * page) / 2
