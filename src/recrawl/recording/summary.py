"""Summary statistics of a recording: sites, pages, change rates, links gained."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.progress import Advance, silent
from recrawl.recording.change_rates import DAY, WEEK, ChangeRates, mean_rates, periods, rates_by_site
from recrawl.recording.link_graph import LinkGraph, link_graph
from recrawl.recording.recording import Recording
from recrawl.recording.schema import SCHEMA

# As many bins as say something of heavy tails: 0, 1, 2, 3-4, 5-8, ... 33-64, 65 and more
BIN_ENDS = (0, 1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class SummaryRow:
    """A site, or all sites of a kind."""

    name: str
    kind: str
    sites: int
    pages: int
    changes: int
    days: float  # of the longest watched site
    never: float  # share of the pages that did not change
    rates: ChangeRates  # weighted by page


@dataclass(frozen=True)
class Bin:
    """Pages (or nodes) with `least` to `most` of something; `most` None has no upper end."""

    least: int
    most: int | None
    pages: int

    @property
    def label(self) -> str:
        """The bin as people write it."""
        if self.most is None:
            return f"≥{self.least}"
        return str(self.least) if self.least == self.most else f"{self.least}–{self.most}"


@dataclass(frozen=True)
class Summary:
    """Everything that `recrawl describe` shows."""

    name: str
    start: float
    end: float
    alive_at_start: int
    born: int
    died: int
    had_changed_before: int
    whole: SummaryRow
    mean_of_sites: ChangeRates
    kinds: tuple[SummaryRow, ...]
    sites: tuple[SummaryRow, ...]
    changes_per_page: tuple[Bin, ...]
    quantiles: dict[str, float]  # of the changes per page
    mass_share: float  # of the changes, NaN where not known
    daily_shares: FloatArray  # share of the pages that changed on each day
    weekly_shares: FloatArray
    links: LinkGraph | None
    tables: dict[str, int]  # rows of every table of the whole recording

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: shares from 0 to 1, None where something is not known."""
        held = asdict(self)
        held["changes_per_page"] = [asdict(b) for b in self.changes_per_page]
        if self.links is not None:
            for name in ("out_degree", "in_degree"):
                held["links"][name] = [asdict(b) for b in bins(getattr(self.links, name))]
        return dict(plain(held))

    def to_json(self) -> str:
        """Return the summary for machines."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summarise(recording: Recording, advance: Advance = silent) -> Summary:
    """Describe a recording or a slice of one."""
    sites = _Sites.of(recording)
    advance(1, 3, "rates")
    links = link_graph(recording) if recording.has_links else None
    advance(2, 3, "links")
    used = np.flatnonzero(sites.pages)
    names, kinds = recording.site_names, np.array(recording.site_kinds, dtype=np.object_)
    counts = np.diff(recording.change_start)
    summary = Summary(
        name=recording.name,
        start=recording.start,
        end=recording.end,
        alive_at_start=int(((recording.born <= recording.start) & (recording.died > recording.start)).sum()),
        born=int((recording.born > recording.start).sum()),
        died=int((recording.died <= recording.end).sum()),
        had_changed_before=int((recording.prior_changes() > 0).sum()),
        whole=sites.row("all", "", used),
        mean_of_sites=mean_rates(sites.rates, (sites.pages > 0).astype(np.float64)),
        kinds=tuple(sites.row(kind, kind, used[kinds[used] == kind]) for kind in sorted(set(kinds[used])) if kind),
        sites=tuple(
            sites.row(names[s], kinds[s], np.array([s])) for s in sorted(used, key=lambda s: (kinds[s], names[s]))
        ),
        changes_per_page=bins(counts),
        quantiles=quantiles(counts),
        mass_share=_mass_share(recording),
        daily_shares=periods(recording, DAY).by_period(),
        weekly_shares=periods(recording, WEEK).by_period(),
        links=links,
        tables={name: recording.tables.rows(name) for name in SCHEMA if recording.tables.has(name)},
    )
    advance(3, 3, "sites")
    return summary


@dataclass(frozen=True)
class _Sites:
    """Columns of what is known of each site."""

    pages: IntArray
    changes: IntArray
    never: IntArray  # pages that did not change
    days: FloatArray
    rates: dict[str, FloatArray]

    @classmethod
    def of(cls, recording: Recording) -> _Sites:
        counts, size = np.diff(recording.change_start), len(recording.site_days)
        return cls(
            pages=np.bincount(recording.site, minlength=size),
            changes=np.bincount(recording.site, weights=counts, minlength=size).astype(np.int64),
            never=np.bincount(recording.site[counts == 0], minlength=size),
            days=np.maximum(np.minimum(recording.site_days, recording.end) - recording.start, 0.0),
            rates=rates_by_site(recording),
        )

    def row(self, name: str, kind: str, sites: IntArray) -> SummaryRow:
        """Sum up some sites."""
        pages = int(self.pages[sites].sum())
        return SummaryRow(
            name,
            kind,
            sites=len(sites),
            pages=pages,
            changes=int(self.changes[sites].sum()),
            days=float(self.days[sites].max(initial=0.0)),
            never=float(self.never[sites].sum() / pages) if pages else math.nan,
            rates=mean_rates(
                {key: rate[sites] for key, rate in self.rates.items()}, self.pages[sites].astype(np.float64)
            ),
        )


def _mass_share(recording: Recording) -> float:
    known = recording.has_change("mass_commit") and len(recording.change_day) > 0
    return float(recording.change("mass_commit").mean()) if known else math.nan


def bins(counts: IntArray) -> tuple[Bin, ...]:
    """Count pages by powers of two."""
    edges = [-1, *BIN_ENDS]
    found = [
        Bin(low + 1, high, int(((counts > low) & (counts <= high)).sum()))
        for low, high in zip(edges, BIN_ENDS, strict=False)
    ]
    return (*found, Bin(BIN_ENDS[-1] + 1, None, int((counts > BIN_ENDS[-1]).sum())))


def quantiles(counts: IntArray) -> dict[str, float]:
    """Median, 90 %, 99 % and the largest."""
    if not len(counts):
        return {}
    values = np.quantile(counts, [0.5, 0.9, 0.99, 1.0])
    return dict(zip(("median", "90%", "99%", "most"), (float(value) for value in values), strict=True))


def percent(share: float, decimals: int) -> str:
    """Write a share as a percentage; a dash where it is not known."""
    return "–" if math.isnan(share) else f"{100 * share:.{decimals}f}"


def plain(value: Any) -> Any:
    """Make a value fit for JSON: arrays are lists, NaN and infinity are null."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
