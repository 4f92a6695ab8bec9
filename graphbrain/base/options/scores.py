"""The options of the verbs that compute scores of the whole graph: rank, settle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.numeric.methods import DAMPING, ITERATIONS, METHODS, SETTLED_TO, TOLERANCE, checked_method
from graphbrain.base.options.declare import declared, options_of

__all__ = [
    "BY_METHOD",
    "LONGEST_EVERY",
    "MOST_TOP",
    "RankDue",
    "RankOptions",
    "RankRun",
    "SettleOptions",
    "checked",
    "checked_every",
]

MOST_TOP = 1_000_000
LONGEST_EVERY = 31_536_000.0
_DAMPED = ("pagerank", "personalised", "trustrank")
_METHODS = tuple(METHODS)
_SHARE = Bounds(0, 1, above=True, below=True)


@dataclass(frozen=True, slots=True)
class RankOptions:
    """The options of a ranking, on one machine or on a cluster.

    None where nothing was given, or, once they are checked, where the method has no such option.
    """

    method: str = declared("", "The method", words=_METHODS, by_room=True, example="pagerank")
    damping: float | None = declared(
        None,
        "Share of readers who follow a link",
        instead=f"{DAMPING}".lstrip("0"),
        bounds=Bounds(0, 1, below=True),
        by_room=True,
        example=DAMPING,
    )
    tolerance: float | None = declared(
        None,
        "Acceptable error of all scores together",
        instead="1e-9",
        bounds=_SHARE,
        by_room=True,
        example=TOLERANCE,
    )
    iterations: int | None = declared(
        None, "Most iterations", instead=f"{ITERATIONS}", bounds=Bounds(1), by_room=True, example=100
    )
    only_external: bool = declared(False, "Leave out links inside a host", example=False)
    content: bool = declared(False, "Weigh authorities by their relevance (hits)", example=False)
    trusted: Sequence[str] | None = declared(
        None,
        "A trusted page, instead of the seeds",
        flag="trust",
        metavar="URL",
        by_room=True,
        example=None,
    )


@dataclass(frozen=True, slots=True)
class RankRun(RankOptions):
    """The options of `rank`, with those of one run."""

    top: int = declared(10, "Number of best pages in the answer", bounds=Bounds(0, MOST_TOP), by_room=True, example=10)
    write: bool = declared(True, "Write the scores to the pages", example=True)
    warm: bool = declared(False, "Begin with the scores that the pages have", example=False)


@dataclass(frozen=True, slots=True)
class RankDue:
    """The options of a ranking that workers make when it is due; it takes the others from the last one."""

    method: str = declared("", "The method", words=_METHODS, by_room=True, example="pagerank")
    every: float = declared(
        3_600.0,
        "Age of scores that are due, in seconds",
        bounds=Bounds(1, LONGEST_EVERY),
        by_room=True,
        example=3_600,
    )


@dataclass(frozen=True, slots=True)
class SettleOptions:
    """The options of `settle`, a settling pass."""

    tolerance: float | None = declared(
        None, "Relative error of the scores", instead="1e-7", bounds=_SHARE, example=1e-6
    )
    if_cheaper: bool = declared(False, "Do nothing where pushes are cheaper", example=False)

    @property
    def error(self) -> float:
        """The relative error that a pass leaves."""
        return SETTLED_TO if self.tolerance is None else self.tolerance


_FOR: Mapping[str, tuple[tuple[str, ...], str]] = {
    "damping": (_DAMPED, f"is for {', '.join(_DAMPED)}"),
    "tolerance": (tuple(method for method in METHODS if method != "salsa"), "is not for salsa, which is exact"),
    "iterations": (tuple(method for method in METHODS if method != "salsa"), "is not for salsa, which needs none"),
    "content": (("hits",), "is for hits; pagerank with it is personalised"),
    "trusted": (("trustrank",), "is for trustrank"),
}
"""Option → the methods that have it, and the error message for others. The other options are for all methods."""
BY_METHOD: Mapping[str, tuple[str, ...]] = {
    method: tuple(
        name for name in options_of(RankOptions) if name != "method" and (name not in _FOR or method in _FOR[name][0])
    )
    for method in METHODS
}
"""Method → the options of a ranking that it has."""

R = TypeVar("R", bound=RankOptions)


def checked(options: R) -> R:
    """Return the options with the defaults of their method.

    Raises:
        BadInput: There is no such method, it has no such option, or a value is out of range.
    """
    method, has = checked_method(options.method), BY_METHOD[options.method]
    named = (options.trusted,) if isinstance(options.trusted, str) else options.trusted
    options = replace(options, trusted=None if named is None else tuple(named))
    # Options that the method does not have, or that are out of bounds.
    for name, option in options_of(type(options)).items():
        value = getattr(options, name)
        if name in _FOR and method not in _FOR[name][0] and value is not None and value is not False:
            raise BadInput(f"{name} {_FOR[name][1]}.")
        if option.bounds is not None and not option.fits(value):
            raise BadInput(f"{name} must be {option.bounds}.")
    if options.trusted is not None and not options.trusted:
        raise BadInput("trusted must name a page.")
    return replace(
        options,
        damping=_filled(options.damping, DAMPING) if "damping" in has else None,
        tolerance=_filled(options.tolerance, TOLERANCE) if "tolerance" in has else None,
        iterations=(options.iterations or ITERATIONS) if "iterations" in has else None,
    )


def _filled(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def checked_every(schedule: RankDue) -> RankDue:
    """Return the options of a ranking that is due.

    Raises:
        BadInput: There is no such method, or `every` is out of range.
    """
    checked_method(schedule.method)
    option = options_of(RankDue)["every"]
    if not option.fits(schedule.every):
        raise BadInput(f"every must be from 1 second to {LONGEST_EVERY:.0f}, not {schedule.every!r:.80}.")
    return schedule
