"""A dict with a limited number of entries."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["Newest"]

K = TypeVar("K")
V = TypeVar("V")


class Newest(dict[K, V]):
    """A dict that removes its oldest entry when it has more than `most`. Use it for data that can be found again."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
