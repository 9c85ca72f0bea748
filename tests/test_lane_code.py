"""Whether messages are hashed side by side: only where that is quicker, and it changes no digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from numba.core import config

from recrawl.lane_code import has_lanes, pay
from recrawl.live import warc_records
from recrawl.see.fingerprint import digests_of_bytes


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """The answer is that of the features that a test sets, and of none before or after it."""
    has_lanes.cache_clear()
    yield
    has_lanes.cache_clear()


@pytest.mark.parametrize(
    ("features", "wide"),
    [("", False), ("+neon", False), ("+sse4.2,+avx", False), ("+sse2,-avx2", False), ("+avx2", True)],
)
def test_lanes_are_for_wide_vectors(monkeypatch: pytest.MonkeyPatch, features: str, wide: bool) -> None:
    """Other processors, and older ones, hash one message after the other."""
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    assert has_lanes() == pay([100] * 20, 9) == wide


def test_one_long_message_among_short_ones_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do none, or empty ones."""
    monkeypatch.setattr(config, "CPU_FEATURES", "+avx2")
    assert pay([10] * 9, 9)
    assert not any(pay(sizes, 9) for sizes in ([10] * 8, [10] * 30 + [1_000], [], [0] * 20))


def test_without_lanes_digests_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of records and of fingerprints."""
    blocks = [(b"head%d" % n, b"body" * 100 * n) for n in range(20)]
    texts = [body for _, body in blocks]
    with_lanes = warc_records.digests_of(blocks), digests_of_bytes(texts)
    has_lanes.cache_clear()
    monkeypatch.setattr(config, "CPU_FEATURES", "")
    assert (warc_records.digests_of(blocks), digests_of_bytes(texts)) == with_lanes
    assert with_lanes[1] == [hashlib.blake2b(text, digest_size=16).digest() for text in texts]
