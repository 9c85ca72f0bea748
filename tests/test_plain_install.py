"""A plain install crawls: no pyarrow, scipy, LightGBM, scikit-learn, matplotlib, Jinja or Prometheus client."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

OPTIONAL = ("pyarrow", "scipy", "lightgbm", "sklearn", "threadpoolctl", "matplotlib", "jinja2", "markupsafe",
            "prometheus_client", "html_to_markdown", "pandas", "distributed", "obstore")  # fmt: skip
PLAIN = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from recrawl.cli import main
for words in sys.argv[1:]:
    print("$", words, main(words.split()), flush=True)
"""
SETTINGS = """
[crawl]
policy = "learned"
budget = "100%"
signals = false
[fetch]
allow_networks = ["127.0.0.0/8"]
[fetch.gate]
min_delay_s = 0.0
latency_factor = 0.0
"""


class Moving(BaseHTTPRequestHandler):
    """Thirty pages, of which every other one differs at each visit."""

    visits = itertools.count()

    def do_GET(self) -> None:
        number = int(self.path[2:]) if self.path[2:].isdigit() else 0
        words = " ".join(f"word{(7 * next(self.visits) + i) % 999}" for i in range(40)) if number % 2 else "still here"
        links = "".join(f'<a href="/p{i}">{i}</a> ' for i in range(30))
        body = f"<title>{number}</title><p>{words}</p>{links}".encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    """The address of the site, on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Moving)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def plain(folder: Path, *commands: str) -> tuple[list[str], str]:
    """Run commands as a plain install does; return the lines with their exit codes, and what went to stderr."""
    words = [sys.executable, "-c", PLAIN, *commands]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("$ ")], done.stderr


def test_a_plain_install_crawls(tmp_path: Path, site: str) -> None:
    """Init, add, run under `learned`, look, deliver; the trees that `learned` goes without are named once."""
    (lines, _) = plain(tmp_path, "init news")
    assert lines == ["$ init news 0"]
    (tmp_path / "news" / "recrawl.toml").write_text(SETTINGS)
    commands = (
        f"add -C news {site}", "run -C news --cycles 4 --every 1s", "status -C news", "pages -C news --changed",
        f"show -C news {site}p1", "tail -C news", f"diff -C news {site}p1", "next -C news",
        "deliver -C news --to jsonl:out", "policies",
    )  # fmt: skip
    lines, errors = plain(tmp_path, *commands)
    assert lines == [f"$ {command} 0" for command in commands], errors
    assert errors.count("pip install 'recrawl[learned]'") == 1


def test_what_needs_more_names_its_extra(tmp_path: Path) -> None:
    """A verb beyond a plain crawl says in one line what to install, and exits with 2."""
    commands = {
        "synth mixed --pages 60 --days 9 --out web": "recording",
        "learn -C news": "recording",
        "replay -C news": "recording",
        "describe web": "recording",
        "compare web": "recording",
        "demo": "report",
        "evolve web --out best": "recording",
        "export recording history -C news": "recording",
        "experiment clusters web": "recording",
        "shards parts --synthetic 60": "recording",
        "run -C away": "objects",
    }
    plain(tmp_path, "init away", "add -C away http://127.0.0.1/")
    (tmp_path / "away" / "recrawl.toml").write_text('[bodies]\nto = "s3://bucket/prefix"\n')
    lines, errors = plain(tmp_path, "init news", *commands)
    assert lines[1:] == [f"$ {command} 2" for command in commands], errors
    told = [line for line in errors.splitlines() if "recrawl: " in line]
    assert [line.partition("pip install ")[2] for line in told] == [
        f"'recrawl[{extra}]'" for extra in commands.values()
    ]
