"""The planner of a `recrawl serve`, for one of several crawler processes that share it.

The server holds the crawl: its recrawl.toml says policy, cycle and budget, and no two processes get the same page. What
a process that died had leased is offered to the others when the leases end.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

from recrawl.client import Client
from recrawl.errors import ServerError
from recrawl.live.planner import PlannedVisit
from recrawl.live.reported import Refusal, Seen, outcome_named
from recrawl.plan import UNLIMITED
from recrawl.visits import Outcome

log = logging.getLogger(__name__)
LEASE_S = 1_800.0
ASK_AGAIN_S = 5.0  # after an answer without pages, while nothing is reported
MOST_BODY_BYTES = 16 << 20  # a longer one is compared by its digest
MOST_ADDED_BYTES = 500_000  # of requests sent at once


class ServedSchedule:
    """Asks a server for pages, and reports to it."""

    def __init__(self, url: str, token: str | None, budget: int | None) -> None:
        self.left = budget or UNLIMITED
        self._client = Client(url, token)
        self._client.look("status")  # a wrong URL or token ends the run before it begins
        self._requests: dict[int, str | None] = {}
        self._leases: dict[str, int] = {}
        self._ask_at = 0.0

    def add(self, urls: Sequence[str], requests: Sequence[str]) -> None:
        """Add pages with how they are asked for; what is outside the crawl's scope stays outside."""
        for part in _parts([len(url) + len(text) for url, text in zip(urls, requests, strict=True)], MOST_ADDED_BYTES):
            told = self._client.add(urls[part], [json.loads(text) for text in requests[part]])
            if told["out_of_scope"]:
                log.info("recrawl: %d URLs are outside the crawl's scope", told["out_of_scope"])
            if told["new"]:
                self._ask_at = 0.0

    def next(self, most: int) -> Sequence[PlannedVisit]:
        """Lease pages; after an answer without any, the server is asked again only after a report or some seconds."""
        if time.monotonic() < self._ask_at:
            return []
        rows = self._client.next(most, lease_s=LEASE_S)
        if not rows:
            self._ask_at = time.monotonic() + ASK_AGAIN_S
        return [self._visit(row) for row in rows]

    def _visit(self, row: dict[str, Any]) -> PlannedVisit:
        self._requests[row["page"]] = None if row["request"] is None else json.dumps(row["request"])
        self._leases[row["url"]] = row["lease"]
        stated = {"If-None-Match": row["etag"], "If-Modified-Since": row["last_modified"]}
        validators = {name: value for name, value in stated.items() if value}
        return PlannedVisit(row["url"], row["page"], row["rank"], row["score"], validators, row["lease"])

    def request_of(self, page: int) -> str | None:
        """Return how a page is asked for."""
        return self._requests.pop(page, None)

    def judge(self, seen: Seen) -> tuple[Outcome, Seen]:
        """Let the server compare a visit with its copy; what needs no copy is not asked."""
        outcome = Outcome.UNCHANGED if seen.status == 304 else outcome_named(seen.outcome)
        if outcome is None:
            outcome = outcome_named(self._client.judge(_row(seen)))
        assert outcome is not None, "the server names an outcome"
        return outcome, seen

    def report(self, seen: Sequence[Seen]) -> Sequence[Refusal]:
        """Record visits."""
        refused: list[Refusal] = []
        for part in _parts([len(each.body or b"") for each in seen], MOST_BODY_BYTES):
            sent = seen[part]
            told = self._client.report([_row(each) for each in sent], discover=False)
            for each in told["refused"]:
                number = each["line"] - 1
                refused.append(Refusal(part.start + number, sent[number].url, each["why"]))
            for each_seen in sent:
                self._leases.pop(each_seen.url, None)
        self._ask_at = 0.0
        return refused

    def close(self, *, finished: bool) -> None:
        """Give back what is leased and was not visited; the cycle ends by its own budget and time."""
        for lease in self._leases.values():
            try:
                self._client.release(lease)
            except ServerError as error:
                if error.status != 404:  # it has ended, or its page was reported by another process
                    log.warning("recrawl: %s", error)
                    return


def _row(seen: Seen) -> dict[str, Any]:
    """Return a report as the server reads it."""
    row: dict[str, Any] = {"url": seen.url, "status": seen.status or None}
    outcome = outcome_named(seen.outcome)
    if outcome is not None:
        row["outcome"] = outcome.name.lower()
    if seen.body is not None and len(seen.body) > MOST_BODY_BYTES:
        row["digest"] = hashlib.sha256(seen.body).hexdigest()
    elif seen.body:
        row |= {
            "body_base64": base64.b64encode(seen.body).decode(),
            "content_type": dict(seen.headers).get("content-type"),
        }
    elif seen.body is not None:
        row["digest"] = "empty"
    row |= {"etag": seen.etag or None, "last_modified": seen.last_modified or None}
    return {name: value for name, value in row.items() if value is not None}


def _parts(sizes: Sequence[int], most: int) -> Iterator[slice]:
    """Yield slices of at most so much, or of one."""
    start, size = 0, 0
    for i, each in enumerate(sizes):
        if i > start and size + each > most:
            yield slice(start, i)
            start, size = i, 0
        size += each
    if sizes:
        yield slice(start, len(sizes))
