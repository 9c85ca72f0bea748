"""Policies of evolved score formulas: `gp:best.json`, or `gp:t-cg` for one of the paper's."""

from __future__ import annotations

from recrawl.columns import IntArray
from recrawl.policies.formulas.formula import Formula, FormulaScorer, load_formula
from recrawl.policies.topk import TopK
from recrawl.policy import Policy, Setting, policies


def formula_policy(formula: Formula, directory: IntArray | None = None) -> Policy:
    """Visit the pages with the highest values of the formula.

    A formula's values have no zero (a constant added changes nothing), so importance does not multiply them; a
    formula that should heed it has it as a terminal.
    """
    return TopK(FormulaScorer(formula, directory), weighted=False)


@policies.add("gp", formula="an evolved formula, gp:FILE or gp:NAME", source="Santos 2014 §4")
def _gp(setting: Setting, formula: str) -> Policy:
    return formula_policy(load_formula(formula))
