"""A queue in which owners take turns, so that an owner of many items does not delay the others."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Turns"]

T = TypeVar("T")


class Turns(Generic[T]):
    """A queue of items with owners. The owners take turns, and the oldest item of an owner comes first."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Hashable, deque[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def of(self, owner: Hashable) -> int:
        """Return the number of items of an owner in the queue."""
        return len(self._waiting.get(owner, ()))

    def put(self, owner: Hashable, thing: T) -> None:
        """Add an item after those of the same owner. A new owner comes after all others."""
        self._waiting.setdefault(owner, deque()).append(thing)
        self._count += 1

    def peek(self) -> T:
        """Return the next item.

        Raises:
            IndexError: No item waits.
        """
        if not self._waiting:
            raise IndexError("nothing waits")
        return next(iter(self._waiting.values()))[0]

    def take(self) -> T:
        """Remove the next item and return it.

        Raises:
            IndexError: None waits.
        """
        if not self._waiting:
            raise IndexError("nothing waits")
        owner, things = self._waiting.popitem(last=False)
        if len(things) > 1:
            self._waiting[owner] = things
        self._count -= 1
        return things.popleft()
