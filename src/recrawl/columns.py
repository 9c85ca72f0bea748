"""The shared array types, and the one tie-break of the whole project.

Pages are dense integer ids; everything known per page is a numpy column, so a policy scores a million
pages with one call. Time is float days (UTC).
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

PageIds = npt.NDArray[np.int64]
IntArray = npt.NDArray[np.integer[Any]]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
TieArray = npt.NDArray[np.uint64]
Scalar = TypeVar("Scalar", bound=np.generic)


def mix(keys: npt.NDArray[Any], seed: int) -> TieArray:
    """Scramble 64-bit keys: the splitmix64 finaliser (Steele, Lea, Flood 2014), a bijection for each seed.

    Because it is a bijection, distinct keys never collide.
    """
    with np.errstate(over="ignore"):
        z = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(seed % 2**63 * 2 + 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def tie_order(keys: npt.NDArray[Any], seed: int) -> TieArray:
    """Return the tie-break of every page: among equal scores the page with the smaller value comes first.

    Many pages share the same state, so ties decide much. The order is drawn from the page's own key, not from
    its position, so results do not depend on the order of the pages in a file; every policy uses the same one.
    """
    return mix(keys, seed)


def grown(column: npt.NDArray[Scalar], size: int, fill: float) -> npt.NDArray[Scalar]:
    """Return the column with room for at least `size` rows; new rows hold `fill`."""
    if len(column) >= size:
        return column
    longer = np.full((max(size, 2 * len(column)), *column.shape[1:]), fill, dtype=column.dtype)
    longer[: len(column)] = column
    return longer


def uniform(keys: npt.NDArray[Any], seed: int) -> FloatArray:
    """Return one reproducible draw from [0, 1) for every key."""
    return np.asarray((mix(keys, seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
