"""recrawl policies: every policy on one screen."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from recrawl.registry import Entry
from recrawl.schedule.arguments import parameters, show
from recrawl.schedule.catalog import policies
from recrawl.schedule.policy import Policy

WIDTH = 100  # where the output is not a terminal
SPEC_WIDTH = 28  # longer lists of parameters go below the formula

EXAMPLES = """examples:
  recrawl policies
  recrawl policies --json
  recrawl compare web --policies "age,bayes(a=1,b=2),explore(cg, 10%),nutch(first=7d, fill=yes)"

t cycles since the last visit, n visits, X changes found, mu importance, D change rate, rho visit rate, I interval.
Spans of time are written 60s, 90m, 12h, 7d or 2w.
"""


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "policies",
        help="list all policies: name, parameters, formula, source",
        description="List all policies, with their parameters and defaults.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Print the registry."""
    if args.json:
        print(json.dumps([_row(entry) for entry in policies], indent=2, ensure_ascii=False))
        return
    Console(width=None if sys.stdout.isatty() else WIDTH).print(_table())


def _row(entry: Entry[Policy]) -> dict[str, Any]:
    return {
        "name": entry.name,
        "parameters": {
            p.name: None if p.required else show(p.default, p.kind) for p in parameters(entry.make)
        },  # null: must be given
        "formula": entry.formula,
        "source": entry.source,
        "clairvoyant": entry.clairvoyant,
    }


def _table() -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("policy", no_wrap=True, min_width=SPEC_WIDTH)
    table.add_column("formula")
    table.add_column("source")
    for entry in policies:
        said = ", ".join(str(parameter) for parameter in parameters(entry.make))
        short = len(entry.name) + len(said) + 2 <= SPEC_WIDTH
        name = f"[bold]{entry.name}[/bold]" + (escape(f"({said if short else '...'})") if said else "")
        below = "" if short else f"\n[dim]({escape(said)})[/dim]"
        table.add_row(name, escape(entry.formula) + below, escape(entry.source))
    return table
