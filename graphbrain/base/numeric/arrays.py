"""The types of arrays with values of pages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Ints", "Numbers"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
"""Indices of pages in memory. There are fewer than 2^31 pages."""
