"""Reviews: who takes a position, what blocks, what closes the quorum, and what an edit does to it."""

import copy

import pytest

from evidence.services.decisions import accept_proposal
from evidence.services.flags import clear_flag, confirm_flag, flag_row
from evidence.services.proposals import propose_change
from kernels.models import Approval, Comment, GateResult, MechanismMark, Position, PreRegistration
from kernels.selectors.reviews import current_positions, what_is_missing
from kernels.selectors.specs import spec_status
from kernels.services.gate import evaluate_gate
from kernels.services.reviews import close_quorum, comment, sign_mechanism, take_position
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db


@pytest.fixture
def row():
    return f.evidence_row()


@pytest.fixture
def revision(row):
    f.op()
    made = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=made)
    return made


def approve(revision, who=None, **more):
    return take_position(who or f.reviewer(), revision=revision, aspect="correctness", position="approve", **more)


def is_approved(revision) -> bool:
    return Approval.objects.filter(revision=revision).exists()


# --- positions ---


def test_one_correctness_approval_closes_the_quorum_and_seals_the_prediction(revision):
    approve(revision)
    approval = Approval.objects.get()
    assert (approval.approver, approval.revision_hash) == (f.reviewer().user, revision.content_hash)
    assert approval.gate_result.passed
    sealed = PreRegistration.objects.get()
    assert (sealed.choice_id, sealed.content["kill_percent"]) == ("C1", "3")
    assert sealed.sealed_at >= approval.at
    assert what_is_missing(revision) == []
    assert Activity.objects.filter(verb="kernels.approve_spec").get().user == f.reviewer().user


def test_a_contributor_takes_no_position_even_with_the_role(revision, make_actor):
    both = f.actor("dan", "designer", "reviewer_correctness", "curator")
    second = f.saved_revision({**revision.content, "summary": "more"}, spec=revision.spec, who=both)
    submit_spec(f.designer(), revision=second)
    third = f.saved_revision({**revision.content, "summary": "third"}, spec=revision.spec)
    submit_spec(f.designer(), revision=third)
    for act in (
        lambda: approve(third, both),
        lambda: take_position(both, revision=third, aspect="curation", position="no_objection"),
        lambda: sign_mechanism(both, revision=third, choice_id="C1", reason="new"),
        lambda: close_quorum(both, revision=third),
    ):
        with pytest.raises(Forbidden) as caught:
            act()
        assert caught.value.code == "spec.contributor"
    assert not Position.objects.exists()


@pytest.mark.parametrize(
    ("roles", "aspect"),
    [
        ((), "correctness"),
        (("viewer", "designer", "administrator"), "correctness"),
        (("reviewer_performance",), "correctness"),
        (("reviewer_correctness",), "performance"),
        (("reviewer_correctness", "reviewer_performance"), "curation"),
    ],
)
def test_each_aspect_has_its_role(revision, make_actor, roles, aspect):
    with pytest.raises(Forbidden) as caught:
        take_position(make_actor("ann", *roles), revision=revision, aspect=aspect, position="approve")
    assert caught.value.code == "core.role"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"aspect": "beauty", "position": "approve"}, "review.unknown_aspect"),
        ({"aspect": "correctness", "position": "love"}, "review.unknown_position"),
        ({"aspect": "correctness", "position": "discuss"}, "review.reason_missing"),
        ({"aspect": "correctness", "position": "discuss", "note": " \n"}, "review.reason_missing"),
        ({"aspect": "correctness", "position": "approve", "note": "a\x00"}, "core.bad_text"),
    ],
)
def test_a_position_that_says_nothing_is_refused(revision, fields, code):
    with pytest.raises(Refusal) as caught:
        take_position(f.reviewer(), revision=revision, **fields)
    assert caught.value.code == code
    assert not Position.objects.exists()


def test_discuss_blocks_until_its_author_says_otherwise(revision):
    rita = f.actor("rita", "reviewer_performance")
    take_position(rita, revision=revision, aspect="performance", position="discuss", note="Where is the floor?")
    approve(revision)
    assert not is_approved(revision)
    assert any("Where is the floor?" in sentence for sentence in what_is_missing(revision))
    with pytest.raises(Conflict) as caught:
        close_quorum(f.reviewer(), revision=revision)
    assert caught.value.code == "spec.approval_incomplete"
    take_position(rita, revision=revision, aspect="performance", position="no_objection")
    assert is_approved(revision)


def test_who_recuses_does_not_count(revision):
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="recuse")
    assert not is_approved(revision)
    rita = f.actor("rita", "reviewer_correctness")
    take_position(rita, revision=revision, aspect="correctness", position="no_objection")
    assert not is_approved(revision)
    approve(revision, rita)
    assert Approval.objects.get().approver == rita.user


def test_the_last_word_of_a_person_and_aspect_counts(revision):
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="discuss", note="why?")
    approve(revision)
    assert [p.position for p in current_positions(revision)] == ["approve"]
    assert is_approved(revision)
    assert Position.objects.count() == 2


# --- the gate inside the quorum ---


def test_a_quorum_closes_only_with_a_passing_gate_and_can_be_closed_when_it_passes(row):
    f.op()
    revision = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=revision)
    flag = flag_row(f.curator(), row.code, reason="wrong machine")
    confirm_flag(f.actor("carl", "curator"), flag.pk)
    approve(revision)
    assert not is_approved(revision)
    assert not GateResult.objects.get().passed
    assert any(sentence.startswith("Gate AL1") for sentence in what_is_missing(revision))
    clear_flag(f.curator(), flag.pk, reason="it was the right one")
    assert not is_approved(revision)
    close_quorum(f.reviewer(), revision=revision)
    assert is_approved(revision)


def test_a_row_that_moves_between_writing_and_approval_blocks(revision, row):
    changed = {**copy.deepcopy(row.head.content), "bound": "Nothing is left.", "numbers": []}
    changed["scope"] = {"envelope": ["cpu"], "arch": ["cpu"], "dtype": ["bf16"]}
    proposal = propose_change(
        f.actor("prue"), row.code, base_hash=row.head.content_hash, content=changed, reason="measured"
    )
    accept_proposal(f.curator(), proposal.pk)
    approve(revision)
    assert not is_approved(revision)
    assert any(sentence.startswith("Gate AL2") for sentence in what_is_missing(revision))


def test_a_change_that_is_acknowledged_makes_nothing_stale_and_the_next_one_does(revision, row):
    def scope(dtype, reason):
        changed = {**copy.deepcopy(row.head.content), "scope": {**row.head.content["scope"], "dtype": [dtype]}}
        change = propose_change(
            f.actor("prue"), row.code, base_hash=row.head.content_hash, content=changed, reason=reason
        )
        accept_proposal(f.curator(), change.pk)
        row.refresh_from_db()

    scope("bf16", "measured")
    content = copy.deepcopy(revision.content)
    content["choices"][0]["acknowledged"] = [
        {"code": row.code, "revision": row.head.content_hash, "reason": "The norm runs in bf16."}
    ]
    answered = f.saved_revision(content, spec=revision.spec)
    submit_spec(f.designer(), revision=answered)
    approve(answered)
    assert spec_status(answered.spec).state == "approved to build"
    scope("fp8", "measured again")
    (moved,) = spec_status(answered.spec).moved
    assert (moved.pinned_number, moved.head_number) == (2, 3)
    assert "bf16" in moved.sentences[0]
    assert spec_status(answered.spec).state == "stale"


def test_a_stored_gate_says_what_it_saw(revision, row):
    stored, _ = evaluate_gate(f.designer(), revision=revision)
    assert stored.revision_hash == revision.content_hash
    assert stored.inputs["rows"][row.code]["head"] == row.head.content_hash
    assert {line["rule"] for line in stored.lines} == {"AL1", "AL2", "AL3", "AL4", "AL5", "AL6"}


def test_the_same_answer_is_kept_once_and_another_is_kept_beside_it(revision, row):
    onlooker = f.actor("vera", "viewer")
    stored, is_new = evaluate_gate(onlooker, revision=revision)
    assert is_new
    said = Activity.objects.count()
    assert [evaluate_gate(onlooker, revision=revision) for _ in range(3)] == [(stored, False)] * 3
    assert (GateResult.objects.count(), Activity.objects.count()) == (1, said)
    flag = flag_row(onlooker, row.code, reason="wrong machine")
    confirm_flag(f.curator(), flag.pk)
    red, is_new = evaluate_gate(onlooker, revision=revision)
    assert (is_new, red.passed) == (True, False)
    clear_flag(f.curator(), flag.pk, reason="it was the right one")
    green, is_new = evaluate_gate(onlooker, revision=revision)
    assert (is_new, green.passed, green.content_hash) == (True, True, stored.content_hash)
    assert green.pk != stored.pk  # the newest result is the one that an approval may rest on


def test_an_approval_rests_on_the_result_that_somebody_asked_for_just_before(revision):
    stored, _ = evaluate_gate(f.actor("vera", "viewer"), revision=revision)
    approve(revision)
    assert Approval.objects.get().gate_result == stored
    assert GateResult.objects.count() == 1


# --- a changed spec ---


def test_a_changed_spec_needs_approval_again(revision):
    approve(revision)
    spec = revision.spec
    spec.refresh_from_db()
    assert spec_status(spec).state == "approved to build"
    changed = f.saved_revision({**revision.content, "summary": "now with a table"}, spec=spec)
    spec.refresh_from_db()
    assert spec_status(spec).state == "draft"
    with pytest.raises(Conflict) as caught:
        approve(changed)
    assert caught.value.code == "spec.not_submitted"
    submit_spec(f.designer(), revision=changed)
    assert not is_approved(changed)
    approve(changed)
    assert is_approved(changed)
    assert is_approved(revision)


@pytest.mark.parametrize("act", ["position", "mark", "close"])
def test_nothing_is_signed_on_an_old_revision(revision, act):
    f.saved_revision({**revision.content, "summary": "newer"}, spec=revision.spec)
    calls = {
        "position": lambda: approve(revision),
        "mark": lambda: sign_mechanism(f.curator(), revision=revision, choice_id="C1", reason="new"),
        "close": lambda: close_quorum(f.reviewer(), revision=revision),
    }
    with pytest.raises(Conflict) as caught:
        calls[act]()
    assert (caught.value.code, caught.value.facts) == ("spec.not_newest", {"head": 2})
    assert not Position.objects.exists()
    assert not MechanismMark.objects.exists()


# --- proposing a dead lever again ---


@pytest.fixture
def reproposal():
    """A revision in review that adopts a lever which died in the same scope, and says what is new."""
    dead = f.evidence_row(f.DEAD)
    f.op()
    citations = [{"kind": "evidence", "code": dead.code, "revision": "HEAD", "stance": "contradicts"}]
    content = f.spec_content(dead, citations=citations, new_mechanism="One pass with the row in registers.")
    made = f.saved_revision(content)
    submit_spec(f.designer(), revision=made)
    return made


def test_a_dead_lever_needs_the_curators_mark_and_then_approval_closes(reproposal):
    approve(reproposal)
    assert not is_approved(reproposal)
    assert any(sentence.startswith("Gate AL4") for sentence in what_is_missing(reproposal))
    sign_mechanism(f.curator(), revision=reproposal, choice_id="C1", reason="Registers were never tried.")
    assert is_approved(reproposal)
    assert Approval.objects.get().approver == f.reviewer().user


def test_the_mark_first_then_the_approval(reproposal):
    sign_mechanism(f.curator(), revision=reproposal, choice_id="C1", reason="Registers were never tried.")
    assert not is_approved(reproposal)
    approve(reproposal)
    assert is_approved(reproposal)


def test_a_mark_is_bound_to_the_choice_as_it_stood(reproposal):
    sign_mechanism(f.curator(), revision=reproposal, choice_id="C1", reason="new")
    content = copy.deepcopy(reproposal.content)
    content["choices"][0]["new_mechanism"] = "Two passes, but quickly."
    changed = f.saved_revision(content, spec=reproposal.spec)
    submit_spec(f.designer(), revision=changed)
    approve(changed)
    assert not is_approved(changed)
    sign_mechanism(f.curator(), revision=changed, choice_id="C1", reason="still new")
    assert is_approved(changed)


def test_a_mark_holds_for_a_revision_that_leaves_the_choice_alone(reproposal):
    sign_mechanism(f.curator(), revision=reproposal, choice_id="C1", reason="new")
    changed = f.saved_revision({**reproposal.content, "summary": "better words"}, spec=reproposal.spec)
    submit_spec(f.designer(), revision=changed)
    approve(changed)
    assert is_approved(changed)


@pytest.mark.parametrize(
    ("fields", "error", "code"),
    [
        ({"choice_id": "C9", "reason": "new"}, Missing, "review.unknown_choice"),
        ({"choice_id": "C1", "reason": " "}, Refusal, "review.reason_missing"),
        ({"choice_id": "C1", "reason": "\x00"}, Refusal, "core.bad_text"),
    ],
)
def test_a_mark_that_signs_nothing(reproposal, fields, error, code):
    with pytest.raises(error) as caught:
        sign_mechanism(f.curator(), revision=reproposal, **fields)
    assert caught.value.code == code
    assert not MechanismMark.objects.exists()


def test_one_mark_per_person_and_choice(reproposal):
    sign_mechanism(f.curator(), revision=reproposal, choice_id="C1", reason="new")
    with pytest.raises(Conflict) as caught:
        sign_mechanism(f.curator(), revision=reproposal, choice_id="C1", reason="again")
    assert caught.value.code == "review.signed"


def test_only_a_curator_signs(reproposal):
    with pytest.raises(Forbidden):
        sign_mechanism(f.reviewer(), revision=reproposal, choice_id="C1", reason="new")


# --- comments ---


def test_a_thread_takes_answers_from_anyone_and_answers_to_answers_join_it(revision, make_actor):
    root = comment(make_actor("vera", "viewer"), revision=revision, place="C1", text="Why?", quote="One pass")
    answer = comment(f.designer(), revision=revision, place="C1", text="Because.", parent=root)
    third = comment(f.reviewer(), revision=revision, place="C1", text="I see.", parent=answer)
    assert [c.parent for c in (root, answer, third)] == [None, root, root]
    assert list(root.replies.all()) == [answer, third]


def test_a_thread_goes_on_over_revisions_but_not_into_another_spec(revision, row):
    root = comment(f.reviewer(), revision=revision, place="C1", text="Why?")
    newer = f.saved_revision({**revision.content, "summary": "more"}, spec=revision.spec)
    assert comment(f.designer(), revision=newer, place="C1", text="Now said.", parent=root).parent == root
    other = f.saved_revision(f.spec_content(row))
    with pytest.raises(Refusal) as caught:
        comment(f.designer(), revision=other, place="C1", text="x", parent=root)
    assert (caught.value.code, caught.value.field) == ("review.other_thread", "parent")


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"place": "C9", "text": "x"}, "review.unknown_place", "place"),
        ({"place": "", "text": "x"}, "review.unknown_place", "place"),
        ({"place": "C1", "text": " \n "}, "review.empty_comment", "text"),
        ({"place": "smem", "text": "x" * 20_001}, "review.long_comment", "text"),
        ({"place": "C1", "text": "a\x00"}, "core.bad_text", "text"),
        ({"place": "C1", "text": "a", "quote": "\udc00"}, "core.bad_text", "quote"),
    ],
)
def test_a_comment_that_is_refused(revision, fields, code, field):
    with pytest.raises(Refusal) as caught:
        comment(f.reviewer(), revision=revision, **fields)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert not Comment.objects.exists()


def test_comments_never_block(revision):
    comment(f.reviewer(), revision=revision, place="C1", text="I don't like it.")
    approve(revision)
    assert is_approved(revision)
