"""Adopt a million lines of CDXJ: CPU seconds and memory.

python -m benchmarks.adopting [LINES]
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from recrawl.importers.assembly import assemble
from recrawl.importers.kinds import read_history


def write_lines(path: Path, lines: int) -> None:
    """Write captures of a fifth as many pages, of which a third has changed at each."""
    draw = random.Random(1)
    with path.open("w") as file:
        for i in range(lines):
            page = draw.randrange(max(lines // 5, 1))
            row = {
                "url": f"https://site{page % 997}.example/section{page % 31}/article-{page}.html",
                "mime": "text/html",
                "status": "200",
                "digest": f"SHA{page}V{draw.randrange(3)}ABCDEFGHIJKLMNOPQRST",
                "length": "12345",
                "offset": f"{i * 999}",
                "filename": "crawl-data/segment/warc/part-00017.warc.gz",
            }
            file.write(f"example,site)/article 2023{1 + i % 12:02}{1 + i % 28:02}1213{i % 60:02} {json.dumps(row)}\n")


def main(lines: int = 1_000_000) -> None:
    """Print CPU seconds and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.cdxj"
        write_lines(path, lines)
        begun = time.process_time()
        _, adoption = assemble(read_history("cdxj", [path]))
        spent = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = f"{adoption.changes:,} changes of {adoption.pages:,} pages"
    print(f"{lines:,} lines: {spent:.1f} CPU-s, peak {peak:.0f} MB; {found}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
