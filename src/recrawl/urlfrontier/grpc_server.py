"""The gRPC server of a frontier: messages in, one call of the frontier, messages out. All 19 calls answer."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import grpc

from recrawl.clock import Clock
from recrawl.errors import InputError
from recrawl.urlfrontier.frontier_store import FrontierUrl
from recrawl.urlfrontier.interface import PACKAGE, calls, messages
from recrawl.urlfrontier.url_frontier import DEFAULT, PutItem, UrlFrontier

T = TypeVar("T")
AT_ONCE = 1_000  # items put into one transaction
MOST_BYTES = 64 << 20  # of a message
OPTIONS = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", MOST_BYTES)]


class FrontierServer:
    """Answers the calls; the frontier is used in a thread of its own."""

    def __init__(self, folder: Path, *, ours: bool = True, clock: Clock | None = None) -> None:
        self._messages = messages()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="frontier")
        opened = self._thread.submit(lambda: UrlFrontier(folder, ours=ours, clock=clock))
        self._frontier = opened.result()
        self._address = ""
        self._server: Any = None

    async def start(self, host: str, port: int) -> int:
        """Listen; return the port."""
        self._server = grpc.aio.server(options=OPTIONS)
        self._server.add_generic_rpc_handlers((self._handlers(),))
        shown = f"[{host}]" if ":" in host else host
        try:
            bound = int(self._server.add_insecure_port(f"{shown}:{port}"))
        except RuntimeError:
            bound = 0
        if not bound:
            raise InputError(f"cannot listen at {host}, port {port}: is it taken?")
        self._address = f"{shown}:{bound}"
        await self._server.start()
        return bound

    async def close(self) -> None:
        """End the streams, and let go of the crawl."""
        if self._server is not None:
            await self._server.stop(0.5)
        self._thread.submit(self._frontier.close).result()
        self._thread.shutdown()

    def _handlers(self) -> Any:
        kinds = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }
        handlers = {}
        for call in calls():
            asked, answered = getattr(self._messages, call.asked), getattr(self._messages, call.answered)
            answer = getattr(self, f"_{_snake(call.name)}")
            if (call.asks_many, call.answers_many) == (False, False):
                answer = self._refusing(answer)
            make = kinds[call.asks_many, call.answers_many]
            handlers[call.name] = make(answer, asked.FromString, answered.SerializeToString)
        return grpc.method_handlers_generic_handler(f"{PACKAGE}.URLFrontier", handlers)

    def _refusing(self, answer: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        async def answered(asked: Any, context: Any) -> Any:
            try:
                return await answer(asked)
            except InputError as error:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            except KeyError as error:
                await context.abort(grpc.StatusCode.NOT_FOUND, str(error.args[0]))

        return answered

    async def _do(self, work: Callable[[UrlFrontier], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._frontier)

    # -- putting and getting ------------------------------------------------------------------------------------------

    async def _put_urls(self, asked: AsyncIterator[Any], _: Any) -> AsyncIterator[Any]:
        async for some in _gathered(asked):
            statuses = await self._put([_item(each) for each in some])
            for each, status in zip(some, statuses, strict=True):
                yield self._messages.AckMessage(ID=each.ID, status=status)

    async def _put_discovered(self, asked: AsyncIterator[Any], _: Any) -> AsyncIterator[Any]:
        async for some in _gathered(asked, 20):
            items = [_put_item(info, None) for batch in some for info in batch.items]
            statuses = await self._put(items)
            for batch in some:
                count = len(batch.items)
                yield self._messages.BatchAck(ID=batch.ID, statuses=statuses[:count])
                statuses = statuses[count:]

    async def _put(self, items: Sequence[PutItem]) -> list[int]:
        return await self._do(lambda frontier: frontier.put(items))

    async def _get_urls(self, asked: Any, _: Any) -> AsyncIterator[Any]:
        crawl = (asked.crawlID or DEFAULT) if asked.WhichOneof("item") == "crawlID" else None
        limits = asked.max_urls_per_queue, asked.max_queues, float(asked.delay_requestable)
        for url in await self._do(lambda frontier: frontier.take(crawl, asked.key, *limits)):
            yield self._info(url)

    def _info(self, url: FrontierUrl) -> Any:
        info = self._messages.URLInfo(url=url.url, key=url.queue, crawlID=url.crawl)
        for name, values in json.loads(url.metadata).items():
            info.metadata[name].values.extend(values)
        return info

    def _known(self, url: FrontierUrl) -> Any:
        known = self._messages.KnownURLItem(info=self._info(url), refetchable_from_date=int(url.refetch))
        return self._messages.URLItem(known=known)

    # -- looking ------------------------------------------------------------------------------------------------------

    async def _list_nodes(self, _: Any) -> Any:
        return self._messages.StringList(values=[self._address])

    async def _list_crawls(self, _: Any) -> Any:
        return self._messages.StringList(values=await self._do(lambda frontier: frontier.store.crawls()))

    async def _list_queues(self, asked: Any) -> Any:
        crawl, inactive = asked.crawlID or DEFAULT, asked.include_inactive
        queues = await self._do(lambda frontier: frontier.store.queues(crawl, inactive=inactive))
        some = queues[asked.start : asked.start + (asked.size or 100)]
        start, size = asked.start, len(some)
        return self._messages.QueueList(values=some, total=len(queues), start=start, size=size, crawlID=crawl)

    async def _get_stats(self, asked: Any) -> Any:
        crawl = asked.crawlID or None
        found = await self._do(lambda frontier: frontier.store.numbers(crawl, asked.key, frontier.now()))
        counts = {name: found[name] for name in ("completed", "active_queues")}
        return self._messages.Stats(
            size=found["size"],
            inProcess=found["leased"],
            counts=counts,
            numberOfQueues=found["queues"],
            crawlID=asked.crawlID,
        )

    async def _get_url_status(self, asked: Any) -> Any:
        crawl = asked.crawlID or DEFAULT
        found = await self._do(lambda frontier: frontier.store.find(crawl, asked.url))
        if found is None or (asked.key and found.queue != asked.key):
            raise KeyError(f"no URL {asked.url[:200]!r} in {crawl}")
        return self._known(found)

    async def _list_urls(self, asked: Any, _: Any) -> AsyncIterator[Any]:
        crawl, part, fold = asked.crawlID or DEFAULT, asked.filter, asked.ignoreCase
        first, left = asked.start, asked.size or 100
        while left > 0:
            size = min(left, AT_ONCE)
            place = partial(_listed, crawl, asked.key, part, first, size, fold)
            some = await self._do(place)
            for url in some:
                yield self._known(url)
            first, left = first + len(some), left - len(some) if len(some) == size else 0

    async def _count_urls(self, asked: Any) -> Any:
        crawl, part, fold = asked.crawlID or DEFAULT, asked.filter, asked.ignoreCase
        found = await self._do(lambda frontier: frontier.store.count(crawl, asked.key, part, fold=fold))
        return self._messages.Long(value=found)

    # -- changing -----------------------------------------------------------------------------------------------------

    async def _delete_crawl(self, asked: Any) -> Any:
        crawl = asked.value or DEFAULT
        return self._messages.Long(value=await self._do(lambda frontier: frontier.delete(crawl)))

    async def _delete_queue(self, asked: Any) -> Any:
        crawl = asked.crawlID or DEFAULT
        if not asked.key:
            raise InputError("a queue's key is needed")
        return self._messages.Long(value=await self._do(lambda frontier: frontier.delete(crawl, asked.key)))

    async def _set(self, asked: Any, field: str, value: float) -> Any:
        crawl = asked.crawlID or DEFAULT
        await self._do(lambda frontier: frontier.set_queue(crawl, asked.key, field, value))
        return self._messages.Empty()

    async def _block_queue_until(self, asked: Any) -> Any:
        return await self._set(asked, "blocked", float(asked.time))

    async def _set_delay(self, asked: Any) -> Any:
        return await self._set(asked, "delay", float(asked.delay_requestable))

    async def _set_crawl_limit(self, asked: Any) -> Any:
        return await self._set(asked, "most", asked.limit)

    async def _set_active(self, asked: Any) -> Any:
        await self._do(lambda frontier: frontier.set_active(asked.state))
        return self._messages.Empty()

    async def _get_active(self, _: Any) -> Any:
        state = await self._do(lambda frontier: frontier.store.setting("active", "yes"))
        return self._messages.Boolean(state=state == "yes")

    async def _set_log_level(self, _: Any) -> Any:
        return self._messages.Empty()  # the log is that of the process

    async def _purge_urls(self, _: Any) -> Any:
        return self._messages.Long(value=0)  # nothing is forgotten: a page's history is what is learnt from


def _listed(
    crawl: str, key: str, part: str, first: int, size: int, fold: bool, frontier: UrlFrontier
) -> list[FrontierUrl]:
    return frontier.store.listed(crawl, key, part, first, size, fold=fold)


async def _gathered(asked: AsyncIterator[Any], most: int = AT_ONCE) -> AsyncIterator[list[Any]]:
    """Yield what has arrived meanwhile, at least one message at a time: what is put together is one transaction."""
    arrived: asyncio.Queue[Any] = asyncio.Queue(2 * most)

    async def read() -> None:
        async for each in asked:
            await arrived.put(each)
        await arrived.put(None)

    reading = asyncio.create_task(read())
    try:
        while (first := await arrived.get()) is not None:
            some = [first]
            while len(some) < most and not arrived.empty():
                each = arrived.get_nowait()
                if each is None:
                    await arrived.put(None)
                    break
                some.append(each)
            yield some
    finally:
        reading.cancel()


def _item(item: Any) -> PutItem:
    if item.WhichOneof("item") == "known":
        return _put_item(item.known.info, float(item.known.refetchable_from_date))
    return _put_item(item.discovered.info, None)


def _put_item(info: Any, refetch: float | None) -> PutItem:
    metadata = {name: list(value.values) for name, value in info.metadata.items()}
    return PutItem(info.url, info.key, info.crawlID or DEFAULT, metadata, refetch)


def _snake(name: str) -> str:
    """GetURLs -> get_urls, GetURLStatus -> get_url_status."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", name).lower()


async def serve_frontier(folder: Path, host: str, port: int, *, ours: bool, say: Callable[[str], None]) -> None:
    """Serve a crawl's frontier until SIGTERM or Ctrl-C."""
    server = FrontierServer(folder, ours=ours)
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    try:
        bound = await server.start(host, port)
        say(f"frontier of {folder} at {host}:{bound}, order {'ours' if ours else 'theirs'} (Ctrl-C ends it)")
        await stopping.wait()
    finally:
        await server.close()
