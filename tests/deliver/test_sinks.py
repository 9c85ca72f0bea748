"""Sinks: each is sure of what it took, whatever pages say and settings ask."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cli import main
from recrawl.deliver import sink as sink_module
from recrawl.deliver.corpus import export_corpus
from recrawl.deliver.delivery import deliver
from recrawl.deliver.jsonl_sink import JsonlSink
from recrawl.deliver.page_files import page_path
from recrawl.deliver.sink import Sink, SinkSetting
from recrawl.errors import InputError
from recrawl.live.feed import EventFeed
from recrawl.visits import Outcome
from support.feed_crawls import filled

A, B = "https://a.example/docs/x", "https://a.example/b"
ODD = "https://a.example/..%2f..%2fetc/pass%00wd?q=../../x&y=%0d%0a"
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"


def page(*lines: str, title: str = "T") -> bytes:
    body = "".join(f"<p>{line}</p>" for line in lines)
    return f"<html lang=en><head><title>{title}</title></head><body>{body}</body>".encode()


NASTY = page(
    WORDS, "\x1b]0;x\x0c &#xD800; --- &#13;&#10;'\" $(reboot) `reboot` \u202e", title="=HYPERLINK(1)\n---\nurl: x"
)
CYCLES = [
    [(A, Outcome.FIRST, page(WORDS, "old")), (B, Outcome.FIRST, page(WORDS)), (ODD, Outcome.FIRST, NASTY)],
    [(A, Outcome.CHANGED, page(WORDS, "new")), (B, Outcome.GONE, b"")],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return filled(tmp_path / "news", CYCLES).path


def send(folder: Path, *tables: str) -> list[str]:
    """Deliver to these sinks; returns what was said."""
    toml, said = folder / "recrawl.toml", list[str]()
    toml.write_text("".join(f"\n[[deliver]]\n{table}\n" for table in tables))
    deliver(folder, follow=False, say=said.append, stop=threading.Event())
    return said


def test_jsonl_rotates_and_packs(folder: Path) -> None:
    """Every event is a line, in plain files, .gz and .zst alike; the name of a file may tell the date."""
    names = ("log-%Y.jsonl", "log.jsonl.gz", "log.jsonl.zst")
    send(folder, *(f'to = "jsonl:out/{name}"\nwith = ["text", "diff"]\nbatch = 2' for name in names))
    expected = list(EventFeed(folder, include=("text", "diff")))
    found = {path.suffix: path.read_bytes() for path in (folder / "out").iterdir()}
    assert any(path.name.startswith("log-20") for path in (folder / "out").iterdir())
    for data in (found[".jsonl"], gzip.decompress(found[".gz"]), zstd.decompress(found[".zst"])):
        assert data.isascii()
        assert [json.loads(line) for line in data.split(b"\n")[:-1]] == expected


def test_what_a_crash_left_is_cut_off(tmp_path: Path) -> None:
    """What was written but not counted before a crash is not in the file twice."""
    path = tmp_path / "log.jsonl"
    state = JsonlSink(path, None).send([{"id": 1}])
    JsonlSink(path, state).send([{"id": 2}])  # the process dies before its cursor moves
    with path.open("ab") as file:
        file.write(b'{"id": 3, "te')
    JsonlSink(path, state).send([{"id": 2}])
    assert path.read_text() == '{"id": 1}\n{"id": 2}\n'


def test_files_follow_the_pages(folder: Path) -> None:
    """A page is a file with front matter that its title cannot break, within the folder, and gone with the page."""
    send(folder, 'to = "files:tree"', 'to = "files:texts"\nformat = "text"')
    tree = {str(path.relative_to(folder / "tree")): path for path in (folder / "tree").rglob("*.md")}
    assert len(tree) == 2
    assert tree["a.example/docs/x.md"].read_text().endswith(f"\n---\n\n{WORDS}\n\nnew\n")
    (odd,) = (path for name, path in tree.items() if "docs" not in name)
    lines = odd.read_text().split("\n")
    assert lines[1] == f'url: "{ODD}"'
    assert lines.index("---", 1) == 5
    assert not (folder / "tree" / "a.example" / "b.md").exists()
    assert (folder / "texts/a.example/docs/x.txt").read_text() == f"{WORDS}\nnew\n"


@given(st.lists(st.text("ab./%\\~-?&#: é\x00\n", max_size=12), min_size=2, max_size=2, unique=True))
def test_no_url_leads_out_and_no_two_to_one_file(paths: list[str]) -> None:
    """Whatever a URL's path is, its file is below its host's folder, and another URL has another file."""
    urls = [f"https://a.example/{path}" for path in paths]
    files = [page_path(url, ".md") for url in urls]
    assert files[0] != files[1]
    assert not set(files[0].parents) & {files[1]}, "no file is another's folder"
    for file in files:
        assert file.parts[0] == "a.example"
        assert not {"..", "."} & set(file.parts)
        assert all(len(part.encode()) < 200 and part.isprintable() for part in file.parts)
    assert page_path("http://a.example/x", ".md") != page_path("https://a.example/x", ".md")


def test_parquet_parts_hold_the_events(folder: Path) -> None:
    """One part for each cycle, with the events' own fields; a part that is written again replaces itself."""
    table = 'name = "pq"\nto = "parquet:pq"\ntypes = ["all"]\nwith = ["text", "change"]'
    send(folder, table)
    assert [path.name for path in sorted((folder / "pq").iterdir())] == [
        "events-000000000001.parquet", "events-000000000004.parquet",
    ]  # fmt: skip
    (folder / "deliver.sqlite").unlink()
    send(folder, table)
    rows = pq.read_table(folder / "pq").to_pylist()
    assert [row["id"] for row in rows] == ["1", "2", "3", "cycle-1", "4", "5", "cycle-2"]
    assert rows[4]["change"]["words_added"] == 1
    assert rows[2]["text"] == next(event["text"] for event in EventFeed(folder, "2", include=("text",)))


def test_the_end_of_a_cycle_is_a_row_only_where_it_is_asked_for(folder: Path) -> None:
    """Parquet parts are closed by it; those who want pages get pages, and only these are counted."""
    assert send(folder, 'to = "parquet:pages"') == ["parquet:pages: 5 sent"]
    assert [row["id"] for row in pq.read_table(folder / "pages").to_pylist()] == ["1", "2", "3", "4", "5"]


def test_commands_get_events_on_stdin(folder: Path) -> None:
    """A command sees JSON lines and no page's text in its arguments; what fails or hangs is tried again."""
    script = folder / "take.sh"
    script.write_text('#!/bin/sh\necho "$#" >> args\ncat >> got\n')
    script.chmod(0o755)
    assert send(folder, 'to = "command:./take.sh"\nwith = ["text"]') == ["command:./take.sh: 5 sent"]
    assert [json.loads(line) for line in (folder / "got").read_text().splitlines()] == list(
        EventFeed(folder, include=["text"])
    )
    assert (folder / "args").read_text() == "0\n" * 5
    assert not (folder / "reboot").exists()
    quick = 'retry = ["0.01s"]\ntypes = ["gone"]'
    said = send(folder, f"name = 'bad'\nto = \"command:sh -c 'echo no >&2; exit 3'\"\n{quick}")
    assert said == ["bad: 0 sent; 1 put aside (--again sends them)"]
    (said_slow,) = send(folder, f'name = "slow"\nto = "command:sleep 60"\ntimeout = "0.2s"\n{quick}')
    assert "put aside" in said_slow


def test_other_packages_add_sinks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sink of an entry point is used by its scheme; its errors block it alone."""
    taken: list[Any] = []

    class Mine(Sink):
        def send(self, events: Sequence[dict[str, Any]]) -> str | None:
            taken.extend(events)
            return "kept"

    monkeypatch.setattr(sink_module.sinks, "_entries", dict(sink_module.sinks._entries))

    @sink_module.add_sink("mine")
    def make(setting: SinkSetting, state: str | None) -> Sink:
        assert setting.target == "there"
        return Mine()

    assert send(folder, 'to = "mine:there"') == ["mine:there: 5 sent"]
    assert [event["id"] for event in taken] == [1, 2, 3, 4, 5]


BAD = [
    ('to = "pigeon:coop"', "unknown kind of sink 'pigeon'"),
    ('to = "nowhere"', "needs to ="),
    ('to = "jsonl:/proc/no/log.jsonl"', "jsonl:/proc/no/log.jsonl': "),
    ('to = "files:hook.secret"', "File exists"),
    ('to = "jsonl:x/../log.jsonl"', "belongs to the crawl"),
    ('to = "files:."', "belongs to the crawl"),
    ('to = "parquet:warc/x"', "belongs to the crawl"),
    ('to = "webhook:ftp://x/"', "needs a URL"),
    ('to = "webhook:http://x/\\r\\nevil: 1"', "needs a URL"),
    ('to = "command:no-such-program-here"', "there is no program"),
    ('to = "webhook:http://x/"\nsecret_file = "none"', "No such file"),
    ('to = "webhook:http://x/"\nsecret_file = "recrawl.toml"', "whsec_ and Base64"),
    ('to = "jsonl:a"\ntypes = ["old"]', "unknown type of event 'old'"),
    ('to = "jsonl:a"\nwith = ["html"]', "unknown content 'html'"),
    ('to = "jsonl:a"\nonly = {host = "x"}', "unknown setting host"),
    ('to = "jsonl:a"\nbatch = "many"', "batch cannot be 'many'"),
    ('to = "jsonl:a"\n[[deliver]]\nto = "jsonl:a"', "two sinks have the same"),
    ('to = "jsonl:a"\nretry = ["soon"]', "is not a span of time"),
]


@pytest.mark.parametrize(("table", "message"), BAD)
def test_bad_settings_are_one_line(folder: Path, table: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot work is said before anything is sent, in one line with exit code 2."""
    (folder / "hook.secret").touch()
    (folder / "recrawl.toml").write_text(f"[[deliver]]\n{table}\n")
    assert main(["deliver", "-C", str(folder)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_deliver_says_as_json_how_far_each_sink_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sink has everything, nobody answers at the other: the last event, and the error."""
    tables = (
        'name = "good"\nto = "jsonl:all.jsonl"',
        'name = "bad"\nto = "webhook:http://127.0.0.1:9/"\nretry = ["1h"]',
    )
    (folder / "recrawl.toml").write_text("".join(f"\n[[deliver]]\n{table}\n" for table in tables))
    assert main(["deliver", "-C", str(folder), "--json"]) == 1
    good, bad = json.loads(capsys.readouterr().out)
    newest = json.loads((folder / "all.jsonl").read_text().splitlines()[-1])["id"]
    assert (good["name"], good["tries"], good["dead"], good["disabled"], good["error"]) == ("good", 0, 0, False, None)
    assert good["last"].partition(".")[0] == str(newest)
    assert (bad["name"], bad["last"], bad["tries"]) == ("bad", None, 1)
    assert bad["error"]


def test_a_crawl_without_sinks_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`deliver` and `run --deliver` need somebody to deliver to."""
    for verb in (["deliver"], ["run", "--deliver", "--cycles", "1"]):
        assert main([*verb, "-C", str(folder)]) == 2
        assert "no [[deliver]]" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["parquet", "jsonl", "files", "markdown"])
def test_a_corpus_is_the_newest_copy_of_every_page(folder: Path, tmp_path: Path, form: str) -> None:
    """Pages that are there with text, Markdown, title, language, dates and hash; those gone are listed."""
    dest = tmp_path / "corpus"
    assert export_corpus(folder, dest, form) == "2 pages, 1 gone"
    assert [json.loads(line)["url"] for line in (dest / "gone.jsonl").read_text().splitlines()] == [B]
    if form in ("files", "markdown"):
        suffix = ".txt" if form == "files" else ".md"
        assert (dest / page_path(A, suffix)).read_text().endswith("new\n")
        assert len(list(dest.rglob(f"*{suffix}"))) == 2
    else:
        table = pq.read_table(dest / "part-00000.parquet").to_pylist() if form == "parquet" else None
        rows = table or [json.loads(line) for line in (dest / "corpus.jsonl").read_text().splitlines()]
        row = next(row for row in rows if row["url"] == A)
        assert row["text"] == f"{WORDS}\nnew"
        assert (row["title"], row["language"], row["changed"]) == ("T", "en", "2024-10-06T00:00:00Z")
    with pytest.raises(InputError, match="add --force"):
        export_corpus(folder, dest, form)
    assert export_corpus(folder, dest, form, "2024-10-06", force=True) == "1 pages, 1 gone"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with pytest.raises(InputError, match="not an earlier corpus"):
        export_corpus(folder, tmp_path / "mine", form, force=True)
