"""Text between tags: white space collapsed, words counted, wherever both fall in the blocks that are copied."""

from __future__ import annotations

import random
import re

import pytest

from recrawl.see.markup.scan import scan
from recrawl.see.words import bag_of, split_words

_SPACE = re.compile("[ \t\n\f\r]+")


@pytest.mark.parametrize("spaces", [" ", " \n\t\r\f", "  \x0b"])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.2, 0.6])
def test_white_space_collapses_as_a_regular_expression_says(spaces: str, share: float) -> None:
    """Texts of every length up to a few blocks, before a tag, before the page's end, and with a lone `<` in them."""
    draw = random.Random(len(spaces))
    for length in range(260):
        text = "".join(draw.choice(spaces) if draw.random() < share else draw.choice("abé") for _ in range(length))
        plain = _SPACE.sub(" ", text).lstrip(" ")
        for page, wanted in (
            (f"<p>{text}<b>x</b>{'y' * draw.choice((0, 90))}", f"{plain}x"),
            (text, plain),
            (f"{text}< {text}", _SPACE.sub(" ", f"{text}< {text}").lstrip(" ")),
        ):
            scanned = scan(page.encode())
            found = scanned.raw_text.decode().removeprefix("\n").rstrip("y")
            assert found == wanted
            assert scanned.words == len([word for word in _SPACE.split(wanted) if word])


@pytest.mark.parametrize("letters", ["ab ", "abcdefghijkl ", "abé "])
def test_words_are_found_wherever_they_fall_in_a_block(letters: str) -> None:
    """Texts of every length up to a few blocks."""
    draw = random.Random(1)
    for length in range(260):
        text = "".join(draw.choices(letters, k=length))
        assert bag_of(text).total == len(split_words(text))
