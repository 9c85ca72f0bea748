"""Fingerprints: blind to what rotates, sharp for what changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.see.fingerprint import digest, stable_text


@pytest.mark.parametrize(
    "text",
    [
        "The meeting is at 14:00 in room 5",
        "Published 2026-05-01",
        "Price: 1,299 euros",
        "Version 3.11.7 is out",
        "The 24 hours of Le Mans",
        "Call +49 30 123456",
        "Chapter 12",
        "About 40 people came",
        "sha of the release: abc123",
        "It took 3 days",
    ],
)
def test_numbers_in_sentences_are_content(text: str) -> None:
    """Dates, times, prices and versions inside a sentence stay: they are what the page says."""
    assert stable_text(text) == text


@pytest.mark.parametrize(
    "text",
    ["12:34:56", "2026-05-01", "Friday, 1 May 2026", "May 1, 2026 10:15 AM", "1,234", "10:15", "01/05/2026", "  17  "],
)
def test_a_line_that_is_only_a_clock_or_a_counter_goes(text: str) -> None:
    """A line that holds nothing but a date, a time or a number is a clock or a counter."""
    assert stable_text(f"before\n{text}\nafter") == "before\nafter"


@given(st.text(max_size=300))
def test_any_text_has_a_fingerprint(text: str) -> None:
    """Every text, lone surrogates included, has a digest, and removing what rotates never fails."""
    stable = stable_text(text)
    assert len(digest(stable)) == 16
    assert stable_text(stable).split() == stable_text(stable_text(stable)).split()
