"""recrawl frontier: a crawl's schedule by the URLFrontier protocol (gRPC)."""

from __future__ import annotations

import argparse
import asyncio
import sys

from recrawl.cli.options import add_address, add_crawl

EXAMPLES = """examples:
  recrawl frontier -C news                       for StormCrawler and other clients of URLFrontier, at 127.0.0.1:7071
  recrawl frontier -C news --order theirs        a plain frontier: the clients' dates decide

The protocol knows no passwords. Clients on other machines need a tunnel; --anyone listens without one.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Give URLs away and take visits in by gRPC until Ctrl-C or SIGTERM."
    add_crawl(parser)
    add_address(parser, 7071)
    parser.add_argument(
        "--order",
        choices=("ours", "theirs"),
        default="ours",
        help="whose order items come in: recrawl's policy, or their dates (ours)",
    )
    parser.add_argument(
        "--anyone", action="store_true", help="accept other machines, although the protocol has no password"
    )


def run(args: argparse.Namespace) -> None:
    """Serve until told to stop."""
    from recrawl.errors import InputError
    from recrawl.serve.access import is_loopback

    if not is_loopback(args.host) and not args.anyone:
        raise InputError(f"other machines can reach {args.host}, and the protocol has no password: use a tunnel")
    from recrawl.urlfrontier.grpc_server import serve_frontier

    asyncio.run(serve_frontier(args.crawl, args.host, args.port, ours=args.order == "ours", say=_say))


def _say(line: str) -> None:
    print(f"recrawl: {line}", file=sys.stderr, flush=True)
