"""Predicting content change (Radinsky & Bennett 2013): Tables 1 to 3 and Figs 6 and 7 on the pages with full texts.

Each page is predicted one step ahead at every step of a sliding window (section 7.2): the learners see the n steps
before, never a later one. Experts are chosen anew every few steps from the same past. A page's accuracy is the mean
over its steps; tables show the mean over the pages, and methods are compared page by page with a paired t-test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recrawl.columns import BoolArray, FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.papers.experts import expert_learners as learners
from recrawl.papers.experts.dynamics import dynamics_of
from recrawl.papers.experts.expert_learners import SINGLE, Council, Describer, decisions, vote
from recrawl.papers.experts.expert_selection import Choice, Movement, Neighbours, by_content
from recrawl.papers.experts.experts_protocol import ExpertsProtocol, choose_pages
from recrawl.papers.experts.snapshots import Snapshots, behaviour_flips
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording

DRAW, MAJORITY, OWN, MULTIPLE = "1D draw", "1D majority", "2D single", "3D multiple"
LAST = "1D window"  # by how often the page changed in the window l that the features look back on, not in n steps
ENSEMBLES = {"union": learners.UNION, "boosting": learners.BOOSTING, "bagging": learners.BAGGING}
SELECTIONS = ("graph", "content", "cross-correlation", "dtw")
COSTS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class ExpertExample:
    """Who predicts a page: its experts by way of selection, and what they did for it."""

    page: str
    accuracy: Mapping[str, float]  # 2D single, 3D multiple
    experts: Mapping[str, Sequence[tuple[str, float]]]  # way of selection -> name and weight, best first


@dataclass(frozen=True)
class TrialOutcome:
    """Results of a protocol: accuracies by method, one value per page (NaN where it could not be judged)."""

    protocol: ExpertsProtocol
    pages: int  # with text
    flips: float  # the filter that was used
    passing: Mapping[float, int]  # how many pages each filter leaves
    judged: int  # predictions
    changes: float  # share of them that were changes
    cost: float  # C of the SVMs
    accuracy: Mapping[str, FloatArray]
    balanced: Mapping[str, float]  # mean of the accuracy on changes and on no changes, over all predictions
    selected: Mapping[str, FloatArray]  # by way of selection
    found: Mapping[str, float]  # experts that a page has by way of selection, on average
    sizes: Mapping[int, Mapping[str, FloatArray]]  # by training size (Fig 6)
    counts: Mapping[int, FloatArray]  # by number of experts (Fig 7)
    by_links: str  # which sort of neighbours the graph had
    examples: Sequence[ExpertExample] = ()  # pages that gain and lose most by their experts (section 9.1)


@dataclass
class Judge:
    """Collects predictions and outcomes: right or wrong by page and method."""

    rows: IntArray
    entries: dict[str, list[tuple[int, FloatArray, BoolArray]]] = field(default_factory=dict)

    def note(self, method: str, page: int, right: FloatArray, truth: BoolArray) -> None:
        """Record how right (0 to 1) a method was about a page at some steps."""
        self.entries.setdefault(method, []).append((page, right, truth))

    def accuracy(self, method: str) -> FloatArray:
        """Mean by page."""
        total, count = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        for page, right, _ in self.entries.get(method, []):
            total[page] += right.sum()
            count[page] += len(right)
        return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)

    def balanced(self, method: str) -> float:
        """Mean of the accuracy on changes and on no changes."""
        right = np.concatenate([r for _, r, _ in self.entries[method]])
        truth = np.concatenate([t for _, _, t in self.entries[method]])
        if truth.all() or not truth.any():
            return float("nan")
        return float((right[truth].mean() + right[~truth].mean()) / 2)


def run_protocol(
    recording: Recording, snapshots: Snapshots, protocol: ExpertsProtocol, advance: Advance = silent
) -> TrialOutcome:
    """Predict every page that passes the filter at every step."""
    changed = snapshots.changed(protocol.change, protocol.rule)
    flips = behaviour_flips(changed, snapshots.there)
    filtered, rows, passing = choose_pages(flips, protocol)
    trial = ExpertTrial(recording, snapshots, changed, rows, protocol)
    cost = trial.calibrate()
    main, counts = trial.main(cost, advance)
    if OWN not in main.entries:
        raise InputError(
            f"{snapshots.steps} steps of {snapshots.step_days:g} days are too few to learn from {protocol.train} and "
            "judge the next"
        )
    sizes = trial.sizes(cost, advance)
    truth = np.concatenate([t for _, _, t in main.entries[OWN]])
    methods = [DRAW, MAJORITY, LAST, OWN, MULTIPLE, *ENSEMBLES]
    return TrialOutcome(
        protocol=protocol,
        pages=len(snapshots),
        flips=filtered,
        passing=passing,
        judged=len(truth),
        changes=float(truth.mean()),
        cost=cost,
        accuracy={method: main.accuracy(method) for method in methods},
        balanced={method: main.balanced(method) for method in [*methods, *SELECTIONS]},
        selected={method: main.accuracy(method) for method in SELECTIONS},
        found={method: float(np.mean(n)) for method, n in trial.found.items()},
        sizes=sizes,
        counts=counts,
        by_links=trial.neighbours.kind,
        examples=trial.examples(main),
    )


class ExpertTrial:
    """The sliding windows of one protocol."""

    def __init__(
        self, recording: Recording, snapshots: Snapshots, changed: BoolArray, rows: IntArray, protocol: ExpertsProtocol
    ) -> None:
        self.recording, self.snapshots, self.rows, self.protocol = recording, snapshots, rows, protocol
        self.describer = Describer(snapshots, changed, protocol.window, beside=protocol.beside)
        self.neighbours = Neighbours(recording, snapshots.pages)
        self.found: dict[str, list[int]] = {method: [] for method in SELECTIONS}
        self.last: dict[str, list[Choice]] = {}  # the experts of the last block, for people to read

    def steps(self, council: Council, train: int, stride: int, begin: int, end: int) -> IntArray:
        """Steps from begin to end at which a page is judged; the same for all methods."""
        found = learners.judgeable(council, train)
        return found[(found % stride == 0) & (found >= begin) & (found < end)]

    def calibrate(self) -> float:
        """Choose C by the single expert on the steps before any that is judged, learning from half as many."""
        train = max(self.protocol.train // 2, 4)
        right = dict.fromkeys(COSTS, 0.0)
        for row in self.rows:
            council = self.describer.council(int(row), np.empty(0, dtype=np.int64))
            steps = learners.judgeable(council, train)
            steps = steps[steps + council.ahead <= self.protocol.train][:: self.protocol.stride]
            if not len(steps):
                continue
            truth = council.label[steps + council.ahead] == 1
            for cost in COSTS:
                predicted = decisions(council, steps, train, cost, ensembles=False)[SINGLE] > 0
                right[cost] += float((predicted == truth).sum())
        return max(COSTS, key=lambda cost: (right[cost], cost == 1.0))

    def blocks(self, train: int) -> list[tuple[int, int]]:
        """Spans of steps between choices of experts."""
        first, last = train + self.protocol.window.back + self.protocol.window.interval - 1, self.snapshots.steps
        return [(b, min(b + self.protocol.reselect, last)) for b in range(first, last, self.protocol.reselect)]

    def main(self, cost: float, advance: Advance) -> tuple[Judge, dict[int, FloatArray]]:
        """Tables 1 to 3 and Fig 7: all methods with the protocol's training size."""
        protocol, judge = self.protocol, Judge(self.rows)
        by_count = Judge(self.rows)
        blocks = self.blocks(protocol.train)
        for number, (begin, end) in enumerate(blocks):
            chosen = self.select(begin, protocol.train, SELECTIONS, max(*protocol.counts, protocol.experts))
            self.last = chosen
            for page in range(len(self.rows)):
                self._judge(judge, by_count, page, {m: chosen[m][page] for m in SELECTIONS}, begin, end, cost)
            advance(number + 1, len(blocks), protocol.name)
        return judge, {k: by_count.accuracy(str(k)) for k in protocol.counts}

    def select(self, step: int, train: int, methods: tuple[str, ...], k: int) -> dict[str, list[Choice]]:
        """Choose experts for every page from the `train` steps up to a step."""
        out: dict[str, list[Choice]] = {}
        protocol = self.protocol
        moving = dynamics_of(self.snapshots, max(step - train, 0), step, moving=protocol.moving_words)
        movement = Movement(moving, words=protocol.compared_words)
        for method in methods:
            if method == "graph":
                at = self.recording.start + step * self.snapshots.step_days
                out[method] = self.neighbours.near(at, k, self.rows)
            elif method == "content":
                out[method] = by_content(self.snapshots, step, k, self.rows, words=protocol.content_words)
            else:
                out[method] = [movement.nearest(int(row), k, method) for row in self.rows]
        return out

    def examples(self, judge: Judge, most: int = 3) -> list[ExpertExample]:
        """Name the experts of the pages that gain most by them, and of those that lose most."""
        own, many = judge.accuracy(OWN), judge.accuracy(MULTIPLE)
        order = np.argsort(-np.nan_to_num(many - own, nan=0.0), kind="stable")
        chosen = dict.fromkeys([*order[:most].tolist(), *order[-most:].tolist()])
        paths, sites = self.recording.page("path"), self.recording.site_names

        def name(row: int) -> str:
            page = int(self.snapshots.pages[row])
            return f"{sites[int(self.recording.site[page])]} {paths[page]}"

        return [
            ExpertExample(
                name(int(self.rows[page])),
                {OWN: float(own[page]), MULTIPLE: float(many[page])},
                {
                    method: [
                        (name(int(e)), float(w)) for e, w in zip(c[page].experts[:3], c[page].weight[:3], strict=True)
                    ]
                    for method, c in self.last.items()
                },
            )
            for page in chosen
        ]

    def _judge(
        self, judge: Judge, by_count: Judge, page: int, chosen: Mapping[str, Choice], begin: int, end: int, cost: float
    ) -> None:
        protocol, row = self.protocol, int(self.rows[page])
        alone = self.describer.council(row, np.empty(0, dtype=np.int64))
        steps = self.steps(alone, protocol.train, protocol.stride, begin, end)
        if not len(steps):
            return
        truth = self._baselines(judge, page, alone, steps, protocol.train)
        for method, choice in chosen.items():
            mine = method == "cross-correlation"
            some = choice.experts[: protocol.experts]
            council = self.describer.council(row, some)
            decided = decisions(council, steps, protocol.train, cost, ensembles=mine, seed=protocol.seed)
            weights = np.append(1.0, choice.weight)
            voted = vote(decided[4:], weights[: len(some) + 1])
            judge.note(method, page, _right(voted, truth), truth)
            self.found[method].append(len(some))
            if not mine:
                continue
            judge.note(OWN, page, _right(decided[SINGLE], truth), truth)
            judge.note(MULTIPLE, page, _right(voted, truth), truth)
            for name, place in ENSEMBLES.items():
                judge.note(name, page, _right(decided[place], truth), truth)
            more = self.describer.council(row, choice.experts[protocol.experts :])
            rest = decisions(more, steps, protocol.train, cost, ensembles=False)[5:]
            every = np.concatenate([decided[4:], rest])
            for count in protocol.counts:  # the page itself is the first expert
                by_count.note(str(count), page, _right(vote(every[:count], weights[:count]), truth), truth)

    def _baselines(self, judge: Judge, page: int, council: Council, steps: IntArray, train: int) -> BoolArray:
        """Record the predictions by the page's own frequency at these steps, and return the outcomes."""
        truth = np.asarray(council.label[steps + council.ahead] == 1)
        chance = learners.frequency(council.label, steps, train)
        judge.note(DRAW, page, np.where(truth, chance, 1.0 - chance), truth)
        judge.note(MAJORITY, page, _right(chance - 0.5, truth), truth)
        late = learners.frequency(council.label, steps, self.protocol.window.length)
        judge.note(LAST, page, np.where(truth, late, 1.0 - late), truth)
        return truth

    def sizes(self, cost: float, advance: Advance) -> dict[int, dict[str, FloatArray]]:
        """Fig 6: by training size, on the steps that can be judged with the largest of them."""
        protocol = self.protocol
        largest = max(protocol.sizes)
        if largest + protocol.window.back + 1 >= self.snapshots.steps:
            return {}
        out = {}
        for number, train in enumerate(protocol.sizes):
            judge = Judge(self.rows)
            for begin, end in self.blocks(largest):
                chosen = self.select(begin, train, ("cross-correlation",), protocol.experts)["cross-correlation"]
                for page, (row, choice) in enumerate(zip(self.rows, chosen, strict=True)):
                    council = self.describer.council(int(row), choice.experts)
                    steps = self.steps(council, largest, protocol.size_stride, begin, end)
                    if len(steps):
                        self._judge_size(judge, page, council, choice, steps, train, cost)
            out[train] = {method: judge.accuracy(method) for method in (DRAW, MAJORITY, OWN, MULTIPLE)}
            advance(number + 1, len(protocol.sizes), f"{protocol.name}, training sizes")
        return out

    def _judge_size(
        self, judge: Judge, page: int, council: Council, choice: Choice, steps: IntArray, train: int, cost: float
    ) -> None:
        truth = self._baselines(judge, page, council, steps, train)
        decided = decisions(council, steps, train, cost, ensembles=False)
        judge.note(OWN, page, _right(decided[SINGLE], truth), truth)
        judge.note(MULTIPLE, page, _right(vote(decided[4:], np.append(1.0, choice.weight)), truth), truth)


def _right(decided: FloatArray, truth: BoolArray) -> FloatArray:
    """1 where the sign of the prediction agrees with the outcome, else 0."""
    return ((decided > 0) == truth).astype(np.float64)
