"""A hook that keeps Neo4j's driver from importing pandas and pyarrow in graphbrain's own processes.

If they are installed, the driver imports them for `Result.to_df`, which graphbrain does not use. This takes half a
second of each start of `graphbrain`. A program that uses graphbrain as a library keeps the driver unchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

__all__ = ["lean_driver"]

HEAVY = frozenset({"pandas", "pyarrow"})
ASKING = "neo4j._optional_deps"
"""The module of the driver that tries to import them."""


class _NotForTheDriver:
    """A finder of modules that finds none. While the driver imports, it raises an error for the heavy modules."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  the protocol's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if name in HEAVY and (asking := sys.modules.get(ASKING)) and getattr(asking.__spec__, "_initializing", False):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def lean_driver() -> None:
    """Keep the driver from importing pandas and pyarrow in this process. Other modules can still import them."""
    if not any(isinstance(finder, _NotForTheDriver) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NotForTheDriver())
