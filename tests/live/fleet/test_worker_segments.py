"""Workers send their closed WARC files to object storage; every body that was recorded can be read from there."""

from __future__ import annotations

from pathlib import Path

from recrawl.live.bodies import Bodies
from recrawl.live.facade import Crawl
from recrawl.simulate.replay import ReplayServer
from support.live_crawls import Days, begun, seeds, settings
from support.postgres_server import LocalServer
from support.upload_ordeal import s3_server, upload_ordeal


def test_bodies_of_workers_are_read_from_the_bucket(
    web: tuple[ReplayServer, Days], postgres: LocalServer, tmp_path: Path
) -> None:
    """After two cycles, each by a worker that then leaves, no WARC file is left here and every body is there."""
    server, calendar = web
    calendar.day = 0.0
    bucket = tmp_path / "bucket"
    toml = f'{settings("bayes")}\n[store]\nurl = "{postgres.new_database()}"\n[bodies]\nto = "file://{bucket}"\n'
    directory = begun(tmp_path / "crawl", seeds(server), toml)
    for week in (1, 2):
        calendar.day = 7.0 * week
        with Crawl(directory, calendar) as crawl:
            crawl.run(cycles=1)
    assert list(directory.warc.glob("*.warc.gz")) == []
    assert len(list(bucket.glob("planner-*.cdxj"))) == len(list(bucket.glob("planner-*.warc.gz"))) >= 2
    store = directory.open_store(read_only=True)
    try:
        assert {state for _, _, state in store.segments().values()} == {"uploaded"}
        places = list(store.bodies())
    finally:
        store.close()
    bodies = Bodies(directory.warc)
    assert len(places) >= 0.8 * len(seeds(server))
    assert all(bodies.read(place).startswith(b"<") for place in places)


def test_workers_killed_around_uploads_lose_no_body(postgres: LocalServer, tmp_path: Path) -> None:
    """Real processes killed before, during and after an upload, then two that send the same: every body is there."""
    with s3_server() as s3:
        found = upload_ordeal(tmp_path, postgres, s3, kills=3, workers=1, pages=30)
    assert found.wrong == []
    assert found.bodies >= 5
    assert sum(found.kills.values()) == 3
