"""The results of verbs that work on the whole brain: `audit`, `tend`, `settle`, `rank`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Audit", "Ranking", "Settled", "Tended"]


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of one `audit`.

    Attributes:
        ok: True if no fault was found.
        findings: The first 50 faults, each a sentence.
        figures: The figures of the audit.
    """

    ok: bool
    findings: tuple[str, ...]
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tended:
    """The result of one `tend`.

    Attributes:
        pushes: The number of pushes.
        payments: The number of payments.
        swept: The number of lapsed leases that were ended.
        released: The number of failed pages that wait again.
        seconds: The time spent.
        settled: True if no side is left whose push is worth more than `eps`; under the classic engine, if all cash was
            spent `passes` times since the graph last changed.
        error_bound: The largest possible error of the scores, if it was computed.
        near: True if the error bound is at most `settled_bound`.
    """

    pushes: int = 0
    payments: int = 0
    swept: int = 0
    released: int = 0
    seconds: float = 0.0
    settled: bool = False
    error_bound: float | None = None
    near: bool = True

    def __add__(self, other: Tended) -> Tended:
        return Tended(
            self.pushes + other.pushes,
            self.payments + other.payments,
            self.swept + other.swept,
            self.released + other.released,
            self.seconds + other.seconds,
            other.settled,
            other.error_bound,
            other.near,
        )


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of one settling pass. All values are 0 if it was not needed.

    Attributes:
        pages: The number of pages in the export.
        links: The number of links in the export.
        rounds: The number of rounds of the iteration.
        residual: The relative change of the last round.
        sides: The number of sides that were brought to their fixed point.
        payments: The number of payments for that.
        left: The number of pages that pushes must bring to their fixed point.
        seconds: The time spent.
    """

    pages: int = 0
    links: int = 0
    rounds: int = 0
    residual: float = 0.0
    sides: int = 0
    payments: int = 0
    left: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of one `rank`: its parameters, None for a parameter that the method lacks, and its figures.

    Attributes:
        residual: The change (L1) of the last iteration; the scores of all pages have sum 1.
        error: The largest possible distance (L1) of the scores from their limit; None if unknown.
        converged: True if the error is within the tolerance.
        restart: The restart distribution: relevance, seeds, or some pages.
        started: Epoch seconds of the export.
        finished: Epoch seconds of the last write.
        complete: True if all scores are written, and the pages carry them.
        eigenvalue: For HITS, the largest eigenvalue of LᵀL.
        best: Property → the URLs and scores of the best pages by it.
    """

    method: str
    damping: float | None
    tolerance: float | None
    only_external: bool
    content: bool
    restart: str | None
    pages: int
    links: int
    iterations: int
    residual: float
    error: float | None
    converged: bool
    started: float
    finished: float | None = None
    complete: bool = False
    seconds: float = 0.0
    best: Mapping[str, tuple[tuple[str, float], ...]] = dataclasses.field(default_factory=dict)
    eigenvalue: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)
