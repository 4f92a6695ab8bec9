"""A web in blocks of pages, and the messages between blocks, as pure functions of arrays.

Page numbers have 64 bits: the number of the block in the high bits, the place within the block in the low BITS. A block
has the links of its pages. For each other block it has the distinct targets there, in ascending order, and the
receiving block has the places of the same targets. So a message is an array of float64 without ids: one number for each
page that the sending block links to, however many links lead to the page.

The same rows serve both directions. Ahead, a block sums along its links and sends the sums to the targets. Back, a
block sends the values of its pages that the other block links to, and that block sums them by source. For labels of
communities the least value replaces the sum, over all pages that links within the block connect.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbrain.base.numeric import csr
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.csr import Places

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "AHEAD",
    "BACK",
    "BITS",
    "LEAST_AHEAD",
    "LEAST_BACK",
    "WAYS",
    "Block",
    "Links",
    "block_of",
    "pack",
    "place_of",
    "unpack",
]

BITS = 33
"""The number of bits of the place within a block. Spark's `monotonically_increasing_id` uses this number, too."""
AHEAD, BACK, LEAST_AHEAD, LEAST_BACK = WAYS = ("ahead", "back", "least_ahead", "least_back")
"""The ways of a message: sums along links or against them, or least values along or against them."""


def block_of(pages: Ints) -> Ints:
    """Return the block of each page number."""
    return pages >> BITS


def place_of(pages: Ints) -> Ints:
    """Return the place of each page number within its block."""
    return pages & ((1 << BITS) - 1)


def pack(arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """Return arrays with their names as bytes."""
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def unpack(data: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of `pack`."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one block's pages, by target. Each distinct target is a column, and those of one block are adjacent.

    Attributes:
        blocks: int64[m]; the blocks that are linked to, ascending.
        bounds: int64[m + 1]; the columns of block i are those from `bounds[i]` to `bounds[i + 1]`.
        offsets: int64[columns + 1]; the sources that link to column i are `sources[offsets[i] : offsets[i + 1]]`.
        sources: int32[links]; places within the block.
        weights: The weight of each link, or an empty array if all weigh 1.
    """

    blocks: Ints
    bounds: Ints
    offsets: Ints
    sources: Places
    weights: Floats

    @classmethod
    def of(cls, sources: Ints, targets: Ints, weights: Floats | None = None) -> tuple[Links, Ints]:
        """Return links, and the distinct targets, ascending. A link that occurs twice counts once.

        Args:
            sources: Page numbers of one block.
            targets: Any page numbers.
            weights: The weight of each link; None: all are 1.
        """
        # Sort the links by target, and drop repeated ones.
        order = np.lexsort((sources, targets))
        sources, targets = sources[order], targets[order]
        first = np.ones(len(targets), dtype=bool)
        first[1:] = (targets[1:] != targets[:-1]) | (sources[1:] != sources[:-1])
        sources, targets = sources[first], targets[first]
        # Find where columns and blocks begin.
        starts = np.flatnonzero(np.diff(targets, prepend=-1))
        distinct = targets[starts]
        blocks = block_of(distinct)
        bounds = np.flatnonzero(np.diff(blocks, prepend=-1))
        links = cls(
            blocks[bounds],
            np.append(bounds, len(distinct)).astype(np.int64),
            np.append(starts, len(targets)).astype(np.int64),
            place_of(sources).astype(np.int32),
            np.empty(0) if weights is None else weights[order][first],
        )
        return links, distinct

    @property
    def columns(self) -> int:
        """Return the number of distinct targets."""
        return len(self.offsets) - 1

    def by_block(self) -> Iterator[tuple[int, slice]]:
        """Yield each block that is linked to, and the range of its columns."""
        for number, start, end in zip(
            self.blocks.tolist(), self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True
        ):
            yield number, slice(start, end)


@dataclass(slots=True)
class Block:
    """The part of the web that one task computes.

    Attributes:
        number: The number of the block.
        pages: The number of its pages.
        links: The links of its pages.
        linked: Block (this one, too) → the places here that it links to, in the order of its messages.
        terms: Columns over the pages: relevance, payout, seed, restart.
    """

    number: int
    pages: int
    links: Links
    linked: Mapping[int, Places]
    terms: Mapping[str, Floats] = field(default_factory=dict)
    _matrix: Any = None
    _out: Any = None
    _connected: Any = None

    @property
    def out(self) -> Floats:
        """Return the weight of each page's links."""
        if self._out is None:
            weights = self.links.weights if len(self.links.weights) else None
            self._out = np.bincount(self.links.sources, weights, self.pages).astype(np.float64)
        out: Floats = self._out
        return out

    @property
    def matrix(self) -> csr_array:
        """Return the links as a sparse matrix: a row for each target, a column for each page of the block."""
        if self._matrix is None:
            from scipy.sparse import csr_array

            links = self.links
            weights = links.weights if len(links.weights) else np.ones(len(links.sources))
            shape = (links.columns, self.pages)
            self._matrix = csr_array((weights, links.sources, csr.narrow(links.offsets)), shape=shape)
        matrix: csr_array = self._matrix
        return matrix

    @property
    def connected(self) -> tuple[int, Ints, Ints]:
        """Return the number of communities of the block's pages and targets that its links connect, and the community
        of each page and of each target."""
        if self._connected is None:
            from scipy.sparse import csgraph, csr_array

            links, nodes = self.links, self.pages + self.links.columns
            # The first nodes are the pages, without rows. The others are the targets, whose rows name their sources.
            offsets = csr.narrow(np.concatenate([np.zeros(self.pages, dtype=np.int64), links.offsets]))
            both = csr_array((np.ones(len(links.sources)), links.sources, offsets), shape=(nodes, nodes))
            count, labels = csgraph.connected_components(both, directed=False) if nodes else (0, np.empty(0, np.int32))
            of = labels.astype(np.int64)
            self._connected = int(count), of[: self.pages], of[self.pages :]
        communities: tuple[int, Ints, Ints] = self._connected
        return communities

    def send(self, way: str, values: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield the messages of this block: the receiving block and its numbers.

        Args:
            way: One of WAYS.
            values: One number for each page of the block.
        """
        if way in (BACK, LEAST_BACK):
            for block, places in self.linked.items():
                yield block, values[places]
            return
        if way == AHEAD:
            sums = self.matrix @ values
        else:
            count, own, theirs = self.connected
            sums = _least(count, own, values)[theirs]
        for block, columns in self.links.by_block():
            yield block, sums[columns]

    def receive(self, way: str, messages: Mapping[int, Floats]) -> Floats:
        """Return the sums, or the least values, for each page of the block.

        Args:
            way: One of WAYS.
            messages: Sending block → its numbers.

        Raises:
            ValueError: A message is missing, or has another length.
        """
        # Numbers that are sent back are for the targets of the block.
        if way in (BACK, LEAST_BACK):
            parts = [messages[block] for block, _ in self.links.by_block()]
            values = np.concatenate([np.empty(0), *parts])
            if len(values) != self.links.columns:
                raise ValueError(f"block {self.number} has {len(values)} numbers for {self.links.columns} targets")
            if way == BACK:
                return np.asarray(self.matrix.T @ values)
            count, own, theirs = self.connected
            return _least(count, theirs, values)[own]
        # Numbers that are sent ahead are for its pages. The order of blocks is fixed, so that a repeated task gives the
        # same sums.
        if messages.keys() != self.linked.keys():
            raise ValueError(f"block {self.number} has {len(messages)} messages of {len(self.linked)}")
        sums = np.zeros(self.pages) if way == AHEAD else np.full(self.pages, np.inf)
        for block in sorted(messages):
            places, numbers = self.linked[block], messages[block]
            if way == AHEAD:
                sums[places] += numbers
            else:
                sums[places] = np.minimum(sums[places], numbers)
        return sums


def _least(count: int, groups: Ints, values: Floats) -> Floats:
    """Return the least value of each of `count` groups, infinite for a group without values."""
    least = np.full(count, np.inf)
    np.minimum.at(least, groups, values)
    return least
