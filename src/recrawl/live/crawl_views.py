"""Look at a live crawl from Python, also while another process crawls: status, pages, what changed and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from recrawl.clock import Clock, SystemClock
from recrawl.errors import InputError
from recrawl.live import choice
from recrawl.live.crawl_results import CrawledPage
from recrawl.live.directory import CrawlDirectory
from recrawl.live.fleet.alive_workers import alive_workers
from recrawl.live.store import Store, one_line_errors
from recrawl.live.store_history import ALL, PageFilter
from recrawl.plan import Plan
from recrawl.spans import budget_of, days_of

if TYPE_CHECKING:
    from recrawl.live.feed import Event
    from recrawl.recording.recording import Recording

REPLAYED_UNASKED = 100_000  # visits; replaying them takes about a second
Amount = str | float | None  # as text (12h, 5%) or as a number; None: the crawl's own setting


class CrawlViews:
    """What can be seen of a crawl; nothing here changes it."""

    def __init__(self, directory: CrawlDirectory, clock: Clock | None = None) -> None:
        self.directory = directory
        self._clock = clock or SystemClock()

    def is_held(self) -> bool:
        """Whether a process crawls now."""
        return self.directory.is_locked()

    def steering(self, policy: str | None = None, every: Amount = None, budget: Amount = None) -> tuple[str, Plan]:
        """Return the policy and the plan of the next run: the crawl's own settings where nothing else is given."""
        config = self.directory.config()
        try:
            every_days, visits = days_of(config.every), budget_of(config.budget)
        except InputError as error:
            raise InputError(f"{self.directory.path / 'recrawl.toml'}: {error}") from None
        plan = Plan(
            every_days if every is None else days_of(every),
            visits if budget is None else budget_of(budget),
            config.warmup,
            config.site_cap,
            config.seed,
            discovery=config.discovery,
        )
        return policy if policy and policy != choice.AUTO else choice.resolve(self.directory, policy), plan

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Open the store to read one moment of the crawl, whatever is recorded meanwhile."""
        store = self.directory.open_store(read_only=True)
        try:
            with one_line_errors(self.directory.state):
                store.read_one_moment()
                yield store
        finally:
            store.close()

    def status(self) -> dict[str, Any]:
        """Return the state of the crawl in numbers."""
        learnt = choice.load(self.directory)
        running = self.is_held()
        with self.reading() as store:
            numbers = {**store.status(), "barred": store.count_barred(), "notes": store.notes()}
            numbers["feeds"] = store.feed_problems()
            workers = alive_workers(self.directory, store)
            if workers is not None:
                numbers["workers"] = workers
        numbers["next_due_at"] = self._next_due_at(numbers["cycle"])
        return {**numbers, "running": running, "learnt": None if learnt is None else learnt["policy"]}

    def _next_due_at(self, cycle: dict[str, Any] | None) -> float | None:
        """When the next cycle is due by the settings; None where there was none, or one is not done."""
        with suppress(InputError):  # a crawl can be looked at whatever its settings say
            if cycle is not None and cycle["done"]:
                return float(cycle["at"]) + days_of(self.directory.config().every)
        return None

    def pages(
        self,
        contains: str = "",
        *,
        changed: bool = False,
        since: float | None = None,
        sort: str = "changes",
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Return pages with what their visits found; `contains` filters by a part of the URL.

        With `since` (days since 1970) only pages visited from then on, and with `changed` those found changed since.
        """
        if limit is not None and not 0 <= limit < ALL:
            raise InputError(f"a limit of {limit} pages; take 0 for all, or more")
        with self.reading() as store:
            return store.pages(PageFilter(contains, changed, since, sort, limit))

    def page(
        self,
        url: str,
        *,
        policy: str | None = None,
        every: Amount = None,
        budget: Amount = None,
        why: bool | None = None,
    ) -> CrawledPage:
        """Return one page's story, with the next visit and why (`.why`) by the policy that steers.

        For that all visits are replayed; in a crawl of more than 100,000 visits only where `why` is True.
        """
        from recrawl.live.views import show

        with self.reading() as store:
            story = show(self.directory, store, url)
            if why is False or (why is None and store.status()["visits"] > REPLAYED_UNASKED):
                return CrawledPage(story, None)
            from recrawl.live.forecast import forecast

            return CrawledPage(story, forecast(store, story.page, *self.steering(policy, every, budget)))

    def feed(
        self,
        since: str | float | None = None,
        *,
        types: Collection[str] = ("new", "changed", "gone"),
        include: Collection[str] = (),
    ) -> Iterator[Event]:
        """Yield what was found since: events as JSON objects (docs/event.schema.json), oldest first.

        `since` is an event's id, a time ("2026-11-16T12:00Z") or a span ("1d"); None: from the beginning. `include`
        asks for contents of the pages: "diff", "added", "removed", "text", "markdown", "links_added", "change".
        """
        from recrawl.live.feed import EventFeed

        start = None if since is None else str(since)
        feed = EventFeed(self.directory.path, start, types=types, include=include, now=self._clock.now)
        try:
            yield from feed
        finally:
            feed.close()

    def text_at(self, url: str, at: float) -> tuple[float, str]:
        """Return the version of a page that was current at a time: when it was fetched, and its main text."""
        from recrawl.live.views import text_at

        with self.reading() as store:
            return text_at(self.directory, store, url, at)

    def diff(self, url: str, old: int = -2, new: int = -1) -> dict[str, Any]:
        """Return what changed in a page's main text between two versions, counted from 1, or back from -1."""
        from recrawl.live.views import diff

        with self.reading() as store:
            return diff(self.directory, store, url, old, new)

    def history(self) -> Recording:
        """Return the crawl's history as a recording in memory."""
        from recrawl.live.history_export import to_tables
        from recrawl.recording.recording import Recording

        with self.reading() as store:
            return Recording.from_arrays(to_tables(store), self.directory.path.absolute().name)
