"""Small servers on loopback that write down what they were asked: a site, and a proxy that tunnels."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

Answer = tuple[int, dict[str, str] | list[tuple[str, str]], bytes]  # status, headers, body


class Asked:
    """A request as it came in."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.path = handler.path
        self.address = str(handler.client_address[0])
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.client = handler.connection.getpeercert() if isinstance(handler.connection, ssl.SSLSocket) else None


class Loopback:
    """Serves answers on 127.0.0.1; `asked` are the requests, in order. With `tls`, a file with certificate and key."""

    def __init__(
        self,
        answer: Callable[[Asked], Answer],
        tls: Path | None = None,
        clients: Path | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self.asked: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Keep quiet."""

            def do_GET(self) -> None:
                asked = Asked(self)
                outer.asked.append(asked)
                status, headers, body = answer(asked)
                self.send_response(status)
                for name, value in headers.items() if isinstance(headers, dict) else headers:
                    self.send_header(name, value)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_CONNECT(self) -> None:
                asked = Asked(self)
                outer.asked.append(asked)
                status, _, body = answer(asked)
                if status != 200:
                    self.send_error(status)
                    return
                with socket.create_connection(("127.0.0.1", int(body))) as far:
                    self.send_response(200)
                    self.end_headers()
                    _tunnel(self.connection, far)
                self.close_connection = True

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            if clients is not None:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(clients)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port

    def __enter__(self) -> Loopback:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def forward(asked: Asked) -> Answer:
    """Answer as a plain HTTP proxy that fetches nothing: says what it was asked for."""
    parts = urlsplit(asked.path)
    return 200, {}, f"<title>by proxy</title><p>{parts.hostname} {parts.path}".encode()


def _tunnel(near: socket.socket, far: socket.socket) -> None:
    while True:
        ready, _, _ = select.select([near, far], [], [], 5)
        if not ready:
            return
        for side in ready:
            data = side.recv(65_536)
            if not data:
                return
            (far if side is near else near).sendall(data)
