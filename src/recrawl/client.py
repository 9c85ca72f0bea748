"""A client of `recrawl serve` in the standard library: what to visit next, and what visits found.

client = Client("http://127.0.0.1:8600")
for page in client.next(100, wait_s=20):
    client.report([{"url": page["url"], "lease": page["lease"], "status": 200, "digest": "..."}])
"""

import gzip
import json
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from http.client import HTTPException
from itertools import islice
from typing import Any
from urllib.parse import urlencode, urlsplit

from recrawl.errors import ServerError as ServerError

AT_ONCE = 10_000  # visits per request
Json = dict[str, Any]


class Client:
    """Asks a server; not for use by several threads at once."""

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 90.0) -> None:
        self.url, self.timeout_s = url.rstrip("/"), timeout_s
        own = urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")  # not by the proxy that pages go by
        self._opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if own else []))
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def add(self, urls: Sequence[str], requests: Sequence[Any] | None = None) -> Json:
        """Add pages, each with what `next` is to say of how to ask for it."""
        return self._ask("POST", "pages", {"urls": urls, "requests": requests})[0]

    def next(self, most: int = 100, *, per_host: int = 0, lease_s: float = 600, wait_s: float = 0) -> list[Json]:
        """Lease the pages to visit now, best first; wait so long for some to be due."""
        return self._ask("GET", "next", budget=most, per_host=per_host, lease=lease_s, wait=wait_s)

    def judge(self, visit: Json) -> str:
        """Return what a visit found (first, changed, unchanged, gone, failed), without recording it."""
        found = self._ask("POST", "visits", visit, record="no")[0]
        if found["refused"]:
            raise ServerError(200, f"{visit.get('url')}: {found['refused'][0]['why']}")
        return str(next(iter(found["outcomes"])))

    def report(self, visits: Iterable[Json], *, key: str = "", discover: bool = True) -> Json:
        """Report visits, recorded once however often they come with a `key`; refused ones are numbered from 1."""
        rest, total = iter(visits), {"recorded": 0, "folded": 0, "refused": []}
        for part, sent in enumerate(iter(lambda: list(islice(rest, AT_ONCE)), [])):
            found = self._ask("POST", "visits", sent, key and f"{key}-{part}", discover="yes" if discover else "no")[0]
            found["refused"] = [{**each, "line": each["line"] + part * AT_ONCE} for each in found["refused"]]
            total = {name: total[name] + found[name] for name in total}
        return total

    def release(self, lease: int) -> None:
        """Give a page back that will not be visited."""
        self._ask("DELETE", f"leases/{int(lease)}")

    def look(self, what: str, **query: Any) -> list[Json]:
        """Return what another GET under /v1 says: look("status"), look("plan", most=9), look("page", url="...")."""
        return self._ask("GET", what, **query)

    def feed(self, after: str | int = 0, *, wait_s: float = 0, **query: Any) -> Iterator[Json]:
        """Yield events after a cursor; `types`, `limit` and with_ (contents) as the server takes them."""
        yield from self._ask("GET", "feed", after=after, wait=wait_s, **{k.rstrip("_"): v for k, v in query.items()})

    def _ask(self, method: str, path: str, sent: Any = None, key: str = "", /, **query: Any) -> list[Json]:
        body = None if sent is None else gzip.compress(json.dumps(sent).encode(), 1)
        kind = {"Content-Type": "application/json", "Content-Encoding": "gzip", "Idempotency-Key": key} if body else {}
        url = f"{self.url}/v1/{path}?{urlencode(query)}"
        try:
            request = urllib.request.Request(url, body, kind | self._headers, method=method)
            with self._opener.open(request, timeout=self.timeout_s) as answer:
                return [json.loads(line) for line in answer.read().splitlines()]
        except urllib.request.HTTPError as error:
            line = error.read(999).decode(errors="replace").removeprefix('{"error": "').removesuffix('"}')
            raise ServerError(error.code, f"{self.url}/v1/{path}: {error.code} {line[:300]}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise ServerError(0, f"{self.url} cannot be reached: {getattr(error, 'reason', error)}") from None
