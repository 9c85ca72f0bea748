"""Kill learn, export, prune and upgrade at random moments, and look at what they leave behind."""

from __future__ import annotations

import random
import sqlite3
import time
from itertools import cycle
from pathlib import Path
from typing import Any

from recrawl.errors import RecrawlError
from recrawl.live import choice
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.store import Store
from recrawl.live.storeschema import FORMAT
from recrawl.recording.recording import Recording
from support import killed_process

OLD_STORE = Path(__file__).parent.parent / "data" / "stores" / "format-3.sql"
LEAST_CYCLES = 2  # before there is a history to learn from
KEPT = {"pages": 10, "visits": 40, "links": 10, "versions": 20, "cycles": 5}  # rows of the old store
_PLACED = "select page, warc, offset, length from versions where warc is not null"
_NEWEST = "select count(*) from (select page, warc, max(visit) from versions group by page) where warc is null"


class VerbOrdeal:
    """Kills verbs on one crawl, in turn; what is wrong afterwards is added to `wrong`."""

    def __init__(self, folder: Path, directory: CrawlDirectory, context: Any, wrong: list[str]) -> None:
        self.directory = directory
        self.exported = folder / "exported"
        self.old = folder / "old"
        self._context, self._wrong = context, wrong
        self._verbs = cycle(("learn", "export", "prune", "upgrade"))
        self._takes_s: dict[str, float] = {}  # by verb, when nobody kills it

    def ready(self) -> bool:
        """Whether the crawl has a history to learn from."""
        store = Store.open(self.directory.state, read_only=True)
        done: int = store.db.execute("select count(*) from cycles where done").fetchone()[0]
        store.close()
        return done >= LEAST_CYCLES

    def kill_one(self, draw: random.Random) -> str:
        """Kill the next verb at a random moment of the time that it takes, and check; return the verb."""
        verb = next(self._verbs)
        if verb not in self._takes_s:
            began = time.monotonic()
            self._begin(verb)
            self._run(verb, None)
            self._takes_s[verb] = time.monotonic() - began
        before = self._visits()
        self._begin(verb)
        self._run(verb, draw.uniform(0.0, self._takes_s[verb]))
        if self._visits() != before:
            self._wrong.append(f"{verb} changed the visits")
        getattr(self, f"_check_{verb}")()
        return verb

    def check_end(self) -> None:
        """After all kills, every verb comes to its end."""
        for verb in self._takes_s:
            self._begin(verb)
            self._run(verb, None)
            getattr(self, f"_check_{verb}")()
        if "export" in self._takes_s and not self.exported.exists():
            self._wrong.append("the last export left nothing")

    def _run(self, verb: str, lives_s: float | None) -> None:
        crawl = str(self.old if verb == "upgrade" else self.directory.path)
        words = {
            "learn": ["--policies", "age,bayes"],
            "export": ["recording", str(self.exported), "--force"],
            "prune": ["--versions", "2"],
            "upgrade": [],
        }[verb]
        words += ["--every", f"{self._every():.12f}"] if verb == "learn" else []
        words = [verb, "-C", crawl, *words]
        process = self._context.Process(target=killed_process.verb, args=(words,))
        process.start()
        process.join(120 if lives_s is None else lives_s)
        process.kill()
        process.join(60)
        if lives_s is None and process.exitcode != 0:
            self._wrong.append(f"{verb} ended with {process.exitcode}")

    def _begin(self, verb: str) -> None:
        """Make the crawl with an old store, which an upgrade needs."""
        if verb != "upgrade":
            return
        if not self.old.exists():
            Crawl.create(self.old)
        for stale in self.old.glob("state*"):
            stale.unlink()
        db = sqlite3.connect(self.old / "state.sqlite")
        db.executescript(OLD_STORE.read_text())
        db.execute("pragma journal_mode = wal")
        db.close()

    def _every(self) -> float:
        """The mean length of the cycles that came to their end, in days."""
        store = Store.open(self.directory.state, read_only=True)
        first, last, count = store.db.execute("select min(at), max(at), count(*) from cycles where done").fetchone()
        store.close()
        return float(last - first) / count

    def _visits(self) -> list[tuple[Any, ...]]:
        store = Store.open(self.directory.state, read_only=True)
        rows = store.db.execute("select visit, page, cycle, at, outcome from visits order by visit").fetchall()
        store.close()
        return rows

    def _check_learn(self) -> None:
        try:
            choice.load(self.directory)
        except RecrawlError as error:
            self._wrong.append(str(error))

    def _check_export(self) -> None:
        try:
            if self.exported.exists():
                Recording.open(self.exported)
        except RecrawlError as error:
            self._wrong.append(f"half an export: {error}")

    def _check_prune(self) -> None:
        store, bodies = Store.open(self.directory.state, read_only=True), Bodies(self.directory.warc)
        for page, *place in store.db.execute(_PLACED).fetchall():
            try:
                bodies.read((place[0], place[1], place[2]))
            except RecrawlError as error:
                self._wrong.append(f"the body of a version of page {page} is lost: {error}")
        if store.db.execute(_NEWEST).fetchone()[0]:
            self._wrong.append("the newest body of a page was dropped")
        store.close()

    def _check_upgrade(self) -> None:
        db = sqlite3.connect(self.old / "state.sqlite")
        found = db.execute("pragma user_version").fetchone()[0]
        rows = {table: db.execute(f"select count(*) from {table}").fetchone()[0] for table in KEPT}
        db.close()
        if found not in (3, FORMAT) or rows != KEPT:
            self._wrong.append(f"an upgrade left a store of format {found} with {rows} rows")
        Crawl(CrawlDirectory(self.old)).upgrade()  # ends what was killed
