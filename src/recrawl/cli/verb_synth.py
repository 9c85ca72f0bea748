"""recrawl synth: write a synthetic web as a recording."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import add_json, add_seed, span
from recrawl.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa

EXAMPLES = """examples:
  recrawl synth mixed --pages 20000 --days 120 --seed 1 --out web
  recrawl synth brdc12 --pages 417048 --out brdc12
  recrawl synth poisson --pages 50000 --days 26w --seed 7 --out poisson --force --json
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from recrawl.simulate.synthetic.presets import presets

    parser.description = (
        "Write a synthetic web as a recording: the same preset, size and seed give the same bytes.\n\n"
        + "presets:\n"
        + "\n".join(f"  {e.name:<13} {e.formula}\n  {'':<13} ({e.source})" for e in presets)
    )
    parser.add_argument("preset", metavar="PRESET", help=", ".join(entry.name for entry in presets))
    parser.add_argument("--pages", type=int, default=20_000, metavar="N", help="pages in all (default 20000)")
    parser.add_argument("--days", type=span, metavar="D", help="length, such as 57, 57d or 8w (default: the preset's)")
    add_seed(parser, what="seed of the web")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument("--force", action="store_true", help="replace a recording that is there")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Generate, write, and print a summary."""
    from recrawl.recording.write import new_recording, write_tables
    from recrawl.simulate.synthetic.presets import preset
    from recrawl.simulate.synthetic.synthesis import check_size, generate

    chosen = preset(args.preset)
    days = args.days or chosen.days
    check_size(args.pages, days, args.seed)
    with progress("synth") as advance, new_recording(args.out, force=args.force) as folder:
        tables = generate(chosen, args.pages, days, args.seed, advance=advance)
        write_tables(tables, folder, advance=advance)
    found = {"preset": chosen.name, "seed": args.seed, "days": days, "out": str(args.out), **_summary(tables, days)}
    print(json.dumps(found, indent=2) if args.json else _sentence(found))


def _summary(tables: dict[str, pa.Table], days: float) -> dict[str, int | float]:
    import numpy as np

    page, day = (tables["changes"].column(name).to_numpy() for name in ("page_id", "day"))
    whole = np.ceil(day).astype(np.int64) - 1  # the days (0, 1], (1, 2], ...
    again = (np.diff(page) == 0) & (np.diff(whole) == 0)  # the changes are ordered by page and day
    changed = len(page) - int(again.sum())
    lived = _page_days(tables["pages"], days)
    rows = {name: table.num_rows for name, table in tables.items()}
    return {**rows, "changed_a_day": round(changed / lived, 4)}


def _page_days(pages: pa.Table, days: float) -> float:
    """How many days all pages together live in the window."""
    import numpy as np

    born = np.maximum(pages.column("born_day").to_numpy(), 0)
    died = pages.column("died_day").fill_null(days).to_numpy()
    return float((died - born).sum(dtype=np.float64))


def _sentence(found: dict[str, Any]) -> str:
    return (
        f"{found['out']}: {found['pages']:,} pages on {found['sites']:,} sites over {found['days']:g} days, "
        f"{found['changes']:,} changes ({found['changed_a_day']:.1%} of the pages per day), {found['links']:,} links"
    )
