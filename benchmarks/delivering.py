"""What comes out of a crawl: how soon a feed starts, what kill -9 doubles, what a dead sink costs, memory of a corpus.

    python -m benchmarks.delivering tail|kills|dead|corpus|markdown [N or FOLDER]

`markdown` reads HTML files of a folder (the Rust book, say), and counts what survives beside trafilatura and
html-to-markdown alone.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from benchmarks.throughput import TOML, make_page, serve, timed, urls_of
from recrawl.live.bodies import Bodies
from recrawl.live.directory import CrawlDirectory
from recrawl.live.store import Store
from recrawl.live.store_visits import VisitRecord
from recrawl.urls.url import host_of
from recrawl.visits import Outcome
from support.delivery_ordeal import ordeal
from support.feed_crawls import BEGAN, deliver_to, many

VISITS, CYCLES = 1_200_000, 20


def tail(visits: int = VISITS) -> None:
    """CPU-seconds of `recrawl tail` on a large store, from the start of Python to its end."""
    with tempfile.TemporaryDirectory() as folder:
        crawl = many(Path(folder) / "news", visits // CYCLES, CYCLES).path
        size = (crawl / "state.sqlite").stat().st_size >> 20
        print(f"{visits:,} visits, {size} MB")
        for words in (
            [],
            ["--since", str(visits - 100)],
            ["--since", "2024-10-23"],
            ["--types", "failed", "--since", "0"],
        ):
            times = [_cpu_s([sys.executable, "-m", "recrawl", "tail", "-C", str(crawl), *words]) for _ in range(5)]
            print(f"tail {' '.join(words) or '(the last ten)'}: {statistics.median(times):.2f} CPU-s")
        print(
            f"python -c pass: {statistics.median([_cpu_s([sys.executable, '-c', 'pass']) for _ in range(5)]):.2f} CPU-s"
        )


def _cpu_s(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kills(count: int = 200) -> None:
    """kill -9 at random moments of a delivery: what is lost, doubled or out of order."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        found = ordeal(Path(folder), count, 10 * count, seed=7)
    print(
        f"{found.kills} kills, {found.events} events, {found.doubled} of them twice, wrong: {found.wrong or 'nothing'}"
    )
    print(f"({time.monotonic() - began:.0f} s)")


def dead(repeats: int = 5) -> None:
    """Pages a CPU-second of a crawl with a webhook that nobody answers, and without; one after the other, repeated."""
    context = multiprocessing.get_context("spawn")
    ready, port = context.Event(), context.Value("i", 0)
    server = context.Process(target=serve, args=(1_500, ready, port), daemon=True)
    server.start()
    ready.wait(60)
    urls = urls_of(1_500, port.value)
    with tempfile.TemporaryDirectory() as folder:
        _crawl(urls[:200], Path(folder) / "warm", False)
        rates: dict[bool, list[float]] = {False: [], True: []}
        for repeat in range(repeats):
            for sink in (False, True) if repeat % 2 else (True, False):
                rates[sink].append(_crawl(urls, Path(folder) / f"{repeat}{sink}", sink))
    server.terminate()
    without, beside = (statistics.median(rates[sink]) for sink in (False, True))
    print(f"without {without:.0f} pages/CPU-s, beside a dead webhook {beside:.0f}: {beside / without - 1:+.1%}")
    print("pairs:", ", ".join(f"{b / a - 1:+.1%}" for a, b in zip(rates[False], rates[True], strict=True)))


def _crawl(urls: list[str], folder: Path, sink: bool) -> float:
    from recrawl.live.session import Session
    from recrawl.plan import Plan

    directory = CrawlDirectory.init(folder, TOML)
    deliver_to(directory, 'name = "hook"\nto = "webhook:http://127.0.0.1:9/"\nwith = ["diff"]')
    store = Store.open(directory.state)
    with store.transaction():
        store.add_pages(urls, [host_of(url) for url in urls], 0.0)
    store.close()
    words = [sys.executable, "-m", "recrawl", "deliver", "-C", str(folder), "--follow"]
    child = subprocess.Popen(words, stderr=subprocess.DEVNULL) if sink else None
    try:
        with Session(directory, "age", Plan(1.0, len(urls), warmup=0)) as session:
            pages, cpu_s, _ = timed(lambda: int(session.run_cycle()) and session.store.visits_in(1))
    finally:
        if child is not None:
            child.terminate()
            child.wait(60)
    return pages / cpu_s


def corpus(pages: int = 100_000) -> None:
    """Peak memory of `export corpus` for a tenth of the pages and for all."""
    with tempfile.TemporaryDirectory() as folder:
        for count in (pages // 10, pages):
            crawl = _bodies(Path(folder) / str(count), count)
            for form in ("jsonl", "parquet"):
                code = (
                    "import resource; from recrawl.cli import main\n"
                    f"main(['export', '-C', {str(crawl)!r}, 'corpus', {str(crawl / form)!r}, '--format', {form!r}])\n"
                    "r = resource.getrusage(resource.RUSAGE_SELF)\n"
                    "held = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
                    "print(f'{int(held.split()[1]) >> 10} MB at most, {r.ru_utime + r.ru_stime:.0f} CPU-s')"
                )
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
                print(f"{count:,} pages as {form}: {done.stdout.splitlines()[-1]}", flush=True)


def _bodies(folder: Path, pages: int) -> Path:
    directory = CrawlDirectory.init(folder)
    store, bodies = Store.open(directory.state), Bodies(directory.warc)
    bodies.open({})
    head = (("content-type", "text/html; charset=utf-8"),)
    texts = [make_page(0, number)[:4_000] for number in range(50)]
    urls = [f"https://s{page % 50}.example/{page}.html" for page in range(pages)]
    with store.transaction():
        numbers = store.add_pages(urls, [host_of(url) for url in urls], BEGAN).tolist()
        store.open_cycle(1, BEGAN, pages, "age")
        records = []
        for page in numbers:
            place = bodies.write(urls[page], 200, head, texts[page % 50] + b"<p>page %d" % page)
            records.append(VisitRecord(page, BEGAN, int(Outcome.FIRST), 200, digest=b"%d" % page, warc=place))
        bodies.sync()
        store.add_visits(1, records, [(0, 0)] * pages)
        store.finish_cycle(1)
    store.close()
    return folder


def markdown(where: str) -> None:
    """Count what survives: code blocks, tables, list items, links and headings of the pages' main content."""
    import html_to_markdown
    import trafilatura

    from recrawl.see.markdown import markdown_of, plain_markdown
    from recrawl.see.markup.scan import scan
    from recrawl.see.page import see_page
    from recrawl.see.page_text import main_markup

    files = [path for path in sorted(Path(where).rglob("*.html")) if path.stat().st_size < 400_000][:120]
    bodies = [path.read_bytes() for path in files]
    parts = [main_markup(scan(body)).decode("utf-8", "replace") for body in bodies]
    tags = {"code blocks": "<pre", "tables": "<table", "list items": "<li\\b", "links": "<a ", "headings": "<h[1-6]"}
    marks = {"code blocks": r"^[ >]*```", "tables": r"^[ >]*\|[ :|-]+\|$", "list items": r"^[ >]*(?:[-*+]|\d+\.) ",
             "links": r"\]\(", "headings": r"^#{1,6} "}  # fmt: skip
    there = {name: sum(len(re.findall(tag, part)) for part in parts) for name, tag in tags.items()}
    print(f"{len(files)} pages; main content:", ", ".join(f"{count} {name}" for name, count in there.items()))
    ways: dict[str, Callable[[bytes], str]] = {
        "recrawl": lambda body: markdown_of(see_page(body, "https://x.example/"), body),
        "recrawl without the extra": lambda body: plain_markdown(main_markup(scan(body)).decode("utf-8", "replace")),
        "html-to-markdown alone": lambda body: html_to_markdown.convert(body.decode("utf-8", "replace")).content or "",
        "trafilatura": lambda body: _trafilatura(trafilatura, body),
    }
    for name, way in ways.items():
        way(bodies[0])
        began = time.process_time()
        texts = [way(body) for body in bodies]
        took = time.process_time() - began
        found = {what: sum(len(re.findall(mark, text, re.M)) for text in texts) for what, mark in marks.items()}
        found["code blocks"] //= 2
        size = sum(map(len, texts)) // len(texts)
        said = ", ".join(f"{count} {what}" for what, count in found.items())
        print(f"{name}: {len(texts) / took:.0f} pages/CPU-s, {size:,} characters per page, {said}", flush=True)


def _trafilatura(library: Any, body: bytes) -> str:
    options = {"output_format": "markdown", "include_links": True, "include_tables": True, "include_formatting": True}
    return str(library.extract(body.decode("utf-8", "replace"), **options) or "")


def main() -> None:
    words = sys.argv[1:] if sys.argv[0].endswith("delivering.py") else []
    which = words[0] if words else "all"
    number = int(words[1]) if len(words) > 1 and words[1].isdigit() else None
    for name, run in {"tail": tail, "kills": kills, "dead": dead, "corpus": corpus}.items():
        if which in (name, "all"):
            print(f"-- {name}", flush=True)
            run() if number is None else run(number)
    if which == "markdown":
        markdown(words[1])


if __name__ == "__main__":
    main()
