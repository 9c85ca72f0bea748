"""What reports cost a server: 10,000 visits by REST, and URLs put by gRPC, in CPU-seconds of the server's process.

python -m benchmarks.serving
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recrawl.client import Client
from recrawl.live.facade import Crawl
from recrawl.live.settings_template import TEMPLATE

VISITS = 10_000
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """CPU-seconds that a process has used, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def server(verb: str, folder: Path) -> Iterator[tuple[int, int]]:
    """Serve a crawl; gives the process and the port."""
    words = [sys.executable, "-m", "recrawl", verb, "-C", str(folder), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = re.search(r":(\d+)[/,]", process.stderr.readline())
        assert found is not None
        yield process.pid, int(found[1])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def rest(folder: Path) -> None:
    """Report 10,000 visits in one request, to new pages and then again."""
    with server("serve", folder) as (pid, port):
        client = Client(f"http://127.0.0.1:{port}", timeout_s=300)
        client.report([{"url": "https://warm.example/", "digest": "x"}])  # opens the planner
        for what in ("new pages", "the same pages again, folded"):
            before = cpu_s(pid)
            visits = ({"url": f"https://h{i % 50}.example/{i}", "digest": f"{what}{i}"} for i in range(VISITS))
            told = client.report(visits)
            print(f"REST: {VISITS:,} reports of {what}: {cpu_s(pid) - before:.2f} CPU-s ({told['recorded']} recorded)")


def grpc_puts(folder: Path) -> None:
    """Put URLs one per message, and in batches of a hundred."""
    import grpc

    from recrawl.urlfrontier.interface import PACKAGE, messages

    m: Any = messages()
    with server("frontier", folder) as (pid, port):
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        path = f"/{PACKAGE}.URLFrontier/"
        put = channel.stream_stream(path + "PutURLs", m.URLItem.SerializeToString, m.AckMessage.FromString)
        batches = channel.stream_stream(
            path + "PutDiscovered", m.DiscoveredBatch.SerializeToString, m.BatchAck.FromString
        )
        infos = [m.URLInfo(url=f"https://h{i % 50}.example/{i}") for i in range(2 * VISITS)]
        items = (m.URLItem(ID=str(i), discovered=m.DiscoveredURLItem(info=infos[i])) for i in range(VISITS))
        before = cpu_s(pid)
        assert len(list(put(items))) == VISITS
        took = cpu_s(pid) - before
        print(f"gRPC: PutURLs, one per message: {VISITS / took:,.0f} URLs per CPU-s")
        some = (m.DiscoveredBatch(ID=str(i), items=infos[i : i + 100]) for i in range(VISITS, 2 * VISITS, 100))
        before = cpu_s(pid)
        assert len(list(batches(some))) == VISITS // 100
        took = cpu_s(pid) - before
        print(f"gRPC: PutDiscovered, a hundred per message: {VISITS / took:,.0f} URLs per CPU-s")


def main() -> None:
    """Print the figures."""
    toml = TEMPLATE.replace('policy = "auto"', 'policy = "age"').replace('budget = "10%"', 'budget = "1000000"')
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in (("rest", rest), ("frontier", grpc_puts)):
            Crawl.create(Path(folder) / name, toml)
            measure(Path(folder) / name)


if __name__ == "__main__":
    main()
