"""Recordings on disk: written whole or not at all, and read back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from recrawl.errors import InputError, OutputError
from recrawl.recording.recording import Recording
from recrawl.recording.write import new_recording, to_arrays, write_recording
from recrawl.simulate.synthetic.synthesis import generate, synthesize
from support.real_recordings import THREE_SITES


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    """A synthetic web on disk and the one in memory are the same recording."""
    write_recording(generate("mixed", 300, 30, 1), tmp_path / "web")
    on_disk, in_memory = Recording.open(tmp_path / "web"), synthesize("mixed", 300, 30, 1)
    assert len(on_disk) == len(in_memory)
    for table in ("sites", "pages", "changes", "links"):
        for column in in_memory.tables.columns(table):
            there, here = on_disk.tables.column(table, column), in_memory.tables.column(table, column)
            np.testing.assert_array_equal(there, here, err_msg=f"{table}.{column}")


def test_arrays_can_be_written(tmp_path: Path) -> None:
    """Columns of arrays, as a recording in memory has them, give the same files as Arrow tables of the same types."""
    tables = generate("mixed", 200, 20, 1)
    write_recording(to_arrays({name: tables[name] for name in ("sites", "pages", "changes", "links")}), tmp_path / "a")
    back = Recording.open(tmp_path / "a")
    assert pq.read_table(tmp_path / "a" / "links.parquet")["target_page"].null_count > 0
    assert pq.read_table(tmp_path / "a" / "pages.parquet")["died_day"].null_count > 0
    np.testing.assert_array_equal(back.tables.column("changes", "day"), tables["changes"]["day"].to_numpy())


def test_a_real_recording_survives_a_copy(tmp_path: Path) -> None:
    """The tables of a real recording can be written and opened again, value for value."""
    names = ("sites", "pages", "changes", "links", "terms")
    tables = {name: pq.read_table(THREE_SITES / f"{name}.parquet") for name in names}
    write_recording(tables, tmp_path / "copy")
    Recording.open(tmp_path / "copy")
    assert all(pq.read_table(tmp_path / "copy" / f"{name}.parquet").equals(tables[name]) for name in names)


def test_an_existing_folder_is_kept(tmp_path: Path) -> None:
    """Without force nothing is replaced; with force a recording is, and nothing else is left."""
    out = tmp_path / "web"
    write_recording(generate("poisson", 20, 5, 1), out)
    before = (out / "changes.parquet").read_bytes()
    with pytest.raises(OutputError, match="exists"):
        write_recording(generate("poisson", 20, 5, 2), out)
    assert (out / "changes.parquet").read_bytes() == before
    write_recording(generate("poisson", 20, 5, 2), out, force=True)
    assert (out / "changes.parquet").read_bytes() != before
    assert [path.name for path in tmp_path.iterdir()] == ["web"]


def test_force_never_deletes_what_is_no_recording(tmp_path: Path) -> None:
    """A folder with anything but tables in it is not replaced, even with force."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match=r"letter\.txt"):
        write_recording(generate("poisson", 20, 5, 1), tmp_path / "home", force=True)
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    """If the work fails half-way, neither the folder nor a part of it stays, and an older recording does."""
    with pytest.raises(ZeroDivisionError):
        fail_half_way(tmp_path / "web")
    assert list(tmp_path.iterdir()) == []
    write_recording(generate("poisson", 20, 5, 1), tmp_path / "web")
    with pytest.raises(InputError, match="needs the column 'days'"):
        write_recording({"sites": {"site_id": np.array([0])}}, tmp_path / "web", force=True)
    assert len(Recording.open(tmp_path / "web")) == 20
    assert [path.name for path in tmp_path.iterdir()] == ["web"]


def fail_half_way(out: Path) -> None:
    with new_recording(out) as folder:
        (folder / "sites.parquet").write_bytes(b"half")
        raise ZeroDivisionError
