"""recrawl policies: every policy on one screen, or some of them with their parameters."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_json

if TYPE_CHECKING:
    from rich.table import Table

    from recrawl.policy import Policy
    from recrawl.registry import Entry

WIDTH = 100  # where the output is not a terminal

EXAMPLES = """examples:
  recrawl policies
  recrawl policies nutch learned            with their parameters and defaults
  recrawl policies --json
  recrawl compare web --policies "age,bayes(a=1,b=2),explore(cg, 10%),nutch(first=7d, fill=yes)"

t cycles since the last visit, n visits, X changes found, mu importance, D change rate, rho visit rate, I interval.
Spans of time are written 60s, 90m, 12h, 7d or 2w.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "List all policies, or some of them with their parameters and defaults."
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these policies, with their parameters")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the registry."""
    from recrawl.policies.catalogue import policies
    from recrawl.report.console import PipeConsole

    entries = [policies[name] for name in args.names] or list(policies)
    if args.json:
        print(json.dumps([_row(entry) for entry in entries], indent=2, ensure_ascii=False))
        return
    PipeConsole(width=None if sys.stdout.isatty() else WIDTH).print(_table(entries, bool(args.names)))


def _row(entry: Entry[Policy]) -> dict[str, Any]:
    from recrawl.arguments import parameters, show

    return {
        "name": entry.name,
        "parameters": {
            p.name: None if p.required else show(p.default, p.kind) for p in parameters(entry.make)
        },  # null: must be given
        "formula": entry.formula,
        "source": entry.source,
        "clairvoyant": entry.clairvoyant,
    }


def _table(entries: list[Entry[Policy]], whole: bool) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from recrawl.arguments import parameters

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("policy", no_wrap=True)
    table.add_column("formula")
    table.add_column("source", no_wrap=True)
    for entry in entries:
        options = ", ".join(str(parameter) for parameter in parameters(entry.make))
        below = f"\n[dim]({escape(options)})[/dim]" if whole and options else ""
        table.add_row(f"[bold]{entry.name}[/bold]", escape(entry.formula) + below, escape(entry.source))
    return table
