"""A receiver of webhooks on loopback that can be made to fail, to hang and to die."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[int], tuple[int, dict[str, str]] | None]  # by the number of the request; None: hang


def accept(_: int) -> tuple[int, dict[str, str]]:
    return 204, {}


def unreliable(number: int) -> tuple[int, dict[str, str]] | None:
    """500 to a third, silence to a tenth."""
    if number % 10 == 7:
        return None
    return (500, {}) if number % 3 == 0 else (204, {})


class _Quiet(ThreadingHTTPServer):
    """Says nothing of clients that are killed."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        pass


class Receiver:
    """Takes events; `taken` has the id, the headers and the body of those that it said yes to, in order."""

    def __init__(self, answer: Answer = accept, hang_s: float = 0.6, pause_s: float = 0.0) -> None:
        self.answer, self.hang_s, self.pause_s = answer, hang_s, pause_s
        self.taken: list[tuple[str, dict[str, str], bytes]] = []
        self.asked = 0
        self.port = 0
        self._server: ThreadingHTTPServer | None = None
        self._lock = threading.Lock()
        self._open: set[Any] = set()

    def __enter__(self) -> Receiver:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def ids(self) -> list[str]:
        return [name for name, _, _ in self.taken]

    @property
    def events(self) -> list[Any]:
        return [json.loads(body) for _, _, body in self.taken]

    def start(self) -> None:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                owner._open.add(self.connection)

            def finish(self) -> None:
                owner._open.discard(self.connection)
                super().finish()

            def do_POST(self) -> None:
                owner._take(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = _Quiet(("127.0.0.1", self.port), Handler)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def kill(self) -> None:
        """Close the port and every connection."""
        server = self._server
        with self._lock:
            self._server = None
        if server is not None:
            server.shutdown()
            server.server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(2)

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["content-length"]))
        time.sleep(self.pause_s)
        with self._lock:
            self.asked += 1
            answer = None if self._server is None else self.answer(self.asked)  # the dead take nothing
            if answer is not None and 200 <= answer[0] < 300:
                headers = {name.lower(): value for name, value in request.headers.items()}
                self.taken.append((headers["webhook-id"], headers, body))
        if answer is None:
            time.sleep(self.hang_s)
            request.close_connection = True
            return
        request.send_response(answer[0])
        for name, value in answer[1].items():
            request.send_header(name, value)
        request.send_header("content-length", "0")
        request.end_headers()
