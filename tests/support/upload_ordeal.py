"""Kill workers with SIGKILL around their uploads, take the bucket away and back, and look for every recorded body."""

from __future__ import annotations

import hashlib
import http.client
import logging
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl.errors import StoreError
from recrawl.live import segments
from recrawl.live.bodies import Bodies, Place
from recrawl.live.directory import CrawlDirectory
from recrawl.live.fleet import worker_segments
from recrawl.live.remote_bodies import RemoteBodies
from recrawl.live.segments import UPLOADED
from recrawl.recording.recording import Recording
from recrawl.simulate.render import Rendering
from recrawl.simulate.replay import ReplayServer
from support import fleet_ordeal
from support.forked import forkserver
from support.live_crawls import begun, seeds, settings
from support.postgres_server import LocalServer
from support.small_recordings import random_tables

LEASE_S = 2.0
PHASES = ("closed", "uploading", "uploaded", "noted", "indexed", "recorded", "")  # "": at any moment
SEGMENT_BYTES = 12_000
SLOW_BYTES_S = 40_000.0  # of an upload that is to be killed in the middle


@contextmanager
def s3_server() -> Iterator[str]:
    """An S3 server with the bucket `bodies`; returns its address."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with closing(http.client.HTTPConnection(host, port)) as asked:
        asked.request("PUT", "/bodies")
        assert asked.getresponse().status == 200
    try:
        yield f"{host}:{port}"
    finally:
        server.stop()


class Relay:
    """The network between workers and their bucket: it can be gone, or slow."""

    def __init__(self, target: str) -> None:
        host, _, port = target.partition(":")
        self._target = host, int(port)
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listens.getsockname()[1]}"
        self.gone = False
        self.slow = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listens.accept()
            except OSError:
                return
            if self.gone:
                client.close()
                continue
            server = socket.create_connection(self._target)
            threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, up: bool) -> None:
        with suppress(OSError):
            while data := source.recv(2_000 if self.slow else 65_536):
                if self.gone:
                    break
                if up and self.slow:
                    time.sleep(len(data) / SLOW_BYTES_S)
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections."""
        self._listens.close()


def die(*_: object) -> None:
    """kill -9 of this very process."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(url: str, name: str, folder: str, said: str, dies_in: str, after_s: float) -> None:
    """The process of a worker that dies at a step of an upload."""
    worker_segments.EVERY_S = 0.05
    create = RemoteBodies.create

    def created(self: RemoteBodies, name: str, content: Path | bytes, sha256: str) -> None:
        warc = name.endswith(".warc.gz")
        if dies_in == "noted" and warc:
            die()
        if dies_in == "uploading" and warc:
            threading.Timer(after_s, die).start()
        create(self, name, content, sha256)
        if dies_in == ("uploaded" if warc else "indexed"):
            die()

    def unlink(self: Path, missing_ok: bool = False) -> None:
        if dies_in == "recorded" and self.name.endswith(".warc.gz"):
            die()
        os.unlink(self)

    RemoteBodies.create = created  # type: ignore[method-assign]
    Path.unlink = unlink  # type: ignore[method-assign]
    if dies_in == "closed":
        segments._sha256 = die  # type: ignore[assignment]
    fleet_ordeal.work(url, name, folder, said)


@dataclass
class UploadOrdeal:
    """What the kills came to."""

    kills: Counter[str] = field(default_factory=Counter)  # by the step at which a worker died
    outages: int = 0
    twins: int = 0  # times that two processes of one name sent the same files
    visits: int = 0
    bodies: int = 0
    files: int = 0
    wrong: list[str] = field(default_factory=list)


class _Workers:
    """The planner and workers as processes; a second process of a worker's name is its twin."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.context = forkserver()
        self.processes: dict[str, Any] = {}

    def start(self, name: str, dies_in: str = "", after_s: float = 0.0, key: str = "") -> Any:
        if name == fleet_ordeal.PLANNER:
            target, args = fleet_ordeal.plan, (str(self.folder / "crawl"), None)
        else:
            said = str(self.folder / f"said-{name}")
            target, args = work, (self.url, name, str(self.folder / name), said, dies_in, after_s)  # type: ignore[assignment]
        process = self.processes[key or name] = self.context.Process(target=target, args=args)
        process.start()
        return process

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].join(30)

    def revive(self) -> None:
        for name, process in list(self.processes.items()):
            if not process.is_alive() and "twin" not in name:
                self.start(name)

    def end(self) -> None:
        for process in self.processes.values():
            if process.is_alive():
                os.kill(process.pid, signal.SIGTERM)
        for process in self.processes.values():
            process.join(30)
            if process.is_alive():
                process.kill()


def upload_ordeal(
    folder: Path, postgres: LocalServer, s3: str, *, kills: int, workers: int = 2, pages: int = 60, seed: int = 1
) -> UploadOrdeal:
    """Kill workers so many times around uploads while a living web is crawled; then send what is left, and judge."""
    draw, found, began = random.Random(seed), UploadOrdeal(), time.monotonic()
    recording = Recording.from_arrays(random_tables(pages, 400.0, seed, sites=6))
    url, relay = postgres.new_database(), Relay(s3)
    bodies = f'[bodies]\nto = "s3://bodies/{os.getpid()}-{seed}"\nendpoint = "{relay.address}"\n'
    secret, names = folder / "s3.secret", [f"w{number}" for number in range(workers)]
    secret.write_text("key:secret")
    secret.chmod(0o600)
    bodies += f'segment_bytes = {SEGMENT_BYTES}\nsegment_s = 0.5\ncredentials_file = "{secret}"\n'
    toml = f'{settings(budget="50%", delay_s=0.1)}\n[store]\nurl = "{url}"\nlease_s = {LEASE_S}\n{bodies}'
    with ReplayServer(Rendering(recording), lambda: min(400.0, (time.monotonic() - began) * 0.4)) as server:
        directory = begun(folder / "crawl", seeds(server), toml)
        fleet = _Workers(folder, url)
        for name in (fleet_ordeal.PLANNER, *names):
            fleet.start(name)
        for number in range(kills):
            _one_kill(fleet, relay, draw.choice(names), PHASES[number % len(PHASES)], draw, found)
            if number % 5 == 4:
                _outage(fleet, relay, names, draw, found)
            if number % 10 == 9:
                _look(directory, folder, names, found)
        fleet.end()
        time.sleep(LEASE_S)
        _twins(fleet, names, found)
    relay.slow = False
    _look(directory, folder, names, found)
    _judge(directory, folder, names, found)
    relay.close()
    return found


def _one_kill(fleet: _Workers, relay: Relay, name: str, phase: str, draw: random.Random, found: UploadOrdeal) -> None:
    """Let a worker die at a step of an upload; one that does not get there is killed where it is."""
    fleet.kill(name)
    time.sleep(LEASE_S if draw.random() < 0.5 else 0.0)  # what it left is sent by the next session, or one after it
    relay.slow = phase == "uploading"
    process = fleet.start(name, phase, draw.uniform(0.01, 0.12))
    process.join(draw.uniform(0.2, 2.0) if not phase else 15.0)
    died = not process.is_alive() and process.exitcode == -signal.SIGKILL
    fleet.kill(name)
    found.kills[phase if died else "anywhere"] += 1
    relay.slow = False
    fleet.start(name)
    fleet.revive()


def _outage(fleet: _Workers, relay: Relay, names: list[str], draw: random.Random, found: UploadOrdeal) -> None:
    """The bucket is gone for a while; a worker dies meanwhile."""
    time.sleep(0.5)
    relay.gone = True
    time.sleep(draw.uniform(0.3, 1.0))
    fleet.kill(draw.choice(names))
    found.kills["bucket gone"] += 1
    time.sleep(draw.uniform(0.0, 0.5))
    relay.gone = False
    found.outages += 1
    fleet.revive()


def _twins(fleet: _Workers, names: list[str], found: UploadOrdeal) -> None:
    """Two processes of each name find the files that dead sessions left, and send them at the same time."""
    for name in names:
        fleet.start(name)
        fleet.start(name, key=f"{name} twin")
        found.twins += 1
    time.sleep(3.0)
    fleet.end()


def _bodies(directory: CrawlDirectory) -> list[tuple[Place, int]]:
    store = directory.open_store(read_only=True)
    try:
        return [(place, page) for page, _, _, place in store.kept_bodies()]
    finally:
        store.close()


def _look(directory: CrawlDirectory, folder: Path, names: list[str], found: UploadOrdeal) -> None:
    """Every body that the store names can be read, in a worker's folder or in the bucket."""
    there = Bodies(directory.warc)  # nothing is in this folder, so it reads the bucket
    for place, page in _bodies(directory):
        if not any(_reads(Bodies(spool), place) for spool in _spools(folder, names)) and not _reads(there, place):
            found.wrong.append(f"the body of page {page} is lost: {place}")


def _spools(folder: Path, names: list[str]) -> list[Path]:
    return [folder / name / "warc" for name in names]


def _reads(bodies: Bodies, place: Place) -> bool:
    with suppress(StoreError):
        return len(bodies.read(place)) > 0
    return False


def _judge(directory: CrawlDirectory, folder: Path, names: list[str], found: UploadOrdeal) -> None:
    remote, settled = RemoteBodies(directory.config().bodies), directory.open_store(read_only=True)
    try:
        noted, visits = settled.segments(), sum(1 for _ in settled.all_visits())
    finally:
        settled.close()
    found.visits, found.bodies, found.files = visits, len(_bodies(directory)), len(noted)
    for spool in _spools(folder, names):
        if left := sorted(path.name for path in spool.glob("*.warc.gz") if path.stat().st_size):
            found.wrong.append(f"files were not sent: {left[:5]}")
    for name, (size, digest, state) in noted.items():
        if state != UPLOADED:
            found.wrong.append(f"{name} is {state}")
        elif hashlib.sha256(remote.read(name, 0, size)).hexdigest() != digest:
            found.wrong.append(f"{name} is another in the bucket")
    here = Bodies(directory.warc)
    if unread := [place for place, _ in _bodies(directory) if not _reads(here, place)]:
        found.wrong.append(f"{len(unread)} bodies cannot be read from the bucket: {unread[:3]}")
