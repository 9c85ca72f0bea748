"""Columns of a crawl's memory as Arrow files, one per shard: hash(registrable domain) mod the number of shards.

    shards.json            format, cycle to plan, seed, and for every shard its pages, sites, groups, visits and bytes
    pages-00000.arrow      one row per page: the columns of `Memory`, the groups of its address, its URL
    visits-00000.arrow     one row per visit that says something about a page, by cycle, round, tie-break

Files are mapped, not read: a scorer touches only the columns that it uses. No site and no directory crosses a shard.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.errors import InputError, OutputError
from recrawl.extras import extras_named
from recrawl.memory import Memory
from recrawl.policies.learned.places import PLACED
from recrawl.urls.urlindex import url_hash

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT, VERSION = "recrawl-shards", 1
HEADER = "shards.json"
MOST_SHARDS = 65_536
MEMORY_COLUMNS = (  # read into a Memory as they are
    *("tie", "site", "n", "changes", "first_seen", "last_visit", "last_change", "last_cycle", "asked", "ring"),
    *("rank_sum", "rank_decay", "cycle_sum", "cycle_decay", "unchanged_days"),
)
TYPES: dict[str, str] = {
    **dict.fromkeys(("page",), "int64"),
    **dict.fromkeys(("tie",), "uint64"),
    **dict.fromkeys(("site", "n", "changes", "last_cycle", "asked", "new_internal", "new_external"), "int32"),
    **dict.fromkeys(("first_seen", "last_visit", "last_change", "rank_sum", "rank_decay"), "float64"),
    **dict.fromkeys(("cycle_sum", "cycle_decay", "unchanged_days", "importance"), "float64"),
    **dict.fromkeys(("ring", "gone", "barred"), "uint8"),
}
OPTIONAL = ("importance",)
VISIT_TYPES = {"page": "uint32", "cycle": "uint16", "round": "uint8", "outcome": "uint8", "gap": "uint16"}
LAST_CYCLE = 65_535

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class ShardPart:
    """What the header says of one shard."""

    pages: int
    sites: int
    groups: int  # that addresses decide
    visits: int
    pages_bytes: int
    visits_bytes: int


@dataclass(frozen=True)
class ShardSet:
    """A folder of shards."""

    folder: Path
    cycle: int  # the one to plan
    at: float  # when its visits are due
    cycle_days: float
    seed: int
    source: str
    parts: tuple[ShardPart, ...]

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def pages(self) -> int:
        """Pages of all shards."""
        return sum(part.pages for part in self.parts)

    @classmethod
    def open(cls, folder: str | Path) -> ShardSet:
        """Read the header, and check that every file is there in full length."""
        folder = Path(folder).absolute()
        try:
            header = json.loads((folder / HEADER).read_text())
        except OSError:
            raise InputError(f"{folder} has no {HEADER}: make one with `recrawl shards`") from None
        except ValueError:
            raise InputError(f"{folder / HEADER} is not JSON") from None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InputError(f"{folder / HEADER} does not describe shards")
        if header.get("version") != VERSION:
            raise InputError(f"{folder / HEADER} has version {header.get('version')}; this recrawl reads {VERSION}")
        try:
            parts = tuple(ShardPart(**part) for part in header["parts"])
            values = {name: header[name] for name in ("cycle", "at", "cycle_days", "seed", "source")}
            shards = cls(folder, **values, parts=parts)
        except (KeyError, TypeError):
            raise InputError(f"{folder / HEADER} lacks something") from None
        for number, part in enumerate(parts):
            for kind, size in (("pages", part.pages_bytes), ("visits", part.visits_bytes)):
                path = path_of(folder, kind, number)
                found = path.stat().st_size if path.is_file() else None
                if found != size:
                    length = "is missing" if found is None else f"is torn: {found} bytes where there should be {size}"
                    raise InputError(f"{path} {length}; write the shards again")
        return shards

    def write_header(self) -> None:
        """Write the header last, whole or not at all: shards without one are not used."""
        header = {"format": FORMAT, "version": VERSION} | asdict(self)
        del header["folder"]
        temporary = self.folder / f"{HEADER}.part"
        temporary.write_text(json.dumps(header, indent=1) + "\n")
        os.replace(temporary, self.folder / HEADER)

    # -- reading ----------------------------------------------------------------------------------------------------

    def memory(self, number: int, site_cap: int = 0) -> Memory:
        """Return the memory of a shard's pages, its cycle open; columns are those of the file, not to be written."""
        part, table = self.parts[number], self.table("pages", number)
        columns = {name: _numpy(table, name) for name in MEMORY_COLUMNS}
        memory = Memory(columns["tie"], columns["site"], cycle_days=self.cycle_days, seed=self.seed, sites=part.sites)
        for name, column in columns.items():
            setattr(memory, name, column)
        memory.gone = _numpy(table, "gone").view(np.bool_)
        memory.known = np.ones(part.pages, dtype=np.bool_)
        memory.bars.page = _numpy(table, "barred")
        if "importance" in table.column_names:
            memory.importance = _numpy(table, "importance")
        memory.cycle = self.cycle - 1
        memory.begin_cycle(site_cap)
        if site_cap:
            memory.recount()
        return memory

    def groups(self, number: int) -> npt.NDArray[np.int32]:
        """Return the groups that each page's address decides, numbered within the shard."""
        if not self.parts[number].pages:
            return np.empty((0, PLACED), dtype=np.int32)
        column = self.table("pages", number).column("groups").chunk(0)
        return np.asarray(column.flatten().to_numpy(zero_copy_only=True).reshape(-1, PLACED))

    def visits(self, number: int) -> Columns:
        """Return the shard's visits, in the order of the cycles."""
        table = self.table("visits", number)
        return {name: _numpy(table, name) for name in VISIT_TYPES}

    def urls(self, number: int, rows: npt.NDArray[np.int64]) -> tuple[list[int], list[str]]:
        """Return the page numbers and URLs of some rows of a shard."""
        table = self.table("pages", number)
        return [table.column(name).take(rows).to_pylist() for name in ("page", "url")]  # type: ignore[return-value]

    def table(self, kind: str, number: int) -> pa.Table:
        """Map one of a shard's files."""
        with extras_named():
            import pyarrow as pa
        path = path_of(self.folder, kind, number)
        try:
            return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{path} cannot be read ({reason}); write the shards again") from None


def path_of(folder: Path, kind: str, number: int) -> Path:
    """Return where the pages or visits of a shard are."""
    return folder / f"{kind}-{number:05d}.arrow"


def shard_of(domain: str, count: int) -> int:
    """Return the shard of a registrable domain: the same on every machine."""
    return url_hash(domain) % count


def write_shard(
    folder: Path, number: int, columns: Columns, groups: npt.NDArray[np.int32], urls: Any, visits: Columns
) -> ShardPart:
    """Write one shard; `visits` are in the order of cycle, round and tie-break."""
    with extras_named():
        import pyarrow as pa
    fields = {
        name: np.ascontiguousarray(columns[name], dtype=kind)
        for name, kind in TYPES.items()
        if not (name in OPTIONAL and name not in columns)
    }
    arrays = {name: pa.array(column) for name, column in fields.items()}
    flat = pa.array(np.ascontiguousarray(groups, dtype=np.int32).ravel())
    arrays["groups"] = pa.FixedSizeListArray.from_arrays(flat, PLACED)
    arrays["url"] = pa.array(urls, type=pa.large_string())
    seen = {name: pa.array(np.ascontiguousarray(visits[name], dtype=kind)) for name, kind in VISIT_TYPES.items()}
    sizes = []
    for kind, table in (("pages", pa.table(arrays)), ("visits", pa.table(seen))):
        path = path_of(folder, kind, number)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        sizes.append(path.stat().st_size)
    sites = int(fields["site"].max(initial=-1)) + 1
    return ShardPart(len(fields["page"]), sites, int(groups.max(initial=-1)) + 1, len(visits["page"]), *sizes)


def new_folder(folder: str | Path, *, force: bool = False) -> Path:
    """Make the folder; with `force`, shards that are in it are deleted."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = list(folder.iterdir())
        if present and not (force and all(_ours(path) for path in present)):
            raise OutputError(f"{folder} is not empty" + ("" if force else "; --force replaces shards"))
        for path in sorted(present, key=lambda path: path.name != HEADER):  # the header first
            path.unlink()
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}") from None
    return folder.absolute()


def _ours(path: Path) -> bool:
    return path.name in (HEADER, f"{HEADER}.part") or path.match("pages-*.arrow") or path.match("visits-*.arrow")


def _numpy(table: pa.Table, name: str) -> npt.NDArray[Any]:
    column = table.column(name)
    if not column.num_chunks:
        return np.empty(0, dtype=TYPES.get(name) or VISIT_TYPES[name])
    return np.asarray(column.chunk(0).to_numpy(zero_copy_only=True))


def check_count(count: int) -> None:
    """Raise InputError for a number of shards that cannot be."""
    if not 1 <= count <= MOST_SHARDS:
        raise InputError(f"the number of shards must be from 1 to {MOST_SHARDS}, not {count}")


def gaps_of(pages: npt.NDArray[Any], cycle: npt.NDArray[Any], compared: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the cycles between each visit and the page's copy before; visits come in the order of the cycles.

    A page whose first visit is compared had a copy from the start, cycle 0.
    """
    order = np.argsort(pages, kind="stable")
    before = np.zeros(len(pages), dtype=np.int64)
    same = pages[order][1:] == pages[order][:-1]
    before[order[1:]] = np.where(same, cycle[order][:-1], 0)
    return np.where(compared, cycle - before, 0)
