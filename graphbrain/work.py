"""What verbs return that work on the whole brain: `audit`, `tend`, `settle`, `rank`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Audit", "Ranking", "Settled", "Tended"]


@dataclass(frozen=True, slots=True)
class Audit:
    """`ok`, what was found wrong (sentences; the first 50), and the figures."""

    ok: bool
    findings: tuple[str, ...]
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tended:
    """What one `tend` did: sides pushed, payments made, lapsed leases swept, retries released, seconds spent.

    `settled` says that no side is left whose push is worth more than `eps`; under the classic engine, that all cash was
    spent `passes` times over since the graph last changed. `error_bound`: what the scores are off at most, where that
    was looked at; `near`: is it no more than `settled_bound` says?
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
    """What a settling pass did: pages and links it saw, rounds of its iteration and their last relative change, sides
    brought to their goal and payments made for it, pages left to pushes, seconds. All 0 when it was not needed."""

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
    """What one `rank` did: its parameters, None where the method has no such thing, and its figures.

    `residual`: the change of the last iteration; `error`: how far the scores are from their limit at most, None when
    that could not be told; both in sum over all pages, whose scores have sum 1. `converged`: the error is within the
    tolerance. `restart`: what a reader starts anew by (relevance, seeds, or some pages). `started`, `finished`:
    epoch seconds of the export and of the last write. `complete`: all of it is written, and is what the pages carry.
    `eigenvalue`: of HITS, the largest of LᵀL. `best`: for each score, by the name of its property, URL and score of the
    best pages.
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
