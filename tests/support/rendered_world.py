"""A simulated crawl of the pages that a replay server serves: the reference that a live crawl is held against."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, PageIds, tie_order
from recrawl.copies import PageBags
from recrawl.features.page_words import hashed
from recrawl.features.recorded_copies import RecordedCopies
from recrawl.features.word_space import GrowingSpace
from recrawl.live.stored_copies import ending_of
from recrawl.memory import Memory
from recrawl.see.change import PAPER, Distance, distance_of
from recrawl.see.page import see_page
from recrawl.see.version_contents import Contents, contents_of
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.replay import ReplayServer
from recrawl.urls.url import host_of, normalise
from recrawl.urls.urlindex import url_hashes
from recrawl.visits import Outcome, Visits

HTML = (("content-type", "text/html; charset=utf-8"),)


class ServedCopies:
    """What the crawler holds of every page: read from the served pages themselves, one by one."""

    def __init__(self, links: RecordedCopies, urls: list[str], tie: npt.NDArray[np.uint64]) -> None:
        self.urls, self.tie = urls, tie
        self.now: dict[int, Contents] = {}
        self.before: dict[int, Contents] = {}
        self.first: dict[int, Contents] = {}
        self._links = links
        self._space = GrowingSpace(self.bags, 64, 3)

    def take(self, page: int, outcome: int, contents: Contents | None) -> Distance | None:
        """Take a copy of a page; return how far it is from the one before."""
        if outcome in (Outcome.GONE, Outcome.FAILED):
            return None
        if contents is None:  # unchanged
            self.before[page] = self.now[page]
            return None
        self.before[page] = self.now.get(page, contents)
        self.now[page] = contents
        self.first.setdefault(page, contents)
        return distance_of(self.before[page].bag, contents.bag)

    def column(self, name: str) -> FloatArray | None:
        return np.array([float(getattr(self.now.get(p), name, 0)) for p in range(len(self.urls))])

    def moved(self, name: str) -> FloatArray | None:
        old = np.array([float(getattr(self.before.get(p), name, 0)) for p in range(len(self.urls))])
        now = self.column(name)
        assert now is not None
        return now - old

    def similarity(self) -> FloatArray | None:
        out = np.ones(len(self.urls))
        for page in self.now.keys() & self.before.keys():
            if self.now[page] is not self.before[page]:
                cosine = distance_of(self.before[page].bag, self.now[page].bag).cosine
                out[page] = np.float32(cosine)
        return out

    def links(self, taken_at: FloatArray) -> tuple[PageIds, PageIds] | None:
        return self._links.links(taken_at)

    def word_vectors(self) -> npt.NDArray[np.float32] | None:
        worded = np.zeros(len(self.urls), dtype=np.bool_)
        worded[list(self.first)] = True
        return self._space.vectors(worded, self.tie)

    def hosts(self) -> npt.NDArray[np.object_]:
        return np.array([host_of(url) for url in self.urls], dtype=np.object_)

    def endings(self) -> npt.NDArray[np.object_] | None:
        return np.array([ending_of(url.split("/", 3)[-1]) for url in self.urls], dtype=np.object_)

    def bags(self, pages: PageIds) -> PageBags:
        bags = [self.first[page].bag for page in pages.tolist()]
        start = np.append(0, np.cumsum([len(bag.bucket) for bag in bags])).astype(np.int64)
        return PageBags(start, np.concatenate([b.bucket for b in bags]), np.concatenate([b.count for b in bags]))


class RenderedWorld(RecordedWorld):
    """Visits tell what the pages are like as they are served, whose words are invented."""

    def __init__(self, server: ReplayServer) -> None:
        recording = server.rendering.recording
        super().__init__(recording, links=True, copies=False)
        self.server = server
        self.urls = [normalise(server.rendering.url(page, server.port)) or "" for page in range(len(recording))]

    def rendered_memory(self, cycle_days: float, seed: int) -> Memory:
        """Return the memory of a crawl that has yet to fetch every page; tie-breaks are those of a live crawl."""
        memory = self.memory(cycle_days=cycle_days, seed=seed)
        memory.tie = tie_order(url_hashes(self.urls).view(np.int64), seed)
        memory.paths_of = lambda pages: [self.urls[page].split("/", 3)[-1] for page in pages]
        memory.load_paths = lambda: np.array([url.split("/", 3)[-1] for url in self.urls], dtype=np.object_)
        self.shown: dict[int, set[str]] = {}
        self.served = ServedCopies(self._copies, self.urls, memory.tie)
        memory.copies = self.served
        return memory

    def visit(self, pages: PageIds, at: float) -> Visits:
        """Answer visits, with the contents of the served pages."""
        visits = super().visit(pages, at)
        length, size = np.full(len(pages), np.nan), np.zeros(len(pages))
        new_links = np.zeros((2, len(pages)), dtype=np.int64)
        significant = np.zeros(len(pages), dtype=np.bool_)
        for i, (page, outcome) in enumerate(zip(pages.tolist(), visits.outcome.tolist(), strict=True)):
            new = outcome in (Outcome.FIRST, Outcome.CHANGED)
            contents, links = self._contents(page, at) if new else (None, self.shown.get(page, set()))
            if outcome == Outcome.CHANGED:
                for url in links - self.shown[page]:
                    new_links[int(host_of(url) != host_of(self.urls[page])), i] += 1
            self.shown[page] = links
            distance = self.served.take(page, outcome, contents)
            length[i] = np.nan if contents is None else contents.words
            if outcome == Outcome.CHANGED and distance is not None:
                size[i] = distance.added + distance.removed
                significant[i] = PAPER.holds(distance.p, distance.effect, distance.rewritten)
        return replace(
            visits,
            new_internal=new_links[0],
            new_external=new_links[1],
            length=length,
            change_size=size,
            significant=significant,
            words=lambda: self._said(pages),
        )

    def _contents(self, page: int, at: float) -> tuple[Contents, set[str]]:
        seen = see_page(self.server.rendering.html(page, at, self.server.port), self.urls[page], HTML)
        return contents_of(seen), set(seen.columns_to_follow.urls)

    def _said(self, pages: PageIds) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(pages), 32), dtype=np.float32)
        for i, page in enumerate(pages.tolist()):
            if page in self.served.now:
                bag = self.served.now[page].bag
                rows[i] = hashed(bag.bucket, bag.count)
        return rows
