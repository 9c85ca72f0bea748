"""cli: thin verbs, one module each. `main` turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from recrawl import __version__
from recrawl.cli.verbs import VERBS, new_parser
from recrawl.errors import InputError, RecrawlError
from recrawl.extras import extras_named
from recrawl.plain_text import shown

EXAMPLES = """examples:
  recrawl synth mixed --pages 20000 --days 120 --seed 1 --out web
  recrawl describe web
  recrawl compare web --policies age,cg,nad,oracle --cycle 7d --budget 5% --out report
"""


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser(wanted: str | None = None, *, whole: bool = False) -> argparse.ArgumentParser:
    """Build the parser with all verbs by name, and the options of the one wanted (`whole`: of all, which is slower)."""
    parser = _Parser(
        prog="recrawl",
        description="A crawler that learns the web's rhythm.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"recrawl {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", dest="verb", required=True)
    for verb, help in VERBS.items():
        module = import_module(f"recrawl.cli.verb_{verb}") if whole or verb == wanted else None
        new_parser(verbs, verb, help, module)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb: 0 done, 1 failed, 2 bad input, 130 interrupted."""
    words = sys.argv[1:] if argv is None else argv
    args = build_parser(words[0] if words else None).parse_args(words)
    try:
        with extras_named():
            code = int(args.run(args) or 0)
            sys.stdout.flush()  # where the reader went away, say so here
            return code
    except InputError as error:
        print(f"recrawl: {error}", file=sys.stderr)
        return 2
    except RecrawlError as error:
        print(f"recrawl: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("recrawl: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away (`| head`): not our error
        return 0
    except OSError as error:
        if error.filename is None:
            raise
        print(f"recrawl: {shown(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return 2
