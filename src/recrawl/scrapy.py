"""Scrapy: let a spider's pages be visited in the order, and as often, as a policy says.

    ADDONS = {"recrawl.scrapy.Addon": 500}   # in settings.py; all below is optional
    RECRAWL_DIR = "crawl"                    # where visits are remembered from run to run
    RECRAWL_BUDGET = 2000                    # requests of a run; 0: what recrawl.toml says; not set: every page once
    RECRAWL_ONLY_CHANGED = True              # callbacks and items only for new and changed pages
    RECRAWL_POLICY = "learned"

Plain GET requests of the spider become pages; the policy chooses which of all pages ever seen are fetched. What cannot
be kept as JSON (bodies, cookies, callbacks that are not methods), `meta={"recrawl": False}`, retries and redirects go
to the project's own scheduler. A visit is recorded when its items are through the pipelines, so that a killed run
fetches again what it had not finished.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from recrawl.live.reported import Seen
from recrawl.urls.url import normalise
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.planner import PlannedVisit, Planner

log = logging.getLogger(__name__)
AT_ONCE = 32  # pages leased at a time
GROUP = 20  # reports recorded together
LEASE_S = 86_400.0
UNLIMITED = 2**31 - 1
PAGE, URL = "recrawl_page", "recrawl_url"  # of planned requests, in their meta
NOT_KEPT = ("is_start_request", "download_slot", "download_latency", "download_timeout", PAGE, URL)
NAME = "recrawl.scrapy."


class Addon:
    """The one line: sets scheduler and middlewares; the scheduler that was set before is asked for other requests."""

    def update_settings(self, settings: Any) -> None:
        """Put recrawl into a project's settings."""
        if settings.get("SCHEDULER") != NAME + "PlannedScheduler":
            settings.set("RECRAWL_SCHEDULER", settings.get("SCHEDULER"), "addon")
            priority = max(settings.getpriority("SCHEDULER") or 0, 15)
            settings.set("SCHEDULER", NAME + "PlannedScheduler", priority)
        settings["DOWNLOADER_MIDDLEWARES"][NAME + "VisitMiddleware"] = 50
        settings["SPIDER_MIDDLEWARES"][NAME + "OutputMiddleware"] = 50


@dataclass
class _Held:
    """A visit whose items are on their way."""

    seen: Seen
    items: int = 0  # that the callback gave and that are not through the pipelines yet
    ended: bool = False  # the callback has


class PlannedRun:
    """One run of a spider on a planner: what its scheduler and its middlewares share."""

    _runs: ClassVar[WeakKeyDictionary[Any, PlannedRun]] = WeakKeyDictionary()
    planner: Planner

    def __init__(self, crawler: Any) -> None:
        self.settings = crawler.settings
        self.stats = crawler.stats
        self.only_changed = self.settings.getbool("RECRAWL_ONLY_CHANGED")
        self.left = UNLIMITED
        self._queue: deque[PlannedVisit] = deque()
        self._new: dict[str, str] = {}  # requests that the spider gave: URL, JSON
        self._kept: dict[str, str] = {}  # ... and that are in the store
        self._held: dict[int, _Held] = {}
        self._reports: list[Seen] = []

    @classmethod
    def of(cls, crawler: Any) -> PlannedRun:
        """Return the run of a crawler."""
        if crawler not in cls._runs:
            cls._runs[crawler] = cls(crawler)
        return cls._runs[crawler]

    def open(self) -> None:
        """Open the planner; go on with a cycle that was cut, or begin one where a run is a cycle."""
        from recrawl.live.planner import Planner

        budget = self.settings.get("RECRAWL_BUDGET")
        budget = UNLIMITED if budget is None else int(budget)
        self.planner = planner = Planner.open(
            self.settings.get("RECRAWL_DIR", "crawl"),
            policy=self.settings.get("RECRAWL_POLICY"),
            budget=budget or None,
            discover=False,
        )
        planner.release_all()  # whoever had leases is gone: one process holds the planner
        if budget:
            if planner.cycle is None or planner.cycle.done or planner.is_over():
                planner.begin(budget=budget)
            planner.by_time = False
            assert planner.cycle is not None, "a cycle has begun"
            self.left = planner.cycle.budget - planner.store.visits_in(planner.cycle.cycle)
        log.info("recrawl: %d pages known, policy %s", len(planner.store.index), planner.policy_name)

    def take(self, url: str, request: str) -> None:
        """Take a request that the spider gave."""
        if self._kept.get(url) != request:
            self._new[url] = request

    def next(self) -> PlannedVisit | None:
        """Return the next page to fetch."""
        return self._queue.popleft() if self.has_more() else None

    def has_more(self) -> bool:
        """Whether there is a page to fetch now."""
        if self._queue:
            return True
        self._keep_requests()
        if self.left > 0:
            self._report_all()
            self._queue += self.planner.next(min(AT_ONCE, self.left), lease_s=LEASE_S)
            self.left -= len(self._queue)
        return bool(self._queue)

    def _keep_requests(self) -> None:
        if not self._new:
            return
        urls = list(self._new)
        pages = self.planner.add_requests(urls, [self._new[url] for url in urls])
        assert len(pages) == len(urls)
        self._kept.update(self._new)
        self._new.clear()

    # -- visits -------------------------------------------------------------------------------------------------------

    def judge(self, seen: Seen) -> Outcome:
        """Say what a visit found, and count it."""
        judged = self.planner.judge(seen)
        assert judged.record is not None, "judged"
        outcome = Outcome(judged.record.outcome)
        self.stats.inc_value(f"recrawl/{outcome.name.lower()}")
        if outcome in (Outcome.FIRST, Outcome.CHANGED):
            self._held[judged.record.page] = _Held(judged)
        else:
            self.report(judged)
        return outcome

    def report(self, seen: Seen) -> None:
        """Record a visit, with others."""
        self._reports.append(seen)
        if len(self._reports) >= GROUP:
            self._report_all()

    def _report_all(self) -> None:
        reports, self._reports = self._reports, []
        if reports:
            for refusal in self.planner.report(reports).refused:
                log.warning("recrawl: %s: %s", refusal.url, refusal.why)

    def more_items(self, page: int | None, count: int) -> None:
        """Note items that a callback gave, or (negative) that are through the pipelines."""
        if page in self._held:
            self._held[page].items += count
            self._settle(page)

    def callback_ended(self, page: int | None) -> None:
        """Note that a callback has given everything."""
        if page in self._held:
            self._held[page].ended = True
            self._settle(page)

    def _settle(self, page: int) -> None:
        held = self._held[page]
        if held.ended and held.items <= 0:
            self.report(self._held.pop(page).seen)

    def callback_failed(self, page: int | None) -> None:
        """Note that a callback raised: our copy stays the old one, so the next run sees the change again."""
        if page in self._held:
            seen = self._held.pop(page).seen
            self.report(Seen(seen.url, at=seen.at, outcome=Outcome.FAILED, status=seen.status))

    def close(self, reason: str) -> None:
        """Record what is done, give back what is not, and end the cycle if the run came to its end."""
        self._keep_requests()
        self._reports += [held.seen for held in self._held.values() if held.ended]
        self._report_all()
        self.planner.release_all()
        if reason == "finished":
            self.planner.finish()
        self.planner.close()


class PlannedScheduler:
    """Gives Scrapy the pages that the planner chooses; other requests are those of the project's scheduler."""

    def __init__(self, crawler: Any) -> None:
        from scrapy.utils.misc import build_from_crawler, load_object

        self.run = PlannedRun.of(crawler)
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

    def has_pending_requests(self) -> bool:
        """Whether there is anything to fetch now."""
        return bool(self.others.has_pending_requests()) or self.run.has_more()

    def enqueue_request(self, request: Any) -> bool:
        """Take a request: a page for the planner, or one for the project's scheduler."""
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
            told = request.to_dict(spider=self.spider)
            return json.dumps(
                {
                    "callback": told["callback"],
                    "errback": told["errback"],
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

        told = json.loads(self.run.planner.store.request_of(visit.page) or "{}")
        return Request(
            visit.url,
            callback=self._method(told.get("callback")),
            errback=self._method(told.get("errback")),
            headers={**told.get("headers", {}), **visit.validators},
            meta={**told.get("meta", {}), PAGE: visit.page, URL: visit.url},
            cb_kwargs=told.get("cb_kwargs"),
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
            Seen(
                request.meta[URL],
                body=response.body if response.status == 200 else None,
                status=response.status,
                etag=_header(response, "ETag"),
                last_modified=_header(response, "Last-Modified"),
                headers=(("content-type", _header(response, "Content-Type")),),
            )
        )
        if self.run.only_changed and outcome not in (Outcome.FIRST, Outcome.CHANGED):
            from scrapy.exceptions import IgnoreRequest

            raise IgnoreRequest(f"recrawl: {outcome.name.lower()}")
        return response

    def process_exception(self, request: Any, exception: Exception, **_: Any) -> None:
        """Record a visit without an answer."""
        if PAGE in request.meta:
            self.run.judge(Seen(request.meta[URL], outcome=Outcome.FAILED))


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
