"""Where a recording's columns come from: Parquet files read column by column, or arrays in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.columns import BoolArray
from recrawl.errors import RecordingError
from recrawl.recording.schema import SCHEMA

Column = npt.NDArray[Any]

# The columns of these tables are kept once read: they are small, and every slice of a recording asks for them again.
KEPT_TABLES = ("sites", "pages", "changes")

MISSING = {"integer": -1, "number": np.nan, "flag": False, "instant": np.datetime64("NaT")}
EMPTY: dict[str, npt.DTypeLike] = {
    "integer": np.int64,
    "number": np.float64,
    "flag": np.bool_,
    "instant": "datetime64[ms]",
}
NUMPY_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}  # where Arrow's names differ


class Tables(Protocol):
    """Named tables of equally long columns; missing numbers are NaN (floats) or -1 (ids and counts)."""

    name: str

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the table (and column) is there."""

    def columns(self, table: str) -> dict[str, str]:
        """The names of a table's columns and their types in the words of the schema."""

    def rows(self, table: str) -> int:
        """How many rows the table has."""

    def column(self, table: str, column: str) -> Column:
        """Read one column."""

    def parts(self, table: str, column: str, wanted: BoolArray | None = None) -> Iterator[tuple[int, pa.Array]]:
        """Read one column part by part, as Arrow arrays with the number of their first row: text and lists are large.

        Parts without any wanted row may be left out.
        """


class ParquetTables:
    """The tables of a folder, one Parquet file each, read lazily and by column."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)
        self._files: dict[str, pq.ParquetFile] = {}
        self._kept: dict[tuple[str, str], Column] = {}

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the file (and the column in it) is there."""
        if not (self.folder / f"{table}.parquet").is_file():
            return False
        return column is None or column in self._file(table).schema_arrow.names

    def columns(self, table: str) -> dict[str, str]:
        """The names of the file's columns and their types."""
        return {field.name: _type_of(field.type) for field in self._file(table).schema_arrow}

    def rows(self, table: str) -> int:
        """How many rows the file has."""
        return int(self._file(table).metadata.num_rows)

    def column(self, table: str, column: str) -> Column:
        """Read one column; missing values become NaN in floats, -1 in integers, False in flags."""
        if (table, column) in self._kept:
            return self._kept[table, column]
        self._check(table, column)
        try:
            values = self._file(table).read(columns=[column]).column(0)
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(table, error) from None
        array = as_numpy(values) if _type_of(values.type) != "null" else _nothing(table, column, len(values))
        if table in KEPT_TABLES and array.dtype != np.object_:
            array.flags.writeable = False
            self._kept[table, column] = array
        return array

    def parts(self, table: str, column: str, wanted: BoolArray | None = None) -> Iterator[tuple[int, pa.Array]]:
        """Read one column, one row group at a time."""
        self._check(table, column)
        file = self._file(table)
        first = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if wanted is None or wanted[first : first + rows].any():
                try:
                    yield first, file.read_row_group(group, columns=[column]).column(0).combine_chunks()
                except (OSError, pa.ArrowException) as error:
                    raise self._unreadable(table, error) from None
            first += rows

    def _check(self, table: str, column: str) -> None:
        if column not in self._file(table).schema_arrow.names:
            raise RecordingError(f"{self.folder}: {table}.parquet has no column {column!r}")

    def _unreadable(self, table: str, error: Exception) -> RecordingError:
        return RecordingError(f"{self.folder}: {table}.parquet cannot be read, is it truncated? ({_line(error)})")

    def _file(self, table: str) -> pq.ParquetFile:
        if table not in self._files:
            path = self.folder / f"{table}.parquet"
            if not path.is_file():
                raise RecordingError(f"{self.folder} has no {table}.parquet: not a recording")
            try:
                self._files[table] = pq.ParquetFile(path)
            except (OSError, pa.ArrowException) as error:
                why = f"not a Parquet file, or a truncated one ({_line(error)})"
                raise RecordingError(f"{self.folder}: {table}.parquet is {why}") from None
        return self._files[table]


class ArrayTables:
    """Tables made of arrays, for recordings that were never on disk."""

    def __init__(self, tables: Mapping[str, Mapping[str, Column]], name: str = "arrays") -> None:
        self.name = name
        self._tables = tables

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the table (and column) is there."""
        return table in self._tables and (column is None or column in self._tables[table])

    def columns(self, table: str) -> dict[str, str]:
        """The names of a table's columns and their types."""
        if not self.has(table):
            raise RecordingError(f"{self.name} has no table {table!r}: not a recording")
        return {name: _type_of_array(array) for name, array in self._tables[table].items()}

    def rows(self, table: str) -> int:
        """How many rows the table has; its columns must agree."""
        lengths = {len(array) for array in self._tables[table].values()}
        if len(lengths) > 1:
            raise RecordingError(f"{self.name}: the columns of {table} have different lengths")
        return lengths.pop() if lengths else 0

    def column(self, table: str, column: str) -> Column:
        """Return the array itself."""
        if not self.has(table, column):
            raise RecordingError(f"{self.name}: {table} has no column {column!r}")
        return self._tables[table][column]

    def parts(self, table: str, column: str, wanted: BoolArray | None = None) -> Iterator[tuple[int, pa.Array]]:
        """Return the array, in one part."""
        values = self.column(table, column)
        yield 0, pa.array(values.tolist() if values.dtype == np.object_ else values)


def _nothing(table: str, column: str, rows: int) -> Column:
    """A column without a single value, which some writers store without a type."""
    kinds = {field.name: field.type for field in SCHEMA[table].fields} if table in SCHEMA else {}
    kind = kinds.get(column, "")
    return np.full(rows, MISSING.get(kind), dtype=EMPTY.get(kind, np.object_))


def as_numpy(values: pa.ChunkedArray) -> Column:
    """Convert a column from its buffers: Arrow's own way imports pandas, if installed, and takes over a second."""
    kind = _type_of(values.type)
    if kind not in ("integer", "number", "flag", "instant"):
        array = np.empty(len(values), dtype=np.object_)
        array[:] = values.to_pylist()
        return array
    chunks = [_flat(chunk, kind) for chunk in values.chunks if len(chunk)]
    if not chunks:
        return np.empty(0, dtype=EMPTY[kind])
    return np.concatenate(chunks) if len(chunks) > 1 else chunks[0]


def _flat(chunk: pa.Array, kind: str) -> Column:
    valid, content = chunk.buffers()
    span = slice(chunk.offset, chunk.offset + len(chunk))
    if kind == "flag":
        array: Column = _bits(content, span)
    elif kind == "instant":
        unit = getattr(chunk.type, "unit", "D" if chunk.type.bit_width == 32 else "ms")
        array = np.frombuffer(content, f"i{chunk.type.bit_width // 8}")[span].astype("i8").view(f"datetime64[{unit}]")
    else:
        array = np.frombuffer(content, NUMPY_NAMES.get(str(chunk.type), str(chunk.type)))[span]
    if not chunk.null_count:
        return array
    if array.dtype.kind == "u":
        array = array.astype(np.int64)  # has room for -1
    return np.where(_bits(valid, span), array, np.array(MISSING[kind], dtype=array.dtype))


def _bits(buffer: pa.Buffer, span: slice) -> Column:
    return np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")[span].view(np.bool_)


def _type_of(type: pa.DataType) -> str:
    """Return the schema's name of an Arrow type."""
    if pa.types.is_dictionary(type):
        return _type_of(type.value_type)
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return "integers" if pa.types.is_integer(type.value_type) else f"list of {type.value_type}"
    if pa.types.is_integer(type):
        return "integer"
    if pa.types.is_floating(type):
        return "number"
    if pa.types.is_boolean(type):
        return "flag"
    if pa.types.is_string(type) or pa.types.is_large_string(type):
        return "text"
    return "instant" if pa.types.is_timestamp(type) or pa.types.is_date(type) else str(type)


def _type_of_array(array: Column) -> str:
    """Return the schema's name of a numpy array's type."""
    if array.ndim != 1:
        return f"array of {array.ndim} dimensions"
    if array.dtype == np.object_:
        first = next((value for value in array if value is not None), None)
        return "null" if first is None else "text" if isinstance(first, str) else "integers"
    kinds = {"i": "integer", "u": "integer", "f": "number", "b": "flag", "U": "text", "T": "text", "M": "instant"}
    return kinds.get(array.dtype.kind, str(array.dtype))


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
