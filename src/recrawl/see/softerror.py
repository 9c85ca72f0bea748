"""Soft errors: pages that say "not found" with status 200.

Two signs: the page's own words, and likeness to what the same host answers for an address that cannot exist
(Bar-Yossef et al., "Sic transit gloria telae", 2004). The first needs the page alone, the second one probe for a host.
"""

from __future__ import annotations

import re

import numpy as np

from recrawl.hashing import mix
from recrawl.see.fingerprint import hamming
from recrawl.urls.url import split

MAX_WORDS = 300  # error pages are short; long ones that speak of errors are about errors
PROBE_DISTANCE = 6  # of 64 bits: the same page but for the address it repeats; unrelated pages differ in about 32

_SAYS_SO = re.compile(
    r"(?i)\b(?:404|410)\b|(?:page|file|document|resource|content|article|product|site|url|address)s?\W+(?:(?:you\W+\w+"
    r"(?:\W+\w+){0,3}\W+)?(?:was|were|is|has|could|can|does|may|are)\W*(?:been|not|n.t)?\W*){0,3}(?:not\W+)?"
    r"(?:found|exist|removed|deleted|moved|available|unavailable|expired)|not\W+found|nothing\W+(?:was\W+)?found|no\W+"
    r"longer\W+(?:exists?|available)|can.?t\W+find|couldn.?t\W+find|does\W*n.t\W+exist|seite\W+(?:wurde\W+)?nicht\W+"
    r"gefunden|nicht\W+gefunden|page\W+(?:non\W+trouvée|introuvable)|página\W+no\W+(?:encontrada|existe)|no\W+encontrad[oa]"
    r"|não\W+encontrad[ao]|pagina\W+non\W+trovata|не\W+найден|ページが見つかりません|找不到|不存在"
)
_STRONG = re.compile(r"(?i)^\W*(?:error\W*)?(?:404|410)\b|\b(?:404|410)\W*$|not\W+found\W*$|^\W*not\W+found")


def says_not_found(title: str, heading: str, words: int) -> bool:
    """Whether a short page's title or main heading says that there is nothing here."""
    if words > MAX_WORDS:
        return False
    if any(_STRONG.search(place) for place in (title, heading)):
        return True
    return bool(_SAYS_SO.search(heading)) or (bool(_SAYS_SO.search(title)) and words < MAX_WORDS // 2)


def probe_url(href: str, seed: int) -> str:
    """Return an address beside `href` that cannot exist: what the host answers there is what its errors look like."""
    url = split(href)
    folder = url.path.rpartition("/")[0]
    name = int(mix(np.array([len(href)], dtype=np.uint64), seed)[0])
    extension = url.path.rpartition("/")[2].rpartition(".")
    suffix = f".{extension[2]}" if extension[1] and len(extension[2]) <= 5 else ""
    return f"{url.origin}{folder}/{name:016x}{suffix}"


def is_soft_error(title: str, heading: str, words: int, simhash: int, probe: int | None = None) -> bool:
    """Whether a page with status 200 is an error page, by its words or by likeness to the probe's answer."""
    if probe is not None and hamming(simhash, probe) <= PROBE_DISTANCE:
        return True
    return says_not_found(title, heading, words)
