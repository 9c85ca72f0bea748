"""Turn the results.json of a paper's experiment into a result of docs/results/data, ready to be rendered.

    python -m benchmarks.record_paper OUT/results.json PAGE --question Q --answer A --data D [--date DATE] [--commit C]

OUT is the folder of `recrawl experiment gp4c|focus|clusters|outlinks|experts ... --out OUT`. The result has the
command, the paper's main table with our numbers, and every finding with its verdict. --commit is the one that the
experiment ran at, where it is not the present one; --note adds a paragraph. A result of the same question on the page
is replaced. `make results` renders the page.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import DATA, ROOT

Block = dict[str, Any]


def table(columns: list[str], rows: list[list[str]], align: str = "") -> Block:
    """A table of cells."""
    return {"table": {"columns": columns, "align": align or "l" + "r" * (len(columns) - 1), "rows": rows}}


def with_half(point: dict[str, Any], half: str) -> str:
    """A mean with its interval."""
    return f"{point['mean']:.4f}" + (f" ± {point[half]:.4f}" if point[half] is not None else "")


def findings(claims: list[dict[str, Any]]) -> Block:
    """Every claim with its verdict."""
    rows = [[f["claim"], f["verdict"], f["seen"]] for f in claims]
    return table(["the paper says", "holds here", "seen"], rows, "lll")


def gp4c(found: dict[str, Any]) -> list[Block]:
    """Table 2 with the paper's, the printed formulas, and the findings."""
    rows, measures = [], ("ChangeRate", "NDCG")
    evolved = {f"GP4C {name.split('/')[0].capitalize()}": name.split("/")[0] for name in found["evolved"]}
    for method in (*found["baselines"], *evolved):
        cells = []
        for measure in measures:
            if method in evolved:
                ours = found["evolved"][f"{evolved[method]}/{measure.lower()}"]["selections"]["best"][measure]
            else:
                ours = found["baselines"][method][measure]
            paper = found["paper"]["table2"].get(method, {}).get(measure)
            cells += [with_half(ours, "ci95"), f"{paper[0]:.4f} ± {paper[1]:.4f}" if paper else ""]
        rows.append([method, *cells])
    printed = [
        [name, *(f"{forms[form][m]['mean']:.4f}" for m in range(2) for form in ("rate", "chance"))]
        for name, forms in found["table4"].items()
    ]
    heads = [f"{measure}, {form}s" for measure in measures for form in ("rate", "chance")]
    return [
        table(["method", "ChangeRate", "paper", "NDCG", "paper"], rows),
        findings(found["findings"]),
        {"text": "The formulas that the paper's Table 4 prints, on the same test sets:"},
        table(["printed formula", *heads], printed),
    ]


def focus(found: dict[str, Any]) -> list[Block]:
    """Per topic the harvest of every strategy, and the findings."""
    blocks: list[Block] = []
    for topic in found["topics"]:
        web, quality = topic["web"], topic["classifier"]
        about = (
            f"`{topic['topic']}`: {quality['relevant']:,} relevant of {web['pages']:,} pages, {web['good']:,} in reach"
        )
        blocks.append({"text": f"{about}; strategies evolved on `{topic['evolved_on']}`"})
        heads = [f"{size:,} pages, {trial['seeds']} seeds" for trial in topic["trials"] for size in topic["pages"]]
        rows = [
            [
                name,
                *(
                    with_half(point, "half")
                    for trial in topic["trials"]
                    for point in trial["measures"]["harvest"][name]
                ),
            ]
            for name in topic["trials"][0]["measures"]["harvest"]
        ]
        blocks += [table(["harvest", *heads], rows), *_weights(topic["evolved"]), findings(topic["findings"])]
        blocks += [{"list": topic["notes"]}] if topic["notes"] else []
    between = [{"text": "One topic beside another:"}, findings(found["findings"])]
    return [*blocks, *(between if found["findings"] else [])]


def _weights(evolved: list[dict[str, Any]]) -> list[Block]:
    """The weights of the strategies that were evolved for a topic (Table 1)."""
    parts = [each["weights"][0] for each in evolved]
    rows = [[score, *(f"{weights[score]:.3f}" for weights in parts)] for score in parts[0]] if parts else []
    return [table(["weight", *(each["name"] for each in evolved)], rows)] if rows else []


def three(value: float | None) -> str:
    """A number of three digits, a dash for none."""
    return "–" if value is None else f"{value:.3f}"


def clusters(found: dict[str, Any]) -> list[Block]:
    """Fig 4 with its intervals at every cycle length and budget, Tables 2 and 3, Fig 2; the findings."""
    places = list(dict.fromkeys((run["cycle_days"], run["budget"]) for run in found["policies"]))
    policies = list(dict.fromkeys(run["policy"] for run in found["policies"]))
    runs = {(run["cycle_days"], run["budget"], run["policy"]): run for run in found["policies"]}
    heads = [f"{cycle:g} d, {budget:.1%}" for cycle, budget in places]
    blocks: list[Block] = []
    for measure, key in (("ChangeRatio", "change"), ("freshness@10", "fresh"), ("MAP@10", "precision")):
        rows = [[p, *(with_width(runs[(*place, p)], measure, key) for place in places)] for p in policies]
        blocks += [table([measure, *heads], rows)] if rows else []
    if blocks:
        blocks.append({"text": f"After ±: 95% interval over the {found['protocol']['intervals over']}."})
    tables = [*_units(found), *_feature_sets(found), *_t_values(found), *_newborn(found)]
    return [*blocks, *tables, *([findings(found["findings"])] if found["findings"] else [])]


def with_width(run: dict[str, Any], measure: str, key: str) -> str:
    """A mean, and the half-width of its 95% interval where there is one."""
    half = run["half-widths"][key]
    return three(run[measure]) if half is None else f"{three(run[measure])} ± {half:.3f}"


def _newborn(found: dict[str, Any]) -> list[Block]:
    """Visits to pages born in the window that the crawler had a copy of."""
    rows = []
    for born in found["cold"]:
        shares = [f"{100 * born['found'] / max(born[of], 1):.1f}%" for of in ("visits", "stale")]
        rows.append([born["policy"], f"{born['visits']:,}", f"{born['found']:,}", *shares, three(born["change"])])
    head = ["newborn pages", "visits", "found changed", "of the visits", "of the stale ones", "ChangeRatio, all pages"]
    return [table(head, rows)] if rows else []


def _units(found: dict[str, Any]) -> list[Block]:
    rows = []
    for unit, seeds in found["units"].items():
        sizes = [np.array(each) for each in seeds]
        kinds = (len, np.min, np.max, np.mean, np.std)
        rows.append([unit, *(f"{np.mean([float(kind(each)) for each in sizes]):,.0f}" for kind in kinds)])
    return [table(["Table 2: unit", "units", "fewest pages", "most", "mean", "deviation"], rows)] if rows else []


def _feature_sets(found: dict[str, Any]) -> list[Block]:
    budgets = list(dict.fromkeys(point["budget"] for point in found["features"]))
    value = {(p["features"], p["budget"]): float(np.nanmean(p["ChangeRatio"])) for p in found["features"]}
    sets = list(dict.fromkeys(which for which, _ in value))
    rows = [[which, *(three(value[which, budget]) for budget in budgets)] for which in sets]
    return [table(["Fig 2: ChangeRatio of cls-nad", *(f"{b:.1%}" for b in budgets)], rows)] if rows else []


def _t_values(found: dict[str, Any]) -> list[Block]:
    rivals, rows = ("rand", "round-robin", "freq", "sls"), []
    for place in (place for place in found["t-values"] if place["of"] == "precision"):
        for policy, others in place["t two samples, t pairs"].items():
            cells = [f"{others[r][0]:+.2f} ({others[r][1]:+.2f})" for r in rivals]
            rows.append([f"{place['cycle_days']:g} d, {place['budget']:.1%}", policy, *cells])
    head = ["Table 3: t of MAP@10, two samples (pairs)", "policy", *rivals]
    return [table(head, rows, "ll" + "r" * len(rivals))] if rows else []


def outlinks(found: dict[str, Any]) -> list[Block]:
    """Figs 9, 10, 12 and 14, Table 3: errors by set of features, accuracy by history, ranks; the findings."""
    sorts = ("internal", "external")
    blocks = []
    parts = (("static", "R2", "LCR by static features, R2"), ("history", "accuracy (b)", "NL, balanced accuracy"))
    for part, key, head in parts:
        rows = [
            [name, *(spread(found[part][w][name], key) for w in sorts), *(chosen(found[part][w][name]) for w in sorts)]
            for name in found[part]["internal"]
        ]
        blocks.append(table([head, *sorts, *(f"learner, {w}" for w in sorts)], rows))
    blocks.append(_tuned(found))
    ranked = found["rankings"]
    keys = ("LCR", "NL", "NNL", "area", "found")
    rows = [[name, *(three(ranked[w][name][key]) for w in sorts for key in keys)] for name in ranked["internal"]]
    blocks.append(table(["ranking", *(f"{key}, {w}" for w in sorts for key in keys)], rows))
    for key, head in (("history_importance", "importance for NL with all history"), ("lbla_importance", "of LBLA")):
        pairs = list(zip(*(found[key][w][:5] for w in sorts), strict=True))
        rows = [[str(i), *(f"{name} ({fall:.4f})" for name, _, fall in pair)] for i, pair in enumerate(pairs, 1)]
        blocks.append(table([head, *sorts], rows, "lll"))
    rows = [[f["links"], f["claim"], f["verdict"], f["seen"]] for f in found["findings"]]
    return [*blocks, table(["links", "the paper says", "holds here", "seen"], rows, "llll")]


def spread(score: dict[str, Any], key: str) -> str:
    """A mean, and the standard deviation over the draws."""
    values = np.array(score["repeats"][key], dtype=np.float64)
    return f"{three(score[key])} ± {values.std(ddof=1):.3f}" if len(values) > 1 else three(score[key])


def chosen(score: dict[str, Any]) -> str:
    """The learners that were chosen, each with how often."""
    learners = score["learners"]
    return ", ".join(f"{name} {learners.count(name)}x" for name in dict.fromkeys(learners))


def _tuned(found: dict[str, Any]) -> Block:
    rows = []
    for where, scores in found["history"].items():
        for name, score in scores.items():
            settings = score["tuned"].get("extratrees", [])
            if settings:
                cells = [", ".join(str(options[key]) for options in settings) for key in ("trees", "leaf")]
                rows.append([where, name, *cells])
    return table(["Table 3: links", "history", "trees", "fewest samples on a leaf"], rows, "llll")


def experts(found: dict[str, Any]) -> list[Block]:
    """Tables 1 to 3 of every protocol with the paper's, the crawl by their models, the policies; the findings."""
    blocks: list[Block] = []
    paper = {name: value for number in (3, 2, 1) for name, value in found["paper"][f"table{number}"].items()}
    for protocol in found["protocols"]:
        about = f"{protocol['name']}: {protocol['judged_pages']} pages, {protocol['predictions']:,} predictions"
        rows = [
            [method, percent(value), hundredth(protocol["balanced"][method]), f"{paper.get(method, '–')}"]
            for method, value in protocol["accuracy"].items()
        ]
        blocks += [{"text": about}, table(["method", "accuracy, %", "balanced, %", "paper, %"], rows)]
        blocks.append(findings(protocol["findings"]))
    if found["batch_crawl"]:
        crawl = found["batch_crawl"]
        about = f"Fig 8 by these models, learnt once: {crawl['pages']} pages, {crawl['visits']} visits per step"
        rows = [[method, percent(value)] for method, value in crawl["freshness"].items()]
        blocks += [{"text": about}, table(["method", "freshness, %"], rows), findings(crawl["findings"])]
    for name, crawl in found["crawls"].items():
        rows = [[policy, percent(values["FreshnessEnd"])] for policy, values in crawl["policies"].items()]
        about = f"Fig 8 by policies that learn on the way: {name}, {crawl['pages']} pages, {crawl['visits']} visits"
        blocks += [{"text": about}, table(["policy", "freshness, %"], rows), findings(crawl["findings"])]
    return blocks


def hundredth(value: float | None) -> str:
    """A share in percent, a dash for none."""
    return "–" if value is None else f"{100 * value:.1f}"


def percent(point: dict[str, Any]) -> str:
    """A mean with its interval, in percent."""
    return f"{100 * point['mean']:.2f}" + (f" ± {100 * point['half']:.2f}" if point["half"] is not None else "")


PAGES = {"gp4c": gp4c, "focus": focus, "clusters": clusters, "outlinks": outlinks, "experts": experts}


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
    parser.add_argument("page", choices=tuple(PAGES))
    for option in ("question", "answer", "data"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--date", default=datetime.now(UTC).date().isoformat())
    parser.add_argument("--seed", default="as in the command")
    parser.add_argument("--commit", default="")
    parser.add_argument("--note", default="")
    args = parser.parse_args()
    found = json.loads(args.results.read_text())
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    result = {
        "question": args.question,
        "answer": args.answer,
        "command": [re.sub(r"(?<= )/\S*/", "", found["command"])],  # without the folders of this machine
        "data": args.data,
        "seed": args.seed,
        "date": args.date,
        "commit": args.commit or commit.stdout.strip(),
        "body": PAGES[args.page](found) + ([{"text": args.note}] if args.note else []),
    }
    path = DATA / f"{args.page}.json"
    page = json.loads(path.read_text())
    asked = [r["question"] for r in page["results"]]
    at = asked.index(args.question) if args.question in asked else len(asked)
    page["results"][at : at + 1] = [result]
    path.write_text(laid_out(page) + "\n")


if __name__ == "__main__":
    main()
