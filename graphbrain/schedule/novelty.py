"""The novelty of a page's folder to the page that brought it: a score of new pages, in no paper that we know of.

A page that names fifty new pages of one folder mostly names fifty of a kind. Fetched one after another, as scores that
count links have it, they keep a crawl in their part of the web; and what they link to in common, as the home page of
their part, is known to matter after the first few. So the first has a novelty of 1, and the k-th
one of 1/k (`lanes.blended`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import count

import numpy as np

from graphbrain.base.numeric.arrays import Ints, Numbers
from graphbrain.base.urls.normalization import folder

__all__ = ["counting", "numbered", "siblings_before"]


def numbered(urls: Iterable[str]) -> Ints:
    """Return a number for the folder of each URL, the same where it is the same."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(folder(url), len(numbers)) for url in urls], dtype=np.int64)


def counting() -> Callable[[str], int]:
    """Return a counter for one finder. Called with the URL of each new page, in the order in which it is named, it
    returns how many of the same folder came before."""
    counters: defaultdict[str, Iterator[int]] = defaultdict(count)
    return lambda url: next(counters[folder(url)])


def siblings_before(finders: Ints | Numbers, folders: Ints) -> Ints:
    """Return, for new pages in the order of their discovery, how many before each have the same finder and folder."""
    groups = finders.astype(np.int64) * (int(folders.max(initial=0)) + 1) + folders
    order = np.argsort(groups, kind="stable")
    places = np.arange(len(groups))
    begins = np.diff(groups[order], prepend=-1) != 0
    before = np.empty(len(groups), dtype=np.int64)
    before[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return before
