"""The interface of an engine, which runs a step on all blocks, moves their messages, and returns the sums.

`cluster` has the engine on Spark. The tests have an engine in one process. Both call `apply`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from graphbrain.base.numeric.arrays import Floats
from graphbrain.files.spark.blocks import Block
from graphbrain.files.spark.steps import Broadcast, Result, State, Step

__all__ = ["Engine", "apply"]


class Engine(Protocol):
    """An engine runs one step after another on all blocks of a web."""

    def run(self, step: Step, broadcast: Broadcast) -> Mapping[str, float]:
        """Run a step on all blocks, and return the sums over all pages.

        Args:
            step: A function of `steps`.
            broadcast: The numbers that the driver knows.
        """


def apply(
    block: Block, state: State, way: str | None, messages: Mapping[int, Floats], step: Step, broadcast: Broadcast
) -> Result:
    """Return the result of a step on one block. `messages` have arrived from other blocks, all on the same `way`."""
    arrived = np.zeros(block.pages) if way is None else block.receive(way, messages)
    return step(block, state, arrived, broadcast)
