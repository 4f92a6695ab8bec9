"""A queue in which owners take turns: whoever brings much waits behind his own, and not before others."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Turns"]

T = TypeVar("T")


class Turns(Generic[T]):
    """Things that wait, each its owner's: handed out one owner after another, and of each owner the oldest first."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Hashable, deque[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def of(self, owner: Hashable) -> int:
        """How many of this owner wait."""
        return len(self._waiting.get(owner, ()))

    def put(self, owner: Hashable, thing: T) -> None:
        """Add a thing behind those of the same owner; a new owner comes behind all others."""
        self._waiting.setdefault(owner, deque()).append(thing)
        self._count += 1

    def peek(self) -> T:
        """The thing whose turn it is. Raises IndexError where none waits."""
        if not self._waiting:
            raise IndexError("nothing waits")
        return next(iter(self._waiting.values()))[0]

    def take(self) -> T:
        """The same, taken out. Raises IndexError where none waits."""
        if not self._waiting:
            raise IndexError("nothing waits")
        owner, things = self._waiting.popitem(last=False)
        if len(things) > 1:
            self._waiting[owner] = things
        self._count -= 1
        return things.popleft()
