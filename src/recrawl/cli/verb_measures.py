"""recrawl measures: every measure that a comparison can show, on one screen."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from recrawl.cli.options import add_json
from recrawl.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 120  # where the output is not a terminal

EXAMPLES = """examples:
  recrawl measures
  recrawl measures --json
  recrawl compare web --measures "ChangeRate,NDCG@1%,Freshness(weighted),WorstSite"

(weighted): pages count by their importance, which `recrawl compare --importance` gives.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "List all measures: how each is written, what it says, its unit, and whether higher is better."
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the registry."""
    from recrawl.report.console import PipeConsole

    rows = _rows()
    if args.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    PipeConsole(width=None if sys.stdout.isatty() else WIDTH).print(_table(rows))


def _rows() -> list[dict[str, str]]:
    """Describe each measure by what it is with its defaults; one of another package may have none."""
    from recrawl.evaluate.measures.all_measures import measures

    rows = []
    for entry in measures:
        row = {"name": entry.name, "written": entry.formula, "meaning": "", "unit": "", "better": ""}
        with suppress(TypeError, InputError):
            measure = entry.make()
            row |= {"meaning": measure.description, "unit": measure.unit, "better": measure.better}
        rows.append({**row, "source": entry.source})
    return rows


def _table(rows: list[dict[str, str]]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("written", "meaning", "unit", "better", "source"):
        table.add_column(name)
    for row in rows:
        cells = (row[name] for name in ("meaning", "unit", "better", "source"))
        table.add_row(f"[bold]{escape(row['written'])}[/bold]", *map(escape, cells))
    return table
