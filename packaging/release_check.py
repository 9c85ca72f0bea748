"""Check a release: build it, look into the wheel, install it in an empty environment, use it as a stranger would.

    make release-check

Needs the packages of the extra `release`. Everything happens in a temporary folder; dist/ gets what was built.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAIN_MB = 400  # the most that a plain crawl may take on disk
FOREIGN = """
import recrawl

web: recrawl.Recording = recrawl.synthesize("mixed", pages=60, days=10, seed=1)
plan = recrawl.Plan(cycle_days=1, budget=0.1)
table: str = recrawl.compare(web, ["age", "oracle"], plan).table()
print(table)
"""
CRAWL = """
import functools, http.server, pathlib, threading
import recrawl

pathlib.Path("site").mkdir()
pathlib.Path("site", "index.html").write_text("<title>One</title><p>A page with <a href='/two.html'>another</a>.")
pathlib.Path("site", "two.html").write_text("<title>Two</title><p>Another page.")
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="site")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
config = '[crawl]\\nbudget = 10\\nsignals = false\\n[fetch]\\nallow_networks = ["127.0.0.0/8"]\\n'
with recrawl.Crawl.create("news", config) as crawl:
    crawl.add(f"http://127.0.0.1:{server.server_port}/")
    crawl.run(cycles=1)
    assert crawl.status()["visits"] == 2, crawl.status()
"""
WANTED = (  # in the wheel
    *("recrawl/py.typed", "recrawl/serve/static/recrawl.css", "recrawl/serve/templates/base.html"),
    *(".dist-info/licenses/LICENSE", "/licenses/src/recrawl/serve/static/vendor/htmx-LICENSE.txt"),
    *("/licenses/src/recrawl/serve/static/vendor/uPlot-LICENSE.txt", ".dist-info/sboms/sbom.cdx.json"),
)
SOURCE_OF_WHEEL = 'packages = ["src/recrawl"]\n'


def run(*words: str | Path, cwd: Path = ROOT) -> None:
    """Run a program; end with its output where it fails."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def environment(folder: Path, *packages: str) -> Path:
    """Make a virtual environment with these packages; return the folder of its programs."""
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages)
    return folder / "bin"


def build(folder: Path) -> Path:
    """Build the source archive and, from it, the wheel, with a bill of materials; return the wheel."""
    sources = folder / "sources"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, sources / name)
    bill = sources / "sbom.cdx.json"
    plain = environment(folder / "bill", str(sources))
    run(sys.executable, "-m", "cyclonedx_py", "environment", plain / "python", "--output-reproducible", "-o", bill)
    settings = sources / "pyproject.toml"  # hatchling refuses to build without a bill that is named there
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace(SOURCE_OF_WHEEL, SOURCE_OF_WHEEL + f'sbom-files = ["{bill.name}"]\n'))
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", cwd=sources)
    run(sys.executable, "-m", "twine", "check", "--strict", *(folder / "dist").iterdir())
    size = sum(file.stat().st_size for file in (folder / "bill" / "lib").rglob("*") if file.is_file()) >> 20
    pip = sum(file.stat().st_size for file in (folder / "bill" / "lib").rglob("pip/**/*") if file.is_file()) >> 20
    print(f"a plain crawl installs {size - pip} MB")
    if size - pip > PLAIN_MB:
        sys.exit(f"that is more than {PLAIN_MB} MB")
    run(plain / "python", "-c", CRAWL, cwd=folder)
    return next((folder / "dist").glob("*.whl"))


def look_into(wheel: Path) -> None:
    """Check that the wheel holds what it promises."""
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in WANTED:
        if not any(wanted in name for name in names):
            sys.exit(f"{wheel.name} has no {wanted}")
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size >> 10} KB")


def main() -> None:
    """Build, install, use."""
    with tempfile.TemporaryDirectory(prefix="recrawl-release-") as name:
        folder = Path(name)
        wheel = build(folder)
        look_into(wheel)
        programs = environment(folder / "whole", f"{wheel}[all]", "mypy")
        (folder / "foreign.py").write_text(FOREIGN)
        run(programs / "python", folder / "foreign.py", cwd=folder)
        run(programs / "mypy", "--strict", folder / "foreign.py", cwd=folder)
        run(programs / "recrawl", "demo", "--pages", "60", cwd=folder)
        dist = ROOT / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        shutil.copytree(folder / "dist", dist)
    print(f"good: {', '.join(sorted(file.name for file in dist.iterdir()))}")


if __name__ == "__main__":
    main()
