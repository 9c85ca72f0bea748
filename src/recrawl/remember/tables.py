"""Where a recording's columns come from: Parquet files read a column at a time, or arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.errors import RecordingError

Column = npt.NDArray[Any]


class Tables(Protocol):
    """Named tables of equally long columns; missing numbers are NaN (floats) or -1 (ids)."""

    name: str

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the table (and column) is there."""
        ...

    def column(self, table: str, column: str) -> Column:
        """Read one column."""
        ...


class ParquetTables:
    """The tables of a folder, one Parquet file each, read lazily and by column."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)
        self._files: dict[str, pq.ParquetFile] = {}

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the file (and the column in it) is there."""
        if not (self.folder / f"{table}.parquet").is_file():
            return False
        return column is None or column in self._file(table).schema_arrow.names

    def column(self, table: str, column: str) -> Column:
        """Read one column; nulls become NaN in numbers and -1 in `target_page`."""
        file = self._file(table)
        if column not in file.schema_arrow.names:
            raise RecordingError(f"{self.folder}/{table}.parquet has no column {column!r}")
        try:
            values = file.read(columns=[column]).column(0)
        except (OSError, pa.ArrowInvalid) as wrong:
            raise RecordingError(f"{self.folder}/{table}.parquet cannot be read: {_line(wrong)}") from None
        if pa.types.is_integer(values.type) and values.null_count:
            values = values.fill_null(-1)
        return np.asarray(values.combine_chunks().to_numpy(zero_copy_only=False))

    def _file(self, table: str) -> pq.ParquetFile:
        if table not in self._files:
            path = self.folder / f"{table}.parquet"
            if not path.is_file():
                raise RecordingError(f"{self.folder} has no {table}.parquet: not a recording")
            try:
                self._files[table] = pq.ParquetFile(path)
            except (OSError, pa.ArrowInvalid) as wrong:
                raise RecordingError(f"{path} is not a readable Parquet file: {_line(wrong)}") from None
        return self._files[table]


class ArrayTables:
    """Tables made of arrays, for recordings that were never on disk."""

    def __init__(self, tables: Mapping[str, Mapping[str, Column]], name: str = "arrays") -> None:
        self.name = name
        self._tables = tables

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the table (and column) is there."""
        return table in self._tables and (column is None or column in self._tables[table])

    def column(self, table: str, column: str) -> Column:
        """Return the array itself."""
        if not self.has(table, column):
            raise RecordingError(f"{self.name}: no column {table}.{column}")
        return self._tables[table][column]


def _line(error: Exception) -> str:
    return str(error).splitlines()[0]
