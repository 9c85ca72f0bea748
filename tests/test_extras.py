"""A plain crawl and a comparison need no plotting, no templates and no scikit-learn."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
for package in ("matplotlib", "jinja2", "markupsafe", "sklearn", "threadpoolctl"):
    sys.modules[package] = None  # as if it were not installed
import recrawl
from recrawl.cli import main
web = recrawl.synthesize("mixed", pages=100, days=8, seed=1)
result = recrawl.compare(web, "age,learned", measures="ChangeRate")
assert len(result.rows()) == 2
recrawl.Crawl.create("news").add("http://example.org/")
assert main(["status", "-C", "news"]) == 0
for use in (result.plot, lambda: recrawl.compare(web, "cls-nad", measures="ChangeRate")):
    try:
        use()
    except recrawl.InputError as error:
        print(error)
print(main(["demo", "--out", "demo"]))
"""


def test_what_is_missing_is_said_in_one_line(tmp_path: object) -> None:
    """Without the extras crawls and comparisons work, and whatever needs one names it: exit code 2."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=str(tmp_path), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-3:] == [
        "this needs jinja2: pip install 'recrawl[report]'",
        "this needs sklearn: pip install 'recrawl[papers]'",
        "2",
    ]
    assert "pip install 'recrawl[report]'" in done.stderr
