"""The words of a page: all of them, and those of its main content."""

from __future__ import annotations

from resiliparse.extract.html2text import extract_plain_text  # type: ignore[import-untyped]

from recrawl.see.html import Document

MAX_SIFTED_TAGS = 30_000  # sifting takes time in proportion to the square of the blocks
_FEWEST_WORDS = 25
_SMALLEST_SHARE = 0.1

# places that show something else at each visit
AD_SLOTS = (
    "ins.adsbygoogle, [id^=google_ads], [id^=div-gpt-ad], [class~=ad], [class~=ads], [class~=advert], [id^=ad-],"
    " [class^=ad-], [class*=advertis], [class*=sponsored], [class*=ad-slot], [id*=ad-slot], [aria-label=Advertisement]"
)


def all_text(document: Document) -> str:
    """Return every word outside scripts, styles and drawings, one line a block."""
    return document.pruned.text


def main_text(document: Document) -> str:
    """Return the words of the main content: no navigation, headers, footers, ad slots.

    A page that is mostly navigation (an index, a link list) has no main content in this sense; there, all its text is
    what it says. The same goes for pages too large to sift.
    """
    everything = document.pruned.text
    if document.pruned.tags > MAX_SIFTED_TAGS:
        return everything
    sifted = str(
        extract_plain_text(document.tree, main_content=True, links=False, list_bullets=False, skip_elements=[AD_SLOTS])
    )
    if len(sifted) < _SMALLEST_SHARE * len(everything) or sifted.count(" ") + sifted.count("\n") < _FEWEST_WORDS:
        return everything
    return sifted
