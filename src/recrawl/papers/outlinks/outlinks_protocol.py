"""Look back, look around (Dang et al. 2022): where new links appear, what predicts them, and how to rank pages by it.

Ten weekly crawls of the same pages: everything that predicts week 9 is known at the crawl before it. A quarter of the
pages is held out as a test set, a third of the others tunes the learners; all of it is repeated with other draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.columns import FloatArray, PageIds
from recrawl.errors import InputError
from recrawl.features.newlinks import WHERE, Targets
from recrawl.features.related import NEIGHBOURS, NONE, Related, related
from recrawl.features.semantic import SemanticSpace, merger, sentence_vectors
from recrawl.papers.outlinks.agreement import spearman
from recrawl.papers.outlinks.crawled_texts import CrawledTexts
from recrawl.papers.outlinks.crawls import Crawls
from recrawl.papers.outlinks.outlinks_training import TableShelf
from recrawl.papers.outlinks.taxonomy import GRAPH, MAX_HISTORY, PAGE, Reading, around
from recrawl.recording.recording import Recording

WEEK = 7.0
Find = Callable[..., Related]  # of vectors, a number of neighbours and a seed


@dataclass(frozen=True)
class OutlinksProtocol:
    """How the experiment is run; the paper's values, but for the number of pages that learners are trained on."""

    weeks: int = 9  # intervals; the last one is predicted
    rows: int = 20_000  # pages drawn for training and test together; related pages are found among all
    repeats: int = 3
    trees: int = 0  # of each ensemble; 0: tuned from 200 to 500
    tune: bool = True
    histories: tuple[int, ...] = tuple(range(MAX_HISTORY + 1))
    neighbours: int = NEIGHBOURS
    model: str = ""  # of sentence embedding; empty: TF-IDF and LSA
    natural: bool | None = None  # natural gradient boosting; None: where the package is there
    seed: int = 0
    folds: int = 3  # of the cross-validation on the development set
    trusted_sites: tuple[str, ...] = ()  # that TrustRank starts from; none: all
    reading: Reading = field(default_factory=Reading)

    @classmethod
    def quick(cls, base: OutlinksProtocol) -> OutlinksProtocol:
        """A small version of the same, for a first look."""
        small = replace(base, rows=min(base.rows, 4_000), repeats=min(base.repeats, 2), tune=False)
        small = replace(small, trees=min(base.trees or 40, 40))
        return replace(small, histories=tuple(h for h in (0, 1, 8) if h in base.histories))

    def check(self) -> None:
        """Raise InputError for a protocol that cannot be run."""
        if (
            self.weeks < 2
            or self.repeats < 1
            or self.trees < 0
            or self.folds < 2
            or self.rows < 40
            or self.neighbours < 1
        ):
            raise InputError("take at least 2 weeks, 1 repeat, 0 trees (0: tuned), 2 folds, 40 rows and 1 neighbour")
        if not self.histories or min(self.histories) < 0 or max(self.histories) > MAX_HISTORY:
            raise InputError(f"histories are 0 to {MAX_HISTORY} weeks")


@dataclass(frozen=True)
class Split:
    """Rows of the pages at hand: to train, of these to tune on, and to test."""

    train: PageIds
    develop: PageIds
    test: PageIds


@dataclass(frozen=True)
class OutlinkData:
    """What all parts of the experiment stand on."""

    crawls: Crawls
    pages: PageIds  # those drawn for the learners
    targets: dict[str, Targets]  # of all pages
    protocol: OutlinksProtocol
    recall: float  # of the related pages
    shelf: TableShelf = field(default_factory=TableShelf, repr=False, compare=False)

    @property
    def has_words(self) -> bool:
        """Whether any page has related pages."""
        return self.crawls.related is not None and bool((self.crawls.related.pages != NONE).any())

    @property
    def has_links(self) -> bool:
        """Whether the links themselves are recorded, not only how many were added."""
        return self.crawls.recording.has_links

    def splits(self) -> list[Split]:
        """Draw test and development sets, one of each for every repetition."""
        made = []
        for repeat in range(self.protocol.repeats):
            order = np.random.default_rng((self.protocol.seed, repeat)).permutation(self.pages)
            quarter = max(len(order) // 4, 1)
            made.append(Split(order[quarter:], order[quarter : 2 * quarter], order[:quarter]))
        return made


def prepare(recording: Recording, protocol: OutlinksProtocol, find: Find = related) -> OutlinkData:
    """Take the pages that live through all crawls, and find their vectors and, by `find`, related pages."""
    end = recording.start + protocol.weeks * WEEK
    if end > recording.end + 1e-6:
        raise InputError(
            f"{protocol.weeks} weeks are more than the {recording.end - recording.start:g} days of the recording"
        )
    fixed = recording.window(recording.start, min(end, recording.end)).fixed()
    if len(fixed) < 40:
        raise InputError(f"{len(fixed)} pages live through all crawls; that is too few to learn from, take at least 40")
    times = fixed.start + WEEK * np.arange(protocol.weeks + 1, dtype=np.float64)
    crawls, recall = _crawls(fixed, times, protocol, find)
    targets = {where: Targets.of(crawls.new[at]) for at, where in enumerate(WHERE)}
    draw = np.random.default_rng(protocol.seed).permutation(len(fixed))[: protocol.rows]
    return OutlinkData(crawls, np.sort(draw), targets, protocol, recall)


def _crawls(recording: Recording, times: FloatArray, protocol: OutlinksProtocol, find: Find) -> tuple[Crawls, float]:
    """Describe what the pages are about; related pages are found by the versions at the crawl before the last week."""
    space = None if protocol.model else SemanticSpace(recording, seed=protocol.seed)
    first = sentence_vectors(recording, protocol.model) if space is None else space.first()
    texts = CrawledTexts(recording, times, space) if recording.tables.has("texts") and len(recording.texts()) else None
    known = first
    if texts is not None and texts.whole is not None:
        first, known = (texts.overwrite(first, texts.whole, crawl) for crawl in (0, len(times) - 2))
    merge = merger(first, seed=protocol.seed)
    if texts is not None and texts.whole is not None:
        texts.merge = merge
    near = find(known, protocol.neighbours, seed=protocol.seed)
    trust = protocol.trusted_sites
    crawls = Crawls(recording, times, related=near, vectors=merge(first), texts=texts, trusted_sites=trust)
    return crawls, near.recall


def correlations(crawls: Crawls, most: int = 20_000) -> tuple[list[str], FloatArray]:
    """Return Spearman's rho between all static features but the semantic vector, at the crawl before the last week."""
    chosen = [*PAGE, *GRAPH, *(around(feature) for feature in PAGE)]
    values = [feature.value(crawls, len(crawls) - 2)[:: max(1, len(crawls.recording) // most)] for feature in chosen]
    rho = np.eye(len(chosen))
    for i, first in enumerate(values):
        for j, second in enumerate(values[:i]):
            rho[i, j] = rho[j, i] = _rho(first, second)
    return [feature.name for feature in chosen], rho


def _rho(first: FloatArray, second: FloatArray) -> float:
    known = ~np.isnan(first) & ~np.isnan(second)
    return spearman(first[known], second[known])
