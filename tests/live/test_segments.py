"""Bodies on object storage: no body that was recorded is lost, whatever is killed, repeated or away."""

from __future__ import annotations

import http.client
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.store import LocalStore
from warcio.archiveiterator import ArchiveIterator

from recrawl.cli import main
from recrawl.errors import InputError, StoreError
from recrawl.live.bodies import Bodies
from recrawl.live.config import load
from recrawl.live.directory import CrawlDirectory
from recrawl.live.remote_bodies import BodiesSettings, RemoteBodies
from recrawl.live.segments import CLOSED, UPLOADED, open_bodies, send, surt_of
from recrawl.live.session import Session
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.simulate.replay import ReplayServer
from support import live_crawls as living


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of an S3 server with the bucket `bodies`."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    asked = http.client.HTTPConnection(host, port)
    asked.request("PUT", "/bodies")
    assert asked.getresponse().status == 200
    yield f"http://{host}:{port}"
    server.stop()


def settings_for(to: str, endpoint: str = "") -> str:
    """Settings under which a few records fill a file."""
    return f'{living.settings()}[bodies]\nto = "{to}"\nendpoint = "{endpoint}"\nsegment_bytes = 4_000\n'


def run(directory: CrawlDirectory, calendar: living.Days, cycles: int = 3) -> None:
    for _ in range(cycles):
        calendar.day += 7.0
        with Session(directory, "age", Plan(7.0, 0.5, 1), clock=calendar) as session:
            session.run_cycle()


def all_bodies(directory: CrawlDirectory) -> dict[tuple[str, float], bytes]:
    """Every body that the store has, read and verified."""
    store, bodies = Store.open(directory.state, read_only=True), Bodies(directory.warc)
    found = {(url, at): bodies.read(place) for _, url, at, place in store.kept_bodies()}
    store.close()
    return found


def segments_of(directory: CrawlDirectory) -> dict[str, tuple[int, str, str]]:
    store = Store.open(directory.state, read_only=True)
    found = store.segments()
    store.close()
    return found


@contextmanager
def opened(directory: CrawlDirectory) -> Iterator[tuple[Bodies, Store, BodiesSettings]]:
    """The crawl as a session has it open."""
    store, bodies = Store.open(directory.state), Bodies(directory.warc)
    settings = directory.config().bodies
    open_bodies(bodies, store, settings)
    yield bodies, store, settings
    bodies.close()
    store.close()


def test_a_crawl_sends_its_bodies_to_s3(
    web: tuple[ReplayServer, living.Days], tmp_path: Path, s3: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Closed files go to the bucket with their index; texts, diffs, feed and export read them from there."""
    calendar = living.Days()
    for name, toml in (("here", living.settings()), ("away", settings_for("s3://bodies/crawl", s3))):
        web[1].day = calendar.day = 0.0
        directory = living.begun(tmp_path / name, living.seeds(web[0]), toml)
        calendar = web[1]
        run(directory, calendar)
    here, away = (CrawlDirectory.open(tmp_path / name) for name in ("here", "away"))
    assert all_bodies(away) == all_bodies(here)
    segments = segments_of(away)
    assert len(segments) > 3
    assert {state for _, _, state in segments.values()} == {UPLOADED}
    assert len(list(away.warc.iterdir())) == 1  # the open one
    check_index(RemoteBodies(away.config().bodies), next(iter(segments)), segments)
    url = next(iter(all_bodies(away)))[0]
    for words in (["show", url], ["tail", "--with", "text"], ["export", "corpus", str(tmp_path / "c")]):
        assert main([words[0], "-C", str(away.path), *words[1:]]) == 0
    assert "not in the archive" not in capsys.readouterr().out
    assert (tmp_path / "c").is_dir()


def check_index(remote: RemoteBodies, name: str, segments: dict[str, tuple[int, str, str]]) -> None:
    """The line of a record in the CDXJ leads to it, for another WARC reader."""
    content = remote.read(name, 0, segments[name][0])
    with pytest.raises(StoreError):
        remote.create(name, content + b"more", "another digest")
    lines = bytes(obstore.get(remote._store, name.replace("warc.gz", "cdxj")).bytes()).decode().splitlines()
    assert lines == sorted(lines)
    line = lines[-1]
    key, at, about = line.split(" ", 2)
    entry = json.loads(about)
    start, length = int(entry["offset"]), int(entry["length"])
    (record,) = ArchiveIterator(io.BytesIO(content[start : start + length]))
    assert entry["url"] == record.rec_headers["WARC-Target-URI"]
    assert (key, entry["filename"], entry["status"], len(at)) == (surt_of(entry["url"]), name, "200", 14)
    assert entry["digest"] == record.rec_headers["WARC-Payload-Digest"]


@pytest.mark.parametrize("killed", ["after closing", "after the note", "after the upload", "before deleting"])
def test_killed_at_any_step_nothing_is_lost(web: tuple[ReplayServer, living.Days], tmp_path: Path, killed: str) -> None:
    """What a kill leaves behind at each step is finished by the next start; a second upload of the same is none."""
    there = tmp_path / "there"
    directory = living.begun(tmp_path / "crawl", living.seeds(web[0]), living.settings())
    web[1].day = 0.0
    run(directory, web[1], 1)
    before = all_bodies(directory)
    (directory.path / "recrawl.toml").write_text(settings_for(f"file://{there}"))
    with opened(directory) as (bodies, store, settings):
        first = bodies.folder / bodies.writing_to
        bodies.write("http://x.replay/", 200, (), b"body")  # closes the file before it
        bodies.sync()
        remote = RemoteBodies(settings)
        digest = sha256(first.read_bytes()).hexdigest()
        if killed != "after closing":
            with store.transaction():
                store.set_segment(first.name, first.stat().st_size, digest, CLOSED)
        if killed in ("after the upload", "before deleting"):
            remote.create(first.name, first, digest)
        if killed == "before deleting":
            with store.transaction():
                store.set_segment(first.name, first.stat().st_size, digest, UPLOADED)
    assert all_bodies(directory) == before
    with opened(directory) as (bodies, store, settings):
        assert send(bodies, store, settings) >= 1
        assert send(bodies, store, settings) == 0
    assert not first.exists()
    assert {state for _, _, state in segments_of(directory).values()} == {UPLOADED}
    assert all_bodies(directory) == before
    web[1].day = 7.0
    run(directory, web[1], 1)  # numbers go on above those that are away
    assert all_bodies(directory).items() >= before.items()


def test_while_the_bucket_is_gone_bodies_stay(
    web: tuple[ReplayServer, living.Days], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Storage that fails in the middle is a line in the log; when it is back, everything goes there."""
    there = tmp_path / "there"
    directory = living.begun(tmp_path / "crawl", living.seeds(web[0]), settings_for(f"file://{there}"))
    web[1].day = 0.0
    with Session(directory, "age", Plan(7.0, 0.5, 1), clock=web[1]) as session:
        there.rmdir()
        there.write_text("not a folder")
        session.run_cycle()
    assert any("bodies stay in" in line for line in caplog.messages)
    before = all_bodies(directory)
    assert len(before) >= 30
    assert len(list(directory.warc.iterdir())) > 3
    there.unlink()
    run(directory, web[1], 1)
    assert len(list(directory.warc.iterdir())) == 1
    assert all_bodies(directory).items() >= before.items()


def test_a_file_of_another_crawl_is_not_touched(web: tuple[ReplayServer, living.Days], tmp_path: Path) -> None:
    """Two crawls with one prefix: the second keeps its files, and both read their own bodies."""
    there = tmp_path / "there"
    there.mkdir()
    obstore.put(LocalStore(str(there)), "crawl-00001.warc.gz", b"of another")
    directory = living.begun(tmp_path / "crawl", living.seeds(web[0]), settings_for(f"file://{there}"))
    web[1].day = 0.0
    run(directory, web[1], 1)
    assert (there / "crawl-00001.warc.gz").read_bytes() == b"of another"
    assert (directory.warc / "crawl-00001.warc.gz").exists()
    assert len(all_bodies(directory)) >= 30


def test_what_cannot_be_used_is_one_line(tmp_path: Path, s3: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong bucket, a server that does not answer, a target that is none, an open secret: exit code 2."""
    directory = living.begun(tmp_path / "crawl", ["http://a.replay/"])
    for to, endpoint in (("s3://nowhere/x", s3), ("s3://bodies/x", "http://127.0.0.1:9")):
        (directory.path / "recrawl.toml").write_text(settings_for(to, endpoint))
        assert main(["run", "-C", str(directory.path), "--cycles", "1"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"recrawl: {to}")
    path = directory.path / "recrawl.toml"
    (directory.path / "secret").write_text("key:secret")
    (directory.path / "secret").chmod(0o644)
    for text, wrong in (
        ('to = "ftp://x"', "must begin with s3://"),
        ('to = "s3://"', "names no bucket"),
        ("segment_bytes = 0", "must be above 0"),
        ('to = "s3://bodies/x"\ncredentials_file = "secret"', "chmod 600"),
    ):
        path.write_text(f"[bodies]\n{text}\n")
        with pytest.raises(InputError, match=wrong):
            load(path)
