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
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.view import NO_WEIGHTS, CycleView, Stage
from recrawl.evaluate.measures.worstsite import SiteTally, findable_changes
from recrawl.features.pagerank import importance_of
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policy import Policy, Setting, notes_of
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.registry import parse_spec
from recrawl.simulate.recorded import RecordedWorld

PolicyMaker = Callable[[Setting], Policy]


@dataclass(frozen=True)
class CrawlResult:
    """What one crawl was worth: numerator and denominator of each measure in each judged cycle."""

    policy: str
    measures: tuple[Measure, ...]
    cycles: IntArray  # the numbers of the judged cycles
    parts: FloatArray  # measures x cycles x 2
    spent: float  # share of the budget that was used
    notes: tuple[str, ...] = ()  # what the policy has to say of its work

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
    tally = _tally(recording, plan, importance) if any(measure.by_site for measure in measures) else None
    world = _world(recording, plan)
    chooser = build(policy, plan.seed, world)
    parts: list[list[tuple[float, float]]] = []
    visits = 0
    for view in _judged(world, chooser, plan, importance, tally, advance, str(policy)):
        parts.append([measure.parts(view) for measure in measures])
        visits += len(view.picks)
    name = policy if isinstance(policy, str) else getattr(policy, "__name__", repr(policy))
    judged = np.arange(plan.warmup + 1, plan.cycles(recording) + 1)
    table = np.array(parts, dtype=np.float64).reshape(len(judged), len(measures), 2).transpose(1, 0, 2)
    spent = visits / (plan.visits(recording) * len(judged))
    return CrawlResult(name, measures, judged, table, spent, notes_of(chooser))


def _world(recording: Recording, plan: Plan) -> RecordedWorld:
    links = (plan.exact_links and recording.has_links) or None
    return RecordedWorld(recording, discover=plan.discover, links=links)


def _judged(
    world: RecordedWorld,
    chooser: Policy,
    plan: Plan,
    importance: FloatArray | None = None,
    tally: SiteTally | None = None,
    advance: Advance = silent,
    name: str = "",
) -> Iterator[CycleView]:
    """Crawl, and show each cycle after the warm-up right after its visits."""
    recording = world.recording
    cycles, budget = plan.cycles(recording), plan.visits(recording)
    memory = world.memory(cycle_days=plan.cycle_days, seed=plan.seed)
    memory.importance = importance_of(recording, plan.importance) if importance is None else importance
    weights = NO_WEIGHTS if memory.importance is None else memory.importance / memory.importance.mean()
    picked = np.zeros(len(memory), dtype=np.bool_)
    stage = Stage(world, memory, weights, budget, int(memory.known.sum()), picked, tally)
    edges = edges_of(recording, plan)
    events = events_in(recording, edges)
    since = np.empty(len(memory))
    for cycle in range(1, cycles + 1):
        at = float(edges[cycle])
        if cycle <= plan.warmup:
            run_cycle(world, memory, EveryPage(chooser), len(memory), at)
        else:
            stage.snapshot(since)
            rounds = run_cycle(world, memory, chooser, budget, at, site_cap=plan.site_cap, discovery=plan.discovery)
            view = CycleView(stage, since, rounds, float(edges[cycle - 1]), at, int(events[cycle - 1]))
            if tally is not None:
                tally.add(view)
            yield view
            picked[view.picks] = True
        advance(cycle, cycles, name)


def _tally(recording: Recording, plan: Plan, importance: FloatArray | None) -> SiteTally:
    """Return an empty tally of the sites; age crawls under the same plan when it is first asked for."""
    findable = findable_changes(recording, edges_of(recording, plan)[plan.warmup :])

    def by_age() -> IntArray:
        own = SiteTally(recording.site, findable, lambda: np.empty(0, dtype=np.int64))
        world = _world(recording, plan)
        views = _judged(world, build("age", plan.seed, world), plan, importance)
        return np.array([own.add(view) for view in views])

    return SiteTally(recording.site, findable, by_age)


def edges_of(recording: Recording, plan: Plan) -> FloatArray:
    """Return the instants between the cycles, the start and the end among them."""
    edges: FloatArray = recording.start + plan.cycle_days * np.arange(plan.cycles(recording) + 1, dtype=np.float64)
    return edges


def build(policy: str | PolicyMaker, seed: int, world: RecordedWorld) -> Policy:
    """Make the policy; only clairvoyant ones get the truth."""
    if not isinstance(policy, str):
        return policy(Setting(seed=seed))
    return make_policy(policy, Setting(seed=seed, truth=world if clairvoyant(policy) else None))


def clairvoyant(spec: str) -> bool:
    """Whether a policy, or one within it as in `explore(oracle, 0.1)`, sees the truth."""
    parsed = parse_spec(spec)
    inner = (*parsed.args, *(value for _, value in parsed.options))
    return policies[parsed.name].clairvoyant or any(
        clairvoyant(part) for part in inner if parse_spec(part).name in policies
    )


def events_in(recording: Recording, edges: FloatArray) -> IntArray:
    """Count the changes in each cycle (edges[i], edges[i + 1]]."""
    cycle = np.searchsorted(edges, recording.change_day, side="left")
    return np.bincount(cycle, minlength=len(edges) + 1)[1 : len(edges)]
