"""What can be counted on one version of a page, and its words: the measurements that recordings have of a version."""

from __future__ import annotations

import re
from typing import NamedTuple

from recrawl.see.page import SeenPage
from recrawl.see.sniff import Media
from recrawl.see.words import Bag, bag_of

_ADDRESS = re.compile(rb"(?<=[\w.+-])@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{2,63})+")  # from its @ on: linear time


class Contents(NamedTuple):
    """The counts of one version; the columns of the same names of a recording."""

    words: int
    text_bytes: int
    images: int
    tables: int
    emails: int
    out_internal: int
    out_external: int
    bag: Bag  # of the main text


def contents_of(seen: SeenPage) -> Contents:
    """Count what a page says and shows; links are those that robots may follow."""
    raw_text = seen.raw_text if seen.media is Media.HTML else seen.main_text.encode("utf-8", "replace")
    followed = seen.columns_to_follow
    inside = sum(followed.inside)
    return Contents(
        words=seen.words,
        text_bytes=len(raw_text),
        images=seen.images,
        tables=seen.tables,
        emails=len(_ADDRESS.findall(raw_text)) if b"@" in raw_text else 0,
        out_internal=inside,
        out_external=len(followed.urls) - inside,
        bag=bag_of(seen.main_text),
    )
