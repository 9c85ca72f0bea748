"""The copies that a live crawl holds, read from its store when a policy asks.

In memory there are three numbers per page: the visit that brought the copy we hold, the one of the copy before the last
visit, and the one of the first copy. They advance round by round, also when a restart replays the visits, so that a
policy never sees a version before its crawl had it. Counts, links and words are read from the store when they are asked
for, and kept: of versions that are new since. What is not known of a copy is 0, and its similarity 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, PageIds, longer
from recrawl.copies import PageBags
from recrawl.features.page_words import DIMENSIONS, hashed
from recrawl.features.word_space import GrowingSpace
from recrawl.live.store import Store
from recrawl.live.store_contents import CONTENT_COLUMNS, COUNTS
from recrawl.live.store_visits import NOT_TOLD, Rows
from recrawl.memory import Memory
from recrawl.see.words import NO_WORDS, unpack_bag
from recrawl.visits import Outcome

WORD_DIMENSIONS = 64
UNKNOWN = -1
LINK_COLUMNS = np.dtype([("page", "i4"), ("target", "i4"), ("since", "f8"), ("until", "f8")])
Vectors = npt.NDArray[np.float32]


class StoredCopies:
    """Copies of one crawl, for the pages that its memory has room for."""

    def __init__(self, store: Store, memory: Memory, seed: int = 0) -> None:
        size = len(memory)
        self._store = store
        self._memory = memory
        self.version: PageIds = np.full(size, UNKNOWN, dtype=np.int64)  # the visit that brought the copy we hold
        self._before: PageIds = np.full(size, UNKNOWN, dtype=np.int64)  # the same, before the last visit
        self._first: PageIds = np.full(size, UNKNOWN, dtype=np.int64)  # the first version whose words are known
        self._counts: Rows | None = None  # of the copies, as far as they were read
        self._links: Rows | None = None  # intervals in which pages linked to pages, as far as they were read
        self._unread: list[PageIds] = []  # pages visited since the links were read
        self._space = GrowingSpace(self.bags, WORD_DIMENSIONS, seed)

    def take(self, rows: Rows) -> None:
        """Take the copies that visits brought, columns of VISIT_COLUMNS."""
        self._make_room()
        page, outcome, told = rows["page"], rows["outcome"], rows["significant"] != NOT_TOLD
        seen = page[outcome < Outcome.GONE]
        self._before[seen] = self.version[seen]
        new = (outcome == Outcome.CHANGED) | (outcome == Outcome.FIRST)
        self.version[page[new]] = np.where(told, rows["visit"], UNKNOWN)[new]
        first = page[outcome == Outcome.FIRST]
        self._before[first] = self.version[first]  # there was no copy before
        gone = page[outcome == Outcome.GONE]
        self.version[gone] = self._before[gone] = UNKNOWN
        fresh = told & (self._first[page] == UNKNOWN)
        self._first[page[fresh]] = rows["visit"][fresh]
        if self._links is not None:
            self._unread.append(seen.copy())

    def _make_room(self) -> None:
        """Grow with the memory."""
        size = len(self._memory)
        self.version = longer(self.version, size, UNKNOWN)
        self._before, self._first = longer(self._before, size, UNKNOWN), longer(self._first, size, UNKNOWN)

    # -- counts -----------------------------------------------------------------------------------------------------

    def column(self, name: str) -> FloatArray | None:
        """Return a count of the copies; None where it is not recorded."""
        return self._current()[name].astype(np.float64) if name in COUNTS else None

    def moved(self, name: str) -> FloatArray | None:
        """Return by how much the count differs from that of the copy before the last visit."""
        if name not in COUNTS:
            return None
        pages = self._changed()
        out = np.zeros(len(self.version))
        before = self._read(self._before[pages])
        out[pages] = self._current()[name][pages] - before[name]
        return out

    def similarity(self) -> FloatArray | None:
        """Return the cosine similarity of the words of the copy and of the copy before, at the last visit."""
        pages = self._changed()
        out = np.ones(len(self.version))
        out[pages] = self._current()["cosine"][pages]
        return out

    def _changed(self) -> PageIds:
        """Pages whose last visit found a change, with both versions known."""
        self._make_room()
        return np.flatnonzero((self.version != self._before) & (self.version >= 0) & (self._before >= 0))

    def _current(self) -> Rows:
        """Return the counts of all copies, reading those that are new."""
        self._make_room()
        if self._counts is None or len(self._counts) < len(self.version):
            self._counts = _blank(len(self.version))
        new = np.flatnonzero(self._counts["visit"] != self.version)
        self._counts[new] = self._read(self.version[new])
        return self._counts

    def _read(self, versions: PageIds) -> Rows:
        """Return the counts of these versions; zeros where they are not known."""
        out = _blank(len(versions))
        out["visit"] = versions
        known = np.flatnonzero(versions >= 0)
        if len(known):
            rows = self._store.contents(versions[known].tolist())
            found = np.searchsorted(rows["visit"], versions[known])
            there = rows["visit"][np.minimum(found, len(rows) - 1)] == versions[known] if len(rows) else found > 0
            out[known[there]] = rows[found[there]]
        return out

    # -- links ------------------------------------------------------------------------------------------------------

    def links(self, taken_at: FloatArray) -> tuple[PageIds, PageIds] | None:
        """Return source and target of the links between pages, on copies taken at these times (NaN: no copy)."""
        self._read_links()
        assert self._links is not None, "read"
        links = self._links[(self._links["page"] < len(taken_at)) & (self._links["target"] < len(taken_at))]
        when = taken_at[links["page"]]
        there = (links["since"] <= when) & (when < links["until"])  # False for NaN: no copy
        return links["page"][there].astype(np.int64), links["target"][there].astype(np.int64)

    def _read_links(self) -> None:
        if self._links is None:
            self._links, unread = _link_rows(self._store, None), []
        else:
            unread = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *self._unread])).tolist()
        if unread:
            kept = self._links[~np.isin(self._links["page"], unread)]
            self._links = np.concatenate([kept, *(_link_rows(self._store, page) for page in unread)])
        self._unread = []

    # -- words ------------------------------------------------------------------------------------------------------

    def word_vectors(self) -> Vectors | None:
        """Return unit vectors of what the first copies are about; None where no words are known."""
        self._make_room()
        return self._space.vectors(self._first >= 0, self._memory.tie)

    def hashed_words(self, pages: PageIds, versions: PageIds) -> Vectors:
        """Return a hashed vector of these pages' versions; zeros where their words are not known."""
        out = np.zeros((len(pages), DIMENSIONS), dtype=np.float32)
        first = np.flatnonzero((versions >= 0) & (versions == self._first[pages]))
        later = np.flatnonzero((versions >= 0) & (versions != self._first[pages]))
        row = dict(zip(pages[first].tolist(), first.tolist(), strict=True))
        for page, _, packed in self._store.first_bags(row):
            bag = unpack_bag(packed)
            out[row[page]] = hashed(bag.bucket, bag.count)
        row = dict(zip(versions[later].tolist(), later.tolist(), strict=True))
        for visit, vector in self._store.word_vectors(row):
            out[row[visit]] = np.frombuffer(vector, dtype=np.float32)
        return out

    def bags(self, pages: PageIds) -> PageBags:
        """Return the words of the first copies of these pages, in this order; none where they are not known."""
        self._make_room()
        known = pages[self._first[pages] != UNKNOWN]
        found = {page: unpack_bag(packed) for page, _, packed in self._store.first_bags(known.tolist())}
        bags = [found.get(page, NO_WORDS) for page in pages.tolist()]
        start = np.append(0, np.cumsum([len(bag.bucket) for bag in bags])).astype(np.int64)
        return PageBags(
            start, np.concatenate([bag.bucket for bag in bags]), np.concatenate([bag.count for bag in bags])
        )

    # -- addresses --------------------------------------------------------------------------------------------------

    def hosts(self) -> npt.NDArray[np.object_]:
        """Return the name of each page's site."""
        names = self._store.hosts()
        known = np.array([names.get(host, "") for host in range(max(names, default=0) + 1)], dtype=np.object_)
        return np.asarray(known[np.minimum(self._memory.site, len(known) - 1)])

    def endings(self) -> npt.NDArray[np.object_] | None:
        """Return the ending of each page's address: html, txt, ..."""
        if self._memory.load_paths is None:
            return None
        return np.array([ending_of(str(path)) for path in self._memory.load_paths()], dtype=np.object_)


def ending_of(path: str) -> str:
    """Return the ending of a path, empty where it has none."""
    name = path.partition("?")[0].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _blank(size: int) -> Rows:
    rows = np.zeros(size, dtype=CONTENT_COLUMNS)
    rows["visit"], rows["cosine"] = UNKNOWN, 1.0
    return rows


def _link_rows(store: Store, page: int | None) -> Rows:
    rows = (
        (source, target, since, np.inf if until is None else until)
        for source, _, target, _, _, since, until in store.links(page)
        if target is not None and target != source
    )
    return np.fromiter(rows, dtype=LINK_COLUMNS)
