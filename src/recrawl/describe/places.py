"""Where a page lives: the nested and crossing groups of pages that tend to change together.

    site        the page's site
    section     the first two directories of its path
    parent      the directory above its own
    directory   its own directory
    name        its file name, on the whole site (index.html, README.md, one language's version)
    prefix      the first word of its file name, in its directory (release-1.2, release-1.3)
    cohort      the pages of its site whose last change was found in the same cycle as its own
    alike       the pages of its section with a like past: as many changes found (up to 3), and the same last outcome

A path whose last part is an index or a read-me stands for its directory, so it counts as a page one level up. The last
two groups move with what visits show: a page that is found changed joins the cohort of this cycle.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from recrawl.columns import IntArray, PageIds, grown, mix
from recrawl.describe.history import History
from recrawl.remember.urlindex import UrlIndex

LEVELS = ("site", "section", "parent", "directory", "name", "prefix", "cohort", "alike")
PLACED = LEVELS.index("cohort")  # how many of them a page's address decides
SITE, SECTION, PARENT, DIRECTORY = 0, 1, 2, 3

PLACED_AT_ONCE = 50_000  # pages
MOST_CHANGES = 3  # more are not told apart

_INDEX = re.compile(r"/?_?(?:index|readme)\.[a-z]+$", re.I)
_WORDS = re.compile(r"[-_. \d]+")


class Places:
    """The groups of every page: `ids[page, level]`, -1 where the page is not placed yet."""

    def __init__(self) -> None:
        self.ids: npt.NDArray[np.int32] = np.empty((0, len(LEVELS)), dtype=np.int32)
        self._known = UrlIndex()  # by a hash of level, site and key: names are not kept, there may be millions

    def __len__(self) -> int:
        return len(self._known)

    def missing(self, pages: PageIds) -> PageIds:
        """Return those of the pages that are not placed yet."""
        beyond = pages >= len(self.ids)
        return pages[beyond | (self.ids[np.where(beyond, 0, pages), 0] < 0)] if len(self.ids) else pages

    def place(self, pages: PageIds, site: IntArray, paths: npt.NDArray[np.object_] | None, size: int) -> None:
        """Find the groups of these pages; `size` is the number of rows there should be."""
        if size > len(self.ids):
            self.ids = grown(self.ids, size, -1)
        for part in np.array_split(pages, len(pages) // PLACED_AT_ONCE + 1):
            hashes = np.empty((len(part), PLACED), dtype=np.int64)
            for row, page in enumerate(part.tolist()):
                where = int(site[page])
                keys = _keys("" if paths is None else str(paths[page]))
                hashes[row] = [hash((level, where, key)) for level, key in enumerate(keys)]
            groups, _ = self._known.add(hashes.view(np.uint64).ravel())
            self.ids[part, :PLACED] = groups.reshape(-1, PLACED)

    def regroup(self, pages: PageIds, history: History) -> None:
        """Put pages into the groups that their own past decides."""
        past = np.minimum(history.changes[pages], MOST_CHANGES) * 2 + (history.ring[pages] & 1)
        for level, above, number in ((PLACED, SITE, history.last_change[pages] + 1), (PLACED + 1, SECTION, past)):
            keys = self.ids[pages, above].astype(np.int64) << 32 | number.astype(np.int64)
            found, where = np.unique(keys, return_inverse=True)
            groups, _ = self._known.add(mix(found, level))
            self.ids[pages, level] = groups[where]


def group_names(path: str) -> list[str]:
    """Return the names of a page's groups, for people."""
    keys = _keys(path)
    section = _name(SECTION, keys[SECTION])
    moving = ["pages on this site that last changed when it did", f"pages in {section} with a past like its own"]
    return [*(_name(level, key) for level, key in enumerate(keys)), *moving]


def _keys(path: str) -> tuple[str, ...]:
    """Return the page's key at each level."""
    parts = (_INDEX.sub("", path) or path).lstrip("/").split("/")
    directories, name = parts[:-1], parts[-1]
    stem = name.rsplit(".", 1)[0]
    first = next((word for word in _WORDS.split(stem) if word), stem).lower()
    own = "/".join(directories)
    return "", "/".join(directories[:2]), "/".join(directories[:-1]), own, name, f"{own}/{first}"


def _name(level: int, key: str) -> str:
    if level == SITE:
        return "this site"
    return {"name": f"pages named {key}", "prefix": f"/{key}*"}.get(LEVELS[level], f"/{key}/" if key else "/")
