"""Crawls served over HTTP by a process of its own, as users run it."""

from __future__ import annotations

import asyncio
import http.client
import json
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.clock import Clock
from recrawl.serve.application import application
from recrawl.serve.service import SERVICE
from recrawl.serve.serving import listen
from support.forked import ForkedVerb


@dataclass
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass
class ServedCrawl:
    """A server process, and how to ask it."""

    process: Any  # None where it is served by a thread of this process
    port: int
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send one request; a body that is no bytes is sent as JSON."""
        sent = {name.replace("_", "-"): value for name, value in {**self.headers, **headers}.items()}
        if body is not None and not isinstance(body, bytes):
            body, sent = json.dumps(body).encode(), {"Content-Type": "application/json", **sent}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            link.request(method, path, body, sent)
            response = link.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, response.read())
        finally:
            link.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Read something."""
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        """Change something."""
        return self.ask("POST", path, body, **headers)

    def kill(self) -> None:
        """End the process the hard way."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


@contextmanager
def serving(folder: Path, *options: str, token: str = "", day: Path | None = None) -> Iterator[ServedCrawl]:
    """Serve a crawl until the block ends; the process is then asked to stop. The file `day` holds its day, if given."""
    process = ForkedVerb("serve", "-C", str(folder), "--port", "0", *options, day=day)
    try:
        line = process.stderr.readline()
        assert "serving" in line, line + process.stderr.read()
        yield ServedCrawl(process, int(line.split(":")[3].partition("/")[0]), token)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stderr.close()


@contextmanager
def served_here(folder: Path, clock: Clock | None = None) -> Iterator[ServedCrawl]:
    """Serve a crawl by a thread of this process, which starts at once."""
    app = application(folder, clock=clock)
    said: queue.Queue[str] = queue.Queue()
    loop = asyncio.new_event_loop()

    def run() -> None:
        loop.run_until_complete(listen(app, "127.0.0.1", 0, said.put))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield ServedCrawl(None, int(said.get(timeout=30).split(":")[2].partition("/")[0]))
    finally:
        loop.call_soon_threadsafe(app[SERVICE].stopping.set)
        thread.join(20)
