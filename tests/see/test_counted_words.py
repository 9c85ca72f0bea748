"""Words counted in buckets: few or many different ones, in any number of buckets."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from recrawl.see.words import bag_of, bucket_of, split_words


@pytest.mark.parametrize("buckets", [2, 256, 512, 1 << 10, 1 << 18])
def test_buckets_come_in_order_each_with_its_count(buckets: int) -> None:
    """Of texts of up to some thousand different words: the ways in which they are sorted agree."""
    draw = random.Random(buckets)
    for size in (0, 1, 10, 63, 64, 65, 200, 5_000):
        text = " ".join("".join(draw.choices("abcdefgé", k=draw.randrange(1, 12))) for _ in range(size))
        bag, expected = bag_of(text, buckets), Counter(bucket_of(word) % buckets for word in split_words(text))
        assert bag.bucket.tolist() == sorted(expected)
        assert bag.count.tolist() == [expected[bucket] for bucket in sorted(expected)]
