"""The learned policy: what each part earns, how it learns, how near it comes to what can be known, what it costs.

    python -m benchmarks.learned [ablation] [RECORDING] [--sites SHARE] [--seeds 1,2,3] [--out DIR]
    python -m benchmarks.learned halves [RECORDING] [--seeds 1,2,3]     tuned and untouched sites apart
    python -m benchmarks.learned kinds [RECORDING]                      each kind of site by itself, beside age
    python -m benchmarks.learned poisson [--days 120,360]               beside a policy that knows the pages' rates
    python -m benchmarks.learned brdc12 [--pages 125000]                beside every estimator
    python -m benchmarks.learned cost [--pages 1000000]                 seconds and memory of a cycle

`ablation`, `halves` and `kinds` crawl weekly at 5% over the whole window with fixed pages. A part is removed by hiding
its features from the model (NaN in every row, in training as in scoring) or by its own parameter; `--out` writes
ablation.json and learning.png. Quality figures do not depend on the machine; times do.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.columns import BoolArray, FloatArray, PageIds, uniform
from recrawl.cycle import EveryPage, run_cycle
from recrawl.evaluate.crawl import CrawlResult, PolicyMaker, crawl
from recrawl.evaluate.measures.all_measures import make_measures
from recrawl.evaluate.statistics import interval
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.belief import FEATURES, Belief
from recrawl.policies.learned.calibration import Calibration
from recrawl.policies.learned.forest import Rows
from recrawl.policies.learned.hazard import Hazard
from recrawl.policies.learned.learned import Learned
from recrawl.policies.learned.objectives import parse_objective
from recrawl.policies.topk import TopK
from recrawl.policy import Policy, Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize

DATA = Path(__file__).parents[2] / "shared" / "data"
MEASURES = make_measures("ChangeRate,NDCG,Freshness")
SITES_SEED = 5
QUARTERS = {"tuned": (0, 2, 3), "untouched": (1,)}  # of the sites, by a hash
FRESH = "learned(objective=freshness)"
SMALL = 200  # pages: kinds with fewer are too few to judge
ESTIMATORS = ("age", "cg", "nad", "sad", "aad", "gad", "tx", "bayes", "explore(cg, 0.5)")


def weekly(seeds: Sequence[int]) -> list[Plan]:
    """Return the plan of the comparison, once a seed."""
    return [Plan(7.0, 0.05, seed=seed, exact_links=False) for seed in seeds]


# -- what each part earns ----------------------------------------------------------------------------------------------


class Without(Belief):
    """What is thought of pages, with some features hidden from the model."""

    hidden: Callable[[str], bool] = staticmethod(lambda name: False)

    def describe(self, pages: PageIds) -> tuple[Rows, FloatArray]:
        """Return the features, those that are hidden as if nobody knew them."""
        rows, prior = super().describe(pages)
        rows[:, [self.hidden(name) for name in FEATURES]] = np.nan
        return rows, prior


def without(hidden: Callable[[str], bool], **options: Any) -> PolicyMaker:
    """Return a maker of the policy without these features, with these parameters."""

    def make(setting: Setting) -> Policy:
        policy = Learned(parse_objective("changes"), setting.seed, **options)
        policy.belief = belief = Without(policy.seed, policy.every)
        belief.hidden = hidden
        return policy

    return make


class Untrained(Hazard):
    """A model that is never trained, so the prior decides."""

    def fit(self, cycle: int) -> None:
        pass


def untrained(setting: Setting) -> Policy:
    """Make the policy without its model."""
    policy = Learned(parse_objective("changes"), setting.seed)
    policy.belief.hazard = Untrained(FEATURES, setting.seed)
    return policy


class Trusting(Calibration):
    """No calibration: the trees are trusted as they are."""

    def fit(self) -> None:
        pass


def uncalibrated(setting: Setting) -> Policy:
    """Make the policy without its calibration."""
    policy = Learned(parse_objective("changes"), setting.seed)
    policy.belief.hazard.calibration = Trusting()
    return policy


def nothing(name: str) -> bool:
    """Hide no feature."""
    return False


PARTS: dict[str, str | PolicyMaker] = {
    "age": "age",
    "oracle": "oracle",
    "learned": "learned",
    "one round a cycle": without(nothing, rounds=1),
    "twice the rounds": without(nothing, rounds=48),
    "no limit a place": without(nothing, site_room=1 << 30, place_room=1 << 30),
    "no scouts": without(nothing, explore=0.0),
    "trained once": without(nothing, every=1 << 30),
    "prior only": untrained,
    "not calibrated": uncalibrated,
    "without look back": without(lambda name: ":" not in name and name != "words"),
    "without look around": without(lambda name: ":" in name and not name.endswith("_now")),
    "without look now": without(lambda name: name.endswith("_now")),
    "without since-shares": without(lambda name: name.endswith("_since")),
    "without names": without(lambda name: name.startswith("name:")),
    "without cohorts": without(lambda name: name.startswith("cohort:")),
    "without lengths": without(lambda name: name == "words"),
}


def opened(folder: Path, chosen: Callable[[FloatArray], BoolArray]) -> Recording:
    """Open the recording's whole window with fixed pages, of the sites whose number in [0, 1) is chosen."""
    whole = Recording.open(folder)
    recording = whole.window(0.0, whole.end).fixed()
    return recording.keep(chosen(uniform(recording.site, SITES_SEED)))


def measure(recording: Recording, policy: str | PolicyMaker, plans: Sequence[Plan]) -> dict[str, Any]:
    """Crawl once a plan."""
    began = time.process_time()
    results = [crawl(recording, policy, plan, MEASURES) for plan in plans]
    values = {m.spec: [round(result.value(m), 4) for result in results] for m in MEASURES}
    return {**values, "cpu_s": round(time.process_time() - began, 1), "curve": curve(results)}


def curve(results: Sequence[CrawlResult]) -> list[float]:
    """Return the mean ChangeRate of each cycle."""
    return np.mean([result.per_cycle(MEASURES[0]) for result in results], axis=0).round(4).tolist()


def heading(text: str) -> None:
    """Print what is measured, and the names of the columns."""
    print(f"{text}\n{'':30}" + "".join(f"{m.spec:>18}" for m in MEASURES), flush=True)


def told(name: str, row: dict[str, Any]) -> None:
    """Print means with 95% intervals."""
    cells = []
    for m in MEASURES:
        found = interval(np.array(row[m.spec]))
        cells.append(f"{found.mean:.4f}" + (f" ± {found.half:.4f}" if len(row[m.spec]) > 1 else ""))
    print(f"{name:30}" + "".join(f"{cell:>18}" for cell in cells) + f"   {row['cpu_s']:.0f} s", flush=True)


def draw(table: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw the learning curves, each point the mean of five cycles."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for part in ("oracle", "learned", "one round a cycle", "prior only", "age"):
        values = np.array(table[part]["curve"])
        values = values[: len(values) // 5 * 5].reshape(-1, 5).mean(axis=1)
        axes.plot(np.arange(len(values)) * 5 + 5, values, label=part)
    axes.set(xlabel="cycle after the warm-up", ylabel="ChangeRate", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=90)


def ablation(args: argparse.Namespace) -> None:
    """Remove one part at a time."""
    recording = opened(args.recording, lambda number: number < args.sites)
    table: dict[str, dict[str, Any]] = {}
    heading(f"{len(recording)} pages, weekly, 5%, seeds {args.seeds}")
    for part, policy in PARTS.items():
        table[part] = measure(recording, policy, weekly(args.seeds))
        told(part, table[part])
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "ablation.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        draw(table, args.out / "learning.png")


# -- where it holds ----------------------------------------------------------------------------------------------------


def in_quarters(quarters: Sequence[int], number: FloatArray) -> BoolArray:
    """Return which numbers in [0, 1) lie in these quarters."""
    return np.isin((number * 4).astype(np.int64), quarters)


def halves(args: argparse.Namespace) -> None:
    """Tell apart the sites on which the parameters were chosen and those that were left alone."""
    for name, quarters in QUARTERS.items():
        recording = opened(args.recording, partial(in_quarters, quarters))
        heading(f"{name} sites: {len(recording)} pages, weekly, 5%, seeds {args.seeds}")
        for policy in ("age", "learned", "oracle"):
            told(policy, measure(recording, policy, weekly(args.seeds)))


def kinds(args: argparse.Namespace) -> None:
    """Crawl the sites of each kind by themselves."""
    recording = opened(args.recording, lambda number: number >= 0.0)
    kind_of = np.asarray(recording.site_kinds)[recording.site]
    for kind in np.unique(kind_of):
        part = recording.keep(kind_of == kind)
        if len(part) < SMALL:
            print(f"{kind}: {len(part)} pages, too few to judge")
            continue
        heading(f"{kind}: {len(part)} pages")
        for policy in ("age", "learned", "oracle"):
            told(policy, measure(part, policy, weekly(args.seeds)))


class KnownRates:
    """Knows each page's rate: 1 - exp(-rate t), the chance of a change since the last visit.

    For Poisson pages the order by rate * t is that of the long-run gain of a visit, 1 - (1 + x) exp(-x) with
    x = rate t, too: both rise with x. So this is the best that can be done under a budget; for freshness that is the
    order by (1 - (1 + x) exp(-x)) / rate (the argument of Cho & Garcia-Molina 2003).
    """

    def __init__(self, rate: FloatArray, objective: str = "changes") -> None:
        self.rate, self.objective = rate, objective

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Return the index of the objective for the chance of a change."""
        chance, waited = -np.expm1(-self.rate * memory.waited()), memory.waited()
        x = self.rate * waited
        marginal = np.maximum(chance - x * np.exp(-x), 0.0) / np.maximum(self.rate, 1e-9)  # of visiting a little sooner
        return chance if self.objective == "changes" else np.asarray(marginal)


def knowing(rate: FloatArray, objective: str, setting: Setting) -> Policy:
    """Make the policy that knows the rates."""
    return TopK(KnownRates(rate, objective))


def poisson(args: argparse.Namespace) -> None:
    """Crawl Poisson pages beside a policy that knows their rates, over shorter and longer crawls."""
    for days in args.days:
        recording = synthesize("poisson", args.pages or 20_000, days=days, seed=1, only=("sites", "pages", "changes"))
        rate = recording.page("true_rate").astype(np.float64)
        heading(f"{len(recording)} Poisson pages, {days:g} days, daily, 5%")
        made: dict[str, str | PolicyMaker] = {name: name for name in ("learned", FRESH, "bayes", "age")}
        for objective in ("changes", "freshness"):
            made[f"knows rates: {objective}"] = partial(knowing, rate, objective)
        for name, policy in made.items():
            row = measure(recording, policy, [Plan(1.0, 0.05, seed=1, exact_links=False)])
            told(name, row)
            late = np.mean(row["curve"][-len(row["curve"]) // 4 :])
            print(f"{'':30}{late:18.4f} in the last quarter")


def brdc12(args: argparse.Namespace) -> None:
    """Follow the protocol of the GP4C experiment: five parts of the pages, the last 19 of 57 days."""
    web = synthesize("brdc12", args.pages or 125_000, seed=1, only=("sites", "pages", "changes"))
    parts = [part.window(38.0, 57.0) for part in web.window(0.0, 57.0).fixed().folds(5, 1)]
    heading("brdc12, five parts of the pages, the last 19 days, 5%")
    for policy in ("learned", *ESTIMATORS, "oracle"):
        rows = [measure(part, policy, [Plan(1.0, 0.05, seed=1, exact_links=False)]) for part in parts]
        joined = {m.spec: [row[m.spec][0] for row in rows] for m in MEASURES}
        told(policy, {**joined, "cpu_s": sum(row["cpu_s"] for row in rows)})


# -- what it costs -----------------------------------------------------------------------------------------------------


def cost(args: argparse.Namespace) -> None:
    """Time cycles over a million pages at 5%; the model is trained in the first, fourth and seventh of them."""
    web = synthesize("brdc12", args.pages or 1_000_000, days=10.0, seed=1, only=("sites", "pages", "changes"))
    world = RecordedWorld(web)
    memory = world.memory(cycle_days=1.0, seed=1)
    policy = make_policy("learned", Setting(seed=1))
    before = held_mb()
    for cycle in range(1, 11):
        warm = cycle <= 2
        began, cpu = time.perf_counter(), time.process_time()
        chooser: Policy = EveryPage(policy) if warm else policy
        run_cycle(world, memory, chooser, len(memory) if warm else len(memory) // 20, float(cycle))
        spent = f"{time.perf_counter() - began:6.1f} s, {time.process_time() - cpu:6.1f} s of a core"
        print(f"cycle {cycle:2} {'every page' if warm else '5%':12}{spent}, peak {peak_mb():,.0f} MB", flush=True)
    print(f"the recording, the world and the memory held {before:,.0f} MB before the first cycle")
    print(f"the policy and the loop: {peak_mb() - before:,.0f} MB at most")


def peak_mb() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def held_mb() -> float:
    """Return the memory that this process has now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20


def numbers(text: str) -> list[int]:
    """Read `1,2,3`."""
    return [int(part) for part in text.split(",")]


def main(argv: Sequence[str] = ()) -> None:
    """Run one of the benchmarks."""
    every = {f.__name__: f for f in (ablation, halves, kinds, poisson, brdc12, cost)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", nargs="?", choices=every, default="ablation")
    parser.add_argument("recording", nargs="?", type=Path, default=DATA / "gitweb-mini")
    parser.add_argument("--sites", type=float, default=1.0, help="share of the sites")
    parser.add_argument("--seeds", type=numbers, default=[1])
    parser.add_argument("--days", type=numbers, default=[120])
    parser.add_argument("--pages", type=int)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    if args.what in ("ablation", "halves", "kinds") and not args.recording.is_dir():
        print(f"no recording at {args.recording}: nothing measured")
        return
    every[args.what](args)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
