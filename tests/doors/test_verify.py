"""`manage.py verify` finds rows that no service wrote. The guards are lifted for the forging alone."""

import io
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from evidence.models import Term
from evidence.services import add_alias, create_lever
from evidence.services.flags import flag_row
from evidence.services.terms import add_term_alias
from kernels.models import Approval, GateResult, Judgement, PreRegistration, RunResult, SpecRevision
from kernels.selectors.verify import faults
from tests import factories as f
from tests.conftest import lift_guards
from v2kb.core.guards.install import install_guards
from v2kb.core.models import Activity
from v2kb.rules import antiloop
from v2kb.rules.canonical import content_hash

pytestmark = pytest.mark.django_db


def verify() -> tuple[int, str]:
    """Exit code and output."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("verify", stdout=out, stderr=err)
    except SystemExit as ended:
        return ended.code, out.getvalue() + err.getvalue()
    return 0, out.getvalue()


def forge(sql: str, *values) -> None:
    """Run SQL as somebody would who owns the database."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    lift_guards()
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        assert cursor.rowcount > 0, "the forgery changed nothing"
    install_guards()


def found() -> list[str]:
    return [str(fault) for fault in faults()]


def test_a_database_that_services_wrote_holds(world, document):
    assert verify() == (0, "Everything stored holds.\n")


def edited(table: str, column: str, change) -> tuple[str, str]:
    """SQL that writes the JSON of the first row anew, after `change`."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, {column} FROM {table} ORDER BY id LIMIT 1")
        pk, value = cursor.fetchone()
    document = json.loads(value) if isinstance(value, str) else value
    change(document)
    cast = "::jsonb" if connection.vendor == "postgresql" else ""
    return f"UPDATE {table} SET {column} = %s{cast} WHERE id = {pk}", json.dumps(document)


@pytest.mark.parametrize(
    ("table", "column", "change", "said"),
    [
        ("evidence_evidencerevision", "content", lambda c: c.update(verdict="WIN"), "evidence revision"),
        ("kernels_opcontract", "content", lambda c: c["tolerance"].update(rel_max="0.9"), "op contract"),
        ("kernels_specrevision", "content", lambda c: c["choices"][0].update(rationale="other"), "spec revision"),
        ("kernels_searchreceipt", "content", lambda c: c["rows"].clear(), "search receipt"),
        ("kernels_gateresult", "inputs", lambda c: c["context"].update(authors=[]), "gate result"),
        ("kernels_gateresult", "lines", lambda c: c[0].update(status="SATISFIED", message="fine"), "gate result"),
        ("kernels_preregistration", "content", lambda c: c.update(kill_percent="0"), "pre-registration"),
        ("kernels_preregistration", "content", lambda c: c.update(lever="another"), "pre-registration"),
        ("kernels_runresult", "content", lambda c: c["rounds"][0].update(samples_ns=[1] * 30), "run result"),
        ("kernels_judgement", "content", lambda c: c.update(sentence="500% faster"), "judgement"),
        ("core_activity", "after", lambda c: c.update(forged=True), "activity"),
    ],
)
def test_a_changed_document_is_found(world, table, column, change, said):
    sql, value = edited(table, column, change)
    forge(sql, value)
    assert any(line.startswith(said) for line in found()), found()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE kernels_fileblob SET size_bytes = 1", "file "),
        ("UPDATE kernels_fileblob SET content = %s", "file "),
        ("UPDATE kernels_kernelversion SET entry = 'kernel.py:other'", "kernel version"),
        ("UPDATE kernels_versionfile SET path = 'other.py'", "kernel version"),
        ("UPDATE kernels_gateresult SET passed = NOT passed", "gate result"),
        ("UPDATE kernels_judgement SET judgement = 'KILLED'", "judgement"),
        ("UPDATE kernels_approval SET revision_hash = 'x'", "approval"),
        ("UPDATE kernels_position SET position = 'discuss'", "approval"),
        ("UPDATE kernels_op SET head_id = NULL", "head of op"),
        (
            "UPDATE core_activity SET summary = 'no' WHERE id = (SELECT MIN(id) FROM core_activity)",
            "activity line",
        ),
        ("DELETE FROM core_activity WHERE id = (SELECT MAX(id) FROM core_activity)", "activity the end of the log"),
        ("DELETE FROM core_activity WHERE id = (SELECT MIN(id) FROM core_activity)", "activity line"),
        ("UPDATE references_documentrevision SET text = 'other'", "document revision"),
        ("UPDATE references_section SET text = 'other'", "section"),
    ],
)
def test_a_changed_row_is_found(world, document, sql, said):
    forge(sql, *([b"def run(i): cheat\n"] if "%s" in sql else []))
    assert any(line.startswith(said) for line in found()), found()


# --- evidence: what the log does not tell of ---


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE evidence_evidencerevision SET cause_class = 'flat'", "its columns say another cause class"),
        ("UPDATE evidence_evidencerevision SET blocking = 'full'", "its columns say another blocking"),
        ("UPDATE evidence_evidencerevision SET proposal_id = NULL", "neither a proposal nor an import wrote it"),
        ("UPDATE evidence_proposal SET state = 'open' WHERE state = 'accepted'", "is not accepted"),
        ("UPDATE evidence_proposal SET content = {json} WHERE state = 'accepted'", "proposed something else"),
        ("DELETE FROM evidence_proposaldecision", "0 accepted proposal"),
        ("UPDATE evidence_proposaldecision SET user_id = {dora}", "nobody gave it"),
        ("UPDATE evidence_supersession SET kind = 'replaces'", "replaces U1: nobody recorded it"),
        ("UPDATE evidence_flag SET confirmed_at = raised_at", "one is confirmed, and nobody did it"),
        ("UPDATE evidence_flag SET cleared_at = raised_at", "one is cleared, and nobody did it"),
        ("DELETE FROM evidence_evidencechange", "the change"),
        ("UPDATE evidence_lever SET parent_id = NULL", "lever fused-vector: it stands under no lever"),
        (
            "UPDATE evidence_leveralias SET normalised = 'x' WHERE name = 'row fusion'",
            "lever fused-row-norm: its names",
        ),
        ("DELETE FROM evidence_leveralias WHERE name = 'row fusion'", "lever fused-row-norm: its names"),
        ("DELETE FROM evidence_termalias WHERE word = 'blackwell_dc'", "blackwell_dc: it is gone"),
        ("UPDATE kernels_searchreceipt SET spec_id = {other}", "nobody stored it"),
    ],
)
def test_evidence_that_no_service_wrote_is_found(world, edge, sql, said):
    flag_row(f.designer(), world.row.code, reason="a doubt")
    create_lever(f.curator(), name="Fused, vectorised", slug="fused-vector", parent="fused-row-norm")
    add_alias(f.curator(), "fused-row-norm", "row fusion")
    add_term_alias(f.curator(), Term.objects.get(kind="arch", word="sm_100").pk, "blackwell dc")
    other = f.saved_revision(f.spec_content(world.row)).spec
    json_value = '\'{"a": "b"}\'' + ("::jsonb" if connection.vendor == "postgresql" else "")
    forge(sql.format(dora=f.designer().user.pk, other=other.pk, json=json_value))
    assert any(said in line for line in found()), found()


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO core_search_fts (core_search_fts, rowid, title, body, whole) VALUES ('delete', 1, 'x', 'x', 'x')",
        "INSERT INTO core_search_title_fts (rowid, title) VALUES (7, 'forged')",
        "DELETE FROM core_search_word_fts WHERE rowid = (SELECT MIN(id) FROM core_searchword)",
        "UPDATE core_search_word_fts SET word = '__forged_'",
        "DROP TRIGGER core_search_move",
    ],
)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="on PostgreSQL vectors are generated columns")
def test_a_full_text_index_that_differs_from_its_entries_is_found(sql):
    f.evidence_row()
    assert found() == []
    with connection.cursor() as cursor:
        cursor.execute(sql)
    assert [line for line in found() if line.startswith("search index")], found()


# --- rows that the guards themselves let in ---


def forged_gate(revision: SpecRevision, **changes) -> GateResult:
    """A passing gate result with the right hashes, for a revision that does not pass: what a database owner can do."""
    context = {"authors": [], "today": "2026-01-01", "new_mechanism_marks": []}
    inputs = {"rows": {}, "levers": {}, "documents": {}, "contracts": [], "context": context}
    inputs |= changes
    line = antiloop.Line("AL1", "1", "C1", "SATISFIED", "Two rows carry it.")
    result = antiloop.GateResult((line,))
    document = {"revision": revision.content_hash, "result": result.as_document(), "inputs": inputs}
    return GateResult.objects.create(
        revision=revision, revision_hash=revision.content_hash, passed=True, lines=result.as_document()["lines"],
        inputs=inputs, gate_version=result.version, content_hash=content_hash(document),
    )  # fmt: skip


@pytest.fixture
def failing(world):
    """A second spec, whose choice cites nothing, in review."""
    revision = f.saved_revision(f.spec_content(world.row, citations=[]))
    f.submit_spec(f.designer(), revision=revision)
    return revision


def test_a_forged_passing_gate_is_found_by_evaluating_it_again(failing):
    assert found() == []
    forged_gate(failing)
    (line,) = found()
    assert "evaluated again on its inputs it says something else" in line
    assert verify()[0] == 1


def test_a_signature_that_was_never_given_is_found(failing):
    mark = {"choice_id": "C1", "choice_hash": "0" * 64, "by": "cora"}
    forged_gate(failing, context={"authors": [], "today": "2026-01-01", "new_mechanism_marks": [mark]})
    assert "a signature of cora that was never given" in found()[0]


def test_an_evidence_revision_that_does_not_exist_is_found(failing):
    row = {"head": "0" * 64, "revisions": ["0" * 64], "flagged": False, "superseded_by": []}
    forged_gate(failing, rows={"U1": row})
    assert "which is not stored" in found()[0]


def test_a_forged_approval_shows_by_its_gate(failing):
    gate = forged_gate(failing)
    who = f.reviewer()
    failing.positions.create(user=who.user, aspect="correctness", position="approve")
    Approval.objects.create(revision=failing, revision_hash=failing.content_hash, gate_result=gate, approver=who.user)
    assert [line.split()[0] for line in found()] == ["gate"]


def test_a_forged_judgement_result_and_registration_are_found(world, failing):
    judgement = world.run.judgements.get()
    judgement.pk, judgement._state.adding, judgement.judgement = None, True, "KILLED"
    judgement.save()
    RunResult.objects.create(run=world.queued, fence=1, content=world.run.result.content, content_hash="0" * 64)
    PreRegistration.objects.create(
        revision=world.revision, choice_id="C2", choice_hash="0" * 64, content={"kill_percent": "0"},
        content_hash=content_hash({"kill_percent": "0"}), sealed_at=timezone.now(),
    )  # fmt: skip
    kinds = sorted(line.split()[0] for line in found())
    assert kinds == ["judgement", "pre-registration", "run", "search", "search"], "the search knows of neither"
    assert Judgement.objects.count() == 2


def test_a_line_that_somebody_appended_to_the_log_is_found(world):
    last = Activity.objects.order_by("id").last()
    names = [field.attname for field in Activity._meta.concrete_fields if field.name != "id"]
    values = {name: getattr(last, name) for name in names}
    Activity.objects.create(**{**values, "hash": "0" * 64, "summary": "all is well"})
    assert [line.split(":")[0] for line in found()] == [f"activity line {last.pk + 1}", "activity the end of the log"]
