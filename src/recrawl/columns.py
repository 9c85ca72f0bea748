"""The shared array types, and the one tie-break of the whole project.

Pages are dense integer ids; everything known per page is a numpy column, so a policy scores a million
pages with one call. Time is float days (UTC).
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from recrawl.hashing import mix

PageIds = npt.NDArray[np.int64]
IntArray = npt.NDArray[np.integer[Any]]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
TieArray = npt.NDArray[np.uint64]
Scalar = TypeVar("Scalar", bound=np.generic)

LONG = 1 << 20  # rows of a column that grows by less than its length


def tie_order(keys: npt.NDArray[Any], seed: int) -> TieArray:
    """Return the tie-break of every page: among equal scores the page with the smaller value comes first.

    Many pages share the same state, so ties decide much. The order is drawn from the page's own key, not from
    its position, so results do not depend on the order of the pages in a file; every policy uses the same one.
    """
    return mix(keys, seed)


def grown(column: npt.NDArray[Scalar], size: int, fill: float) -> npt.NDArray[Scalar]:
    """Return the column with room for at least `size` rows; new rows hold `fill`.

    Short columns double. Long ones grow by an eighth: room that stays empty would cost more than copying does.
    """
    if len(column) >= size:
        return column
    spare = len(column) if len(column) < LONG else len(column) // 8
    longer = np.full((max(size, len(column) + spare), *column.shape[1:]), fill, dtype=column.dtype)
    longer[: len(column)] = column
    return longer


def longer(column: npt.NDArray[Any], size: int, fill: float) -> npt.NDArray[Any]:
    """Return the column with exactly `size` rows where it has fewer; new rows hold `fill`."""
    if len(column) >= size:
        return column
    new = np.full((size, *column.shape[1:]), fill, dtype=column.dtype)
    new[: len(column)] = column
    return new


def spans(first: IntArray, last: IntArray) -> PageIds:
    """Concatenate the ranges `first[i]` to `last[i]`."""
    counts = last - first
    before = np.cumsum(counts) - counts
    return np.repeat(first - before, counts) + np.arange(int(counts.sum()))


def uniform(keys: npt.NDArray[Any], seed: int) -> FloatArray:
    """Return one reproducible draw from [0, 1) for every key."""
    return np.asarray((mix(keys, seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
