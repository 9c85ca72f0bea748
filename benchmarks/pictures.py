"""The pictures of the dashboard in the documentation, taken of a demonstration's crawl by Debian's Chromium.

python -m benchmarks.pictures DEMO      after `recrawl demo --out DEMO`; writes docs/pictures/dashboard-*.png
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from recrawl.live.facade import Crawl
from support.browser import browser, look
from support.served_crawls import serving

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SHOWN_WIDTH = {1280: 860, 390: 300}  # pixels in the documentation
COLOURS = 96
TALLEST = {1280: 1000, 390: 1250}


def main() -> None:
    """Take them."""
    crawl = Crawl.open(Path(sys.argv[1]) / "learned")
    page = crawl.pages(sort="changes", limit=1)[0]["url"]
    with serving(crawl.directory.path) as server, browser() as tools:
        server.get(f"/page/why?url={quote(page)}")  # makes what explains, so that the browser does not wait
        for name, path, width, dark in (
            ("overview", "/", 1280, False),
            ("page", f"/page?url={quote(page)}", 1280, True),
            ("overview-phone", "/", 390, True),
            ("plan-phone", "/plan", 390, False),
        ):
            seen = look(tools, [f"http://127.0.0.1:{server.port}{path}"], width, dark=dark, wait_s=2.0)[0]
            assert not seen.errors, seen.errors
            target = FOLDER / f"dashboard-{name}.png"
            target.write_bytes(_small(seen.png, width))
            print(f"{target.name}: {target.stat().st_size / 1e3:.0f} KB")


def _small(png: bytes, width: int) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as whole:
        cut = whole.convert("RGB").crop((0, 0, whole.width, min(whole.height, TALLEST[width])))
    size = SHOWN_WIDTH[width], round(cut.height * SHOWN_WIDTH[width] / cut.width)
    few = cut.resize(size, Image.Resampling.LANCZOS).quantize(
        COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    target = io.BytesIO()
    few.save(target, "PNG", optimize=True)
    return target.getvalue()


if __name__ == "__main__":
    main()
