"""recrawl deliver: events to the sinks of recrawl.toml."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recrawl.cli.options import add_crawl, add_json
from recrawl.plain_text import shown

WAIT_S = 45.0  # for a child to end its deliveries
EXAMPLES = """examples:
  recrawl deliver -C news                        send what there is, and end
  recrawl deliver -C news --follow               go on as the crawl goes on
  recrawl deliver -C news --to webhook:https://example.org/hook --with diff
                                                 to this sink alone, which recrawl.toml need not name
  recrawl deliver -C news --again                also what was put aside; enable what was disabled

  [[deliver]]                                    in news/recrawl.toml
  name = "index"
  to = "webhook:https://example.org/hook"        or jsonl:PATH, files:DIR, parquet:DIR, command:PROGRAM
  with = ["markdown", "diff"]
  secret_file = "hook.secret"
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Hand events over, in order and at least once, to each sink."
    add_crawl(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--once", action="store_true", help="stop when everything is delivered (the default)")
    group.add_argument("--follow", action="store_true", help="keep delivering as the crawl goes on")
    parser.add_argument(
        "--to",
        metavar="SINK",
        help="deliver to this sink alone: webhook:URL, jsonl:PATH, files:DIR, ...; paths are relative to the crawl's",
    )
    parser.add_argument("--with", dest="include", metavar="LIST", help="with --to: diff, added, text, markdown, ...")
    parser.add_argument("--again", action="store_true", help="send dead letters again, and re-enable disabled sinks")
    add_json(parser, "print how far each sink is as JSON when it ends")
    parser.add_argument("--with-parent", action="store_true", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Deliver until the end, or SIGTERM; 1 if some events wait."""
    from recrawl.deliver.delivery import deliver, progress_of
    from recrawl.deliver.sink_settings import sink_to
    from recrawl.errors import InputError

    if args.include and not args.to:
        raise InputError("--with needs --to; sinks in recrawl.toml have a setting `with` of their own")
    sinks = [sink_to(args.crawl, args.to, args.include)] if args.to else None
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if args.with_parent:
        threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    done = deliver(args.crawl, follow=args.follow, again=args.again, sinks=sinks, say=_say, stop=stop)
    if args.json:
        print(json.dumps(progress_of(args.crawl, sinks), indent=2))
    return 0 if done else 1


def _say(line: str) -> None:
    print(shown(line), file=sys.stderr, flush=True)


def _watch(stop: threading.Event) -> None:
    """Wait until the parent closes our standard input, or dies."""
    sys.stdin.buffer.read()
    stop.set()


@contextmanager
def delivering(crawl: Path) -> Iterator[None]:
    """Deliver in a process of its own while a crawl runs; errors in the sinks' settings are raised at once."""
    from recrawl.deliver.sink_settings import make_sink, read_sinks
    from recrawl.errors import InputError

    settings = read_sinks(crawl)
    if not settings:
        raise InputError(f"{crawl / 'recrawl.toml'} has no [[deliver]]: there is no sink to deliver to")
    for setting in settings:
        make_sink(setting, None).close()
    words = [sys.executable, "-m", "recrawl", "deliver", "-C", str(crawl), "--follow", "--with-parent"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield
    finally:
        assert child.stdin is not None
        child.stdin.close()  # it sends what is left, then ends
        try:
            child.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            child.kill()
