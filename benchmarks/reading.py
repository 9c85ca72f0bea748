"""Pages read per CPU-second from a folder of HTML: recrawl, lexbor (selectolax) and Scrapy's way (parsel and lxml).

Every reader gets the same bytes, one after the other in the same process, in turns of 200 pages; CPU time is the
process's own. The peers do less, and their links are left as they are written:

| step | recrawl | lexbor | parsel |
|---|---|---|---|
| links as they are written, text | yes | yes | yes |
| links resolved, in normal form, each once, with anchors; title, heading, charset | yes | no | links resolved |
| main text, digest and simhash without what rotates, directives, canonical, feeds, soft errors | yes | no | no |

With --check every page's links are compared with lexbor's, resolved by ada one by one. With --sum one checksum of all
that was read is printed and nothing is measured: a change of the reader that should change no page leaves it as it is.

python -m benchmarks.reading FOLDER [--check | --sum]         (.html, .htm and .html.gz below it, links followed)
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from recrawl.see.page import see_page
from recrawl.urls.traps import without_session
from recrawl.urls.url import Base, normalise

TURN, ROOT = 200, "http://docs.example/"
ENDINGS = (".html", ".htm", ".html.gz")
NOT_PAGES = ("#", "javascript:", "mailto:", "tel:", "data:")
Page = tuple[bytes, str]


def pages_of(folder: Path) -> Iterator[Page]:
    walked = (Path(place) / name for place, _, names in os.walk(folder, followlinks=True) for name in names)
    for path in sorted(path for path in walked if path.name.endswith(ENDINGS) and path.is_file()):
        body = path.read_bytes()
        yield (
            gzip.decompress(body) if path.suffix == ".gz" else body,
            normalise(ROOT + path.relative_to(folder).as_posix()) or ROOT,
        )


def ours(body: bytes, url: str) -> int:
    page = see_page(body, url)
    return len(page.main_text) + len(page.link_columns.urls)


def lexbor(body: bytes, url: str) -> int:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(body)
    links = [node.attributes.get("href") for node in tree.css("a[href]")]
    return len(tree.body.text() if tree.body else "") + len(links)


def scrapy(body: bytes, url: str) -> int:
    from parsel import Selector
    from w3lib.url import safe_url_string

    page = Selector(body.decode("utf-8", "replace"), base_url=url)
    links = {safe_url_string(href) for href in page.css("a::attr(href)").getall()}
    return len(" ".join(page.css("body ::text").getall())) + len(links)


READERS: dict[str, Callable[[bytes, str], int]] = {"recrawl": ours, "lexbor": lexbor, "parsel": scrapy}


def links_by_lexbor(body: bytes, url: str) -> set[str]:
    """What lexbor's links mean, each resolved by the parser alone."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(body)
    named: Any = next((n.attributes.get("href") for n in tree.css("base[href]") if n.attributes.get("href")), None)
    base = Base((normalise(named, Base(url)) or url) if named else url)
    hrefs = [node.attributes.get("href") or "" for node in tree.css("a[href]")]
    found = (normalise(href, base) for href in set(hrefs) if href and not href.startswith(NOT_PAGES))
    return {without_session(href) for href in found if href}


def measure(pages: list[Page], names: list[str]) -> None:
    spent = dict.fromkeys(names, 0.0)
    for name in names:
        for body, url in pages[:: max(1, len(pages) // 20)]:  # kernels are loaded, not measured
            READERS[name](body, url)
    for at in range(0, len(pages), TURN):
        for name in names:
            reader, began = READERS[name], time.process_time()
            for body, url in pages[at : at + TURN]:
                reader(body, url)
            spent[name] += time.process_time() - began
    total = sum(len(body) for body, _ in pages) / 1e6
    for name in names:
        rate = len(pages) / spent[name]
        times = spent[name] / spent["recrawl"]
        print(
            f"  {name:8} {rate:7,.0f} pages per CPU-s {total / spent[name]:7.1f} MB per CPU-s   recrawl is {times:.2f}x"
        )


def checksum(pages: list[Page]) -> str:
    """Return a checksum of what every page says: digest, links, texts, title, directives and all else."""
    total = blake2b(digest_size=16)
    for body, url in pages:
        page = see_page(body, url)
        total.update(repr((page, page.text)).encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def main() -> None:
    folders = [Path(word) for word in sys.argv[1:] if Path(word).is_dir()]
    if not folders:
        print("reading: name a folder of HTML, such as the unpacked documentation packages of a distribution")
        return
    for folder in folders:
        pages = list(pages_of(folder))
        print(f"{folder.name}: {len(pages):,} pages, {sum(len(b) for b, _ in pages) / 1e6:.0f} MB")
        if "--sum" in sys.argv:
            print(f"  checksum {checksum(pages)}")
            continue
        measure(pages, list(READERS))
        if "--check" in sys.argv:
            wrong = [
                url for body, url in pages if set(see_page(body, url).link_columns.urls) ^ links_by_lexbor(body, url)
            ]
            print(f"  links differ from lexbor's on {len(wrong)} pages", *wrong[:5])


if __name__ == "__main__":
    main()
