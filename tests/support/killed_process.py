"""The process that is killed. Importing this compiles and loads all kernels, so that forks of it start at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.cli import main
from recrawl.live import bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.live.signals import Signals
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.learned import Learned
from recrawl.policy import Setting
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.urlindex import UrlIndex
from recrawl.visits import Visits

POLICY, PLAN = "bayes", Plan(1e-7, 60, warmup=1)  # cycles without a pause
SMALL_FILE_BYTES = 30_000  # a WARC file is full after a cycle or two
PHASES = {  # what a crawl does now and then, and the call that it begins with
    "rotation": (bodies.Bodies, "_start"),
    "sitemaps": (Signals, "hear"),
    "training": (Learned, "begin"),
}


def crawl(path: str, said: str, opened: Any, cycles: int, policy: str = POLICY, plan: Plan = PLAN) -> None:
    """Crawl until killed, or some cycles; write down every visit that is said to be recorded."""
    began = time.monotonic()
    told = os.open(said, os.O_WRONLY | os.O_APPEND)

    def watch(noted: Noted) -> None:
        os.write(told, f"{noted.record.page} {noted.record.at!r}\n".encode())

    with Session(CrawlDirectory.open(Path(path)), policy, plan, watch=watch) as session:
        opened.value = time.monotonic() - began
        while cycles:
            session.run_cycle()
            cycles -= 1


def crawl_in_all_ways(path: str, said: str, opened: Any, cycles: int, dies_in: str, after_s: float) -> None:
    """As `crawl`, steered by `learned`, with small WARC files; die so many seconds into a phase, if one is named."""
    bodies.MAX_FILE_BYTES = SMALL_FILE_BYTES
    for phase, (holder, name) in PHASES.items():
        if phase == dies_in:
            setattr(holder, name, _deadly(getattr(holder, name), after_s))
    crawl(path, said, opened, cycles, "learned(objective=freshness)", Plan(1e-7, 60, warmup=1, discovery=1.0))


def _deadly(call: Callable[..., Any], after_s: float) -> Callable[..., Any]:
    """Return the call, at which a timer begins that ends the process the hard way."""

    def called(*args: Any, **names: Any) -> Any:
        timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
        return call(*args, **names)

    return called


def verb(words: list[str]) -> None:
    """Run a verb of the command line; only an error is printed."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        code = main(words)
    os._exit(code)


class _Deadly(DiscoveryBudget):
    """Ends the process the hard way when so many pages have been admitted."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self.lives = lives

    def admit(self, href: str) -> bool:
        self.lives -= 1
        if self.lives < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().admit(href)


def listen(path: str, lives: int) -> None:
    """Begin a cycle, with its sitemaps first; with `lives` >= 0, die while what they name is being recorded."""
    with Session(CrawlDirectory.open(Path(path)), POLICY, PLAN) as session:
        if lives >= 0:
            assert session.signals is not None
            session.signals.discovery = _Deadly(lives)
        session.run_cycle()


def _warm() -> None:
    index = UrlIndex()
    index.add(np.arange(3, dtype=np.uint64))
    index.find(np.arange(3, dtype=np.uint64))
    memory = Memory(np.arange(9), np.zeros(9, dtype=np.int32))
    memory.learn_of(np.arange(9), 0.0)
    memory.begin_cycle()
    none = np.zeros(9, dtype=np.int32)
    memory.record(Visits(np.arange(9), np.zeros(9), np.zeros(9, dtype=np.uint8), none, none, np.zeros(9)))
    memory.begin_cycle()
    make_policy("bayes", Setting()).choose(memory, 4, 1.0)


_warm()
