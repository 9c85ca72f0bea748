"""Crawl: a live crawl from Python, in one folder, with everything that the command line can do to it.

with Crawl.create("news") as crawl:
    crawl.add("https://example.org/")
    crawl.run(cycles=1)
    print(crawl.page("https://example.org/").why)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.clock import Clock
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.extras import extras_named
from recrawl.live import choice, settings_template
from recrawl.live.crawl_defaults import CANDIDATES, CAVEAT, MEASURES, REPLAYED
from recrawl.live.crawl_results import RunResult, RunView
from recrawl.live.crawl_views import Amount, CrawlViews
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store, one_line_errors
from recrawl.live.store_history import ALL
from recrawl.plan import Plan
from recrawl.progress import Advance, silent

if TYPE_CHECKING:
    from recrawl.live.pruning import Pruned
    from recrawl.report.comparison_report import ComparisonReport


class Crawl(CrawlViews):
    """A live crawl. Methods that change it take its lock; reading works while another process crawls.

    As a context manager, `run` keeps the crawl open between calls, so that a program that runs it cycle by cycle does
    not rebuild the policy's state each time.
    """

    def __init__(self, directory: CrawlDirectory, clock: Clock | None = None) -> None:
        super().__init__(directory, clock)
        self._held: ExitStack | None = None  # open between runs, within a `with`
        self._session: Any = None
        self._steered: tuple[str, Plan] | None = None

    @classmethod
    def create(
        cls, path: str | Path, config: str | None = None, *, store: str | None = None, clock: Clock | None = None
    ) -> Crawl:
        """Make a new crawl in a new or empty folder; `config` is the text of its recrawl.toml, if not the default.

        With `store` (postgresql://USER@HOST/DATABASE) it is kept in that database, which other machines can work on.
        """
        text = settings_template.TEMPLATE if config is None else config
        return cls(CrawlDirectory.init(Path(path), settings_template.with_store(text, store)), clock)

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

    def add(
        self, *urls: str, sitemap: str | Sequence[str] | None = None, problems: list[str] | None = None
    ) -> tuple[int, int]:
        """Add pages, and those that sitemaps or feeds name; return how many were new, and how many there are.

        What is wrong with some of the sitemaps is added to `problems`; InputError says so where no page is left to add.

        While another process crawls they are queued for it (`is_held`) and added before its next cycle; the
        numbers are then those of the queue and of the pages so far.
        """
        import asyncio  # here, since reading a crawl does not need it

        from recrawl.live import adding

        sitemaps = [sitemap] if isinstance(sitemap, str) else list(sitemap or ())
        hrefs, bad = adding.checked(urls)
        sitemaps, bad_sitemaps = adding.checked(sitemaps)
        if bad := [*bad, *bad_sitemaps]:
            raise InputError(f"{bad[0][1]}; nothing was added")
        if not hrefs and not sitemaps:
            raise InputError("no URL given (see recrawl add --help)")
        self.directory.config()  # what is wrong with the settings is better said now than at the next run
        self._close_session()
        if self.is_held():
            adding.queue(self.directory, hrefs, sitemaps, self._clock.now())
            return len(hrefs), self.status()["pages"]
        with self._writing() as store:
            store.load_index()
            before = len(store.index)
            if sitemaps:
                found, wrong = asyncio.run(adding.announced(self.directory, store, sitemaps, self._clock))
                hrefs += found
                if not hrefs:
                    raise InputError(f"no page that can be added: {'; '.join(wrong[:3])}")
                if problems is not None:
                    problems += wrong
            with store.transaction():
                adding.take_in(store, hrefs, self._clock.now())
            return len(store.index) - before, len(store.index)

    def prune(self, *, versions: int | None = None, max_bytes: int | None = None) -> Pruned:
        """Drop the bodies of old versions: beyond the newest `versions` of each page, and the oldest over `max_bytes`.

        What is not given is as [keep] in recrawl.toml says. The newest body of each page is always kept.
        """
        from recrawl.live.pruning import prune

        if versions is not None and not 0 <= versions < ALL:
            raise InputError(f"versions={versions}: keep at least 1, the copy to compare with; 0: no limit")
        keep = self.directory.config().keep
        given = {"versions": versions, "max_bytes": max_bytes and min(max_bytes, ALL)}
        keep = replace(keep, **{name: value for name, value in given.items() if value is not None})
        self._close_session()
        with self._writing() as store:
            return prune(store, self.directory.warc, keep)

    def upgrade(self) -> tuple[int, int]:
        """Bring a store made by an older version to this one's format; return the format before and after."""
        self._close_session()
        if self.directory.database is not None:
            with extras_named():
                from recrawl.live.postgres.store_format import FORMAT as THERE
                from recrawl.live.postgres.store_postgres import upgrade_in
            return upgrade_in(self.directory.database), THERE
        from recrawl.live.storeschema import FORMAT
        from recrawl.live.upgrade import upgrade

        with self.directory.locked():
            return upgrade(self.directory.state), FORMAT

    def is_held(self) -> bool:
        """Whether a process, perhaps this one, crawls now."""
        return self._session is not None or self.directory.is_locked()

    @contextmanager
    def _writing(self, *, alone: bool = True) -> Iterator[Store]:
        """Open the store to write, `alone` or beside a process that crawls."""
        with ExitStack() as stack:
            if alone:
                stack.enter_context(self.directory.locked())
            stack.enter_context(one_line_errors(self.directory.state))
            store = self.directory.open_store()
            stack.callback(store.close)
            yield store

    def remove(self, *urls: str) -> int:
        """Stop visiting pages from the next cycle on, keeping their history; return how many."""
        from recrawl.live.views import page_of

        with self._writing(alone=False) as store:
            pages = {page_of(self.directory, store, url)[0] for url in urls}
            with store.transaction():
                store.bar_pages((page, int(Bar.REMOVED)) for page in pages)
        return len(pages)

    def visit_soon(self, *urls: str) -> int:
        """Let pages be among the first visits of the next cycle, whatever the policy; return how many."""
        from recrawl.live.views import page_of

        with self._writing(alone=False) as store:
            pages = {page_of(self.directory, store, url)[0] for url in urls}
            with store.transaction():
                store.wish(sorted(pages), self._clock.now())
        return len(pages)

    def pause(self, *hosts: str) -> None:
        """Skip hosts from the next cycle on, until they are resumed."""
        self._set_paused(hosts, paused=True)

    def resume(self, *hosts: str) -> None:
        """Visit paused hosts again."""
        self._set_paused(hosts, paused=False)

    def _set_paused(self, hosts: Sequence[str], *, paused: bool) -> None:
        from recrawl.urls.url import host_of, normalise

        with self._writing(alone=False) as store:
            numbers = {name: number for number, name in store.hosts().items()}
            unknown = [host for host in hosts if host not in numbers]
            if unknown:
                href = normalise(unknown[0] if "://" in unknown[0] else f"http://{unknown[0]}")
                hint = f"; did you mean {host_of(href)}?" if href and host_of(href) in numbers else ""
                raise InputError(f"no host {unknown[0]!r} in {self.directory.path}{hint}")
            with store.transaction():
                for host in hosts:
                    store.pause_host(numbers[host], paused=paused)

    def run(
        self,
        cycles: int | None = None,
        *,
        policy: str | None = None,
        every: Amount = None,
        budget: Amount = None,
        warmup: bool = False,
        now: bool = False,
        planner_only: bool = False,
        view: RunView | None = None,
        stop_on_signals: bool = False,
    ) -> RunResult:
        """Crawl for some cycles, or for ever; each begins when it is due. With `warmup` every known page is visited.

        With `now` the first cycle does not wait until it is due. A crawl in a database is visited by its workers: one
        within this process, which `planner_only` leaves out, and any number of others (`recrawl work`).

        With `stop_on_signals`, SIGINT and SIGTERM let the visits under way end and stop the run in order; the next run
        goes on where this one stopped.
        """
        from recrawl.live.running import open_session, run_cycles

        name, plan = self.steering(policy, every, budget)
        plan = replace(plan, warmup=1 << 30) if warmup else plan
        if self._session is None or self._steered != (name, plan):
            self._close_session()
            stack = ExitStack() if self._held is None else self._held
            self._session, self._steered = (
                open_session(stack, self.directory, name, plan, self._clock, own_worker=not planner_only),
                (name, plan),
            )
        self._session.at_once = now
        went_through = False
        try:
            done = run_cycles(self._session, view or RunView(), cycles, stop_on_signals)
            went_through = not done.stopped
            return done
        finally:
            if self._held is None:
                self._session = self._steered = None
                stack.close()
            elif not went_through:  # what is in memory stands in the middle of a cycle: the next run reads the store
                self._close_session()

    # -- learning from its own history ------------------------------------------------------------------------------

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
        from recrawl.live.history_export import fitting
        from recrawl.report.comparison_report import compare

        plan, notes = self._replay_plan(every, budget)
        recording, notes = self.history(), (*notes, CAVEAT)
        plan = replace(plan if budget is not None else fitting(plan, recording), warmup=warmup)
        return compare(recording, policies, plan, measures, notes=notes, command=command, advance=advance)

    def _replay_plan(self, every: Amount, budget: Amount) -> tuple[Plan, tuple[str, ...]]:
        """Return the plan of a replay, and what is to be said of it: without `every`, at the crawl's own pace."""
        from recrawl.live.history_export import own_pace

        _, plan = self.steering(None, every, budget)
        if every is not None:
            return plan, ()
        with self.reading() as store:
            return own_pace(store, plan)

    def learn(
        self,
        policies: str = CANDIDATES,
        measure: str | None = None,
        *,
        evolve: Any = None,
        every: Amount = None,
        budget: Amount = None,
        advance: Advance = silent,
        anyway: bool = False,
    ) -> choice.PolicyChoice:
        """Replay the history under candidate policies and keep the best: what policy = "auto" means from now on.

        Best is by a measure of the crawl's own objective, unless another is named. It changes only if the best is
        significantly better, or with `anyway`; the choice's notes give the reason.

        With `evolve` (EvolutionSettings), a formula bred on this history, models/evolved.json, is a candidate too.
        """
        from recrawl.live.learning import learn

        plan, notes = self._replay_plan(every, budget)
        chosen = learn(self, policies, measure, evolve, plan, advance, anyway=anyway)
        return replace(chosen, notes=(*notes, *chosen.notes))

    def export(self, what: str, folder: str | Path, *, force: bool = False) -> str:
        """Write the history as a "recording", as "csv" tables or as "warc" bodies; return what was written."""
        from recrawl.live.exporting import EXPORTS

        if what not in EXPORTS:
            raise InputError(f"cannot export {what!r}: there are {', '.join(EXPORTS)}")
        with self.reading() as store:
            return EXPORTS[what](self.directory, store, Path(folder), force)
