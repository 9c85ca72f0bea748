"""GP4C beside the authors' released program: the same pages, folds and settings, quality and CPU-seconds.

    python -m benchmarks.gp4c_authors PROGRAM [PRESET] [PAGES] [SEED]

PROGRAM is the path of the authors' executable (github.com/aecio/gp4c, `crawling`), built by the reader; nothing of it
is part of this project. The benchmark writes its data (a line of 0 and 1 per page) and its configuration into a
temporary folder, runs it with NDCG and all terminals, and reads the results that it writes for the test folds. Ours
runs with the same split (3 folds to train, 1 to validate, 1 to test; 3 x 19 days), rates over cycles, depth 17 after
crossover and one seed. Both judge their own formula: ties are broken otherwise, and what log, / and the constants mean
in the program differs from the paper (|x|, 1e6 for x / 0, constants cut to whole numbers).
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recrawl.evolve.evolution import EvolutionSettings, discover
from recrawl.evolve.fitness import make_fitness
from recrawl.evolve.operators import OperatorRates
from recrawl.papers.gp4c.download_errors import changes_by_cycle
from recrawl.papers.gp4c.gp4c_protocol import Gp4cProtocol, Windows
from recrawl.papers.gp4c.gp4c_trials import judge
from recrawl.plan import Plan
from recrawl.recording.recording import Recording
from recrawl.simulate.synthetic.synthesis import synthesize

FOLDS, DAYS, WINDOW = 5, 57, 19
SETTINGS = EvolutionSettings(seeds=1, rates=OperatorRates(depth=17))
CONFIGURATION = {
    "PopulationSize": 300,
    "NumberOfGenerations": 50,
    "CreationType": 2,
    "CreationProbability": 15.0,
    "CrossoverProbability": 90.0,
    "MaximumDepthForCreation": 10,
    "MaximumDepthForCrossover": 17,
    "SelectionType": 1,
    "TournamentSize": 2,
    "DemeticGrouping": 0,
    "DemeSize": 100,
    "DemeticMigProbability": 100.0,
    "SwapMutationProbability": 5.0,
    "ShrinkMutationProbability": 5.0,
    "SteadyState": 0,
    "InfoFileName": "result",
    "AddBestToNewPopulation": 1,
    "FitnessFunction": 2,  # NDCG
    "InitialVisits": 2,
    "Resources": 0.05,
    "NumberOfFolds": FOLDS,
    "MaxTopGPs": 50,
    "TerminalSet": 2,  # all terminals
    "SplitDatasetByTime": 1,
}


@dataclass(frozen=True)
class Outcome:
    """ChangeRate and NDCG of the chosen formula of each test fold, CPU-seconds, and one of the formulas."""

    name: str
    rates: list[float]
    ndcg: list[float]
    seconds: float
    formula: str


def blocks(recording: Recording, seed: int) -> list[Recording]:
    """The folds, as both take them: the program splits its file into blocks."""
    return recording.folds(FOLDS, seed)


def write_input(folder: Path, folds: list[Recording]) -> None:
    """Write the pages fold after fold, and the configuration."""
    ends = np.arange(1.0, DAYS + 1)
    lines = ["".join("01"[int(bit)] for bit in row) for fold in folds for row in changes_by_cycle(fold, ends)]
    (folder / "changes.txt").write_text("\n".join(lines) + "\n")
    (folder / "crawling.ini").write_text("".join(f"{name} = {value}\n" for name, value in CONFIGURATION.items()))


def run_theirs(program: Path, folds: list[Recording], seed: int) -> list[Outcome]:
    """Run the program; the last line of a result file has the means of its three selections."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_input(folder, folds)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with (folder / "out.txt").open("wb") as out:
            subprocess.run([program, str(seed), "changes.txt"], cwd=folder, stdout=out, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        text = (folder / "out.txt").read_text(errors="replace")
        means = {m: [read_means(folder, m, fold) for fold in range(FOLDS)] for m in ("changerate", "ndcg")}
    found = []
    for at, selection in enumerate(("best", "sum", "avg")):
        shown = re.findall(rf"GP2C_{selection}:\n=+\nGP: (.*)", text)
        rates, ndcg = ([row[at] for row in means[m]] for m in ("changerate", "ndcg"))
        found.append(Outcome(f"authors' program, {selection}", rates, ndcg, seconds, min(shown, key=len)))
    return found


def read_means(folder: Path, measure: str, fold: int) -> list[float]:
    """Read the means of the selections; the program ends its file names with a zero byte in some builds."""
    [path] = folder.glob(f"result.{measure}.fold{fold}*")
    return [float(word) for word in path.read_text().strip().splitlines()[-1].rstrip("; \0").split(";")]


def run_ours(folds: list[Recording], seed: int) -> list[Outcome]:
    """Evolve on the same folds: of the four that are not tested the first validates, the others train."""
    plan = Plan(1.0, 0.05, 2, seed=seed)
    protocol = Gp4cProtocol(plan, folds=FOLDS, split=(3, 1), settings=SETTINGS, over="cycles")
    whole = synthesized(folds)
    warm_up(folds[0], plan)
    names = {"best": "recrawl, best", "best in training": "recrawl, best in training"}
    values: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    formulas: dict[str, list[str]] = {name: [] for name in names}
    began = time.process_time()
    for number in range(FOLDS):
        data = windows(whole, folds, number)
        train, validation = (
            make_fitness(part, plan, "ndcg", "all", over="cycles", form="rate")
            for part in (data.train, data.validation)
        )
        found = discover(train, validation, SETTINGS, seed + 1000 * number)
        for name in names:
            formula = found.chosen[name].formula
            [curves] = judge([formula], data.test, plan, protocol)
            values[name].append((float(curves[0].mean()), float(curves[1].mean())))
            formulas[name].append(str(formula))
    seconds = time.process_time() - began
    return [
        Outcome(
            shown, [a for a, _ in values[name]], [b for _, b in values[name]], seconds, min(formulas[name], key=len)
        )
        for name, shown in names.items()
    ]


def synthesized(folds: list[Recording]) -> Recording:
    """The recording that the folds are parts of."""
    whole = folds[0].whole
    return Recording(whole, np.sort(np.concatenate([fold.rows for fold in folds])), folds[0].start, folds[0].end)


def windows(whole: Recording, folds: list[Recording], tested: int) -> Windows:
    """The program's sets for one tested fold."""
    others = [i for i in range(FOLDS) if i != tested]

    def part(chosen: list[int], window: int) -> Recording:
        rows = np.sort(np.concatenate([folds[i].rows for i in chosen]))
        return Recording(whole.whole, rows, whole.start, whole.end).window(WINDOW * window, WINDOW * (window + 1.0))

    return Windows(part(others[1:], 0), part(others[:1], 1), part([tested], 2))


def warm_up(fold: Recording, plan: Plan) -> None:
    """Compile before the clock runs."""
    fitness = make_fitness(fold.window(0, WINDOW), plan, "ndcg", "all", over="cycles", form="rate")
    discover(fitness, fitness, replace(SETTINGS, population=20, generations=2), 1)


def main() -> None:
    """Run both and print a table."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_file():
        raise SystemExit(str(__doc__).partition("\n\nPROGRAM")[0])
    program = Path(sys.argv[1]).resolve()
    preset, pages, seed = (*sys.argv[2:], *("brdc12", "4000", "1")[len(sys.argv) - 2 :])
    recording = synthesize(preset, int(pages), DAYS, seed=int(seed), only=())
    folds = blocks(recording.window(0, DAYS).fixed(), int(seed))
    print(f"{preset}, {sum(map(len, folds)):,} pages, {DAYS} days, seed {seed}; NDCG, all terminals, one seed per fold")
    for row in (*run_ours(folds, int(seed)), *run_theirs(program, folds, int(seed))):
        rates, ndcg = np.mean(row.rates), np.mean(row.ndcg)
        each = " ".join(f"{value:.4f}" for value in row.ndcg)
        print(
            f"{row.name:28} ChangeRate {rates:.4f}  NDCG {ndcg:.4f} ({each})  {row.seconds:,.1f} CPU-s  {row.formula}"
        )


if __name__ == "__main__":
    main()
