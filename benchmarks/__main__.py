"""Run all benchmarks, or those named: `python -m benchmarks closed_form gp4c`."""

import importlib
import pkgutil
import sys

import benchmarks

names = sys.argv[1:] or sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name != "__main__")
for name in names:
    print(f"== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
