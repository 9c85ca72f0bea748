"""Find the recorded page that a link's address means, across sites.

A recording knows the target page of a link only where both lie on one site. Published sites link to each other by
their public addresses, so a page's file path is turned into the address it is published under (`mounts`) and links
are looked up by address. Template cross-references (`macro:domxref/Node.childNodes`, `xref:mvc/views/overview`) name
a page of the same site by the end of its path.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from recrawl.columns import IntArray, PageIds
from recrawl.recording.tables import Column

# site -> (folder of its repository, address that it is published under); the first host is the site's own
Mounts = Mapping[str, Sequence[tuple[str, str]]]

_LEARN = "learn.microsoft.com/"
_GOOGLE = (("docs/docs.cloud.google.com/", "cloud.google.com/"),)

PUBLISHED: Mounts = {
    "MarshalX/telegram-crawler": (("data/web/", ""),),
    "MicrosoftDocs/PowerShell-Docs": (
        ("reference/docs-conceptual/", _LEARN + "powershell/scripting/"),
        ("reference/7.6/", _LEARN + "powershell/module/"),
    ),
    "MicrosoftDocs/azure-aks-docs": (("articles/aks/", _LEARN + "azure/aks/"),),
    "MicrosoftDocs/cpp-docs": (("docs/", _LEARN + "cpp/"),),
    "MicrosoftDocs/sql-docs": (("docs/", _LEARN + "sql/"), ("azure-sql/", _LEARN + "azure/azure-sql/")),
    "MicrosoftDocs/win32": (
        ("desktop-src/", _LEARN + "windows/win32/"),
        ("desktop-src/", _LEARN + "windows/desktop/"),
    ),
    "MicrosoftDocs/windows-driver-docs": (("windows-driver-docs-pr/", _LEARN + "windows-hardware/drivers/"),),
    "ClickHouse/clickhouse-docs": (("docs/", "clickhouse.com/docs/"), ("docs/", "clickhouse.com/docs/en/")),
    "ansible/ansible-documentation": (("docs/docsite/rst/", "docs.ansible.com/ansible/latest/"),),
    "apache/flink-web": (("content/", "flink.apache.org/"),),
    "apache/kafka-site": (("", "kafka.apache.org/"),),
    "apstndb/bigquery-docs-mirror": _GOOGLE,
    "apstndb/firestore-docs-mirror": _GOOGLE,
    "apstndb/gemini-enterprise-agent-platform-docs-mirror": _GOOGLE,
    "apstndb/spanner-docs-mirror": _GOOGLE,
    "cloudflare/cloudflare-docs": (("src/content/docs/", "developers.cloudflare.com/"),),
    "dotnet/AspNetCore.Docs": (("aspnetcore/", _LEARN + "aspnet/core/"),),
    "dotnet/docs": (("docs/", _LEARN + "dotnet/"),),
    "freebsd/freebsd-doc": (
        ("website/content/en/", "www.freebsd.org/"),
        ("documentation/content/", "docs.freebsd.org/"),
    ),
    "github/docs": (("content/", "docs.github.com/"), ("content/", "docs.github.com/en/")),
    "golang/website": (("_content/", "go.dev/"), ("_content/", "golang.org/")),
    "home-assistant/home-assistant.io": (("source/_", "www.home-assistant.io/"),),
    "influxdata/docs-v2": (("content/", "docs.influxdata.com/"),),
    "kubernetes/website": (("content/en/", "kubernetes.io/"), ("content/", "kubernetes.io/")),
    "langchain-ai/docs": (("src/", "docs.langchain.com/"),),
    "mdn/content": (("files/", "developer.mozilla.org/"),),
    "mdn/translated-content": (("files/", "developer.mozilla.org/"),),
    "microsoft/vscode-docs": (("", "code.visualstudio.com/"),),
    "nodejs/nodejs.org": (("apps/site/pages/", "nodejs.org/"),),
    "open-telemetry/opentelemetry.io": (("content/en/", "opentelemetry.io/"), ("content/", "opentelemetry.io/")),
    "openbsd/www": (("", "www.openbsd.org/"),),
    "pingcap/docs": (("", "docs.pingcap.com/tidb/stable/"), ("", "docs.pingcap.com/tidbcloud/")),
    "pingcap/docs-cn": (("", "docs.pingcap.com/zh/tidb/stable/"),),
    "python/peps": (("peps/", "peps.python.org/"), ("peps/", "www.python.org/dev/peps/")),
    "reactjs/react.dev": (("src/content/", "react.dev/"),),
    "rust-lang/blog.rust-lang.org": (("content/", "blog.rust-lang.org/"),),
    "withastro/docs": (("src/content/docs/", "docs.astro.build/"),),
}

_AS_IS = (("", ""),)  # the paths of a site that is not listed may be addresses themselves

# a template's name -> the folder that the page it names lies in
_FOLDERS = {
    "cssxref": "/css/",
    "domxref": "/api/",
    "glossary": "/glossary/",
    "htmlelement": "/html/",
    "httpheader": "/http/",
    "httpmethod": "/http/",
    "httpstatus": "/http/",
    "jsxref": "/javascript/",
    "mathmlelement": "/mathml/",
    "svgattr": "/svg/",
    "svgelement": "/svg/",
    "webextapiref": "/webextensions/",
}

_NAMED = ("macro:", "xref:")
_EXTENSION = re.compile(r"\.(md|mdx|markdown|html?|rst|adoc|txt|json|xml)$")
_INDEX = re.compile(r"/(_?index|readme)$")
_ALIASED = ("docs.microsoft.com/", "docs.cloud.google.com/", "learn.microsoft.com/", "developer.mozilla.org/")
_ALIASES = (
    (re.compile(r"^docs\.microsoft\.com/"), _LEARN),
    (re.compile(r"^docs\.cloud\.google\.com/"), "cloud.google.com/"),
    (re.compile(r"^learn\.microsoft\.com/[a-z]{2}-[a-z]{2}/"), _LEARN),
    (re.compile(r"^developer\.mozilla\.org/docs/"), "developer.mozilla.org/en-us/"),
    (re.compile(r"^(developer\.mozilla\.org/[a-z-]+)/docs/"), r"\1/"),
)


class Addresses:
    """The public addresses of a recording's pages, and the names that templates of their own site call them by."""

    def __init__(self, site: IntArray, paths: Column, site_names: Sequence[str], mounts: Mounts = PUBLISHED) -> None:
        self.site = site
        self.paths = paths
        self._page: dict[str, int] = {}
        rules = [tuple(mounts.get(name, ())) for name in site_names]
        self.mounted = np.array([bool(rule) for rule in rules], dtype=np.bool_)
        self._host = [rule[0][1].partition("/")[0] if rule else "" for rule in rules]  # of links that begin with /
        for page, (s, path) in enumerate(zip(site, paths, strict=True)):
            for folder, address in rules[s] or _AS_IS:
                if path.startswith(folder) and (rules[s] or "." in path.partition("/")[0]):
                    self._page.setdefault(normal(address + path[len(folder) :]), page)
        self._seen: dict[str, int] = {}
        self._names: dict[int, _Names] = {}

    @cached_property
    def pattern(self) -> str:
        """A regular expression that all targets match which `find` can know."""
        hosts = {address.partition("/")[0] for address in self._page} | {alias.rstrip("/") for alias in _ALIASED}
        return "(?i)^(/|macro:|xref:|(" + "|".join(re.escape(host) for host in sorted(hosts)) + ")/)"

    def find(self, sources: PageIds, targets: Sequence[str]) -> list[int]:
        """Return the page that each target means on its source page, -1 where none of the pages does."""
        return [self._find(int(source), target) for source, target in zip(sources, targets, strict=True)]

    def _find(self, source: int, target: str) -> int:
        site = int(self.site[source])
        if target.startswith(_NAMED):
            if site not in self._names:
                self._names[site] = _Names(self.paths, np.flatnonzero(self.site == site))
            return self._names[site].find(target, source)
        full = self._host[site] + target if target.startswith("/") else target
        if full not in self._seen:
            self._seen[full] = self._page.get(normal(full), -1)
        return self._seen[full]


def normal(address: str) -> str:
    """Bring an address to the form that pages are looked up by: no query, extension, index name or locale."""
    plain = address.lower().partition("?")[0].partition("#")[0]
    plain = _INDEX.sub("", _EXTENSION.sub("", plain)).rstrip("/")
    if plain.startswith(_ALIASED):
        for pattern, better in _ALIASES:
            plain = pattern.sub(better, plain)
    return plain


class _Names:
    """Pages of one site by the ends of their paths: `childnodes`, `node/childnodes`, ..."""

    def __init__(self, paths: Column, pages: PageIds) -> None:
        self.paths = {int(page): normal("/" + paths[page]) for page in pages}
        self._ends: dict[str, list[int]] = {}
        self._found: dict[tuple[str, str], int] = {}
        for page, path in self.paths.items():
            parts = path.split("/")
            for length in (1, 2, 3):
                if length < len(parts):
                    self._ends.setdefault("/".join(parts[-length:]), []).append(page)

    def find(self, target: str, source: int) -> int:
        """Return the one page that the name means for a link on `source`, -1 if there is none or it is unclear."""
        folder = self.paths[source].rpartition("/")[0]
        if (target, folder) not in self._found:
            kind, _, name = target[6:].partition("/") if target.startswith("macro:") else ("", "", target[5:])
            self._found[target, folder] = self._look(kind, name, folder)
        return self._found[target, folder]

    def _look(self, kind: str, name: str, folder: str) -> int:
        plain = normal("/" + html.unescape(name).strip("<>§./() ")).lstrip("/")
        before, dot, last = plain.rpartition(".")
        for end in (plain, f"{before}/{last}" if dot else plain):
            pages = [page for page in self._ends.get(end, []) if _FOLDERS.get(kind, "") in self.paths[page] + "/"]
            if pages:
                return self._nearest(pages, folder)
        return -1

    def _nearest(self, pages: list[int], folder: str) -> int:
        """Of several pages with one name, the one that shares the longest path with the link's page, if it is one."""
        shared = [_common(self.paths[page], folder) for page in pages]
        best = max(shared)
        return pages[shared.index(best)] if shared.count(best) == 1 else -1


def _common(a: str, b: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for x, y in zip(a.split("/"), b.split("/"), strict=False):
        if x != y:
            break
        count += 1
    return count
