"""Two proofs by real processes: the web process never imports torch; rules, wire and worker never import Django."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

WEB = """
import sys
sys.modules["torch"] = None
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
from django.core.management import get_commands
assert "up" in get_commands()
"""
NO_DJANGO = """
import sys
sys.modules["django"] = None
import importlib, pkgutil
for name in ("v2kb.rules", "v2kb.wire", "v2kb.broker", "v2kb.worker"):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""


def _run(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_every_page_and_command_loads_where_torch_is_missing():
    done = _run(WEB, DJANGO_SETTINGS_MODULE="v2kb.settings")
    assert done.returncode == 0, done.stderr[-2000:]


def test_rules_wire_broker_and_worker_load_where_django_is_missing(tmp_path):
    pytest.importorskip("torch", reason="the worker's packages are not installed")
    done = _run(NO_DJANGO, V2KB_WORKER_TOKEN="x" * 20, V2KB_APP_URL="http://127.0.0.1:1", V2KB_DATA_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
