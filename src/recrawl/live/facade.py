"""Crawl: a live crawl from Python, in one folder, with everything that the command line can do to it.

with Crawl.create("news") as crawl:
    crawl.add("https://example.org/")
    crawl.run(cycles=1)
    print(crawl.page("https://example.org/").why)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.clock import Clock, SystemClock
from recrawl.errors import InputError
from recrawl.live import choice
from recrawl.live import config as settings
from recrawl.live.crawl_defaults import CANDIDATES, CAVEAT, LEARNT_BY, MEASURES, REPLAYED
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store, told
from recrawl.plan import Plan
from recrawl.progress import Advance, silent
from recrawl.spans import budget_of, days_of

if TYPE_CHECKING:
    from recrawl.live.feed import Event
    from recrawl.live.forecast import Forecast
    from recrawl.live.views import PageStory
    from recrawl.recording.recording import Recording
    from recrawl.report.comparison_report import ComparisonReport

Amount = str | float | None  # as text (12h, 5%) or as a number; None: the crawl's own setting


class RunView:
    """Follows a crawl as it runs: this one shows nothing, and counts what visits found; derive what shows more."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()

    def waiting(self, until: float) -> None:
        """The next cycle is due at `until`."""

    def begin(self, session: Any) -> None:
        """Count from nothing."""
        self._outcomes.clear()

    def visit(self, noted: Any) -> None:
        """Count what a visit found."""
        from recrawl.visits import Outcome

        self._outcomes[Outcome(noted.record.outcome).name.lower()] += 1

    def end(self, session: Any, done: bool) -> None:
        """The cycle has ended, or was told to stop."""

    def say(self, line: str) -> None:
        """Tell the user something."""

    def counts(self) -> dict[str, Any]:
        """The cycle in numbers."""
        return dict(self._outcomes)


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    cycles: int  # that went through
    stopped: bool  # told to stop before its time
    next_due_at: float  # days since 1970-01-01


@dataclass(frozen=True)
class CrawledPage:
    """One page of a crawl: its visits, its last change, and what the policy that steers thinks of it."""

    story: PageStory
    next: Forecast

    @property
    def url(self) -> str:
        """The page's address in normal form."""
        return self.story.url

    @property
    def visits(self) -> list[dict[str, Any]]:
        """What every visit found, oldest first."""
        return self.story.visits

    @property
    def diff(self) -> list[str]:
        """The lines that the last change removed (-) and added (+)."""
        return self.story.diff

    @property
    def why(self) -> str:
        """When the next visit is due and why, as the policy that steers explains it."""
        return self.next.why


class Crawl:
    """A live crawl. Methods that change it hold its lock; readings may go on while another process crawls.

    As a context manager, `run` keeps the crawl open between calls, so that a program that runs it cycle by cycle does
    not rebuild what was learnt each time.
    """

    def __init__(self, directory: CrawlDirectory, clock: Clock | None = None) -> None:
        self.directory = directory
        self._clock = clock or SystemClock()
        self._held: ExitStack | None = None  # open between runs, within a `with`
        self._session: Any = None
        self._steered: tuple[str, Plan] | None = None

    @classmethod
    def create(cls, path: str | Path, config: str | None = None, *, clock: Clock | None = None) -> Crawl:
        """Make a new crawl in a new or empty folder; `config` is the text of its recrawl.toml, if not the default."""
        return cls(CrawlDirectory.init(Path(path), settings.DEFAULT if config is None else config), clock)

    @classmethod
    def open(cls, path: str | Path = ".", *, clock: Clock | None = None) -> Crawl:
        """Open a crawl that is there."""
        return cls(CrawlDirectory.open(Path(path)), clock)

    def __enter__(self) -> Crawl:
        self._held = ExitStack()
        return self

    def __exit__(self, *_: object) -> None:
        self._close_session()
        self._held = None

    def _close_session(self) -> None:
        self._session = self._steered = None
        if self._held is not None:
            self._held.close()

    # -- crawling ---------------------------------------------------------------------------------------------------

    def add(self, *urls: str, sitemap: str | None = None) -> tuple[int, int]:
        """Add pages, and those that a sitemap or feed names; return how many were new, and how many there are."""
        import asyncio  # here, since reading a crawl does without

        from recrawl.urls.url import host_of, normalise, why_not

        given = [*urls, *(asyncio.run(self._announced(sitemap)) if sitemap else ())]
        if not given:
            raise InputError("no URL given (see recrawl add --help)")
        hrefs = []
        for url in given:
            href = normalise(url)
            if href is None:
                raise InputError(f"{url[:200]!r} is not a URL to crawl: {why_not(url)}; nothing was added")
            hrefs.append(href)
        self._close_session()
        with self.directory.locked(), told(self.directory.state):
            store = Store.open(self.directory.state)
            try:
                store.load_index()
                before = len(store.index)
                with store.transaction():
                    store.add_pages(hrefs, [host_of(href) for href in hrefs], self._clock.now())
                return len(store.index) - before, len(store.index)
            finally:
                store.close()

    async def _announced(self, url: str) -> list[str]:
        from recrawl.fetch.fetcher import Fetcher
        from recrawl.fetch.sitemaps import read_sitemap

        async with Fetcher(self.directory.config().fetch) as fetcher:
            entries = await read_sitemap(fetcher, url)
        if not entries:
            raise InputError(f"{url[:200]!r} announces no page that can be read")
        return [entry.url for entry in entries]

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
        )
        return policy if policy and policy != choice.AUTO else choice.resolve(self.directory, policy), plan

    def run(
        self,
        cycles: int | None = None,
        *,
        policy: str | None = None,
        every: Amount = None,
        budget: Amount = None,
        warmup: bool = False,
        view: RunView | None = None,
        stop_on_signals: bool = False,
    ) -> RunResult:
        """Crawl for some cycles, or for ever; each begins when it is due. With `warmup` every known page is visited.

        With `stop_on_signals`, SIGINT and SIGTERM let the visits under way end and stop the run in order; the next run
        goes on where this one stopped.
        """
        from recrawl.live.running import open_session, run_cycles

        name, plan = self.steering(policy, every, budget)
        plan = replace(plan, warmup=1 << 30) if warmup else plan
        if self._session is None or self._steered != (name, plan):
            self._close_session()
            stack = ExitStack() if self._held is None else self._held
            self._session, self._steered = open_session(stack, self.directory, name, plan, self._clock), (name, plan)
        try:
            return run_cycles(self._session, view or RunView(), cycles, stop_on_signals)
        finally:
            if self._held is None:
                self._session = self._steered = None
                stack.close()

    # -- looking ----------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Open the store to read one moment of the crawl, whatever is recorded meanwhile."""
        store = Store.open(self.directory.state, read_only=True)
        try:
            with told(self.directory.state):
                store.read_one_moment()
                yield store
        finally:
            store.close()

    def status(self) -> dict[str, Any]:
        """Return how the crawl stands, in numbers."""
        learnt = choice.load(self.directory)
        running = self._session is not None or self.directory.is_locked()
        with self.reading() as store:
            numbers = store.status()
        return {**numbers, "running": running, "learnt": None if learnt is None else learnt["policy"]}

    def pages(
        self, contains: str = "", *, changed: bool = False, sort: str = "changes", limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Return pages with what their visits found; `contains` filters by a part of the URL."""
        with self.reading() as store:
            return store.pages(contains=contains, changed=changed, sort=sort, limit=limit or -1)

    def page(
        self,
        url: str,
        *,
        policy: str | None = None,
        every: Amount = None,
        budget: Amount = None,
    ) -> CrawledPage:
        """Return one page's story, with the next visit and why (`.why`) by the policy that steers."""
        from recrawl.live.forecast import forecast
        from recrawl.live.views import show

        with self.reading() as store:
            story = show(self.directory, store, url)
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

    # -- learning from its own history ------------------------------------------------------------------------------

    def history(self) -> Recording:
        """Return the crawl's history as a recording in memory."""
        from recrawl.live.history_export import to_tables
        from recrawl.recording.recording import Recording

        with self.reading() as store:
            return Recording.from_arrays(to_tables(store), self.directory.path.absolute().name)

    def replay(
        self,
        policies: str = REPLAYED,
        measures: str = MEASURES,
        *,
        every: Amount = None,
        budget: Amount = None,
        warmup: int = 0,
        command: str = "",
        advance: Advance = silent,
    ) -> ComparisonReport:
        """Compare what policies would have found on the crawl's own history; returns what `recrawl.compare` does."""
        from recrawl.report.comparison_report import compare

        _, plan = self.steering(None, every, budget)
        plan, notes = replace(plan, warmup=warmup), (CAVEAT,)
        return compare(self.history(), policies, plan, measures, notes=notes, command=command, advance=advance)

    def learn(
        self,
        policies: str = CANDIDATES,
        measure: str = LEARNT_BY,
        *,
        evolve: Any = None,
        every: Amount = None,
        budget: Amount = None,
        advance: Advance = silent,
    ) -> choice.PolicyChoice:
        """Replay the history under candidate policies and keep the best: what policy = "auto" means from now on.

        With `evolve` (EvolutionSettings), a formula bred on this history, models/evolved.json, is a candidate too.
        """
        from recrawl.live.learning import learn

        return learn(self, policies, measure, evolve, self.steering(None, every, budget)[1], advance)

    def export(self, what: str, folder: str | Path, *, force: bool = False) -> str:
        """Write the history as a "recording", as "csv" tables or as "warc" bodies; return what was written."""
        from recrawl.live.exporting import EXPORTS

        if what not in EXPORTS:
            raise InputError(f"cannot export {what!r}: there are {', '.join(EXPORTS)}")
        with self.reading() as store:
            return EXPORTS[what](self.directory, store, Path(folder), force)
