"""A crawl as it runs: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recrawl.cli.options import counted, moment
from recrawl.clock import DAY_S
from recrawl.live.crawl_results import RunView
from recrawl.live.feed import failure
from recrawl.plain_text import shown
from recrawl.urls.url import host_of
from recrawl.visits import Outcome

if TYPE_CHECKING:
    from recrawl.live.recorder import Noted
    from recrawl.live.session import Session

LINE_EVERY_S = 5.0
RATE_OVER_S = 5.0
RATE_LEAST_S = 1.0  # a rate over less than that says nothing
SOON_DAYS = 2.0 / DAY_S  # a cycle that begins within two seconds is not waited for
LAST = 8  # visits shown


class View(RunView):
    """Shows one crawl. All methods are cheap; drawing happens at most four times per second."""

    def __init__(self, *, quiet: bool = False, title: str = "recrawl", console: Console | None = None) -> None:
        self.quiet = quiet
        self.title = title
        self.console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None
        self._outcomes: Counter[str] = Counter()
        self._hosts: set[str] = set()
        self._last: deque[tuple[str, str]] = deque(maxlen=LAST)
        self._times: deque[float] = deque()
        self._began_s = time.monotonic()
        self._failures: Counter[str] = Counter()
        self._new_links = self._new_pages = self._budget = self._cycle = self._pages = 0
        self._next = ""
        self._policy = ""
        self._said_s = 0.0

    def __enter__(self) -> View:
        if self.console.is_terminal and not self.quiet:
            self._live = Live(self.drawn(), console=self.console, refresh_per_second=4, get_renderable=self.drawn)
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.__exit__(*error)
            self._live = None

    def begin(self, session: Session) -> None:
        """A cycle begins, or goes on."""
        self._outcomes.clear()
        self._hosts.clear()
        self._times.clear()
        self._failures.clear()
        self._began_s = time.monotonic()
        self._new_links = self._new_pages = 0
        running = session.store.running()
        if running is None:
            self._cycle, self._budget = session.memory.cycle + 1, session.budget_of(session.memory.cycle + 1)
        else:
            self._cycle, self._budget = running.cycle, running.budget - session.store.visits_in(running.cycle)
        self._pages, self._policy, self._next = len(session.store.index), repr(session.policy), "now"
        self._line(
            f"cycle {self._cycle}: at most {counted(self._budget, 'visit')}, {counted(self._pages, 'page')} known, "
            f"policy {self._policy}"
        )

    def visit(self, noted: Noted) -> None:
        """A visit was recorded."""
        outcome = Outcome(noted.record.outcome).name.lower()
        self._outcomes[outcome] += 1
        self._hosts.add(host_of(noted.url))
        self._new_links += sum(noted.new_links)
        self._new_pages += noted.discovered
        self._last.append((outcome, shown(noted.url)))
        if noted.record.outcome == Outcome.FAILED:
            self._failures[failure(noted.record.note or "")["kind"]] += 1
        self._times.append(time.monotonic())
        if self._live is None and not self.quiet and time.monotonic() - self._said_s > LINE_EVERY_S:
            self._line(f"  {self._sentence()}, {self._pace()}, {self.left:,} left")

    def end(self, session: Session, done: bool) -> None:
        """The cycle has ended, or was stopped."""
        self._pages, last = len(session.store.index), session.store.last_due_at()
        if done and last is not None:
            self._next = moment(last + session.settings.cycle_days)
        self._line(f"cycle {self._cycle} {'done' if done else 'interrupted'}: {self._sentence()}", always=True)

    def waiting(self, until: float) -> None:
        """The crawl sleeps."""
        self._next = moment(until)
        if until > time.time() / DAY_S + SOON_DAYS:
            self._line(f"the next cycle is due {self._next}; `recrawl run --now` does not wait for it", always=True)

    def say(self, line: str) -> None:
        """Print a line."""
        self._line(line, always=True)

    @property
    def left(self) -> int:
        """Visits that the budget still allows in this cycle."""
        return max(0, self._budget - self._outcomes.total())

    def rate(self) -> float:
        """Pages per second over the last seconds, or since the cycle began."""
        now = time.monotonic()
        while self._times and self._times[0] < now - RATE_OVER_S:
            self._times.popleft()
        return len(self._times) / max(min(RATE_OVER_S, now - self._began_s), RATE_LEAST_S)

    def _pace(self) -> str:
        rate = self.rate()
        return f"{rate:.{0 if rate >= 10 else 1}f} pages/s"

    def counts(self) -> dict[str, Any]:
        """The cycle in numbers, for the log."""
        return {**self._outcomes, "new_links": self._new_links, "new_pages": self._new_pages, "hosts": len(self._hosts)}

    def drawn(self) -> Group:
        """Draw the live view."""
        table = Table.grid(padding=(0, 3))
        for name, value in (
            ("cycle", f"{self._cycle}  ({self._policy})"),
            ("rate", self._pace()),
            ("visited", f"{self._outcomes.total():,} on {counted(len(self._hosts), 'host')}"),
            ("changed", f"{self._outcomes['changed']:,}"),
            ("new links", f"{self._new_links:,}"),
            ("new pages", f"{self._new_pages:,} ({self._pages + self._new_pages:,} known)"),
            ("gone", f"{self._outcomes['gone']:,}"),
            ("failed", self._failed()),
            ("budget left", f"{self.left:,}"),
            ("next wake", self._next),
        ):
            table.add_row(Text(name, style="dim"), Text(value))
        bar = Table.grid()  # a bar alone ends without a new line
        bar.add_row(ProgressBar(total=max(self._budget, 1), completed=self._outcomes.total(), width=40))
        styles = {"changed": "green", "first": "cyan", "gone": "yellow", "failed": "red"}
        last = [Text(f"{o:>9}  {url}", style=styles.get(o, "dim"), no_wrap=True) for o, url in self._last]
        return Group(Text(self.title, style="bold"), table, bar, *last)

    def _failed(self) -> str:
        """Say how many visits failed, and of what."""
        return f"{self._outcomes['failed']:,}{self._kinds()}"

    def _kinds(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self._failures.most_common(4))
        return f" ({kinds})" if kinds else ""

    def _sentence(self) -> str:
        why = {"failed": self._kinds()}
        counts = ", ".join(f"{count} {name}{why.get(name, '')}" for name, count in sorted(self._outcomes.items()))
        counts = counts or "no visits"
        return f"{counts}; {counted(self._new_links, 'new link')}, {counted(self._new_pages, 'new page')}"

    def _line(self, line: str, *, always: bool = False) -> None:
        self._said_s = time.monotonic()
        if self.quiet or (self._live is not None and not always):
            return
        if self._live is not None:
            self.console.print(Text(line))
        else:
            print(line, file=sys.stderr, flush=True)
