"""A policy of your own in one file: pages that changed at their last visit come back sooner.

    recrawl compare web --policies "age,cg,examples/own_policy.py:hot,examples/own_policy.py:hot(boost=9)"

`memory` holds what the crawl's own visits have shown, one column per fact (recrawl.Memory); nothing else can be seen.
"""

import recrawl


class Hot:
    """t * (1 + boost) where the last visit found a change, t elsewhere."""

    def __init__(self, boost: float) -> None:
        self.boost = boost

    def score(self, memory, at):
        changed_last_time = memory.ring & 1
        return memory.waited() * (1 + self.boost * changed_last_time)


@recrawl.add_policy("hot", formula="t * (1 + boost * changed at the last visit)", source="examples/own_policy.py")
def hot(setting, boost: float = 3.0):
    return recrawl.TopK(Hot(boost))


if __name__ == "__main__":
    recrawl.check_policy("hot")  # the contract that every built-in policy keeps
    web = recrawl.synthesize("mixed", pages=2000, days=40, seed=1)
    print(recrawl.compare(web, ["age", "cg", "hot", "hot(boost=9)", "oracle"], recrawl.Plan(budget=0.05), "ChangeRate"))
