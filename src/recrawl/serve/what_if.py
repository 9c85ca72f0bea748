"""What if: what a replay of a crawl's own history says about policies and budgets, and which budget a freshness takes.

The history knows changes only where the crawl looked, so a page that was visited seldom looks quieter than it is, and
freshness is an upper bound: good for comparing policies and budgets with each other, not as a forecast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recrawl.spans import share_of

POLICIES = ("age", "bayes", "learned")
BUDGETS = ("1%", "2%", "5%", "10%", "20%", "50%")
MEASURES = ("ChangeRate", "ChangesFound", "Freshness", "Age")
NOTE = (
    "Changes are known only where this crawl looked: a page that was seldom visited looks quieter than it is, so "
    "freshness is an upper bound. Compare the rows with each other; do not take them for a forecast."
)


def replay_rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row per budget and policy with its means, from what replays say (results.json by budget)."""
    return [
        {"budget": budget, "policy": row["name"]} | {name: row["results"][name]["mean"] for name in MEASURES}
        for budget, told in results.items()
        for row in told["policies"]
    ]


def budget_for(rows: Sequence[dict[str, Any]], policy: str, target: float) -> float | None:
    """Return the share of the pages per cycle at which a policy reaches a freshness, between the budgets replayed.

    Linear between the two budgets around it; None where none of them reaches it.
    """
    known = sorted((share_of(row["budget"]), row["Freshness"]) for row in rows if row["policy"] == policy)
    before: tuple[float, float] | None = None
    for share, fresh in known:
        if fresh >= target:
            if before is None or fresh == before[1]:
                return share
            return before[0] + (share - before[0]) * (target - before[1]) / (fresh - before[1])
        before = share, fresh
    return None
