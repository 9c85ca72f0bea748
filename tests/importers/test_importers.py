"""Histories of other crawlers become recordings that say what their visits said, and no more."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from recrawl.cli import main
from recrawl.errors import InputError
from recrawl.importers.adopting import adopt
from recrawl.importers.assembly import assemble
from recrawl.importers.git_history import PathMap
from recrawl.importers.import_options import ImportOptions
from recrawl.importers.kinds import KINDS, read_history
from recrawl.importers.observations import Observations, Verdict
from recrawl.importers.reading import instant_of
from recrawl.recording.recording import Recording
from support.history_writers import LINE_WRITERS, WRITERS, PastVisit, body_of, cdxj, csv_lines, iso, items, written

DAY = 86_400
START = 1_700_000_000
URLS = ("https://a.example/", "https://a.example/x?y=1", "https://b.example/p/q.html", "http://c.example/")
VISITS = st.lists(
    st.builds(
        PastVisit,
        st.sampled_from(URLS),
        st.integers(0, 40).map(lambda hours: START + hours * 7200),
        st.one_of(st.none(), st.integers(-1, 3)),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda visit: (visit.url, visit.at),
)


def expected(visits: Sequence[PastVisit]) -> dict[tuple[str, int], tuple[int, int | None, list[int]]]:
    """Return birth, death and changes of every life of every page, one visit after another."""
    lives: dict[tuple[str, int], tuple[int, int | None, list[int]]] = {}
    state: dict[str, tuple[int, int | None]] = {}  # url -> number of the life, version (None: gone)
    count: dict[str, int] = defaultdict(int)
    for visit in sorted(visits, key=lambda v: (v.url, v.at)):
        known = state.get(visit.url)
        if visit.version is not None and visit.version < 0:
            continue
        if visit.version is None:
            if known is not None and known[1] is not None:
                born, _, changes = lives[visit.url, known[0]]
                lives[visit.url, known[0]] = (born, visit.at, changes)
                state[visit.url] = (known[0], None)
            continue
        if known is None or known[1] is None:
            life = count[visit.url]
            count[visit.url] += 1
            lives[visit.url, life] = (visit.at, None, [])
        else:
            life = known[0]
            if known[1] != visit.version:
                lives[visit.url, life][2].append(visit.at)
        state[visit.url] = (life, visit.version)
    return lives


def told(tables: dict[str, dict[str, np.ndarray]]) -> dict[tuple[str, int], tuple[float, float, list[float]]]:
    """Return the same of a recording's tables, in seconds."""
    zero = float(tables["sites"]["window_start"][0].astype("datetime64[ms]").astype(np.int64)) / 1000
    pages, changes = tables["pages"], tables["changes"]
    found = {}
    for i, page in enumerate(pages["page_id"].tolist()):
        site = str(tables["sites"]["repo"][pages["site_id"][i]])
        url = f"{site if '://' in site else 'https://' + site}/{pages['path'][i]}"
        days = changes["day"][changes["page_id"] == page] * DAY + zero
        born, died = (float(pages[name][i]) * DAY + zero for name in ("born_day", "died_day"))
        found[url, int(pages["life"][i])] = (born, died, days.tolist())
    return found


@pytest.mark.parametrize("kind", sorted(WRITERS))
@settings(max_examples=30)
@given(visits=VISITS)
def test_a_history_says_the_same_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, kind: str, visits: list[PastVisit]
) -> None:
    """Births, deaths and changes of a written history are those of its visits, whatever the format."""
    seen = read_history(kind, [written(kind, visits, tmp_path_factory.mktemp(kind))])
    truth = expected(visits)
    times = [v.at for v in visits if (v.version is None or v.version >= 0) and any(u == v.url for u, _ in truth)]
    if not truth or max(times) <= min(times):
        return
    try:
        tables, _ = assemble(seen, settle_days=0.0)
    except InputError:
        alive = {at for born, died, changes in truth.values() for at in (born, died, *changes) if at is not None}
        assert len(alive) <= 1 or max(times) <= min(times)
        return
    zero = min(born for born, _, _ in truth.values())
    for key, (born, died, changes) in told(tables).items():
        assert born == pytest.approx(truth[key][0], abs=0.01)
        assert (np.isnan(died) and truth[key][1] is None) or died == pytest.approx(truth[key][1], abs=0.01)
        assert changes == pytest.approx([at for at in truth[key][2] if at > zero], abs=0.01)
    assert set(told(tables)) == {k for k, (_, died, _) in truth.items() if died is None or died > zero}


def history() -> list[PastVisit]:
    """Two pages over six days: one changes every other day, one never and is gone on day 5."""
    visits = []
    for day in range(7):
        visits.append(PastVisit(URLS[0], START + day * DAY, day // 2))
        visits.append(PastVisit(URLS[2], START + day * DAY + 60, None if day >= 5 else 7))
    return visits


def test_adopt_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes a recording that opens and compares, and says what is known and what is not."""
    source = written("csv", history(), tmp_path)
    out = tmp_path / "history"
    assert main(["adopt", "csv", str(source), "--out", str(out), "--settle", "1h"]) == 0
    said = capsys.readouterr().out
    assert "changes are known only where the crawler visited" in said
    recording = Recording.open(out)
    assert len(recording) == 2
    assert len(recording.change_day) == 3
    assert np.isnan(recording.died).sum() == 1 or np.isinf(recording.died).sum() == 1
    assert main(["compare", str(out), "--policies", "age,oracle", "--budget", "1", "--warmup", "1", "--json"]) == 0


def test_revisits_are_unchanged_visits(tmp_path: Path) -> None:
    """A warc/revisit line without status is a visit that found nothing new; a line without digest says nothing."""
    line = (
        'k 2023111{day}000000 {{"url": "https://a.example/", "mime": "{mime}", "status": "{status}", "digest": "{d}"}}'
    )
    lines = [
        line.format(day=1, mime="text/html", status=200, d="AAA"),
        line.format(day=2, mime="warc/revisit", status="-", d="AAA"),
        line.format(day=3, mime="warc/revisit", status="-", d="-"),
        line.format(day=4, mime="text/html", status="-", d="-"),
        line.format(day=5, mime="text/html", status=200, d="BBB"),
    ]
    path = tmp_path / "a.cdxj"
    path.write_text("\n".join(lines))
    tables, adoption = assemble(read_history("cdxj", [path]), 0.0)
    assert tables["changes"]["day"].tolist() == pytest.approx([4.0])
    assert adoption.observed == 4
    assert adoption.equal == pytest.approx(2 / 3)


def test_crawl_log_duplicates(tmp_path: Path) -> None:
    """A Heritrix line marked as a duplicate is an unchanged visit whatever its digest; dns lines are skipped."""
    line = "{when} 200 9 https://a.example/ - - text/html #1 20231111000000000+1 sha1:{digest} - {notes}"
    lines = [
        "2023-11-11T00:00:00.000Z 1 9 dns:a.example P https://a.example/ text/dns #1 2023+1 sha1:X - -",
        line.format(when="2023-11-11T00:00:00.000Z", digest="A", notes="-"),
        line.format(when="2023-11-12T00:00:00.000Z", digest="B", notes="duplicate:server-not-modified,3t"),
        line.format(when="2023-11-13T00:00:00.000Z", digest="C", notes="3t"),
    ]
    path = tmp_path / "crawl.log"
    path.write_text("\n".join(lines))
    tables, _ = assemble(read_history("crawllog", [path]), 0.0)
    assert tables["changes"]["day"].tolist() == pytest.approx([2.0])


def test_warc_brings_texts_and_links(tmp_path: Path) -> None:
    """A WARC file gives the text of each version and the stretches of time of its links."""
    path = tmp_path / "a.warc.gz"
    bodies = [
        b"<p>one text with words <a href='/b'>b</a> <a href='https://else.example/'>c</a>",
        b"<p>another text altogether <a href='/b'>b</a>",
    ]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for day, body in enumerate(bodies):
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            dated = {"WARC-Date": iso(START + day * DAY)}
            url = "https://a.example/"
            writer.write_record(
                writer.create_warc_record(
                    url, "response", io.BytesIO(body), http_headers=headers, warc_headers_dict=dated
                )
            )
    out = tmp_path / "rec"
    adopt("warc", [path], out, settle_days=0.0)
    recording = Recording.open(out)
    assert recording.has_links
    texts = pq.read_table(out / "texts.parquet").to_pylist()
    assert [row["text"].split()[0] for row in texts] == ["one", "another"]
    links = pq.read_table(out / "links.parquet").to_pylist()
    assert [(row["target"], row["day_from"], row["day_to"], row["internal"]) for row in links] == [
        ("https://a.example/b", 0.0, None, True),
        ("https://else.example/", 0.0, 1.0, False),
    ]


def test_wacz_is_its_warc_files(tmp_path: Path) -> None:
    """A WACZ package reads like the WARC files in it."""
    source = written("warc", history(), tmp_path)
    package = tmp_path / "a.wacz"
    with zipfile.ZipFile(package, "w") as file:
        file.write(source, "archive/data.warc.gz")
        file.writestr("datapackage.json", "{}")
    plain, _ = assemble(read_history("warc", [source]), 0.0)
    packed, _ = assemble(read_history("wacz", [package]), 0.0)
    assert plain["changes"]["day"].tolist() == packed["changes"]["day"].tolist() != []


def test_columnar_index(tmp_path: Path) -> None:
    """Common Crawl's Parquet index is read by column, and --site keeps a registered domain."""
    rows = history()
    table = pa.table(
        {
            "url": [v.url for v in rows],
            "url_host_registered_domain": [v.url.split("/")[2] for v in rows],
            "fetch_time": pa.array([v.at * 1000 for v in rows], pa.timestamp("ms")),
            "fetch_status": pa.array([404 if v.version is None else 200 for v in rows], pa.int16()),
            "content_digest": [f"{v.version}" for v in rows],
        }
    )
    path = tmp_path / "part.parquet"
    pq.write_table(table, path)
    tables, _ = assemble(read_history("ccparquet", [path], ImportOptions(hosts=("a.example",))), 0.0)
    assert tables["sites"]["repo"].tolist() == ["a.example"]
    assert len(tables["changes"]["day"]) == 3


def test_items_of_a_feed(tmp_path: Path) -> None:
    """Scrapy items are visits; the digest is that of the named fields."""
    path = tmp_path / "items.jl"
    path.write_bytes(items(history()))
    tables, _ = assemble(read_history("feed", [path]), 0.0)
    assert len(tables["changes"]["day"]) == 3
    same, _ = assemble(read_history("feed", [path], ImportOptions(digest_fields=("nothing",))), 0.0)
    assert len(same["changes"]["day"]) == 0


def test_http_cache_is_never_unpickled(tmp_path: Path) -> None:
    """Scrapy's cache is read from `meta` as a literal: pickled files are not opened, code in meta is refused."""
    folder = tmp_path / "spider" / "ab" / "abcd"
    folder.mkdir(parents=True)
    visit = history()[0]
    (folder / "meta").write_text(repr({"url": visit.url, "status": 200, "timestamp": float(visit.at)}))
    (folder / "pickled_meta").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    (folder / "response_headers").write_text("Content-Type: text/html\r\n")
    (folder / "response_body").write_bytes(body_of(visit))
    seen = read_history("httpcache", [tmp_path])
    assert seen.rows == 1
    (folder / "meta").write_text("__import__('os').system('true')")
    with pytest.raises(InputError, match="cannot be read"):
        read_history("httpcache", [tmp_path])


def test_storm_crawler_documents(tmp_path: Path) -> None:
    """The status index tells the last visit and the last change; without its dates only URLs are known."""
    document = {
        "url": URLS[0],
        "status": "FETCHED",
        "metadata": {
            "signature": ["bb"],
            "signatureOld": ["aa"],
            "signatureChangeDate": [iso(START + DAY)],
            "lastProcessedDate": [iso(START + 5 * DAY)],
            "fetch%2EstatusCode": ["200"],
        },
    }
    bare = {"url": URLS[2], "status": "FETCHED", "metadata": {}}
    path = tmp_path / "status.ndjson"
    path.write_text("\n".join(json.dumps(d) for d in ({"_source": document}, bare)))
    tables, adoption = assemble(read_history("stormcrawler", [path]), 0.0)
    assert adoption.pages == 1
    assert tables["changes"]["day"].tolist() == pytest.approx([1 / DAY], abs=1e-9)
    dump = tmp_path / "dump.json"
    info = {"url": URLS[0], "metadata": {"signature": {"values": ["x"]}, "lastProcessedDate": {"values": [iso(START)]}}}
    dump.write_text(json.dumps({"known": {"info": info}}) + "\n" + json.dumps({"discovered": {"info": {"url": "u"}}}))
    assert read_history("urlfrontier", [dump]).rows == 1


def test_sitemaps_claim_only_with_trust(tmp_path: Path) -> None:
    """lastmod becomes a change only where it is trusted."""
    for day, lastmod in ((1, "2023-11-01"), (2, "2023-11-01"), (3, "2023-11-03")):
        entry = f"<url><loc>https://a.example/</loc><lastmod>{lastmod}</lastmod></url>"
        text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>'
        (tmp_path / f"sitemap-2023-11-0{day}.xml").write_text(text)
    plain, _ = assemble(read_history("sitemap", [tmp_path]), 0.0)
    trusted, _ = assemble(read_history("sitemap", [tmp_path], ImportOptions(trust=True)), 0.0)
    assert len(plain["changes"]["day"]) == 0
    assert trusted["changes"]["day"].tolist() == pytest.approx([2.0])


def git(folder: Path, at: int, *words: str) -> None:
    env = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000", "HOME": str(folder)}
    who = ["-c", "user.name=t", "-c", "user.email=t@t.example"]
    subprocess.run(["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True)


def test_a_repository_is_a_recording(tmp_path: Path) -> None:
    """Every commit is an exact change, with texts, links, births and deaths."""
    repo = tmp_path / "repo"
    (repo / "docs").mkdir(parents=True)
    git(repo, START, "init", "-q")
    steps = [
        ("index.md", "hello [two](two/)"),
        ("two.md", "second page"),
        ("index.md", "hello again"),
        ("two.md", None),
    ]
    for day, (name, text) in enumerate(steps):
        path = repo / "docs" / name
        path.unlink() if text is None else path.write_text(text)
        git(repo, START + day * DAY, "add", "-A")
        git(repo, START + day * DAY, "commit", "-qm", f"step {day}")
    out = tmp_path / "site"
    argv = ["adopt", "git", str(repo), "--map", "docs/**/*.md=https://site.example/{path}/", "--out", str(out)]
    assert main([*argv, "--settle", "1h"]) == 0
    pages = pq.read_table(out / "pages.parquet").to_pylist()
    assert [(p["path"], p["born_day"], p["died_day"]) for p in pages] == [("", 0.0, None), ("two/", 1.0, 3.0)]
    assert pq.read_table(out / "changes.parquet")["day"].to_pylist() == [2.0]
    [link] = pq.read_table(out / "links.parquet").to_pylist()
    assert (link["target_page"], link["day_from"], link["day_to"]) == (1, 0.0, 2.0)


def test_maps_of_paths() -> None:
    """{path} is the path below the fixed part without its ending; index and README are their folder."""
    mapped = PathMap.parse("docs/**/*.md=https://s.example/{path}/")
    assert mapped.address_of("docs/a/b.md") == "https://s.example/a/b/"
    assert mapped.address_of("docs/a/README.md") == "https://s.example/a/"
    assert mapped.address_of("docs/index.md") == "https://s.example/"
    assert mapped.address_of("src/a.md") is None
    assert PathMap.parse("*.html=https://s.example/{file}").address_of("a.html") == "https://s.example/a.html"


BROKEN = {
    "truncated gzip": (".cdxj.gz", gzip.compress(cdxj(history()), mtime=0)[:-60]),
    "a line of a megabyte": (".cdxj", b"k 20231111000000 " + b"x" * 1_000_001),
    "a wrong header": (".csv", b"address,when\nhttps://a.example/,1"),
    "not UTF-8": (".cdxj", b"k 20231111000000 \xff{}"),
    "a bad time": (".csv", b"url,time,digest\nhttps://a.example/,yesterday,A"),
    "no digest and no status": (".csv", b"url,time,digest\nhttps://a.example/,2023-11-11,"),
    "a bad timestamp": (".cdxj", b'k 20231311000000 {"url": "https://a.example/", "digest": "A"}'),
    "half a JSON": (".cdxj", b'k 20231111000000 {"url": "https://'),
    "an unclosed quote": (".csv", b'url,time,digest\n"https://a.example/,1,A\n'),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_bad_input_is_one_line_with_its_number(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is wrong with a file, the command says so in one line that names the line, and leaves nothing behind."""
    suffix, content = BROKEN[name]
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    kind = "csv" if ".csv" in suffix else "cdxj"
    assert main(["adopt", kind, str(path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "line " in error
    assert not (tmp_path / "out").exists()


def faulty(kind: str, fault: str) -> tuple[str, bytes, int]:
    """A file of this kind with something wrong: its suffix, its content, and the number of the line."""
    good = LINE_WRITERS[kind](history())
    lines = good.splitlines()
    if fault == "truncated gzip":
        return ".gz", gzip.compress(good, mtime=0)[:-9], 0
    if fault == "no gzip":
        return ".gz", good, 1
    if fault == "a line of a megabyte":
        return "", b"\n".join([*lines[:3], b"x" * 1_000_001, *lines[3:]]), 4
    if fault == "half a megabyte in the first line":
        return "", b"x" * 500_000 + b"\n" + good, 1
    if fault == "a wrong header":
        return "", b"\n".join([b"address,when", *lines[1:]]), 1
    if fault == "not UTF-8":
        return "", b"\n".join([*lines[:3], b"\xff\xfe" + lines[3]]), 4
    assert fault == "deep JSON"
    return "", b"\n".join([*lines[:3], b'k 20231111000000 {"url":' + b"[" * 200_000, *lines[3:]]), 4


FAULTS = (
    "truncated gzip",
    "no gzip",
    "a line of a megabyte",
    "half a megabyte in the first line",
    "a wrong header",
    "not UTF-8",
    "deep JSON",
)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", sorted(LINE_WRITERS))
def test_every_kind_that_reads_lines_names_the_bad_one(
    kind: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on standard error with the number of the line, exit code 2, and nothing is written."""
    suffix, content, number = faulty(kind, fault)
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    assert main(["adopt", kind, str(path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert len(error) < 500
    assert f"line {number or ''}" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", sorted(LINE_WRITERS))
def test_a_byte_order_mark_and_line_ends_of_windows_change_nothing(kind: str, tmp_path: Path) -> None:
    """A file that was saved by an editor reads like the one before."""
    plain, saved = tmp_path / "plain", tmp_path / "saved"
    plain.write_bytes(LINE_WRITERS[kind](history()))
    saved.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n"))
    one, two = read_history(kind, [plain]).columns(), read_history(kind, [saved]).columns()
    assert one[0] == two[0] != []
    for a, b in zip(one[1:], two[1:], strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    """A CSV saved by a spreadsheet reads like any other."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + csv_lines(history()))
    assert read_history("csv", [path]).rows == 14


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["adopt", "cdxy", "a", "--out", "o"], "did you mean"),
        (["adopt", "csv", "/nowhere.csv", "--out", "o"], "No such file"),
        (["adopt", "git", ".", "--out", "o"], "--map"),
        (["adopt", "csv", "a", "--out", "o", "--since", "long ago"], "--since"),
    ],
)
def test_bad_arguments(
    argv: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Wrong words on the command line are one line and exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    assert says in capsys.readouterr().err


def test_every_kind_says_what_it_can_tell() -> None:
    """The help of `adopt` names all kinds, each with what its data can and cannot tell."""
    names = (
        "csv cdx cdxj wayback ccparquet warc wacz nutch crawllog httpcache feed stormcrawler urlfrontier sitemap git"
    )
    assert set(KINDS) == set(names.split())
    assert all(kind.looks and kind.tells and callable(kind.load()) for kind in KINDS.values())


def test_times_of_all_forms() -> None:
    """ISO 8601, 14 digits, seconds and milliseconds are the same moment."""
    assert instant_of("2023-11-14T22:13:20Z") == instant_of("20231114221320") == START
    assert instant_of(f"{START}") == instant_of(f"{START}000") == START
    assert instant_of("2023-11-14T23:13:20+01:00") == START


def test_two_lines_about_one_moment_are_one_visit() -> None:
    """A page asked twice in the same second counts once."""
    seen = Observations()
    for at, digest in ((0.0, "a"), (DAY, "b"), (DAY, "c"), (2 * DAY, "b")):
        seen.add("https://a.example/", START + at, digest)
    seen.add("https://a.example/", START + 3 * DAY, None, Verdict.FAILED)
    tables, adoption = assemble(seen, 0.0)
    assert adoption.observed == 3
    assert tables["changes"]["day"].tolist() == pytest.approx([1.0])
