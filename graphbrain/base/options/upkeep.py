"""The options of the verb that does the upkeep: tend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.options.declare import declared

__all__ = ["TendOptions"]


@dataclass(frozen=True, slots=True)
class TendOptions:
    """The options of `tend` that a client has, too; `Brain.tend` has those of its own transactions beside them."""

    seconds: float | None = declared(1.0, "End after so long", instead="until settled", bounds=Bounds(0), example=1.0)
    pages: Sequence[str] | None = declared(
        None, "Push these pages, by URL or key, in place of the most urgent", example=None
    )
