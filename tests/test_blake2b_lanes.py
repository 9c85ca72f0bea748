"""BLAKE2b in lanes: the same digests as hashlib's."""

from __future__ import annotations

import hashlib
import random

import pytest

from recrawl.blake2b_lanes import LANES, blake2b_of_each


@pytest.mark.parametrize("digest_bytes", [1, 8, 16, 20, 64])
@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 5 * LANES + 3])
def test_digests_are_those_of_hashlib(count: int, digest_bytes: int) -> None:
    """Of any number of messages, of any lengths, in any number of bytes."""
    draw = random.Random(count)
    messages = [draw.randbytes(size) for size in draw.choices((0, 1, 2, 127, 128, 129, 256, 5_000), k=count)]
    found = blake2b_of_each(messages, digest_bytes)
    assert found == [hashlib.blake2b(message, digest_size=digest_bytes).digest() for message in messages]


def test_every_length_around_the_end_of_a_block_is_padded_right() -> None:
    """Lengths from 0 to three blocks."""
    messages = [random.Random(size).randbytes(size) for size in range(3 * 128 + 2)]
    assert blake2b_of_each(messages, 16) == [hashlib.blake2b(each, digest_size=16).digest() for each in messages]


@pytest.mark.parametrize("seed", range(6))
def test_long_messages_of_all_lengths_side_by_side(seed: int) -> None:
    """Up to 70,000 bytes each, whole blocks and a little more or less among them."""
    draw = random.Random(seed)
    messages = [
        draw.randbytes(draw.choice((draw.randrange(70_001), 128 * draw.randrange(500) + draw.choice((0, 1, 127)))))
        for _ in range(draw.randrange(2, 4 * LANES))
    ]
    assert blake2b_of_each(messages, 16) == [hashlib.blake2b(each, digest_size=16).digest() for each in messages]
