"""Sink: takes events in order; they are safe when `send` returns."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recrawl.errors import RecrawlError
from recrawl.live.feed import USUAL, Event
from recrawl.registry import Registry

# seconds until the next try, after the first, the second, ... failed one (Standard Webhooks 1.0, operational advice)
RETRY_S = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)

CRAWL_FILES = frozenset(
    {"recrawl.toml", "state.sqlite", "deliver.sqlite", "log.jsonl", "log.1.jsonl", "warc", "models", "reports"}
)


class DeliveryError(RecrawlError):
    """Events could not be handed over now; they are sent again, unless the receiver asks for no more (`disable`)."""

    def __init__(self, reason: str, *, retry_after_s: float = 0.0, disable: bool = False) -> None:
        super().__init__(" ".join(reason.split())[:300])
        self.retry_after_s = retry_after_s
        self.disable = disable


@dataclass(frozen=True)
class SinkSetting:
    """One [[deliver]] of recrawl.toml."""

    name: str
    to: str
    folder: Path  # the crawl's, to which paths are relative
    types: tuple[str, ...] = USUAL
    include: tuple[str, ...] = ()  # `with` in the file
    hosts: tuple[str, ...] = ()
    contains: str = ""
    significant: bool = False
    secret: bytes | None = field(default=None, repr=False)
    batch: int = 0  # events at once; 0: the sink's default
    since: str | None = None  # where a new sink begins; None: with the first event
    retry_s: tuple[float, ...] = RETRY_S
    timeout_s: float = 20.0
    git: bool = False
    suffix: str = ".md"

    @property
    def scheme(self) -> str:
        """What kind of sink it is: `jsonl` of `jsonl:found.jsonl`."""
        return self.to.partition(":")[0]

    @property
    def target(self) -> str:
        """Where to: `found.jsonl` of `jsonl:found.jsonl`."""
        return self.to.partition(":")[2]

    @property
    def path(self) -> Path:
        """The target as a path; ValueError if it belongs to the crawl itself."""
        path = self.folder / Path(self.target).expanduser()
        whole, crawl = (Path(os.path.abspath(each)) for each in (path, self.folder))
        inside = whole.relative_to(crawl).parts if whole.is_relative_to(crawl) else ("",)
        if not inside or inside[0] in CRAWL_FILES:
            raise ValueError("belongs to the crawl itself; choose another name")
        return path

    def wants(self, event: Event) -> bool:
        """Whether an event is for this sink, as far as its address decides; the end of a cycle is for all."""
        if "url" not in event:
            return True
        host = event["url"].split("/", 3)[2].rsplit("@", 1)[-1]
        names = {host, host.rsplit(":", 1)[0]}
        inside = not self.hosts or any(_covers(rule, name) for rule in self.hosts for name in names)
        return inside and self.contains in event["url"]

    def takes(self, event: Event) -> bool:
        """Whether an event's change is large enough; what cannot be compared is let through."""
        return not self.significant or event.get("change") is None or event["change"]["significant"] is not False


class Sink:
    """Takes events. Subclasses define `send`; the other attributes set batches and contents."""

    batch = 1  # events at once
    types: tuple[str, ...] = ()  # that it needs besides those asked for
    include: tuple[str, ...] = ()  # contents that it needs
    whole_cycles = False  # wait until a cycle is done, and then take all of it

    def send(self, events: Sequence[Event]) -> str | None:
        """Hand events over: on return they are safe. The text returned is kept with the cursor, for the next start.

        After any exception the events are sent again later; a DeliveryError can set when.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what is open."""


sinks: Registry[Sink] = Registry("kind of sink", group="recrawl.sinks")
add_sink = sinks.add


def lines(events: Sequence[Event]) -> bytes:
    """Return events as JSON lines; text from the web is escaped, so none of it ends a line or controls a terminal."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def _covers(rule: str, host: str) -> bool:
    return host == rule or (rule.startswith("*.") and (host.endswith(rule[1:]) or host == rule[2:]))
