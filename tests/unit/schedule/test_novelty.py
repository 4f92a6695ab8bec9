"""How new a folder is to the page that brings one of its pages."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphbrain.schedule import novelty


def test_folders_have_numbers() -> None:
    urls = [
        "http://a.org/",
        "http://a.org/b",
        "http://a.org/b/c?d=/e/f",
        "http://a.org/b/",
        "http://b.org/b",
        "http://a.org",
    ]
    assert novelty.numbered(urls).tolist() == [0, 0, 1, 1, 2, 3]
    assert novelty.numbered([]).tolist() == []


def test_siblings_are_counted_in_their_order() -> None:
    dice = np.random.default_rng(1)
    for size in (0, 1, 2, 300):
        finders, folders = dice.integers(0, 9, size), dice.integers(0, 7, size)
        met: Counter[tuple[int, int]] = Counter()
        wanted = []
        for both in zip(finders.tolist(), folders.tolist(), strict=True):
            wanted.append(met[both])
            met[both] += 1
        assert novelty.siblings_before(finders, folders).tolist() == wanted
