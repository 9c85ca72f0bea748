"""Soft errors: pages that say "not found" with status 200.

The sign is the page's own words. (Bar-Yossef et al., "Sic transit gloria telae", 2004, also compare with what the host
answers for an address that cannot exist; that costs one more request per host, and we do not ask it.)
"""

from __future__ import annotations

import re

MAX_WORDS = 300  # error pages are short; long ones that speak of errors are about errors

_SAYS_SO = re.compile(
    r"(?i)\b(?:404|410)\b|(?:page|file|document|resource|content|article|product|site|url|address)s?\W+(?:(?:you\W+\w+"
    r"(?:\W+\w+){0,3}\W+)?(?:was|were|is|has|could|can|does|may|are)\W*(?:been|not|n.t)?\W*){0,3}(?:not\W+)?"
    r"(?:found|exist|removed|deleted|moved|available|unavailable|expired)|not\W+found|nothing\W+(?:was\W+)?found|no\W+"
    r"longer\W+(?:exists?|available)|can.?t\W+find|couldn.?t\W+find|does\W*n.t\W+exist|seite\W+(?:wurde\W+)?nicht\W+"
    r"gefunden|nicht\W+gefunden|page\W+(?:non\W+trouvée|introuvable)|página\W+no\W+(?:encontrada|existe)|no\W+encontrad[oa]"
    r"|não\W+encontrad[ao]|pagina\W+non\W+trovata|не\W+найден|ページが見つかりません|找不到|不存在"
)
_NEEDED = frozenset(
    {"404", "410", "found", "find", "exist", "available", "moved", "deleted", "expired", "gefunden", "introuvable"}
    | {"encontrad", "trovata"}
)
_STRONG = re.compile(r"(?i)^\W*(?:error\W*)?(?:404|410)\b|\b(?:404|410)\W*$|not\W+found\W*$|^\W*not\W+found")


def says_not_found(title: str, heading: str, words: int) -> bool:
    """Whether a short page's title or main heading says that there is nothing here."""
    if words > MAX_WORDS or not _may_say_so(f"{title}\n{heading}"):
        return False
    if any(_STRONG.search(place) for place in (title, heading)):
        return True
    return bool(_SAYS_SO.search(heading)) or (bool(_SAYS_SO.search(title)) and words < MAX_WORDS // 2)


def _may_say_so(text: str) -> bool:
    """Whether a pattern could match, at a tenth of its cost; beyond ASCII, letters have more than two cases."""
    low = text.lower()
    return not text.isascii() or any(word in low for word in _NEEDED)
