"""Results printed as tables or JSON and written as folders, for the verbs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import command
from recrawl.report.result_folder import check_folder, write_folder

if TYPE_CHECKING:
    from recrawl.papers.base import PaperReport

__all__ = ["check_folder", "check_out", "deliver", "deliver_paper", "write_folder"]


def check_out(args: argparse.Namespace, owns: Callable[[str], bool]) -> None:
    """Before the long work: raise OutputError if --out has files that are not ours, or results without --force."""
    if args.out is not None:
        present = os.listdir(args.out) if args.out.is_dir() else []
        check_folder(args.out, force=args.force, may_replace=filter(owns, present))


def deliver(
    args: argparse.Namespace,
    text: Callable[[], str],
    show: Callable[[], None],
    files: Callable[[], Mapping[str, bytes]],
    wrote: str = "report.html",
) -> None:
    """Write the folder of --out, then print the results as JSON or as tables: the reader may go away (`| head`)."""
    if args.out is not None:
        write_folder(args.out, files())
    if args.json:
        sys.stdout.write(text())
    else:
        show()
    if args.out is not None:
        print(f"wrote {args.out}/{wrote}", file=sys.stderr)


def deliver_paper(
    args: argparse.Namespace, report: PaperReport[Any], notes: Iterable[str] = (), more: str = ""
) -> None:
    """Print and write the results of a paper's experiment; `more` ends the command that gives them again."""
    from recrawl.report.console import print_tables

    words = command(args, f"experiment {args.experiment}") + more
    deliver(
        args,
        lambda: report.json(words),
        lambda: print_tables(report.intro(), notes, report.tables()),
        lambda: report.files(words),
    )
