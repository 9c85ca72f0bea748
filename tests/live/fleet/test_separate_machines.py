"""Workers on machines with addresses of their own: the web server sees one address per domain."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from recrawl.live.facade import Crawl
from support.live_crawls import begun, settings
from support.loopback_servers import Answer, Asked, Loopback
from support.network_machines import HERE, NETWORK, can_make_machines, network_machines
from support.postgres_server import LocalServer

DELAY_S, LEASE_S, SITES, PAGES = 0.05, 2.0, 6, 20


@pytest.mark.skipif(not can_make_machines(), reason="this process may not make network namespaces")
def test_a_machine_that_dies_leaves_its_domains_to_another(postgres: LocalServer, tmp_path: Path) -> None:
    """Killed in the middle, its domains are asked from the other address: never by both in a lease, never too soon."""
    log = list[tuple[float, str, str, str]]()

    def answer(request: Asked) -> Answer:
        log.append((time.monotonic(), request.headers["host"], request.address, request.path))
        found = request.path != "/robots.txt"
        return (200, {}, f"<title>{request.path}</title><p>words".encode()) if found else (404, {}, b"")

    toml = settings(delay_s=DELAY_S).replace("127.0.0.1", HERE).replace("127.0.0.0/8", NETWORK)
    url = postgres.new_database()
    with network_machines(2) as machines, Loopback(answer, address=HERE) as server:
        urls = [f"http://site{i % SITES}.replay:{server.port}/{i}" for i in range(SITES * PAGES)]
        directory = begun(tmp_path / "crawl", urls, f'{toml}\n[store]\nurl = "{url}"\nlease_s = {LEASE_S}\n')
        words = [sys.executable, "-m", "recrawl", "work", "--store", url, "--name"]
        processes = [
            subprocess.Popen([*each.enter, *words, f"w{i}", "-C", str(tmp_path / f"w{i}")])
            for i, each in enumerate(machines)
        ]
        try:
            while len(Crawl(directory).status()["workers"]) < len(machines):
                time.sleep(0.05)
            killer = threading.Thread(target=_kill_after, args=(processes[0], log, machines[0].address, 15))
            killer.start()
            assert Crawl(directory).run(1, planner_only=True).cycles == 1
            killer.join(60)
        finally:
            for process in processes:
                process.kill()
                process.wait(30)
    assert {address for _, _, address, _ in log} == {each.address for each in machines}
    assert Crawl(directory).status()["visits"] == len(urls)
    by_host = defaultdict(list)
    for at_s, host, address, _ in sorted(log):
        by_host[host].append((at_s, address))
    moved = 0
    for asked in by_host.values():
        for (before_s, one), (after_s, two) in pairwise(asked):
            assert after_s - before_s >= DELAY_S
            if one != two:
                moved += 1
                assert (one, two) == (machines[0].address, machines[1].address)
                assert after_s - before_s >= LEASE_S / 3  # what is left of a lease at least when it was renewed last
    assert moved


def _kill_after(process: subprocess.Popen[bytes], log: list[tuple[float, str, str, str]], who: str, count: int) -> None:
    until_s = time.monotonic() + 60
    while sum(address == who for _, _, address, _ in log) < count and time.monotonic() < until_s:
        time.sleep(0.005)
    process.kill()
