"""Adopt a history: read it, keep what was asked for, write it as a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recrawl.errors import InputError
from recrawl.importers.assembly import Adoption, assemble
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.kinds import read_history
from recrawl.importers.reading import instant_of
from recrawl.recording.write import new_recording, write_tables


def adopt(
    kind: str,
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    options: ImportOptions | None = None,
    settle_days: float | None = None,
    since: str | None = None,
    force: bool = False,
) -> Adoption:
    """Read another crawler's history and write it as a recording; returns a summary of it.

    `options.hosts` and `since` keep a part of it.
    """
    options, earliest = options or ImportOptions(), since_when(since)
    with new_recording(out, force=force) as folder:
        seen = read_history(kind, [Path(source) for source in sources], options)
        tables, adoption = assemble(seen, settle_days, hosts=options.hosts, since=earliest)
        write_tables(tables, folder)
    return adoption


def since_when(since: str | None) -> float | None:
    """Read the time from which on visits are kept, as seconds since 1970."""
    try:
        return None if since is None else instant_of(since)
    except ValueError as error:
        raise InputError(f"--since: {error}") from None
