"""No single person takes a blocking DEAD row out of the way, by whichever door."""

import pytest
from django.db import DatabaseError, transaction

from evidence.hooks import open_spec_authors
from evidence.models import EvidenceRevision, Lever, Supersession
from evidence.search.board import Design, board_of
from evidence.services import (
    accept_proposal,
    add_alias,
    create_lever,
    edit_lever,
    propose_change,
    propose_row,
    remove_alias,
    supersede_row,
)
from evidence.services.merging import propose_merge
from kernels.models import Op, Spec
from kernels.selectors.verify import faults
from kernels.services.specs import create_spec
from tests import factories as f
from v2kb.core.errors import Forbidden, Refusal

pytestmark = pytest.mark.django_db


def test_less_scope_on_a_blocking_row_needs_two_people():
    row = f.evidence_row(f.DEAD)
    narrower = {**row.head.content, "scope": {**row.head.content["scope"], "m": "1"}}
    proposal = propose_change(
        f.actor("prue", "curator", "designer"), row, base_hash=row.head.content_hash, content=narrower, reason="less"
    )
    accept_proposal(f.curator(), proposal.pk)
    row.refresh_from_db()
    assert row.head.number == 1
    accept_proposal(f.actor("carl", "curator"), proposal.pk)
    row.refresh_from_db()
    assert row.head.number == 2


def test_a_parent_with_blocking_rows_can_not_be_taken_away():
    f.evidence_row(f.DEAD)
    create_lever(f.curator(), name="Fused row norm, vectorised", slug="fused-vector", parent="fused-row-norm")
    with pytest.raises(Refusal) as caught:
        edit_lever(f.curator(), "fused-vector", name="Fused row norm, vectorised", parent="")
    assert (caught.value.code, caught.value.field) == ("evidence.lever_disarms", "parent")
    assert Lever.objects.get(slug="fused-vector").parent is not None


def test_win_and_dead_are_not_exchanged_through_untested_by_one_person():
    row = f.evidence_row(f.DEAD, cause_class="harness_invalid")  # it blocks nothing
    prue = f.actor("prue", "curator", "designer")

    def step(content):
        row.refresh_from_db()
        proposal = propose_change(prue, row, base_hash=row.head.content_hash, content=content, reason="step")
        return accept_proposal(f.curator(), proposal.pk)

    untested = {**f.EVIDENCE, "title": "In between"}
    assert step(untested).state == "accepted"
    win = {**f.DEAD, "title": "Now a win", "verdict": "WIN", "cause_class": "", "not_checked": ""}
    proposal = step(win)
    assert proposal.state == "open", "the row was DEAD before it was UNTESTED"
    content = {**win, "base": 1}
    forged = EvidenceRevision(
        row=row, number=3, base=row.head, content=content, content_hash="0" * 64, lever=row.head.lever, title="x",
        verdict="WIN", proposal=proposal,
    )  # fmt: skip
    with pytest.raises(DatabaseError), transaction.atomic():
        EvidenceRevision.objects.bulk_create([forged])
    assert accept_proposal(f.actor("carl", "curator"), proposal.pk).state == "accepted"
    assert list(faults()) == []


def test_a_draft_on_the_lever_is_an_interest():
    row = f.evidence_row(f.DEAD)
    f.op()
    begun = create_spec(
        f.designer(), title="Begun", ops=[Op.objects.get()],
        content={"choices": [3, {"polarity": "adopts", "lever": "Fused Row Norm"}]},
    )  # fmt: skip
    assert open_spec_authors("fused-row-norm") == {f.designer().user.pk}
    f.designer().user.groups.add(*f.curator().user.groups.all())
    lifted = {**row.head.content, "cause_class": "abandoned"}
    proposal = propose_change(
        f.actor("prue"), row, base_hash=row.head.content_hash, content=lifted, reason="it was the harness"
    )
    with pytest.raises(Forbidden) as caught:
        accept_proposal(f.actor("dora"), proposal.pk)
    assert caught.value.code == "evidence.interested"
    Spec.objects.filter(pk=begun.pk).update(archived_at=begun.created_at)
    assert accept_proposal(f.actor("dora"), proposal.pk).state == "open", "the first of two"


@pytest.mark.parametrize(("remark", "code"), [("x" * 4001, "evidence.reason_too_long"), ("a\0b", "core.bad_text"),
                                              ("a\ud800", "core.bad_text")])  # fmt: skip
def test_a_remark_is_kept_whole_or_refused(remark, code):
    f.evidence_row()
    proposal = propose_row(f.actor("prue"), content=f.DEAD, reason="a new one")
    for field in ("reason", "conflict"):
        with pytest.raises(Refusal) as caught:
            accept_proposal(f.curator(), proposal.pk, **{field: remark})
        assert (caught.value.code, caught.value.field) == (code, field)


def test_an_alias_of_a_blocked_lever_is_not_taken_away():
    """A design that uses it would no longer meet the row, and another lever could take the name."""
    row = f.evidence_row(f.DEAD)
    create_lever(f.curator(), name="Fused row norm, vectorised", slug="fused-vector", parent="fused-row-norm")
    for slug in ("fused-row-norm", "fused-vector"):
        add_alias(f.curator(), slug, f"row fusion of {slug}")
        with pytest.raises(Refusal) as caught:
            remove_alias(f.curator(), slug, f"row fusion of {slug}")
        assert (caught.value.code, caught.value.field) == ("evidence.lever_disarms", "alias")
        assert row.code in caught.value.message
    create_lever(f.curator(), name="Free", slug="free", aliases=["unused"])
    assert list(remove_alias(f.curator(), "free", "unused").aliases.values_list("name", flat=True)) == ["Free"]


def test_a_board_of_too_many_rows_keeps_the_dead_ones_of_the_picked_lever(monkeypatch):
    mine = f.evidence_row(f.DEAD)
    for number in range(3):
        f.evidence_row(f.DEAD, lever="another", title=f"scratch scratch scratch {number}")
    monkeypatch.setattr("evidence.search.board.MAX_ROWS", 2)
    board = board_of(Design("scratch", ("fused-row-norm",)))
    assert board.left_out == 2
    assert board.rows[0].row == mine


@pytest.mark.parametrize(("older", "newer"), [("WIN", "DEAD"), ("DEAD", "WIN")])
def test_no_one_person_replaces_a_win_by_a_dead_row_or_the_other_way(older, newer):
    win = f.evidence_row({**f.DEAD, "title": "A win", "verdict": "WIN", "cause_class": "", "not_checked": ""})
    dead = f.evidence_row(f.DEAD, cause_class="harness_invalid")  # it blocks nothing
    rows = {"WIN": win, "DEAD": dead}
    edge = {"newer": rows[newer].code, "older": rows[older].code, "reason": "measured again"}
    for kind in ("replaces", "merges"):
        with pytest.raises(Refusal) as caught:
            supersede_row(f.curator(), kind=kind, **edge)
        assert caught.value.code == "evidence.supersession_turns"
        forged = Supersession(newer=rows[newer], older=rows[older], kind=kind, reason="x", author=f.curator().user)
        with pytest.raises(DatabaseError), transaction.atomic():
            forged.save()
    assert supersede_row(f.curator(), kind="contradicts", **edge).pk
    merge = propose_merge(f.actor("prue"), into=edge["newer"], taken=edge["older"], reason="one thing")
    assert accept_proposal(f.curator(), merge.pk).state == "open"
    assert accept_proposal(f.actor("carl", "curator"), merge.pk).state == "accepted"
