"""Kill a process that delivers at random moments, start it again, and look at what arrived."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.deliver.delivery import deliver
from support.feed_crawls import deliver_to, many
from support.forked import forkserver
from support.receiver import Receiver


@dataclass
class DeliveryOrdeal:
    """What many kills came to."""

    kills: int = 0
    events: int = 0
    doubled: int = 0  # events that the receiver said yes to twice
    wrong: list[str] = field(default_factory=list)


def send(path: str) -> None:
    """Deliver until there is no more."""
    deliver(Path(path), follow=False, say=lambda _: None, stop=threading.Event())


def ordeal(folder: Path, kills: int, events: int, seed: int) -> DeliveryOrdeal:
    """Deliver so many events to a webhook and a file by processes of which all but the last are killed."""
    draw, context = random.Random(seed), forkserver()
    found = DeliveryOrdeal(kills)
    with Receiver(pause_s=0.002) as receiver:
        crawl = deliver_to(
            many(folder / "news", events, 1),
            f'name = "hook"\nto = "webhook:{receiver.url}"\nretry = ["0.01s", "0.01s", "0.01s"]',
            'name = "log"\nto = "jsonl:found.jsonl"\nbatch = 2',
        )
        for _ in range(kills):
            _run_and_kill(context, crawl, receiver, draw.randint(0, max(1, events // (kills + 2))), draw, found)
        process = context.Process(target=send, args=(str(crawl),))
        process.start()
        process.join(120)
        if process.exitcode != 0:
            found.wrong.append(f"the last run ended with {process.exitcode}")
        _check(receiver, crawl, events, found)
    return found


def _run_and_kill(
    context: Any, crawl: Path, receiver: Receiver, lives: int, draw: random.Random, found: DeliveryOrdeal
) -> None:
    """Kill a process at a random moment after the receiver has taken so many more events."""
    before, deadline = len(receiver.taken), time.monotonic() + 20
    process = context.Process(target=send, args=(str(crawl),))
    process.start()
    while len(receiver.taken) - before < lives and time.monotonic() < deadline and process.is_alive():
        time.sleep(0.001)
    time.sleep(draw.uniform(0.0, 0.02))
    process.kill()
    process.join(20)
    time.sleep(0.01)  # a request that was under way reaches the receiver


def _check(receiver: Receiver, crawl: Path, events: int, found: DeliveryOrdeal) -> None:
    numbers = [int(name.split(".")[1]) for name in receiver.ids]
    found.events = len(set(numbers))
    found.doubled = len(numbers) - found.events
    if sorted(set(numbers)) != list(range(1, events + 1)):
        found.wrong.append("events are missing")
    for i in range(1, len(numbers)):
        if numbers[i] not in (numbers[i - 1], numbers[i - 1] + 1):
            found.wrong.append(f"event {numbers[i]} came after {numbers[i - 1]}")
    if max(Counter(numbers).values()) > 2 and found.doubled > found.kills:
        found.wrong.append("an event came again without a kill")
    kept = [json.loads(line)["id"] for line in (crawl / "found.jsonl").read_text().splitlines()]
    if kept != list(range(1, events + 1)):
        found.wrong.append(f"the file has {len(kept)} events, {len(set(kept))} of them different")
