"""Character references: the compiled pass and the slow way agree on every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recrawl.see.markup.references import plain, resolved

PIECES = ("&", ";", "#", "x", "amp", "not", "notin", "copy", "pages", "nbsp", "151", "x97", "0", "8212", "00000151")
MORE = (" ", "\n", "\r", "=", ")", "é", "zwnj", "CounterClockwiseContourIntegral", "a" * 40)


@given(st.lists(st.sampled_from(PIECES + MORE), max_size=12).map("".join))
def test_a_reference_stands_for_the_same_text_in_both_ways(text: str) -> None:
    """Named, numbered, cut off or none at all: what is resolved in compiled code is what the standard says."""
    assert resolved(text.encode()).decode() == plain(text.encode())


def test_numbers_of_windows_1252_and_words_of_programs_need_no_slow_way() -> None:
    """Old pages write a dash as &#151;, and documentation says &pages."""
    assert resolved(b"a &#151; b &#x92; &pages, &p-&gt;q; &nowhere;") == "a — b ’ &pages, &p->q; &nowhere;".encode()
