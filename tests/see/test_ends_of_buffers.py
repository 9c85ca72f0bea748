"""Kernels that look at many bytes at once read none beyond the end: the next page of memory may be no one's."""

from __future__ import annotations

import ctypes
import mmap
import random
import sys
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from recrawl.blake2b_lanes import blake2b_of_each
from recrawl.live.met_urls import MetUrls
from recrawl.see.page import SeenPage, see_page
from recrawl.see.words import bag_of
from recrawl.sha1_lanes import sha1_base32

ROOM = 4 * mmap.PAGESIZE
PLACES = 4  # as many arrays are read at once
NO_ACCESS, ACCESS = 0, mmap.PROT_READ | mmap.PROT_WRITE
protect = ctypes.CDLL(None, use_errno=True).mprotect if sys.platform == "linux" else None


@pytest.fixture
def at_the_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put bytes that a kernel reads right before a page that ends the process if it is read."""
    if protect is None:
        pytest.skip("protects memory by a call of Linux")
    _said("<a href=x>y</a>")  # what is kept of the page's folder is not to be moved
    usual = np.frombuffer
    rooms = [usual(mmap.mmap(-1, ROOM + mmap.PAGESIZE), dtype=np.uint8) for _ in range(PLACES)]
    for room in rooms:
        assert protect(ctypes.c_void_p(room.ctypes.data + ROOM), ctypes.c_size_t(mmap.PAGESIZE), NO_ACCESS) == 0
    turns = cycle(rooms)

    def moved(data: Any, dtype: Any = float) -> Any:
        if not isinstance(data, bytes) or np.dtype(dtype) != np.uint8:
            return usual(data, dtype=dtype)
        place = next(turns)[ROOM - len(data) : ROOM]
        place[:] = usual(data, dtype=np.uint8)
        place.flags.writeable = False
        return place

    monkeypatch.setattr(np, "frombuffer", moved)
    yield
    for room in rooms:
        assert protect(ctypes.c_void_p(room.ctypes.data + ROOM), ctypes.c_size_t(mmap.PAGESIZE), ACCESS) == 0


@pytest.mark.usefixtures("at_the_end")
@pytest.mark.parametrize("tail", ["", "<a href=x", "<a href=/x#", "<a href=/x>y", "word", " ", "&amp", "<", "é"])
def test_pages_end_where_they_end(tail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of every length up to a few blocks, whatever they end in: text, tags, links, words."""
    draw = random.Random(tail)
    texts = ["".join(draw.choices(["a", " ", "b", "<p>", "<a href=/c>d</a>"], k=n)) + tail for n in range(200)]
    found = [_said(text) for text in texts]
    monkeypatch.undo()
    assert found == [_said(text) for text in texts]


def _said(text: str) -> tuple[SeenPage, list[list[int]]]:
    page = see_page(text.encode(), "http://a.test/", (("content-type", "text/html"),))
    bag = bag_of(text)
    return page, [bag.bucket.tolist(), bag.count.tolist()]


@pytest.mark.usefixtures("at_the_end")
def test_addresses_and_messages_end_where_they_end() -> None:
    """Of every length up to a few blocks, the last of several."""
    draw, met = random.Random(1), MetUrls()
    for length in range(1, 300):
        url = "".join(draw.choices("abc/", k=length))
        met.add([url], [length])
        assert met.pages_of(["x", url])[0].tolist()[1] >= 0
        message = draw.randbytes(length)
        assert sha1_base32(b"abc" + message, [3, 0], [3 + length, 3])[0] == sha1_base32(message, [0], [length])[0]
        assert blake2b_of_each([b"abc", message], 16)[1] == blake2b_of_each([message], 16)[0]
