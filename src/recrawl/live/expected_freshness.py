"""Expected freshness and age of a crawl's copies: what nobody can see, estimated from what visits showed.

A page's changes are taken as a Poisson process. Its rate comes from its own visits, shrunk towards its host's share of
visits that found a change (X of n, with a weight of SHRINK visits):

    p = (X + SHRINK * p_host) / (n + SHRINK)        chance of a change per gap between visits
    rate = -ln(1 - p) / mean gap
    fresh(t) = exp(-rate * t)                       t days after the last visit
    age(t) = t - (1 - exp(-rate * t)) / rate        (Cho and Garcia-Molina, 2003)

The same formula predicts each of the last visits from what was known before it; changes found over changes expected
says how far the estimate can be believed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray
from recrawl.live.store_dashboard import StoredDashboard

SHRINK = 2.0  # visits that the host's share is worth
SAMPLE = 5_000  # pages, evenly spaced
JUDGED = 2_000  # visits
FEW = 30  # compared visits, below which nothing is said


@dataclass(frozen=True)
class ExpectedFreshness:
    """The estimate, and how it did on the last visits."""

    fresh: float  # share of the copies that equal their pages now
    age_days: float  # mean time for which copies have been out of date; 0 for a fresh one
    pages: int  # looked at
    expected: float  # changes that the estimate expected of the last visits
    found: int
    judged: int  # visits

    @property
    def calibration(self) -> float | None:
        """Changes found over changes expected; None where there is too little to judge."""
        return self.found / self.expected if self.judged >= FEW and self.expected > 0 else None

    @property
    def sentence(self) -> str:
        """Say how far the estimate can be believed."""
        if self.calibration is None:
            return f"an estimate, from too few visits to known pages to judge it ({self.judged})"
        expected = f"of the last {self.judged:,} visits it expected {self.expected:.0f} to find a change"
        return f"an estimate; {expected}, {self.found} did"


def expected_freshness(store: StoredDashboard, pages: int, now: float | None = None) -> ExpectedFreshness | None:
    """Estimate how fresh the copies are now (days since 1970); None where no page was visited twice."""
    shares = _shares(store.host_rates())
    if not shares:
        return None
    now = time.time() / 86_400 if now is None else now
    rows = np.array(store.page_sample(max(1, pages // SAMPLE)), dtype=np.float64).reshape(-1, 5)
    if not len(rows):
        return None
    host, visits, changes, first, last = rows.T
    rate = _rates(host, visits - 1, changes, last - first, shares)
    t = np.maximum(now - last, 0.0)
    judged = np.array(store.visits_compared(JUDGED), dtype=np.float64).reshape(-1, 7)
    chances = _chances(judged, shares)
    return ExpectedFreshness(
        fresh=float(np.exp(-rate * t).mean()),
        age_days=float((t + np.expm1(-rate * t) / rate).mean()),
        pages=len(rows),
        expected=float(chances.sum()),
        found=int((judged[:, 6] == 1).sum()),
        judged=len(judged),
    )


def _shares(hosts: Mapping[int, tuple[int, int]]) -> dict[int, float]:
    """Return each host's share of compared visits that found a change, shrunk towards the crawl's; -1: the crawl's."""
    compared = sum(n for n, _ in hosts.values())
    if not compared:
        return {}
    crawl = (sum(x for _, x in hosts.values()) + 0.5) / (compared + 1.0)
    return {-1: crawl} | {host: (x + SHRINK * crawl) / (n + SHRINK) for host, (n, x) in hosts.items()}


def _rates(host: FloatArray, n: FloatArray, x: FloatArray, span: FloatArray, shares: dict[int, float]) -> FloatArray:
    """Return changes per day; where a page was visited once, its span is what pages of this crawl have on average."""
    usual = np.array([shares.get(int(number), shares[-1]) for number in host])
    p = np.clip((x + SHRINK * usual) / (np.maximum(n, 0.0) + SHRINK), 1e-6, 1 - 1e-6)
    seen = (n > 0) & (span > 0)
    gaps = span[seen] / n[seen]
    gap = np.full(len(n), float(np.median(gaps)) if len(gaps) else 1.0)
    gap[seen] = gaps
    return -np.log1p(-p) / np.maximum(gap, 1e-6)


def _chances(judged: FloatArray, shares: dict[int, float]) -> FloatArray:
    """Return the chance that each of these visits finds a change, from what was known before it."""
    if not len(judged):
        return np.empty(0)
    host, visits, changes, first, before, at, _ = judged.T
    return -np.expm1(-_rates(host, visits - 1, changes, before - first, shares) * (at - before))
