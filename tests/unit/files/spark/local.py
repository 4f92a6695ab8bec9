"""An engine in one process, and a web in memory cut into blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.files.spark.blocks import BITS, Block, Links, place_of
from graphbrain.files.spark.engine import apply
from graphbrain.files.spark.steps import Broadcast, State, Step


def cut(
    offsets: Ints, targets: Ints, count: int, terms: Mapping[str, Floats] | None = None, weights: Floats | None = None
) -> list[Block]:
    """A web of rows as so many blocks of ranges of pages, some of which may be empty."""
    pages = len(offsets) - 1
    edges = np.linspace(0, pages, count + 1).astype(np.int64)
    numbers = np.concatenate(
        [np.empty(0, np.int64), *(b * (1 << BITS) + np.arange(edges[b + 1] - edges[b]) for b in range(count))]
    )
    sources = np.repeat(np.arange(pages), np.diff(offsets))
    links, distinct = [], []
    for b in range(count):
        mine = (sources >= edges[b]) & (sources < edges[b + 1])
        weighed = None if weights is None else weights[mine]
        own, ends = Links.of(numbers[sources[mine]], numbers[targets[mine]], weighed)
        links.append(own)
        distinct.append(ends)
    linked: list[dict[int, np.ndarray]] = [{} for _ in range(count)]
    for b, own in enumerate(links):
        for other, columns in own.by_block():
            linked[other][b] = place_of(distinct[b][columns]).astype(np.int32)
    return [
        Block(
            b,
            int(edges[b + 1] - edges[b]),
            links[b],
            linked[b],
            {name: column[edges[b] : edges[b + 1]] for name, column in (terms or {}).items()},
        )
        for b in range(count)
    ]


class Local:
    """An engine in one process."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.states: list[State] = [{} for _ in blocks]
        self._boxes: list[dict[int, Floats]] = [{} for _ in blocks]
        self._way: str | None = None

    def run(self, step: Step, known: Broadcast) -> Mapping[str, float]:
        """Run a step as `Engine.run`."""
        sums: Counter[str] = Counter()
        boxes: list[dict[int, Floats]] = [{} for _ in self.blocks]
        way = None
        for number, block in enumerate(self.blocks):
            result = apply(block, self.states[number], self._way, self._boxes[number], step, known)
            self.states[number] = result.state
            for name, value in result.sums.items():
                sums[name] += value  # type: ignore[assignment]
            if result.send is not None:
                way = result.send[0]
                for other, numbers in block.send(*result.send):
                    boxes[other][number] = numbers
        self._boxes, self._way = boxes, way
        return sums

    def column(self, name: str) -> Floats:
        """Return a column of the states of all pages, block by block."""
        return np.concatenate([np.empty(0), *(state[name] for state in self.states)])
