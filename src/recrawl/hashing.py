"""The two hash functions of the project: FNV-1a for strings, splitmix64's finaliser for numbers.

`scramble` and `fnv1a_step` are written so that one source serves numpy's arrays and, as `kernel(scramble)`, compiled
loops; importing this module does not load the compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

# splitmix64 (Steele, Lea, Flood 2014): the state grows by GOLDEN, 2**64 / the golden ratio, and is then scrambled
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)

# FNV-1a, 64 bits (Fowler, Noll, Vo): h = (h xor byte) * FNV_PRIME for every byte, from FNV_START on
FNV_START = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)


def scramble(z: Any) -> Any:
    """Scramble 64 unsigned bits by splitmix64's finaliser, a bijection: one number in kernels, an array in numpy."""
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


def scramble_int(key: int) -> int:
    """Scramble a Python int, as `scramble` does one of 64 bits."""
    key = (key ^ (key >> 30)) * int(_FIRST) % 2**64
    key = (key ^ (key >> 27)) * int(_SECOND) % 2**64
    return key ^ (key >> 31)


def mix(keys: npt.NDArray[Any], seed: int) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit keys, differently for each seed.

    Because it is a bijection for each seed, distinct keys never collide.
    """
    with np.errstate(over="ignore"):
        return np.asarray(scramble(keys.astype(np.uint64) + GOLDEN * np.uint64(seed % 2**63 * 2 + 1)), dtype=np.uint64)


def fnv1a_step(value: np.uint64, byte: Any) -> np.uint64:
    """Take one more byte into an FNV-1a hash (for kernels)."""
    return (value ^ np.uint64(byte)) * FNV_PRIME


def fnv1a(text: str) -> np.uint64:
    """Return the FNV-1a hash of a string's UTF-8 bytes."""
    value = int(FNV_START)
    for byte in text.encode():
        value = (value ^ byte) * int(FNV_PRIME) % 2**64
    return np.uint64(value)
