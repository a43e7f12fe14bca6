"""Proposing and deciding: base against head, nobody decides their own, two for what turns or lifts a verdict."""

import copy

import pytest

from evidence import hooks
from evidence.models import EvidenceRevision, Proposal, ProposalDecision
from evidence.selectors import find_revision, is_stale, pin_reasons, proposals_for
from evidence.services import (
    accept_proposal,
    archive_row,
    propose_change,
    propose_row,
    reject_proposal,
    restore_row,
    revise_proposal,
    withdraw_proposal,
)
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db


@pytest.fixture
def dora(make_actor):
    return make_actor("ines", "designer")


def with_(row, **changes):
    return {**copy.deepcopy(row.head.content), **changes}


def propose(actor, row, *, reason="measured again", base=None, **changes):
    return propose_change(
        actor, row, base_hash=base or row.head.content_hash, content=with_(row, **changes), reason=reason
    )


WIN = {
    "verdict": "WIN",
    "numbers": [
        {"text": "−6%", "readable": True, "value": "-6", "unit": "percent", "role": "verdict", "compared_with": "v1"}
    ],
    "sources": [{"kind": "note", "text": "bench"}],
}


# --- who may ------------------------------------------------------------------------------------------------------


def test_who_may_propose(row, make_actor):
    for role in ("viewer", "implementer", "reviewer_correctness", "reviewer_performance", "operator", "administrator"):
        with pytest.raises(Forbidden) as refused:
            propose(make_actor(f"u-{role}", role), row, bound="other")
        assert refused.value.code == "core.role"
    with pytest.raises(Forbidden) as refused:
        propose(Actor(user=None, kind="user", channel="page"), row, bound="other")
    assert refused.value.code == "core.sign_in"
    with pytest.raises(Forbidden):
        propose(Actor.system(), row, bound="other")
    for role in ("designer", "validator", "curator"):
        assert propose(make_actor(f"u2-{role}", role), row, bound=f"other {role}").state == "open"


def test_who_may_decide(row, dora, make_actor):
    proposal = propose(dora, row, bound="other")
    for role in ("viewer", "designer", "reviewer_performance", "administrator"):
        actor = make_actor(f"u-{role}", role)
        for call in (
            lambda actor=actor: accept_proposal(actor, proposal.pk),
            lambda actor=actor: reject_proposal(actor, proposal.pk, reason="no"),
        ):
            with pytest.raises(Forbidden) as refused:
                call()
            assert refused.value.code == "core.role"
    superuser = make_actor("root", is_superuser=True)
    with pytest.raises(Forbidden):
        accept_proposal(superuser, proposal.pk)
    with pytest.raises(Forbidden):
        accept_proposal(Actor.system(), proposal.pk)
    proposal.refresh_from_db()
    assert proposal.state == "open"
    assert not ProposalDecision.objects.filter(proposal=proposal).exists()


# --- proposing ----------------------------------------------------------------------------------------------------


def test_a_proposal_changes_nothing_until_it_is_accepted(row, dora, cleo):
    proposal = propose(dora, row, bound="At most 3%.")
    row.refresh_from_db()
    assert row.head.number == 1
    accepted = accept_proposal(cleo, proposal.pk)
    row.refresh_from_db()
    assert (row.head.number, row.head.content["bound"], row.head.base.number) == (2, "At most 3%.", 1)
    assert (accepted.state, row.head.author, row.head.proposal) == ("accepted", dora.user, proposal)
    verbs = list(Activity.objects.order_by("-id").values_list("verb", flat=True)[:2])
    assert verbs == ["evidence.revise_row", "evidence.accept_proposal"]


def test_a_new_row_gets_the_next_code_when_accepted(row, dora, cleo):
    assert row.code == "U1"
    one = propose_row(dora, content=with_(row, title="Second"), reason="found")
    two = propose_row(dora, content={**copy.deepcopy(f.DEAD), "title": "Third"}, reason="found")
    assert (one.row, two.row) == (None, None)
    assert accept_proposal(cleo, two.pk).row.code == "D1"
    assert accept_proposal(cleo, one.pk).row.code == "U2"


def test_the_code_stays_when_the_verdict_changes(row, dora, cleo):
    accept_proposal(cleo, propose(dora, row, **WIN).pk)
    row.refresh_from_db()
    assert (row.code, row.head.verdict) == ("U1", "WIN")


def test_no_change_no_reason_no_row(row, dora):
    with pytest.raises(Refusal) as refused:
        propose(dora, row)
    assert refused.value.code == "evidence.no_change"
    for reason, code in ((" \n", "evidence.reason_missing"), ("x" * 4001, "evidence.reason_too_long")):
        with pytest.raises(Refusal) as refused:
            propose(dora, row, bound="other", reason=reason)
        assert (refused.value.code, refused.value.field) == (code, "reason")
    with pytest.raises(Missing) as missing:
        propose_change(dora, "D99", base_hash="", content={}, reason="x")
    assert missing.value.code == "evidence.no_row"


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"verdict": "MAYBE"}, "verdict", "evidence.field"),
        ({"scope": {"m": "many"}}, "scope.m", "evidence.field"),
        ({"numbers": [{"text": "6", "readable": True, "value": "six"}]}, "numbers[0].value", "evidence.field"),
        ({"numbers": "many"}, "numbers", "evidence.field"),
        ({"measured_on": "yesterday"}, "measured_on", "evidence.field"),
        ({"title": ""}, "title", "evidence.field"),
        ({"colour": "red"}, "colour", "evidence.field"),
        ({"verdict": "WIN"}, "numbers", "evidence.field_missing"),
        ({"verdict": "DEAD"}, "cause_class", "evidence.field_missing"),
        ({"bound": ""}, "bound", "evidence.field_missing"),
        ({"cause_class": "bad luck"}, "cause_class", "evidence.field"),
    ],
)
def test_content_that_is_refused_names_its_field(row, dora, changes, field, code):
    with pytest.raises(Refusal) as refused:
        propose(dora, row, **changes)
    assert refused.value.code == "evidence.content"
    found = {problem["field"]: problem for problem in refused.value.problems}
    assert found[field]["code"] == code
    assert found[field]["fix"]
    assert not Proposal.objects.filter(author=dora.user).exists()


@pytest.mark.parametrize("raw", [None, [], "text", 3, {"verdict": {}}, {"scope": [], "lever": 5, "sources": [3]}])
def test_any_shape_of_content_is_refused_without_a_crash(dora, raw):
    with pytest.raises(Refusal) as refused:
        propose_row(dora, content=raw, reason="x")
    assert refused.value.code == "evidence.content"


def test_an_unknown_lever(row, dora):
    with pytest.raises(Refusal) as refused:
        propose(dora, row, lever="nothing-like-it")
    assert (refused.value.code, refused.value.field) == ("evidence.no_lever", "lever")


def test_one_open_proposal_per_row_and_author(row, dora, cleo):
    first = propose(dora, row, bound="a")
    with pytest.raises(Conflict) as refused:
        propose(dora, row, bound="b")
    assert (refused.value.code, refused.value.facts["proposal"]) == ("evidence.proposal_open", first.pk)
    propose(cleo, row, bound="c")
    withdraw_proposal(dora, first.pk)
    assert propose(dora, row, bound="b").state == "open"


# --- stale --------------------------------------------------------------------------------------------------------


def test_a_stale_proposal_gets_three_versions_and_nothing_is_lost(row, dora, cleo, carl):
    base = row.head
    mine = propose(dora, row, bound="mine", mechanism="mine")
    accept_proposal(cleo, propose(carl, row, bound="theirs", title="A better title").pk)
    assert is_stale(Proposal.objects.select_related("row").get(pk=mine.pk))
    with pytest.raises(Conflict) as refused:
        accept_proposal(cleo, mine.pk)
    error = refused.value
    row.refresh_from_db()
    assert (error.code, error.facts["head"], error.facts["base"]) == (
        "evidence.stale_base",
        row.head.content_hash,
        base.content_hash,
    )
    assert error.facts["conflicts"] == ["bound"]
    fields = {part["field"]: part for part in error.facts["fields"]}
    assert (fields["bound"]["theirs"], fields["bound"]["mine"]) == ("theirs", "mine")
    assert (fields["title"]["state"], fields["mechanism"]["state"]) == ("theirs", "mine")
    mine.refresh_from_db()
    assert (mine.state, mine.content["bound"], mine.decisions.count()) == ("open", "mine", 0)

    merged = with_(row, mechanism="mine", bound="both")
    newer = revise_proposal(dora, mine.pk, base_hash=row.head.content_hash, content=merged, reason="merged")
    mine.refresh_from_db()
    assert (mine.state, newer.replaces, newer.base) == ("superseded", mine, row.head)
    accept_proposal(cleo, newer.pk)
    row.refresh_from_db()
    assert (row.head.content["bound"], row.head.content["title"]) == ("both", "A better title")


def test_proposing_on_an_old_base_is_refused_at_once(row, dora, cleo, carl):
    old = row.head.content_hash
    accept_proposal(cleo, propose(carl, row, bound="theirs").pk)
    row.refresh_from_db()
    for base in (old, "", "f" * 64):
        with pytest.raises(Conflict) as refused:
            propose_change(dora, row, base_hash=base, content=with_(row, title="mine"), reason="x")
        assert refused.value.code == "evidence.stale_base"


def test_going_back_is_a_new_revision_equal_to_an_old_one(row, dora, cleo):
    first = row.head
    accept_proposal(cleo, propose(dora, row, bound="other").pk)
    row.refresh_from_db()
    back = propose_change(
        dora, row, base_hash=row.head.content_hash, content=first.content, reason="it was right before"
    )
    accept_proposal(cleo, back.pk)
    row.refresh_from_db()
    assert (row.head.number, row.head.content_hash) == (3, first.content_hash)
    assert find_revision(row.code, first.content_hash).number == 3


# --- deciding -----------------------------------------------------------------------------------------------------


def test_nobody_decides_their_own(row, cleo, carl):
    proposal = propose(cleo, row, bound="other")
    for call in (lambda: accept_proposal(cleo, proposal.pk), lambda: reject_proposal(cleo, proposal.pk, reason="x")):
        with pytest.raises(Forbidden) as refused:
            call()
        assert refused.value.code == "evidence.own_proposal"
    assert proposals_for(cleo) == []
    assert proposals_for(carl) == [proposal]


def test_whoever_wrote_an_earlier_version_does_not_accept_the_later_one(row, cleo, carl, make_actor):
    """A run's proposal that one curator completed was written by the run's sender too."""
    from evidence.services import propose_from_run

    outcome = propose_from_run(
        Actor.worker("w"), author=carl.user, row_code=row.code, run_id="R1", result_hash="a" * 64, judgement="WIN",
        grade="decides", sentence="6% faster", content_change=WIN,
    )  # fmt: skip
    newer = revise_proposal(
        cleo,
        outcome.proposal.pk,
        base_hash=row.head.content_hash,
        content=with_(row, **WIN, mechanism="why"),
        reason="why",
    )
    with pytest.raises(Forbidden) as refused:
        accept_proposal(carl, newer.pk)
    assert refused.value.code == "evidence.author"
    assert newer not in proposals_for(carl)
    third = make_actor("cid", "curator")
    assert accept_proposal(third, newer.pk).state == "accepted"


def test_turning_dead_into_win_needs_two(dead, dora, cleo, carl):
    proposal = propose(dora, dead, **WIN, cause_class="")
    first = accept_proposal(cleo, proposal.pk, reason="I saw the trace")
    dead.refresh_from_db()
    assert (first.state, dead.head.number) == ("open", 1)
    with pytest.raises(Forbidden) as refused:
        accept_proposal(cleo, proposal.pk)
    assert refused.value.code == "evidence.already_accepted"
    with pytest.raises(Conflict) as refused:
        reject_proposal(cleo, proposal.pk, reason="on second thought")
    assert refused.value.code == "evidence.already_accepted"
    assert accept_proposal(carl, proposal.pk).state == "accepted"
    dead.refresh_from_db()
    assert (dead.head.verdict, dead.head.blocking, proposal.decisions.count()) == ("WIN", "", 2)


@pytest.mark.parametrize(
    "changes",
    [{"verdict": "UNTESTED", "bound": "unknown", "numbers": []}, {"cause_class": "abandoned"}],
)
def test_lifting_a_blocking_row_needs_two_as_well(dead, dora, cleo, carl, changes):
    proposal = propose(dora, dead, **changes)
    assert accept_proposal(cleo, proposal.pk).state == "open"
    assert accept_proposal(carl, proposal.pk).state == "accepted"


def test_one_of_two_can_still_be_rejected_by_the_other(dead, dora, cleo, carl):
    proposal = propose(dora, dead, cause_class="abandoned")
    accept_proposal(cleo, proposal.pk)
    assert reject_proposal(carl, proposal.pk, reason="not so").state == "rejected"
    dead.refresh_from_db()
    assert dead.head.number == 1


def test_an_author_of_an_open_spec_may_not_disarm_its_lever(dead, dora, cleo):
    hooks.OPEN_SPEC_AUTHORS.add("test", lambda slug: {cleo.user.pk} if slug == dead.head.content["lever"] else set())
    try:
        proposal = propose(dora, dead, cause_class="abandoned")
        with pytest.raises(Forbidden) as refused:
            accept_proposal(cleo, proposal.pk)
        assert refused.value.code == "evidence.interested"
        harmless = propose(Actor.of_user(cleo.user), dead, mechanism="clearer words")
        assert harmless.state == "open"
    finally:
        hooks.OPEN_SPEC_AUTHORS.add("test", lambda slug: set())


def test_rejecting_needs_a_reason_and_closes(row, dora, cleo):
    proposal = propose(dora, row, bound="other")
    with pytest.raises(Refusal) as refused:
        reject_proposal(cleo, proposal.pk, reason="")
    assert refused.value.code == "evidence.reason_missing"
    rejected = reject_proposal(cleo, proposal.pk, reason="no trace")
    assert (rejected.state, rejected.decisions.get().reason) == ("rejected", "no trace")
    for call in (
        lambda: accept_proposal(cleo, proposal.pk),
        lambda: reject_proposal(cleo, proposal.pk, reason="x"),
        lambda: withdraw_proposal(dora, proposal.pk),
        lambda: revise_proposal(
            dora, proposal.pk, base_hash=row.head.content_hash, content=with_(row, bound="z"), reason="x"
        ),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        assert (refused.value.code, refused.value.facts["state"]) == ("evidence.proposal_closed", "rejected")


def test_only_the_author_withdraws_and_revises(row, dora, cleo):
    proposal = propose(dora, row, bound="other")
    for call in (
        lambda: withdraw_proposal(cleo, proposal.pk),
        lambda: revise_proposal(
            cleo, proposal.pk, base_hash=row.head.content_hash, content=with_(row, bound="z"), reason="x"
        ),
    ):
        with pytest.raises(Forbidden) as refused:
            call()
        assert refused.value.code == "evidence.not_author"
    proposal.refresh_from_db()
    assert proposal.state == "open"


def test_revising_a_new_row(dora):
    content = f.evidence_row().head.content
    proposal = propose_row(dora, content={**content, "title": "One"}, reason="found")
    with pytest.raises(Refusal) as refused:
        revise_proposal(dora, proposal.pk, content={**content, "title": "One"}, reason="same")
    assert refused.value.code == "evidence.no_change"
    proposal.refresh_from_db()
    assert proposal.state == "open"
    newer = revise_proposal(dora, proposal.pk, content={**content, "title": "Two"}, reason="clearer")
    assert (newer.content["title"], newer.replaces) == ("Two", proposal)


def test_there_is_no_such_proposal(cleo):
    for call in (lambda: accept_proposal(cleo, 987654), lambda: reject_proposal(cleo, 987654, reason="x")):
        with pytest.raises(Missing) as missing:
            call()
        assert missing.value.code == "evidence.no_proposal"


def test_archived_rows_take_no_proposals(row, dora, cleo):
    proposal = propose(dora, row, bound="other")
    with pytest.raises(Conflict) as refused:
        archive_row(cleo, row.code, reason="a twin")
    assert refused.value.code == "evidence.proposals_open"
    withdraw_proposal(dora, proposal.pk)
    archive_row(cleo, row.code, reason="a twin")
    with pytest.raises(Conflict) as refused:
        propose(dora, row, bound="other")
    assert refused.value.code == "evidence.row_archived"
    restore_row(cleo, row.code)
    assert propose(dora, row, bound="other").state == "open"


# --- what a change means ------------------------------------------------------------------------------------------


def test_only_material_changes_move_a_pin(row, dora, cleo):
    pinned = row.head
    accept_proposal(cleo, propose(dora, row, mechanism="said better").pk)
    row.refresh_from_db()
    assert pin_reasons(EvidenceRevision.objects.select_related("row__head").get(pk=pinned.pk), pinned.created_at) == []
    accept_proposal(cleo, propose(dora, row, **WIN).pk)
    moved = pin_reasons(EvidenceRevision.objects.select_related("row__head").get(pk=pinned.pk), pinned.created_at)
    assert {reason.code for reason in moved} == {"verdict", "number"}


def test_an_incomplete_imported_row_may_be_corrected_before_it_is_completed(system, dora, cleo):
    from tests.evidence.sample import load_sample

    load_sample(system, typed=False)
    from evidence.models import EvidenceRow

    row = EvidenceRow.objects.select_related("head").get(code="D1")
    assert row.head.content["cause_class"] == ""
    accept_proposal(cleo, propose(dora, row, mechanism="said better").pk)
    row.refresh_from_db()
    with pytest.raises(Refusal) as refused:
        propose(dora, row, mechanism="")
    assert [problem["field"] for problem in refused.value.problems] == ["mechanism"]
