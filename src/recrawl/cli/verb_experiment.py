"""recrawl experiment: the experiments of the papers, on any recording.

To add one, write a module `experiment_NAME.py` beside this one with `add(names)`, as verbs have; name it in verbs.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recrawl.cli.verbs import EXPERIMENTS, new_parser

EXAMPLES = """examples:
  recrawl synth brdc12 --pages 417048 --out brdc12 && recrawl experiment gp4c brdc12 --out gp4c
  recrawl experiment gp4c web --cycle 7d --cycles 17,17,18 --budget 5% --out gp4c
  recrawl experiment gp4c web --quick
"""


def add(verbs: Any) -> None:
    """Add the verb with a name for every experiment."""
    parser = new_parser(
        verbs, "experiment", EXAMPLES, "Run the experiments of the papers: their tables and figures, on any recording."
    )
    names = parser.add_subparsers(metavar="NAME", dest="experiment", required=True)
    for name in EXPERIMENTS:
        import_module(f"recrawl.cli.experiment_{name}").add(names)
