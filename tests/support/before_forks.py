"""What a process does once, done before others are forked from it: importing this is the last thing that it imports.

Scrapy imports its parts by name when a crawl begins, the public suffixes are read when a host is first looked at, and
every search for garbage goes through all that was imported, which copies the memory that forks share.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

from recrawl.urls.url import registrable_domain


def _names(value: Any) -> Iterator[str]:
    """Yield the names in a setting of Scrapy."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (name for part in value.items() for name in part if isinstance(name, str))


for setting in filter(str.isupper, dir(default_settings)):
    for name in _names(getattr(default_settings, setting)):
        if name.startswith("scrapy."):
            load_object(name)
registrable_domain("www.example.org")
gc.collect()
gc.freeze()
