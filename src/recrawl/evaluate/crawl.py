"""Run one policy over a recording, and judge every cycle after the warm-up.

result = crawl(recording, "cg", Plan(cycle_days=7, budget=0.05), make_measures("ChangeRate,NDCG"))
result.value(NDCG())
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.view import NO_WEIGHTS, CycleView, Stage
from recrawl.evaluate.measures.worstsite import SiteTally, findable_changes
from recrawl.features.importance import importance_of
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policy import Policy, Setting
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.registry import parse_spec
from recrawl.simulate.recorded import RecordedWorld

PolicyMaker = Callable[[Setting], Policy]


@dataclass(frozen=True)
class Plan:
    """How a crawl is run. A float budget is a share of the pages known at the start, an int a number of visits."""

    cycle_days: float = 1.0
    budget: float | int = 0.05
    warmup: int = 2  # first cycles, in which every page is visited; they are not judged
    site_cap: int = 0  # most visits to one site in a cycle after the warm-up; 0: no cap
    seed: int = 0
    discover: str = "links"  # how the crawler learns of new pages: links or birth
    importance: str = "uniform"
    exact_links: bool = True  # compare links exactly, where recorded; it must not depend on what is measured

    def cycles(self, recording: Recording) -> int:
        """Whole cycles in the recording's window, warm-up included."""
        cycles = int((recording.end - recording.start) / self.cycle_days + 1e-9)
        if not 0 <= self.warmup < cycles:
            raise InputError(
                f"a warm-up of {self.warmup} cycles is not shorter than the crawl: "
                f"{recording.end - recording.start:g} days are {cycles} cycles of {self.cycle_days:g} days"
            )
        return cycles

    def edges(self, recording: Recording) -> FloatArray:
        """Return the instants between the cycles, the start and the end among them."""
        edges: FloatArray = recording.start + self.cycle_days * np.arange(self.cycles(recording) + 1, dtype=np.float64)
        return edges

    def visits(self, recording: Recording) -> int:
        """Visits a cycle: the same number in every cycle, for every policy."""
        pages = int((recording.born <= recording.start).sum())
        if not pages:
            raise InputError("no page exists when the crawl begins")
        visits = self.budget if isinstance(self.budget, int) else round(self.budget * pages)
        if not 0 < visits <= pages:
            said = f"{self.budget}" if isinstance(self.budget, int) else f"{self.budget * 100:g}%"
            raise InputError(f"a budget of {said} is {visits} visits a cycle; with {pages} pages take 1 to {pages}")
        return visits


@dataclass(frozen=True)
class CrawlResult:
    """What one crawl was worth: numerator and denominator of each measure in each judged cycle."""

    policy: str
    measures: tuple[Measure, ...]
    cycles: IntArray  # the numbers of the judged cycles
    parts: FloatArray  # measures x cycles x 2
    spent: float  # share of the budget that was used

    def per_cycle(self, measure: Measure) -> FloatArray:
        """Return the measure's value in each judged cycle; NaN where it has no meaning."""
        return measure.per_cycle(self.parts[self.measures.index(measure)])

    def value(self, measure: Measure) -> float:
        """Return the measure's value over the whole crawl."""
        return measure.total(self.parts[self.measures.index(measure)])


def crawl(
    recording: Recording,
    policy: str | PolicyMaker,
    plan: Plan,
    measures: Sequence[Measure],
    advance: Advance = silent,
    *,
    importance: FloatArray | None = None,
) -> CrawlResult:
    """Crawl the recording's window under one policy, given by its spec or as a maker of a policy.

    Importance is that of the plan unless the pages' own is given, as for a part of a recording whose links are known.
    """
    measures = tuple(measures)
    by_site = any(measure.by_site for measure in measures)
    tally = _tally(recording, plan, importance) if by_site else None
    parts: list[list[tuple[float, float]]] = []
    visits = 0
    for view in _judged(recording, policy, plan, advance, importance, tally):
        parts.append([measure.parts(view) for measure in measures])
        visits += len(view.picks)
    name = policy if isinstance(policy, str) else getattr(policy, "__name__", repr(policy))
    cycles = plan.cycles(recording)
    judged = np.arange(plan.warmup + 1, cycles + 1)
    table = np.array(parts, dtype=np.float64).reshape(len(judged), len(measures), 2).transpose(1, 0, 2)
    return CrawlResult(name, measures, judged, table, visits / (plan.visits(recording) * len(judged)))


def _judged(
    recording: Recording,
    policy: str | PolicyMaker,
    plan: Plan,
    advance: Advance,
    importance: FloatArray | None,
    tally: SiteTally | None,
) -> Iterator[CycleView]:
    """Crawl, and show each cycle after the warm-up right after its visits."""
    cycles, budget = plan.cycles(recording), plan.visits(recording)
    world = RecordedWorld(recording, discover=plan.discover, links=(plan.exact_links and recording.has_links) or None)
    memory = world.memory(cycle_days=plan.cycle_days, seed=plan.seed)
    memory.importance = importance_of(recording, plan.importance) if importance is None else importance
    chooser = build(policy, plan.seed, world)
    weights = NO_WEIGHTS if memory.importance is None else memory.importance / memory.importance.mean()
    picked = np.zeros(len(memory), dtype=np.bool_)
    stage = Stage(world, memory, weights, budget, int(memory.known.sum()), picked, tally)
    edges = plan.edges(recording)
    events = events_in(recording, edges)
    since = np.empty(len(memory))
    for cycle in range(1, cycles + 1):
        at = float(edges[cycle])
        if cycle <= plan.warmup:
            run_cycle(world, memory, EveryPage(chooser), len(memory), at)
        else:
            stage.snapshot(since)
            rounds = run_cycle(world, memory, chooser, budget, at, site_cap=plan.site_cap)
            view = CycleView(stage, since, rounds, float(edges[cycle - 1]), at, int(events[cycle - 1]))
            if tally is not None:
                tally.add(view)
            yield view
            picked[view.picks] = True
        advance(cycle, cycles, str(policy))


def _tally(recording: Recording, plan: Plan, importance: FloatArray | None) -> SiteTally:
    """Return an empty tally of the sites; age crawls under the same plan when it is first asked for."""
    findable = findable_changes(recording, plan.edges(recording)[plan.warmup :])

    def by_age() -> IntArray:
        own = SiteTally(recording.site, findable, lambda: np.empty(0, dtype=np.int64))
        views = _judged(recording, "age", plan, silent, importance, None)
        return np.array([own.add(view) for view in views])

    return SiteTally(recording.site, findable, by_age)


def build(policy: str | PolicyMaker, seed: int, world: RecordedWorld) -> Policy:
    """Make the policy; only those that are marked clairvoyant get to see the truth."""
    if not isinstance(policy, str):
        return policy(Setting(seed=seed))
    return make_policy(policy, Setting(seed=seed, truth=world if clairvoyant(policy) else None))


def clairvoyant(spec: str) -> bool:
    """Whether a policy, or one within it as in `explore(oracle, 0.1)`, sees the truth."""
    name, colon, _ = spec.partition(":")
    if colon and "(" not in name:
        return policies[name].clairvoyant
    parsed = parse_spec(spec)
    inner = (*parsed.args, *(value for _, value in parsed.options))
    return policies[parsed.name].clairvoyant or any(
        clairvoyant(part) for part in inner if parse_spec(part.partition(":")[0]).name in policies
    )


def events_in(recording: Recording, edges: FloatArray) -> IntArray:
    """Count the changes in each cycle (edges[i], edges[i + 1]]."""
    cycle = np.searchsorted(edges, recording.change_day, side="left")
    return np.bincount(cycle, minlength=len(edges) + 1)[1 : len(edges)]
