"""Imports every module that registers a policy; import this one to have them all."""

from __future__ import annotations

# Policies are listed in this order.
# isort: off
from recrawl.schedule import topk
from recrawl.schedule import rotation
from recrawl.schedule import chase
from recrawl.schedule import frequency
from recrawl.schedule import coin
from recrawl.schedule import planned
from recrawl.schedule import intervals
from recrawl.schedule import adaptive
from recrawl.schedule import formula
from recrawl.schedule import learned
from recrawl.schedule import sites
from recrawl.schedule import clusters
from recrawl.schedule import experts
from recrawl.schedule import linkrates
from recrawl.schedule import lbla
from recrawl.schedule import oracle

# isort: on
from recrawl.schedule.policy import make_policy, policies

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
