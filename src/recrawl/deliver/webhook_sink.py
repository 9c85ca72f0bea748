"""webhook:URL: events posted as JSON, signed by Standard Webhooks 1.0.

    webhook-id: news.184467                          the same for every try of an event
    webhook-timestamp: 1794830591
    webhook-signature: v1,BASE64(HMAC-SHA256(secret, "{id}.{timestamp}.{body}"))

2xx is taken. 410 disables the sink. Everything else fails, redirects too (a signed body is not sent elsewhere), and is
sent again later; Retry-After is obeyed.
"""

from __future__ import annotations

import hmac
import json
import re
import ssl
import time
from base64 import b64encode
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from recrawl import __version__
from recrawl.deliver.sink import DeliveryError, Sink, SinkSetting, add_sink
from recrawl.live.feed import Event

MAX_ANSWER_BYTES = 64 << 10
MAX_RETRY_AFTER_S = 86_400.0
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]+")
_LOST = (ConnectionError, HTTPException)  # on a kept connection that the other side has closed meanwhile


class WebhookSink(Sink):
    """Posts to one URL over a connection that is kept."""

    def __init__(self, url: str, secret: bytes | None, timeout_s: float) -> None:
        self.url: SplitResult = urlsplit(url)
        if (
            self.url.scheme not in ("http", "https")
            or not self.url.hostname
            or not url.isascii()
            or not url.isprintable()
        ):
            raise ValueError("needs a URL such as https://example.org/hook")
        self.path = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        self.port = self.url.port  # ValueError if it is not a number
        self.secret = secret
        self.timeout_s = timeout_s
        self._connection: HTTPConnection | None = None

    def send(self, events: Sequence[Event]) -> str | None:
        """Post one event as an object, several as a list."""
        body = json.dumps(events[0] if len(events) == 1 else list(events)).encode()
        headers = self._headers(events, body)
        status, retry_after, reason = self._post(body, headers)
        if 200 <= status < 300:
            return None
        raise DeliveryError(f"HTTP {status} {reason}", retry_after_s=_seconds(retry_after), disable=status == 410)

    def _headers(self, events: Sequence[Event], body: bytes) -> dict[str, str]:
        crawl = _NOT_IN_AN_ID.sub("-", events[0]["crawl"])
        last = f"-{events[-1]['id']}" if len(events) > 1 else ""
        name, at = f"{crawl}.{events[0]['id']}{last}", str(int(time.time()))
        headers = {"content-type": "application/json", "user-agent": f"recrawl/{__version__}"}
        headers |= {"webhook-id": name, "webhook-timestamp": at}
        if self.secret is not None:
            headers["webhook-signature"] = sign(self.secret, name, at, body)
        return headers

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, str, str]:
        kept = self._connection is not None
        try:
            return self._ask(body, headers)
        except _LOST as error:
            self.close()
            if not kept:
                raise DeliveryError(f"{type(error).__name__}: {error}") from None
        except OSError as error:
            self.close()
            raise DeliveryError(f"{type(error).__name__}: {error}") from None
        try:
            return self._ask(body, headers)
        except (*_LOST, OSError) as error:
            self.close()
            raise DeliveryError(f"{type(error).__name__}: {error}") from None

    def _ask(self, body: bytes, headers: dict[str, str]) -> tuple[int, str, str]:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request("POST", self.path, body, headers)
        answer: HTTPResponse = self._connection.getresponse()
        if len(answer.read(MAX_ANSWER_BYTES)) >= MAX_ANSWER_BYTES or answer.will_close:
            self.close()
        return answer.status, answer.headers.get("retry-after", ""), answer.reason

    def _connect(self) -> HTTPConnection:
        host = self.url.hostname or ""
        if self.url.scheme == "https":
            context = ssl.create_default_context()
            return HTTPSConnection(host, self.port, timeout=self.timeout_s, context=context)
        return HTTPConnection(host, self.port, timeout=self.timeout_s)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def sign(secret: bytes, name: str, at: str, body: bytes) -> str:
    """Return the signature of a message: v1, HMAC-SHA256 of id, timestamp and body."""
    return "v1," + b64encode(hmac.new(secret, f"{name}.{at}.".encode() + body, sha256).digest()).decode()


def _seconds(retry_after: str) -> float:
    """Read Retry-After: seconds, or a date; 0 where it is missing or unreadable."""
    if retry_after.isascii() and retry_after.isdigit():
        return min(float(retry_after), MAX_RETRY_AFTER_S)
    try:
        wait_s = parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return max(0.0, min(wait_s, MAX_RETRY_AFTER_S))


@add_sink("webhook", formula="webhook:URL", source="Standard Webhooks 1.0")
def make_webhook(setting: SinkSetting, state: str | None) -> Sink:
    """Post events to a URL."""
    return WebhookSink(setting.target, setting.secret, setting.timeout_s)
