"""Policies and measures of other packages and files."""

from __future__ import annotations

import logging
from importlib import metadata
from pathlib import Path

import pytest

from recrawl.errors import InputError, UnknownNameError
from recrawl.evaluate.crawl import clairvoyant
from recrawl.policies.catalogue import make_policy, policies
from recrawl.policy import Policy, Setting
from recrawl.registry import Registry

OWN = """
import recrawl

@recrawl.add_policy("mine{n}", formula="t", source="a test")
def mine(setting, boost: float = 1.0):
    return recrawl.make_policy("age", setting)

@recrawl.add_policy("seer{n}", clairvoyant=True)
def seer(setting):
    return recrawl.make_policy("oracle", setting)
"""


def test_a_policy_in_a_file(tmp_path: Path) -> None:
    """A spec may begin with a Python file; arguments, other policies around it and clairvoyance work as ever."""
    path = tmp_path / "own.py"
    path.write_text(OWN.format(n=1))
    assert repr(make_policy(f"{path}:mine1(boost=2)", Setting())) == f"{path}:mine1(boost=2)"
    assert make_policy(f"explore({path}:mine1, 0.1)", Setting())
    assert not clairvoyant(f"{path}:mine1")
    assert clairvoyant(f"explore({path}:seer1, 0.1)")
    path.write_text(OWN.format(n=2) + "\n# changed")
    assert make_policy(f"{path}:mine2", Setting()), "a file that changed is read again"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("def", "SyntaxError"),
        ("import recrawl\n@recrawl.add_policy('cg')\ndef f(s): ...", "'cg' is built in"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    """A file that is not there, fails, or takes a built-in name is one line."""
    path = tmp_path / "own.py"
    with pytest.raises(InputError, match="does not exist"):
        make_policy(f"{path}:mine", Setting())
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        make_policy(f"{path}:mine", Setting())
    assert "\n" not in str(error.value)


def test_packages_register_by_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Plug-ins are loaded when a name is unknown; a broken one is one warning that names its package."""
    for name, code in (
        (
            "good_plugin",
            "import recrawl\n@recrawl.add_policy('from-afar')\ndef f(s): return recrawl.make_policy('age', s)",
        ),
        ("bad_plugin", "raise RuntimeError('no luck\\ntoday')"),
    ):
        (tmp_path / f"{name}.py").write_text(code)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[recrawl.policies]\n{name} = {name}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {point.name for point in metadata.entry_points(group="recrawl.policies")} >= {"good_plugin", "bad_plugin"}
    monkeypatch.setattr(policies, "_group", "recrawl.policies")
    with caplog.at_level(logging.WARNING):
        assert make_policy("from-afar", Setting())
        assert make_policy("from-afar", Setting())
    assert [record.message for record in caplog.records] == [
        "plug-in 'bad_plugin' of bad_plugin is left out: RuntimeError: no luck today"
    ]
    assert "from-afar" in {entry.name for entry in policies}
    with pytest.raises(UnknownNameError, match="from-afra"):
        make_policy("from-afra", Setting())


def test_own_names_can_be_defined_again() -> None:
    """A notebook's cell can be run twice: only built-in names are protected."""
    registry: Registry[Policy] = Registry("policy")
    for _ in range(2):
        registry.add("mine")(lambda setting: make_policy("age", setting))
    assert "mine" in registry
