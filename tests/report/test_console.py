"""Tables on a terminal show what strangers wrote, and never obey it."""

from __future__ import annotations

import pytest

from recrawl.report.console import print_tables
from recrawl.report.layout import Table


def test_escape_sequences_of_a_strangers_name_are_shown_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    """A site named with ESC cannot clear the screen or set its title."""
    print_tables([], (), [Table(("site",), [["evil\x1b[2J\x1b]0;title\x07.test"]])])
    said = capsys.readouterr().out
    assert "evil" in said
    assert "\x1b[2J" not in said
    assert "\x07" not in said
