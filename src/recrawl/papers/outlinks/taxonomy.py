"""The features of Dang et al. 2022 (section 5.2, Fig 7) as a taxonomy: static or dynamic, of a page or of its network.

                 of one crawl                            of earlier crawls too
    page         SP  sizes, text quality, links, depths  DP  what SP was, new links of each past interval, their mean
    network      SN  inlinks, PageRank, TrustRank,       DN  what SN was, link change rate and new links of
                     SP of the related pages                 the related pages

A feature is a value: its name and how it is read off the crawls at one of them. Two functions make all others:
`back` takes a feature's value some crawls ago (static becomes dynamic), `around` takes its mean over the related pages,
weighted by similarity (page becomes network). Unknown values, such as a history before the page was born, are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.features.newlinks import WHERE
from recrawl.papers.outlinks.crawls import Crawls

MAX_HISTORY = 8
SETS = ("SP", "SPsem", "SN", "DP", "DN", "LBLA")
Ranks = Literal["trust", "both"]
RelatedRate = Literal["past", "all"]


@dataclass(frozen=True)
class Reading:
    """How the paper is read where it can be read in two ways.

    `ranks`: learners see TrustRank (what the paper reports, section 6.1) or PageRank too. `related_rate`: the link
    change rate of related pages over the weeks before the predicted one, or over all weeks (section 5.2, "over n - 1
    time periods"), the predicted one among them.
    """

    ranks: Ranks = "trust"
    related_rate: RelatedRate = "past"


@dataclass(frozen=True)
class Feature:
    """One number per page at a crawl."""

    name: str
    value: Callable[[Crawls, int], FloatArray]
    dynamic: bool = False
    network: bool = False

    @property
    def kind(self) -> str:
        """SP, SN, DP or DN."""
        return ("D" if self.dynamic else "S") + ("N" if self.network else "P")


# -- composition ------------------------------------------------------------------------------------------------------


def back(feature: Feature, steps: int) -> Feature:
    """The same feature so many crawls ago: look back."""

    def value(crawls: Crawls, crawl: int) -> FloatArray:
        return feature.value(crawls, crawl - steps) if crawl >= steps else _unknown(crawls)

    return Feature(f"{feature.name}, {steps} ago" if steps else feature.name, value, True, feature.network)


def mean_back(feature: Feature, steps: int | None = None, name: str = "") -> Feature:
    """The mean over the last so many crawls (None: all so far) of what is known."""

    def value(crawls: Crawls, crawl: int) -> FloatArray:
        first = 0 if steps is None else max(crawl - steps + 1, 0)
        values = np.stack([feature.value(crawls, at) for at in range(first, crawl + 1)])
        known = ~np.isnan(values)
        total, count = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
        return np.divide(total, count, out=_unknown(crawls), where=count > 0)

    return Feature(name or f"{feature.name}, mean of {steps or 'all'}", value, True, feature.network)


def around(feature: Feature) -> Feature:
    """The mean over the related pages, weighted by cosine: look around. NaN for a page without related pages."""

    def value(crawls: Crawls, crawl: int) -> FloatArray:
        if crawls.related is None:
            return _unknown(crawls)
        related = crawls.related
        return crawls.kept(f"around {feature.name}", crawl, lambda: related.average(feature.value(crawls, crawl)))

    return Feature(f"related: {feature.name}", value, feature.dynamic, True)


def _unknown(crawls: Crawls) -> FloatArray:
    return np.full(len(crawls.recording), np.nan)


# -- what a page is ---------------------------------------------------------------------------------------------------


def _quality(crawls: Crawls, crawl: int) -> FloatArray:
    """Herdan's C = ln(1 + vocabulary) / ln(1 + words) of the version at the crawl, where all its words are known."""
    return crawls.quality(crawl)


def _path_depth(crawls: Crawls, crawl: int) -> FloatArray:
    recording = crawls.recording
    if recording.has_page("path_depth"):
        return recording.page("path_depth").astype(np.float64)
    return crawls.kept(
        "depth", 0, lambda: np.array([str(p).strip("/").count("/") + 1.0 for p in recording.page("path")])
    )


def _domain_depth(crawls: Crawls, crawl: int) -> FloatArray:
    names = [name.rsplit("/", 1)[-1] for name in crawls.recording.site_names]
    return np.array([name.count(".") + 1.0 for name in names])[crawls.recording.site]


def _column(name: str, title: str) -> Feature:
    return Feature(title, lambda crawls, crawl: crawls.version(name, crawl))


OUTLINKS = (_column("out_internal", "internal outlinks"), _column("out_external", "external outlinks"))
CHANGING = (
    _column("bytes", "content size"),
    _column("text_bytes", "text size"),
    *OUTLINKS,
    Feature("text quality", _quality),
)
PAGE = (
    *CHANGING,
    Feature("path depth", _path_depth),
    Feature("domain depth", _domain_depth),
)
INLINKS = tuple(
    Feature(f"{where} inlinks", lambda crawls, crawl, where=where: crawls.inlinks(where, crawl), network=True)  # type: ignore[misc]
    for where in WHERE
)
PAGERANK = Feature("PageRank", lambda crawls, crawl: crawls.rank(crawl), network=True)
TRUSTRANK = Feature("TrustRank", lambda crawls, crawl: crawls.trust(crawl), network=True)
GRAPH = (*INLINKS, PAGERANK, TRUSTRANK)
NEW = {
    where: Feature(f"new {where} links", lambda crawls, crawl, where=where: crawls.new_at(where, crawl), True)  # type: ignore[misc]
    for where in WHERE
}
CHANGED = Feature("content changed", lambda crawls, crawl: crawls.changed(crawl), True)


def _some(feature: Feature) -> Feature:
    """Whether a count is above 0."""

    def value(crawls: Crawls, crawl: int) -> FloatArray:
        counts = feature.value(crawls, crawl)
        return np.where(np.isnan(counts), np.nan, counts > 0)

    return Feature(f"any {feature.name}", value, feature.dynamic, feature.network)


LCR = {where: mean_back(_some(NEW[where]), name=f"{where} link change rate") for where in WHERE}


def _of_all_weeks(feature: Feature) -> Feature:
    """The feature's value at the last crawl, whenever it is asked for."""
    return Feature(f"{feature.name} of all weeks", lambda crawls, _: feature.value(crawls, len(crawls) - 1), True)


CCR = mean_back(CHANGED, name="content change rate")


# -- sets of features -------------------------------------------------------------------------------------------------


def look_back(where: str, history: int) -> list[Feature]:
    """The new links of each of the last intervals, and their mean."""
    steps = [back(NEW[where], step) for step in range(history)]
    return [*steps, mean_back(NEW[where], history)] if history else []


def look_around(where: str, history: int, reading: Reading | None = None) -> list[Feature]:
    """The related pages' link change rate, new links of each of the last intervals, and their mean."""
    whole = reading is not None and reading.related_rate == "all"
    rate = _of_all_weeks(LCR[where]) if whole else LCR[where]
    return [around(rate), *(around(feature) for feature in look_back(where, history))]


def _outlinks_around(history: int) -> list[Feature]:
    """How many links the related pages had at each of the last crawls, and the mean."""
    counts = [around(feature) for feature in OUTLINKS] if history else []
    past = [back(feature, step) for feature in counts for step in range(1, history + 1)]
    return [*past, *(mean_back(feature, history) for feature in counts)]


def features(
    sets: Sequence[str], history: int, where: Sequence[str] = WHERE, reading: Reading | None = None
) -> list[Feature]:
    """Return the features of these sets with so many crawls of history; `where` for LBLA: whose links.

    The semantic vector (SPsem) is not a list of features with a meaning each; `matrix` adds it.
    """
    if not 0 <= history <= MAX_HISTORY:
        raise InputError(f"a history has 0 to {MAX_HISTORY} crawls, not {history}")
    unknown = [name for name in sets if name not in SETS]
    if unknown:
        raise InputError(f"unknown set of features {unknown[0]!r}; it is one of {', '.join(SETS)}")
    past, reading = range(1, history + 1), reading or Reading()
    graph = GRAPH if reading.ranks == "both" else (*INLINKS, TRUSTRANK)
    groups: dict[str, list[Feature]] = {
        "SP": list(PAGE),
        "SPsem": [],
        "SN": [*graph, *(around(feature) for feature in PAGE)],
        "DP": [
            *(back(feature, step) for feature in CHANGING for step in past),
            *(feature for w in WHERE for feature in look_back(w, history)),
        ],
        "DN": [
            *(back(feature, step) for feature in graph for step in past),
            *(feature for w in WHERE for feature in look_around(w, history, reading)),
            *_outlinks_around(history),
        ],
        "LBLA": [feature for w in where for feature in (*look_back(w, history), *look_around(w, history, reading))],
    }
    return [feature for name in dict.fromkeys(sets) for feature in groups[name]]


def matrix(
    crawls: Crawls, chosen: Sequence[Feature], crawl: int, *, semantic: bool = False, history: int = 0
) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Return pages x features as known at a crawl, and the names of the columns.

    `semantic` adds the vectors of the versions at the crawl, `history` what they were so many crawls ago, where the
    recording has the texts of versions.
    """
    columns = [feature.value(crawls, crawl) for feature in chosen]
    names = [feature.name for feature in chosen]
    steps = range(min(history, crawl) + 1) if crawls.moving_vectors else range(1)
    for step in steps if semantic and crawls.vectors is not None else ():
        vectors = crawls.vectors_at(crawl - step)
        columns += list(vectors.T)
        names += [f"semantic {i}{f', {step} ago' if step else ''}" for i in range(1, vectors.shape[1] + 1)]
    if not columns:
        raise InputError("a model needs at least one feature")
    return np.column_stack(columns).astype(np.float32), names
