"""What a run of a crawl shows and returns: an observer, how it ended, and one page with its next visit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recrawl.live.forecast import Forecast
    from recrawl.live.views import PageStory

NOT_ASKED = "not asked: all visits would have to be replayed (`recrawl show --why` does)"


class RunView:
    """Observer of a running crawl: counts outcomes and shows nothing; derive from it to show more."""

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
        """The cycle has ended, or was stopped."""

    def say(self, line: str) -> None:
        """Show a line to the user."""

    def counts(self) -> dict[str, Any]:
        """The cycle in numbers."""
        return dict(self._outcomes)


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    cycles: int  # that went through
    stopped: bool  # stopped before its end
    next_due_at: float  # days since 1970-01-01


@dataclass(frozen=True)
class CrawledPage:
    """One page of a crawl: its visits, its last change, and its score by the policy in use."""

    story: PageStory
    next: Forecast | None  # None: not asked for, as too many visits would have to be replayed

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
        """When the next visit is due and why, as the policy in use explains it."""
        return NOT_ASKED if self.next is None else self.next.why
