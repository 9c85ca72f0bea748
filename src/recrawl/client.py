"""A client of `recrawl serve` in the standard library: what to visit next, and what visits found.

    client = Client("http://127.0.0.1:8600")
    client.add(["https://example.org/"])
    for page in client.next(100, wait_s=20):
        client.report([{"url": page["url"], "lease": page["lease"], "status": 200, "digest": "..."}])

`report` may be repeated with the same `key` after a connection broke: it is recorded once.
"""

from __future__ import annotations

import gzip
import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from urllib.parse import urlencode, urlsplit

from recrawl.errors import InputError

Json = dict[str, Any]
AT_ONCE = 10_000  # visits or URLs in a request
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServerError(InputError):
    """The server refused a request, or cannot be reached; `status` is 0 for the latter."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Client:
    """Asks a server; not for use by several threads at once."""

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 90.0) -> None:
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s
        own = urlsplit(self.url).hostname in LOOPBACK  # never by the proxy that http_proxy names for pages
        self._opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if own else []))
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def add(self, urls: Sequence[str], requests: Sequence[Any] | None = None) -> Json:
        """Add pages, each with what `next` is to say of how to ask for it."""
        asked = {"urls": list(urls)} | ({} if requests is None else {"requests": list(requests)})
        return dict(json.loads(self._ask("POST", "/v1/pages", json.dumps(asked).encode(), "application/json")))

    def next(self, most: int = 100, *, per_host: int = 0, lease_s: float = 600, wait_s: float = 0) -> list[Json]:
        """Lease the pages to visit now, best first; wait so long for some to be due."""
        query = {"budget": most, "per_host": per_host, "lease": lease_s, "wait": wait_s}
        return self._lines("/v1/next", query)

    def judge(self, visit: Json) -> str:
        """Return what a visit found (first, changed, unchanged, gone, failed), without recording it."""
        body, kind = json.dumps(visit).encode(), "application/json"
        told = json.loads(self._ask("POST", "/v1/visits?record=no", body, kind))
        if told["refused"]:
            raise ServerError(200, f"{visit.get('url')}: {told['refused'][0]['why']}")
        return str(next(iter(told["outcomes"])))

    def report(self, visits: Iterable[Json], *, key: str = "", discover: bool = True) -> Json:
        """Report visits; returns how many were recorded and folded, and which were refused, by their number from 1."""
        path = f"/v1/visits?discover={'yes' if discover else 'no'}"
        rest, part = iter(visits), 0
        told: Json = {"recorded": 0, "folded": 0, "refused": []}
        while lines := [json.dumps(visit) for visit in islice(rest, AT_ONCE)]:
            body = gzip.compress("\n".join(lines).encode(), 1)
            headers = {"Content-Encoding": "gzip"} | ({"Idempotency-Key": f"{key}-{part}"} if key else {})
            answer = json.loads(self._ask("POST", path, body, "application/x-ndjson", headers))
            told["recorded"] += answer["recorded"]
            told["folded"] += answer["folded"]
            told["refused"] += [{**each, "line": each["line"] + part * AT_ONCE} for each in answer["refused"]]
            part += 1
        return told

    def release(self, lease: int) -> None:
        """Give a page back that will not be visited."""
        self._ask("DELETE", f"/v1/leases/{int(lease)}")

    def status(self) -> Json:
        """Return how the crawl stands, in numbers."""
        return dict(json.loads(self._ask("GET", "/v1/status")))

    def plan(self, most: int = 1000) -> list[Json]:
        """Return what would be visited next and why, without leasing it."""
        return self._lines("/v1/plan", {"most": most})

    def page(self, url: str) -> Json:
        """Return one page's visits, its last change, and its next visit and why."""
        return dict(json.loads(self._ask("GET", f"/v1/page?{urlencode({'url': url})}")))

    def feed(self, after: str | int = 0, *, wait_s: float = 0, **query: Any) -> Iterator[Json]:
        """Yield events after a cursor; `types`, `limit` and with_ (contents) as the server takes them."""
        asked = {name.rstrip("_"): value for name, value in query.items()}
        yield from self._lines("/v1/feed", {"after": after, "wait": wait_s, **asked})

    def _lines(self, path: str, query: Json) -> list[Json]:
        return [json.loads(line) for line in self._ask("GET", f"{path}?{urlencode(query)}").splitlines()]

    def _ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", headers: dict[str, str] | None = None
    ) -> bytes:
        sent = {**self._headers, **(headers or {}), **({"Content-Type": kind} if kind else {})}
        request = urllib.request.Request(self.url + path, body, sent, method=method)
        try:
            with self._opener.open(request, timeout=self.timeout_s) as response:
                return bytes(response.read())
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            with suppress(ValueError, TypeError, KeyError):
                said = json.loads(said)["error"]
            raise ServerError(error.code, f"{self.url}{path.partition('?')[0]}: {error.code} {said[:300]}") from None
        except OSError as error:
            raise ServerError(0, f"{self.url} cannot be reached: {getattr(error, 'reason', error)}") from None
