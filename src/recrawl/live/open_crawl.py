"""A crawl that is open to be steered: its policy and its memory, in step with its store.

A session fetches pages on it, a planner gives them away to be fetched by others. What both do is here: rebuild what was
learnt, open a cycle, choose within the budget, the caps and the share of first visits, and learn.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from recrawl.columns import PageIds
from recrawl.cycle import EveryPage, chosen, most_first_visits
from recrawl.eligibility import Bar
from recrawl.live.adding import take_in
from recrawl.live.config import CrawlConfig
from recrawl.live.crawl_rounds import AskedPolicy
from recrawl.live.rebuild import fill, rebuild
from recrawl.live.site_policies import make_steering
from recrawl.live.site_settings import SiteSettings
from recrawl.live.store import Store
from recrawl.live.store_visits import Rows
from recrawl.memory import Memory
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.guarded import Guarded
from recrawl.policies.signalled import Signalled
from recrawl.policy import Policy, Setting
from recrawl.visits import Visits

MOST_HINTS = 100_000


class OpenCrawl:
    """Policy and memory of a crawl; `policy` and `memory` are there after `restore`."""

    store: Store
    policy: Guarded
    memory: Memory

    def __init__(self, policy: str, settings: Plan, config: CrawlConfig) -> None:
        self.policy_name = policy
        self.settings = settings
        self.config = config
        self._site = cache(config.site)

    # -- what was learnt ------------------------------------------------------------------------------------------

    def restore(self, pages: Rows | None = None) -> None:
        """Make the policy and the memory anew from the store; `pages` are what `store.load_index` returned."""
        self.policy, self.memory = self.from_store(pages)

    def from_store(self, pages: Rows | None = None) -> tuple[Guarded, Memory]:
        """Return a policy and a memory as all recorded visits make them."""
        setting = Setting(seed=self.settings.seed)
        inner = make_steering(self.policy_name, self.config, self.store, setting)
        policy = guarded(inner, setting, self.store if self.config.signals else None)
        return policy, rebuild(self.store, policy, self.settings, pages, self._importance())

    def _importance(self) -> dict[int, float]:
        """Return what pages of a host are worth, by its number, where the settings say so."""
        if all(site.importance == 1 for site in self.config.sites):
            return {}
        return {host: self._settings_of(name).importance for host, name in self.store.hosts().items()}

    def _settings_of(self, host: str) -> SiteSettings:
        return self._site(host)

    def learn(self, visits: Visits) -> None:
        """Let the policy learn from visits that are on disk, and the memory record them."""
        self.policy.learn(self.memory, visits)
        self.memory.record(visits)

    # -- cycles ---------------------------------------------------------------------------------------------------

    def budget_of(self, cycle: int) -> int:
        """Visits in a cycle: in the warm-up all pages, later the plan's budget for the pages known now."""
        held, waiting = int(self.memory.held().sum()), int(self.memory.unfetched().sum())
        return held + waiting if cycle <= self.settings.warmup else self.settings.visits_among(held, waiting)

    def chooser(self, cycle: int) -> Policy:
        """Return who chooses in a cycle: in the warm-up every page is visited."""
        return EveryPage(self.policy) if cycle <= self.settings.warmup else self.policy

    def discovery_in(self, cycle: int) -> float:
        """Return the share of a cycle's budget that first visits may take, while there are others to visit."""
        return 1.0 if cycle <= self.settings.warmup else self.settings.discovery

    def take_asked(self, now: float) -> bool:
        """Take in the pages that were added while this process holds the crawl; False: there were none."""
        known = len(self.store.index)
        with self.store.transaction():
            asked = self.store.take_asked()
            if asked:
                take_in(self.store, [url for url, _ in asked], [at for _, at in asked])
        self.meet(known, now)
        return bool(asked)

    def meet(self, first: int, now: float) -> None:
        """Let the memory know of the pages from number `first` on, which were added to the store."""
        if len(self.store.index) > first:
            self.memory.learn_of(fill(self.store, self.memory, first, self.settings.seed), now)


def resting(memory: Memory) -> tuple[str, ...]:
    """Say in a note how many pages are left alone for a while because their visits failed; nothing where none is."""
    count = int((memory.rests()[memory.known & ~memory.gone] > 1).sum())
    pages = "1 page whose visits failed rests" if count == 1 else f"{count:,} pages whose visits failed rest"
    return (f"{pages}: 4 cycles after three in a row, then 8, 16, 32",) if count else ()


def guarded(policy: Policy, setting: Setting, announced: Store | None) -> Guarded:
    """Return a policy that cannot stop a crawl, with what sites announced before its own choices."""
    policy = AskedPolicy(policy)
    if announced is not None:
        policy = Signalled(policy, lambda least: hints(announced, least))
    return Guarded(policy, make_policy("age", setting))


def hints(store: Store, least: float = 0.5) -> PageIds:
    """Return the pages that are said to have changed, by sites that were right at least so often."""
    return np.array(store.pages_announced(least, MOST_HINTS), dtype=np.int64)


def bar_pages(store: Store, memory: Memory, pages: Iterable[int]) -> None:
    """Bar what a planner may not give away: pages under way, removed ones, aliases, and those of paused hosts."""
    bars = memory.bars
    bars.page[:] = Bar.OPEN
    for page, reason in store.barred():
        if reason in (Bar.REMOVED, Bar.ALIAS) and page < len(memory):
            bars.page[page] = reason
    bars.site[:] = Bar.OPEN
    bars.site[[host for host, reason in store.hosts_barred().items() if reason is Bar.PAUSED]] = Bar.PAUSED
    bars.page[list(pages)] = Bar.UNDER_WAY


def choose_on(memory: Memory, chooser: Policy, budget: int, left: int, at: float, discovery: float) -> list[int]:
    """Let a policy choose from what is left of a budget, and bar its choice: its answers are not in yet."""
    memory.limit_first_visits(None)  # of the choice before; `chosen` sets this one's
    left = min(left, int(np.count_nonzero(memory.eligible())))
    if left <= 0:
        return []
    pages = chosen(memory, chooser, left, at, most_first_visits(discovery, budget))
    memory.bars.page[pages] = Bar.UNDER_WAY
    return [int(page) for page in pages]
