"""Serve a crawl until SIGTERM or Ctrl-C: streams that are open end at once, requests under way are answered."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from aiohttp import web

from recrawl.errors import InputError
from recrawl.serve.access import access_for, is_loopback
from recrawl.serve.application import application
from recrawl.serve.service import SERVICE
from recrawl.serve.token_file import token_in

TOKEN_FILE = "serve.token"  # in the crawl's folder; used where it exists
LAST_S = 0.5  # for requests under way, when the server stops


def serve(
    directory: Path,
    host: str = "127.0.0.1",
    port: int = 8600,
    *,
    token_file: Path | None = None,
    names: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> None:
    """Serve a crawl; an address that other machines can reach needs a token."""
    own = directory / TOKEN_FILE
    if token_file is None and own.exists():
        token_file = own
    if token_file is None and not is_loopback(host):
        raise InputError(f"other machines can reach {host}: it needs a token; add --token-file {own}")
    access = access_for(host, None if token_file is None else token_in(token_file), names)
    asyncio.run(_until_signalled(application(directory, access), host, port, say))


async def _until_signalled(app: web.Application, host: str, port: int, say: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, app[SERVICE].stopping.set)
    await listen(app, host, port, say)


async def listen(app: web.Application, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve an application until its service is stopping; `say` is told the address."""
    service = app[SERVICE]
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=LAST_S)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise InputError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from None
        bound = runner.addresses[0][1]
        shown = f"[{host}]" if ":" in host else host
        say(f"serving {service.crawl.directory.path} at http://{shown}:{bound}/ (Ctrl-C ends it)")
        await service.stopping.wait()
    finally:
        await runner.cleanup()
