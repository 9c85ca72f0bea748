"""recrawl adopt: the history of another crawler as a recording, or as the beginning of a crawl."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from recrawl.cli.options import span

EXAMPLES = """examples:
  recrawl adopt csv visits.csv.gz --out history          header: url,time,digest (or status)
  recrawl adopt cdxj cdx-00000.gz --out history
  recrawl adopt warc crawl-*.warc.gz --out history       with texts and links
  recrawl adopt nutch monday.json tuesday.json --out history
  recrawl adopt git . --map 'docs/**/*.md=https://site.example/{path}/' --out site
  recrawl compare history --policies age,bayes,learned   then: what would other policies have found?
  recrawl adopt csv visits.csv -C news                   or: a new crawl begins with what is known
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from recrawl.importers.kinds import KINDS

    kinds = "\n".join(f"  {k.name:<13} {k.looks}\n{'':16}{k.tells}" for k in KINDS.values())
    parser.description = (
        "Make a recording of another crawler's history, or begin a crawl with it.\n\nkinds of history:\n" + kinds
    )
    parser.add_argument("kind", metavar="KIND", help="one of those above")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SRC", help="files or folders; - is standard input")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, metavar="DIR", help="folder of the recording to write")
    target.add_argument(
        "-C",
        dest="crawl",
        type=Path,
        metavar="DIR",
        help="a crawl that has made no visit yet: the history becomes its own",
    )
    parser.add_argument("--force", action="store_true", help="replace a recording that is there")
    parser.add_argument(
        "--settle", type=span, metavar="SPAN", help="pages first seen within SPAN exist from day 0 (5%% of the history)"
    )
    parser.add_argument("--site", action="append", default=[], metavar="HOST", help="only this host; may be repeated")
    parser.add_argument("--since", metavar="TIME", help="only visits from this time on")
    parser.add_argument(
        "--map", action="append", default=[], metavar="GLOB=URL", help="git: the URLs of the files that match"
    )
    parser.add_argument("--url-field", default="url", metavar="F", help="feed: field with the URL (url)")
    parser.add_argument(
        "--time-field", default="time", metavar="F", help="feed: field with the time of the visit (time)"
    )
    parser.add_argument(
        "--digest-fields",
        default="",
        metavar="F,G",
        help="feed: fields whose change is a change of the page (all others)",
    )
    parser.add_argument("--trust", action="store_true", help="sitemap: take every new lastmod for a change")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> None:
    """Read, assemble, write, and print a summary."""
    from recrawl.importers.adopting import adopt
    from recrawl.importers.import_options import ImportOptions

    options = ImportOptions(
        url_field=args.url_field,
        time_field=args.time_field,
        digest_fields=tuple(name for name in args.digest_fields.split(",") if name),
        maps=tuple(args.map),
        trust=args.trust,
        hosts=tuple(args.site),
    )
    if args.crawl is not None:
        from recrawl.cli.options import crawl_of
        from recrawl.live.warm_start import warm_start

        start = warm_start(crawl_of(args), args.kind, args.sources, options=options, since=args.since)
        print(json.dumps(asdict(start), indent=2) if args.json else start.line())
        return
    adoption = adopt(
        args.kind,
        args.sources,
        args.out,
        options=options,
        settle_days=args.settle,
        since=args.since,
        force=args.force,
    )
    if args.json:
        print(json.dumps(adoption.to_dict(), indent=2))
        return
    for line in adoption.lines():
        print(line)
    print(f"wrote {args.out}; next: recrawl describe {args.out}; recrawl compare {args.out}")
