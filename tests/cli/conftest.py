"""A repository with the snapshot of the starter data, and the command run in it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.db import transaction

from kernels.selectors.snapshot import snapshot_text
from kernels.starter import load_starter
from v2kb.cli.main import main

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "cli-schemas"


@dataclass(frozen=True)
class Said:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


def as_schema(name: str, text: str) -> Any:
    """The JSON that a command wrote, which keeps to the committed schema of this name."""
    document = json.loads(text)
    jsonschema.validate(document, json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))
    return document


@pytest.fixture(scope="session")
def starter_snapshot(django_db_setup, django_db_blocker) -> str:
    with django_db_blocker.unblock(), transaction.atomic():
        load_starter()
        text = "".join(snapshot_text())
        transaction.set_rollback(True)
    return text


@pytest.fixture(scope="session")
def caches(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def repository(starter_snapshot, caches, tmp_path, monkeypatch) -> Path:
    (tmp_path / ".v2kb").mkdir()
    (tmp_path / ".v2kb" / "snapshot.jsonl").write_text(starter_snapshot, encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    monkeypatch.delenv("V2KB_DIR", raising=False)
    monkeypatch.delenv("V2KB_SERVER", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def v2kb(repository, capsys) -> Callable[..., Said]:
    """Run a command in the repository: `v2kb("show", "D3")`."""

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments)
        return Said(code, *capsys.readouterr())

    return run
