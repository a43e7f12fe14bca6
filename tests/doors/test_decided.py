"""Rows that may move hold decided facts that may not: the database refuses, whoever asks."""

import pytest
from django.db import DatabaseError, transaction

from evidence.models import EvidenceRow, Proposal
from evidence.services.decisions import accept_proposal
from evidence.services.merging import propose_merge
from evidence.services.proposals import propose_change
from kernels.models import Anchor, Op, Run, Spec
from tests import factories as f
from v2kb.core.guards.errors import refusal_from_database

pytestmark = pytest.mark.django_db


def code_of(act) -> str:
    """The stable code with which the database refused `act`."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        act()
    return refusal_from_database(caught.value).code


def test_a_head_never_moves_back_or_away(world):
    row = EvidenceRow.objects.get(code="U1")
    first = row.revisions.get(number=1)
    assert row.head.number == 2
    assert code_of(lambda: EvidenceRow.objects.filter(pk=row.pk).update(head=first)) == "database.head_moved_back"
    for model in (EvidenceRow, Op, Spec):
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


def test_a_run_that_is_over_keeps_its_outcome_and_a_pinned_anchor_its_values(world):
    over = Run.objects.filter(state="finished")
    assert code_of(lambda: over.update(outcome="TAMPERED")) == "database.run_over"
    assert code_of(lambda: over.update(state="queued")) == "database.run_over"
    assert code_of(lambda: over.update(job={})) == "database.run_over"
    assert code_of(lambda: Anchor.objects.update(values={})) == "database.anchor_pinned"
    assert Anchor.objects.update(state="STALE") == 1
