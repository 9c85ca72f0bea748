"""A strategy: how much each score weighs in a URL's rank, near the seeds and further away; saved as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.focus.scores import ALL_SCORES

FORMAT = "recrawl-strategy-1"


@dataclass(frozen=True)
class Strategy:
    """Weights by score, one mapping for each sub-strategy.

    With `within` = (2, 4) the first ranks the URLs up to two links from the seeds, the second those up to four, the
    third all others. Scores that are not named weigh nothing.
    """

    name: str
    parts: tuple[Mapping[str, float], ...]
    within: tuple[int, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)  # how it was found: topic, fitness, ...

    def __post_init__(self) -> None:
        if len(self.parts) != len(self.within) + 1:
            raise InputError(f"strategy {self.name!r} has {len(self.parts)} parts and {len(self.within)} distances")
        if list(self.within) != sorted(set(self.within)) or min(self.within, default=1) < 1:
            raise InputError(f"strategy {self.name!r}: the distances must rise and be at least 1")
        for part in self.parts:
            for score, weight in part.items():
                if score not in ALL_SCORES:
                    raise InputError(f"strategy {self.name!r}: unknown score {score!r}")
                if not (isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0):
                    raise InputError(f"strategy {self.name!r}: the weight of {score} must be a number, at least 0")

    @property
    def weights(self) -> FloatArray:
        """The weights as the simulator reads them: one row per part, in the order of ALL_SCORES."""
        return np.array([[float(part.get(score, 0.0)) for score in ALL_SCORES] for part in self.parts])

    def __str__(self) -> str:
        return self.name


def normalised(values: Sequence[float], scores: Sequence[str]) -> dict[str, float]:
    """Scale weights to the sum 1 (eq. 2); all 0 stays all 0: a random order."""
    total = float(sum(values))
    return {score: float(value) / total if total else 0.0 for score, value in zip(scores, values, strict=True)}


def to_json(strategy: Strategy) -> str:
    """Write a strategy."""
    bounds: list[int | None] = [*strategy.within, None]
    parts = [
        {"weights": dict(part)} if bound is None else {"within": bound, "weights": dict(part)}
        for part, bound in zip(strategy.parts, bounds, strict=True)
    ]
    out = {"format": FORMAT, "name": strategy.name, "parts": parts, "found": dict(strategy.found)}
    return json.dumps(out, indent=2) + "\n"


def from_json(text: str, where: str = "strategy") -> Strategy:
    """Read a strategy; an error is one line."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where} is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{where} is not a strategy of format {FORMAT!r}")
    try:
        parts = tuple(dict(part["weights"]) for part in data["parts"])
        within = tuple(int(part["within"]) for part in data["parts"][:-1])
        return Strategy(str(data["name"]), parts, within, dict(data.get("found", {})))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: a field is missing or has the wrong type: {error}") from None


def load(path: Path) -> Strategy:
    """Read a strategy from a file."""
    try:
        return from_json(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the strategy {path}: {error}") from None


# Strategies to measure against. The link classifier is how focused crawlers rank links today (Chakrabarti et al. 2002
# and after): naive Bayes on the words of the link's address and anchor, taught by the pages that the crawl has
# downloaded, retrained every 500 pages. Before the first training, and among links with equal odds, it goes by the
# parent's score as Best-First does.
BEST_FIRST = Strategy("best-first", ({"PARENT_1": 1.0},))
BREADTH_FIRST = Strategy("breadth-first", ({"QUEUE": 1.0},))
RANDOM = Strategy("random", ({},))
LINK_CLASSIFIER = Strategy("link classifier", ({"BAYES": 1.0, "PARENT_1": 1e-6},))
BASELINES = (BEST_FIRST, BREADTH_FIRST, RANDOM, LINK_CLASSIFIER)

# Table 1 of the paper: evolved on its crawl of middle eastern dance pages
PUBLISHED = Strategy(
    "paper's Table 1",
    (
        {
            "HUB": 0.025828,
            "AUTHORITY": 0.025852,
            "COMM_in": 0.196382,
            "COMM_out": 0.312661,
            "PARENT_1": 0.250646,
            "PARENT_2": 0.093023,
            "PARENT_3": 0.080103,
            "PARENT_4": 0.005168,
            "PARENT_5": 0.010336,
        },
    ),
)
NAMED = {s.name: s for s in (*BASELINES, PUBLISHED)} | {"paper": PUBLISHED, "link-classifier": LINK_CLASSIFIER}
