"""Imports every module that registers a policy; import this one to have them all."""

from __future__ import annotations

# Policies are listed in this order.
# isort: off
from recrawl.policies import topk
from recrawl.policies.classical import rotation
from recrawl.policies import chase
from recrawl.policies.classical import frequency
from recrawl.policies.classical import coin
from recrawl.policies.classical import planned
from recrawl.policies.classical import intervals
from recrawl.policies.classical import adaptive
from recrawl.policies.formulas import formula_policy as formula
from recrawl.policies.learned import learned
from recrawl.policies.clusters import sites
from recrawl.policies.clusters import cluster_policy as clusters
from recrawl.policies.experts import expert_policy as experts
from recrawl.policies.links import linkrates
from recrawl.policies.links import lbla
from recrawl.policies import oracle

# isort: on
from recrawl.policy import make_policy, policies

__all__ = [
    "adaptive",
    "chase",
    "clusters",
    "coin",
    "experts",
    "formula",
    "frequency",
    "intervals",
    "lbla",
    "learned",
    "linkrates",
    "make_policy",
    "oracle",
    "planned",
    "policies",
    "rotation",
    "sites",
    "topk",
]
