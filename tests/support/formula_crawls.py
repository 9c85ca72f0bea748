"""What a formula earns, by the crawl loop itself."""

from __future__ import annotations

from recrawl.evaluate.crawl import crawl
from recrawl.evaluate.measures.ranking import NDCG, ChangeRate
from recrawl.plan import Plan
from recrawl.policies.formulas.expression import Expression
from recrawl.policies.formulas.formula import Formula, formula_policy
from recrawl.recording.recording import Recording

MEASURES = (ChangeRate(), NDCG())


def by_pages(
    expression: Expression, data: Recording, plan: Plan, over: str = "visits", form: str = "chance"
) -> tuple[list[float], list[float]]:
    """ChangeRate and NDCG of every cycle by the crawl loop itself."""
    result = crawl(data, lambda setting: formula_policy(Formula(expression, over, form=form)), plan, MEASURES)
    return result.per_cycle(MEASURES[0]).tolist(), result.per_cycle(MEASURES[1]).tolist()
