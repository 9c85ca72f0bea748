"""Pages that are other names of a page cost nothing once we have a copy of it."""

from __future__ import annotations

from pathlib import Path

from recrawl.live.facade import Crawl
from support.live_crawls import Days
from support.loopback_servers import Answer, Asked, Loopback

TOML = """
[crawl]
policy = "age"
every = "1d"
budget = 100
discovery = 1.0
signals = false
[fetch]
allow_networks = ["127.0.0.0/8"]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


def test_another_name_of_a_page_is_visited_no_more(tmp_path: Path) -> None:
    """?from=mail names the plain address as its own: that becomes a page, and the alias costs no further visits."""
    alive = [True]

    def answer(asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            return 404, {}, b""
        path = asked.path.partition("?")[0]
        if asked.path == "/page" and not alive[0]:
            return 410, {}, b""
        front = '<link rel="canonical" href="/">' if path == "/lies" else f'<link rel="canonical" href="{path}">'
        return 200, {}, f"<title>{path}</title>{front}<p>What the page {path} says, in so many words.".encode()

    with Loopback(answer) as site:
        at = f"http://127.0.0.1:{site.port}"
        calendar = Days()
        crawl = Crawl.create(tmp_path / "crawl", TOML, clock=calendar)

        def run(days: int) -> None:
            for _ in range(days):
                calendar.day += 1.0
                crawl.run(cycles=1)

        crawl.add(f"{at}/page?from=mail", f"{at}/lies")
        run(3)
        assert [page["url"] for page in crawl.pages(sort="url")] == [f"{at}/lies", f"{at}/page", f"{at}/page?from=mail"]
        assert crawl.status()["barred"] == {"alias": 1}
        before = len([asked for asked in site.asked if "from=mail" in asked.path])
        run(2)
        assert len([asked for asked in site.asked if "from=mail" in asked.path]) == before <= 2
        alive[0] = False
        run(2)
    assert crawl.status()["barred"] == {}
    assert len([asked for asked in site.asked if "from=mail" in asked.path]) > before
