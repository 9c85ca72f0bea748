"""The process that is killed. Importing this compiles and loads all kernels, so that forks of it start at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.live.directory import CrawlDirectory
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.urls.traps import DiscoveryBudget
from recrawl.urls.urlindex import UrlIndex
from recrawl.visits import Visits

POLICY, PLAN = "bayes", Plan(1e-7, 60, warmup=1)  # cycles without a pause


def crawl(path: str, said: str, opened: Any, cycles: int) -> None:
    """Crawl until killed, or some cycles; write down every visit that is said to be recorded."""
    began = time.monotonic()
    told = os.open(said, os.O_WRONLY | os.O_APPEND)

    def watch(noted: Noted) -> None:
        os.write(told, f"{noted.record.page} {noted.record.at!r}\n".encode())

    with Session(CrawlDirectory.open(Path(path)), POLICY, PLAN, watch=watch) as session:
        opened.value = time.monotonic() - began
        while cycles:
            session.run_cycle()
            cycles -= 1


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
