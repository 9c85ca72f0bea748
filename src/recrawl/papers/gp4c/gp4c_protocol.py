"""GP4C (Santos et al. 2014, section 5): evolve score functions and compare them with the estimators, in time order.

The pages are split into folds and the time into three windows. Formulas are bred on two folds in the first window,
validated on two others in the second, and tested on the fifth in the third, so every step looks at pages and days
that the steps before have not seen. This is repeated with the folds shifted, until each was tested once.

Section 5.2 first says that four folds are "equally divided into training set and validation set", then names three
folds for training; the authors' program has 3 + 1 + 1. The first is the default, for it is what the text defines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.evaluate.statistics import Interval, interval
from recrawl.evolve.candidates import Candidate
from recrawl.evolve.evolution import Discovery, EvolutionSettings
from recrawl.plan import Plan
from recrawl.recording.recording import Recording

MEASURES: tuple[Measure, ...] = (ChangeRate(), NDCG())
FITNESS = ("changerate", "ndcg")  # in the order of the measures
PAPERS_CG = "cg(form=rate)"  # eq. 4 as printed: no t, and so in the authors' program
BASELINES = ("rand", "age", "nad", "sad", "aad", "gad", PAPERS_CG, "cg", "tx", "bayes")
OVER_CYCLES = ("nad(over=cycles)", "sad(over=cycles)", "aad(over=cycles)", "gad(over=cycles)")
BOUND = "oracle"
LEAST_VISITS, LEAST_CYCLES, LEAST_BRED = 50, 5, 3_000  # below these a run judges nothing
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)  # of the budget, for the figure of interrupted schedules


@dataclass(frozen=True)
class Variant:
    """One way to evolve: the terminals and the fitness function."""

    terminals: str
    fitness: str

    def __str__(self) -> str:
        return f"{self.terminals}/{self.fitness}"


@dataclass(frozen=True)
class Gp4cProtocol:
    """How the experiment is run; the paper's values."""

    plan: Plan = field(default_factory=Plan)
    cycles: tuple[int, int, int] = (19, 19, 19)  # training, validation, test; warm-up included
    folds: int = 5
    split: tuple[int, int] = (2, 2)  # folds to train on and to validate on; one is tested
    terminals: tuple[str, ...] = ("basic", "all")
    fitness: tuple[str, ...] = FITNESS
    settings: EvolutionSettings = field(default_factory=EvolutionSettings)
    over: str = "visits"
    form: str = "rate"  # of the estimators among the terminals
    errors: float = 0.0  # share of the downloads that fail, drawn at random; recordings themselves have no errors
    jobs: int = 1

    @classmethod
    def quick(cls, base: Gp4cProtocol) -> Gp4cProtocol:
        """A small version of the same, for a first look."""
        return replace(base, settings=replace(base.settings, population=60, generations=12, seeds=2, archive=20))

    @property
    def variants(self) -> list[Variant]:
        """All ways to evolve."""
        return [Variant(terminals, fitness) for terminals in self.terminals for fitness in self.fitness]

    def check(self) -> None:
        """Raise InputError for a protocol that cannot be run."""
        self.settings.check()
        if self.folds < sum(self.split) + 1 or min(self.split) < 1:
            train, validation = self.split
            raise InputError(f"{self.folds} folds are too few to train on {train}, validate on {validation} and test")
        if not 0 <= self.errors < 0.5:
            raise InputError("the share of downloads with errors must be from 0 to 50%")
        if min(self.cycles) <= self.plan.warmup:
            raise InputError(f"each window needs more than the {self.plan.warmup} cycles of warm-up")


@dataclass(frozen=True)
class Windows:
    """The data of one repetition."""

    train: Recording
    validation: Recording
    test: Recording


@dataclass(frozen=True)
class Fold:
    """What one repetition found; curves are measures x test cycles."""

    pages: tuple[int, int, int]
    discoveries: dict[Variant, Discovery]
    curves: dict[tuple[Variant, str], FloatArray]  # by variant and selection
    baselines: dict[str, FloatArray]
    interrupted: dict[Variant, FloatArray]  # measures x shares of the budget, best selection
    new_picks: dict[Variant, FloatArray]  # share of a cycle's visits to pages not visited since the warm-up
    other_picks: dict[Variant, FloatArray]  # the same to pages not visited in the cycle before
    printed: dict[tuple[str, str], FloatArray]  # Table 4's formulas by name and form: mean of each measure
    changed: IntArray  # pages that change in each test cycle
    shown: float  # share of the test pages that were seen to change in the warm-up
    visits: int  # per cycle


@dataclass(frozen=True)
class DataOverview:
    """Table 1: what is left after filtering."""

    days: float
    pages: int
    sites: int
    least: int  # pages of a site
    most: int
    error_share: float  # of the downloads of the pages that are left
    removed: int  # pages with more than two errors

    @classmethod
    def of(cls, pages: Recording, error_share: float = 0.0, removed: int = 0) -> DataOverview:
        """Count the pages that live throughout."""
        sizes = np.bincount(pages.site)
        sizes = sizes[sizes > 0]
        least, most = int(sizes.min()), int(sizes.max())
        return cls(pages.end - pages.start, len(pages), len(sizes), least, most, error_share, removed)


@dataclass(frozen=True)
class Gp4cExperiment:
    """All repetitions."""

    protocol: Gp4cProtocol
    name: str
    data: DataOverview
    folds: list[Fold]

    @property
    def variants(self) -> list[Variant]:
        """All ways to evolve, basic before all."""
        return self.protocol.variants

    def values(self, method: str | Variant, measure: Measure, selection: str = "best") -> FloatArray:
        """Return folds x test cycles."""
        at = MEASURES.index(measure)
        if isinstance(method, Variant):
            return np.stack([fold.curves[method, selection][at] for fold in self.folds])
        return np.stack([fold.baselines[method][at] for fold in self.folds])

    def summary(self, method: str | Variant, measure: Measure, selection: str = "best") -> Interval:
        """Mean over folds and cycles with the 95% interval over the folds."""
        return interval(self.values(method, measure, selection).mean(axis=1))

    def chosen(self, variant: Variant, selection: str = "best") -> list[Candidate]:
        """Return the chosen formula of each fold."""
        return [fold.discoveries[variant].chosen[selection] for fold in self.folds]

    @property
    def judged(self) -> int:
        """Test cycles after the warm-up."""
        return self.protocol.cycles[2] - self.protocol.plan.warmup

    def too_small(self) -> str:
        """Say why this run cannot judge the paper's findings; empty if it can."""
        bred = self.protocol.settings.population * self.protocol.settings.generations
        visits = min(fold.visits for fold in self.folds)
        checks = (
            (visits, LEAST_VISITS, "visits per cycle and test fold"),
            (self.judged, LEAST_CYCLES, "judged cycles"),
            (bred, LEAST_BRED, "individuals bred per seed"),
        )
        return "; ".join(f"{have:,} {what}, at least {need:,} needed" for have, need, what in checks if have < need)

    def for_measure(self, terminals: str, measure: Measure) -> Variant:
        """Return the variant whose fitness function is the measure."""
        return Variant(terminals, FITNESS[MEASURES.index(measure)])
