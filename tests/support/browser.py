"""A real browser (Debian's Chromium, headless), driven by its DevTools protocol: pages, console, requests, pictures."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = shutil.which("chromium") or ""
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

TALLEST = 1400  # pixels of a picture
TABS = 5  # open at once


@dataclass
class Seen:
    """What a browser saw of one page."""

    url: str
    errors: list[str] = field(default_factory=list)  # of the console
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    title: str = ""
    text: str = ""
    wider: bool = False  # than the screen
    axe: list[str] = field(default_factory=list)  # serious findings
    png: bytes = b""


class Tab:
    """One tab over the DevTools protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    async def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Call a method; events that come meanwhile are kept."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": values})
        while True:
            told = await self._next()
            if told.get("id") == number:
                assert "error" not in told, told
                return dict(told["result"])

    async def until(self, method: str, seconds: float = 30.0) -> None:
        """Wait for an event."""
        async with asyncio.timeout(seconds):
            while not any(event["method"] == method for event in self.events):
                await self._next()

    async def idle(self, seconds: float) -> None:
        """Listen for a while."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self._next()
        except TimeoutError:
            pass

    async def _next(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((await self._socket.receive()).data)
        if "method" in told:
            self.events.append(told)
            if told["method"] == "Page.javascriptDialogOpening":
                accept = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                await self._socket.send_json(accept)
        return told

    async def value(self, script: str) -> Any:
        """Return what a script gives."""
        told = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")


@contextmanager
def browser() -> Iterator[str]:
    """Start a browser; yields where its DevTools listen."""
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as folder:
        words = [PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"ws://([\d.:]+)/", line):
                    yield f"http://{found[1]}"
                    return
            raise AssertionError("chromium said nothing of its DevTools")
        finally:
            process.terminate()
            process.wait(20)
            assert process.stderr is not None
            process.stderr.close()


def look(
    tools: str, urls: list[str], width: int, *, axe: str = "", wait_s: float = 0.4, dark: bool = False
) -> list[Seen]:
    """Open pages one after the other at this width; return what was seen of each, with a picture."""

    async def all_of(tab: Tab) -> list[Seen]:
        await _prepare(tab, width, dark)
        found = []
        for url in urls:
            found.append(await _look(tab, url, axe, wait_s))
            found[-1].png = await _picture(tab)
        return found

    return asyncio.run(_in_tab(tools, all_of))


def look_at_once(tools: str, urls: list[str], width: int, *, axe: str = "", wait_s: float = 0.4) -> list[Seen]:
    """Open each page in a tab of its own, a few at a time, so that their waits overlap; no pictures."""
    places = asyncio.Semaphore(TABS)

    async def one(url: str) -> list[Seen]:
        async def act(tab: Tab) -> list[Seen]:
            await _prepare(tab, width, dark=False)
            return [await _look(tab, url, axe, wait_s)]

        async with places:
            return await _in_tab(tools, act)

    async def all_of() -> list[Seen]:
        return [seen for each in await asyncio.gather(*map(one, urls)) for seen in each]

    return asyncio.run(all_of())


async def _in_tab(tools: str, act: Callable[[Tab], Awaitable[list[Seen]]]) -> list[Seen]:
    async with aiohttp.ClientSession() as session:
        async with session.put(f"{tools}/json/new?about:blank") as answer:
            made = await answer.json()
        async with session.ws_connect(made["webSocketDebuggerUrl"], max_msg_size=64 << 20) as socket:
            seen = await act(Tab(socket))
        async with session.get(f"{tools}/json/close/{made['id']}") as answer:
            assert answer.status == 200
        return seen


async def _prepare(tab: Tab, width: int, dark: bool) -> None:
    for domain in ("Page", "Runtime", "Log", "Network"):
        await tab.call(f"{domain}.enable")
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    await tab.call("Emulation.setDeviceMetricsOverride", **metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    await tab.call("Emulation.setEmulatedMedia", features=[scheme])


async def _look(tab: Tab, url: str, axe: str, wait_s: float) -> Seen:
    tab.events.clear()
    await tab.call("Page.navigate", url=url)
    await tab.until("Page.loadEventFired")
    await tab.idle(wait_s)
    seen = Seen(url)
    seen.title = await tab.value("document.title")
    seen.text = await tab.value("document.body.innerText")
    seen.wider = await tab.value("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    if axe:
        await tab.value(axe + "; 0")
        found = await tab.value("axe.run().then(r => JSON.stringify(r.violations))")
        seen.axe = [
            f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}"
            for each in json.loads(found)
            if each["impact"] in ("serious", "critical")
        ]
    _read_events(tab.events, seen)
    return seen


async def _picture(tab: Tab) -> bytes:
    height = min(TALLEST, await tab.value("document.documentElement.scrollHeight"))
    size = {"x": 0, "y": 0, "width": await tab.value("innerWidth"), "height": height, "scale": 1}
    shot = await tab.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=size)
    return base64.b64decode(shot["data"])


def _read_events(events: list[dict[str, Any]], seen: Seen) -> None:
    for event in events:
        values = event["params"]
        if event["method"] == "Log.entryAdded" and values["entry"]["level"] == "error":
            seen.errors.append(values["entry"]["text"])
        if event["method"] == "Runtime.exceptionThrown":
            seen.errors.append(json.dumps(values["exceptionDetails"])[:500])
        if event["method"] == "Runtime.consoleAPICalled" and values["type"] == "error":
            seen.errors.append(json.dumps(values["args"])[:500])
        if event["method"] == "Network.requestWillBeSent":
            seen.requests.append(values["request"]["url"])
        if event["method"] == "Page.javascriptDialogOpening":
            seen.dialogs.append(values["message"])


def axe_source() -> str:
    """Return the accessibility checker axe-core, from the package that ships it."""
    import axe_core_python

    return (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
