"""Protocols of the experiment on related pages: step length, what counts as a change, and which pages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.papers.experts.dynamics import MOVING, WORDS
from recrawl.papers.experts.expert_features import Window
from recrawl.see.change import PAPER, ChangeRule

FALLBACKS = (0.3, 0.2, 0.1, 0.05, 0.0)  # shares of flips, tried until enough pages are left
ENOUGH = 20  # pages
FEWEST = 10  # pages, below which nothing is judged
ALL_WORDS = 1 << 20


@dataclass(frozen=True)
class ExpertsProtocol:
    """One protocol: the length of a step, what counts as a change, and the size of the training window."""

    name: str
    step_days: float = 1.0
    change: str = "any"
    rule: ChangeRule = PAPER
    flips: float = 0.3  # the filter of section 7.1
    train: int = 50
    sizes: tuple[int, ...] = (30, 40, 50, 60, 70, 80, 90)
    experts: int = 20
    counts: tuple[int, ...] = (1, 5, 10, 15, 20, 25, 30)
    window: Window = field(default_factory=Window)
    stride: int = 1  # judge every so many steps
    size_stride: int = 3  # the same for the training sizes
    reselect: int = 28  # steps between choices of experts
    seed: int = 0
    beside: bool = False  # whether experts see the features of the page that they predict, too
    words: int = WORDS  # by which a page is compared with others; 0: all

    @property
    def moving_words(self) -> int:
        """How many moving words of a page that others are compared with are followed."""
        return (MOVING // WORDS) * self.compared_words

    @property
    def content_words(self) -> int:
        """By how many words contents are compared."""
        return 4 * self.compared_words

    @property
    def compared_words(self) -> int:
        """The number of words, a very large one for all."""
        return self.words or ALL_WORDS


SIGNIFICANT = ExpertsProtocol(
    "daily, significant change", change="significant", stride=2, size_stride=6
)  # the paper's own target
DAILY = ExpertsProtocol("daily, any change", stride=2, size_stride=6)  # judged every other day: a year has many
WEEKLY = ExpertsProtocol(
    "weekly, any change", 7.0, train=20, sizes=(10, 15, 20, 25, 30), size_stride=1, reselect=4
)  # a year has 52 steps
LARGE = replace(
    WEEKLY, name="weekly, 1% of the words", change="significant", rule=ChangeRule(test=False, rewritten=0.01)
)
PROTOCOLS = (SIGNIFICANT, DAILY, WEEKLY, LARGE)


def quick(protocol: ExpertsProtocol) -> ExpertsProtocol:
    """Return a small version for a first look."""
    sizes = protocol.sizes[:: max(1, len(protocol.sizes) // 2)]
    return replace(
        protocol, stride=4 * protocol.stride, size_stride=6 * protocol.size_stride, sizes=sizes, counts=(1, 5, 20)
    )


def choose_pages(flips: FloatArray, protocol: ExpertsProtocol) -> tuple[float, IntArray, dict[float, int]]:
    """Filter as in section 7.1; where too few pages are left, by the largest smaller share that leaves enough."""
    shares = sorted({protocol.flips, *(s for s in FALLBACKS if s < protocol.flips)}, reverse=True)
    passing = {share: int((flips >= share).sum() if share > 0 else (flips > 0).sum()) for share in shares}
    share = next((share for share in shares if passing[share] >= ENOUGH), shares[-1])
    rows = np.flatnonzero(flips >= share if share > 0 else flips > 0)
    if not len(rows):
        raise InputError("no page changed and stayed the same in turn, so there is nothing to predict")
    return share, rows, passing
