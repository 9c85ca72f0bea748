"""The server's safety: who may ask, and what a page of another site cannot do."""

from __future__ import annotations

import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recrawl.errors import InputError
from recrawl.live.facade import Crawl
from recrawl.serve.access import COOKIE, Access, is_loopback
from recrawl.serve.token_file import token_in
from support import forked
from support.served_crawls import ServedCrawl, serving

TOKEN = "a-token-of-some-length"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCrawl]:
    """A server on loopback without a token."""
    folder = tmp_path_factory.mktemp("open") / "crawl"
    Crawl.create(folder).add("https://a.example/")
    with serving(folder) as server:
        yield server


@pytest.fixture(scope="module")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCrawl]:
    """A server that asks for a token, known as crawler.example too."""
    folder = tmp_path_factory.mktemp("closed") / "crawl"
    Crawl.create(folder).add("https://a.example/")
    (folder / "serve.token").write_text(TOKEN)
    (folder / "serve.token").chmod(0o600)
    with serving(folder, "--name", "crawler.example") as server:
        yield server


def test_a_server_on_loopback_answers_without_a_token(open_server: ServedCrawl) -> None:
    """Everybody on this machine may read how the crawl stands."""
    told = open_server.get("/v1/status")
    assert (told.status, told.json["pages"]) == (200, 1)


def test_a_foreign_host_is_misdirected(open_server: ServedCrawl, closed_server: ServedCrawl) -> None:
    """A name that is not ours is refused before all else (DNS rebinding); addresses and given names are ours."""
    assert open_server.get("/v1/status", Host="evil.example").status == 421
    assert open_server.get("/v1/status", Host="evil.example:8600").status == 421
    assert open_server.get("/v1/status", Host="localhost.evil.example").status == 421
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:8600", "10.0.0.1"):
        assert open_server.get("/v1/status", Host=host).status == 200, host
    assert open_server.get("/v1/status", Host="crawler.example").status == 421
    assert closed_server.get("/v1/status", Host="crawler.example:8600").status == 401


def test_without_the_token_nothing_is_told(closed_server: ServedCrawl) -> None:
    """No token, a wrong one, or another scheme is 401, whatever the path; only /healthz and the log-in are open."""
    for path in ("/v1/status", "/", "/v1/nothing"):
        assert closed_server.get(path).status == 401, path
    assert closed_server.get("/v1/status", Authorization="Bearer wrong").status == 401
    assert closed_server.get("/v1/status", Authorization=f"Basic {TOKEN}").status == 401
    assert closed_server.get("/v1/status", Authorization=f"Bearer {TOKEN}").status == 200
    assert closed_server.get("/v1/status", Cookie=f"{COOKIE}={TOKEN}").status == 401
    assert closed_server.get("/healthz").json == {"alive": True}
    assert closed_server.get("/healthz", Host="10.1.1.1:80").status == 200


def test_the_log_in_sets_a_cookie_that_scripts_cannot_read(closed_server: ServedCrawl) -> None:
    """The cookie opens the pages; it is HttpOnly and SameSite=Strict and is not the token."""
    assert b'name="token"' in closed_server.get("/login").body
    assert closed_server.post("/login", b"token=wrong", Content_Type=FORM).status == 401
    told = closed_server.post("/login", f"token={TOKEN}".encode(), Content_Type=FORM)
    cookie = told.headers["set-cookie"]
    assert told.status == 303
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert closed_server.get("/v1/status", Cookie=cookie.partition(";")[0]).status == 200


def test_a_page_of_another_site_changes_nothing(open_server: ServedCrawl, closed_server: ServedCrawl) -> None:
    """A cross-site POST is 403, by Origin or by Sec-Fetch-Site, with or without the cookie, same-site too."""
    own = f"127.0.0.1:{open_server.port}"
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": f"http://{own}", "Sec_Fetch_Site": "same-origin"},  # our own page, but without its CSRF value
    ):
        assert open_server.post("/logout", b"", **headers).status == 403, headers
    cookie = f"{COOKIE}={Access(TOKEN).session}"
    origin = f"http://127.0.0.1:{closed_server.port}"
    assert closed_server.post("/logout", b"", Cookie=cookie).status == 403
    assert closed_server.post("/logout", b"csrf=no", Cookie=cookie, Origin=origin, Content_Type=FORM).status == 403
    csrf = Access(TOKEN).csrf
    assert closed_server.post("/logout", b"", Cookie=cookie, Origin=origin, X_CSRF_Token=csrf).status == 303
    field = f"csrf={csrf}".encode()
    assert closed_server.post("/logout", field, Cookie=cookie, Origin=origin, Content_Type=FORM).status == 303
    evil = {"Cookie": cookie, "Origin": "https://evil.example", "Content_Type": FORM}
    assert closed_server.post("/logout", field, **evil).status == 403
    assert closed_server.post("/login", f"token={TOKEN}".encode(), **evil).status == 403


def test_every_answer_says_what_browsers_must_not_do(open_server: ServedCrawl) -> None:
    """Scripts, styles and forms of other origins are shut out, on errors too."""
    for path in ("/v1/status", "/nothing", "/login"):
        told = open_server.get(path)
        assert told.headers["content-security-policy"].startswith("default-src 'self';")
        assert told.headers["x-content-type-options"] == "nosniff"
    assert open_server.get("/nothing").json == {"error": "404: Not Found"}


def test_a_large_body_is_refused(open_server: ServedCrawl) -> None:
    """A body above the limit is not read to its end."""
    body = b"token=" + b"x" * (2 << 20)
    assert open_server.post("/login", body, Content_Type=FORM).status == 413


def test_an_address_for_others_needs_a_token(tmp_path: Path) -> None:
    """Without a token the server does not start at another address: one line, exit code 2."""
    Crawl.create(tmp_path / "c")
    words = ["-m", "recrawl", "serve", "-C", str(tmp_path / "c"), "--host", "0.0.0.0", "--port", "0"]
    done = forked.python(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--token-file" in done.stderr
    with serving(tmp_path / "c", "--host", "0.0.0.0", "--token-file", str(tmp_path / "t")) as server:
        assert server.get("/v1/status").status == 401
        token = (tmp_path / "t").read_text().strip()
        assert server.get("/v1/status", Authorization=f"Bearer {token}").status == 200
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o600
    assert len(token) > 40


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path, open_server: ServedCrawl) -> None:
    """Two servers cannot share a port."""
    Crawl.create(tmp_path / "c")
    words = ["-m", "recrawl", "serve", "-C", str(tmp_path / "c"), "--port", str(open_server.port)]
    done = forked.python(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_token_files_that_do_not_protect_are_refused(tmp_path: Path) -> None:
    """A file that others read, or a token that can be guessed, is an error."""
    path = tmp_path / "serve.token"
    token = token_in(path)
    assert token_in(path) == token
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        token_in(path)
    path.chmod(0o600)
    path.write_text("short")
    with pytest.raises(InputError, match="at least 16"):
        token_in(path)
    with pytest.raises(InputError, match="No such file"):
        token_in(tmp_path / "none" / "token")


@pytest.mark.parametrize(
    ("host", "ours"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("a.example", False), ("::", False)],
)
def test_what_is_loopback(host: str, ours: bool) -> None:
    """Only this machine reaches 127.0.0.0/8, ::1 and localhost."""
    assert is_loopback(host) is ours


def test_sigterm_ends_the_server_at_once(tmp_path: Path) -> None:
    """The process ends within a second of SIGTERM although connections are open."""
    Crawl.create(tmp_path / "c")
    with serving(tmp_path / "c") as server:
        open_links = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for link in open_links:
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            link.recv(1000)
        began = time.monotonic()
        server.process.terminate()
        assert server.process.wait(10) == 0
        assert time.monotonic() - began < 5  # about 0.1 s where nothing else runs
        for link in open_links:
            link.close()
