"""Fingerprints: blind to what rotates, sharp for what changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.see.fingerprint import digest, hamming, simhash, stable_text

WORDS = st.lists(st.text(alphabet="abcdefghij", min_size=2, max_size=8), min_size=60, max_size=150)


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


def test_simhash_of_known_texts() -> None:
    """Equal texts have equal simhashes, case and white space apart; the empty text has 0; other texts are far."""
    assert simhash("") == 0
    assert simhash("One two  three") == simhash("one TWO\nthree")
    assert simhash("one two three") != simhash("three two one"), "the order of words counts"
    assert hamming(0b1011, 0b0110) == 3


@given(WORDS, st.integers(0, 59))
def test_simhash_moves_little_for_one_word_and_much_for_another_text(words: list[str], at: int) -> None:
    """One word changed among many moves few bits, another text about half of them."""
    text = " ".join(words)
    nearly = " ".join([*words[:at], "changed", *words[at + 1 :]])
    assert hamming(simhash(text), simhash(nearly)) <= 20
    assert hamming(simhash(text), simhash(" ".join(f"x{word}{i}" for i, word in enumerate(words)))) >= 12


@given(st.text(max_size=300))
def test_any_text_has_a_fingerprint(text: str) -> None:
    """Every text, lone surrogates included, has a digest and a simhash, and removing what rotates never fails."""
    stable = stable_text(text)
    assert len(digest(stable)) == 16
    assert 0 <= simhash(stable) < 2**64
    assert stable_text(stable).split() == stable_text(stable_text(stable)).split()


def test_scripts_without_spaces_are_told_apart() -> None:
    """A change inside a long run of Chinese or Japanese characters moves some bits, not all."""
    text = "新しい論文によると、ウェブページの変化は予測できる。" * 6
    changed = text.replace("論文", "記事", 1)
    assert simhash(text) != simhash("全く別の文章がここに書かれている。" * 8)
    assert hamming(simhash(text), simhash(changed)) < 32


def by_definition(text: str) -> int:
    """The simhash, bit by bit."""
    prime, start, whole = 0x100000001B3, 0xCBF29CE484222325, 2**64
    pairs, previous = [], start
    for word in "".join(char if char.isalnum() else " " for char in text.lower()).split():
        value = start
        for byte in word.encode():
            value = (value ^ byte) * prime % whole
        pair = (previous ^ (value >> 7)) * prime % whole
        pair = (pair ^ (pair >> 32)) * 0x9E3779B97F4A7C15 % whole
        pairs.append(pair ^ (pair >> 29))
        previous = value
    return sum((2 * sum(pair >> bit & 1 for pair in pairs) > len(pairs)) << bit for bit in range(64))


@given(st.text(alphabet="aBcdeZ019 .\n", max_size=400))
def test_simhash_is_the_majority_of_the_hashes_of_all_pairs(text: str) -> None:
    """Bit b is set if more than half of the pairs of words have it set, however many there are."""
    assert simhash(text) == by_definition(text)
