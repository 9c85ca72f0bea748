"""How many pages may be discovered: a budget for each URL template and each registrable domain.

Calendars, facets and link farms look like ordinary pages one by one, so they are bounded by what they have in common.
The counts by template are kept in the store; those by domain are counted from its pages when a crawl starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from recrawl.remember.store import Store
from recrawl.see.traps import template_of
from recrawl.see.url import host_of, registrable_domain

PER_TEMPLATE = 10_000
PER_DOMAIN = 1_000_000


class Discovery:
    """Admits newly found URLs while their budgets last."""

    def __init__(self, store: Store, per_template: int = PER_TEMPLATE, per_domain: int = PER_DOMAIN) -> None:
        self.store = store
        self.per_template = per_template
        self.per_domain = per_domain
        self.refused: Counter[str] = Counter()
        self._templates = Counter(dict(store.db.execute("select template, pages from templates").fetchall()))
        self._domains: Counter[str] = Counter()
        ask = "select h.name, n from (select host, count(*) as n from pages group by host) join hosts h using (host)"
        for host, pages in store.db.execute(ask):
            self._domains[registrable_domain(host)] += pages

    def admit(self, urls: Iterable[str]) -> list[str]:
        """Return the URLs that may become pages, within a transaction."""
        admitted, grown = [], set()
        for url in urls:
            template, domain = template_of(url), registrable_domain(host_of(url))
            if self._domains[domain] >= self.per_domain:
                self.refused["pages of the domain"] += 1
                continue
            if "{" in template or "?" in template:
                if self._templates[template] >= self.per_template:
                    self.refused["pages of the template"] += 1
                    continue
                self._templates[template] += 1
                grown.add(template)
            self._domains[domain] += 1
            admitted.append(url)
        self.store.db.executemany(
            "insert or replace into templates (template, pages) values (?, ?)",
            [(template, self._templates[template]) for template in sorted(grown)],
        )
        return admitted
