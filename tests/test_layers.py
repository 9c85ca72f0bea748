"""Imports point one way, and no policy can see a recording."""

from __future__ import annotations

import ast
from pathlib import Path

from support.source_trees import SOURCE, modules, nodes

# A package may import those before it, never those after it. Packages on one line do not know each other.
LAYERS = [
    {
        "errors",
        "client",
        "columns",
        "call_types",
        "compiled",
        "hashing",
        "joined_texts",
        "lane_code",
        "sha1_lanes",
        "blake2b_lanes",
        "spans",
        "registry",
        "plugins",
        "plain_text",
        "extras",
        "clock",
        "progress",
        "arguments",
        "visits",
        "copies",
        "eligibility",
        "first_visits",
        "memory",
        "plan",
        "policy",
        "cycle",
    },
    {"recording", "urls"},
    {"see"},
    {"features", "fetch", "focus", "importers"},
    {"policies", "simulate"},
    {"evaluate"},
    {"report"},
    {"evolve"},
    {"live"},
    {"deliver"},
    {"papers", "demo", "scrapy", "serve", "urlfrontier", "fleet"},
    {"cli"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}


def imports_of(path: Path) -> set[str]:
    """First-level recrawl packages that a module imports, wherever in the file."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recrawl"):
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("recrawl.")}
    return found - {"__version__"}


def test_imports_point_one_way() -> None:
    """A module imports only packages that come before its own."""
    wrong = []
    for path in modules():
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for other in imports_of(path) - {own}:
            if not (LEVEL[other] < LEVEL[own] or (LEVEL[own] == 0 and LEVEL[other] == 0)):
                wrong.append(f"{path.relative_to(SOURCE)} imports {other}")
    assert not wrong


def test_no_policy_sees_a_recording() -> None:
    """A policy knows only what its visits showed: no module under policies/ imports the recording package."""
    paths = [p for p in modules() if p.is_relative_to(SOURCE / "policies") and "recording" in imports_of(p)]
    assert not paths


def test_only_fetch_remember_and_servers_do_network_io() -> None:
    """No module outside fetch and the replay server opens a socket."""
    allowed = {"fetch", "simulate"}
    wrong = []
    for path in modules():
        own = path.relative_to(SOURCE).parts[0]
        if own not in allowed and any(
            isinstance(n, (ast.Import, ast.ImportFrom)) and "socket" in ast.unparse(n) for n in nodes(path)
        ):
            wrong.append(str(path))
    assert not wrong


def test_the_sql_of_a_crawl_is_in_its_store() -> None:
    """Nobody but store*.py of live and its folders speaks to a crawl's database; all others call methods with names."""
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in modules()
        if not path.name.startswith("store") or path.relative_to(SOURCE).parts[0] != "live"
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr == "db"
    ]
    assert not wrong
