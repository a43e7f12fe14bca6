"""What all tests share. Databases are real: SQLite by default, PostgreSQL through V2KB_DATABASE_URL."""

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.db import connections
from django.test import TransactionTestCase

from v2kb.core.actor import Actor
from v2kb.core.guards.install import expected_triggers, install_guards

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real documents of the field, where they lie beside the project; tests that need them skip elsewhere."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real documents is not here")
    return CORPUS


def lift_guards(using: str = "default") -> None:
    """Drop every guard, so that a test database can be flushed."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for name, (table, _) in expected_triggers(connection.vendor).items():
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}" + ("" if connection.vendor == "sqlite" else f" ON {table}"))


@pytest.fixture(autouse=True, scope="session")
def _flush_past_the_guards():
    """Transactional tests flush the database, which the guards refuse: lift them for the flush alone."""
    teardown = TransactionTestCase._fixture_teardown

    def flush(self):
        lift_guards()
        try:
            teardown(self)
        finally:
            install_guards()

    TransactionTestCase._fixture_teardown = flush
    yield
    TransactionTestCase._fixture_teardown = teardown


@pytest.fixture
def make_user(db, django_user_model):
    """make_user("dora", "designer", ...) -> a user with these roles and the password "pass-<name>-phrase"."""

    def make(username: str, *roles: str, **fields):
        user = django_user_model.objects.create_user(username, password=f"pass-{username}-phrase", **fields)
        user.groups.set(Group.objects.filter(name__in=roles))
        assert user.groups.count() == len(roles), f"unknown role among {roles}"
        return user

    return make


@pytest.fixture
def make_actor(make_user):
    """make_actor("dora", "designer") -> an Actor for a new user with these roles."""

    def make(username: str, *roles: str, channel: str = "cli", **fields) -> Actor:
        return Actor.of_user(make_user(username, *roles, **fields), channel)

    return make


@pytest.fixture
def system() -> Actor:
    """The application itself."""
    return Actor.system()
