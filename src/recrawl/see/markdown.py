"""Pages as Markdown: the main content alone, with headings, lists, tables, code and links.

The choice of the main content is the scanner's, as for texts and fingerprints. Its markup is converted by
html-to-markdown (extra `markdown`); without it, by a plain converter of headings, list items, code and links.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import unescape

from recrawl.see.decode import decode
from recrawl.see.markup.references import attribute, plain
from recrawl.see.markup.scan import scan
from recrawl.see.page import SeenPage
from recrawl.see.page_text import main_markup
from recrawl.see.sniff import Media
from recrawl.urls.url import Base, normalise

MAX_BYTES = 2 << 20  # of markup that is converted; the text of a larger page is its Markdown

# what begins like a tag and has none of < and > inside: such patterns take linear time on any page
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>")
_HREF = re.compile(r"""(?i)((?:^|\s)(?:href|src)\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
_DROPPED = re.compile(r"(?is)<(title|script|style|svg|template|noscript)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)")
_BLANKS = re.compile(r"\n{3,}")
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "ul", "ol", "table", "tr", "blockquote", "figure", "dl", "dt", "dd"}
    | {"hr", "form", "fieldset", "details", "summary"}
)
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`"}


def markdown_of(page: SeenPage, body: bytes) -> str:
    """Return a page's main content as Markdown; `body` is what the page was read from."""
    if page.media is not Media.HTML:
        return page.main_text
    text = decode(body, f"text/html; charset={page.charset}").text
    scanned = scan(text.encode("utf-8", "replace"))
    if scanned.capped or len(scanned.source) > MAX_BYTES:
        return page.main_text  # deeper or larger than converters take in good time
    markup = _absolute(main_markup(scanned).decode("utf-8", "replace"), page.url)
    try:
        return _converter()(markup).strip()
    except Exception:  # a converter's own error on a stranger's page must not lose the page
        return page.main_text


@cache
def _converter() -> Callable[[str], str]:
    try:
        from html_to_markdown import ConversionOptions, convert
    except ImportError:
        return plain_markdown
    options = ConversionOptions(extract_metadata=False)  # else titles and meta elements become a block at the top
    return lambda markup: convert(_DROPPED.sub("", markup), options).content or ""


def _absolute(markup: str, url: str) -> str:
    """Make the addresses of links and pictures absolute: Markdown is read away from its page."""
    base = Base(url)

    def place(found: re.Match[str]) -> str:
        target = unescape(found[2] or found[3] or found[4] or "")
        href = None if target.startswith(("#", "data:")) else normalise(target, base)
        return found[0] if href is None else f'{found[1]}"{href}"'

    def tag(found: re.Match[str]) -> str:
        return (
            f"<{found[2]}{_HREF.sub(place, found[3])}>"
            if found[2].lower() in ("a", "img") and not found[1]
            else found[0]
        )

    return _TAG.sub(tag, markup)


def plain_markdown(markup: str) -> str:
    """Convert headings, paragraphs, list items, code, emphasis and links; everything else becomes its text."""
    out: list[str] = []
    links: list[str] = []
    fenced = 0  # open <pre> elements
    at = 0
    markup = _DROPPED.sub("", markup)
    for found in _TAG.finditer(markup):
        out.append(_text(markup[at : found.start()], fenced))
        at = found.end()
        closing, name, rest = found[1] == "/", found[2].lower(), found[3]
        if name == "pre":
            fenced = max(0, fenced - 1) if closing else fenced + 1
            out.append("\n```\n\n" if closing else "\n\n```\n")
        elif fenced:
            continue
        elif len(name) == 2 and name[0] == "h" and name[1] in "123456":
            out.append("\n\n" if closing else f"\n\n{'#' * int(name[1])} ")
        elif name == "li":
            out.append("" if closing else "\n- ")
        elif name == "br":
            out.append("\n")
        elif name in ("td", "th"):
            out.append(" " if closing else "| ")
        elif name == "a":
            out.append(_link(closing, rest, links))
        elif name in _MARKS:
            out.append(_MARKS[name])
        elif name in _BLOCKS:
            out.append("\n\n" if name != "tr" else "\n")
    out.append(_text(markup[at:], fenced))
    lines = "".join(out).split("\n")
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _link(closing: bool, rest: str, links: list[str]) -> str:
    if closing:
        href = links.pop() if links else ""
        return f"]({href})" if href else ""
    found = _HREF.search(rest)
    links.append(attribute((found[2] or found[3] or found[4] or "").encode("utf-8", "replace")) if found else "")
    return "[" if links[-1] else ""


def _text(markup: str, fenced: int) -> str:
    text = plain(markup.encode("utf-8", "replace"))
    return text if fenced else re.sub(r"\s+", " ", text)
