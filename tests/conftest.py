"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The first example of a test may have to compile its kernels, so no example has a deadline. Where a change waits for
# the answer the examples are the same each time; who has time asks for many more: HYPOTHESIS_PROFILE=long make test.
settings.register_profile("recrawl", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "recrawl"))
