"""The fetcher of a crawl: its settings, its sites' own settings, and the politeness that earlier runs left on disk."""

from __future__ import annotations

import json
from functools import cache

from recrawl.clock import Clock
from recrawl.fetch.fetcher import Fetcher, Scope
from recrawl.fetch.gate import HostState
from recrawl.fetch.robots import RobotsRecord
from recrawl.fetch.wire import Certificate
from recrawl.live.config import CrawlConfig
from recrawl.live.store import Store


def make_fetcher(config: CrawlConfig, clock: Clock, scope: Scope | None = None) -> Fetcher:
    """Return a fetcher, to be used as `async with`, with what [[site]] sections say of hosts."""
    site = cache(config.site)
    cert, key = config.fetch.tls_cert_file, config.fetch.tls_key_file
    general: Certificate | None = None if cert is None else (cert, key)
    fetcher = Fetcher(
        config.fetch,
        clock=clock,
        scope=scope,
        own_headers=lambda host: site(host).headers,
        certificates=lambda host: site(host).certificate or general,
    )
    fetcher.gate.own_delay_s = lambda host: site(host).delay_s
    return fetcher


def restore_manners(fetcher: Fetcher, store: Store) -> None:
    """Take over every host's gate and robots.txt, as the last run left them."""
    fetcher.gate.restore(HostState(**json.loads(state)) for state in store.gates())
    fetcher.robots.restore(RobotsRecord(**json.loads(record)) for record in store.robots())
