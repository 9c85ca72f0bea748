"""Results printed as tables or JSON, and as folders: checked before the long work, written whole or not at all."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.errors import OutputError

if TYPE_CHECKING:
    from recrawl.papers.base import PaperReport


def check_folder(out: Path, *, force: bool, may_replace: Iterable[str]) -> None:
    """Raise OutputError if `out` cannot become a folder of results.

    An existing folder needs `force`, and is never replaced if it holds anything but files named in `may_replace`:
    a slip in the path must not cost someone's files.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file, not a folder")
    held = sorted(os.listdir(out)) if out.is_dir() else []
    if held and not force:
        raise OutputError(f"{out} exists; add --force to replace it")
    foreign = sorted(set(held) - set(may_replace))
    if foreign:
        raise OutputError(f"{out} holds {foreign[0]!r}, which is not ours to replace; choose another folder")
    try:
        shutil.rmtree(_stage(out))
    except OSError as wrong:
        raise OutputError(f"{out} cannot be written: {wrong.strerror or wrong}") from None


def write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    """Write the files to a sibling of `out`, then put it in its place."""
    try:
        staged = _stage(out)
        try:
            for name, content in files.items():
                (staged / name).write_bytes(content)
            if out.exists():
                shutil.rmtree(out)
            staged.rename(out)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
    except OSError as wrong:
        raise OutputError(f"{out} cannot be written: {wrong.strerror or wrong}") from None


def _stage(out: Path) -> Path:
    """Make an empty folder beside `out`, on the same file system, with the rights that `out` would have."""
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=parent))
    mask = os.umask(0)
    os.umask(mask)
    staged.chmod(0o777 & ~mask)
    return staged


def check_out(args: argparse.Namespace, owns: Callable[[str], bool]) -> None:
    """Before the long work: raise OutputError if --out has files that are not ours, or earlier results unasked."""
    if args.out is not None:
        held = os.listdir(args.out) if args.out.is_dir() else []
        check_folder(args.out, force=args.force, may_replace=filter(owns, held))


def deliver(
    args: argparse.Namespace,
    text: Callable[[], str],
    show: Callable[[], None],
    files: Callable[[], Mapping[str, bytes]],
    wrote: str = "report.html",
) -> None:
    """Print the results as JSON or as tables, and write the folder of --out."""
    if args.json:
        sys.stdout.write(text())
    else:
        show()
    if args.out is not None:
        write_folder(args.out, files())
        print(f"wrote {args.out}/{wrote}", file=sys.stderr)


def deliver_paper(args: argparse.Namespace, report: PaperReport[Any], words: str, notes: Iterable[str] = ()) -> None:
    """Print and write the results of a paper's experiment."""
    from recrawl.cli.console import print_tables

    deliver(
        args,
        lambda: report.json(words),
        lambda: print_tables(report.intro(), notes, report.tables()),
        lambda: report.files(words),
    )
