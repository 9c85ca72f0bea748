"""Run one policy over a recording, and judge every cycle after the warm-up.

result = crawl(recording, "cg", Plan(cycle_days=7, budget=0.05), make_measures("ChangeRate,NDCG"))
result.value(NDCG())
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.evaluate.measures.measure import Measure
from recrawl.evaluate.measures.view import NO_WEIGHTS, CycleView, Stage
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
    cycles, budget = plan.cycles(recording), plan.visits(recording)
    world = RecordedWorld(recording, discover=plan.discover, links=(plan.exact_links and recording.has_links) or None)
    memory = world.memory(cycle_days=plan.cycle_days, seed=plan.seed)
    memory.importance = importance_of(recording, plan.importance) if importance is None else importance
    chooser = build(policy, plan.seed, world)
    weights = NO_WEIGHTS if memory.importance is None else memory.importance / memory.importance.mean()
    picked = np.zeros(len(memory), dtype=np.bool_)
    stage = Stage(world, memory, weights, budget, int(memory.known.sum()), picked)
    edges: FloatArray = recording.start + plan.cycle_days * np.arange(cycles + 1, dtype=np.float64)
    events = events_in(recording, edges)
    visits = 0
    since = np.empty(len(memory))
    parts = np.empty((len(measures), cycles - plan.warmup, 2))
    for cycle in range(1, cycles + 1):
        at = float(edges[cycle])
        if cycle <= plan.warmup:
            run_cycle(world, memory, EveryPage(chooser), len(memory), at)
        else:
            stage.snapshot(since)
            rounds = run_cycle(world, memory, chooser, budget, at, site_cap=plan.site_cap)
            view = CycleView(stage, since, rounds, float(edges[cycle - 1]), at, int(events[cycle - 1]))
            parts[:, cycle - 1 - plan.warmup] = [measure.parts(view) for measure in measures]
            picked[view.picks] = True
            visits += len(view.picks)
        advance(cycle, cycles, str(policy))
    name = policy if isinstance(policy, str) else getattr(policy, "__name__", repr(policy))
    judged = np.arange(plan.warmup + 1, cycles + 1)
    return CrawlResult(name, tuple(measures), judged, parts, visits / (budget * len(judged)), notes_of(chooser))


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
