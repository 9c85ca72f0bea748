"""recrawl export: a crawl's history for other tools."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from recrawl.cli.options import add_crawl, add_json, crawl_of, with_zone

EXAMPLES = """examples:
  recrawl export -C news recording history       then: recrawl compare history
  recrawl export -C news csv tables              pages.csv, visits.csv, links.csv
  recrawl export -C news warc bodies             gzipped WARC files, digests verified
  recrawl export -C news corpus texts --format jsonl --since 7d     the newest copy of every page that changed
"""
FORMATS = ("parquet", "jsonl", "files", "markdown")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_crawl(parser)
    parser.add_argument("what", choices=("recording", "csv", "warc", "corpus"))
    parser.add_argument("dest", type=Path, metavar="DEST", help="a folder to make")
    parser.add_argument("--format", choices=FORMATS, default="parquet", help="file format of a corpus (parquet)")
    parser.add_argument(
        "--since", type=with_zone, metavar="TIME|7d", help="corpus: only pages that changed or disappeared since"
    )
    parser.add_argument("--force", action="store_true", help="replace what an earlier export left there")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Write one of the four."""
    if args.what == "corpus":
        from recrawl.deliver.corpus import export_corpus

        written = export_corpus(args.crawl, args.dest, args.format, args.since, force=args.force)
    else:
        written = crawl_of(args).export(args.what, args.dest, force=args.force)
    said = {"what": args.what, "dest": str(args.dest), "written": written}
    print(json.dumps(said) if args.json else f"{args.dest}: {written}")
