"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# the first example of a test may have to compile its kernels, so no example has a deadline
settings.register_profile("recrawl", deadline=None)
settings.load_profile("recrawl")
