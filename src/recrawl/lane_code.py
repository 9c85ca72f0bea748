"""The code of vectors for hash functions in lanes: many messages side by side, a word of each in one vector.

Each step of a hash function needs the one before, so a message alone leaves most of a processor idle. numba has no
vectors, so the steps are written in LLVM's own language, which fits them to any processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import config
from numba.core.codegen import get_host_cpu_features

_INT, _LONG = ir.IntType(32), ir.IntType(64)


class LaneCode:
    """Writes code for vectors of `lanes` words of so many bits, into a kernel that is being compiled."""

    def __init__(self, code: Any, lanes: int, bits: int) -> None:
        self.code = code
        self.lanes = lanes
        self.bits = bits
        self._vector = ir.VectorType(ir.IntType(bits), lanes)

    def rows(self, array: Any, count: int) -> list[Any]:
        """Return the places of the rows of an array, a vector each."""
        first = self.code.bitcast(array, self._vector.as_pointer())
        return [self.code.gep(first, [_INT(k)]) for k in range(count)]

    def load(self, place: Any) -> Any:
        """Return the vector at a place."""
        return self.code.load(place, align=self.bits // 8)

    def store(self, vector: Any, place: Any) -> None:
        """Write a vector to a place."""
        self.code.store(vector, place, align=self.bits // 8)

    def all(self, number: int) -> Any:
        """Return a number for every lane."""
        return ir.Constant(self._vector, [number] * self.lanes)

    def rotated(self, value: Any, left: int) -> Any:
        """Return words rotated to the left by so many bits."""
        code = self.code
        return code.or_(code.shl(value, self.all(left)), code.lshr(value, self.all(self.bits - left)))

    def words(self, addresses: Any, start: int = 0, *, reverse: bool = False) -> list[Any]:
        """Load as many words as there are lanes from the address of each lane, and return each word of all lanes.

        They begin at word `start`; where the highest byte of a word comes first, `reverse` it.
        """
        code, size = self.code, self.bits // 8
        octets = ir.VectorType(ir.IntType(8), size * self.lanes)
        order = ir.Constant(
            ir.VectorType(_INT, size * self.lanes), [k ^ (size - 1 if reverse else 0) for k in range(size * self.lanes)]
        )
        first, loaded = code.bitcast(addresses, _LONG.as_pointer()), []
        for lane in range(self.lanes):
            address = code.add(code.load(code.gep(first, [_INT(lane)])), _LONG(start * size))
            found = code.load(code.inttoptr(address, octets.as_pointer()), align=1)
            found = code.shuffle_vector(found, ir.Constant(octets, ir.Undefined), order)
            loaded.append(code.bitcast(found, self._vector))
        return self._transposed(loaded)

    def _transposed(self, rows: list[Any]) -> list[Any]:
        """Make columns of rows: swap what is off the diagonal in squares of 2, 4, 8 and so on."""
        step, lanes = 1, range(self.lanes)
        numbers = ir.VectorType(_INT, self.lanes)
        while step < self.lanes:
            low = ir.Constant(numbers, [k - step + self.lanes if k & step else k for k in lanes])
            high = ir.Constant(numbers, [k + self.lanes if k & step else k + step for k in lanes])
            for k in [k for k in lanes if not k & step]:
                one, other = rows[k], rows[k + step]
                rows[k] = self.code.shuffle_vector(one, other, low)
                rows[k + step] = self.code.shuffle_vector(one, other, high)
            step *= 2
        return rows


@cache
def has_lanes() -> bool:
    """Whether kernels are compiled for vectors that are wide enough: of AVX2, or wider.

    With narrower ones, messages take twice as long side by side as in turn.
    """
    features: str = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return "+avx2" in features.split(",")


def pay(sizes: Sequence[int], least: int) -> bool:
    """Whether messages of these sizes are hashed sooner in lanes than in turn: if they are `least` longest ones in all.

    The longest one takes as many steps in its lane whether the others are empty or not.
    """
    return sum(sizes) >= least * max(sizes, default=0) > 0 and has_lanes()


def pointers(context: Any, code: Any, signature: Any, values: Any) -> list[Any]:
    """Return where the arrays that a kernel was called with begin."""
    return [
        context.make_array(kind)(context, code, value).data for kind, value in zip(signature.args, values, strict=True)
    ]
