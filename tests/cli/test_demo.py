"""The demonstration runs from one command, and tells its story in one screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.live.facade import Crawl


def test_the_demonstration_ends_with_its_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was found, what it cost, why a page is visited, and the command that shows the crawl in a browser."""
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--pages", "60", "--out", "demo"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert len(lines) <= 24, "one screen"
    status = Crawl.open("demo/learned").status()
    assert f"found  {status['changed']} changes" in shown.out
    assert f"cost   {status['visits']} visits to {status['pages']} pages" in shown.out
    top = Crawl.open("demo/learned").pages(limit=1)[0]["url"]
    assert f"why    {top} (visited" in shown.out
    assert "likely to have changed" in shown.out
    assert shown.err.splitlines()[-1] == "see it: recrawl serve -C demo/learned"
    report = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "may be chance" in report
    assert "copies up to date" in report
    assert re.search(r"<ins>.*\b(The|A) \w+.* (today|this week|at last|once more)", report), (
        "sentences that can be read"
    )
