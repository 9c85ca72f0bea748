"""recrawl serve: a crawl over HTTP, for other programs and for browsers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recrawl.cli.options import add_address, add_crawl

EXAMPLES = """examples:
  recrawl serve -C news                                    http://127.0.0.1:8600/, for this machine alone
  curl -s 'http://127.0.0.1:8600/v1/status'
  recrawl serve -C news --host 0.0.0.0 --token-file news/serve.token --name crawler.example.org
  curl -H "Authorization: Bearer $(cat news/serve.token)" http://crawler.example.org:8600/v1/status

The token file is made, readable by its owner alone, where it does not exist. Put a proxy with TLS before a server that
other machines reach.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Serve a crawl over HTTP until Ctrl-C or SIGTERM."
    add_crawl(parser)
    add_address(parser, 8600)
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="file with the token that clients must send (DIR/serve.token)"
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="HOST", help="another host name of this server; may be repeated"
    )


def run(args: argparse.Namespace) -> None:
    """Serve until told to stop."""
    from recrawl.serve.serving import serve

    serve(args.crawl, args.host, args.port, token_file=args.token_file, names=args.name, say=_say)


def _say(line: str) -> None:
    print(f"recrawl: {line}", file=sys.stderr, flush=True)
