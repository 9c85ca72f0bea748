"""A table of results as text, for a page or a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recrawl.evaluate.statistics import Interval

LONG = 36  # characters: columns with longer cells are text that wraps


@dataclass(frozen=True)
class Table:
    """Rows of text. Cells are (row, column): `best` are marked, `bars` have a bar behind them, in percent."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    prose: bool = False  # sentences, not numbers: stacked on narrow screens
    bars: Mapping[tuple[int, int], float] = field(default_factory=dict)
    bounds: frozenset[int] = frozenset()  # rows that do not compete: in italics
    sums: frozenset[int] = frozenset()  # rows that sum up the others: in bold

    @property
    def texts(self) -> frozenset[int]:
        """Columns with formulas or sentences, whose lines may break."""
        return frozenset(c for row in self.rows for c, cell in enumerate(row) if len(cell) > LONG)


def with_interval(value: Interval, digits: int = 3) -> str:
    """Write a mean with its interval, where there is one."""
    return f"{value.mean:.{digits}f}" + ("" if math.isnan(value.half) else f" ± {value.half:.{digits}f}")
