"""Pages that are read together: the same as one by one."""

from __future__ import annotations

import pytest

from recrawl.see import page
from recrawl.see.fingerprint import digest_of_bytes
from recrawl.see.markup.scan import Scanned
from recrawl.see.page import see_page, see_pages
from recrawl.see.page_text import main_content
from recrawl.see.sniff import Media

HTML = ("content-type", "text/html")
BODIES = [
    b"",
    b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    b"just a text, 12:34",
    *(b"<title>%d</title><main>%s <a href=/x%d>x</a></main>" % (n, b"some words " * 40 * n, n) for n in range(20)),
]


@pytest.mark.parametrize("count", [0, 1, 2, len(BODIES)])
def test_pages_read_together_say_what_they_say_alone(count: int) -> None:
    """HTML, texts, images and empty bodies; their fingerprints, too."""
    answers = [(body, f"http://a.test/{n}", (HTML,)) for n, body in enumerate(BODIES[:count])]
    assert see_pages(answers) == [see_page(*answer) for answer in answers]


def test_a_page_that_cannot_be_read_is_its_bytes_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says why, and the others are read."""

    def fails(scanned: Scanned) -> tuple[str, bytes]:
        if scanned.words > 100:
            raise ValueError("too strange")
        return main_content(scanned)

    monkeypatch.setattr(page, "main_content", fails)
    seen = see_pages([(body, "http://a.test/", (HTML,)) for body in BODIES[3:6]])
    assert [each.unreadable for each in seen] == ["", "", "ValueError: too strange"]
    assert seen[2].media is Media.BINARY
    assert seen[2].digest == digest_of_bytes(BODIES[5])
