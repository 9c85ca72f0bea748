"""A crawl's store, its bodies and its index of URLs keep what they are given."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import fastwarc.warc
import numpy as np
import pytest
import warcio.archiveiterator
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.cli import main
from recrawl.errors import InputError, StoreError
from recrawl.live.bodies import Bodies
from recrawl.live.config import load
from recrawl.live.facade import Crawl
from recrawl.live.settings_template import TEMPLATE
from recrawl.live.store import Store
from recrawl.live.store_visits import SeenLinks, VisitRecord
from recrawl.urls.urlindex import UrlIndex, url_hash, url_hashes
from recrawl.visits import Outcome

URLS = [f"http://a.example/{i}" for i in range(5)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(tmp_path / "state.sqlite")
    with made.transaction():
        made.add_pages(URLS, ["a.example"] * 5, 1.0)
    return made


def links(*names: str) -> SeenLinks:
    return SeenLinks([f"http://a.example/{name}" for name in names], names, [True] * len(names))


def test_a_store_made_before_an_index_gets_it_when_a_crawl_opens_it(store: Store, tmp_path: Path) -> None:
    """A store of this format that lacks an index is given it when opened for writing; a reader leaves it as it is."""
    ask = "select count(*) from sqlite_schema where name = 'pages_url'"
    store.db.execute("drop index pages_url")
    store.close()
    for read_only, there in ((True, 0), (False, 1), (True, 1)):
        opened = Store.open(tmp_path / "state.sqlite", read_only=read_only)
        assert opened.db.execute(ask).fetchone() == (there,)
        opened.close()


def test_pages_are_unique_by_url_and_numbered_in_order(store: Store) -> None:
    """Adding a URL again gives its page; new ones get the next numbers, also after the store was opened again."""
    with store.transaction():
        again = store.add_pages([URLS[3], "http://b.example/", URLS[0]], ["a.example", "b.example", "a.example"], 2.0)
    assert again.tolist() == [3, 5, 0]
    store.close()
    opened = Store.open(Path(store.path))
    opened.load_index()
    with opened.transaction():
        assert opened.add_pages(["http://c.example/", URLS[1]], ["c.example", "a.example"], 3.0).tolist() == [6, 1]
    assert opened.urls([5, 6]) == ["http://b.example/", "http://c.example/"]
    assert opened.page_of("http://b.example/") == 5
    assert opened.page_of("http://nowhere.example/") is None


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    """All of a group of visits is recorded, or none of it."""

    def half() -> None:
        with store.transaction():
            store.add_visits(1, [VisitRecord(0, 1.0, int(Outcome.FIRST), digest=b"x")], [(0, 0)])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert store.db.execute("select count(*) from visits").fetchone()[0] == 0


def test_what_a_policy_says_of_its_work_is_kept_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`status` prints the notes of the last cycle that is done, such as what exploring cost."""
    crawl = Crawl.create(tmp_path / "news")
    with closing(Store.open(crawl.directory.state)) as store, store.transaction():
        for cycle in (1, 2):
            store.open_cycle(cycle, float(cycle), 10, "learned")
            store.finish_cycle(cycle, (f"exploring: {cycle} visits found 0 changes",))
    assert crawl.status()["notes"] == ["exploring: 2 visits found 0 changes"]
    main(["status", "-C", str(tmp_path / "news")])
    assert "\n  exploring: 2 visits found 0 changes\n" in capsys.readouterr().out


def test_a_page_cannot_be_visited_twice_in_a_cycle(store: Store) -> None:
    """The database itself refuses a double."""
    with store.transaction():
        store.add_visits(1, [VisitRecord(0, 1.0, int(Outcome.FIRST), digest=b"x")], [(0, 0)])
    with pytest.raises(StoreError), store.transaction():
        store.add_visits(1, [VisitRecord(0, 1.5, int(Outcome.CHANGED), digest=b"y")], [(0, 0)])


def test_new_links_are_those_that_our_copy_did_not_have(store: Store) -> None:
    """A link that was taken away and put back is new again; one that stays is not."""
    visits = [links("a", "b"), links("a", "b", "c"), links("c"), links("a", "c")]
    with store.transaction():
        counts = [store.set_links([VisitRecord(0, float(at), 0, links=seen)], {})[0] for at, seen in enumerate(visits)]
    assert counts == [(2, 0), (1, 0), (0, 0), (1, 0)]
    gone = store.db.execute("select target from links where gone_at is not null").fetchall()
    assert gone == [("http://a.example/b",)]


def test_visits_come_back_in_order_cut_at_cycles(store: Store) -> None:
    """Reading all visits gives pieces of one cycle each, in the order they were recorded."""
    with store.transaction():
        for cycle, pages in ((1, (4, 2, 0)), (2, (2,)), (3, (0, 4))):
            for page in pages:
                store.add_visits(cycle, [VisitRecord(page, cycle + 0.5, int(Outcome.UNCHANGED))], [(cycle, 0)])
    pieces = [(piece["cycle"].tolist(), piece["page"].tolist()) for piece in store.visits_in_order()]
    assert pieces == [([1, 1, 1], [4, 2, 0]), ([2], [2]), ([3, 3], [0, 4])]


# -- bodies -----------------------------------------------------------------------------------------------------------


def test_bodies_open_in_warcio_and_fastwarc_with_verified_digests(tmp_path: Path) -> None:
    """Both standard readers see every record with its URL, status, headers and body; the digests hold."""
    bodies = Bodies(tmp_path)
    bodies.open({})
    said = [(f"http://a.example/{i}?q=ü", bytes([i]) * 1000 * i) for i in range(4)]
    places = [
        bodies.write(url, 200, (("content-type", "text/html"), ("content-encoding", "gzip")), body)
        for url, body in said
    ]
    bodies.close()
    file = tmp_path / "crawl-00001.warc.gz"
    with file.open("rb") as stream:
        found = [
            (r.rec_headers["WARC-Target-URI"], r.content_stream().read(), r.http_headers.get_header("content-encoding"))
            for r in warcio.archiveiterator.ArchiveIterator(stream, check_digests="raise")
        ]
    assert found == [(url, body, None) for url, body in said]
    with file.open("rb") as stream:
        records = list(fastwarc.warc.ArchiveIterator(stream, verify_digests=True))
        assert len(records) == 4
    assert [bodies.read(place) for place in places] == [body for _, body in said]


def test_a_damaged_body_is_refused(tmp_path: Path) -> None:
    """One flipped bit and the body is not taken for the page."""
    bodies = Bodies(tmp_path)
    bodies.open({})
    place = bodies.write("http://a.example/", 200, (), hashlib.sha256(b"x").digest() * 50)
    bodies.close()
    file = tmp_path / place[0]
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(bytes(damaged))
    with pytest.raises(StoreError):
        bodies.read(place)


# -- the index of URLs ------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 300), max_size=60), max_size=8))
def test_the_index_numbers_every_url_once(batches: list[list[int]]) -> None:
    """Like a dictionary, whatever the batches and doubles in them, also while it grows."""
    index, known = UrlIndex(1), dict[str, int]()
    for batch in batches:
        urls = [f"http://a.example/{i}" for i in batch]
        if not urls:
            continue
        pages, fresh = index.add(url_hashes(urls))
        assert [urls[i] for i in fresh] == [url for url in dict.fromkeys(urls) if url not in known]
        for url in urls:
            known.setdefault(url, len(known))
        assert pages.tolist() == [known[url] for url in urls]
    assert len(index) == len(known)
    assert index.find(np.array([url_hash("http://other.example/")], dtype=np.uint64)).tolist() == [-1]


# -- settings ---------------------------------------------------------------------------------------------------------


def test_the_default_settings_are_read_as_they_are_written(tmp_path: Path) -> None:
    """What `recrawl init` writes is a valid configuration."""
    (tmp_path / "recrawl.toml").write_text(TEMPLATE)
    config = load(tmp_path / "recrawl.toml")
    assert (config.policy, config.every, config.budget, config.fetch.gate.min_delay_s) == ("auto", "1d", "10%", 1.0)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[crawl]\npolic = 'age'", "crawl.polic"),
        ("[fetch]\nspeed = 3", "speed"),
        ("[fetch.gate]\nmin_delay_s = -1", "delay"),
        ("[scope]\ndeny = ['(']", "recrawl.toml"),
        ("[crawl", "recrawl.toml"),
        ("[crawl]\nseed = 'x'", "crawl.seed"),
        ("[crawler]\n", "crawler"),
    ],
)
def test_a_wrong_setting_is_named(toml: str, said: str, tmp_path: Path) -> None:
    """Every mistake in recrawl.toml is one line that says where."""
    (tmp_path / "recrawl.toml").write_text(toml)
    with pytest.raises(InputError, match=r"recrawl\.toml") as wrong:
        load(tmp_path / "recrawl.toml")
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_the_scope_is_hosts_prefixes_and_denials(tmp_path: Path) -> None:
    """A URL is inside by host or prefix, unless a pattern or a trap speaks against it."""
    toml = "[scope]\nhosts=['a.example']\nprefixes=['https://b.example/docs/']\ndeny=['/private/']"
    (tmp_path / "recrawl.toml").write_text(toml)
    scope = load(tmp_path / "recrawl.toml").scope
    inside = ["http://a.example/", "https://b.example/docs/x"]
    outside = ["http://b.example/", "http://a.example/private/x", "http://a.example/x/x/x/x/x", "http://c.example/"]
    assert [scope(url) for url in inside + outside] == [True] * 2 + [False] * 4


def test_reading_a_store_loads_no_kernels(tmp_path: Path) -> None:
    """`recrawl status` answers at once: neither numba nor scipy is imported to count rows."""
    Store.create(tmp_path / "state.sqlite").close()
    script = (
        "import sys; from pathlib import Path; from recrawl.live.store import Store;"
        f"print(Store.open(Path({str(tmp_path / 'state.sqlite')!r}), read_only=True).status()['pages'],"
        " sorted({'numba', 'scipy'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "0 []\n", ended.stderr
