"""Jobs: long work that a client asks for, each in a process of its own, one at a time."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from aiohttp import web

from recrawl.live.directory import CrawlDirectory

MOST_WAITING = 10
MOST_KEPT = 100  # jobs whose results are remembered


@dataclass
class Job:
    """Commands that run one after the other, and what they printed, as JSON."""

    number: int
    asked: dict[str, Any]  # what the client asked for
    commands: list[tuple[str, list[str]]]  # a name for the results of each command, and its words
    state: str = "waiting"  # waiting, running, done, failed
    results: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    began_s: float = 0.0  # on the monotonic clock, when it began to run
    took_s: float = 0.0  # when its last command ended, since then

    def shown(self) -> dict[str, Any]:
        """Return the job as clients see it."""
        return {
            "job": self.number,
            "state": self.state,
            "asked": self.asked,
            "done": len(self.results),
            "of": len(self.commands),
            "results": self.results,
            "error": self.error,
        }


class Jobs:
    """The jobs of a server, which end with it."""

    def __init__(self, directory: CrawlDirectory) -> None:
        self._directory = directory
        self._jobs: dict[int, Job] = {}
        self._numbers = count(1)
        self._turn: asyncio.Lock | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, asked: dict[str, Any], commands: Sequence[tuple[str, list[str]]]) -> Job:
        """Begin a job, or let it wait for its turn; 429 where too many wait."""
        if sum(job.state == "waiting" for job in self._jobs.values()) >= MOST_WAITING:
            raise web.HTTPTooManyRequests(text=f"{MOST_WAITING} jobs wait already")
        self._turn = self._turn or asyncio.Lock()
        job = Job(next(self._numbers), asked, list(commands))
        self._jobs[job.number] = job
        for number in list(self._jobs)[:-MOST_KEPT]:
            if self._jobs[number].state in ("done", "failed"):
                del self._jobs[number]
        task = asyncio.create_task(self._run(job, self._turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def find(self, number: str) -> Job:
        """Return a job; 404 where there is none."""
        job = self._jobs.get(int(number)) if number.isascii() and number.isdigit() and len(number) < 19 else None
        if job is None:
            raise web.HTTPNotFound(text=f"no job {number[:40]!r}")
        return job

    def all(self) -> list[Job]:
        """Return the jobs that are remembered, the oldest first."""
        return list(self._jobs.values())

    async def _run(self, job: Job, turn: asyncio.Lock) -> None:
        async with turn:
            job.state, job.began_s = "running", time.monotonic()
            for name, words in job.commands:
                code, out, said = await self._command([*words, "-C", str(self._directory.path), "--json"])
                if code:
                    job.state, job.error = "failed", said.strip().splitlines()[-1][:500] if said.strip() else "failed"
                    return
                job.results[name], job.took_s = json.loads(out), time.monotonic() - job.began_s
            job.state = "done"

    async def _command(self, words: Sequence[str]) -> tuple[int, str, str]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "recrawl", *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
        try:
            out, said = await process.communicate()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return process.returncode or 0, out.decode(), said.decode(errors="replace")

    async def close(self) -> None:
        """End the jobs that run."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
