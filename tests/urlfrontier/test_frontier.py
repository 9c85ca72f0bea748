"""The URLFrontier protocol by real calls: what clients rely on, and what a restart must not lose."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from recrawl.live.facade import Crawl
from recrawl.live.settings_template import TEMPLATE
from recrawl.live.store import Store
from recrawl.urlfrontier.interface import FILE, calls
from support import forked
from support.frontier_client import FrontierClient, M, discovered, frontier, known

OK, SKIPPED, FAIL = 0, 1, 2
NODE = Path(__file__).parents[1] / "support" / "frontier_client.js"


def made(folder: Path) -> Path:
    toml = TEMPLATE.replace('policy = "auto"', 'policy = "age"').replace('budget = "10%"', 'budget = "1000"')
    Crawl.create(folder, toml)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrontierClient]:
    with frontier(made(tmp_path_factory.mktemp("theirs") / "c"), "--order", "theirs") as client:
        yield client


@pytest.fixture
def theirs(plain: FrontierClient) -> FrontierClient:
    """A plain frontier that is empty, without a delay."""
    for crawl in plain.ListCrawls(M.Local()).values:
        plain.DeleteCrawl(M.DeleteCrawlMessage(value=crawl))
    plain.SetActive(M.Active(state=True))
    plain.SetDelay(M.QueueDelayParams(delay_requestable=0))
    return plain


def test_all_calls_answer(theirs: FrontierClient) -> None:
    """Each of the 19 calls of the interface gives the answer that it promises."""
    theirs.put(discovered("https://a.example/1"))
    done = set()
    for call in calls():
        asked: Any = getattr(M, call.asked)()
        if call.name == "DeleteQueue":
            asked.key = "a.example"
        if call.name == "GetURLStatus":
            asked.url = "https://a.example/1"
        answer = getattr(theirs, call.name)(iter([asked]) if call.asks_many else asked, timeout=30)
        answers = list(answer) if call.answers_many else [answer]
        assert all(type(each).__name__ == call.answered for each in answers), call
        done.add(call.name)
        theirs.put(discovered("https://a.example/1"))
        theirs.SetActive(M.Active(state=True))
    assert len(done) == 19


def test_their_order_is_by_date_and_zero_is_never(theirs: FrontierClient) -> None:
    """Known URLs come when their date has come, the earliest first; date 0 never; discovered ones at once, once."""
    now = int(time.time())
    items = [known("https://a.example/late", now - 5), known("https://a.example/early", now - 50)]
    items += [known("https://a.example/done", 0), known("https://a.example/future", now + 500)]
    assert theirs.put(*items, discovered("https://a.example/new"), discovered("https://a.example/late")) == [
        *[OK] * 5,
        SKIPPED,
    ]
    assert theirs.put(discovered("nonsense")) == [SKIPPED]
    names = [url.rsplit("/", 1)[1] for url in theirs.get(delay_requestable=2)]
    assert names == ["early", "late", "new"]
    assert theirs.get() == []
    stats = theirs.stats()
    assert (stats.size, stats.inProcess, stats.numberOfQueues) == (4, 3, 1)
    assert dict(stats.counts) == {"completed": 1, "active_queues": 1}
    time.sleep(2.2)
    assert theirs.stats().inProcess == 0
    assert len(theirs.get()) == 3


def test_listed_urls_can_be_put_back_with_metadata_and_dates(theirs: FrontierClient) -> None:
    """ListURLs gives known items that PutURLs takes: nothing of them is lost; filters and counts agree."""
    now = int(time.time())
    theirs.put(*(known(f"https://a.example/{n}", now + n, signature=f"s{n}") for n in range(5)))
    listed = list(theirs.ListURLs(M.ListUrlParams(size=2**31 - 1)))
    assert [item.known.refetchable_from_date for item in listed] == [now + n for n in range(5)]
    assert listed[3].known.info.metadata["signature"].values == ["s3"]
    assert theirs.DeleteCrawl(M.DeleteCrawlMessage(value="DEFAULT")).value == 5
    assert list(theirs.ListCrawls(M.Local()).values) == []
    assert theirs.put(*listed) == [OK] * 5
    again = list(theirs.ListURLs(M.ListUrlParams(size=100)))
    assert [item.known for item in again] == [item.known for item in listed]
    assert theirs.CountURLs(M.CountUrlParams(filter="EXAMPLE/3", ignoreCase=True)).value == 1
    assert theirs.CountURLs(M.CountUrlParams(filter="EXAMPLE/3")).value == 0
    assert theirs.GetURLStatus(M.URLStatusRequest(url="https://a.example/2")).known == listed[2].known
    with pytest.raises(grpc.RpcError) as missing:
        theirs.GetURLStatus(M.URLStatusRequest(url="https://a.example/none"))
    assert missing.value.code() is grpc.StatusCode.NOT_FOUND


def test_queues_and_crawls_are_apart(theirs: FrontierClient) -> None:
    """Keys make queues, crawl IDs crawls; limits per queue and of queues hold; no crawl given means any."""
    theirs.put(*(discovered(f"https://{host}.example/{n}") for host in "ab" for n in range(3)))
    theirs.put(discovered("https://a.example/own", key="own"), discovered("https://a.example/0", crawl="other"))
    queues = theirs.ListQueues(M.Pagination())
    assert (list(queues.values), queues.total) == (["a.example", "b.example", "own"], 3)
    assert list(theirs.ListCrawls(M.Local()).values) == ["DEFAULT", "other"]
    assert theirs.get(crawlID="other") == ["https://a.example/0"]
    assert len(theirs.get(per_queue=2, queues=2)) == 4
    assert theirs.get(key="own") == ["https://a.example/own"]
    assert len(theirs.get(anyCrawlID=M.AnyCrawlID())) == 2
    assert theirs.DeleteQueue(M.QueueWithinCrawlParams(key="b.example")).value == 3
    assert theirs.stats(key="a.example", crawlID="DEFAULT").size == 3


def test_delays_blocks_limits_and_leases_outlast_a_restart(tmp_path: Path) -> None:
    """A frontier that is killed goes on with its politeness: nobody gets a URL too early, or twice."""
    folder, now = made(tmp_path / "c"), int(time.time())
    with frontier(folder, "--order", "theirs") as client:
        client.put(*(discovered(f"https://{host}.example/{n}") for host in "abcd" for n in range(3)))
        assert len(client.get(per_queue=1, queues=1, key="a.example", delay_requestable=500)) == 1
        client.SetDelay(M.QueueDelayParams(key="a.example", delay_requestable=0))
        client.SetDelay(M.QueueDelayParams(key="b.example", delay_requestable=1000))
        assert len(client.get(per_queue=1, key="b.example", delay_requestable=1)) == 1
        client.BlockQueueUntil(M.BlockQueueParams(key="c.example", time=now + 1000))
        client.SetCrawlLimit(M.CrawlLimitParams(key="d.example", limit=2))
        client.process.kill()
        client.process.wait(10)
    time.sleep(1.1)
    with frontier(folder, "--order", "theirs") as client:
        hosts = [url.split(".")[0][8:] for url in client.get()]
        assert sorted(hosts) == ["a", "a", "d", "d"]  # one of a is leased, b waits, c is blocked, d has a limit
        client.SetActive(M.Active(state=False))
        assert client.get(key="a.example") == []
        assert client.GetActive(M.Local()).state is False


def test_batches_are_acknowledged_item_by_item(theirs: FrontierClient) -> None:
    """PutDiscovered answers each batch with a status per item."""
    urls = [f"https://a.example/{n}" for n in (1, 2, 2)] + ["nonsense"]
    batches = [M.DiscoveredBatch(ID=str(i), items=[M.URLInfo(url=url) for url in urls]) for i in range(2)]
    acks = list(theirs.PutDiscovered(iter(batches)))
    assert [(ack.ID, list(ack.statuses)) for ack in acks] == [("0", [0, 0, 1, 1]), ("1", [1, 1, 1, 1])]


def test_in_our_order_known_items_are_visit_reports(tmp_path: Path) -> None:
    """What changed is read from the signature and the status; URLs come as the policy says, never done ones."""
    folder = made(tmp_path / "c")
    with frontier(folder) as client:
        client.SetDelay(M.QueueDelayParams(delay_requestable=0))
        urls = [f"https://a.example/{n}" for n in range(6)]
        assert client.put(*map(discovered, urls)) == [OK] * 6
        given = client.get(per_queue=4)
        assert len(given) == 4
        date = int(time.time()) + 9
        seen = [known(given[0], date, signature="s", fetch__statusCode="200"), known(given[1], date)]
        seen += [known(given[2], date, fetch__statusCode="410"), known(given[3], 0, signature="s")]
        assert client.put(*seen) == [OK] * 4
        rest = client.get()
        assert sorted([*given, *rest]) == urls
        assert client.stats().inProcess == 2
        assert client.GetURLStatus(M.URLStatusRequest(url=given[0])).known.refetchable_from_date == date
    store = Store.open(folder / "state.sqlite", read_only=True)
    outcomes = {visit["url"]: visit["outcome"] for visit in store.all_visits()}
    removed = {store.urls([page])[0] for page, _ in store.barred()}
    store.close()
    assert outcomes == {given[0]: "first", given[1]: "failed", given[2]: "gone", given[3]: "first"}
    assert removed == {given[3]}


def test_two_frontiers_cannot_share_a_port(tmp_path: Path, theirs: FrontierClient) -> None:
    """A second server on the port is refused in one line, not silently shared."""
    words = ["frontier", "-C", str(made(tmp_path / "d")), "--port", str(theirs.port)]
    done = forked.python("-m", "recrawl", *words)
    assert done.returncode == 2
    assert "cannot listen" in done.stderr
    words = ["frontier", "-C", str(tmp_path / "d"), "--host", "0.0.0.0"]
    done = forked.python("-m", "recrawl", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_foreign_client_speaks_to_it(theirs: FrontierClient) -> None:
    """@grpc/grpc-js with our .proto file: puts, gets, lists and counts as the Python client does."""
    modules = os.environ.get("RECRAWL_NODE_MODULES", "")
    if shutil.which("node") is None or not (Path(modules) / "@grpc" / "grpc-js").is_dir():
        pytest.skip("needs node, and RECRAWL_NODE_MODULES with @grpc/grpc-js and @grpc/proto-loader")
    env = {**os.environ, "NODE_PATH": modules}
    words = ["node", str(NODE), str(FILE), f"127.0.0.1:{theirs.port}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "passed"
