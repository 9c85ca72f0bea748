"""Folders of results: checked before the long work, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from recrawl.errors import OutputError


def check_folder(out: Path, *, force: bool, may_replace: Iterable[str]) -> None:
    """Raise OutputError if `out` cannot become a folder of results.

    An existing folder needs `force`, and is never replaced if it holds anything but files named in `may_replace`:
    a slip in the path must not cost someone's files.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file, not a folder")
    present = sorted(os.listdir(out)) if out.is_dir() else []
    if present and not force:
        raise OutputError(f"{out} exists; add --force to replace it")
    foreign = sorted(set(present) - set(may_replace))
    if foreign:
        raise OutputError(f"{out} holds {foreign[0]!r}, which is not ours to replace; choose another folder")
    try:
        shutil.rmtree(_stage(out))
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}") from None


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
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}") from None


def _stage(out: Path) -> Path:
    """Make an empty folder beside `out`, on the same file system, with the rights that `out` would have."""
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=parent))
    mask = os.umask(0)
    os.umask(mask)
    staged.chmod(0o777 & ~mask)
    return staged
