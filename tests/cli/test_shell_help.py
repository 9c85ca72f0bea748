"""Completion scripts and the manual page, made from the options as they are."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from recrawl.cli import main
from recrawl.cli.parser_tree import whole_tree
from recrawl.cli.verb_completion import completion_script
from recrawl.cli.verb_man import escaped, manual_page
from recrawl.cli.verbs import EXPERIMENTS, VERBS


def test_the_tree_holds_every_command() -> None:
    """All verbs, and the names below `experiment` and `focus`."""
    names = {node.name for node in whole_tree()}
    assert names >= {"", *VERBS, *(f"experiment {name}" for name in EXPERIMENTS), "focus run"}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_shell_can_read_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`bash -n` and `zsh -n` find nothing wrong."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (("recrawl", "upg"), "upgrade"),
        (("recrawl", "experiment", "gp"), "gp4c"),
        (("recrawl", "pages", "-C", "news", "--sort", "wai"), "waiting"),
        (("recrawl", "add", "--sit"), "--sitemap"),
        (("recrawl", "export", "-C", "news", "cor"), "corpus"),
        (("recrawl", "add", "file"), ""),  # left to the completion of files
    ],
)
def test_bash_completes_verbs_options_and_values(line: tuple[str, ...], expected: str) -> None:
    """As if the user pressed Tab at the end of the line."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    words = " ".join(f"'{word}'" for word in line)
    ask = f'COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _recrawl; echo "${{COMPREPLY[@]}}"'
    script = f"{completion_script('bash')}\n{ask}\n"
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


def test_the_manual_page_names_every_verb_and_option() -> None:
    """Names stand as roff writes them; a leading dot or quote is no command of roff."""
    page = manual_page()
    assert all(f".SS {escaped(f'recrawl {verb}')}\n" in page for verb in VERBS)
    assert all(escaped(name) in page for node in whole_tree()[1:] for a in node.options() for name in a.option_strings)
    assert escaped(".x 'a' \\n -C") == r"\&.x \(aqa\(aq \en \-C"


def test_man_can_read_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """groff finds nothing to warn of."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    assert main(["man"]) == 0
    page = capsys.readouterr().out
    groff = ["groff", "-man", "-Tutf8", "-ww", "-z"]
    done = subprocess.run(groff, input=page, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
