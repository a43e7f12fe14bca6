"""A repository with the snapshot of the starter data, and the command run in it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.db import transaction
from knox.models import AuthToken

from kernels.selectors.snapshot import snapshot_text
from kernels.starter import load_starter
from tests import factories as f
from tests.cli.site import ENGINE, Gate, Said, Site
from v2kb.cli.main import main

VARIABLES = ("V2KB_DIR", "V2KB_SERVER", "V2KB_TOKEN", "V2KB_PLAIN_HTTP")
SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "cli-schemas"


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
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
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


@pytest.fixture
def agent():
    """An agent's user, who may do everything that a designer of kernels does."""
    user = f.actor("ada", "designer", "validator", "implementer").user
    user.engine_name = ENGINE
    user.save()
    return user


@pytest.fixture
def site(agent, live_server, tmp_path, monkeypatch, capsys) -> Site:
    """A fresh repository, signed in to a running server that knows one DEAD row."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    gate = Gate(live_server.thread.port)
    made = Site(folder, gate, AuthToken.objects.create(user=agent)[1], capsys, monkeypatch)
    assert made("init", "--server", made.server).code == 0
    assert made("login", stdin=made.token + "\n").code == 0
    made.row = f.evidence_row(f.DEAD)
    yield made
    gate.shut()
