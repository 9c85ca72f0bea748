"""Old bodies can be dropped; none that is still referenced is ever lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.cli import main
from recrawl.live.bodies import Bodies
from recrawl.live.config import KeepSettings
from recrawl.live.facade import Crawl
from recrawl.live.pruning import prune
from recrawl.live.store import Store
from recrawl.live.store_visits import VisitRecord
from recrawl.visits import Outcome

PAGES, CYCLES = 6, 5


def body(page: int, cycle: int) -> bytes:
    return f"<p>page {page} in cycle {cycle} ".encode() + bytes(
        random.Random(page * 100 + cycle).choices(range(97, 123), k=300)
    )


def make(path: Path, files: int = 3) -> Crawl:
    """A crawl in which each page changed in each cycle; its bodies are in several WARC files."""
    crawl = Crawl.create(path)
    store, bodies = Store.open(crawl.directory.state), Bodies(crawl.directory.warc)
    bodies.open({})
    with store.transaction():
        store.add_pages([f"http://a.test/{page}" for page in range(PAGES)], ["a.test"] * PAGES, 0.0)
    for cycle in range(1, CYCLES + 1):
        records = []
        for page in range(PAGES):
            place = bodies.write(f"http://a.test/{page}", 200, (), body(page, cycle))
            found = Outcome.FIRST if cycle == 1 else Outcome.CHANGED
            records.append(VisitRecord(page, cycle + page / 10, int(found), digest=bytes([page, cycle]), warc=place))
        bodies.sync()
        with store.transaction():
            store.open_cycle(cycle, float(cycle), PAGES, "age")
            store.add_visits(cycle, records, [(0, 0)] * PAGES)
            store.finish_cycle(cycle)
        if cycle % max(1, CYCLES // files) == 0 and cycle < CYCLES:
            bodies.close()
            bodies.begin_file(int(bodies.writing_to[6:11]) + 1)
            bodies.open(store.body_ends())
    bodies.close()
    store.close()
    return crawl


def kept(crawl: Crawl) -> dict[int, list[int]]:
    """Read every body that is referenced; return the cycles of each page, after checking what they say."""
    bodies, found = Bodies(crawl.directory.warc), dict[int, list[int]]()
    with crawl.reading() as store:
        for page in range(PAGES):
            places = store.bodies_of(page)
            found[page] = [int(at) for at, _, _ in places]
            assert [bodies.read(place) for _, _, place in places] == [body(page, cycle) for cycle in found[page]]
    return found


def size(crawl: Crawl) -> int:
    return sum(file.stat().st_size for file in crawl.directory.warc.iterdir())


def test_the_newest_bodies_of_each_page_are_kept(tmp_path: Path) -> None:
    """Of five versions two stay, in every page, and can be read; files shrink; visits and counts stay."""
    crawl = make(tmp_path / "crawl")
    before, status = size(crawl), crawl.status()
    pruned = crawl.prune(versions=2)
    assert kept(crawl) == {page: [4, 5] for page in range(PAGES)}
    assert pruned.versions == 3 * PAGES
    assert pruned.freed_bytes == before - size(crawl) > 0.5 * before
    assert pruned.kept_bytes == size(crawl)
    assert crawl.status() == status
    assert crawl.prune(versions=2).versions == 0
    assert crawl.diff("http://a.test/0")["versions"] == 2


def test_no_file_holds_what_nobody_points_to(tmp_path: Path) -> None:
    """After a prune the files hold the referenced records and nothing else; standard readers open them."""
    from fastwarc.warc import ArchiveIterator

    crawl = make(tmp_path / "crawl")
    crawl.prune(versions=1)
    records = [
        r.headers["WARC-Target-URI"]
        for f in sorted(crawl.directory.warc.iterdir())
        for r in ArchiveIterator(f.open("rb"))
    ]
    assert sorted(records) == [f"http://a.test/{page}" for page in range(PAGES)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 6), st.integers(0, 12_000))
def test_limits_hold_and_the_newest_body_stays(versions: int, max_bytes: int) -> None:
    """Whatever the limits: at most so many per page, the oldest go first, and each page keeps its newest."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        crawl = make(Path(folder) / "crawl")
        crawl.prune(versions=versions, max_bytes=max_bytes)
        left = kept(crawl)
        assert all(cycles[-1] == CYCLES for cycles in left.values())
        if versions:
            assert max(map(len, left.values())) <= versions
        if max_bytes and max(map(len, left.values())) > 1:
            assert size(crawl) <= max_bytes
        assert all(cycles == list(range(CYCLES - len(cycles) + 1, CYCLES + 1)) for cycles in left.values())


def test_a_crawl_goes_on_after_a_prune(tmp_path: Path) -> None:
    """What a later run writes lands behind what was kept, and both can be read."""
    crawl = make(tmp_path / "crawl")
    crawl.prune(versions=1)
    store, bodies = Store.open(crawl.directory.state), Bodies(crawl.directory.warc)
    bodies.open(store.body_ends())
    place = bodies.write("http://a.test/0", 200, (), b"new")
    bodies.close()
    store.close()
    assert Bodies(crawl.directory.warc).read(place) == b"new"
    assert kept(crawl) == {page: [5] for page in range(PAGES)}


def test_a_run_keeps_what_the_settings_say(tmp_path: Path) -> None:
    """The file that is being written to stays; others are rewritten where a good part of them is not needed."""
    crawl = make(tmp_path / "crawl")
    store = Store.open(crawl.directory.state)
    busy = max(file.name for file in crawl.directory.warc.iterdir())
    done = prune(store, crawl.directory.warc, KeepSettings(versions=1), busy=busy, wasted=0.2)
    store.close()
    assert done.deleted + done.rewritten > 0
    assert (crawl.directory.warc / busy).exists()
    assert kept(crawl) == {page: [5] for page in range(PAGES)}


def test_killed_at_any_moment_no_referenced_body_is_lost(tmp_path: Path) -> None:
    """kill -9 during a prune leaves every page with readable bodies, the newest among them; the next prune ends it."""
    program = (
        "import sys\nfrom recrawl.live.facade import Crawl\nimport recrawl.live.pruning\n"
        "crawl = Crawl.open(sys.argv[1])\n"
        "print('ready', flush=True)\nsys.stdin.readline()\ncrawl.prune(versions=1)\n"
    )
    for k in range(8):
        crawl = make(tmp_path / f"crawl{k}")
        words = [sys.executable, "-c", program, str(crawl.directory.path)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            process.stdout.readline()
            process.stdin.write(b"\n")
            process.stdin.flush()
            time.sleep(0.003 * k)
            os.kill(process.pid, signal.SIGKILL)
        assert all(cycles[-1] == CYCLES for cycles in kept(crawl).values())
        crawl.prune(versions=1)
        assert kept(crawl) == {page: [5] for page in range(PAGES)}
        with crawl.reading() as store:
            assert sum(map(store.bytes_in, (file.name for file in crawl.directory.warc.iterdir()))) == size(crawl)


def test_the_verb_says_what_it_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`recrawl prune` by the settings, by options, and what is wrong in one line."""
    crawl = make(tmp_path / "crawl")
    where = str(crawl.directory.path)
    assert main(["prune", "-C", where]) == 0
    assert "dropped 0 bodies" in capsys.readouterr().out
    assert main(["prune", "-C", where, "--max-bytes", "2KB", "--json"]) == 0
    assert '"versions": 24' in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["prune", "-C", where, "--versions", "0"])
    assert main(["prune", "-C", where, "--max-bytes", "much"]) == 2
