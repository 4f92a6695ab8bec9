"""The finding of a judge, and the judges' names."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["JUDGES", "WorldFinding"]

JUDGES = ("progress", "polite", "once", "honest", "robots", "sitemaps", "audit")


@dataclass(frozen=True, slots=True)
class WorldFinding:
    """A promise that was broken: the judge, the true time in seconds of the world, and a sentence."""

    judge: str
    at: float
    text: str

    def __str__(self) -> str:
        return f"{self.judge} at {self.at:.1f} s: {self.text}"
