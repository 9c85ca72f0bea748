"""The verbs by name with their one-line help, so that `recrawl --help` imports none of them.

The module of a verb has EXAMPLES, `add(parser)` for its options and `run(args)`; one whose names stand for further
parsers, as `experiment` and `focus`, has no `run` of its own.
"""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import Any

VERBS = {
    "demo": "crawl a small living web on this machine under a learned policy and under age",
    "init": "begin a crawl in a new folder",
    "add": "add pages to a crawl",
    "remove": "stop visiting pages, keeping their history",
    "pause": "skip a host for a while",
    "resume": "visit a paused host again",
    "run": "crawl, cycle by cycle",
    "work": "fetch for a crawl in a database, beside any number of other workers",
    "next": "which pages another crawler should visit now",
    "report": "what another crawler's visits found",
    "status": "the state of a crawl, also while it runs",
    "pages": "list a crawl's pages with what their visits found",
    "show": "one page: its visits and changes, the last diff, the next visit and why",
    "tail": "what was found: new, changed and gone pages as events, also as they come",
    "deliver": "hand events over to files, webhooks and commands, as set by [[deliver]] in recrawl.toml",
    "diff": "what changed between two versions of a page",
    "serve": "a crawl over HTTP, for other programs and for browsers",
    "frontier": "a crawl's schedule by the URLFrontier protocol (gRPC)",
    "learn": "find the policy that fits this crawl's history best",
    "replay": "what would other policies have found on this crawl's history?",
    "export": "write a crawl's history as a recording, CSV or WARC, or the newest copy of every page",
    "prune": "drop the bodies of old versions",
    "upgrade": "bring the store of an older version of recrawl to this one",
    "shards": "write what a crawl knows as shards, for crawls larger than memory",
    "plan": "which pages of a crawl in shards to visit next, on this machine or on a Dask cluster",
    "adopt": "make a recording of another crawler's history, or begin a crawl with it",
    "synth": "write a synthetic web as a recording",
    "describe": "summarise a recording",
    "compare": "compare policies on a recorded web",
    "evolve": "breed score formulas on a recorded web",
    "experiment": "run the experiments of the papers on a recorded web",
    "focus": "crawl for a topic: evolve and replay strategies that rank the frontier",
    "policies": "list all policies: name, formula, source; or some with their parameters",
    "measures": "list all measures: name, meaning, unit, source",
    "completion": "a script that lets bash or zsh complete verbs, options and values",
    "man": "the manual page, for man(1)",
}

EXPERIMENTS = {
    "clusters": "cluster-level sampling and search results (Tan et al. 2007)",
    "experts": "predict changes with related pages (Radinsky & Bennett 2013)",
    "focus": "evolved strategies for focused crawling (Johnson et al. 2003)",
    "gp4c": "evolved score functions against the estimators (Santos et al. 2014)",
    "outlinks": "what predicts new links (Dang et al. 2022)",
}
FOCUS = {"evolve": "evolve strategies by a genetic algorithm", "run": "replay strategies"}


def new_parser(names: Any, name: str, help: str, module: ModuleType | None = None) -> argparse.ArgumentParser:
    """Add a parser for a name, with the options of its module."""
    shape = argparse.RawDescriptionHelpFormatter
    parser: argparse.ArgumentParser = names.add_parser(name, help=help, formatter_class=shape)
    if module is not None:
        parser.epilog = module.EXAMPLES
        module.add(parser)
        parser.set_defaults(run=getattr(module, "run", None))
    return parser
