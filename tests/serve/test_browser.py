"""The dashboard in a real browser: no console error, nothing foreign, nothing executed, readable on a phone."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from support.browser import PROGRAM, Seen, axe_source, browser, look_at_once
from support.dashboard_crawls import EVIL_URL, hostile, ordinary
from support.served_crawls import serving

pytestmark = pytest.mark.skipif(not PROGRAM, reason="Debian's package chromium is not installed")
PAGES = ("/", "/hosts", "/pages", "/plan", "/whatif", "/errors", "/signals", "/deliveries", "/settings")


def check(seen: Seen, port: int, *, has_axe: bool) -> None:
    """Hold what a browser saw to what every page promises."""
    assert seen.errors == [], (seen.url, seen.errors)
    assert seen.dialogs == [], (seen.url, seen.dialogs)
    own = f"http://127.0.0.1:{port}/"
    assert [url for url in seen.requests if not url.startswith((own, "data:"))] == [], seen.url
    assert not seen.wider, f"{seen.url} is wider than the screen"
    if has_axe:
        assert seen.axe == [], (seen.url, seen.axe)


@pytest.mark.parametrize(("make", "url"), [(ordinary, "https://a.example/news"), (hostile, EVIL_URL)])
def test_every_page_is_clean_at_desk_and_phone_width(tmp_path: Path, make: object, url: str) -> None:
    """All pages of an ordinary and of a hostile crawl: quiet console, own requests only, accessible, never too wide."""
    assert callable(make)
    folder = make(tmp_path / "crawl").path
    axe = axe_source()
    with serving(folder) as server, browser() as tools:
        urls = [f"http://127.0.0.1:{server.port}{path}" for path in (*PAGES, f"/page?url={quote(url)}")]
        server.get("/plan")  # compiles what it needs, so that the browser does not wait
        for width in (1280, 390):
            for seen in look_at_once(tools, urls, width, axe=axe if width == 390 else ""):
                check(seen, server.port, has_axe=width == 390)
                assert "recrawl" in seen.title
