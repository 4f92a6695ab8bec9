"""The options of the verb that asks for checks of links: check_links."""

from __future__ import annotations

from dataclasses import dataclass

from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.options.declare import declared

__all__ = ["LinkCheckOptions"]


@dataclass(frozen=True, slots=True)
class LinkCheckOptions:
    """The URLs outside the scope that `check_links` takes."""

    days: float = declared(7.0, "Leave out those checked within so many days", bounds=Bounds(0), example=7.0)
