"""Deliver a crawl's events: a thread and a cursor for each sink, so that one that fails blocks only itself.

Events are sent in order, and the cursor moves when the sink has them safe (at-least-once delivery). What fails is sent
again on a schedule with jitter; what has failed as often as the schedule allows becomes a dead letter, and the rest
goes on.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recrawl.deliver.cursors import Cursors
from recrawl.deliver.sink import DeliveryError, SinkSetting
from recrawl.deliver.sink_settings import make_sink, read_sinks
from recrawl.errors import InputError, RecrawlError, StoreError
from recrawl.live.feed import START, Event, EventFeed

POLL_S = 1.0
PATIENCE_S = 10.0  # without --follow, a shorter wait for the next try is waited for
DRAIN_S = 30.0  # how long deliveries may go on after a request to stop
MAX_BATCH_BYTES = 32 << 20
JITTER = 0.25

Say = Callable[[str], None]


class Delivery:
    """One sink's way through the feed."""

    def __init__(self, setting: SinkSetting, cursors: Cursors) -> None:
        self.setting = setting
        self.cursors = cursors
        status = cursors.status(setting.name)
        self.sink = make_sink(setting, status.state)
        self.batch = setting.batch or self.sink.batch
        self._state = status.state
        self._last = status.last
        self._feed: EventFeed | None = None
        self._events: Iterator[Event] | None = None
        self._pending: list[Event] = []
        self._draw = random.Random()
        self.sent = 0  # events

    def feed(self, since: str | None, *, complete: bool) -> EventFeed:
        """Open the feed of the events for this sink."""
        wanted, sink = self.setting, self.sink
        include = {*wanted.include, *sink.include} | ({"change"} if wanted.significant else set())
        types = {*wanted.types, *sink.types}
        return EventFeed(wanted.folder, since, types=types, include=include, wants=wanted.wants, complete=complete)

    def step(self, *, follow: bool) -> float | None:
        """Send the next batch: 0 if it was taken, the seconds until the next try if not, None if there is no more."""
        status = self.cursors.status(self.setting.name)
        if status.disabled:
            return None
        wait_s = status.next_at - time.time()
        if wait_s > 0:
            return wait_s
        if not self._pending:
            self._gather(follow)
        if not self._pending:
            return None
        return self._send(status.tries)

    def _gather(self, follow: bool) -> None:
        """Read the next batch; where there is none, move the cursor past events that are not for this sink."""
        if self._feed is None:
            self._feed = self.feed(self._last or self.setting.since, complete=follow and self.sink.whole_cycles)
        if self._events is None:
            self._events = iter(self._feed)
        size = 0
        for event in self._events:
            if not self.setting.takes(event):
                continue
            self._pending.append(event)
            size += sum(len(value) for value in event.values() if isinstance(value, str))
            full = len(self._pending) >= self.batch or size >= MAX_BATCH_BYTES
            if full or (self.sink.whole_cycles and event["type"] == "cycle.done"):
                return
        self._events = None
        if not self._pending and self._feed.cursor != self._last:
            self._last = self._feed.cursor
            self.cursors.delivered(self.setting.name, self._last, self._state)

    def _send(self, tries: int) -> float | None:
        assert self._feed is not None
        try:
            self._state = self.sink.send(self._pending)
        except Exception as error:  # a sink's own errors block the sink, not the others
            return self._failed(error, tries)
        self._advance()
        return 0.0

    def _advance(self) -> None:
        assert self._feed is not None
        self.sent += self._count()
        self._last, self._pending = self._feed.cursor, []
        self.cursors.delivered(self.setting.name, self._last, self._state)

    def _count(self) -> int:
        """Count the events under way that were asked for; the end of a cycle may be for the sink itself."""
        return sum(event["type"] in self.setting.types for event in self._pending)

    def _failed(self, error: Exception, tries: int) -> float | None:
        failure = error if isinstance(error, DeliveryError) else DeliveryError(f"{type(error).__name__}: {error}")
        schedule = self.setting.retry_s
        if tries >= len(schedule) and not failure.disable:
            # events before the first one pending are delivered: the feed gives these again after the last cursor
            before = self._last or self.setting.since or START
            self.cursors.bury(self.setting.name, [str(event["id"]) for event in self._pending], before, str(failure))
            self.sent -= self._count()
            self._advance()
            return 0.0
        delay_s = schedule[min(tries, len(schedule) - 1)] if schedule else 0.0
        wait_s = max(failure.retry_after_s, delay_s * self._draw.uniform(1.0, 1.0 + JITTER))
        self.cursors.failed(self.setting.name, str(failure), time.time() + wait_s, disabled=failure.disable)
        return None if failure.disable else wait_s

    def send_dead(self) -> None:
        """Send the dead letters once more; those that fail stay."""
        for event_id, before in self.cursors.dead(self.setting.name):
            feed = self.feed(before, complete=False)
            event = next((event for event in feed if str(event["id"]) == event_id), None)
            feed.close()
            try:
                if event is not None:
                    self.sink.send([event])
            except Exception:
                break
            self.cursors.raise_dead(self.setting.name, event_id)
            self.sent += event is not None

    def close(self) -> None:
        """Close the sink and the feed."""
        self.sink.close()
        if self._feed is not None:
            self._feed.close()


def deliver(
    folder: Path,
    *,
    follow: bool,
    again: bool = False,
    sinks: Sequence[SinkSetting] | None = None,
    say: Say = print,
    stop: threading.Event,
) -> bool:
    """Deliver to these sinks, or all of recrawl.toml, until there is no more or `stop` is set; False if events wait."""
    settings = read_sinks(folder) if sinks is None else sinks
    if not settings:
        raise InputError(f"{folder / 'recrawl.toml'} has no [[deliver]]: there is no sink to deliver to")
    with _locked(folder):
        for setting in settings:  # raises before anything is sent where a setting is wrong
            cursors = Cursors(folder)
            try:
                if again:
                    cursors.try_again(setting.name)
                make_sink(setting, cursors.status(setting.name).state).close()
            finally:
                cursors.close()
        threads = [_SinkThread(setting, follow, again, say, stop) for setting in settings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return all(thread.done for thread in threads)


def progress_of(folder: Path, sinks: Sequence[SinkSetting] | None = None) -> list[dict[str, Any]]:
    """Return how far these sinks, or all of recrawl.toml, are: last event, tries since, dead letters, last error."""
    cursors = Cursors(folder)
    try:
        rows = []
        for setting in read_sinks(folder) if sinks is None else sinks:
            status = cursors.status(setting.name)
            rows.append({"name": setting.name, "to": setting.to, "last": status.last, "tries": status.tries})
            rows[-1] |= {"dead": len(cursors.dead(setting.name)), "disabled": status.disabled, "error": status.error}
        return rows
    finally:
        cursors.close()


class _SinkThread(threading.Thread):
    """Runs one delivery; an error in it is reported in one line and stops no other sink."""

    def __init__(self, setting: SinkSetting, follow: bool, again: bool, say: Say, stop: threading.Event) -> None:
        super().__init__(name=f"deliver-{setting.name}", daemon=True)
        self.setting, self.follow, self.again, self.say, self.stop = setting, follow, again, say, stop
        self.done = False

    def run(self) -> None:
        """Deliver until the end."""
        try:
            cursors = Cursors(self.setting.folder)
            delivery = Delivery(self.setting, cursors)
            try:
                if self.again:
                    delivery.send_dead()
                self._deliver(delivery)
            finally:
                delivery.close()
                self._tell(cursors, delivery.sent)
                cursors.close()
        except RecrawlError as error:
            self.say(f"{self.setting.name}: {error}")

    def _deliver(self, delivery: Delivery) -> None:
        until = float("inf")
        while time.monotonic() < until:
            try:
                wait_s = delivery.step(follow=self.follow)
            except StoreError as error:  # the store is busy: later
                if not self.follow:
                    raise
                self.say(f"{self.setting.name}: {error}")
                wait_s = None
            if self.stop.is_set():
                if wait_s != 0.0:
                    return
                until = min(until, time.monotonic() + DRAIN_S)
            elif not self.follow and (wait_s is None or wait_s > PATIENCE_S):
                return
            else:
                self.stop.wait(POLL_S if wait_s is None else wait_s)

    def _tell(self, cursors: Cursors, sent: int) -> None:
        status, dead = cursors.status(self.setting.name), len(cursors.dead(self.setting.name))
        self.done = status.error is None and not status.disabled and not dead
        parts = [f"{sent} sent"]
        parts += ["disabled by the other side (--again enables it)"] if status.disabled else []
        parts += [f"{dead} put aside (--again sends them)"] if dead else []
        parts += [f"waiting since: {json.dumps(status.error)[1:-1]}"] if status.error else []
        self.say(f"{self.setting.name}: {'; '.join(parts)}")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time deliver; the lock ends with the process, however that ends."""
    try:
        file = os.open(folder / ".deliver.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(f"another process delivers the events of {folder}") from None
        yield
    finally:
        os.close(file)
