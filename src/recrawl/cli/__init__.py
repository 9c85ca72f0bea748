"""cli: thin verbs, one module each. `main` turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from recrawl import __version__
from recrawl.errors import InputError, RecrawlError

VERBS = (
    "demo", "init", "add", "run", "status", "pages", "show", "learn", "replay", "export",
    "adopt", "synth", "describe", "compare", "evolve", "experiment", "focus", "policies",
)  # fmt: skip

EXAMPLES = """examples:
  recrawl synth mixed --pages 20000 --days 120 --seed 1 --out web
  recrawl describe web
  recrawl compare web --policies age,cg,nad,oracle --cycle 7d --budget 5% --out report
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser(verbs_needed: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """Build the parser with all verbs, or those needed: importing what one verb needs is quicker."""
    parser = _Parser(
        prog="recrawl",
        description="A crawler that learns the web's rhythm.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"recrawl {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", dest="verb", required=True)
    for verb in verbs_needed:
        import_module(f"recrawl.cli.verb_{verb}").add(verbs)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb: 0 done, 1 failed, 2 bad input, 130 interrupted."""
    words = sys.argv[1:] if argv is None else argv
    needed = VERBS if not words else words[:1] if words[0] in VERBS else () if words[0] == "--version" else VERBS
    args = build_parser(needed).parse_args(words)
    try:
        return int(args.run(args) or 0)
    except InputError as wrong:
        print(f"recrawl: {wrong}", file=sys.stderr)
        return 2
    except RecrawlError as wrong:
        print(f"recrawl: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("recrawl: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away (`| head`): not our error
        return 0
