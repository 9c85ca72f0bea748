"""A frontier in a process of its own, and a client of it that knows only the .proto file."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from recrawl.urlfrontier.interface import PACKAGE, calls, messages
from support.forked import ForkedVerb

M = messages()


class FrontierClient:
    """Calls by name: client.GetStats(M.QueueWithinCrawlParams())."""

    def __init__(self, port: int, process: ForkedVerb) -> None:
        self.port, self.process = port, process
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        for call in calls():
            kind = {(False, False): "unary_unary", (False, True): "unary_stream", (True, True): "stream_stream"}
            make = getattr(self.channel, kind[call.asks_many, call.answers_many])
            asked, answered = getattr(M, call.asked), getattr(M, call.answered)
            path = f"/{PACKAGE}.URLFrontier/{call.name}"
            setattr(self, call.name, make(path, asked.SerializeToString, answered.FromString))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def put(self, *items: Any) -> list[int]:
        """Put items; return the statuses in the order of the items."""
        for number, item in enumerate(items):
            item.ID = str(number)
        found = {ack.ID: ack.status for ack in self.PutURLs(iter(items), timeout=60)}
        return [found[str(number)] for number in range(len(items))]

    def get(self, per_queue: int = 10, queues: int = 10, **params: Any) -> list[str]:
        """Get URLs of the crawl DEFAULT, or as the parameters say."""
        params = params if "anyCrawlID" in params or "crawlID" in params else {"crawlID": "DEFAULT", **params}
        asked = M.GetParams(max_urls_per_queue=per_queue, max_queues=queues, **params)
        return [info.url for info in self.GetURLs(asked, timeout=60)]

    def stats(self, **params: Any) -> Any:
        return self.GetStats(M.QueueWithinCrawlParams(**params), timeout=60)


def discovered(url: str, key: str = "", crawl: str = "") -> Any:
    return M.URLItem(discovered=M.DiscoveredURLItem(info=M.URLInfo(url=url, key=key, crawlID=crawl)))


def known(url: str, date: int, key: str = "", **metadata: str) -> Any:
    info = M.URLInfo(url=url, key=key)
    for name, value in metadata.items():
        info.metadata[name.replace("__", ".")].values.append(value)
    return M.URLItem(known=M.KnownURLItem(info=info, refetchable_from_date=date))


@contextmanager
def frontier(folder: Path, *options: str) -> Iterator[FrontierClient]:
    """Serve a crawl's frontier until the block ends."""
    process = ForkedVerb("frontier", "-C", str(folder), "--port", "0", *options)
    try:
        line = process.stderr.readline()
        assert "frontier of" in line, line + process.stderr.read()
        client = FrontierClient(int(line.split(" at ")[1].split(",")[0].rsplit(":", 1)[1]), process)
        yield client
        client.channel.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stderr.close()
