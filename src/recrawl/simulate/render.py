"""Turn a recording's pages into HTML, as they were at any time.

The words are invented (or what `write` makes of a random generator), but every change of the recording shows in the
text, every link interval shows as a link and a version is always the same bytes: the rendering is a function of the
page, its version and the links alone.
"""

from __future__ import annotations

import html
import random
from collections.abc import Callable
from functools import cached_property
from urllib.parse import quote

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.hashing import scramble_int
from recrawl.recording.recording import Recording

SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "zi", "ko", "la", "mi")
VOCABULARY = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
SLOTS = 6  # paragraphs of a page; a change rewrites one of them
WORDS_PER_PARAGRAPH = 40


def invented(draws: random.Random) -> str:
    """Return a paragraph of invented words."""
    return " ".join(draws.choices(VOCABULARY, k=WORDS_PER_PARAGRAPH))


class Rendering:
    """The pages of a recording as web pages: each site is a host, each path a URL on it."""

    def __init__(
        self, recording: Recording, suffix: str = "replay", write: Callable[[random.Random], str] = invented
    ) -> None:
        self.recording = recording
        self.suffix = suffix
        self.write = write

    @cached_property
    def hosts(self) -> list[str]:
        """The host name of each site: s7.replay."""
        return [f"s{site}.{self.suffix}" for site in self.recording.tables.column("sites", "site_id")]

    @cached_property
    def paths(self) -> list[str]:
        """The URL path of each page; a later life of a path is the same URL."""
        return ["/" + str(path).lstrip("/") for path in self.recording.page("path")]

    @cached_property
    def lives(self) -> dict[tuple[str, str], list[int]]:
        """The pages at each (host, path), in the order of their lives."""
        found: dict[tuple[str, str], list[int]] = {}
        for page in np.argsort(self.recording.born, kind="stable"):
            found.setdefault((self.hosts[self.recording.site[page]], self.paths[page]), []).append(int(page))
        return found

    def url(self, page: int, port: int) -> str:
        """The page's address on a server at this port."""
        return f"http://{self.hosts[self.recording.site[page]]}:{port}{quote(self.paths[page])}"

    def page_at(self, host: str, path: str, at: float) -> int | None:
        """Find the page that answers at this address and time: the life that is going on; None where there is none."""
        for page in self.lives.get((host, path), ()):
            if self.recording.born[page] <= max(at, self.recording.start) and at < self.recording.died[page]:
                return page
        return None

    def version(self, page: int, at: float) -> int:
        """Count the page's changes within the window up to and including `at`."""
        first, last = self.recording.change_start[page : page + 2]
        return int(np.searchsorted(self.recording.change_day[first:last], at, side="right"))

    def changed_at(self, page: int, version: int) -> float:
        """When this version came about: the day of its change, or of the page's birth."""
        if not version:
            return float(self.recording.born[page])
        return float(self.recording.change_day[self.recording.change_start[page] + version - 1])

    def paragraphs(self, page: int, version: int) -> list[str]:
        """The page's text: change k rewrites one paragraph, so two versions differ where changes lie between them."""
        written = np.zeros(SLOTS, dtype=np.int64)  # the last change that rewrote each paragraph
        for k in range(max(1, version - 200), version + 1):
            written[self._draw(page, k) % SLOTS] = k
        return [self._words(page, slot, int(k)) for slot, k in enumerate(written)]

    def html(self, page: int, at: float, port: int) -> bytes:
        """The whole page as it is at `at`."""
        title = html.escape(self.paths[page].strip("/") or "home")
        body = "\n".join(f"<p>{text}</p>" for text in self.paragraphs(page, self.version(page, at)))
        links = "\n".join(f'<li><a href="{href}">{text}</a></li>' for href, text in self.links(page, at, port))
        return (
            f"<!doctype html>\n<html><head><meta charset=utf-8><title>{title}</title></head>\n"
            f"<body><main><h1>{title}</h1>\n{body}\n<ul>\n{links}\n</ul></main></body></html>\n"
        ).encode()

    def links(self, page: int, at: float, port: int) -> list[tuple[str, str]]:
        """Address and text of each link on the page at `at`. A target outside the recording is on another host."""
        if not self.recording.tables.has("links"):
            return []
        first, last = self._link_start[page : page + 2]
        rows = np.arange(first, last)
        rows = rows[(self._link_from[rows] <= max(at, self.recording.start)) & (at < self._link_to[rows])]
        return [self._link(int(row), port) for row in rows]

    def _link(self, row: int, port: int) -> tuple[str, str]:
        target = int(self._link_page[row])
        if target >= 0:
            return html.escape(self.url(target, port), quote=True), html.escape(self.paths[target].strip("/"))
        name = f"{row:07d}"
        return f"http://elsewhere.invalid/{name}", f"see {name}"

    def _draw(self, page: int, k: int) -> int:
        return scramble_int(int(self.recording.page_ids[page]) * 100_003 + k)

    def _words(self, page: int, slot: int, k: int) -> str:
        """Invent a paragraph; the same one for the same page, slot and change."""
        return self.write(random.Random(self._draw(page, k * SLOTS + slot + 1_000_000)))

    @cached_property
    def _link_rows(self) -> tuple[PageIds, PageIds]:
        pages = self.recording.rows_of(self.recording.tables.column("links", "page_id"))
        rows = np.flatnonzero(pages >= 0)
        rows = rows[np.argsort(pages[rows], kind="stable")]
        return rows, np.searchsorted(pages[rows], np.arange(len(self.recording) + 1))

    @property
    def _link_start(self) -> PageIds:
        return self._link_rows[1]

    @cached_property
    def _link_from(self) -> FloatArray:
        return self.recording.tables.column("links", "day_from")[self._link_rows[0]].astype(np.float64)

    @cached_property
    def _link_to(self) -> FloatArray:
        until = self.recording.tables.column("links", "day_to")[self._link_rows[0]].astype(np.float64)
        return np.where(np.isnan(until), np.inf, until)

    @cached_property
    def _link_page(self) -> PageIds:
        return self.recording.rows_of(self.recording.tables.column("links", "target_page")[self._link_rows[0]])
