"""Links by rows, as in sparse matrices (CSR): page i links to `targets[offsets[i] : offsets[i + 1]]`.

Pure functions of arrays.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Places", "Rows", "blocks", "narrow", "transposed"]

Places = NDArray[np.int32]

BLOCK = 1 << 20
"""The number of links in a block of rows. All blocks share one array of ones, which is small enough for the cache."""


class Rows:
    """A matrix of zeros and ones by rows: the ones of row i are in the columns `targets[offsets[i] : offsets[i + 1]]`.

    It needs no other memory than `offsets` and `targets`. A sparse matrix of scipy has a factor for each link, and to
    read the factors takes as long as all other work of a product. With several `threads` the blocks are computed
    concurrently, because scipy releases the interpreter's lock.

    Args:
        offsets: int64[rows + 1].
        targets: int32[ones]; the columns of the ones, row by row.
        threads: The number of threads of `sums`.
    """

    def __init__(self, offsets: Ints, targets: Places, threads: int = 1) -> None:
        self.offsets, self.targets, self.threads = offsets, targets, threads
        edges = blocks(offsets)
        ones = np.ones(max((int(offsets[end] - offsets[start]) for start, end in edges), default=0))
        self._blocks = [(start, end, self._block(start, end, ones)) for start, end in edges]

    def _block(self, start: int, end: int, ones: Floats) -> csr_array:
        from scipy.sparse import csr_array

        first, last = int(self.offsets[start]), int(self.offsets[end])
        block = csr_array((end - start, len(self.offsets) - 1))
        # Set the arrays after the construction: the constructor would copy them, as parts of larger arrays.
        block.indptr = (self.offsets[start : end + 1] - first).astype(np.int32)
        block.indices, block.data = self.targets[first:last], ones[: last - first]
        return block

    @property
    def counts(self) -> Floats:
        """Return the number of ones in each row."""
        return np.diff(self.offsets).astype(np.float64)

    def sums(self, values: Floats, out: Floats | None = None) -> Floats:
        """Return for each row the sum of `values` over the columns of its ones: the product with a vector.

        Args:
            values: float64[columns].
            out: The array for the result, which may not be `values`. None: a new array, which takes longer because of
                page faults.
        """
        result = np.empty(len(self.offsets) - 1) if out is None else out

        def part(block: tuple[int, int, csr_array]) -> None:
            start, end, rows = block
            result[start:end] = rows @ values

        if self.threads == 1 or len(self._blocks) == 1:
            for block in self._blocks:
                part(block)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(part, self._blocks))
        return result

    def turned(self) -> Rows:
        """Return the matrix with rows and columns exchanged."""
        return Rows(*transposed(self.offsets, self.targets), self.threads)


def blocks(offsets: Ints) -> list[tuple[int, int]]:
    """Return (first row, row after the last) of blocks of rows with about BLOCK ones each."""
    pages = len(offsets) - 1
    edges = []
    start = 0
    while start < pages:
        end = int(np.searchsorted(offsets, offsets[start] + BLOCK, side="right")) - 1
        end = min(max(end, start + 1), pages)
        edges.append((start, end))
        start = end
    return edges


def transposed(offsets: Ints, targets: Places) -> tuple[Ints, Places]:
    """Return the transposed matrix as (offsets, sources). The sources of a target are ascending."""
    from scipy.sparse import csr_array

    pages = len(offsets) - 1
    marks = np.ones(len(targets), dtype=np.int8)
    columns = csr_array((marks, targets, narrow(offsets)), shape=(pages, pages)).tocsc()
    return columns.indptr.astype(np.int64), columns.indices.astype(np.int32, copy=False)


def narrow(offsets: Ints) -> NDArray[np.signedinteger]:
    """Return the offsets in the type of the targets if they fit. Otherwise scipy would copy the targets to int64."""
    return offsets.astype(np.int32) if offsets[-1] <= np.iinfo(np.int32).max else offsets
