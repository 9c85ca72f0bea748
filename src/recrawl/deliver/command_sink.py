"""command:./on-change.sh: a program run with the events on its standard input, one JSON object per line.

No shell is involved, and no text of a page is an argument, so page text can never become a command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from recrawl.deliver.sink import DeliveryError, Sink, SinkSetting, add_sink, lines
from recrawl.live.feed import Event

SHOWN_BYTES = 2_000  # of the program's error output that is shown


class CommandSink(Sink):
    """Runs a program in the crawl's folder; exit code 0 means taken."""

    def __init__(self, words: list[str], folder: Path, timeout_s: float) -> None:
        self.words = words
        self.folder = folder
        self.timeout_s = timeout_s

    def send(self, events: Sequence[Event]) -> str | None:
        """Run the program once."""
        try:
            process = subprocess.Popen(
                self.words, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise DeliveryError(f"{self.words[0]}: {error.strerror}") from None
        try:
            output = process.communicate(lines(events), timeout=self.timeout_s)[1]
        except subprocess.TimeoutExpired:
            self._end(process)
            raise DeliveryError(f"{self.words[0]} took longer than {self.timeout_s:g} s") from None
        except BaseException:
            self._end(process)
            raise
        if process.returncode:
            last = output[-SHOWN_BYTES:].decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise DeliveryError(f"{self.words[0]} ended with {process.returncode}: {last}")
        return None

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End the program and what it started: the processes of the session that we began for it."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=5)


@add_sink("command", formula="command:PROGRAM ARG ...", source="a program's standard input")
def make_command(setting: SinkSetting, state: str | None) -> Sink:
    """Run a program with the events."""
    words = shlex.split(setting.target)
    if not words:
        raise ValueError("needs a program")
    if "/" in words[0]:
        words[0] = str((setting.folder / Path(words[0]).expanduser()).absolute())
    if shutil.which(words[0]) is None:
        raise ValueError(f"there is no program {words[0]}")
    return CommandSink(words, setting.folder, setting.timeout_s)
