"""`make bench`: runs every bench of this folder that this machine can run, one after the other."""

import importlib
import pkgutil
import sys

import tests.bench


def main() -> int:
    for module in sorted(pkgutil.iter_modules(tests.bench.__path__), key=lambda found: found.name):
        if module.name.startswith("bench_"):
            print(f"== {module.name}", flush=True)
            importlib.import_module(f"tests.bench.{module.name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
