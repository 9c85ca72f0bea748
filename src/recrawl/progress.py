"""Progress bars that appear on a terminal after two seconds, and are silent everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PATIENCE_S = 2.0


class Advance(Protocol):
    """Called after each step of a long job."""

    def __call__(self, done: int, total: int, what: str = "") -> None:
        """Note that `done` of `total` steps are done, and what the job is doing."""


def silent(done: int, total: int, what: str = "") -> None:
    """Show nothing."""


@contextmanager
def progress(title: str) -> Iterator[Advance]:
    """Yield a function to call after each step; draws on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console  # slow to import, and only needed on a terminal
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title)
    began = time.monotonic()

    def advance(done: int, total: int, what: str = "") -> None:
        bar.update(task, completed=done, total=total, description=f"{title} {what}".strip())
        if not bar.live.is_started and time.monotonic() - began > PATIENCE_S:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
