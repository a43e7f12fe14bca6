"""Rows of an immutable table can't be changed or removed: not by SQL, querysets, bulk calls or save."""

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.db.models import F, ProtectedError

from evidence.services.flags import flag_row
from tests import factories as f
from v2kb.core.errors import Conflict
from v2kb.core.guards import GUARDS, Immutable, Kept
from v2kb.core.guards.errors import refusal_from_database
from v2kb.core.guards.install import missing_triggers

pytestmark = pytest.mark.django_db

TABLES = sorted({guard.table for guard in GUARDS if isinstance(guard, Immutable)})
MODELS = {model._meta.db_table: model for model in apps.get_models()}
SAME_ROW = "SELECT * FROM {t} ORDER BY id LIMIT 1"
SQL = {
    "update": "UPDATE {t} SET id = id",
    "delete": "DELETE FROM {t}",
    "delete one": "DELETE FROM {t} WHERE id = (SELECT MIN(id) FROM {t})",
    "upsert": (
        f"INSERT INTO {{t}} SELECT * FROM ({SAME_ROW}) AS same WHERE true "
        "ON CONFLICT (id) DO UPDATE SET id = excluded.id"
    ),
    "sqlite:replace": "INSERT OR REPLACE INTO {t} " + SAME_ROW,
    "sqlite:update or replace": "UPDATE OR REPLACE {t} SET id = id + 1000",
    "postgresql:truncate": "TRUNCATE {t} CASCADE",
}


OTHER_GUARDS = {
    "kernels_approval": ("spec.gate_outdated",),
    "evidence_evidencerevision": ("database.revision_base", "database.revision_accepted"),
    "evidence_proposaldecision": ("evidence.proposal_closed",),
}
"""Other guards of the table that may speak first when a row is inserted again: their order is not promised."""


def refused(act, *codes: str) -> None:
    """`act` must fail by the guard, with its code (or one of `codes`)."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        act()
    refusal = refusal_from_database(caught.value)
    assert isinstance(refusal, Conflict), caught.value
    assert refusal.code in ("database.immutable", *codes)


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def plain_field(model) -> str:
    """A field that is no key, to be written back as it is."""
    return next(f.name for f in model._meta.concrete_fields if not f.primary_key and not f.is_relation)


def test_every_table_that_must_not_change_is_declared():
    wanted = {
        "core_activity", "evidence_evidencerevision", "evidence_proposaldecision", "evidence_runreceipt",
        "evidence_experimententry", "evidence_experimentlink", "evidence_evidencechange", "evidence_supersession",
        "references_documentrevision", "references_section", "kernels_opcontract", "kernels_specrevision",
        "kernels_gateresult", "kernels_approval", "kernels_preregistration", "kernels_judgement", "kernels_runresult",
        "kernels_kernelversion", "kernels_fileblob", "kernels_versionfile", "kernels_position", "kernels_comment",
        "kernels_mechanismmark", "kernels_submission", "kernels_citation", "kernels_searchreceipt", "kernels_opstop",
    }  # fmt: skip
    assert wanted <= set(TABLES)
    assert set(TABLES) <= set(MODELS), "a guard on a table that no model has"
    assert missing_triggers() == []


@pytest.mark.parametrize("table", TABLES)
def test_nothing_changes_a_row_of_an_immutable_table(world, document, edge, table):
    model = MODELS[table]
    rows = list(model.objects.order_by("pk").values())
    assert rows, f"the world of this test has no row in {table}"
    if connection.vendor == "postgresql":
        execute("SET CONSTRAINTS ALL IMMEDIATE")
    for name, sql in SQL.items():
        vendor, _, rest = name.partition(":")
        if not rest or vendor == connection.vendor:
            others = OTHER_GUARDS.get(table, ()) if sql.startswith("INSERT") else ()
            refused(lambda sql=sql: execute(sql.format(t=table)), *others)
    field = plain_field(model)
    first = model.objects.order_by("pk").first()
    refused(lambda: model.objects.update(**{field: F(field)}))
    refused(lambda: model.objects.filter(pk=first.pk).update(**{field: getattr(first, field)}))
    refused(lambda: model.objects.bulk_update([first], [field]))
    refused(lambda: first.save())
    refused(lambda: first.save(update_fields=[field]))
    refused(lambda: model.objects.all()._raw_delete("default"))
    for delete in (model.objects.all().delete, first.delete):
        with pytest.raises((DatabaseError, ProtectedError)), transaction.atomic():
            delete()
    assert list(model.objects.order_by("pk").values()) == rows


KEPT = sorted({guard.table for guard in GUARDS if type(guard) is Kept})


@pytest.mark.parametrize("table", KEPT)
def test_rows_of_a_kept_table_are_never_removed(world, table):
    flag_row(f.designer(), world.row.code, reason="a doubt")
    model = MODELS[table]
    assert model.objects.exists()
    if connection.vendor == "postgresql":
        execute("SET CONSTRAINTS ALL IMMEDIATE")
    for name in ("delete", "delete one", "sqlite:replace", "postgresql:truncate"):
        vendor, _, rest = name.partition(":")
        if not rest or vendor == connection.vendor:
            refused(lambda name=name: execute(SQL[name].format(t=table)), "database.proposal_decided")
    refused(lambda: model.objects.all()._raw_delete("default"))


def test_a_row_can_still_be_added_beside_the_refused_ones(world):
    judgement = world.run.judgements.get()
    judgement.pk, judgement._state.adding = None, True
    judgement.save()
    assert world.run.judgements.count() == 2
