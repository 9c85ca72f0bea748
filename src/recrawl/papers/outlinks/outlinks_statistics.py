"""What new links are like before anything is predicted (Dang et al. 2022, sections 3 and 4: Table 2, Figs 2 to 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray, IntArray
from recrawl.features.newlinks import WHERE, Targets

GROUPS = {"internal": (0, 2, 10), "external": (0, 1)}  # pages with up to so many new links; the last group has more
LABELS = {"internal": ("0", "1-2", "3-10", ">10"), "external": ("0", "1", ">1")}
BUSIEST = 8  # pages of Fig 6


@dataclass(frozen=True)
class Statistics:
    """Counts over pages; intervals are weeks 1, 2, ..."""

    pages: int
    mean: FloatArray  # (total, internal, external) x weeks
    deviation: FloatArray
    gaining: FloatArray  # (internal, external) x weeks: share of the pages that gain a link
    flows: dict[str, IntArray]  # where -> weeks - 1 x group x group: pages that go from group to group
    sizes: dict[str, IntArray]  # where -> weeks x groups
    rates: dict[str, IntArray]  # where -> histogram of the link change rate: 0, 1, ..., all intervals
    tails: dict[str, list[tuple[IntArray, FloatArray]]]  # where -> by week: count of links, share of pages with as many
    busiest: tuple[list[str], npt.NDArray[np.int32]]  # names, where x weeks x pages
    external_share: float  # of the new links
    domains: dict[str, int] = field(default_factory=dict)  # pages by top-level domain, the largest first (Fig 2)


def statistics(
    new: npt.NDArray[np.int32], names: npt.NDArray[np.object_], domains: dict[str, int] | None = None
) -> Statistics:
    """Describe new links, given as where x weeks x pages."""
    counts = np.concatenate([new.sum(axis=0, keepdims=True), new]).astype(np.float64)
    weeks = new.shape[1]
    groups = {where: np.searchsorted(GROUPS[where], new[at], side="left") for at, where in enumerate(WHERE)}
    most = np.argsort(-new.sum(axis=0).max(axis=0), kind="stable")[:BUSIEST]
    return Statistics(
        pages=new.shape[2],
        mean=counts.mean(axis=2),
        deviation=counts.std(axis=2),
        gaining=(new > 0).mean(axis=2),
        flows={where: _flows(groups[where], len(GROUPS[where]) + 1) for where in WHERE},
        sizes={where: _sizes(groups[where], len(GROUPS[where]) + 1) for where in WHERE},
        rates={
            where: np.bincount(np.round(Targets.of(new[at]).lcr * weeks).astype(np.int64), minlength=weeks + 1)
            for at, where in enumerate(WHERE)
        },
        tails={where: [_tail(new[at, week]) for week in range(weeks)] for at, where in enumerate(WHERE)},
        busiest=([str(names[page]) for page in most], new[:, :, most]),
        external_share=float(new[1].sum() / max(new.sum(), 1)),
        domains=domains or {},
    )


def _flows(group: IntArray, count: int) -> IntArray:
    pair = group[:-1] * count + group[1:]
    return np.stack([np.bincount(row, minlength=count**2).reshape(count, count) for row in pair])


def _sizes(group: IntArray, count: int) -> IntArray:
    return np.stack([np.bincount(row, minlength=count) for row in group])


def _tail(new: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the distinct counts above 0, and the share of the pages that have at least as many."""
    values, pages = np.unique(new[new > 0], return_counts=True)
    return values, np.asarray(np.cumsum(pages[::-1])[::-1] / len(new))
