"""The bounds of numbers that a user gives as a setting or as an option of a verb."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

__all__ = ["LARGEST", "Bounds"]

LARGEST = 2**53
"""The bound of whole numbers: a float represents each number below it exactly, and the database can store it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a number.

    Attributes:
        least: The lower bound.
        most: The upper bound.
        above: True if the lower bound itself is excluded.
        below: True if the upper bound itself is excluded.
    """

    least: float
    most: float = inf
    above: bool = False
    below: bool = False

    def hold(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        return (self.least < value if self.above else self.least <= value) and (
            value < self.most if self.below else value <= self.most
        )

    def __str__(self) -> str:
        """Return the bounds in words, as in 'from 0 to 1'."""
        low, high = _end(self.least), _end(self.most)
        if self.most == inf:
            return f"{low} or more"
        if self.most == LARGEST:
            return f"{low} or more" if self.least == 0 else f"at least {low}"
        if self.above and self.below:
            return f"between {low} and {high}"
        if self.above:
            return f"above {low}, at most {high}"
        return f"from {low} to {'below ' if self.below else ''}{high}"


def _end(end: float) -> str:
    return "any" if end == inf else f"{end:.0f}" if end == int(end) else f"{end}".lstrip("0")
