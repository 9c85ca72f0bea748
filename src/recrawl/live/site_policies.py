"""The policy of a crawl with [[site]] sections that have budgets and objectives of their own."""

from __future__ import annotations

import numpy as np

from recrawl.columns import IntArray
from recrawl.live.config import CrawlConfig
from recrawl.live.store import Store
from recrawl.policies.catalogue import make_policy
from recrawl.policies.site_budgets import REST, SiteBudgets, SiteGroup
from recrawl.policy import Policy, Setting


def make_steering(name: str, config: CrawlConfig, store: Store, setting: Setting) -> Policy:
    """Make the policy that steers, with the budgets that the settings give to some hosts around it."""
    policy = make_policy(name, setting)
    own = [site for site in config.sites if site.budget]
    if not own:
        return policy
    groups = [
        SiteGroup(site.visits, make_policy(f"learned(objective={site.objective})" if site.objective else name, setting))
        for site in own
    ]

    def group_of() -> IntArray:
        hosts = store.hosts()
        found = np.full(max(hosts, default=0) + 1, REST, dtype=np.int64)
        for host, name in hosts.items():
            site = config.site(name)
            found[host] = own.index(site) if site.budget else REST
        return found

    return SiteBudgets(policy, groups, group_of)
