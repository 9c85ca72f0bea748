"""The README's Python runs as it is written there."""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from recrawl.cli import main
from recrawl.live import settings_template
from support.receiver import Receiver
from support.served_crawls import serving

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


class Site(BaseHTTPRequestHandler):
    """example.org, on loopback."""

    def do_GET(self) -> None:
        body = b"<title>Example</title><p>A page with <a href='/more'>more</a>."
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def example_org(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let new crawls find example.org on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    here = f'allow_networks = ["127.0.0.0/8"]\nconnect_to = [["example.org", "127.0.0.1:{server.server_port}"]]'
    there = re.sub(r"allow_networks = .*", here, settings_template.TEMPLATE)
    monkeypatch.setattr(settings_template, "TEMPLATE", there.replace("min_delay_s = 1.0", "min_delay_s = 0.0"))
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("example_org")
def test_the_five_uses_of_the_front_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compare, own policy, live crawl, explain a page, own history: each block of the README runs as written."""
    assert len(BLOCKS) == 5
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    said = []
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
        said.append(capsys.readouterr().out)
    compared, own, crawled, explained, history = said
    assert compared.index("learned") < compared.index("\nage"), "the best comes first"
    assert (tmp_path / "report" / "report.html").is_file()
    assert "hot(boost=9)" in own
    assert crawled == "2 visits; 2 pages known\n"
    assert "likely to have changed" in explained
    assert "http://example.org/week" in explained
    assert "oracle" in history


def commands() -> list[list[str]]:
    """The commands of the section "Six commands", as words."""
    section = README.read_text(encoding="utf-8").split("## Six commands")[1].split("##")[0]
    return [shlex.split(line, comments=True) for line in section.splitlines() if line.startswith("    ")]


@pytest.mark.usefixtures("example_org")
def test_the_newcomers_six_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install, init, add, run, see, get the changes: each command of the README runs as written.

    Installing is checked by `make release-check`; the server gets a free port, and the webhook one that is listened to.
    """
    install, init, add, run, serve, deliver = commands()
    assert install == ["pipx", "install", "recrawl[all]"]
    monkeypatch.chdir(tmp_path)
    for words in (init, add, run):
        assert words[0] == "recrawl"
        assert main(words[1:]) == 0, words
    assert serve == ["recrawl", "serve", "-C", "news"]
    with serving(Path("news")) as served:
        assert "example.org" in served.get("/pages").body.decode()
    receiver = Receiver()
    with receiver:
        words = [word.replace("http://127.0.0.1:9000", receiver.url.rsplit("/", 1)[0]) for word in deliver[1:]]
        assert main(words) == 0
    assert [event["type"] for event in receiver.events] == ["page.new", "page.new"]
    assert receiver.events[0]["url"] == "http://example.org/"
