"""Nobody forges an approval: not by SQL, not through the ORM, not with somebody else's gate, not through a page."""

import copy
import json

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils import timezone
from knox.models import AuthToken

from evidence.models import EvidenceRow
from evidence.services.decisions import accept_proposal
from evidence.services.flags import confirm_flag, flag_row
from evidence.services.proposals import propose_change, propose_revert
from evidence.services.supersession import supersede_row
from kernels.models import Approval, GateResult, Position, PreRegistration
from kernels.services.gate import evaluate_gate
from kernels.services.reviews import close_quorum, sign_mechanism, take_position
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden
from v2kb.core.guards.errors import refusal_from_database
from v2kb.core.models import User

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
    f.designer().user.groups.add(Group.objects.get(name="reviewer_correctness"))
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
        [("approve", "correctness"), ("recuse", "correctness")],
    ],
)
def test_an_approval_needs_an_approving_position_as_the_last_word(submitted, insert, votes):
    revision, gate = submitted
    for position, aspect in votes:
        vote(revision, f.reviewer(), position, aspect)
    vote(revision, f.actor("rita", "reviewer_correctness"))  # somebody else's approval does not count
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.no_approving_position"


def test_what_somebody_wants_to_discuss_is_not_approved(submitted, insert):
    revision, gate = submitted
    vote(revision, f.reviewer())
    doubter = f.actor("rita", "reviewer_performance")
    vote(revision, doubter, "discuss", "performance")
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.discussed"
    vote(revision, doubter, "no_objection", "performance")
    assert code_of(insert, revision, gate, f.reviewer().user) == ""


@pytest.mark.parametrize("who", ["a viewer", "a reviewer of performance", "one who left"])
def test_only_who_reviews_correctness_now_approves(submitted, insert, who):
    revision, gate = submitted
    approver = {
        "a viewer": lambda: f.actor("vera", "viewer"),
        "a reviewer of performance": lambda: f.actor("rita", "reviewer_performance"),
        "one who left": f.reviewer,
    }[who]()
    if who == "one who left":
        User.objects.filter(pk=approver.user.pk).update(is_active=False)
    vote(revision, approver)
    assert code_of(insert, revision, gate, approver.user) == "spec.approver_no_reviewer"


def test_what_was_not_handed_in_is_not_approved(insert):
    row = f.evidence_row()
    f.op()
    revision = f.saved_revision(f.spec_content(row))
    gate, _ = evaluate_gate(f.designer(), revision=revision)
    vote(revision, f.reviewer())
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.not_submitted"


def new_revision(row):
    changed = {**copy.deepcopy(row.head.content), "bound": "Nothing is left."}
    proposal = propose_change(
        f.actor("prue", "designer"), row.code, base_hash=row.head.content_hash, content=changed, reason="measured"
    )
    accept_proposal(f.curator(), proposal.pk)


def confirmed_flag(row):
    confirm_flag(f.curator(), flag_row(f.designer(), row.code, reason="wrong machine").pk)


def superseded(row):
    newer = f.evidence_row(title="A newer look").code
    supersede_row(f.curator(), newer=newer, older=row.code, kind="replaces", reason="better")


@pytest.mark.parametrize("move", [new_revision, confirmed_flag, superseded])
def test_a_gate_that_was_asked_before_the_evidence_moved_is_no_ticket(submitted, insert, move):
    revision, gate = submitted
    vote(revision, f.reviewer())
    move(EvidenceRow.objects.get(code="U1"))
    assert gate == revision.gate_results.first(), "it is still the newest"
    assert code_of(insert, revision, gate, f.reviewer().user) == "spec.gate_outdated"


def test_a_row_that_says_again_what_it_said_wants_a_gate_of_its_own_and_gets_it(submitted):
    revision, gate = submitted
    row = EvidenceRow.objects.get(code="U1")
    new_revision(row)
    row.refresh_from_db()
    back = propose_revert(f.actor("prue", "designer"), row.code, 1, reason="it was right")
    accept_proposal(f.curator(), back.pk)
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    assert Approval.objects.get().gate_result.content_hash == gate.content_hash
    assert Approval.objects.get().gate_result != gate


def test_nothing_is_sealed_without_an_approval(submitted):
    revision, _ = submitted
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        PreRegistration.objects.create(
            revision=revision, choice_id="C1", choice_hash="0" * 64, content={}, content_hash="0" * 64
        )
    assert refusal_from_database(caught.value).code == "spec.seal_without_approval"


def test_an_old_revision_is_never_approved(submitted, insert):
    old, gate = submitted
    vote(old, f.reviewer())
    f.saved_revision({**old.content, "summary": "newer"}, spec=old.spec)
    assert code_of(insert, old, gate, f.reviewer().user) == "spec.not_newest"


def test_a_polarity_turned_away_and_back_earns_no_approval():
    """The gate is asked on the text that is approved: what was said of an earlier one carries nothing over."""
    row = f.evidence_row()
    dead = f.evidence_row(f.DEAD)
    f.op()
    cited = [{"kind": "evidence", "code": one.code, "revision": "HEAD", "stance": "context"} for one in (row, dead)]
    content = f.spec_content(row, citations=cited, new_mechanism="One pass, no temporary.")
    spec = None
    approved = {}
    for polarity in ("adopts", "defers", "adopts"):
        content["choices"][0]["polarity"] = polarity
        revision = f.saved_revision(content, spec=spec)
        spec = revision.spec
        submit_spec(f.designer(), revision=revision)
        take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
        approved[revision.number] = Approval.objects.filter(revision=revision).exists()
        if polarity == "defers":
            assert PreRegistration.objects.count() == 0
            with pytest.raises(Conflict):  # it is approved: a mark of it can't be had any more
                sign_mechanism(f.curator(), revision=revision, choice_id="C1", reason="new")
    assert approved == {1: False, 2: True, 3: False}
    gate = revision.gate_results.first()
    said = {line["rule"]: (line["status"], line["message"]) for line in gate.lines}
    assert said["AL4"][0] == "UNSATISFIED"
    assert "was not signed as new by anybody" in said["AL4"][1]
    assert code_of(orm, revision, spec.revisions.get(number=2).gate_results.first(), f.reviewer().user)
    sign_mechanism(f.curator(), revision=revision, choice_id="C1", reason="it is new")
    assert Approval.objects.filter(revision=revision).exists()


def test_a_signature_on_the_text_turned_away_does_not_count_for_the_text_turned_back():
    row = f.evidence_row()
    dead = f.evidence_row(f.DEAD)
    f.op()
    cited = [{"kind": "evidence", "code": one.code, "revision": "HEAD", "stance": "context"} for one in (row, dead)]
    content = f.spec_content(row, citations=cited, new_mechanism="One pass, no temporary.", polarity="defers")
    first = f.saved_revision(content)
    submit_spec(f.designer(), revision=first)
    sign_mechanism(f.curator(), revision=first, choice_id="C1", reason="looks harmless")
    content["choices"][0]["polarity"] = "adopts"
    back = f.saved_revision(content, spec=first.spec)
    submit_spec(f.designer(), revision=back)
    take_position(f.reviewer(), revision=back, aspect="correctness", position="approve")
    assert not Approval.objects.exists()
    said = {line["rule"]: line["message"] for line in back.gate_results.first().lines}
    assert "was signed on an earlier text of the choice, which does not count" in said["AL4"]


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


APPROVE = {"aspect": "correctness", "position": "approve"}


@pytest.fixture(params=["page", "REST"])
def door(request, client):
    """door(user, "position" or "close", revision) -> the status of the answer on the page, or of REST."""

    def ask(user, what, revision) -> int:
        code, number = revision.spec.code, revision.number
        body = APPROVE if what == "position" else {}
        if request.param == "page":
            client.force_login(user)
            return client.post(reverse(f"kernels:spec_{what}", args=[code, number]), body).status_code
        path = f"/api/v1/specs/{code}/revisions/{number}/" + ("positions/" if what == "position" else "close/")
        headers = {"Authorization": f"Token {AuthToken.objects.create(user=user)[1]}"}
        return client.post(path, json.dumps(body), "application/json", headers=headers).status_code

    return ask


def test_neither_page_nor_rest_lets_a_contributor_or_an_old_revision_through(submitted, door):
    old, _ = submitted
    both = f.actor("dan", "designer", "reviewer_correctness")
    newest = f.saved_revision({**old.content, "summary": "more"}, spec=old.spec, who=both)
    submit_spec(f.designer(), revision=newest)
    newest.spec = old.spec
    assert [door(both.user, what, newest) for what in ("position", "close")] == [403, 403]
    assert [door(both.user, what, old) for what in ("position", "close")] == [403, 403]
    # A refused form comes back with 422 on the page, a conflict as such through REST.
    assert all(door(f.reviewer().user, what, old) in (409, 422) for what in ("position", "close"))
    assert not Approval.objects.exists()
    assert not Position.objects.exists()


def test_neither_page_nor_rest_approves_what_moved_since_the_gate_was_green(submitted, door):
    revision, gate = submitted
    assert gate.passed
    confirmed_flag(EvidenceRow.objects.get(code="U1"))
    assert door(f.reviewer().user, "position", revision) in (201, 302)
    assert door(f.reviewer().user, "close", revision) == 409
    assert not Approval.objects.exists()
