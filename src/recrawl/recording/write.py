"""Write a recording as a folder of Parquet tables, whole or not at all.

The tables are written into a temporary folder beside the wanted one, which then takes its name. The same tables give
the same bytes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.errors import InputError, OutputError
from recrawl.progress import Advance, silent
from recrawl.recording.schema import SCHEMA
from recrawl.recording.tables import Column

ROW_GROUP = 1_000_000
WRITERS = 2
REPEATED = ("ref", "kind", "licence", "tip", "ext", "when", "rhythm", "topic")  # few values: worth a dictionary


def write_recording(
    tables: Mapping[str, pa.Table | Mapping[str, Column]],
    folder: str | Path,
    *,
    force: bool = False,
    advance: Advance = silent,
) -> None:
    """Write tables (of Arrow or of arrays) as a recording; an existing folder is replaced only with `force`."""
    with new_recording(folder, force=force) as temporary:
        write_tables(tables, temporary, advance=advance)


def write_tables(
    tables: Mapping[str, pa.Table | Mapping[str, Column]], folder: Path, *, advance: Advance = silent
) -> None:
    """Write each table to `folder` as NAME.parquet, compressed by zstd."""
    for schema in SCHEMA.values():
        if schema.required and schema.name not in tables:
            raise InputError(f"a recording needs the table {schema.name!r}")
        names = _columns(tables[schema.name]) if schema.name in tables else [field.name for field in schema.needed]
        for field in schema.needed:
            if field.name not in names:
                raise InputError(f"table {schema.name!r} needs the column {field.name!r}: {field.meaning}")
    with ThreadPoolExecutor(WRITERS) as pool:  # compression runs outside Python's lock
        writing = {pool.submit(_write_table, table, folder / f"{name}.parquet"): name for name, table in tables.items()}
        for done, finished in enumerate(as_completed(writing)):
            finished.result()
            advance(done + 1, len(tables), f"wrote {writing[finished]}")


def _columns(table: pa.Table | Mapping[str, Column]) -> list[str]:
    return list(table.column_names) if isinstance(table, pa.Table) else list(table)


def _write_table(table: pa.Table | Mapping[str, Column], path: Path) -> None:
    arrow = table if isinstance(table, pa.Table) else to_arrow(table)
    repeated = [name for name in REPEATED if name in arrow.column_names]
    try:
        pq.write_table(arrow, path, compression="zstd", row_group_size=ROW_GROUP, use_dictionary=repeated)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def new_recording(folder: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that becomes `folder` at the end, or vanishes if anything goes wrong.

    Says at once if `folder` exists or cannot be made, before any long work.
    """
    final = Path(folder)
    _check_free(final, force)
    temporary = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
    except OSError as error:
        raise OutputError(f"cannot write to {final}: {error.strerror}") from None
    try:
        yield temporary
        _put_in_place(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_free(final: Path, force: bool) -> None:
    if not final.name or final.name == "..":
        raise OutputError(f"{final} is not a name for a new folder")
    blocked = next((parent for parent in final.parents if parent.exists() and not parent.is_dir()), None)
    if blocked is not None:
        raise OutputError(f"cannot write to {final}: {blocked} is not a folder")
    if not (final.exists() or final.is_symlink()):
        return
    if not final.is_dir() or final.is_symlink():
        raise OutputError(f"{final} is not a folder")
    if not force:
        raise OutputError(f"{final} exists; use --force to replace it")
    strange = sorted(p.name for p in final.iterdir() if p.suffix != ".parquet" or not p.is_file())
    if strange:  # never delete what is not a recording
        raise OutputError(f"{final} holds more than a recording ({strange[0]}) and is not replaced")


def _put_in_place(temporary: Path, final: Path) -> None:
    aside = temporary.with_suffix(".old")
    try:
        if final.exists():
            final.rename(aside)
        temporary.rename(final)
    except OSError as error:
        if aside.exists() and not final.exists():
            aside.rename(final)
        raise OutputError(f"cannot write to {final}: {error.strerror}") from None
    shutil.rmtree(aside, ignore_errors=True)


def to_arrow(columns: Mapping[str, Column]) -> pa.Table:
    """Make an Arrow table of arrays: NaN, and -1 in `target_page` and `prior_changes`, become missing values."""
    return pa.table({name: _to_arrow(name, np.asarray(column)) for name, column in columns.items()})


def _to_arrow(name: str, column: Column) -> pa.Array:
    if column.dtype == np.object_:
        return pa.array(column.tolist())
    if column.dtype.kind == "f":
        return pa.array(column, mask=np.isnan(column))
    if name in ("target_page", "prior_changes"):
        return pa.array(column, mask=column < 0)
    return pa.array(column)


def to_arrays(tables: Mapping[str, pa.Table]) -> dict[str, dict[str, Column]]:
    """Make arrays of Arrow tables, as a recording in memory needs them: missing numbers become NaN or -1."""
    return {
        name: {column: _to_array(table.column(column)) for column in table.column_names}
        for name, table in tables.items()
    }


def _to_array(values: pa.ChunkedArray) -> Column:
    if values.null_count and pa.types.is_integer(values.type):
        values = values.fill_null(-1)
    return np.asarray(values.combine_chunks().to_numpy(zero_copy_only=False))
