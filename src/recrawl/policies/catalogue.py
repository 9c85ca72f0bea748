"""Imports every module that registers a policy; import this one to have them all."""

from __future__ import annotations

from importlib import import_module

from recrawl.policy import make_policy, policies

__all__ = ["make_policy", "policies"]

MODULES = (  # policies are listed in this order
    *("topk", "classical.rotation", "chase", "classical.frequency", "classical.coin", "classical.planned"),
    *("classical.intervals", "classical.adaptive", "formulas.formula", "learned.learned", "clusters.sites"),
    *("clusters.cluster_policy", "experts.expert_policy", "links.linkrates", "links.lbla", "oracle"),
)
for module in MODULES:
    import_module(f"recrawl.policies.{module}")
