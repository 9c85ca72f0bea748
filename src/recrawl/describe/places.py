"""Where a page lives: the nested and crossing groups of pages that tend to change together.

    site        the page's site
    section     the first two directories of its path
    parent      the directory above its own
    directory   its own directory
    name        its file name, on the whole site (index.html, README.md, one language's version)
    prefix      the first word of its file name, in its directory (release-1.2, release-1.3)

A path whose last part is an index or a read-me stands for its directory, so it counts as a page one level up.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from recrawl.columns import IntArray, PageIds, grown

LEVELS = ("site", "section", "parent", "directory", "name", "prefix")
SITE, PARENT, DIRECTORY = LEVELS.index("site"), LEVELS.index("parent"), LEVELS.index("directory")

_INDEX = re.compile(r"/?_?(?:index|readme)\.[a-z]+$", re.I)
_WORDS = re.compile(r"[-_. \d]+")


class Places:
    """The groups of every page: `ids[page, level]`, -1 where the page is not placed yet."""

    def __init__(self) -> None:
        self.ids: npt.NDArray[np.int32] = np.empty((0, len(LEVELS)), dtype=np.int32)
        self.names: list[str] = []  # of each group, for people
        self._known: dict[tuple[int, int, str], int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def missing(self, pages: PageIds) -> PageIds:
        """Return those of the pages that are not placed yet."""
        beyond = pages >= len(self.ids)
        return pages[beyond | (self.ids[np.where(beyond, 0, pages), 0] < 0)] if len(self.ids) else pages

    def place(self, pages: PageIds, site: IntArray, paths: npt.NDArray[np.object_] | None, size: int) -> None:
        """Find the groups of these pages; `size` is the number of rows there should be."""
        if size > len(self.ids):
            self.ids = grown(self.ids, size, -1)
        for page in pages.tolist():
            keys = _keys("" if paths is None else str(paths[page]))
            self.ids[page] = [self._group(level, int(site[page]), key) for level, key in enumerate(keys)]

    def _group(self, level: int, site: int, key: str) -> int:
        found = self._known.setdefault((level, site, key), len(self.names))
        if found == len(self.names):
            self.names.append(_name(level, key))
        return found


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
