"""Contents of an event, read from the stored bodies: text, Markdown, lines added and removed.

Texts are capped, and a missing one comes with the reason: a page that forbids archiving has no text, and the event
states it instead of giving an empty one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from recrawl.errors import StoreError
from recrawl.live.bodies import Bodies, Place
from recrawl.see.change import PAPER, distance_of
from recrawl.see.line_diff import compare_lines, unified
from recrawl.see.markdown import markdown_of
from recrawl.see.page import SeenPage, see_page
from recrawl.see.words import bag_of

CAP_BYTES = 256 << 10  # of each text of an event
_OF_TWO = frozenset({"diff", "added", "removed", "links_added"})


class EventContents:
    """Adds the contents that were asked for to events."""

    def __init__(self, warc: Path, include: Collection[str]) -> None:
        self.bodies = Bodies(warc)
        self.include = frozenset(include)

    def add(self, event: dict[str, Any], place: Place | None, before: tuple[Place | None] | None) -> None:
        """Add what was asked for; `before` holds where the version before is, and is None where there was none."""
        event.update(dict.fromkeys(sorted(self.include - {"change"})))
        if event["type"] in ("page.gone", "page.failed"):
            event["why"] = event["type"].removeprefix("page.")
            return
        new, body, event["why"] = self._seen(event, place)
        if new is None:
            return
        event["title"], event["content_type"] = clean(new.title) or None, clean(new.content_type)[:200] or None
        for name in self.include & {"text", "markdown"}:
            _set(event, name, new.main_text if name == "text" else markdown_of(new, body))
        if not self.include & (_OF_TWO | {"change"}):
            return
        old: SeenPage | None = SeenPage(new.url, new.media, "", b"")
        if before is not None:
            old, _, why = self._seen(event, before[0])
            event["why"] = why and f"{why} (the version before)"
        if old is not None:
            self._compare(event, old, new)

    def _seen(self, event: dict[str, Any], place: Place | None) -> tuple[SeenPage | None, bytes, str | None]:
        """Return a version as it was read, its body, and why there is none."""
        if place is None:
            return None, b"", "noarchive"
        try:
            headers, body = self.bodies.answer(place)
        except StoreError:
            return None, b"", "missing"
        return see_page(body, event["url"], headers), body, None

    def _compare(self, event: dict[str, Any], old: SeenPage, new: SeenPage) -> None:
        if event["change"] is not None:
            before, after = Counter(old.main_text.split()), Counter(new.main_text.split())
            distance = distance_of(bag_of(old.main_text), bag_of(new.main_text))
            event["change"]["words_added"] = (after - before).total()
            event["change"]["words_removed"] = (before - after).total()
            event["change"]["significant"] = PAPER.holds(distance.p, distance.effect, distance.rewritten)
        if self.include & {"diff", "added", "removed"}:
            lines = old.main_text.splitlines(), new.main_text.splitlines()
            blocks = compare_lines(*lines)
            if "diff" in self.include:
                _set(event, "diff", "\n".join(unified(*lines, blocks)))
            for name, side in (("removed", 0), ("added", 1)):
                if name in self.include:
                    parts = [lines[side][block[2 * side] : block[2 * side + 1]] for block in blocks]
                    _set(event, name, "\n".join(line for part in parts for line in part))
        if "links_added" in self.include:
            known = set(old.columns_to_follow.urls)
            _set_links(event, [url for url in new.columns_to_follow.urls if url not in known])


def clean(text: str) -> str:
    """Return a text that any encoder takes: what no Unicode text may hold (lone surrogates) becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _set(event: dict[str, Any], name: str, text: str) -> None:
    encoded = clean(text).encode()
    if len(encoded) > CAP_BYTES:
        event["cut"] = True
    event[name] = encoded[:CAP_BYTES].decode("utf-8", "ignore")


def _set_links(event: dict[str, Any], urls: list[str]) -> None:
    left, kept = CAP_BYTES, list[str]()
    for url in urls:
        left -= len(url) + 4
        if left < 0:
            event["cut"] = True
            break
        kept.append(clean(url))
    event["links_added"] = kept
