"""A bad recording is refused on opening: one line that names the table and the column, exit code 2."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.cli import main
from recrawl.errors import RecordingError
from recrawl.recording.recording import Recording
from recrawl.recording.schema import SCHEMA

Table = dict[str, list[Any]]


def good() -> dict[str, Table]:
    """A small recording with every table."""
    return {
        "sites": {"site_id": [3, 5], "repo": ["a/a", "b/b"], "kind": ["docs", "blog"], "days": [10.0, 6.0]},
        "pages": {
            "page_id": [1, 2, 900],
            "site_id": [3, 3, 5],
            "born_day": [-4.0, 2.0, -1.0],
            "died_day": [None, 8.0, None],
            "path": ["a", "b", "c"],
            "prior_changes": [0, None, 4],
            "last_prior_day": [None, None, -1.0],
        },
        "changes": {
            "page_id": [1, 1, 2, 900],
            "day": [1.0, 2.0, 4.0, 5.0],
            "d_words_added": [1, 2, 3, 4],
            "d_words_removed": [0, 0, 0, 0],
            "new_internal": [0, 0, 0, 0],
            "mass_commit": [False, True, False, False],
        },
        "links": {
            "page_id": [1, 1, 2],
            "day_from": [0.0, 1.0, 2.0],
            "day_to": [1.0, None, 8.0],
            "internal": [True, True, False],
            "target_page": [2, None, None],
            "target": [None, "/x", "y.org/"],
        },
        "terms": {"page_id": [1], "when": ["start"], "bucket": [[1, 2]], "count": [[3, 4]], "total": [7]},
        "texts": {"page_id": [900, 900], "day": [0.0, 5.0], "text": ["old", "new"]},
    }


def write(tables: dict[str, Table], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return folder


def complaint(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Open the folder from the command line: exit code 2 and one line on standard error."""
    with pytest.raises(RecordingError) as wrong:
        Recording.open(folder)
    assert main(["describe", str(folder)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"recrawl: {wrong.value}\n"
    assert printed.err.count("\n") == 1
    return printed.err


def test_a_good_recording_opens(tmp_path: Path) -> None:
    """The fixture of these tests is itself accepted."""
    assert len(Recording.open(write(good(), tmp_path / "web"))) == 3


def test_optional_tables_may_be_left_out(tmp_path: Path) -> None:
    """Sites, pages and changes are enough, with their needed columns and without a change."""
    tables = {name: good()[name] for name in ("sites", "pages", "changes")}
    for name in tables:
        tables[name] = {field.name: tables[name][field.name] for field in SCHEMA[name].needed}
    assert len(Recording.open(write(tables, tmp_path / "web"))) == 3
    tables["changes"] = {"page_id": [], "day": []}
    arrays = {
        name: {column: np.array(values, dtype=float) for column, values in t.items()} for name, t in tables.items()
    }
    for name, column in (("sites", "site_id"), ("pages", "page_id"), ("pages", "site_id"), ("changes", "page_id")):
        arrays[name][column] = arrays[name][column].astype(np.int64)
    assert len(Recording.from_arrays(arrays).change_day) == 0


@pytest.mark.parametrize("table", ["sites", "pages", "changes"])
def test_a_missing_table_is_named(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each needed table is missed by name."""
    folder = write(good(), tmp_path / "web")
    (folder / f"{table}.parquet").unlink()
    assert f"has no {table}.parquet" in complaint(folder, capsys)


@pytest.mark.parametrize("table", list(SCHEMA))
def test_a_truncated_table_is_named(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file cut in the middle is refused, in optional tables too."""
    folder = write(good(), tmp_path / "web")
    path = folder / f"{table}.parquet"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert re.search(rf"{table}\.parquet is not a Parquet file, or a truncated one", complaint(folder, capsys))


def test_a_table_with_broken_pages_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole footer over spoiled data is found when the column is read."""
    folder = tmp_path / "web"
    write(good(), folder)
    days = np.random.default_rng(1).random(5000) * 9 + 0.5
    big = pa.table(
        {"page_id": np.sort(np.tile([1, 900], 2500)), "day": np.where(np.arange(5000) < 2500, days, days / 2)}
    )
    path = folder / "changes.parquet"
    pq.write_table(big, path, compression="zstd", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[1000:9000] = b"\xff" * 8000
    path.write_bytes(bytes(content))
    assert "changes.parquet cannot be read" in complaint(folder, capsys)


def test_a_file_that_is_not_parquet_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, an empty file, and a folder in the place of a table."""
    folder = write(good(), tmp_path / "web")
    (folder / "pages.parquet").write_text("page_id,site_id\n1,3\n")
    assert "pages.parquet is not a Parquet file" in complaint(folder, capsys)
    (folder / "pages.parquet").write_bytes(b"")
    assert "pages.parquet is not a Parquet file" in complaint(folder, capsys)
    (folder / "pages.parquet").unlink()
    (folder / "pages.parquet").mkdir()
    assert "has no pages.parquet" in complaint(folder, capsys)


def test_what_is_not_a_folder_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that does not exist, and a file."""
    assert "does not exist" in complaint(tmp_path / "nowhere", capsys)
    (tmp_path / "file").write_text("")
    assert "is not a folder" in complaint(tmp_path / "file", capsys)


@pytest.mark.parametrize(("table", "column"), [(t.name, f.name) for t in SCHEMA.values() for f in t.needed])
def test_a_missing_column_is_named(table: str, column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each needed column of each table, also of the optional ones, is missed by name."""
    tables = good()
    del tables[table][column]
    assert f"{table} has no column '{column}'" in complaint(write(tables, tmp_path / "web"), capsys)


WRONG_TYPES: list[tuple[str, str, list[Any], str]] = [
    ("sites", "site_id", ["3", "5"], "must be an integer, not text"),
    ("sites", "days", [True, False], "must be a number, not flag"),
    ("pages", "page_id", [1.0, 2.0, 900.0], "must be an integer, not number"),
    ("pages", "born_day", ["a", "b", "c"], "must be a number, not text"),
    ("pages", "path", [1, 2, 3], "must be text, not integer"),
    ("pages", "page_id", [None, None, None], "must be an integer, not null"),
    ("changes", "day", ["1", "2", "3", "4"], "must be a number, not text"),
    ("changes", "mass_commit", [0, 1, 0, 0], "must be a flag, not integer"),
    ("links", "internal", ["yes", "yes", "no"], "must be a flag, not text"),
    ("terms", "bucket", [["a"]], "must be integers, not list of string"),
    ("texts", "text", [1, 2], "must be text, not integer"),
]


@pytest.mark.parametrize(("table", "column", "values", "said"), WRONG_TYPES)
def test_a_wrong_type_is_named(
    table: str, column: str, values: list[Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line says which type the column must have, and which it has."""
    tables = good()
    tables[table][column] = values
    assert f"{table}.{column} {said}" in complaint(write(tables, tmp_path / "web"), capsys)


NAN, INF = float("nan"), float("inf")
WRONG_VALUES: list[tuple[str, str, list[Any], str]] = [
    ("sites", "site_id", [3, 3], "repeated (row 1: 3)"),
    ("sites", "days", [10.0, NAN], "not a finite number (row 1: nan)"),
    ("sites", "days", [0.0, 6.0], "not positive (row 0: 0.0)"),
    ("pages", "page_id", [1, 9, 9], "repeated (row 2: 9)"),
    ("pages", "page_id", [9, 2, 9], "repeated (row 2: 9)"),
    ("pages", "page_id", [1, 2, -9], "missing or negative (row 2: -9)"),
    ("pages", "site_id", [3, 3, 4], "site_id of no site (row 2: 4)"),
    ("pages", "born_day", [-4.0, NAN, -1.0], "not a finite number (row 1: nan)"),
    ("pages", "born_day", [-4.0, 2.0, 7.0], "after the site's last day (row 2: 7.0)"),
    ("pages", "died_day", [None, INF, None], "not a finite number (row 1: inf)"),
    ("pages", "died_day", [None, 8.0, -1.0], "not positive: dead before day 0 (row 2: -1.0)"),
    ("pages", "died_day", [None, 1.5, None], "before the page's born_day (row 1: 1.5)"),
    ("pages", "last_prior_day", [None, None, 3.0], "after day 0 (row 2: 3.0)"),
    ("changes", "page_id", [1, 1, 2, 7], "page_id of no page (row 3: 7)"),
    ("changes", "page_id", [1, 1, 2, None], "page_id of no page (row 3: -1)"),
    ("changes", "day", [1.0, NAN, NAN, 5.0], "not a finite number (2 of 4 rows, first row 1: nan)"),
    ("changes", "day", [1.0, None, 4.0, 5.0], "not a finite number (row 1: nan)"),
    ("changes", "day", [1.0, INF, 4.0, 5.0], "not a finite number (row 1: inf)"),
    ("changes", "day", [-1.0, 2.0, 4.0, 5.0], "not positive (row 0: -1.0)"),
    ("changes", "day", [0.0, 2.0, 4.0, 5.0], "not positive (row 0: 0.0)"),
    ("changes", "day", [1.0, 2.0, 4.0, 7.0], "after the site's last day (row 3: 7.0)"),
    ("changes", "day", [1.0, 2.0, 1.0, 5.0], "before the page's born_day (row 2: 1.0)"),
    ("changes", "day", [1.0, 2.0, 9.0, 5.0], "after the page's died_day (row 2: 9.0)"),
    ("changes", "d_words_added", [1, -2, 3, 4], "missing or negative (row 1: -2)"),
    ("changes", "words", [100, 110, None, 120], "missing or negative (row 2: -1)"),
    ("links", "page_id", [1, 1, 7], "page_id of no page (row 2: 7)"),
    ("links", "day_from", [0.0, NAN, 2.0], "not a finite number (row 1: nan)"),
    ("links", "day_from", [-1.0, 1.0, 2.0], "negative (row 0: -1.0)"),
    ("links", "day_to", [1.0, 0.5, 8.0], "before its day_from (row 1: 0.5)"),
    ("links", "target_page", [2, 4, None], "page_id of no page (row 1: 4)"),
    ("terms", "page_id", [4], "page_id of no page (row 0: 4)"),
    ("terms", "count", [[3]], "not as long as bucket (row 0: 1 and 2 values)"),
    ("terms", "count", [None], "not as long as bucket (row 0: 0 and 2 values)"),
    ("terms", "count", [[3, -4]], "missing or negative (row 0: -4)"),
    ("terms", "bucket", [[1, 2**18]], "not from 0 to 262143 (row 0: 262144)"),
    ("terms", "bucket", [[-1, 2]], "not from 0 to 262143 (row 0: -1)"),
    ("texts", "page_id", [900, 4], "page_id of no page (row 1: 4)"),
    ("texts", "day", [0.0, NAN], "not a finite number (row 1: nan)"),
    ("texts", "day", [0.0, -5.0], "negative (row 1: -5.0)"),
]


@pytest.mark.parametrize(("table", "column", "values", "said"), WRONG_VALUES)
def test_a_wrong_value_is_named_with_its_row(
    table: str, column: str, values: list[Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line says table, column, what is wrong, in how many rows, and the first of them with its value."""
    tables = good()
    tables[table][column] = values
    folder = write(tables, tmp_path / "web")
    assert complaint(folder, capsys) == f"recrawl: {folder}: {table}.{column}: {said}\n"


@pytest.mark.parametrize("table", ["sites", "pages"])
def test_an_empty_recording_is_refused(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a site or without a page there is nothing to crawl."""
    folder = write(good(), tmp_path / "web")
    path = folder / f"{table}.parquet"
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    assert f"{table} has no rows: the recording is empty" in complaint(folder, capsys)


def test_columns_without_any_value_are_as_good_as_typed_ones(tmp_path: Path) -> None:
    """Nobody died and no target is a page: some writers store such columns without a type."""
    tables = good()
    tables["pages"]["died_day"] = [None] * 3
    tables["links"]["target_page"] = [None] * 3
    recording = Recording.open(write(tables, tmp_path / "web"))
    assert np.isinf(recording.died).all()
    assert recording.links.target_page.tolist() == [-1] * 3


def change_type(column: str, to: Callable[[], pa.DataType]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.schema.get_field_index(column), column, table.column(column).cast(to()))


@pytest.mark.parametrize(
    ("table", "column", "to"),
    [
        ("pages", "page_id", pa.uint16),
        ("pages", "prior_changes", pa.uint32),
        ("pages", "died_day", pa.float32),
        ("pages", "path", pa.large_string),
        ("pages", "path", lambda: pa.dictionary(pa.int8(), pa.string())),
        ("links", "target", lambda: pa.dictionary(pa.int8(), pa.string())),
        ("links", "page_id", pa.int8),
    ],
)
def test_any_width_of_a_type_will_do(table: str, column: str, to: Callable[[], pa.DataType], tmp_path: Path) -> None:
    """Narrow, wide, unsigned and dictionary-coded columns read the same."""
    plain = Recording.open(write(good(), tmp_path / "plain"))
    folder = write(good(), tmp_path / "web")
    path = folder / f"{table}.parquet"
    pq.write_table(change_type(column, to)(pq.read_table(path)), path)
    other = Recording.open(folder)
    assert other.tables.column(table, column).tolist() == pytest.approx(
        plain.tables.column(table, column).tolist(), nan_ok=True
    )
    assert other.links.key.tolist() == plain.links.key.tolist()


def test_arrays_are_checked_alike() -> None:
    """A recording made of arrays is held to the same schema, and to columns of one length."""
    sites = {"site_id": np.array([0]), "days": np.array([9.0])}
    pages = {name: np.array([0]) for name in ("page_id", "site_id", "born_day")} | {"died_day": np.array([NAN])}
    changes = {"page_id": np.array([0]), "day": np.array([NAN])}
    with pytest.raises(RecordingError, match=r"^mine: changes.day: not a finite number \(row 0: nan\)$"):
        Recording.from_arrays({"sites": sites, "pages": pages, "changes": changes}, name="mine")
    with pytest.raises(RecordingError, match="columns of changes have different lengths"):
        Recording.from_arrays({"sites": sites, "pages": pages, "changes": changes | {"day": np.array([1.0, 2.0])}})
    with pytest.raises(RecordingError, match="no table 'changes'"):
        Recording.from_arrays({"sites": sites, "pages": pages})


def test_the_documentation_of_the_format_is_the_schema() -> None:
    """docs/recording.md lists every table and column with type, need and meaning as the program knows them."""
    text = (Path(__file__).parents[2] / "docs" / "recording.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    assert list(sections) == list(SCHEMA)
    for name, section in sections.items():
        rows = [
            tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in section.splitlines()
            if line[:1] == "|"
        ]
        fields = [
            (f.name, f.type, "yes" if f.required else "", "yes" if f.nullable else "", f.meaning)
            for f in SCHEMA[name].fields
        ]
        assert rows[2:] == fields
        assert f"{name}.parquet{' ' * (11 - len(name))}{'needed' if SCHEMA[name].required else 'optional'}" in text
