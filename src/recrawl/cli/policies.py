"""recrawl policies: every policy on one screen."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.console import Console
from rich.table import Table

from recrawl.schedule.catalog import policies


def add(verbs: Any) -> None:
    """Add the verb."""
    parser = verbs.add_parser("policies", help="list all policies: name, formula, source")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Print the registry."""
    if args.json:
        rows = [
            {"name": e.name, "formula": e.formula, "source": e.source, "clairvoyant": e.clairvoyant} for e in policies
        ]
        print(json.dumps(rows, indent=2))
        return
    table = Table(box=None, header_style="bold")
    for head in ("policy", "formula", "source"):
        table.add_column(head)
    for entry in policies:
        table.add_row(entry.name, entry.formula, entry.source)
    Console().print(table)
