"""Run all benchmarks, or those named: `python -m benchmarks closed_form gp4c`, `... reading FOLDER`."""

import importlib
import pkgutil
import sys

import benchmarks

known = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name != "__main__")
names = [word for word in sys.argv[1:] if word in known] or known
for name in names:
    print(f"== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
