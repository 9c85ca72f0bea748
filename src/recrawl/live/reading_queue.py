"""Answers that wait to be read: those that come while the event loop does other work are read together."""

from __future__ import annotations

import asyncio

from recrawl.live.answer_reader import Answered, AnswerReader
from recrawl.live.recorder import Recorder

PIECE = 32  # answers read together, at most: their bodies fit into a processor's cache
MOST_WAITING = 512  # then hosts are not asked for more until some were read


class ReadingQueue:
    """Reads answers and hands them to the recorder; what it meets is raised by `read`."""

    def __init__(self, answers: AnswerReader, recorder: Recorder) -> None:
        self.answers = answers
        self.recorder = recorder
        self._waiting: list[Answered] = []
        self._some = asyncio.Event()
        self._ending = False

    def add(self, answer: Answered) -> None:
        """Let a small answer be read soon."""
        self._waiting.append(answer)
        self._some.set()

    def is_full(self) -> bool:
        """Whether so many answers wait that no more should be asked for."""
        return len(self._waiting) > MOST_WAITING

    async def room(self) -> None:
        """Wait until the queue is not full."""
        while self.is_full():
            await asyncio.sleep(0)

    def begin(self) -> None:
        """Let the next `read` go on until `end`, which may be called before that `read` has its first turn."""
        self._ending = False

    def end(self) -> None:
        """Let `read` return once nothing waits any more."""
        self._ending = True
        self._some.set()

    async def read(self) -> None:
        """Read what comes, until `end`."""
        while not self._ending or self._waiting:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                read = await self.answers.read_small(self._waiting[:PIECE])
                del self._waiting[: len(read)]
                for arrived in read:
                    await self.recorder.take_in(arrived)
                await asyncio.sleep(0)  # hosts are asked between two pieces
