"""The verbs by name with their one-line help, so that `recrawl --help` imports none of them."""

from __future__ import annotations

import argparse
from typing import Any

VERBS = {
    "demo": "crawl a small living web on this machine under a learned policy and under age",
    "init": "begin a crawl in a new folder",
    "add": "add pages to a crawl",
    "run": "crawl, cycle by cycle",
    "status": "how a crawl stands, also while it runs",
    "pages": "list a crawl's pages with what their visits found",
    "show": "one page: its visits and changes, the last diff, the next visit and why",
    "learn": "find the policy that fits this crawl's history best",
    "replay": "what would other policies have found on this crawl's history?",
    "export": "write a crawl's history as a recording, CSV or WARC",
    "synth": "write a synthetic web as a recording",
    "describe": "say what is in a recording",
    "compare": "compare policies on a recorded web",
    "evolve": "breed score formulas on a recorded web",
    "experiment": "run the experiments of the papers on a recorded web",
    "focus": "crawl for a topic: evolve and replay strategies that rank the frontier",
    "policies": "list all policies: name, formula, source; or some with their parameters",
}


def new_parser(
    names: Any, name: str, examples: str, description: str | None = None, *, help: str | None = None
) -> argparse.ArgumentParser:
    """Add a parser for a verb of the table, or one below it with a help of its own."""
    parser: argparse.ArgumentParser = names.add_parser(
        name,
        help=help or VERBS[name],
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser
