"""What a judge finds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["JUDGES", "WorldFinding"]

JUDGES = ("progress", "polite", "once", "honest", "audit")


@dataclass(frozen=True, slots=True)
class WorldFinding:
    """A promise that was broken: which, when (true seconds of the world), and how."""

    judge: str
    at: float
    text: str

    def __str__(self) -> str:
        return f"{self.judge} at {self.at:.1f} s: {self.text}"
