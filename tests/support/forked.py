"""Processes that are forked from one that has imported everything: imports are most of what a short run costs."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

from recrawl import clock
from recrawl.cli import main

# There is one such server per test process, so it imports what all the tests fork from it.
IMPORTED = (
    *("support.killed_process", "support.fleet_ordeal", "support.scrapy_project", "recrawl.scrapy"),
    *("recrawl.serve.application", "recrawl.serve.serving", "recrawl.fleet.planning", "distributed", "lightgbm"),
    "support.before_forks",  # the last one
)
NO_READER = "a pipe that nobody reads"


def forkserver() -> Any:
    """Return the context whose processes start from the one that has imported everything."""
    here = str(Path(__file__).parents[1])
    if here not in os.environ.get("PYTHONPATH", "").split(os.pathsep):  # the server does not take over sys.path
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    return context


def python(*words: str, cwd: Path | None = None, out: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS` (a file, -m or -c, with arguments) to its end; keep what it printed, or print to NO_READER."""
    with tempfile.TemporaryDirectory() as folder:
        printed, said = Path(folder) / "out", Path(folder) / "err"
        files = (out or str(printed), str(said))
        process = forkserver().Process(target=_python, args=(os.environ | env, str(cwd or Path.cwd()), words, files))
        process.start()
        process.join(300)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(words), 300)
        kept = printed.read_text(encoding="utf-8") if printed.exists() else ""
        return subprocess.CompletedProcess(words, process.exitcode, kept, said.read_text(encoding="utf-8"))


def _python(environment: dict[str, str], folder: str, words: tuple[str, ...], files: tuple[str, str]) -> None:
    """Do what the interpreter does with its arguments."""
    for number, file in enumerate(files, 1):
        os.dup2(_unread() if file == NO_READER else os.open(file, os.O_WRONLY | os.O_CREAT), number)
    _enter(environment, folder)
    kind, *arguments = words
    for path in reversed(environment.get("PYTHONPATH", "").split(os.pathsep)):
        if path and path not in sys.path:
            sys.path.insert(1, path)
    if kind == "-c":
        sys.argv = ["-c", *arguments[1:]]
        exec(arguments[0], {"__name__": "__main__"})
    elif kind == "-m":
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(words)
        runpy.run_path(kind, run_name="__main__")


def _unread() -> int:
    """Return the end to write to of a pipe whose other end is closed."""
    read, write = os.pipe()
    os.close(read)
    return write


def _enter(environment: dict[str, str], folder: str) -> None:
    """Take over the environment and the folder of the process that asked for this one."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)


class ForkedVerb:
    """`recrawl WORDS` in a process of its own; what it prints to standard error can be read."""

    def __init__(self, *words: str, day: Path | None = None) -> None:
        """Start it; the file `day` holds its day, if given."""
        context = forkserver()
        reading, writing = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(dict(os.environ), os.getcwd(), words, day, writing))
        self._process.start()
        writing.close()
        self.stderr: TextIO = os.fdopen(os.dup(reading.fileno()))
        reading.close()

    def send_signal(self, number: int) -> None:
        """Send a signal, if the process still runs."""
        if self._process.is_alive():
            os.kill(self._process.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """End it the hard way."""
        self._process.kill()

    def wait(self, timeout_s: float) -> int:
        """Wait for its end; return the exit code."""
        self._process.join(timeout_s)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("recrawl", timeout_s)
        return int(self._process.exitcode)


def _run(environment: dict[str, str], folder: str, words: tuple[str, ...], day: Path | None, err: Connection) -> None:
    """Run the command."""
    os.dup2(err.fileno(), 2)
    err.close()
    _enter(environment, folder)
    sys.argv = ["recrawl", *words]
    if day is not None:
        clock.SystemClock.now = lambda self: float(day.read_text())  # type: ignore[method-assign]
    sys.exit(main(list(words)))
