"""Who the crawler says it is: user agent, headers, cookies, proxy, client certificate; to whom, and to nobody else."""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recrawl.errors import InputError
from recrawl.fetch.agent import product_of
from recrawl.fetch.cookies import Cookies
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.outcome import FetchResult, Kind
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.urls.url import parse
from support.loopback_servers import Answer, Asked, Loopback, forward

PEM = Path(__file__).parent.parent / "hostile" / "localhost.pem"  # certificate and key of localhost
OPEN: dict[str, Any] = {
    "allow_networks": ("127.0.0.0/8",),
    "gate": GateSettings(min_delay_s=0.0, latency_factor=0.0),
    "retries": 0,
}


def page(_: Asked) -> Answer:
    return 200, {}, b"<p>a page"


def fetched(urls: Sequence[str], fetcher: Fetcher) -> list[FetchResult]:
    """Fetch one after the other."""

    async def run() -> list[FetchResult]:
        async with fetcher:
            return [await fetcher.fetch(url) for url in urls]

    return asyncio.run(run())


def fetcher(**told: Any) -> Fetcher:
    return Fetcher(FetchSettings(**{**OPEN, **told}))


def test_a_user_agent_of_ones_own_is_sent_and_robots_txt_is_obeyed_as_its_name() -> None:
    """ExampleBot is what the site sees, with the contact, and the group of ExampleBot in robots.txt counts."""

    def answer(asked: Asked) -> Answer:
        robots = b"User-agent: ExampleBot\nDisallow: /private\n\nUser-agent: recrawl\nDisallow: /"
        return 200, {}, robots if asked.path == "/robots.txt" else b"<p>a page"

    with Loopback(answer) as site:
        at = f"http://127.0.0.1:{site.port}"
        told = fetcher(user_agent="ExampleBot/2.0", contact="https://example.org/bot")
        one, two = fetched([f"{at}/public", f"{at}/private"], told)
    assert (one.kind, two.kind) == (Kind.OK, Kind.ROBOTS_DISALLOWED)
    assert {asked.headers["user-agent"] for asked in site.asked} == {"ExampleBot/2.0 (+https://example.org/bot)"}
    assert product_of("") == "recrawl"


def test_extra_headers_go_to_every_host_and_may_replace_ours() -> None:
    """Accept-Language is added, Accept is replaced, in whichever case it is written."""
    with Loopback(page) as site:
        told = fetcher(headers=(("Accept-Language", "de"), ("accept", "text/plain")))
        fetched([f"http://127.0.0.1:{site.port}/"], told)
    assert {(a.headers["accept-language"], a.headers["accept"]) for a in site.asked} == {("de", "text/plain")}


def test_what_is_meant_for_one_host_is_not_sent_to_another() -> None:
    """Credentials of a host follow to its robots.txt and its own redirects, never to where it redirects."""
    with _Redirecting() as (here, there):
        own = Fetcher(FetchSettings(**OPEN), own_headers=lambda host: (("X-Key", "1"),) if host == "127.0.0.1" else ())
        (result,) = fetched([f"http://127.0.0.1:{here.port}/away?to={there.port}"], own)
    assert result.kind is Kind.OK
    assert {asked.headers.get("x-key") for asked in here.asked} == {"1"}
    assert {asked.headers.get("x-key") for asked in there.asked} == {None}


class _Redirecting:
    """A site that redirects to another host of the same machine."""

    def __enter__(self) -> tuple[Loopback, Loopback]:
        def away(asked: Asked) -> Answer:
            if "to=" in asked.path:
                return 302, {"Location": f"http://localhost:{asked.path.rpartition('=')[2]}/"}, b""
            return 404, {}, b""

        self.sites = Loopback(away), Loopback(page)
        return self.sites[0].__enter__(), self.sites[1].__enter__()

    def __exit__(self, *_: object) -> None:
        for site in self.sites:
            site.__exit__(None, None, None)


def test_cookies_are_kept_per_site_and_only_where_asked_for() -> None:
    """What a site sets comes back to its own paths in the same run; another host never sees it; off by default."""

    def answer(asked: Asked) -> Answer:
        sets = [
            ("Set-Cookie", "visitor=7; Path=/"),
            ("Set-Cookie", "inner=1; Path=/in"),
            ("Set-Cookie", "old=1; Max-Age=0"),
        ]
        return 200, sets if asked.path == "/first" else [], b"<p>a page"

    for cookies in (True, False):
        with Loopback(answer) as site:
            at, other = f"http://127.0.0.1:{site.port}", f"http://localhost:{site.port}"
            fetched([f"{at}/first", f"{at}/in/page", f"{at}/out", f"{other}/out"], fetcher(cookies=cookies))
        sent = [(asked.headers["host"].split(":")[0], asked.path, asked.headers.get("cookie")) for asked in site.asked]
        heard = {(host, path): cookie for host, path, cookie in sent if path != "/robots.txt"}
        assert heard == {
            ("127.0.0.1", "/first"): None,
            ("127.0.0.1", "/in/page"): "visitor=7; inner=1" if cookies else None,
            ("127.0.0.1", "/out"): "visitor=7" if cookies else None,
            ("localhost", "/out"): None,
        }


def test_a_site_cannot_fill_its_jar_without_end_or_set_cookies_of_others() -> None:
    """At most 50 cookies of a site are kept; a Domain that is not its own, and malformed ones, are passed over."""
    jar = Cookies()
    url, other = parse("http://a.example.org/"), parse("http://b.example.net/")
    assert url is not None
    assert other is not None

    async def fill() -> None:
        for k in range(100):
            jar.take(
                url, (("set-cookie", f"c{k}=1"), ("set-cookie", "x=1; Domain=example.net"), ("set-cookie", "\x00="))
            )
        jar.take(url, (("set-cookie", "big=" + "x" * 10_000),))

    asyncio.run(fill())
    assert jar.header(url).count("=") == 50
    assert jar.header(other) == ""


def test_a_proxy_gets_every_request_with_its_own_credentials(tmp_path: Path) -> None:
    """Pages and robots.txt are asked of the proxy by their whole address; a name that only it knows is no error."""
    secret = tmp_path / "secret"
    secret.write_text("me:word\n")
    with Loopback(forward) as proxy:
        told = fetcher(allow_networks=(), proxy=f"http://127.0.0.1:{proxy.port}", proxy_auth_file=secret)
        (result,) = fetched(["http://only.the.proxy.knows/page?a=1"], told)
    assert result.kind is Kind.OK
    assert b"only.the.proxy.knows /page" in result.body
    assert [asked.path for asked in proxy.asked] == [
        "http://only.the.proxy.knows/robots.txt",
        "http://only.the.proxy.knows/page?a=1",
    ]
    words = {asked.headers["proxy-authorization"] for asked in proxy.asked}
    assert words == {f"Basic {base64.b64encode(b'me:word').decode()}"}


def test_https_goes_through_a_tunnel_of_the_proxy() -> None:
    """The proxy sees the name of the host and nothing else; the certificate is the host's own."""

    def allow(asked: Asked) -> Answer:
        return 200, {}, asked.path.rpartition(":")[2].encode()

    with Loopback(page, tls=PEM) as site, Loopback(allow) as proxy:
        told = fetcher(allow_networks=(), proxy=f"http://127.0.0.1:{proxy.port}", tls_ca_file=PEM)
        (result,) = fetched([f"https://localhost:{site.port}/page"], told)
    assert (result.kind, result.body) == (Kind.OK, b"<p>a page")
    assert {asked.path for asked in proxy.asked} == {f"localhost:{site.port}"}
    assert [asked.path for asked in site.asked] == ["/robots.txt", "/page"]


def test_a_proxy_that_refuses_says_so() -> None:
    """A tunnel that is not opened is a failed connection, in the proxy's words; so is a proxy that is not there."""
    with Loopback(lambda _: (407, {}, b"")) as proxy:
        told = fetcher(allow_networks=(), proxy=f"http://127.0.0.1:{proxy.port}", obey_robots=False)
        (result,) = fetched(["https://a.example/"], told)
    assert result.kind is Kind.CONNECT_FAILED
    assert "the proxy answered 407" in result.reason
    (result,) = fetched(["http://a.example/"], fetcher(proxy="http://127.0.0.1:9", obey_robots=False))
    assert result.kind is Kind.CONNECT_FAILED


def test_private_addresses_are_refused_behind_a_proxy_too() -> None:
    """An address in the URL is checked as ever, also that of the proxy itself."""
    with Loopback(forward) as proxy:
        told = fetcher(allow_networks=(), proxy=f"http://127.0.0.1:{proxy.port}", obey_robots=False)
        results = fetched(["http://10.0.0.1/", f"http://127.0.0.1:{proxy.port}/"], told)
    assert {result.kind for result in results} == {Kind.REFUSED_ADDRESS}
    assert not proxy.asked


def test_a_client_certificate_is_shown_where_a_server_asks_for_it(tmp_path: Path) -> None:
    """With it the server knows who asks; without it there is no connection."""
    own = tmp_path / "client.pem"
    shutil.copyfile(PEM, own)
    with Loopback(page, tls=PEM, clients=PEM) as site:
        url = f"https://localhost:{site.port}/page"
        (result,) = fetched([url], fetcher(tls_ca_file=PEM, tls_cert_file=own, obey_robots=False))
        assert result.kind is Kind.OK
        assert site.asked[0].client
        (result,) = fetched([url], fetcher(tls_ca_file=PEM, obey_robots=False))
        assert result.kind in (Kind.TLS_FAILED, Kind.RESET, Kind.CONNECT_FAILED)
        elsewhere = Fetcher(
            FetchSettings(**OPEN, tls_ca_file=PEM, obey_robots=False),
            certificates=lambda host: (own, None) if host == "other.test" else None,
        )
        (result,) = fetched([url], elsewhere)
        assert result.kind in (Kind.TLS_FAILED, Kind.RESET, Kind.CONNECT_FAILED)


@pytest.mark.parametrize("told", [{"user_agent": "9bot"}, {"user_agent": "a\nb"}, {"proxy": "example.org"}])
def test_settings_that_cannot_be_used_are_refused(told: dict[str, str]) -> None:
    """Before a request is made."""
    with pytest.raises(InputError):
        FetchSettings(**told)  # type: ignore[arg-type]
