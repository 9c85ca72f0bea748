"""BLAKE2b of many messages at once, one in each lane of the processor's vectors (multi-buffer hashing).

Eight messages side by side take a third of the time that they take in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from recrawl.columns import ByteArray
from recrawl.compiled import borrowing, kernel, nth
from recrawl.lane_code import LaneCode, pointers

LANES = 8
_BLOCK = 128  # bytes that are mixed into a digest at once
_PARAMETERS = 0x01010000  # no key, no tree
_BEGIN = (
    *(0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1),
    *(0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179),
)
_ORDERS = (  # in which the words of a block are mixed in, by round
    *("0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d"),
    *("2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0"),
    *("0123456789abcdef", "ea489fd61c02b753"),
)
_QUARTERS = (  # words that are mixed with one another: columns, then diagonals
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)
_ALL_BITS = np.uint64(2**64 - 1)

Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def blake2b_of_each(messages: Sequence[bytes], digest_bytes: int) -> list[bytes]:
    """Return the BLAKE2b of each message, in so many bytes."""
    digests = np.empty((len(messages), digest_bytes), dtype=np.uint8)
    ends = np.array([0, *accumulate(map(len, messages))], dtype=np.int64)
    begin = np.array(_BEGIN, dtype=np.uint64)
    begin[0] ^= np.uint64(_PARAMETERS ^ digest_bytes)
    state, pads = np.empty((8, LANES), dtype=np.uint64), np.zeros((LANES, _BLOCK), dtype=np.uint8)
    lanes, ending = np.empty((3, LANES), dtype=np.int64), np.zeros((2, LANES), dtype=np.uint64)
    _digests(np.frombuffer(b"".join(messages), dtype=np.uint8), ends, begin, state, pads, lanes, ending, digests)
    found = digests.tobytes()
    return [found[at : at + digest_bytes] for at in range(0, len(found), digest_bytes)]


@kernel
def _digests(
    data: ByteArray,
    ends: Places,
    begin: Words,
    state: Words,
    pads: ByteArray,
    lanes: Places,
    ending: Words,
    digests: ByteArray,
) -> None:
    """Hash the messages; whichever lane is done with one takes the next.

    `lanes` are, for each lane, the message in it (-1: none), the bytes of it that are done, and the address in memory
    of the next block: in the data, or in `pads` for the end of a message. `ending` are the bytes that are done with
    this block, and all bits where it is the last.
    """
    owner, done, block = lanes
    owner[:], block[:] = -1, pads.ctypes.data
    begun, busy = 0, 0
    while True:
        for lane in range(LANES):
            if owner[lane] < 0:
                if begun == len(digests):
                    continue
                owner[lane], done[lane] = begun, 0
                for k in range(8):
                    state[k, lane] = begin[k]
                begun, busy = begun + 1, busy + 1
            at, end = ends[owner[lane]] + done[lane], ends[owner[lane] + 1]
            block[lane] = data.ctypes.data + at
            if at + _BLOCK > end:
                for i in range(_BLOCK):
                    pads[lane, i] = data[nth(at + i)] if at + i < end else np.uint8(0)
                block[lane] = pads.ctypes.data + lane * _BLOCK
            done[lane] += min(_BLOCK, end - at)
            ending[0, lane], ending[1, lane] = done[lane], _ALL_BITS if at + _BLOCK >= end else np.uint64(0)
        if not busy:
            return
        _mix(state, block, ending)
        for lane in range(LANES):
            if owner[lane] >= 0 and ending[1, lane]:
                _write(state, lane, digests, owner[lane])
                owner[lane], busy = -1, busy - 1


@borrowing
def _write(state: Words, lane: int, digests: ByteArray, row: int) -> None:
    """Write the digest in a lane."""
    for k in range(digests.shape[1]):
        digests[row, k] = (state[k >> 3, lane] >> np.uint64(8 * (k & 7))) & np.uint64(255)


@intrinsic
def _mix(_context: Any, state: Any, block: Any, ending: Any) -> Any:
    """Mix a block into the digest of each lane; `block` are their addresses."""
    return types.void(state, block, ending), _write_mixing


def _write_mixing(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Write the code of the twelve rounds (RFC 7693), for all lanes at once."""
    state, block, ending = pointers(context, builder, signature, values)
    code = LaneCode(builder, LANES, 64)
    places = code.rows(state, 8)
    before = [code.load(place) for place in places]
    words = code.words(block) + code.words(block, LANES)
    v = before + [code.all(number) for number in _BEGIN]
    count, last = (code.load(place) for place in code.rows(ending, 2))
    v[12], v[14] = builder.xor(v[12], count), builder.xor(v[14], last)
    for order in _ORDERS:
        for k, (a, b, c, d) in enumerate(_QUARTERS):
            for number, (right, other) in zip(order[2 * k : 2 * k + 2], ((32, 24), (16, 63)), strict=True):
                v[a] = builder.add(builder.add(v[a], v[b]), words[int(number, 16)])
                v[d] = code.rotated(builder.xor(v[d], v[a]), 64 - right)
                v[c] = builder.add(v[c], v[d])
                v[b] = code.rotated(builder.xor(v[b], v[c]), 64 - other)
    for k, (place, old) in enumerate(zip(places, before, strict=True)):
        code.store(builder.xor(old, builder.xor(v[k], v[k + 8])), place)
    return context.get_dummy_value()
