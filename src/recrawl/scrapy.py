"""Scrapy: let a spider's pages be visited in the order, and as often, as a policy says.

    ADDONS = {"recrawl.scrapy.Addon": 500}   # in settings.py; all below is optional
    RECRAWL_DIR = "crawl"                    # where visits are remembered from run to run
    RECRAWL_BUDGET = 2000                    # requests of a run; 0: what recrawl.toml says; not set: every page once
    RECRAWL_ONLY_CHANGED = True              # callbacks and items only for new and changed pages
    RECRAWL_POLICY = "learned"
    RECRAWL_URL = "http://127.0.0.1:8600"    # instead of RECRAWL_DIR: a `recrawl serve` that several processes share
    RECRAWL_TOKEN = "..."                    # of that server, where it has one

Plain GET requests of the spider become pages; the policy chooses which of all pages ever seen are fetched. What cannot
be kept as JSON (bodies, cookies, callbacks that are not methods), `meta={"recrawl": False}`, retries and redirects go
to the project's own scheduler. A visit is recorded when its items are through the pipelines, so that a killed run
fetches again what it had not finished.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from recrawl.live.planned_run import PlannedRun
from recrawl.live.reported import Seen
from recrawl.urls.url import normalise
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.planner import PlannedVisit

PAGE, URL = "recrawl_page", "recrawl_url"  # of planned requests, in their meta
NOT_KEPT = ("is_start_request", "download_slot", "download_latency", "download_timeout", PAGE, URL)
NAME = "recrawl.scrapy."


class Addon:
    """The one line: sets scheduler and middlewares; the scheduler that was set before is asked for other requests."""

    def update_settings(self, settings: Any) -> None:
        """Add recrawl to a project's settings."""
        if settings.get("SCHEDULER") != NAME + "PlannedScheduler":
            settings.set("RECRAWL_SCHEDULER", settings.get("SCHEDULER"), "addon")
            priority = max(settings.getpriority("SCHEDULER") or 0, 15)
            settings.set("SCHEDULER", NAME + "PlannedScheduler", priority)
        settings["DOWNLOADER_MIDDLEWARES"][NAME + "VisitMiddleware"] = 50
        settings["SPIDER_MIDDLEWARES"][NAME + "OutputMiddleware"] = 50


class PlannedScheduler:
    """Gives Scrapy the pages that the planner chooses; other requests are those of the project's scheduler."""

    def __init__(self, crawler: Any) -> None:
        from scrapy import signals
        from scrapy.utils.misc import build_from_crawler, load_object

        self.run = PlannedRun.of(crawler)
        crawler.signals.connect(self.say_why, signal=signals.spider_idle)
        name = crawler.settings.get("RECRAWL_SCHEDULER") or "scrapy.core.scheduler.Scheduler"
        self.others = build_from_crawler(load_object(name), crawler)
        self.stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Any) -> PlannedScheduler:
        """Make one for a crawler."""
        return cls(crawler)

    def open(self, spider: Any) -> Any:
        """Begin a run."""
        self.spider = spider
        self.run.open()
        return self.others.open(spider) if hasattr(self.others, "open") else None

    def close(self, reason: str) -> Any:
        """End the run."""
        self.run.close(reason)
        return self.others.close(reason) if hasattr(self.others, "close") else None

    def say_why(self) -> None:
        """Let a run that ended before its time close the spider with the reason."""
        if self.run.ended_by:
            from scrapy.exceptions import CloseSpider

            raise CloseSpider(self.run.ended_by)

    def has_pending_requests(self) -> bool:
        """Whether there is anything to fetch now."""
        return bool(self.others.has_pending_requests()) or self.run.has_more()

    def enqueue_request(self, request: Any) -> bool:
        """Take a request: a page for the planner, or one for the project's scheduler; none where there is no run."""
        if not self.run.is_open:
            return False
        kept = self._as_json(request)
        url = normalise(request.url)
        if kept is not None and url is not None:
            self.run.take(url, kept)
            return True
        if PAGE not in request.meta:
            self.stats.inc_value("recrawl/passed")
        return bool(self.others.enqueue_request(request))

    def next_request(self) -> Any:
        """Return what to fetch next, None for now."""
        request = self.others.next_request()
        if request is not None:
            return request
        visit = self.run.next()
        return None if visit is None else self._request(visit)

    def _as_json(self, request: Any) -> str | None:
        """Return what is kept of a request; None where it is not one for the planner."""
        meta = request.meta
        if meta.get("recrawl") is False or PAGE in meta or request.method != "GET" or request.body or request.cookies:
            return None
        if request.dont_filter and not meta.get("is_start_request"):
            return None
        try:
            stored = request.to_dict(spider=self.spider)
            return json.dumps(
                {
                    "callback": stored["callback"],
                    "errback": stored["errback"],
                    "headers": {
                        name.decode("latin-1"): [value.decode("latin-1") for value in values]
                        for name, values in request.headers.items()
                    },
                    "meta": {name: value for name, value in meta.items() if name not in NOT_KEPT},
                    "cb_kwargs": request.cb_kwargs,
                },
                sort_keys=True,
            )
        except (TypeError, ValueError):
            return None

    def _request(self, visit: PlannedVisit) -> Any:
        from scrapy import Request

        stored = json.loads(self.run.request_of(visit) or "{}")
        return Request(
            visit.url,
            callback=self._method(stored.get("callback")),
            errback=self._method(stored.get("errback")),
            headers={**stored.get("headers", {}), **visit.validators},
            meta={**stored.get("meta", {}), PAGE: visit.page, URL: visit.url},
            cb_kwargs=stored.get("cb_kwargs"),
        )

    def _method(self, name: str | None) -> Any:
        return None if name is None else getattr(self.spider, name, None)


class VisitMiddleware:
    """A downloader middleware: judges every answer to a planned request."""

    def __init__(self, crawler: Any) -> None:
        self.run = PlannedRun.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Any) -> VisitMiddleware:
        """Make one for a crawler."""
        return cls(crawler)

    def process_response(self, request: Any, response: Any, **_: Any) -> Any:
        """Judge an answer; with RECRAWL_ONLY_CHANGED, keep what is not new from the callbacks."""
        if PAGE not in request.meta:
            return response
        outcome = self.run.judge(
            request.meta[PAGE],
            Seen(
                request.meta[URL],
                body=response.body if response.status == 200 else None,
                status=response.status,
                etag=_header(response, "ETag"),
                last_modified=_header(response, "Last-Modified"),
                headers=(("content-type", _header(response, "Content-Type")),),
            ),
        )
        if outcome is None or (self.run.only_changed and outcome not in (Outcome.FIRST, Outcome.CHANGED)):
            from scrapy.exceptions import IgnoreRequest

            raise IgnoreRequest(f"recrawl: {'not compared' if outcome is None else outcome.name.lower()}")
        return response

    def process_exception(self, request: Any, exception: Exception, **_: Any) -> None:
        """Record a visit without an answer."""
        if PAGE in request.meta:
            self.run.judge(request.meta[PAGE], Seen(request.meta[URL], outcome=Outcome.FAILED))


class OutputMiddleware:
    """A spider middleware: notes when a visit's items are through, so that none is lost by kill -9."""

    def __init__(self, crawler: Any) -> None:
        from scrapy import signals

        self.run = PlannedRun.of(crawler)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_done, signal=signal)
        crawler.signals.connect(self.callback_failed, signal=signals.spider_error)

    @classmethod
    def from_crawler(cls, crawler: Any) -> OutputMiddleware:
        """Make one for a crawler."""
        return cls(crawler)

    def process_spider_output(self, response: Any, result: Iterable[Any], **_: Any) -> Iterator[Any]:
        """Count a callback's items, and note its end."""
        page = _page(response)
        for each in result:
            self._count(page, each)
            yield each
        self.run.callback_ended(page)

    async def process_spider_output_async(
        self, response: Any, result: AsyncIterator[Any], **_: Any
    ) -> AsyncIterator[Any]:
        """Count a callback's items, and note its end."""
        page = _page(response)
        async for each in result:
            self._count(page, each)
            yield each
        self.run.callback_ended(page)

    def _count(self, page: int | None, each: Any) -> None:
        from scrapy import Request

        if each is not None and not isinstance(each, Request):
            self.run.more_items(page, 1)

    def item_done(self, response: Any) -> None:
        """An item is through the pipelines, or dropped."""
        self.run.more_items(_page(response), -1)

    def callback_failed(self, response: Any) -> None:
        """A callback raised."""
        self.run.callback_failed(_page(response))


def _page(response: Any) -> int | None:
    request = getattr(response, "request", None)
    return None if request is None else request.meta.get(PAGE)


def _header(response: Any, name: str) -> str:
    return str((response.headers.get(name) or b"").decode("latin-1"))
