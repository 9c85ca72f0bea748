"""Run cycle after cycle, each when it is due, and log what happened in log.jsonl."""

from __future__ import annotations

from contextlib import ExitStack

from recrawl.clock import Clock, SystemClock
from recrawl.fetch.sitemaps import read_in_part
from recrawl.live.crawl_results import RunResult, RunView
from recrawl.live.directory import CrawlDirectory
from recrawl.live.journal import Journal
from recrawl.live.recorder import Noted
from recrawl.live.session import Session
from recrawl.live.signals import Heard
from recrawl.plan import Plan
from recrawl.policy import notes_of
from recrawl.urls.url import shown

SAID = 5  # lines per cycle about sitemaps and feeds
FEW_VISITS, MANY_CYCLES = 100, 5  # a budget that is a share of few pages, and how long new ones may wait for it


class JournalledSession(Session):
    """A session that writes its visits to the log and shows them to a view."""

    def __init__(self, directory: CrawlDirectory, policy: str, plan: Plan, clock: Clock, journal: Journal) -> None:
        self.journal = journal
        self.view: RunView | None = None
        super().__init__(directory, policy, plan, clock=clock, watch=self._visited, heard=self._signals_read)

    def _visited(self, noted: Noted) -> None:
        self.journal.visit(noted)
        if self.view is not None:
            self.view.visit(noted)

    def _signals_read(self, heard: Heard) -> None:
        self.journal.note("heard", files=heard.visits, new_pages=heard.found, announced=heard.announced)
        for url, why in heard.partial:
            self.journal.note("read-in-part", url=url, why=why)
        for url, why in heard.unread:
            self.journal.note("unread", url=url, why=why)
        for line in heard.problems:
            self.journal.note("sitemap", text=line)
        lines = [read_in_part(url, why) for url, why in heard.partial]
        lines += [f"{shown(url)}: {why}" for url, why in heard.unread]
        more = [f"{len(lines) - SAID} other sitemaps and feeds: see log.jsonl"] if len(lines) > SAID else []
        if self.view is not None:
            for line in (*heard.problems, *lines[:SAID], *more):
                self.view.say(line)


def open_session(
    stack: ExitStack, directory: CrawlDirectory, policy: str, plan: Plan, clock: Clock, *, own_worker: bool = True
) -> JournalledSession:
    """Open a crawl to run it, until the stack is closed; workers visit one in a database, by default one within."""
    journal = stack.enter_context(Journal(directory.path, SystemClock()))
    kind = JournalledSession if directory.database is None else _fleet_session(own_worker)
    session = kind(directory, policy, plan, clock, journal)
    stack.enter_context(session)
    journal.note("open", policy=policy, cycle_days=plan.cycle_days, pages=len(session.store.index))
    return session


def _fleet_session(own_worker: bool) -> type[JournalledSession]:
    from recrawl.live.fleet.fleet_session import FleetSession, PlannerSession

    return FleetSession if own_worker else PlannerSession


def _long_wait(session: Session) -> str:
    """Say that new pages will wait long for their first visit because the budget is a small share of few pages."""
    share, waiting = session.settings.budget, int(session.memory.unfetched().sum())
    visits = session.budget_of(session.memory.cycle + 1)
    if not isinstance(share, float) or visits >= FEW_VISITS or waiting <= MANY_CYCLES * visits:
        return ""
    pages = "page waits" if waiting == 1 else "pages wait"
    return (
        f"note: {waiting:,} {pages} for a first visit, and {100 * share:.3g}% of the pages is {visits} per cycle; "
        "--budget 500, or budget in [crawl] of recrawl.toml, allows more"
    )


def run_cycles(session: JournalledSession, view: RunView, wanted: int | None, stop_on_signals: bool) -> RunResult:
    """Run so many cycles, or until the session is asked to stop."""

    journal, done, noted = session.journal, 0, set[str]()
    session.view = view
    if stop_on_signals:
        session.stop_on_signals()
    while not session.stopped and (wanted is None or done < wanted):
        due_at = session.next_due_at()
        view.waiting(due_at)
        session.wait_until(due_at)
        if session.stopped:
            break
        view.begin(session)
        went_through = session.run_cycle()
        journal.note("cycle", number=session.memory.cycle, done=went_through, **view.counts())
        if session.policy.fault is not None:
            journal.note("handover", fault=session.policy.fault)
        view.end(session, went_through)
        if not view.counts().keys() & {"first", "changed", "unchanged", "gone"}:
            for line in session.world.standing.hints():
                view.say(line)
        if wait := _long_wait(session):
            view.say(wait)
        for note in notes_of(session.policy):
            if note not in noted:
                noted.add(note)
                journal.note("note", policy=repr(session.policy), text=note)
                view.say(f"note: {session.policy!r}: {note}")
        done += went_through
    journal.note("stop", cycles=done)
    return RunResult(done, session.stopped, session.next_due_at())
