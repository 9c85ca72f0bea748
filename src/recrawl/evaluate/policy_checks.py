"""check_policy: hold a policy of your own to the contract that every built-in one keeps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import PolicyError
from recrawl.evaluate.crawl import clairvoyant
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Policy, Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.synthesis import synthesize

WEBS = (("mixed", 40, 9.0), ("poisson", 25, 9.0))  # preset, pages, days
Choices = list[list[int]]  # cycle by cycle


def check_policy(policy: str | Callable[[Setting], Policy], *, seed: int = 5) -> None:
    """Crawl small webs with a policy and raise PolicyError with one line for whatever breaks the contract.

    In every cycle: no more pages than the budget, each eligible and named once, none above a site's cap; and the same
    seed makes the same choices. The webs have pages that are born and die; they are crawled with and without caps,
    importances and copies to begin with.

    >>> import recrawl
    >>> recrawl.check_policy("explore(cg, 0.2)")
    """
    for number, (preset, pages, days) in enumerate(WEBS):
        web = synthesize(preset, pages, days, seed=seed + number, only=("sites", "pages", "changes", "links"))
        for budget, cap, weighted, copies in ((1, 0, False, True), (5, 2, True, True), (7, 0, True, False)):
            once, again = (
                choices(web, policy, seed=seed, budget=budget, cap=cap, weighted=weighted, copies=copies)
                for _ in range(2)
            )
            if once != again:
                raise PolicyError(f"{_name(policy)} chose otherwise with the same seed and the same visits")


def choices(
    web: Recording,
    policy: str | Callable[[Setting], Policy],
    *,
    seed: int,
    budget: int,
    cap: int = 0,
    weighted: bool = False,
    copies: bool = True,
    warmup: int = 1,
) -> Choices:
    """Crawl day by day and return what was chosen in each cycle; `run_cycle` holds the policy to its contract."""
    world = RecordedWorld(web, discover="birth", copies=copies)
    memory = world.memory(cycle_days=1.0, seed=seed)
    if weighted:
        memory.importance = (web.page_ids % 4).astype(np.float64)
    sees_truth = isinstance(policy, str) and clairvoyant(policy)
    setting = Setting(seed, world if sees_truth else None)
    made = make_policy(policy, setting) if isinstance(policy, str) else policy(setting)
    chosen = []
    for day in range(1, int(web.end - web.start) + 1):
        first = day <= warmup
        asked, size = (EveryPage(made), len(memory)) if first else (made, budget)
        rounds = run_cycle(world, memory, asked, size, web.start + day, site_cap=0 if first else cap)
        chosen.append([int(page) for visits in rounds for page in visits.pages])
    return chosen


def _name(policy: object) -> str:
    return policy if isinstance(policy, str) else getattr(policy, "__name__", repr(policy))
