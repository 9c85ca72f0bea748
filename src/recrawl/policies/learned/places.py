"""Groups of pages that tend to change together: by place in the site, file name and last change.

    site        the page's site
    section     the first two directories of its path
    parent      the directory above its own
    directory   its own directory
    name        its file name, on the whole site (index.html, README.md, one language's version)
    shape       the form of its path on the site: 2021/05/some-name.html has the form year/number/word.html
    cohort      the pages of its site whose last change was found in the same cycle as its own
    theme       the pages of its site that are about the same (themes.py)

A path whose last part is an index or a read-me stands for its directory, so it counts as a page one level up. Cohorts
move with what visits show: a page that is found changed joins the cohort of this cycle. Pages whose theme is not known
form a group of their own on each site.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from recrawl.columns import IntArray, PageIds, grown
from recrawl.first_visits import form_of
from recrawl.hashing import mix
from recrawl.policies.learned.page_history import History
from recrawl.policies.learned.themes import NO_THEME
from recrawl.urls.urlindex import UrlIndex

LEVELS = ("site", "section", "parent", "directory", "name", "shape", "cohort", "theme")
SITE, SECTION, PARENT, DIRECTORY, NAME, SHAPE, COHORT, THEME = range(8)
PLACED = COHORT  # how many of them a page's address decides

PLACED_AT_ONCE = 50_000  # pages

_INDEX = re.compile(r"/?_?(?:index|readme)\.[a-z]+$", re.I)


class Places:
    """The groups of every page: `ids[page, level]`, -1 where the page is not placed yet."""

    def __init__(self) -> None:
        self.ids: npt.NDArray[np.int32] = np.empty((0, len(LEVELS)), dtype=np.int32)
        self._known = UrlIndex()  # by a hash of level, site and key: names are not kept, there may be millions
        self._given = 0

    @classmethod
    def of(cls, groups: npt.NDArray[np.int32], count: int) -> Places:
        """Return places whose groups by address are known: `count` in all, PLACED for each page."""
        places = cls()
        places.ids = np.full((len(groups), len(LEVELS)), -1, dtype=np.int32)
        places.ids[:, :PLACED] = groups
        places._given = count
        places.put_in_themes(np.arange(len(groups)), np.full(len(groups), NO_THEME))
        return places

    def __len__(self) -> int:
        return self._given + len(self._known)

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
        self.put_in_themes(pages, np.full(len(pages), NO_THEME))

    def put_in_themes(self, pages: PageIds, themes: PageIds) -> None:
        """Put pages into the groups of their themes."""
        self._put(pages, themes, THEME)

    def regroup(self, pages: PageIds, history: History) -> None:
        """Put pages into their cohorts."""
        self._put(pages, history.last_change[pages], COHORT)

    def _put(self, pages: PageIds, numbers: IntArray, level: int) -> None:
        """Put pages into the groups that have these numbers on their sites, -1 for those of which nothing is known."""
        keys = self.ids[pages, SITE].astype(np.int64) << 32 | (numbers + 1).astype(np.int64)
        found, where = np.unique(keys, return_inverse=True)
        groups, _ = self._known.add(mix(found, level))
        self.ids[pages, level] = self._given + groups[where]


def group_names(path: str) -> list[str]:
    """Return the names of a page's groups, for people."""
    named = [_name(level, key) for level, key in enumerate(_keys(path))]
    return [*named, "pages on this site that last changed when it did", "pages on this site about the same"]


def _keys(path: str) -> tuple[str, ...]:
    """Return the page's key at each level."""
    parts = (_INDEX.sub("", path) or path).lstrip("/").split("/")
    directories, name = parts[:-1], parts[-1]
    shape = "/".join(form_of(part) for part in parts)
    return "", "/".join(directories[:2]), "/".join(directories[:-1]), "/".join(directories), name, shape


def _name(level: int, key: str) -> str:
    if level == SITE:
        return "this site"
    if level == NAME:
        return f"pages named {key}"
    if level == SHAPE:
        return f"pages with addresses like {key}"
    return f"/{key}/" if key else "/"
