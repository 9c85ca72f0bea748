"""recrawl experiment: the experiments of the papers, on any recording.

To add one, write a module `experiment_NAME.py` beside this one as verbs have; name it in verbs.py.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from recrawl.cli.verbs import EXPERIMENTS, new_parser

EXAMPLES = """examples:
  recrawl synth brdc12 --pages 417048 --out brdc12 && recrawl experiment gp4c brdc12 --out gp4c
  recrawl experiment gp4c web --cycle 7d --cycles 17,17,18 --budget 5% --out gp4c
  recrawl experiment gp4c web --quick
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb with a name for every experiment."""
    parser.description = "Run the experiments of the papers: their tables and figures, on any recording."
    names = parser.add_subparsers(metavar="NAME", dest="experiment", required=True)
    for name, help in EXPERIMENTS.items():
        new_parser(names, name, help, import_module(f"recrawl.cli.experiment_{name}"))
