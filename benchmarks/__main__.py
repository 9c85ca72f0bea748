"""Run all benchmarks, or those named: `python -m benchmarks closed_form gp4c`, `... reading FOLDER`."""

import importlib
import pkgutil
import sys

import benchmarks

PAGES = ("__main__", "results")  # these measure nothing
known = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in PAGES)
names = [word for word in sys.argv[1:] if word in known] or known
for name in names:
    print(f"== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
