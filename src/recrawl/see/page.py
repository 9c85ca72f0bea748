"""see_page: from the bytes of an answer to the page's text, links, fingerprints and directives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recrawl.see.decode import as_utf8, decode
from recrawl.see.directives import NO_DIRECTIVES, Directives, from_header, from_meta
from recrawl.see.fingerprint import digest_of_bytes, digests_of_bytes, stable_bytes
from recrawl.see.markup.html import Refresh, read_html
from recrawl.see.markup.links import NO_LINKS, Link, LinkColumns
from recrawl.see.page_text import all_text, main_content
from recrawl.see.sniff import Media, sniff
from recrawl.see.softerror import says_not_found

Headers = tuple[tuple[str, str], ...]  # names in lower case
_HTML = Media.HTML  # quick to look up
REPLACEMENT = "\ufffd".encode()
AGENT = "recrawl"  # which directives of a page are for


class SeenPage(NamedTuple):
    """What a page says, however it was written down."""

    url: str
    media: Media
    content_type: str
    digest: bytes = b""  # exact fingerprint of the main text without what rotates
    type_lied: bool = False
    charset: str = ""
    title: str = ""
    heading: str = ""
    raw_text: bytes = b""  # of HTML: all its text, character references unresolved
    main_text: str = ""
    words: int = 0
    images: int = 0
    tables: int = 0
    link_columns: LinkColumns = NO_LINKS
    canonical: str | None = None
    feeds: tuple[str, ...] = ()
    refresh: Refresh | None = None
    directives: Directives = NO_DIRECTIVES
    needs_rendering: bool = False  # a shell for scripts: a visit that finds no change says nothing
    soft_error: bool = False
    capped: bool = False  # more tags, depth or links than we read
    unreadable: str = ""  # what went wrong while reading; then the bytes are all that is known

    @property
    def text(self) -> str:
        """Every word outside scripts, styles and drawings, one line per block; computed when asked for."""
        return all_text(self.raw_text) if self.media is Media.HTML else self.main_text

    def with_digest(self, digest: bytes) -> SeenPage:
        """Return the same with its digest."""
        return SeenPage._make((*self[:_DIGEST], digest, *self[_DIGEST + 1 :]))

    @property
    def may_keep_body(self) -> bool:
        """Whether the page lets us keep its body."""
        return not self.directives.noarchive

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, one by one."""
        return self.link_columns.rows()

    @property
    def links_to_follow(self) -> tuple[Link, ...]:
        """The links that the page's author lets robots follow."""
        return self.columns_to_follow.rows()

    @property
    def columns_to_follow(self) -> LinkColumns:
        """The same, in columns."""
        return NO_LINKS if self.directives.nofollow else self.link_columns.followed()


_DIGEST = SeenPage._fields.index("digest")


def see_page(body: bytes, url: str, headers: Iterable[tuple[str, str]] = (), *, agent: str = AGENT) -> SeenPage:
    """Read a body that was fetched from `url` (in normal form). Whatever the body is, nothing is raised."""
    seen, said = _read(body, url, headers, agent)
    return seen.with_digest(digest_of_bytes(said))


def see_pages(answers: Iterable[tuple[bytes, str, Iterable[tuple[str, str]]]]) -> list[SeenPage]:
    """Read many bodies (body, URL, headers) one after the other; their fingerprints are taken together."""
    read = [_read(*answer, AGENT) for answer in answers]
    digests = digests_of_bytes([said for _, said in read])
    return [seen.with_digest(digest) for (seen, _), digest in zip(read, digests, strict=True)]


def unreadable_page(body: bytes, url: str, reason: str) -> SeenPage:
    """Return what is known of a page that cannot be read: its bytes."""
    return SeenPage(url, Media.BINARY, "application/octet-stream", digest_of_bytes(body), unreadable=reason)


def _read(body: bytes, url: str, headers: Iterable[tuple[str, str]], agent: str) -> tuple[SeenPage, bytes]:
    """Return what a page says, still without its digest, and the bytes that this is of."""
    try:
        return _see(body, url, headers, agent)
    except Exception as error:  # no page, however strange, may end a crawl
        return unreadable_page(b"", url, f"{type(error).__name__}: {error}"[:200]), body


def _see(body: bytes, url: str, headers: Iterable[tuple[str, str]], agent: str) -> tuple[SeenPage, bytes]:
    content_type, tags = "", []
    for name, value in headers:
        if name == "content-type" and not content_type:
            content_type = value
        elif name == "x-robots-tag":
            tags.append(value)
    directives = from_header(tags, agent)
    sniffed = sniff(body, content_type)
    if sniffed.media is _HTML:
        return _see_html(body, url, content_type, sniffed.lied, directives, agent)
    if sniffed.media in (Media.BINARY, Media.EMPTY):
        seen = SeenPage(
            url=url,
            media=sniffed.media,
            content_type=sniffed.content_type,
            type_lied=sniffed.lied,
            directives=directives,
        )
        return seen, body
    decoded = decode(body, content_type)
    seen = SeenPage(
        url=url,
        media=sniffed.media,
        content_type=sniffed.content_type,
        type_lied=sniffed.lied,
        charset=decoded.charset,
        main_text=decoded.text,
        words=len(decoded.text.split()),
        directives=directives,
    )
    return seen, stable_bytes(decoded.text.encode("utf-8", "replace"))


def _see_html(
    body: bytes, url: str, content_type: str, lied: bool, directives: Directives, agent: str
) -> tuple[SeenPage, bytes]:
    source, charset = as_utf8(body, content_type)
    if b"\0" in source:
        source = source.replace(b"\0", REPLACEMENT)  # as the HTML standard does; databases keep no NUL in texts
    document = read_html(source, url)
    main, source = main_content(document.scanned)
    words = document.scanned.words
    seen = SeenPage(  # by place, which is quicker
        url,
        _HTML,
        "text/html",
        b"",
        lied,
        charset,
        document.title,
        document.heading,
        document.scanned.raw_text,
        main,
        words,
        document.scanned.images,
        document.scanned.tables,
        document.link_columns,
        document.canonical,
        document.feeds,
        document.refresh,
        directives | from_meta(document.metas, agent) if document.metas else directives,
        document.needs_rendering,
        says_not_found(document.title, document.heading, words),
        document.scanned.capped or document.links_capped,
    )
    return seen, stable_bytes(source)
