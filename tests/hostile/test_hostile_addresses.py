"""Hostile cases 1 to 17: addresses and URLs. Each test is named by its number in the list of hostile inputs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address

import pytest

from hostile.asking import LENIENT, ask
from hostile.hostile_server import HostileServer, answer, redirect
from recrawl.errors import InputError
from recrawl.fetch.fetcher import Fetcher
from recrawl.fetch.guard import Guard, is_public
from recrawl.fetch.outcome import Kind
from recrawl.urls.url import normalise, registrable_domain, shown
from support.manual_clock import ManualClock

PAGE = answer("<title>a page</title><p>some words")
LOOPBACK_ONLY = ("127.0.0.1/32",)


@pytest.mark.parametrize("target", ["http://127.0.0.2:PORT/", "http://10.0.0.1/", "http://169.254.169.254/latest/"])
def test_case_01_redirect_into_a_private_network_is_refused(target: str) -> None:
    """A redirect to loopback, a private network or a cloud's metadata address is refused at that hop, unasked."""
    result, server = ask({"/": redirect(target.replace(":PORT", ""))}, allow_networks=LOOPBACK_ONLY)
    assert result.kind is Kind.REFUSED_ADDRESS
    assert [hop.status for hop in result.hops] == [302]
    assert server.paths() == ["/"]


def test_case_01_config_may_allow_private_hosts() -> None:
    """A crawl whose settings open a network may crawl it; without them the same address is refused."""
    assert ask({"/": PAGE})[0].kind is Kind.OK
    result, server = ask({"/": PAGE}, allow_networks=())
    assert result.kind is Kind.REFUSED_ADDRESS
    assert not server.asked


def test_case_02_dns_rebinding_meets_the_checked_address() -> None:
    """A name is resolved once: what it is rebound to between check and connection is never seen."""
    answers = [["127.0.0.1"], ["10.0.0.1"], ["10.0.0.1"]]
    lookups: list[str] = []

    async def rebound(host: str) -> Sequence[str]:
        lookups.append(host)
        return answers[len(lookups) - 1]

    async def run() -> None:
        settings = replace(LENIENT, connect_to=(), allow_networks=("127.0.0.1/32",))
        async with HostileServer({"/": PAGE}) as server, Fetcher(settings, lookup=rebound) as fetcher:
            result = await fetcher.fetch(server.url("/", "rebound.example"))
            assert result.kind is Kind.OK, result.reason
            assert lookups == ["rebound.example"]
            assert server.paths() == ["/"]

    asyncio.run(run())


def test_case_02_the_socket_checks_its_own_address() -> None:
    """Even an address that reached the connector by another way is refused when its socket is made."""
    guard = Guard(ManualClock())
    with pytest.raises(Exception, match="not a public address"):
        guard.open_socket((2, 1, 6, "", ("192.168.1.1", 80)))


def test_case_03_mixed_public_and_private_answers_are_refused() -> None:
    """A name with one private address among public ones is refused as a whole."""
    names = {"mixed.example": ["93.184.216.34", "10.0.0.1"]}
    result, server = ask({"/": PAGE}, "http://mixed.example/", names=names, allow_networks=LOOPBACK_ONLY)
    assert result.kind is Kind.REFUSED_ADDRESS
    assert "10.0.0.1 among others" in result.reason
    assert not server.asked


@pytest.mark.parametrize(
    "address",
    [
        "100.64.0.1",
        "224.0.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "192.0.0.1",
        "198.18.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.0.1",
        "240.0.0.1",
        "192.0.2.1",
        "ff02::1",
        "fe80::1",
        "::",
        "::1",
        "fc00::1",
        "fec0::1",
        "2001:db8::1",
    ],
)
def test_case_04_cgnat_multicast_unspecified_are_refused(address: str) -> None:
    """Carrier-grade NAT, multicast, unspecified, reserved and link-local addresses are not public."""
    assert not is_public(ip_address(address))
    host = f"[{address}]" if ":" in address else address
    assert ask({}, f"http://{host}/", allow_networks=())[0].kind is Kind.REFUSED_ADDRESS


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "2002:0a00:0001::1",
        "2002:7f00:0001::",
        "::10.0.0.1",
        "64:ff9b::10.0.0.1",
        "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    ],  # the last is Teredo around 10.0.0.1
)
def test_case_05_addresses_in_addresses_are_unwrapped_and_checked(address: str) -> None:
    """A private IPv4 address inside a mapped, 6to4, Teredo, compatible or NAT64 address is refused."""
    assert not is_public(ip_address(address))
    assert ask({}, f"http://[{address}]/", allow_networks=())[0].kind is Kind.REFUSED_ADDRESS


def test_case_05_public_addresses_stay_public() -> None:
    """The guard lets ordinary addresses of the web through, mapped ones too."""
    for address in ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"):
        assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.1", "127.0.0.1.", "%31%32%37.1"]
)
def test_case_06_numeric_ipv4_forms_are_parsed_then_checked(host: str) -> None:
    """Decimal, octal, hexadecimal, short and escaped spellings of 127.0.0.1 are all 127.0.0.1, and refused."""
    assert normalise(f"http://{host}/") == "http://127.0.0.1/"
    assert ask({}, f"http://{host}/", allow_networks=())[0].kind is Kind.REFUSED_ADDRESS


def test_case_07_one_parser_everywhere() -> None:
    r"""http://in\@out/ is a page of `in`: the host that was checked is the host that is asked."""
    assert normalise("http://in.test\\@out.test/") == "http://in.test/@out.test/"
    result, server = ask({"in.test/@out.test/": PAGE}, "http://in.test:PORT\\@out.test/")
    assert result.kind is Kind.OK, result.reason
    assert {asked.host.partition(":")[0] for asked in server.asked} == {"in.test"}


def test_case_08_userinfo_is_no_part_of_a_page_and_never_shown() -> None:
    """A user name and password in a URL are dropped: not sent, not in the result, not in any message."""
    assert normalise("http://user:secret@example.org/a") == "http://example.org/a"
    result, server = ask({"/": PAGE}, "http://user:secret@127.0.0.1:PORT/")
    assert result.kind is Kind.OK
    assert "secret" not in repr(result)
    assert all("authorization" not in asked.headers for asked in server.asked)
    assert "secret" not in repr(ask({}, "http://user:secret@127.0.0.1:99999/")[0])
    assert "secret" not in shown("ftp://user:secret@example.org/")


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x"])
def test_case_09_ports_that_do_not_exist_are_invalid(port: str) -> None:
    """Port 0 and ports beyond 65535 name no page."""
    assert ask({}, f"http://127.0.0.1:{port}/")[0].kind is Kind.INVALID_URL


@pytest.mark.parametrize("port", [22, 25, 6667])
def test_case_09_ports_of_other_protocols_are_denied(port: int) -> None:
    """SSH, mail and chat servers are not asked for web pages, nor after a redirect."""
    assert ask({}, f"http://127.0.0.1:{port}/")[0].kind is Kind.REFUSED_PORT
    assert ask({"/": redirect(f"http://127.0.0.1:{port}/")})[0].kind is Kind.REFUSED_PORT


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "ftp://a/", "gopher://a/"]
)
def test_case_10_other_schemes_are_refused_also_after_a_redirect(target: str) -> None:
    """Only http and https name pages, at the start and at every redirect."""
    assert ask({}, target)[0].kind is Kind.INVALID_URL
    assert ask({"/": redirect(target)})[0].kind is Kind.BAD_REDIRECT


@pytest.mark.parametrize(
    "host", ["xn--a", "a" * 64 + ".example", "a..example", ".example", "exa mple", "a" * 250 + ".org", "\u2024"]
)
def test_case_11_bad_host_names_are_invalid(host: str) -> None:
    """Broken punycode, labels over 63 octets and empty labels name no host."""
    assert ask({}, f"http://{host}/")[0].kind is Kind.INVALID_URL


def test_case_12_homographs_are_shown_as_punycode() -> None:
    """A Cyrillic look-alike of a Latin name is shown in punycode, so nobody takes one for the other."""
    lookalike = "ехаmple"
    assert shown(f"http://{lookalike}.org/") == f"http://xn--{lookalike.encode('punycode').decode()}.org/"
    assert shown("http://example.org/") == "http://example.org/"


def test_case_13_control_characters_are_stripped_or_refused() -> None:
    """Tabs and line breaks are stripped as browsers do; a NUL inside a URL makes it invalid; none is ever sent."""
    assert normalise("http://exa\tmple.org/a\r\nb") == "http://example.org/ab"
    assert normalise("http://example.org/a\0b") is None
    assert normalise("http://example.org/\x1b[31m") is None
    result, server = ask({"/ab": PAGE}, "http://127.0.0.1:PORT/a\r\nb")
    assert result.kind is Kind.OK
    assert server.paths() == ["/ab"]


def test_case_14_a_two_megabyte_url_is_refused() -> None:
    """URLs beyond 2,083 characters are refused, before parsing where they are far beyond, also after a redirect."""
    assert ask({}, "http://127.0.0.1/" + "a" * 2_000_000)[0].kind is Kind.INVALID_URL
    assert normalise("http://a.example/" + "a" * (2083 - 17)) is not None
    assert normalise("http://a.example/" + "a" * (2083 - 16)) is None
    assert ask({"/": redirect("/" + "a" * 5_000)})[0].kind is Kind.BAD_REDIRECT


def test_case_15_escapes_are_normalised_once() -> None:
    """Escaped dots are dots, doubly escaped ones stay as they are, and normalising again changes nothing."""
    assert normalise("http://a.example/x/%2e%2e/y") == "http://a.example/y"
    assert normalise("http://a.example/x/%252e%252e/y") == "http://a.example/x/%252e%252e/y"
    assert normalise("http://a.example/%7euser/%c3%a4") == "http://a.example/~user/%C3%A4"
    for text in ("http://a.example/%%34%31", "http://a.example/%25%34%31", "http://a.example/100%"):
        once = normalise(text)
        assert once is not None
        assert normalise(once) == once


def test_case_16_spellings_of_one_page_are_one_page() -> None:
    """Fragment, case of scheme and host, default port and empty query make no second page."""
    spellings = ["http://Example.org", "HTTP://EXAMPLE.ORG:80/", "http://example.org/#top", "http://example.org/?"]
    assert {normalise(text) for text in spellings} == {"http://example.org/"}
    assert normalise("http://example.org/A") != normalise("http://example.org/a")
    assert normalise("http://example.org/?a") != normalise("http://example.org/")


def test_case_17_trailing_dot_is_the_same_host() -> None:
    """example.org. and example.org are one host."""
    assert normalise("http://example.org./x") == "http://example.org/x"
    assert normalise("http://example.org.:8080/x") == "http://example.org:8080/x"
    assert registrable_domain("www.example.co.uk") == "example.co.uk"


def test_settings_that_are_no_network_say_so() -> None:
    """A mistyped network in the settings is one clear line, not a hole in the guard."""
    with pytest.raises(InputError, match="not a network"):
        Guard(ManualClock(), allow_networks=["localhost"])
    with pytest.raises(InputError, match="connect_to"):
        Guard(ManualClock(), connect_to=[("*.test", "somewhere")])
