"""Train `learned` for shards: a stratified sample of all visits, gathered from the shards, in one process.

Every visit is described by the state before its round (prequential), as by `learned` in one process.
Drawn are all changes and as many other visits as there is room for, by a hash of page and cycle, with weights that make
up for it; and of every cycle a few visits at random, by which the prior's parameters are judged. Rows are sorted by
cycle and tie-break before anything is fitted, so the model does not depend on the shards.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from recrawl.columns import BoolArray, FloatArray, IntArray, PageIds, TieArray, uniform
from recrawl.fleet.shard_belief import ShardBelief, waited
from recrawl.fleet.shard_files import ShardSet
from recrawl.fleet.shard_totals import CycleTotals
from recrawl.policies.learned.base_model import BaseModel
from recrawl.policies.learned.belief import FEATURES
from recrawl.policies.learned.calibration import Calibration
from recrawl.policies.learned.forest import Rows
from recrawl.policies.learned.hazard import Hazard
from recrawl.policies.learned.prior import (
    FADE,
    FITTED,
    GRID,
    HANDICAP,
    PAGES,
    SAMPLE,
    START,
    chances,
    loss_of_order,
    paces,
)
from recrawl.policies.learned.rates import Rates

MOST_ROWS = 400_000  # visits to train on
STRENGTHS = tuple(sorted({strength for _, strength in GRID}))
JUDGED, DRAWN = 1 << 41, 1 << 42  # streams of draws, apart from others


@dataclass(frozen=True)
class Shares:
    """Which visits are drawn: the share of changes, of other visits, and by cycle of those that judge the prior."""

    changed: float
    unchanged: float
    judging: tuple[float, ...]

    @classmethod
    def of(cls, totals: CycleTotals, most: int) -> Shares:
        """Return the shares that give about `most` rows; changes take half of them at most."""
        found, visits = int(totals.found.sum()), int(totals.visits.sum())
        changed = min(1.0, most / 2 / found) if found else 0.0
        left = most - round(changed * found)
        unchanged = min(1.0, left / (visits - found)) if visits > found else 0.0
        # twice the number that is wanted, so that there are enough
        judging = tuple(min(1.0, 2 * SAMPLE / count) if count else 0.0 for count in totals.visits.tolist())
        return cls(changed, unchanged, judging)


@dataclass
class SampleRows:
    """Visits with what was known before them, as aligned columns."""

    tie: TieArray
    cycle: IntArray
    changed: BoolArray
    weight: FloatArray  # 0: only for the prior
    judging: BoolArray
    waited: FloatArray
    paces: FloatArray  # of the page's surroundings, for each of STRENGTHS
    likelihood: npt.NDArray[np.float32]
    features: Rows

    def take(self, rows: PageIds | BoolArray) -> SampleRows:
        """Return some of them."""
        return SampleRows(*(getattr(self, field.name)[rows] for field in fields(self)))

    @staticmethod
    def joined(parts: list[SampleRows]) -> SampleRows:
        """Return all of them, by cycle and tie-break."""
        whole = SampleRows(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(SampleRows)))
        return whole.take(np.lexsort((whole.tie, whole.cycle)))


def rows_of_shard(piece: tuple[ShardSet, int, list[float], Shares]) -> SampleRows:
    """Replay a shard's visits and return those that are drawn, as they were before each cycle."""
    shards, number, bases, shares = piece
    memory = shards.memory(number)
    belief = ShardBelief(shards, number, memory)
    found = [_drawn(belief, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_), memory.tie, shares)]

    def look(belief: ShardBelief, pages: PageIds, changed: BoolArray) -> None:
        found.append(_drawn(belief, pages, changed, memory.tie, shares))

    belief.replay(bases, shards.cycle, look)
    return SampleRows.joined(found)


def _drawn(belief: ShardBelief, pages: PageIds, changed: BoolArray, tie: TieArray, shares: Shares) -> SampleRows:
    cycle = belief.cycle
    share = np.where(changed, shares.changed, shares.unchanged)
    drawn = uniform(tie[pages], cycle + DRAWN) < share
    judging = uniform(tie[pages], cycle + JUDGED) < (shares.judging[cycle] if cycle else 0.0)
    kept = drawn | judging
    pages = pages[kept]
    state = belief.places.ids, belief.evidence.groups, belief.evidence.base
    return SampleRows(
        tie[pages],
        np.full(len(pages), cycle),
        changed[kept],
        np.where(drawn, 1.0 / np.maximum(share, 1e-12), 0.0)[kept],
        judging[kept],
        waited(belief, pages),
        np.stack([paces(pages, *state, strength, cycle) for strength in STRENGTHS], axis=1),
        belief.history.likelihood[pages],
        belief.describe(pages),
    )


@dataclass
class ShardModel:
    """Everything that scoring a shard needs besides the shard: the prior's parameters, the trees, the calibration."""

    shape: float
    strength: float
    rates: Rates
    hazard: Hazard
    bases: list[float]
    base: BaseModel | None = None
    base_weight: float = 1.0

    def chance(self, belief: ShardBelief, pages: PageIds) -> FloatArray:
        """Return the chance that each of these pages has changed."""
        state = belief.places.ids, belief.evidence.groups, belief.evidence.base
        pace = paces(pages, *state, self.strength, belief.cycle)
        history = belief.history
        prior = self._prior(pages, pace, belief.cycle, history.last, history.likelihood)
        features = belief.describe(pages)
        return self.hazard.probability(features, self._corrected(features, prior))

    def _corrected(self, features: Rows, prior: FloatArray) -> FloatArray:
        return prior if self.base is None else self.base.corrected(features, prior, self.base_weight)

    def known_before(self, rows: SampleRows) -> FloatArray:
        """Return the chance of each row before the crawl's own trees: of the prior and the base model."""
        return self._corrected(rows.features, self.of_rows(rows))

    def of_rows(self, rows: SampleRows) -> FloatArray:
        """Return the prior chance of each row."""
        pace = rows.paces[:, STRENGTHS.index(self.strength)].copy()
        return self._prior(np.arange(len(rows.tie)), pace, 0, -rows.waited.astype(np.int32), rows.likelihood)

    def _prior(
        self, pages: PageIds, pace: FloatArray, cycle: int, last: IntArray, likelihood: npt.NDArray[np.float32]
    ) -> FloatArray:
        mean = self.rates.scaled(pace) if self.shape == FITTED else pace
        tables = self.rates.tilts, self.rates.log_means
        return np.asarray(chances(pages, mean, self.shape, *tables, cycle, last, likelihood))


def train(rows: SampleRows, bases: list[float], cycle: int, seed: int, base: BaseModel | None = None) -> ShardModel:
    """Fit the prior's parameters to the judging rows and the trees to the others."""
    hazard = Hazard(FEATURES, seed)
    model = ShardModel(*START, Rates(), hazard, bases, base)
    _fit_prior(model, rows.take(rows.judging))
    rows = rows.take(rows.weight > 0.0)
    _weigh_base(model, rows)
    prior = model.known_before(rows)
    for of in np.unique(rows.cycle).tolist():
        mine = rows.cycle == of
        hazard.learn(rows.features[mine], prior[mine], rows.changed[mine], rows.weight[mine], of)
    if len(rows.tie):
        hazard.fit(cycle)
    model.hazard = replace(hazard, calibration=_without_rows(hazard.calibration), _rows=[])
    return model


def _weigh_base(model: ShardModel, rows: SampleRows) -> None:
    """Fit the weight of the base model, as `learned` does: to all visits but those of the first cycle."""
    if model.base is None:
        return
    later = rows.take(rows.cycle > 1)
    prior, offset, fitted = model.of_rows(later), model.base.offset(later.features), Calibration()
    for cycle in np.unique(later.cycle).tolist():
        mine = later.cycle == cycle
        fitted.learn(prior[mine], offset[mine], later.changed[mine], later.weight[mine], cycle)
    fitted.fit()
    model.base_weight = fitted.trust


def _without_rows(fitted: Calibration) -> Calibration:
    return Calibration(fitted.shift, fitted.slope, fitted.trust)


def _fit_prior(model: ShardModel, rows: SampleRows) -> None:
    """Fit the distribution of rates, then take the parameters with the least loss, older cycles counting less."""
    if not len(rows.tie):
        return
    sample = rows.take(np.arange(0, len(rows.tie), max(1, len(rows.tie) // PAGES)))
    middle = sample.paces[:, STRENGTHS.index(START[1])].copy()
    model.rates.fit(np.arange(len(sample.tie)), middle, sample.likelihood)
    loss = np.zeros(len(GRID))
    for cycle in np.unique(rows.cycle).tolist():
        mine = rows.take(np.flatnonzero(rows.cycle == cycle)[:SAMPLE])
        loss *= FADE
        for i, (model.shape, model.strength) in enumerate(GRID):
            loss[i] += loss_of_order(model.of_rows(mine), mine.changed)
    handicap = np.array([0.0 if shape == FITTED else HANDICAP for shape, _ in GRID])
    model.shape, model.strength = GRID[int(np.argmin(loss + handicap))]
