"""Bytes are UTF-8 exactly where Python decodes them."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from recrawl.see.valid_utf8 import is_utf8

EDGES = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF)
MORE = (0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF)


def decodes(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_every_edge_of_the_table_is_pythons() -> None:
    """All pairs, and all triples and quadruples of bytes at the table's edges, alone and within a text."""
    for body in map(bytes, product(range(256), repeat=2)):
        assert is_utf8(body) == decodes(body), body
    for first in (*EDGES[10:], *MORE):
        for body in map(bytes, product((first,), EDGES, EDGES, EDGES[:10])):
            for whole in (body, body[:3], b"a" * 40 + body, body + b"a" * 40):
                assert is_utf8(whole) == decodes(whole), whole


@given(
    st.lists(st.one_of(st.binary(max_size=4), st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace"))))
)
def test_whatever_the_bytes_are(pieces: list[bytes]) -> None:
    """Texts, with and without broken bytes between them."""
    body = b"".join(pieces)
    assert is_utf8(body) == decodes(body)
