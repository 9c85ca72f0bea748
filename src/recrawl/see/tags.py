"""What is special about the tags of HTML, by the hash of their names, for kernels that read markup."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

VOID, IMPLIED, RAW, SPECIAL, BOUNDARY, TITLE, DRAWING, DROP, ANCHOR, HEADING = (1 << i for i in range(10))

GROUPS = {
    # no end tag, no content
    VOID: "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr",
    # closed by what follows them: without a counted element in between they do not nest
    IMPLIED: "html head body p li dt dd option optgroup tr td th tbody thead tfoot colgroup caption",
    # their content is not markup, or not shown
    RAW: "script style iframe noembed noframes xmp textarea template",
    DRAWING: "svg math",
    TITLE: "title",
    # formatting: of no meaning for words and links, and costly, because the standard reopens what is left open
    DROP: "b big code em font i nobr s small strike strong tt u plaintext",
    ANCHOR: "a",
    HEADING: "h1 h2 h3 h4 h5 h6",
    # no end tag reaches through these
    BOUNDARY: "table object marquee applet",
    # no end tag of an ordinary element reaches through these
    SPECIAL: "address article aside blockquote button center details dir div dl fieldset figcaption figure footer form"
    " frameset h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav noscript ol pre search section select summary ul"
    " table object marquee applet",
}

HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)


def name_hash(name: str) -> np.uint64:
    """FNV-1a, 64 bits."""
    value = int(HASH_START)
    for byte in name.encode():
        value = (value ^ byte) * int(HASH_PRIME) % 2**64
    return np.uint64(value)


def _table() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    flags: dict[str, int] = {}
    for flag, names in GROUPS.items():
        for name in names.split():
            flags[name] = flags.get(name, 0) | flag
    rows = sorted((int(name_hash(name)), flag) for name, flag in flags.items())
    hashes, values = zip(*rows, strict=True)
    return np.array(hashes, dtype=np.uint64), np.array(values, dtype=np.int64)


NAMES, FLAGS = _table()  # sorted hashes, and what each name is
SCRIPT = name_hash("script")
HEADINGS = name_hash("h1")  # stands for all six: any of their end tags closes any of them
HREF = name_hash("href")
REL = name_hash("rel")
