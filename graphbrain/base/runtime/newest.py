"""A dict that forgets: of more entries than it may have, the oldest go."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["Newest"]

K = TypeVar("K")
V = TypeVar("V")


class Newest(dict[K, V]):
    """A dict of the `most` entries that were set last, for what is found again where it is missing."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
