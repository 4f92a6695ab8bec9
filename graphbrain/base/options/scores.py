"""The options of a ranking together: their ranges, and which of them each method has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from graphbrain.base.errors import BadInput
from graphbrain.base.model import number
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.numeric.methods import DAMPING, ITERATIONS, METHODS, TOLERANCE, checked_method

__all__ = [
    "BY_METHOD",
    "RANGES",
    "SHARE",
    "RankDue",
    "RankOptions",
    "RankRun",
    "checked",
    "checked_every",
]

LONGEST_EVERY = 31_536_000.0
SHARE = Bounds(0, 1, above=True, below=True)
RANGES: Mapping[str, Bounds] = {
    "damping": Bounds(0, 1, below=True),
    "tolerance": SHARE,
    "iterations": Bounds(1),
    "top": Bounds(0, 1_000_000),
}
"""The range of each option of a ranking that is a number."""
_WHOLE = ("iterations", "top")
_DAMPED = ("pagerank", "personalised", "trustrank")


@dataclass(frozen=True, slots=True)
class RankOptions:
    """The options of a ranking, on one machine or on a cluster: those of `Brain.rank`.

    None where nothing was given, or, once they are checked, where the method has no such option.
    """

    method: str = ""
    damping: float | None = None
    tolerance: float | None = None
    iterations: int | None = None
    only_external: bool = False
    content: bool = False
    trusted: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class RankRun(RankOptions):
    """The options of a ranking, with those of one run."""

    top: int = 10
    write: bool = True
    warm: bool = False


@dataclass(frozen=True, slots=True)
class RankDue:
    """The options of a ranking that workers make when its scores are `every` seconds old; it takes the others from the
    last one."""

    method: str = ""
    every: float = 3_600.0


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
        name
        for name in (field.name for field in fields(RankOptions))
        if name != "method" and (name not in _FOR or method in _FOR[name][0])
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
    for field in fields(options):
        name, value = field.name, getattr(options, field.name)
        if name in _FOR and method not in _FOR[name][0] and value is not None and value is not False:
            raise BadInput(f"{name} {_FOR[name][1]}.")
        if name in RANGES and (value is not None or field.default is not None) and not _fits(name, value):
            raise BadInput(f"{name} must be {RANGES[name]}.")
    if options.trusted is not None and not options.trusted:
        raise BadInput("trusted must name a page.")
    return replace(
        options,
        damping=_filled(options.damping, DAMPING) if "damping" in has else None,
        tolerance=_filled(options.tolerance, TOLERANCE) if "tolerance" in has else None,
        iterations=(options.iterations or ITERATIONS) if "iterations" in has else None,
    )


def _fits(name: str, value: object) -> bool:
    return number(value) and (name not in _WHOLE or isinstance(value, int)) and RANGES[name].hold(value)


def _filled(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def checked_every(schedule: RankDue) -> RankDue:
    """Return the options of a ranking that is due.

    Raises:
        BadInput: There is no such method, or `every` is out of range.
    """
    checked_method(schedule.method)
    if not (number(schedule.every) and 1 <= schedule.every <= LONGEST_EVERY):
        raise BadInput(f"every must be from 1 second to {LONGEST_EVERY:.0f}, not {schedule.every!r:.80}.")
    return schedule
