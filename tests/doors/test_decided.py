"""Rows that may move hold decided facts that may not: the database refuses, whoever asks."""

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from evidence.models import EvidenceRevision, EvidenceRow, Flag, Proposal, ProposalDecision, Supersession
from evidence.services.decisions import accept_proposal
from evidence.services.flags import clear_flag, confirm_flag, flag_row
from evidence.services.merging import propose_merge
from evidence.services.proposals import propose_change, propose_row, withdraw_proposal
from kernels.models import Anchor, Op, Run, Spec
from references.models import Document
from tests import factories as f
from v2kb.core.guards.errors import refusal_from_database
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import blocking_kind

pytestmark = pytest.mark.django_db


def code_of(act) -> str:
    """The stable code with which the database refused `act`."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        act()
    return refusal_from_database(caught.value).code


def test_a_head_never_moves_back_or_away(world, document):
    row = EvidenceRow.objects.get(code="U1")
    first = row.revisions.get(number=1)
    assert row.head.number == 2
    assert code_of(lambda: EvidenceRow.objects.filter(pk=row.pk).update(head=first)) == "database.head_moved_back"
    for model in (EvidenceRow, Op, Spec, Document):
        assert code_of(lambda model=model: model.objects.update(head=None)) == "database.head_moved_back"


def test_a_head_is_a_revision_of_its_own(world):
    other = f.saved_revision(f.spec_content(world.row))
    for number in (2, 3):
        f.saved_revision({**other.content, "summary": str(number)}, spec=other.spec)
    foreign = other.spec.revisions.get(number=2)  # nobody's head, and later than the head of the other spec
    assert code_of(lambda: Spec.objects.filter(pk=world.spec.pk).update(head=foreign)) == "database.head_moved_back"


def test_an_accepted_proposal_keeps_its_content_and_every_proposal_its_author(world):
    accepted = Proposal.objects.filter(state="accepted")
    other = f.actor("olga", "curator").user
    assert code_of(lambda: accepted.update(author=other)) == "database.proposal_decided"
    assert code_of(lambda: accepted.update(content={"verdict": "DEAD"})) == "database.proposal_decided"
    row = f.evidence_row(f.DEAD, title="Another row")
    wider = {
        **row.head.content,
        "scope": {},
        "verdict": "UNTESTED",
        "bound": "one read",
        "cause_class": "",
        "numbers": [],
    }
    proposer = f.actor("prue", "curator", "designer")
    proposal = propose_change(proposer, row, base_hash=row.head.content_hash, content=wider, reason="lift")
    still_open = Proposal.objects.filter(pk=proposal.pk)
    assert still_open.update(content={**proposal.content, "title": "Renamed"}) == 1
    assert accept_proposal(f.curator(), proposal.pk).state == "open"
    assert code_of(lambda: still_open.update(content=proposal.content)) == "database.proposal_decided"


def test_a_merge_or_revert_stays_what_it_is(world):
    row, other = f.evidence_row(f.DEAD, title="One"), f.evidence_row(f.DEAD, title="Its twin")
    merge = propose_merge(f.actor("prue"), into=row.code, taken=other.code, reason="twins")
    found = Proposal.objects.filter(pk=merge.pk)
    assert code_of(lambda: found.update(merges=None)) == "database.proposal_decided"
    assert code_of(lambda: found.update(merges=row.head)) == "database.proposal_decided"
    assert code_of(lambda: found.update(reverts_to=row.head)) == "database.proposal_decided"


def lifted(row: EvidenceRow) -> dict:
    """The content of a blocking row, no longer blocking."""
    return {**row.head.content, "cause_class": "abandoned"}


def written(row: EvidenceRow, content: dict, **changes) -> EvidenceRevision:
    """A revision as a service would write it, with its proposal or without."""
    head = row.head
    fields = {
        "row": row, "number": head.number + 1, "base": head, "content": content, "content_hash": content_hash(content),
        "lever": head.lever, "title": content["title"], "verdict": content["verdict"],
        "cause_class": content["cause_class"], "blocking": blocking_kind(content), "reason": "forged",
    }  # fmt: skip
    return EvidenceRevision(**{**fields, **changes})


def test_a_revision_is_written_with_the_acceptances_that_it_needs(world):
    row, prue = f.evidence_row(f.DEAD), f.actor("prue")
    wider = {**row.head.content, "scope": {}}
    many = EvidenceRevision.objects.bulk_create
    assert code_of(lambda: written(row, wider).save()) == "database.revision_accepted"
    assert code_of(lambda: many([written(row, wider)])) == "database.revision_accepted"
    disarmed = propose_change(
        prue, row, base_hash=row.head.content_hash, content=lifted(row), reason="it was the harness"
    )
    forged = written(row, lifted(row), proposal=disarmed)
    assert code_of(lambda: many([forged])) == "database.revision_accepted"
    accept_proposal(f.curator(), disarmed.pk)
    assert code_of(lambda: many([forged])) == "database.revision_accepted", "one of two"
    accept_proposal(f.actor("carl", "curator"), disarmed.pk)
    row.refresh_from_db()
    assert (row.head.number, row.head.blocking) == (2, "")
    again = written(row, wider)
    again.base = row.revisions.get(number=1)
    assert code_of(lambda: many([again])) in ("database.revision_base", "database.revision_accepted")
    assert code_of(lambda: many([written(row, wider, base=None)])) == "database.revision_base"


def test_a_decision_is_a_curators_and_never_the_authors(world):
    row = f.evidence_row(f.DEAD)
    prue, vera = f.actor("prue"), f.actor("vera", "viewer")
    proposal = propose_change(prue, row, base_hash=row.head.content_hash, content=lifted(row), reason="lift")

    def decide(who, on=proposal):
        return lambda: ProposalDecision.objects.bulk_create(
            [ProposalDecision(proposal=on, user=who.user, decision="accept")]
        )

    assert code_of(decide(prue)) == "evidence.own_proposal"
    assert code_of(decide(vera)) == "database.decider_no_curator"
    cora = f.curator()
    cora.user.is_active = False
    cora.user.save()
    assert code_of(decide(cora)) == "database.decider_no_curator"
    withdraw_proposal(prue, proposal.pk)
    assert code_of(decide(f.actor("carl", "curator"))) == "evidence.proposal_closed"


def test_a_closed_proposal_stays_closed_and_is_accepted_only_with_its_revision(world):
    row, other = f.evidence_row(f.DEAD), f.evidence_row(f.DEAD, title="Another")
    prue = f.actor("prue")
    proposal = propose_change(prue, row, base_hash=row.head.content_hash, content=lifted(row), reason="lift")
    fresh = propose_row(prue, content={**f.DEAD, "title": "A third"}, reason="new")
    found = Proposal.objects.filter(pk=proposal.pk)
    for change in ({"state": "accepted"}, {"row": other}, {"row": None}, {"base": other.head}, {"kind": "wording"},
                   {"origin": "run"}, {"replaces": fresh}):  # fmt: skip
        assert code_of(lambda change=change: found.update(**change)) == "database.proposal_decided", change
    assert code_of(lambda: Proposal.objects.filter(pk=fresh.pk).update(row=row)) == "database.proposal_decided"
    withdraw_proposal(prue, proposal.pk)
    assert code_of(lambda: found.update(state="open")) == "database.proposal_decided"
    copy = Proposal(row=row, content=lifted(row), reason="x", author=prue.user, state="accepted")
    assert code_of(lambda: Proposal.objects.bulk_create([copy])) == "database.proposal_decided"


def test_a_row_keeps_its_code(world):
    assert code_of(lambda: EvidenceRow.objects.filter(code="U1").update(code="U99")) == "database.row_code"


def test_no_edge_takes_a_blocking_row_out_of_the_way(world):
    dead, untested = f.evidence_row(f.DEAD), f.evidence_row(title="Not tried")
    for kind in ("replaces", "merges"):
        edge = Supersession(newer=untested, older=dead, kind=kind, reason="x", author=f.curator().user)
        assert code_of(lambda e=edge: Supersession.objects.bulk_create([e])) == "evidence.supersession_disarms"


def test_a_flag_keeps_what_it_said(world):
    flag = flag_row(f.designer(), world.row.code, reason="the file is gone")
    confirm_flag(f.curator(), flag.pk)
    found = Flag.objects.filter(pk=flag.pk)
    assert code_of(lambda: found.update(confirmed_at=None)) == "database.flag_raised"
    assert code_of(lambda: found.update(reason="")) == "database.flag_raised"
    clear_flag(f.curator(), flag.pk, reason="found again")
    assert code_of(lambda: found.update(cleared_at=None)) == "database.flag_raised"
    for who in ("confirmed_by", "cleared_by"):
        assert code_of(lambda who=who: found.update(**{who: f.actor("carl").user})) == "database.flag_raised", who


def test_nobody_confirms_a_flag_that_they_raised(world):
    own, now = flag_row(f.curator(), world.row.code, reason="the file is gone"), timezone.now()
    found = Flag.objects.filter(pk=own.pk)
    assert code_of(lambda: found.update(confirmed_at=now, confirmed_by=own.raised_by)) == "evidence.own_flag"
    assert code_of(lambda: found.update(confirmed_at=now)) == "evidence.own_flag", "nobody at all"
    for done in ("confirmed", "cleared"):
        made = Flag(row=own.row, reason="x", raised_by=own.raised_by, **{f"{done}_at": now})
        assert code_of(lambda made=made: Flag.objects.bulk_create([made])) == "database.flag_raised", done
    assert found.update(confirmed_at=now, confirmed_by=f.actor("carl").user) == 1
    by_the_system = Flag.objects.create(row=own.row, reason="driver moved", cause="driver 570 580")
    assert Flag.objects.filter(pk=by_the_system.pk).update(confirmed_at=now, confirmed_by=f.curator().user) == 1


def test_a_run_that_is_over_keeps_its_outcome_and_a_pinned_anchor_its_values(world):
    over = Run.objects.filter(state="finished")
    assert code_of(lambda: over.update(outcome="TAMPERED")) == "database.run_over"
    assert code_of(lambda: over.update(state="queued")) == "database.run_over"
    assert code_of(lambda: over.update(job={})) == "database.run_over"
    assert code_of(lambda: Anchor.objects.update(values={})) == "database.anchor_pinned"
    assert Anchor.objects.update(state="STALE") == 1
