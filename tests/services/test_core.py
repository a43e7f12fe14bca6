"""Core: services leave activity, the log is a chain, guards refuse, errors are coded."""

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from tests import factories as f
from v2kb.core.activity import broken_links, record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.core.guards.errors import refusal_from_database
from v2kb.core.guards.install import install_guards, missing_triggers
from v2kb.core.models import Activity, User
from v2kb.core.service import SERVICES, SilentService, service
from v2kb.core.services import change_roles, create_user, password_changed, user_facts

pytestmark = pytest.mark.django_db


@pytest.fixture
def throwaway_service():
    """Registers services under a name that goes away after the test."""
    before = set(SERVICES)
    yield service
    for name in set(SERVICES) - before:
        del SERVICES[name]


def test_a_service_that_records_nothing_is_an_error_and_writes_nothing(throwaway_service, system):
    @throwaway_service("test.silent")
    def silent(actor):
        User.objects.create(username="ghost")

    with pytest.raises(SilentService):
        silent(system)
    assert not User.objects.filter(username="ghost").exists()


def test_a_service_takes_an_actor_first(throwaway_service, make_user):
    @throwaway_service("test.actor")
    def anything(actor):
        raise AssertionError("never reached")

    with pytest.raises(TypeError, match="takes an Actor"):
        anything(make_user("ann"))


def test_a_refusal_leaves_nothing_behind(throwaway_service, system):
    @throwaway_service("test.refuses")
    def refuses(actor):
        user = User.objects.create(username="half")
        record(actor, "test", user, "half written")
        raise Refusal("test.no", "no")

    with pytest.raises(Refusal):
        refuses(system)
    assert not User.objects.exists()
    assert not Activity.objects.exists()


def test_activity_is_a_chain_that_shows_forged_lines(system):
    for name in ("ann", "bob", "cid"):
        create_user(system, username=name, password="x" * 12, roles=["viewer"])
    first, second, third = Activity.objects.order_by("id")
    assert (second.previous_hash, third.previous_hash) == (first.hash, second.hash)
    assert broken_links() == []
    forged = Activity(
        **{f.attname: getattr(third, f.attname) for f in Activity._meta.concrete_fields if f.name != "id"}
    )
    forged.hash, forged.summary = "0" * 64, "nothing happened"
    forged.save()
    assert broken_links() == [forged.pk]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE core_activity SET summary = 'other'",
        "DELETE FROM core_activity",
        "sqlite:INSERT OR REPLACE INTO core_activity SELECT * FROM core_activity",
        "postgresql:TRUNCATE core_activity CASCADE",
    ],
)
def test_the_database_refuses_to_change_the_log(system, sql):
    create_user(system, username="ann", password="x" * 12, roles=[])
    vendor, _, rest = sql.partition(":")
    if rest:
        if vendor != connection.vendor:
            pytest.skip(f"only on {vendor}")
        sql = rest
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else TRUNCATE stumbles over pending foreign keys
    with pytest.raises(DatabaseError) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)
    refusal = refusal_from_database(caught.value)
    assert isinstance(refusal, Conflict)
    assert refusal.code == "database.immutable"
    assert Activity.objects.get().summary == "user ann made"


def test_a_dropped_guard_is_noticed_and_put_back():
    assert missing_triggers() == []
    with connection.cursor() as cursor:
        suffix = "" if connection.vendor == "sqlite" else " ON core_activity"
        cursor.execute(f"DROP TRIGGER guard_core_activity_update{suffix}")
    assert missing_triggers() == ["guard_core_activity_update"]
    install_guards()
    assert missing_triggers() == []


def test_a_guard_that_was_made_to_do_nothing_is_noticed():
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER guard_core_activity_update")
            cursor.execute(
                "CREATE TRIGGER guard_core_activity_update BEFORE UPDATE ON core_activity BEGIN SELECT 1; END"
            )
        else:
            cursor.execute(
                "CREATE OR REPLACE FUNCTION guard_core_activity() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RETURN NEW; END $$"
            )
    assert "guard_core_activity_update" in missing_triggers()
    install_guards()
    assert missing_triggers() == []


def test_create_user_needs_an_administrator_and_superusers_get_no_exception(make_actor):
    for actor in (make_actor("ann", "curator"), make_actor("root", is_superuser=True)):
        with pytest.raises(Forbidden) as caught:
            create_user(actor, username="new", password="x" * 12, roles=[])
        assert caught.value.code == "core.role"
    create_user(make_actor("adm", "administrator"), username="new", password="x" * 12, roles=["viewer"])
    assert User.objects.get(username="new").must_change_password


def test_unknown_role_and_taken_name_are_refused_with_their_field(system):
    create_user(system, username="ann", password="x" * 12, roles=[])
    with pytest.raises(Conflict) as taken:
        create_user(system, username="ann", password="x" * 12, roles=[])
    with pytest.raises(Refusal) as unknown:
        create_user(system, username="bob", password="x" * 12, roles=["boss"])
    assert (taken.value.field, unknown.value.field) == ("username", "roles")


def test_an_inactive_user_has_no_roles(make_user):
    user = make_user("ann", "administrator", is_active=False)
    with pytest.raises(Forbidden):
        password_changed(Actor.of_user(user))


def roles_of(name: str) -> list[str]:
    return user_facts(User.objects.get(username=name))["roles"]


@pytest.mark.parametrize(
    ("by", "user", "roles"),
    [
        ("curator", "bob", ["viewer", "curator"]),
        ("curator", "bob", ["viewer", "reviewer_correctness"]),
        ("curator", "bob", ["operator"]),
        ("curator", "remy", ["designer"]),
        ("curator", "ada", ["administrator", "viewer", "designer"]),
        ("curator", "cora", ["curator", "designer"]),
        ("designer", "bob", ["viewer", "designer"]),
        ("operator", "bob", ["viewer", "designer"]),
    ],
)
def test_nobody_but_an_administrator_gives_or_takes_what_decides(make_user, by, user, roles):
    actors = {"curator": f.curator(), "designer": f.designer(), "operator": f.actor("olga", "operator")}
    make_user("bob", "viewer")
    make_user("remy", "reviewer_correctness")
    make_user("ada", "administrator", "viewer")
    before = roles_of(user)
    with pytest.raises(Forbidden) as caught:
        change_roles(actors[by], user, roles, "because")
    assert caught.value.code == ("core.role_to_give" if by == "curator" else "core.role")
    assert caught.value.fix
    assert roles_of(user) == before
    assert not Activity.objects.exists()


def test_a_curator_gives_and_takes_working_roles(make_user):
    make_user("bob", "viewer", "operator")
    change_roles(f.curator(), "bob", ["designer", "operator"], " joins ")
    assert roles_of("bob") == ["designer", "operator"]
    line = Activity.objects.get()
    assert line.summary == "user bob: designer given, viewer taken: joins"
    assert (line.before["roles"], line.after["roles"]) == (["operator", "viewer"], ["designer", "operator"])


@pytest.mark.parametrize(
    ("user", "roles", "reason", "code", "field"),
    [
        ("bob", ["viewer"], "x", "core.no_change", "roles"),
        ("bob", ["king"], "x", "core.unknown_role", "roles"),
        ("bob", ["designer"], " \n", "core.reason_missing", "reason"),
        ("bob", ["designer"], "x" * 4001, "core.reason_missing", "reason"),
        ("bob", ["designer"], "a\0b", "core.bad_text", "reason"),
        ("nobody", ["designer"], "x", "core.no_user", "username"),
        ("no\0body", ["designer"], "x", "core.bad_text", "username"),
        ("ada", ["viewer"], "x", "core.last_administrator", "roles"),
    ],
)
def test_changes_of_roles_that_are_refused(make_user, user, roles, reason, code, field):
    make_user("bob", "viewer")
    ada = Actor.of_user(make_user("ada", "administrator", is_staff=True))
    with pytest.raises(Refusal) as caught:
        change_roles(ada, user, roles, reason)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert (roles_of("bob"), roles_of("ada")) == (["viewer"], ["administrator"])


def test_the_command_changes_roles_and_says_why_not(make_user, capsys):
    make_user("bob", "viewer")
    call_command("change_roles", "bob", "designer", "reviewer_correctness", reason="joins")
    assert capsys.readouterr().out == "bob: designer, reviewer_correctness\n"
    assert roles_of("bob") == ["designer", "reviewer_correctness"]
    with pytest.raises(CommandError, match=r"There is no role king.*core\.unknown_role"):
        call_command("change_roles", "bob", "king", reason="joins")
