"""Cookies, a jar per site: what one site sets is never sent to another.

A site is a registrable domain (example.co.uk) or an address. Domain, path, Secure and expiry are those of RFC 6265, by
aiohttp's jar. A jar lives as long as the fetcher: a crawl that is run again begins without cookies.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

import aiohttp
from yarl import URL

from recrawl.fetch.outcome import Headers
from recrawl.urls.url import Url, registrable_domain

SITES = 10_000  # whose jars are kept
MOST = 50  # cookies of a site
MOST_BYTES = 4_096  # of a Set-Cookie header that is taken, and of the Cookie header that is sent


class Cookies:
    """The jars of all sites."""

    def __init__(self) -> None:
        self._jars: dict[str, aiohttp.CookieJar] = {}

    def header(self, url: Url) -> str:
        """Return what the site of a URL wants to hear; empty: nothing."""
        jar = self._jars.get(registrable_domain(url.host))
        if jar is None:
            return ""
        cookies = jar.filter_cookies(URL(url.href, encoded=True)).values()
        text = "; ".join(f"{cookie.key}={cookie.coded_value}" for cookie in cookies)
        return text if len(text) <= MOST_BYTES else ""

    def take(self, url: Url, headers: Headers) -> None:
        """Keep what an answer sets."""
        set_now = [value for name, value in headers if name == "set-cookie" and len(value) <= MOST_BYTES]
        if not set_now:
            return
        site = registrable_domain(url.host)
        jar = self._jars.pop(site, None) or aiohttp.CookieJar(unsafe=True)  # addresses have cookies, too: of their own
        self._jars[site] = jar
        if len(self._jars) > SITES:
            del self._jars[next(iter(self._jars))]
        for value in set_now[:MOST]:
            try:
                cookie = SimpleCookie(value)
            except CookieError:
                continue
            if len(jar) + len(cookie) <= MOST or all(_has(jar, name) for name in cookie):
                jar.update_cookies(cookie, URL(url.href, encoded=True))


def _has(jar: aiohttp.CookieJar, name: str) -> bool:
    return any(cookie.key == name for cookie in jar)
