"""read_page and diff: what a page says, and what changed between two versions of it."""

from __future__ import annotations

from recrawl.see.change import PAPER, Change, ChangeRule, Version, compare
from recrawl.see.page import SeenPage, see_page
from recrawl.urls.url import normalise

Content = bytes | str | SeenPage  # a body, HTML, or a page that was read
NOWHERE = "http://localhost/"
_HTML = (("content-type", "text/html; charset=utf-8"),)


def read_page(content: bytes | str, url: str = NOWHERE) -> SeenPage:
    """Read a page's bytes or HTML: title, text without boilerplate, links, directives, fingerprint.

    >>> page = read_page("<title>News</title><p>One story, <a href='/more'>more</a>.", "https://example.org/")
    >>> page.title, page.main_text, [link.url for link in page.links]
    ('News', 'One story, more.', ['https://example.org/more'])
    """
    body, headers = (content.encode("utf-8", "replace"), _HTML) if isinstance(content, str) else (content, ())
    return see_page(body, normalise(url) or NOWHERE, headers)


def diff(
    old: bytes | str | SeenPage, new: bytes | str | SeenPage, url: str = NOWHERE, rule: ChangeRule = PAPER
) -> Change:
    """Say what changed between two versions of a page: kind, words and links added and removed, significance.

    A change is significant if a chi-squared test rejects that both versions draw their words from one distribution
    (p < 0.05, Radinsky & Bennett 2013). Clocks, counters and tokens that differ between any two visits are no change.

    >>> change = diff("<p>Rain today.", "<p>Sun today. <a href='/week'>The week</a>", "https://example.org/")
    >>> sorted(change.words_added), sorted(change.words_removed), sorted(change.links_added)
    (['sun', 'the', 'week'], ['rain'], ['https://example.org/week'])
    """
    return compare(_version(old, url), _version(new, url), rule)


def _version(content: Content, url: str) -> Version:
    page = content if isinstance(content, SeenPage) else read_page(content, url)
    body = content if isinstance(content, bytes) else page.digest
    return Version(page.main_text, page.link_columns.urls, body)
