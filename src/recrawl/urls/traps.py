"""Crawler traps: URLs that go on for ever, session ids, and the budgets that bound what cannot be recognised.

Some traps show in one URL (repeating segments, endless depth, dates far from now). Calendars and facets look like
ordinary pages one by one; they are bounded by a budget for each URL template, and link farms on wildcard DNS by a
budget for each registrable domain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from recrawl.urls.url import host_of, registrable_domain, split

MAX_SEGMENTS = 20
MAX_REPEATS = 2  # a run of segments may occur twice in a row
MAX_SAME_SEGMENT = 3  # one word may occur three times anywhere in a path
_LONGEST_RUN = 4
_CALENDAR_SPAN_YEARS = 3  # a calendar page this far from today is filler

_SESSION_NAME = (
    r"(?:jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid|sessid|session_?id)"
)
_SESSION_QUERY = re.compile(rf"(?i)(?:^|&)(?:{_SESSION_NAME}=[^&]*|(?:sid|s|session)=[0-9a-z]{{16,}}(?=&|$))")
_SESSION_PATH = re.compile(rf"(?i);{_SESSION_NAME}=[^/?;]*|/\([sfa]\([0-9a-z]{{10,}}\)\)")

_DATE = re.compile(r"(?<!\d)(?:19|20|21|2[2-9]|[3-9]\d)\d\d[-_.]\d{1,2}(?:[-_.]\d{1,2})?(?!\d)")
_YEAR = re.compile(r"[12](?<!\d[12])\d{3}(?!\d)")  # begins with what is rare: the rest is looked at only there
_CALENDAR = re.compile(r"(?i)calend|kalend|agenda|event|schedule|month|week|day|date|diary|archive")
_OPAQUE = re.compile(r"(?i)(?=[^/]*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}")
_DIGITS = re.compile(r"\d+")


def without_session(href: str) -> str:
    """Return the URL without its session id: the same page for every visitor and every visit."""
    if "=" not in href and "/(" not in href:
        return href
    lower = href.lower()
    if not ("sess" in lower or "sid=" in lower or "s=" in lower or "/(" in lower or "cf" in lower or "zenid" in lower):
        return href
    head, mark, query = href.partition("?")
    head = _SESSION_PATH.sub("", head)
    query = _SESSION_QUERY.sub("", query).removeprefix("&") if mark else ""
    return f"{head}?{query}" if query else head


def trap_of(href: str, year: int | None = None) -> str | None:
    """Return the trap that this URL is, or None: repeating segments, too many segments, a calendar far from `year`."""
    segments = [segment for segment in href.partition("?")[0].split("/")[3:] if segment]  # after scheme and host
    if len(segments) > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} segments"
    if len(segments) > MAX_REPEATS and _repeats(segments):
        return f"segments repeat more than {MAX_REPEATS} times"
    if year is not None:
        far = [found for found in _YEAR.findall(href) if abs(int(found) - year) > _CALENDAR_SPAN_YEARS]
        if far and _CALENDAR.search(href) and "{date}" in template_of(href):
            return "a calendar page far from today"
    return None


def _repeats(segments: list[str]) -> bool:
    """Whether a run of up to four segments comes more than twice in a row, or one word more than three times."""
    for length in range(1, _LONGEST_RUN + 1):
        same = 0  # how many segments in a row equal the one `length` before
        for i in range(length, len(segments)):
            same = same + 1 if segments[i] == segments[i - length] else 0
            if same >= length * MAX_REPEATS:
                return True
    return any(
        count > MAX_SAME_SEGMENT and not segment.isdigit() for segment, count in Counter(segments).items() if segment
    )


@lru_cache(maxsize=20_000)  # the links of a page that has many are looked at before they are admitted
def template_of(href: str) -> str:
    """Return the shape of a URL: dates, numbers and opaque ids replaced, query values dropped, keys sorted.

    `/calendar/2031/07?view=day&tz=1` and `/calendar/2031/08?tz=2&view=week` share one template.
    """
    url = split(href)
    path = "/".join(_shape(segment) for segment in url.path.split("/"))
    path = re.sub(r"/\{n\}/\{n\}(?:/\{n\})?(?=/|$)", "/{date}", path)
    keys = sorted({_shape(pair.partition("=")[0]) for pair in url.query.split("&") if pair})
    query = "?" + "&".join(keys) if keys else ""
    return f"{url.host}{path}{query}"


def _shape(segment: str) -> str:
    if segment.isalpha():
        return segment
    segment = _DATE.sub("{date}", segment)
    segment = _OPAQUE.sub("{id}", segment)
    return _DIGITS.sub("{n}", segment)


@dataclass(frozen=True)
class TrapSettings:
    """How many pages may be discovered: what bounds traps."""

    per_template: int = 10_000  # pages whose URLs have the same shape: /calendar/{n}/{n}
    waiting_per_host: int = 10_000  # pages of a host that were discovered and not visited yet
    per_domain: int = 1_000_000  # pages of a registrable domain
    hosts_per_domain: int = 1_000


@dataclass
class DiscoveryBudget:
    """How many pages may be discovered per URL template and per registrable domain, and hosts per domain.

    A trap of words (`/red/green/blue`) has no template that could be told from an honest site. It is bounded by how
    many of a host's pages may wait for their first visit: a host grows no faster than it is visited.

    State is three counters. Those by domain are counted from a crawl's pages when it starts; those by template are
    exported as they grow, and restored.
    """

    per_template: int = 10_000
    waiting_per_host: int = 10_000  # pages of a host that were discovered and not visited yet
    per_domain: int = 1_000_000
    hosts_per_domain: int = 1_000
    refused: Counter[str] = field(default_factory=Counter)
    _templates: Counter[str] = field(default_factory=Counter)
    _domains: Counter[str] = field(default_factory=Counter)
    _hosts: dict[str, set[str]] = field(default_factory=dict)
    _waiting: Counter[str] = field(default_factory=Counter)
    _grown: set[str] = field(default_factory=set)

    def restore(self, templates: Mapping[str, int], hosts: Iterable[tuple[str, int]]) -> None:
        """Take over the pages by template, and the hosts with how many pages each has."""
        self._templates.update(templates)
        for host, pages in hosts:
            domain = registrable_domain(host)
            self._domains[domain] += pages
            self._hosts.setdefault(domain, set()).add(host)

    def restore_waiting(self, hosts: Iterable[tuple[str, int]]) -> None:
        """Take over how many pages of each host wait for their first visit."""
        self._waiting.update(dict(hosts))

    def note_first_visit(self, host: str) -> None:
        """Count a first visit to a page of this host: it makes room for another page."""
        self._waiting[host] -= 1

    def export_grown(self) -> list[tuple[str, int]]:
        """Return the templates that have grown since the last call, with their pages."""
        grown = [(template, self._templates[template]) for template in sorted(self._grown)]
        self._grown.clear()
        return grown

    def admit(self, href: str) -> bool:
        """Count a newly discovered URL; False, with the reason counted in `refused`, where a budget is spent."""
        host = host_of(href)
        if self._waiting[host] >= self.waiting_per_host:  # first, as it is the cheapest: pages have thousands of links
            self.refused["pages of the host that wait for a visit"] += 1
            return False
        domain = registrable_domain(host)
        hosts = self._hosts.setdefault(domain, set())
        if host not in hosts and len(hosts) >= self.hosts_per_domain:
            self.refused["hosts of the domain"] += 1
            return False
        if self._domains[domain] >= self.per_domain:
            self.refused["pages of the domain"] += 1
            return False
        template = template_of(href)
        bounded = "{" in template or "?" in template
        if bounded and self._templates[template] >= self.per_template:
            self.refused["pages of the template"] += 1
            return False
        hosts.add(host)
        self._waiting[host] += 1
        self._domains[domain] += 1
        if bounded:
            self._templates[template] += 1
            self._grown.add(template)
        return True
