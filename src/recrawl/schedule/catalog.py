"""Imports every module that registers a policy; import this one to have them all."""

from __future__ import annotations

from recrawl.schedule import oracle, topk
from recrawl.schedule.policy import make_policy, policies

__all__ = ["make_policy", "oracle", "policies", "topk"]
