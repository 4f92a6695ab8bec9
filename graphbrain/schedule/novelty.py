"""The novelty of a page's folder to the page that brought it: a score of new pages, in no paper that we know of.

A page that names fifty new pages of one folder mostly names fifty pages of one kind. Scores that count links rank these
pages alike. A crawl that fetches them one after another stays in their part of the web, and learns little after the
first few. So the first of them has a novelty of 1, and the k-th has a novelty of 1/k (`lanes.blended`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphbrain.base.numeric.arrays import Ints, Numbers
from graphbrain.base.urls.normalization import folder

__all__ = ["numbered", "siblings_before"]


def numbered(urls: Iterable[str]) -> Ints:
    """Return a number for the folder of each URL. URLs of one folder have one number."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(folder(url), len(numbers)) for url in urls], dtype=np.int64)


def siblings_before(finders: Ints | Numbers, folders: Ints) -> Ints:
    """Return, for new pages in the order of their discovery, how many earlier ones have the same finder and folder.
    The finder is the page that named them first."""
    groups = finders.astype(np.int64) * (int(folders.max(initial=0)) + 1) + folders
    order = np.argsort(groups, kind="stable")
    places = np.arange(len(groups))
    begins = np.diff(groups[order], prepend=-1) != 0
    before = np.empty(len(groups), dtype=np.int64)
    before[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return before
