"""Read pages beside the event loop: small ones at once, large ones in processes that a CPU limit ends.

Reading takes time in proportion to the page, at worst about 0.15 ms per KB. A page of up to INLINE_BYTES takes a few
milliseconds at most and is read at once: handing it over would cost more. A larger one goes to a reading process
(live.reading_process), so that no page holds up the other hosts. A page that takes more than CPU_LIMIT_S ends its
process, which is replaced by the next page that needs one; the page counts as unreadable, and its body is kept
in the folder `unreadable` of the crawl.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from contextlib import suppress
from pathlib import Path

from recrawl.fetch.outcome import FetchResult
from recrawl.live.reading_process import LENGTH_BYTES, Job
from recrawl.see.page import SeenPage, see_page, unreadable_page

INLINE_BYTES = 65_536
CPU_LIMIT_S = 20.0  # of a process, for one page
WALL_LIMIT_S = 120.0  # for a process that does nothing at all
PROCESSES = 2
_ROOT = Path(__file__).parents[2]  # where the package is imported from

Worker = asyncio.subprocess.Process


class ReadingEndedError(Exception):
    """A page took more than the CPU limit, or ended its process in another way."""


class PageReader:
    """Reads bodies for one event loop; processes are started when the first large page comes."""

    def __init__(self, cpu_limit_s: float = CPU_LIMIT_S, inline_bytes: int = INLINE_BYTES) -> None:
        self.cpu_limit_s = cpu_limit_s
        self.inline_bytes = inline_bytes
        self.replaced = 0  # processes that a page has ended
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._slots = asyncio.Semaphore(PROCESSES)

    async def see(self, result: FetchResult) -> SeenPage:
        """Return what an answer says; never raises for a page's sake."""
        body, url, headers = result.body, result.final_url, tuple(result.headers)
        if len(body) <= self.inline_bytes:
            return see_page(body, url, headers)
        try:
            return await self._in_process((body, url, headers))
        except ReadingEndedError as error:
            return unreadable_page(body, url, str(error))

    async def close(self) -> None:
        """End all processes."""
        for worker in (*self._idle, *self._busy):
            await _end(worker)
        self._idle.clear()
        self._busy.clear()

    async def _in_process(self, job: Job) -> SeenPage:
        async with self._slots:
            self._idle = [worker for worker in self._idle if worker.returncode is None]  # the kernel may have ended one
            worker = self._idle.pop() if self._idle else await self._start()
            self._busy.add(worker)
            try:
                async with asyncio.timeout(WALL_LIMIT_S):
                    answer = await _exchange(worker, job)
            except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
                self.replaced += 1
                await _end(worker)
                raise ReadingEndedError(f"it takes more than {self.cpu_limit_s:g} s of CPU time to read") from None
            except asyncio.CancelledError:
                await _end(worker)
                raise
            finally:
                self._busy.discard(worker)
            self._idle.append(worker)
            return answer

    async def _start(self) -> Worker:
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "recrawl.live.reading_process",
            str(self.cpu_limit_s),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            limit=1 << 20,
            process_group=0,  # Ctrl-C is for the crawl, also while a process starts
        )


async def _exchange(worker: Worker, job: Job) -> SeenPage:
    assert worker.stdin is not None, "a pipe"
    assert worker.stdout is not None, "a pipe"
    data = pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
    worker.stdin.write(len(data).to_bytes(LENGTH_BYTES, "little"))
    for at in range(0, len(data), 1 << 18):  # in pieces: the loop stays free
        worker.stdin.write(data[at : at + (1 << 18)])
        await worker.stdin.drain()
    length = int.from_bytes(await worker.stdout.readexactly(LENGTH_BYTES), "little")
    answer: SeenPage = pickle.loads(await worker.stdout.readexactly(length))
    return answer


async def _end(worker: Worker) -> None:
    with suppress(ProcessLookupError):
        worker.kill()
    await worker.wait()
