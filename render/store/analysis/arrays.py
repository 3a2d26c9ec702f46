"""Columns of an Arrow batch as numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# Rows per batch of short columns: memory does not grow with the store.
BATCH_ROWS = 1024
_POINTER = "pointer"


def array(column: pa.Array) -> NDArray[Any]:
    """Return a column as an array: booleans, integers or floats by its type; null is NaN in a column of numbers."""
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def flat(column: pa.Array) -> tuple[pa.Array, Ints]:
    """Return every item of a column of lists, and the row of each."""
    return column.flatten(), array(pc.list_parent_indices(column)).astype(np.int64)


def lengths(column: pa.Array) -> Ints:
    """Return the length of each list of a column; 0 for null."""
    return array(pc.list_value_length(column).fill_null(0)).astype(np.int64)


def pointers(items: pa.Array) -> NDArray[np.bool_]:
    """Return whether each stored object is a pointer, which texts do not refer to."""
    return array(pc.equal(items.field("name"), _POINTER).fill_null(False)).astype(bool)


def box_sides(items: pa.Array, seen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return width and height of the boxes of `seen` objects: (N, 2), pixels."""
    boxes = items.field("bbox").filter(pa.array(seen)).flatten()
    return array(boxes).astype(np.float64).reshape(-1, 4)[:, 2:]
