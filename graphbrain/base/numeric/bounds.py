"""The bounds of a number that a user gives: of a setting, or of an option of a verb."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

__all__ = ["LARGEST", "Bounds"]

LARGEST = 2**53
"""The bound of whole numbers: a float holds each number below it, and so does the database."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most value of a number. `above`, `below`: the ends themselves are excluded."""

    least: float
    most: float = inf
    above: bool = False
    below: bool = False

    def hold(self, value: float) -> bool:
        """Return whether a value is within them."""
        return (self.least < value if self.above else self.least <= value) and (
            value < self.most if self.below else value <= self.most
        )

    def __str__(self) -> str:
        """Return them in words, as in 'from 0 to 1'."""
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
