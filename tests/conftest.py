"""Settings for all tests, and the small living web that several of them crawl."""

from __future__ import annotations

import fcntl
import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from recrawl.live.directory import CrawlDirectory
from recrawl.recording.recording import Recording
from recrawl.simulate.replay import ReplayServer
from support import live_crawls as living
from support.memory_disk import use_memory_disk
from support.postgres_server import LocalServer, local_server
from support.small_recordings import random_tables

use_memory_disk()

# The first example of a test may have to compile its kernels, so no example has a deadline. Where a change waits for
# the answer the examples are the same each time; who has time asks for many more: HYPOTHESIS_PROFILE=long make test.
settings.register_profile("recrawl", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "recrawl"))

# Files that come first when many run, one per worker: each compiles kernels that many later files need, and no two of
# them the same, so that few kernels are compiled in two workers at once. Then files that wait much for other processes.
FIRST = (
    *("cli/test_demo.py", "papers/experts/test_batch_crawl.py", "focus/test_focus_cli.py"),
    *("evolve/test_evolve_fitness.py", "serve/test_browser.py", "test_examples.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of FIRST first; the others stay in their order."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(FIRST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """One worker after the other imports all tests: the first writes bytecode, which the others would write again.

    There is no garbage in what imports make: it is taken out of the later searches. These come less often than Python's
    own, which take a tenth of the time that kernels are compiled in.
    """
    gc.disable()
    with open(__file__, "rb") as turn:
        if os.environ.get("PYTEST_XDIST_WORKER"):
            fcntl.flock(turn, fcntl.LOCK_EX)
        found = yield
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return found


@pytest.fixture(scope="module")
def web() -> Iterator[tuple[ReplayServer, living.Days]]:
    """Forty pages on four sites that change, served on loopback."""
    calendar = living.Days()
    with living.served(Recording.from_arrays(random_tables(40, 400.0, 5, sites=4)), calendar) as server:
        yield server, calendar


@pytest.fixture
def crawl(web: tuple[ReplayServer, living.Days], tmp_path: Path) -> CrawlDirectory:
    """A crawl of that web, begun and not yet run."""
    return living.begun(tmp_path / "crawl", living.seeds(web[0]), living.settings())


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalServer]:
    """A PostgreSQL server, for tests that ask for one."""
    with local_server() as server:
        yield server
