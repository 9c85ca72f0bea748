"""The learned policy: what each part earns, and how it learns over the cycles.

    python -m benchmarks.learned [RECORDING] [--sites SHARE] [--seeds 1,2,3] [--out DIR]

One crawl a part and seed, weekly at 5% over the whole window with fixed pages, beside `age` and the oracle. A part is
removed by hiding its features from the model (NaN in every row, in training as in scoring) or by its own parameter.
`--out` writes ablation.json and learning.png. Quality figures do not depend on the machine; times do.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.columns import FloatArray, PageIds, uniform
from recrawl.evaluate.crawl import CrawlResult, Plan, PolicyMaker, crawl
from recrawl.evaluate.measures import make_measures
from recrawl.predict.hazard import Hazard, Rows
from recrawl.predict.objectives import parse_objective
from recrawl.remember.recording import Recording
from recrawl.schedule.learned import FEATURES, Learned
from recrawl.schedule.policy import Policy, Setting

DATA = Path(__file__).parents[2] / "shared" / "data"
MEASURES = make_measures("ChangeRate,NDCG,Freshness")
SITES_SEED = 5


class Without(Learned):
    """The policy with some features hidden from its model."""

    hidden: Callable[[str], bool] = staticmethod(lambda name: False)

    def _describe(self, pages: PageIds) -> tuple[Rows, FloatArray]:
        rows, prior = super()._describe(pages)
        rows[:, [self.hidden(name) for name in FEATURES]] = np.nan
        return rows, prior


def without(hidden: Callable[[str], bool], **options: Any) -> PolicyMaker:
    """Return a maker of the policy without these features, with these parameters."""

    def make(setting: Setting) -> Policy:
        policy = Without(parse_objective("changes"), setting.seed, **options)
        policy.hidden = hidden
        return policy

    return make


class Untrained(Hazard):
    """A model that is never trained, so the prior decides."""

    def fit(self, cycle: int) -> None:
        pass


def untrained(setting: Setting) -> Policy:
    """Make the policy without its model."""
    policy = Learned(parse_objective("changes"), setting.seed)
    policy.hazard = Untrained(FEATURES, setting.seed)
    return policy


def nothing(name: str) -> bool:
    """Hide no feature."""
    return False


PARTS: dict[str, str | PolicyMaker] = {
    "age": "age",
    "oracle": "oracle",
    "learned": "learned",
    "one round a cycle": without(nothing, rounds=1),
    "no limit a place": without(nothing, site_room=1 << 30, place_room=1 << 30),
    "no exploring": without(nothing, explore=0.0),
    "trained once": without(nothing, every=1 << 30),
    "prior only": untrained,
    "without look back": without(lambda name: ":" not in name),
    "without look around": without(lambda name: ":" in name and not name.endswith("_now")),
    "without look now": without(lambda name: name.endswith("_now")),
    "without since-shares": without(lambda name: name.endswith("_since")),
    "without names": without(lambda name: name.startswith("name:")),
    "without prefixes": without(lambda name: name.startswith("prefix:")),
}


def opened(folder: Path, share: float) -> Recording:
    """Open the recording's whole window with fixed pages, of a share of its sites drawn by a fixed seed."""
    whole = Recording.open(folder)
    recording = whole.window(0.0, whole.end).fixed()
    return recording.keep(uniform(recording.site, SITES_SEED) < share)


def measure(recording: Recording, part: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Crawl with one part removed, once a seed."""
    began = time.process_time()
    results = [crawl(recording, PARTS[part], Plan(7.0, 0.05, seed=seed, exact_links=False), MEASURES) for seed in seeds]
    values = {m.spec: [round(result.value(m), 4) for result in results] for m in MEASURES}
    return {**values, "cpu_s": round(time.process_time() - began, 1), "curve": curve(results)}


def curve(results: Sequence[CrawlResult]) -> list[float]:
    """Return the mean ChangeRate of each cycle."""
    return np.mean([result.per_cycle(MEASURES[0]) for result in results], axis=0).round(4).tolist()


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


def main(argv: Sequence[str] = ()) -> None:
    """Print the table; write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("recording", nargs="?", type=Path, default=DATA / "gitweb-mini")
    parser.add_argument("--sites", type=float, default=1.0, help="share of the sites")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    if not args.recording.is_dir():
        print(f"no recording at {args.recording}: nothing measured")
        return
    recording = opened(args.recording, args.sites)
    seeds = [int(seed) for seed in args.seeds.split(",")]
    table: dict[str, dict[str, Any]] = {}
    print(f"{len(recording)} pages, weekly, 5%, seeds {seeds}\n{'':24}" + "".join(f"{m.spec:>12}" for m in MEASURES))
    for part in PARTS:
        table[part] = measure(recording, part, seeds)
        means = "".join(f"{np.mean(table[part][m.spec]):12.4f}" for m in MEASURES)
        print(f"{part:24}{means}   {table[part]['cpu_s']:.0f} s", flush=True)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "ablation.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        draw(table, args.out / "learning.png")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
