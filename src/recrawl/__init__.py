"""recrawl: a crawler that learns which pages changed.

    import recrawl

    web = recrawl.synthesize("mixed", pages=2000, days=30, seed=1)         # or recrawl.Recording.open("folder")
    print(recrawl.compare(web, ["age", "cg", "learned", "oracle"], recrawl.Plan(budget=0.05)))

The public names below are imported when first used, so `import recrawl` itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"
TYPE_CHECKING = False  # type checkers take it for true; importing typing takes longer than all the rest

if TYPE_CHECKING:
    from recrawl.cycle import World, run_cycle
    from recrawl.errors import InputError, OutputError, PolicyError, RecordingError, RecrawlError, StoreError
    from recrawl.evaluate.crawl import crawl
    from recrawl.evaluate.measures.all_measures import make_measure, make_measures
    from recrawl.evaluate.measures.measure import Measure, add_measure
    from recrawl.evaluate.policy_checks import check_policy
    from recrawl.evolve.breeding import evolve_formula
    from recrawl.evolve.evolution import EvolutionSettings
    from recrawl.live.facade import Crawl
    from recrawl.memory import Memory
    from recrawl.plan import Plan
    from recrawl.policies.catalogue import make_policy
    from recrawl.policies.topk import TopK
    from recrawl.policy import Policy, Scorer, Setting, add_policy
    from recrawl.recording.recording import Recording
    from recrawl.recording.write import write_recording
    from recrawl.report.comparison_report import compare
    from recrawl.see.differences import diff, read_page
    from recrawl.simulate.recorded import RecordedWorld
    from recrawl.simulate.synthetic.synthesis import synthesize
    from recrawl.visits import Outcome, Visits

_HOME = {
    "cycle": ("World", "run_cycle"),
    "errors": ("InputError", "OutputError", "PolicyError", "RecordingError", "RecrawlError", "StoreError"),
    "evaluate.crawl": ("crawl",),
    "evaluate.measures.all_measures": ("make_measure", "make_measures"),
    "evaluate.measures.measure": ("Measure", "add_measure"),
    "evaluate.policy_checks": ("check_policy",),
    "evolve.breeding": ("evolve_formula",),
    "evolve.evolution": ("EvolutionSettings",),
    "live.facade": ("Crawl",),
    "memory": ("Memory",),
    "plan": ("Plan",),
    "policies.catalogue": ("make_policy",),
    "policies.topk": ("TopK",),
    "policy": ("Policy", "Scorer", "Setting", "add_policy"),
    "recording.recording": ("Recording",),
    "recording.write": ("write_recording",),
    "report.comparison_report": ("compare",),
    "see.differences": ("diff", "read_page"),
    "simulate.recorded": ("RecordedWorld",),
    "simulate.synthetic.synthesis": ("synthesize",),
    "visits": ("Outcome", "Visits"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Crawl", "EvolutionSettings", "InputError", "Measure", "Memory", "Outcome", "OutputError", "Plan", "Policy",
    "PolicyError", "RecordedWorld", "Recording", "RecordingError", "RecrawlError", "Scorer", "Setting", "StoreError",
    "TopK", "Visits", "World", "add_measure", "add_policy", "check_policy", "compare", "crawl", "diff",
    "evolve_formula", "make_measure", "make_measures", "make_policy", "read_page", "run_cycle", "synthesize",
    "write_recording",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module 'recrawl' has no attribute {name!r}")
    from recrawl.extras import extras_named

    with extras_named():
        value = getattr(import_module(f"recrawl.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
