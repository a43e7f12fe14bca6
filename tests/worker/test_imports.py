"""Rules, wire, broker and worker work where Django is not; importing the worker does not import torch."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(code):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_no_django_is_needed():
    done = run(
        "import sys; sys.modules['django'] = None\n"
        "import importlib, pkgutil\n"
        "import v2kb.rules, v2kb.wire, v2kb.worker, v2kb.broker\n"
        "for package in (v2kb.rules, v2kb.wire, v2kb.broker, v2kb.worker):\n"
        "    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not module.name.endswith('__main__'):\n"
        "            importlib.import_module(module.name)\n"
        "            print(module.name)\n"
    )
    assert done.returncode == 0, done.stderr
    assert "v2kb.worker.harness.job" in done.stdout


def test_the_worker_starts_without_importing_torch():
    done = run(
        "import sys; sys.modules['torch'] = None\n"
        "import v2kb.worker.app, v2kb.worker.hello, v2kb.wire, v2kb.rules\n"
        "print(v2kb.worker.app.describe(v2kb.worker.app.settings).queue)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "cpu"
