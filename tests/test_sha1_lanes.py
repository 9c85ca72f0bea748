"""SHA-1 in lanes: the same digests as hashlib's."""

from __future__ import annotations

import base64
import hashlib
import random
from itertools import accumulate

import pytest

from recrawl.sha1_lanes import LANES, sha1_base32


def _expected(message: bytes) -> str:
    return base64.b32encode(hashlib.sha1(message).digest()).decode()


@pytest.mark.parametrize("count", [0, 1, 2, LANES - 1, LANES, LANES + 1, 5 * LANES + 3])
def test_digests_are_those_of_hashlib(count: int) -> None:
    """Of any number of messages, of any lengths, one after the other in the data."""
    draw = random.Random(count)
    messages = [
        draw.randbytes(draw.choice((0, 1, 55, 56, 63, 64, 65, 5_000)) + draw.randrange(3)) for _ in range(count)
    ]
    ends = list(accumulate(map(len, messages)))
    found = sha1_base32(b"".join(messages), [0, *ends][:count], ends)
    assert found == [_expected(message) for message in messages]


def test_every_length_around_the_end_of_a_block_is_padded_right() -> None:
    """Lengths from 0 to three blocks; the messages overlap."""
    data = random.Random(1).randbytes(200)
    found = sha1_base32(data, [3] * 193, list(range(3, 196)))
    assert found == [_expected(data[3:end]) for end in range(3, 196)]


@pytest.mark.parametrize("seed", range(6))
def test_long_messages_of_all_lengths_side_by_side(seed: int) -> None:
    """Up to 70,000 bytes each, whole blocks and a little more or less among them; parts of data that is longer."""
    draw = random.Random(seed)
    sizes = [
        draw.choice((draw.randrange(70_001), 64 * draw.randrange(1_000) + draw.choice((0, 1, 55, 56, 63))))
        for _ in range(draw.randrange(2, 3 * LANES))
    ]
    data = draw.randbytes(max(sizes) + 100)
    starts = [draw.randrange(101) for _ in sizes]
    ends = [start + size for start, size in zip(starts, sizes, strict=True)]
    found = sha1_base32(data, starts, ends)
    assert found == [_expected(data[start:end]) for start, end in zip(starts, ends, strict=True)]
