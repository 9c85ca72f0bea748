"""Benchmarks: speed as a ratio to a peer in the same run. `make bench` runs all, `python -m benchmarks.NAME` one.

Each module has a `main()` that prints what it measured; BENCHMARKS.md records the figures with command and date.
Run them alone on an idle machine.
"""
