"""Nobody forges an approval: not by SQL, not through the ORM, not with somebody else's gate, not through a page."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from kernels.models import Approval, GateResult, Position
from kernels.services.gate import evaluate_gate
from kernels.services.reviews import close_quorum, sign_mechanism, take_position
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden
from v2kb.core.guards.errors import refusal_from_database

pytestmark = pytest.mark.django_db


def raw(revision, gate, approver, digest):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO kernels_approval (revision_id, revision_hash, gate_result_id, approver_id, at) "
            "VALUES (%s, %s, %s, %s, %s)",
            [revision.pk, digest, gate.pk, approver.pk, timezone.now()],
        )


def orm(revision, gate, approver, digest):
    Approval.objects.create(revision=revision, revision_hash=digest, gate_result=gate, approver=approver)


def bulk(revision, gate, approver, digest):
    Approval.objects.bulk_create(
        [Approval(revision=revision, revision_hash=digest, gate_result=gate, approver=approver)]
    )


@pytest.fixture(params=[raw, orm, bulk])
def insert(request):
    return request.param


def code_of(insert, revision, gate, approver, digest="") -> str:
    """The code with which the database refuses this approval; "" when it takes it."""
    try:
        with transaction.atomic():
            insert(revision, gate, approver, digest or revision.content_hash)
    except DatabaseError as error:
        refusal = refusal_from_database(error)
    else:
        return ""
    assert isinstance(refusal, Conflict)
    assert not Approval.objects.filter(revision=revision).exists()
    return refusal.code


def vote(revision, who, position="approve", aspect="correctness"):
    """A position as a row of its own, past the service."""
    return Position.objects.create(revision=revision, user=who.user, aspect=aspect, position=position)


@pytest.fixture
def submitted():
    """A revision in review whose gate passes, with its stored result."""
    row = f.evidence_row()
    f.op()
    revision = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=revision)
    gate, _ = evaluate_gate(f.designer(), revision=revision)
    assert gate.passed
    return revision, gate


@pytest.fixture
def failing():
    """A revision in review whose gate does not pass: its choice cites nothing."""
    row = f.evidence_row()
    f.op()
    revision = f.saved_revision(f.spec_content(row, citations=[]))
    submit_spec(f.designer(), revision=revision)
    gate, _ = evaluate_gate(f.designer(), revision=revision)
    assert not gate.passed
    return revision, gate


def test_with_everything_in_place_the_database_takes_an_approval(submitted, insert):
    revision, gate = submitted
    vote(revision, f.reviewer())
    assert code_of(insert, revision, gate, f.reviewer().user) == ""
    assert Approval.objects.get().revision == revision


def test_an_approval_needs_a_passing_gate(failing, insert):
    revision, gate = failing
    vote(revision, f.reviewer())
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.gate_not_passed"


def test_an_approval_needs_the_gate_of_the_same_revision(submitted, insert):
    revision, gate = submitted
    other = f.saved_revision({**revision.content, "summary": "other"}, who=f.actor("dan", "designer"))
    submit_spec(f.designer(), revision=other)
    vote(other, f.reviewer())
    assert code_of(insert, other, gate, f.reviewer().user) == "spec.gate_not_passed"


@pytest.mark.parametrize("which", ["approval", "gate"])
def test_an_approval_needs_the_hash_of_its_revision(submitted, insert, which):
    revision, gate = submitted
    vote(revision, f.reviewer())
    if which == "gate":
        gate.pk, gate._state.adding, gate.revision_hash = None, True, "0" * 64
        gate.save()
    digest = "0" * 64 if which == "approval" else ""
    assert code_of(insert, revision, gate, f.reviewer().user, digest) == "spec.gate_not_passed"


def test_an_older_green_gate_is_no_ticket_when_the_newest_is_red(submitted, insert):
    revision, gate = submitted
    vote(revision, f.reviewer())
    GateResult.objects.create(
        revision=revision, revision_hash=revision.content_hash, passed=False, lines=[], inputs={}, gate_version="1",
        content_hash="0" * 64,
    )  # fmt: skip
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.gate_not_passed"


def test_a_result_written_by_hand_is_not_taken_for_what_the_gate_says(failing):
    revision, red = failing
    red.pk, red._state.adding, red.passed = None, True, True
    red.save()
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    assert not Approval.objects.exists()
    assert not revision.gate_results.first().passed


def test_no_contributor_approves_not_even_the_author_of_an_older_revision(submitted, insert):
    first, gate = submitted
    vote(first, f.designer())
    assert code_of(insert, first, gate, f.designer().user) == "spec.approver_is_author"
    second = f.saved_revision({**first.content, "summary": "more"}, spec=first.spec, who=f.actor("dan", "designer"))
    submit_spec(f.designer(), revision=second)
    gate, _ = evaluate_gate(f.designer(), revision=second)
    vote(second, f.designer())
    assert code_of(insert, second, gate, f.designer().user) == "spec.approver_is_author"


@pytest.mark.parametrize(
    "votes",
    [
        [],
        [("no_objection", "correctness")],
        [("approve", "performance")],
        [("approve", "curation")],
        [("approve", "correctness"), ("discuss", "correctness")],
        [("approve", "correctness"), ("recuse", "correctness")],
    ],
)
def test_an_approval_needs_an_approving_position_as_the_last_word(submitted, insert, votes):
    revision, gate = submitted
    for position, aspect in votes:
        vote(revision, f.reviewer(), position, aspect)
    vote(revision, f.actor("rita", "reviewer_correctness"))  # somebody else's approval does not count
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.no_approving_position"


def test_an_old_revision_is_never_approved(submitted, insert):
    old, gate = submitted
    vote(old, f.reviewer())
    f.saved_revision({**old.content, "summary": "newer"}, spec=old.spec)
    assert code_of(insert, old, gate, f.reviewer().user) == "spec.not_newest"


def test_services_and_pages_do_not_approve_a_failing_spec(failing, client):
    revision, _ = failing
    code = revision.spec.code
    client.force_login(f.reviewer().user)
    vote_url = reverse("kernels:spec_position", args=[code, 1])
    assert client.post(vote_url, {"aspect": "correctness", "position": "approve"}).status_code == 302
    assert client.post(reverse("kernels:spec_close", args=[code, 1])).status_code == 409
    with pytest.raises(Conflict) as caught:
        close_quorum(f.reviewer(), revision=revision)
    assert caught.value.code == "spec.approval_incomplete"
    assert any("AL1" in sentence for sentence in caught.value.facts["missing"])
    sign_mechanism(f.curator(), revision=revision, choice_id="C1", reason="new")
    assert not Approval.objects.exists()
    assert Position.objects.filter(revision=revision, position="approve").exists()


def test_a_superuser_without_roles_takes_no_position_and_closes_nothing(submitted, roleless, client):
    revision, _ = submitted
    vote(revision, f.reviewer())
    for act in (
        lambda: take_position(roleless, revision=revision, aspect="correctness", position="approve"),
        lambda: close_quorum(roleless, revision=revision),
        lambda: sign_mechanism(roleless, revision=revision, choice_id="C1", reason="new"),
    ):
        with pytest.raises(Forbidden) as caught:
            act()
        assert caught.value.code == "core.role"
    client.force_login(roleless.user)
    assert client.post(reverse("kernels:spec_close", args=[revision.spec.code, 1])).status_code == 403
    assert not Approval.objects.exists()


def test_an_approved_revision_is_not_approved_twice(submitted):
    revision, _ = submitted
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    assert Approval.objects.count() == 1
    for act in (
        lambda: close_quorum(f.actor("rita", "reviewer_correctness"), revision=revision),
        lambda: sign_mechanism(f.curator(), revision=revision, choice_id="C1", reason="new"),
        lambda: take_position(f.actor("rita"), revision=revision, aspect="correctness", position="approve"),
    ):
        with pytest.raises(Conflict) as caught:
            act()
        assert caught.value.code == "spec.approved"
    assert Approval.objects.count() == 1
