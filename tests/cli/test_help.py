"""Every verb has a line in `recrawl --help`, and help is quick."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from recrawl.cli import build_parser, main
from recrawl.cli.verbs import EXPERIMENTS, VERBS

SLOW = ("numpy", "pyarrow", "matplotlib", "rich", "sqlite3", "aiohttp")


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """Names and one-line help of all verbs, without their modules."""
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{verb} {help}" in shown for verb, help in VERBS.items())


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_can_be_run(verb: str) -> None:
    """A verb of the table has a module, and its options end in something to run."""
    parser = build_parser(verb)
    assert parser.format_help()
    assert callable(import_module(f"recrawl.cli.verb_{verb}").add)
    with pytest.raises(SystemExit) as stop:
        parser.parse_args([verb, "--help"])
    assert stop.value.code == 0


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Experiments share --seed, --out, --force and --json."""
    with pytest.raises(SystemExit):
        main(["experiment", name, "--help"])
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--seed", "--out", "--force", "--json", "--quick"))


@pytest.mark.parametrize("words", [["--help"], ["status", "--help"], ["compare", "--help"], ["experiment", "--help"]])
def test_help_imports_nothing_slow(words: list[str]) -> None:
    """No numbers, no plots, no network: help needs the words of the command line only."""
    code = (
        "import sys\nfrom recrawl.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit:\n    pass\n"
        f"sys.exit(', '.join(name for name in {SLOW!r} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
