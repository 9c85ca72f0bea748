"""What is no change and no copy in a live crawl: a moving clock, an epoch number, a redirect to log in."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.live.crawl_defaults import CANDIDATES, REPLAYED
from recrawl.live.facade import Crawl
from recrawl.registry import split_specs
from recrawl.report.comparison_defaults import POLICIES
from support.loopback_servers import Answer, Asked, Loopback

SETTINGS = """
[crawl]
policy = "age"
every = "1d"
budget = "50"
signals = false
[fetch]
allow_networks = ["127.0.0.0/8"]
connect_to = [["*.test", "127.0.0.1"]]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


def test_clocks_are_no_change_and_a_log_in_page_is_no_copy(tmp_path: Path) -> None:
    """Three visits: a clock and an epoch number stay unchanged, and the copy from before the log-in page stays."""
    looks = Counter[str]()

    def answer(asked: Asked) -> Answer:
        looks[asked.path] += 1
        number = looks[asked.path]
        if asked.path == "/robots.txt":
            return 404, {}, b""
        if asked.path == "/clock":
            return 200, {}, f"<p>The office is open.</p><p>Server time: 09:{number:02}</p>".encode()
        if asked.path == "/epoch":
            return 200, {}, f'{{"updated_at":{1763315100 + number},"name":"x"}}'.encode()
        if asked.path == "/news" and number > 1:
            return 302, {"Location": "/login?next=/news"}, b""
        if asked.path.startswith("/login"):
            return 200, {}, b"<title>Log in</title><form><input type=password></form><p>Who are you?"
        return 200, {}, b"<title>News</title><p>All the news of the day, in many words."

    with Loopback(answer) as server, Crawl.create(tmp_path / "crawl", SETTINGS) as crawl:
        pages = [f"http://a.test:{server.port}/{name}" for name in ("clock", "epoch", "news")]
        crawl.add(*pages)
        for _ in range(3):
            crawl.run(1, now=True)
        outcomes = [[visit["outcome"] for visit in crawl.page(page).visits] for page in pages]
        _, text = crawl.text_at(pages[2], 1e6)
    assert outcomes[:2] == [["first", "unchanged", "unchanged"]] * 2
    assert outcomes[2] == ["first", "failed", "failed"]
    assert "All the news" in text


@pytest.mark.parametrize("verb", ["learn", "replay"])
def test_without_history_learn_and_replay_say_what_is_missing(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the number of cycles that there are, and the command that makes more."""
    crawl = Crawl.create(tmp_path / "crawl", SETTINGS)
    for _ in range(2):
        assert main([verb, "-C", str(tmp_path / "crawl")]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "0 cycles with visits" in said
        assert "recrawl run --cycles 2" in said
        crawl.add("http://a.test/")


def test_learned_is_compared_unless_told_otherwise() -> None:
    """compare, replay and learn have it among their defaults."""
    assert all("learned" in split_specs(names) for names in (POLICIES, REPLAYED, CANDIDATES))
