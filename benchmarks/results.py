"""Render docs/results/*.md and BENCHMARKS.md from the committed figures in docs/results/data/*.json.

    python -m benchmarks.results            write the pages (make results)
    python -m benchmarks.results --check    exit code 1 if a page differs from its data

A data file is one page: `title`, `about` (blocks), and `results`, each with `question`, `answer`, `command` (a list),
`data`, `seed`, `date`, `commit` (the one that recorded the figures) and `body` (blocks). A block is `{"text": ...}`,
`{"list": [...]}`, `{"table": {"columns", "align", "rows"}}` or `{"image": ..., "path": ...}`. Cells are text as it was
printed, so no figure is rounded twice. `headlines.json` names the figures of BENCHMARKS.md and the result of each.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
DATA = RESULTS / "data"
ALIGN = {"l": "---", "r": "---:"}


def slug(heading: str) -> str:
    """Return the anchor that Markdown renderers give a heading."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


def table(value: dict[str, Any]) -> str:
    """Lay out a table; a row with another number of cells than columns is an error of the data."""
    columns, rows = value["columns"], value["rows"]
    align = value.get("align", "l" + "r" * (len(columns) - 1))
    for row in (align, *rows):
        if len(row) != len(columns):
            raise ValueError(f"{len(row)} cells in a table of {len(columns)} columns: {row}")
    lines = [columns, [ALIGN[a] for a in align], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def block(value: dict[str, Any]) -> str:
    """Render one block of a body."""
    if "table" in value:
        return table(value["table"])
    if "list" in value:
        return "\n".join(f"- {line}" for line in value["list"])
    if "image" in value:
        return f"![{value['image']}]({value['path']})"
    return str(value["text"])


def commands(lines: list[str]) -> str:
    """Render the commands that made a result."""
    return "\n".join(f"    {line}" for line in lines)


def result(value: dict[str, Any]) -> str:
    """Render one result: question, answer, how it was made, body."""
    made = f"Data: {value['data']}. Seed: {value['seed']}. Date: {value['date']}, commit {value['commit']}."
    parts = [f"## {value['question']}", f"**{value['answer']}**", commands(value["command"]), made]
    return "\n\n".join([*parts, *(block(b) for b in value["body"])])


def page(name: str, value: dict[str, Any]) -> str:
    """Render one page of results."""
    head = f"<!-- Rendered by `make results` from data/{name}.json: edit that file. -->"
    parts = [f"# {value['title']}", head, *(block(b) for b in value["about"]), *(result(r) for r in value["results"])]
    return "\n\n".join(parts) + "\n"


def find(pages: dict[str, dict[str, Any]], where: str) -> dict[str, Any]:
    """Return the result that a headline names as PAGE#ANCHOR."""
    name, _, anchor = where.partition("#")
    found = [r for r in pages[name]["results"] if slug(r["question"]) == anchor]
    if len(found) != 1:
        raise ValueError(f"headline {where!r} names {len(found)} results")
    return dict(found[0])


def benchmarks(value: dict[str, Any], pages: dict[str, dict[str, Any]]) -> str:
    """Render BENCHMARKS.md: machine, data, and one row per headline."""
    rows = []
    for line in value["headlines"]:
        made = find(pages, line["result"]) | line  # a headline may name a part of a result's dates
        link = f"docs/results/{line['result'].replace('#', '.md#')}"
        rows.append([f"[{made['what']}]({link})", made["figure"], f"`{made['command']}`", made["date"], made["commit"]])
    columns = ["what", "measured", "command", "date", "commit"]
    shown = table({"columns": columns, "align": "lllll", "rows": rows})
    listed = "\n".join(f"- [{v['title']}](docs/results/{name}.md)" for name, v in pages.items())
    head = "<!-- Rendered by `make results` from docs/results/data/headlines.json: edit that file. -->"
    parts = [
        head,
        "# Benchmarks",
        *(block(b) for b in value["about"]),
        shown,
        *(block(b) for b in value["below"]),
        listed,
    ]
    return "\n\n".join(parts) + "\n"


def index(pages: dict[str, dict[str, Any]]) -> str:
    """Render the list of all results: every question with its answer."""
    lines = ["# Results", "<!-- Rendered by `make results` from data/*.json. -->"]
    for name, value in pages.items():
        asked = "\n".join(
            f"- [{r['question']}]({name}.md#{slug(r['question'])}) {r['answer']}" for r in value["results"]
        )
        lines += [f"## [{value['title']}]({name}.md)", asked]
    return "\n\n".join(lines) + "\n"


def render() -> dict[Path, str]:
    """Return every rendered file with its text."""
    order = json.loads((DATA / "headlines.json").read_text())
    pages = {name: json.loads((DATA / f"{name}.json").read_text()) for name in order["pages"]}
    files = {RESULTS / f"{name}.md": page(name, value) for name, value in pages.items()}
    return files | {RESULTS / "index.md": index(pages), ROOT / "BENCHMARKS.md": benchmarks(order, pages)}


def main() -> None:
    """Write the pages, or with --check name those that differ."""
    files = render()
    if "--check" not in sys.argv[1:]:
        for path, text in files.items():
            path.write_text(text)
        return
    stale = [str(p.relative_to(ROOT)) for p, text in files.items() if not p.exists() or p.read_text() != text]
    if stale:
        raise SystemExit(f"not as their data say (make results): {', '.join(stale)}")


if __name__ == "__main__":
    main()
