"""Properties of HTML tag and attribute names, by hash, for the kernel that scans markup."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.hashing import fnv1a

BLOCK, VOID, IMPLIED, SPECIAL, BOUNDARY, RAW, DRAWING, ASIDE, CONTENT = (1 << i for i in range(9))

GROUPS = {
    # a line of its own in the plain text
    BLOCK: "address applet article aside blockquote body br button caption center col colgroup dd details dir div dl dt"
    " fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html input legend"
    " li link listing main marquee menu meta nav noscript object ol optgroup option p param pre search section select"
    " source summary table tbody td tfoot th thead title tr track ul",
    # no end tag, no content
    VOID: "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr",
    # closed by what follows them, so they are not counted as open
    IMPLIED: "html head body p li dt dd option optgroup tr td th tbody thead tfoot colgroup caption",
    # no end tag of an ordinary element reaches through these ...
    SPECIAL: "address article aside blockquote button center details dir div dl fieldset figcaption figure footer form"
    " frameset h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav noscript ol pre search section select summary ul"
    " table object marquee applet",
    # ... and none at all through these
    BOUNDARY: "table object marquee applet",
    # their content is not markup, or not shown
    RAW: "script style iframe noembed noframes xmp textarea template title",
    DRAWING: "svg math",
    # never main content ...
    ASIDE: "nav aside footer header menu select button datalist dialog noscript",
    # ... and always, whatever its class says
    CONTENT: "main article",
}

# words in a class, id or role that say: not main content
ASIDE_WORDS = (
    "nav navbar navigation menu menubar submenu breadcrumb breadcrumbs sidebar footer masthead banner contentinfo"
    " complementary cookie cookies consent gdpr ad ads advert adverts advertisement advertisements advertising"
    " adsbygoogle adslot sponsor sponsored sponsors promo share sharing social related recommended popup modal overlay"
    " newsletter subscribe login signin signup toolbar pagination pager skiplink copyright outbrain taboola dialog"
)


def _table() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    flags: dict[str, int] = {}
    for flag, names in GROUPS.items():
        for name in names.split():
            flags[name] = flags.get(name, 0) | flag
    rows = sorted((int(fnv1a(name)), flag) for name, flag in flags.items())
    hashes, values = zip(*rows, strict=True)
    return np.array(hashes, dtype=np.uint64), np.array(values, dtype=np.int64)


def _by_slot(names: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return a table that holds each hash in the slot that its last bits name; 0 where there is none."""
    table = np.zeros(4096, dtype=np.uint64)
    table[(names % np.uint64(len(table))).astype(np.int64)] = names
    assert np.count_nonzero(table) == len(names), "a slot for each name"
    return table


def _places(names: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    places = np.zeros(4096, dtype=np.uint8)
    slots = (names % np.uint64(len(places))).astype(np.int64)
    assert len(set(slots.tolist())) == len(names) < 256, "a slot for each name"
    places[slots] = np.arange(len(names))
    return places


NAMES, FLAGS = _table()  # sorted hashes, and what each name is
PLACES = _places(NAMES)  # the place in NAMES of the name whose hash ends with these bits, if it is there
ASIDES = _by_slot(np.array([fnv1a(word) for word in ASIDE_WORDS.split()], dtype=np.uint64))

A, BASE, H1, IMG, LINK, MAIN, META, HEADER, SCRIPT, TABLE, TITLE = (
    fnv1a(name) for name in ("a", "base", "h1", "img", "link", "main", "meta", "header", "script", "table", "title")
)
CLASS, CONTENT_ATTRIBUTE, HIDDEN, HREF, HTTP_EQUIV, ID, NAME, REL, ROLE, TYPE, ARIA_HIDDEN = (
    fnv1a(name)
    for name in ("class", "content", "hidden", "href", "http-equiv", "id", "name", "rel", "role", "type", "aria-hidden")
)
