"""Turn the results.json of a paper's experiment into a result of docs/results/data, ready to be rendered.

    python -m benchmarks.record_paper OUT/results.json PAGE --question Q --answer A --data D [--date DATE]

OUT is the folder of `recrawl experiment gp4c|focus ... --out OUT`. The result has the command, the paper's numbers
beside ours (GP4C: Table 2) or the harvest of every strategy (focus), and every finding with its verdict. A result of
the same question on the page is replaced. `make results` renders the page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.results import DATA, ROOT

Block = dict[str, Any]


def table(columns: list[str], rows: list[list[str]], align: str = "") -> Block:
    """A table of cells."""
    return {"table": {"columns": columns, "align": align or "l" + "r" * (len(columns) - 1), "rows": rows}}


def said(point: dict[str, Any], half: str) -> str:
    """A mean with its interval."""
    return f"{point['mean']:.4f}" + (f" ± {point[half]:.4f}" if point[half] is not None else "")


def findings(found: list[dict[str, Any]]) -> Block:
    """Every claim with its verdict."""
    rows = [[f["claim"], f["verdict"], f["seen"]] for f in found]
    return table(["the paper says", "holds here", "seen"], rows, "lll")


def gp4c(held: dict[str, Any]) -> list[Block]:
    """Table 2 with the paper's, the printed formulas, and the findings."""
    rows, measures = [], ("ChangeRate", "NDCG")
    evolved = {f"GP4C {name.split('/')[0].capitalize()}": name.split("/")[0] for name in held["evolved"]}
    for method in (*held["baselines"], *evolved):
        cells = []
        for measure in measures:
            if method in evolved:
                ours = held["evolved"][f"{evolved[method]}/{measure.lower()}"]["selections"]["best"][measure]
            else:
                ours = held["baselines"][method][measure]
            paper = held["paper"]["table2"].get(method, {}).get(measure)
            cells += [said(ours, "ci95"), f"{paper[0]:.4f} ± {paper[1]:.4f}" if paper else ""]
        rows.append([method, *cells])
    printed = [
        [name, *(f"{forms[form][m]['mean']:.4f}" for m in range(2) for form in ("rate", "chance"))]
        for name, forms in held["table4"].items()
    ]
    heads = [f"{measure}, {form}s" for measure in measures for form in ("rate", "chance")]
    return [
        table(["method", "ChangeRate", "paper", "NDCG", "paper"], rows),
        findings(held["findings"]),
        {"text": "The formulas that the paper's Table 4 prints, on the same test sets:"},
        table(["printed formula", *heads], printed),
    ]


def focus(held: dict[str, Any]) -> list[Block]:
    """Per topic the harvest of every strategy, and the findings."""
    blocks: list[Block] = []
    for topic in held["topics"]:
        web, quality = topic["web"], topic["classifier"]
        about = (
            f"`{topic['topic']}`: {quality['relevant']:,} relevant of {web['pages']:,} pages, {web['good']:,} in reach"
        )
        blocks.append({"text": f"{about}; strategies evolved on `{topic['evolved_on']}`"})
        heads = [f"{size:,} pages, {trial['seeds']} seeds" for trial in topic["trials"] for size in topic["pages"]]
        rows = [
            [name, *(said(point, "half") for trial in topic["trials"] for point in trial["measures"]["harvest"][name])]
            for name in topic["trials"][0]["measures"]["harvest"]
        ]
        blocks += [table(["harvest", *heads], rows), findings(topic["findings"])]
        blocks += [{"list": topic["notes"]}] if topic["notes"] else []
    return blocks


def laid_out(value: Any, key: str = "", depth: int = 0) -> str:
    """Write JSON as the data files have it: an indent of one, and the columns and rows of a table on a line each."""
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(k)}: {laid_out(v, k, depth + 1)}" for k, v in value.items()]
        return "{" + inner + f",{inner}".join(parts) + outer + "}"
    if isinstance(value, list) and value and key not in ("columns", "row"):
        parts = [laid_out(v, "row" if key == "rows" else "", depth + 1) for v in value]
        return "[" + inner + f",{inner}".join(parts) + outer + "]"
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Write the result into its page's data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("page", choices=("gp4c", "focus"))
    for option in ("question", "answer", "data"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--date", default=datetime.now(UTC).date().isoformat())
    parser.add_argument("--seed", default="as in the command")
    args = parser.parse_args()
    held = json.loads(args.results.read_text())
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    result = {
        "question": args.question,
        "answer": args.answer,
        "command": [held["command"]],
        "data": args.data,
        "seed": args.seed,
        "date": args.date,
        "commit": commit.stdout.strip(),
        "body": {"gp4c": gp4c, "focus": focus}[args.page](held),
    }
    path = DATA / f"{args.page}.json"
    page = json.loads(path.read_text())
    asked = [r["question"] for r in page["results"]]
    at = asked.index(args.question) if args.question in asked else len(asked)
    page["results"][at : at + 1] = [result]
    path.write_text(laid_out(page) + "\n")


if __name__ == "__main__":
    main()
