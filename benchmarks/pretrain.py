"""Make the base model of `learned`: crawl public sites and synthetic webs, and learn from what was true there.

    python -m benchmarks.pretrain [--recording gitweb] [--leave-out 0] [--cache DIR] [--out FILE.npz]

Each web is crawled once with `learned(base=none)`. In several rounds of each cycle some pages are drawn, half of them
at random and half by their chance, visited or not, with their features and prior as they are at that moment and the
true answer: whether the page has changed since the crawl's last visit. The recording has it, and the sites that a base
model will be used on are others. Trees learn what is missing in the prior.

`--leave-out` leaves out the sites of one fold of benchmarks.unseen, which can then be crawled as sites never seen. Rows
are kept in --cache by web and the digest of the policy's sources. The same recording and sources give the same model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.unseen import DATA, FOLDS, digest, fold_of
from recrawl.columns import PageIds, uniform
from recrawl.cycle import EveryPage, run_cycle
from recrawl.evaluate.crawl import edges_of
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.learned import base_model
from recrawl.policies.learned.base_model import BaseModel, from_booster
from recrawl.policies.learned.belief import DOUBT, FEATURES
from recrawl.policies.learned.calibration import logit
from recrawl.policies.learned.learned import Learned
from recrawl.policies.learned.objectives import parse_objective
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize

PLANS = {  # days of a cycle, budget, days in all, days before the end at which the window ends
    "weekly": [(7.0, 0.05, 364.0, 0.0), (7.0, 0.01, 364.0, 0.0), (7.0, 0.2, 364.0, 0.0)],
    "daily": [(1.0, 0.01, 57.0, back) for back in (0.0, 80.0, 160.0, 240.0)] + [(1.0, 0.05, 57.0, 120.0)],
    "longer": [(14.0, 0.1, 364.0, 0.0), (28.0, 0.05, 364.0, 0.0)],
}
PRESETS = {
    "waking": (7.0, 0.05, 364.0),
    "archive": (7.0, 0.05, 364.0),
    "moving": (7.0, 0.05, 364.0),
    "seasonal": (7.0, 0.05, 364.0),
    "mixed": (7.0, 0.05, 364.0),
    "small-site": (1.0, 0.01, 57.0),
    "small-late": (1.0, 0.01, 57.0),
    "late": (1.0, 0.01, 57.0),
    "brdc12": (1.0, 0.05, 57.0),
    "poisson": (1.0, 0.05, 120.0),
}
PRESET_PAGES, PRESET_SEED = 12_000, 101
PRESET_WEIGHT = 0.3  # of a row: presets are few kinds of webs, and simple ones
DRAWN = 1500  # pages per cycle
ROUNDS = {1: 0.4, 3: 0.2, 8: 0.2, 16: 0.2}  # shares of them
SEED = 11
SETTINGS: dict[str, Any] = {
    "objective": "binary",
    "num_leaves": 31,
    "learning_rate": 0.08,
    "min_data_in_leaf": 300,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 20.0,
    "max_bin": 63,
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "seed": 1,
}
TREES = 150
Table = dict[str, npt.NDArray[Any]]  # rows, prior, changed


class Tracer(Learned):
    """The policy, keeping what it thinks of drawn pages beside the truth."""

    def watch(self, world: RecordedWorld) -> None:
        """Take the truth from this world."""
        self.belief.hazard.calibration.doubt = DOUBT  # as beside a base model
        self.world, self.kept = world, list[tuple[npt.NDArray[np.float32], npt.NDArray[Any], npt.NDArray[Any]]]()

    def choose(self, memory: Memory, budget: int, at: float) -> PageIds:
        """Choose as ever, and draw pages."""
        chosen = super().choose(memory, budget, at)
        if self._round in ROUNDS:
            self._draw(memory, round(DRAWN * ROUNDS[self._round]), at)
        return chosen

    def _draw(self, memory: Memory, count: int, at: float) -> None:
        pages = np.flatnonzero(memory.eligible() & self.belief.held(memory))
        if not len(pages):
            return
        chance = self._score[pages] + 0.01
        expected = count * (0.5 * chance / chance.sum() + 0.5 / len(pages))
        drawn = pages[uniform(memory.tie[pages], 8 * memory.cycle + self._round) < expected]
        rows, prior = self.belief.describe(drawn)
        changed = (self.world.stale_since[drawn] <= at) & (self.world.died[drawn] > at)
        self.kept.append((rows, prior.astype(np.float32), changed))


def trace(recording: Recording, plan: Plan) -> Table:
    """Crawl once; return what was drawn."""
    world = RecordedWorld(recording, discover=plan.discover)
    policy = Tracer(parse_objective("changes"), plan.seed, base=base_model.NONE)
    policy.watch(world)
    memory = world.memory(cycle_days=plan.cycle_days, seed=plan.seed)
    for cycle, at in enumerate(edges_of(recording, plan)[1:].tolist(), 1):
        if cycle <= plan.warmup:
            run_cycle(world, memory, EveryPage(policy), len(memory), at)
        else:
            run_cycle(world, memory, policy, plan.visits(recording), at)
    columns = [np.concatenate(column) for column in zip(*policy.kept, strict=True)]
    return dict(zip(("rows", "prior", "changed"), columns, strict=True))


def cached(cache: Path | None, name: str, recording: Recording, plan: Plan) -> Table:
    """Return the rows of a web from the cache, or crawl it."""
    path = None if cache is None else cache / f"{name}-{digest('learned')}.npz".replace(" ", "-")
    if path is not None and path.exists():
        with np.load(path) as kept:
            return dict(kept)
    began = time.process_time()
    table = trace(recording, plan)
    print(f"{name}: {len(recording)} pages, {len(table['prior'])} rows, {table['changed'].mean():.1%} of them changed, "
          f"{time.process_time() - began:.0f} CPU-s", flush=True)  # fmt: skip
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **table)  # type: ignore[arg-type]  # numpy's stubs take the keywords for options
    return table


def tables(folder: Path, folds: Sequence[int], cache: Path | None) -> list[tuple[Table, float]]:
    """Return the rows of every web, and what each of them weighs."""
    found = []
    whole = Recording.open(folder)
    for length, budget, days, back in (plan for plans in PLANS.values() for plan in plans):
        end = whole.end - back
        recording = whole.window(max(whole.start, end - days), end).fixed()
        for fold in folds:
            name = f"fold {fold} {length:g}d {budget:g} back {back:g}"
            plan = Plan(length, budget, seed=SEED, exact_links=False)
            found.append((cached(cache, name, fold_of(recording, fold), plan), 1.0))
    for preset, (length, budget, days) in PRESETS.items():
        recording = synthesize(preset, PRESET_PAGES, days, seed=PRESET_SEED, only=("sites", "pages", "changes"))
        plan = Plan(length, budget, seed=SEED, exact_links=False, discover="birth")
        found.append((cached(cache, preset, recording, plan), PRESET_WEIGHT))
    return found


def train(parts: Sequence[tuple[Table, float]]) -> BaseModel:
    """Learn what the prior lacks."""
    import lightgbm

    data = lightgbm.Dataset(
        np.concatenate([table["rows"] for table, _ in parts]),
        np.concatenate([table["changed"] for table, _ in parts]).astype(np.float32),
        weight=np.concatenate([np.full(len(table["prior"]), weight) for table, weight in parts]),
        init_score=logit(np.concatenate([table["prior"] for table, _ in parts]).astype(np.float64)),
    )
    return from_booster(lightgbm.train(SETTINGS, data, TREES), FEATURES)


def main(argv: Sequence[str] = ()) -> None:
    """Crawl, train and write the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recording", type=Path, default=DATA / "gitweb")
    parser.add_argument("--leave-out", type=int, choices=range(FOLDS), help="a fold of sites")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--out", type=Path, default=Path(base_model.__file__).with_name("base_model.npz"))
    args = parser.parse_args(argv)
    model = train(tables(args.recording, [f for f in range(FOLDS) if f != args.leave_out], args.cache))
    model.save(args.out)
    print(f"{args.out}: {len(model.roots)} trees, {len(model.leaf)} leaves, {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
