"""Run all benchmarks, or those named: `python -m benchmarks closed_form gp4c`."""

import importlib
import pkgutil
import sys

import benchmarks

PAGES = ("__main__", "results")  # these measure nothing
names = sys.argv[1:] or sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in PAGES)
for name in names:
    print(f"== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
