"""Questions to 64 bytes at once: the answers are the bits of one number, the first byte's the lowest.

The processor compares them all in one step, or in a few; what follows looks at the bits that are set alone.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

BYTES = 64  # that are looked at together
_OCTETS = ir.VectorType(ir.IntType(8), BYTES)


@intrinsic
def nonzero_bytes(_context: Any, source: Any, at: Any) -> Any:
    """Return which of the 64 bytes from `at` on are not zero."""
    return types.uint64(source, at), _comparison("!=", b"\0")


@intrinsic
def spaces(_context: Any, source: Any, at: Any) -> Any:
    """Return which of the 64 bytes from `at` on are white space in HTML."""
    return types.uint64(source, at), _comparison("==", b" \n\t\r\f")


@intrinsic
def tags(_context: Any, source: Any, at: Any) -> Any:
    """Return which of the 64 bytes from `at` on may begin a tag."""
    return types.uint64(source, at), _comparison("==", b"<")


@intrinsic
def hashes_and_ampersands(_context: Any, source: Any, at: Any) -> Any:
    """Return which of the 64 bytes from `at` on are `#` or `&`."""
    return types.uint64(source, at), _comparison("==", b"#&")


@intrinsic
def line_feeds(_context: Any, source: Any, at: Any) -> Any:
    """Return which of the 64 bytes from `at` on are line feeds."""
    return types.uint64(source, at), _comparison("==", b"\n")


@intrinsic
def eight_bytes(_context: Any, source: Any, at: Any) -> Any:
    """Return the 8 bytes from `at` on as one number."""

    def write(context: Any, code: Any, signature: Any, values: Any) -> Any:
        begin = context.make_array(signature.args[0])(context, code, values[0]).data
        return code.load(code.bitcast(code.gep(begin, [values[1]]), ir.IntType(64).as_pointer()), align=1)

    return types.uint64(source, at), write


@intrinsic
def lowest_bit(_context: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set; 64 if none is."""
    no = ir.Constant(ir.IntType(1), 0)
    return types.int64(bits), lambda _context, code, _signature, values: code.cttz(values[0], no)


@intrinsic
def count_bits(_context: Any, bits: Any) -> Any:
    """Return how many bits are set."""
    return types.int64(bits), lambda _context, code, _signature, values: code.ctpop(values[0])


def _comparison(how: str, wanted: bytes) -> Any:
    """Return what writes the comparison of 64 bytes of an array with these; it holds for a byte if for one of them."""

    def write(context: Any, code: Any, signature: Any, values: Any) -> Any:
        begin = context.make_array(signature.args[0])(context, code, values[0]).data
        loaded = code.load(code.bitcast(code.gep(begin, [values[1]]), _OCTETS.as_pointer()), align=1)
        found: Any = None
        for byte in wanted:
            same = code.icmp_unsigned(how, loaded, ir.Constant(_OCTETS, [byte] * BYTES))
            found = same if found is None else code.or_(found, same)
        return code.bitcast(found, ir.IntType(BYTES))

    return write
