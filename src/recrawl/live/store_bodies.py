"""Where the bodies of versions are, in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recrawl.live.store_database import Database

if TYPE_CHECKING:
    from recrawl.live.bodies import Place


class StoredBodies:
    """The columns of versions that name a file, a place in it and a length: which bodies were kept, and where."""

    db: Database

    def _stream(self, ask: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of an answer that may be too large for memory."""
        return iter(self.db.execute(ask, values))

    def last_body(self, page: int) -> Place | None:
        """Where the body of a page's last version is; None where it was not kept."""
        ask = "select warc, offset, length from versions where page = ? order by visit desc limit 1"
        place: Place | None = self.db.execute(ask, (page,)).fetchone()
        return None if place is None or place[0] is None else place

    def bodies_of(self, page: int) -> list[tuple[float, float, Place]]:
        """Return the versions of a page whose bodies were kept, the oldest first: when, size of the change, where."""
        rows = self.db.execute(
            "select at, change_size, warc, offset, length from versions join visits using (visit, page)"
            " where page = ? and warc is not null order by visit",
            (page,),
        )
        return [(at, size, (name, offset, length)) for at, size, name, offset, length in rows]

    def kept_bodies(self) -> Iterator[tuple[int, str, float, Place]]:
        """Yield the versions whose bodies were kept, by page and time: page, URL, when, where."""
        rows = self._stream(
            "select n.page, url, at, warc, offset, length from versions n join visits v using (visit)"
            " join pages p on p.page = n.page where warc is not null order by n.page, visit"
        )
        yield from ((page, url, at, (name, offset, length)) for page, url, at, name, offset, length in rows)

    def bodies(self) -> Iterator[Place]:
        """Yield where every body is, in the order of the files."""
        yield from self.db.execute("select warc, offset, length from versions where warc is not null order by 1, 2")

    def bytes_in(self, name: str) -> int:
        """How many bytes of a WARC file are referenced."""
        ask = "select coalesce(sum(length), 0) from versions where warc = ?"
        return int(self.db.execute(ask, (name,)).fetchone()[0])

    def places_in(self, name: str) -> list[tuple[int, int]]:
        """Return offset and length of the bodies in a WARC file, in their order."""
        ask = "select offset, length from versions where warc = ? order by offset"
        return self.db.execute(ask, (name,)).fetchall()

    def move_bodies(self, places: Sequence[tuple[str, int, str, int]]) -> None:
        """Note that bodies are elsewhere now: new file and offset, old file and offset."""
        ask = "update versions set warc = ?, offset = ? where warc = ? and offset = ?"
        self.db.executemany(ask, places)

    def drop_bodies(self, versions: int, max_bytes: int) -> int:
        """Forget where bodies are, but for the newest of each page; return of how many versions. 0: no limit."""
        kept = (
            "select visit, length, row_number() over (partition by page order by visit desc) as age"
            " from versions where warc is not null"
        )
        forget = "update versions set warc = null, offset = null, length = null where visit in"
        count = 0
        if versions:
            ask = f"{forget} (select visit from ({kept}) as aged where age > ?)"
            count += self.db.execute(ask, (versions,)).rowcount
        if max_bytes:
            total = int(self.db.execute("select coalesce(sum(length), 0) from versions").fetchone()[0])
            ask = (
                f"{forget} (select visit from (select visit, sum(length) over (order by visit) - length as before"
                f" from ({kept}) as aged where age > 1) as older where before < ?)"
            )
            count += self.db.execute(ask, (total - max_bytes,)).rowcount if total > max_bytes else 0
        return count

    def body_ends(self) -> dict[str, int]:
        """Where the last body of each WARC file ends."""
        ends, name = dict[str, int](), ""
        after = "select warc from versions where warc > ? order by warc limit 1"
        last = "select offset + length from versions where warc = ? order by offset desc limit 1"
        while (row := self.db.execute(after, (name,)).fetchone()) is not None:
            name = str(row[0])
            ends[name] = int(self.db.execute(last, (name,)).fetchone()[0])
        return ends
