"""The words of a page: all of them, and those of its main content."""

from __future__ import annotations

from recrawl.see.markup.references import plain, resolved
from recrawl.see.markup.scan import Scanned

_FEWEST_WORDS = 25
_SMALLEST_SHARE = 0.1
_LOOK_BYTES = 512  # most pages have enough words in these: the rest need not be counted


def all_text(raw_text: bytes) -> str:
    """Return every word outside scripts, styles and drawings, one line per block; `raw_text` is the scan's."""
    return plain(raw_text).strip()


def main_content(scanned: Scanned) -> tuple[str, bytes]:
    """Return the words of the main content, as text and in UTF-8: no navigation, headers, footers, ads, nothing hidden.

    If the page has a <main>, only what is in it counts. A page that is mostly navigation (an index, a link list) has no
    main content in this sense; there, all its text is what it says.
    """
    source = resolved(_sifted(scanned) or scanned.raw_text).strip()
    text = source.decode("utf-8", "replace")
    main = text.strip()  # of white space beyond ASCII, too
    return main, source if len(main) == len(text) else main.encode("utf-8", "replace")


def main_markup(scanned: Scanned) -> bytes:
    """Return the markup of the main content, chosen as in `main_content`: whole elements are left out of it."""
    if not _sifted(scanned):
        return scanned.source
    return b"\n".join([scanned.source[start:end] for _, _, start, end in scanned.spans])


def _sifted(scanned: Scanned) -> bytes:
    """Return the text of the main content; empty where that is too small a part of the page."""
    raw_text = scanned.raw_text
    sifted = b"\n".join([raw_text[span[0] : span[1]] for span in scanned.spans])
    if len(sifted) < _SMALLEST_SHARE * len(raw_text) or not (_has_words(sifted[:_LOOK_BYTES]) or _has_words(sifted)):
        return b""
    return sifted


def _has_words(text: bytes) -> bool:
    return text.count(b" ") + text.count(b"\n") >= _FEWEST_WORDS
