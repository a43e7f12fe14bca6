"""Runs propose, never decide."""

import copy

import pytest

from evidence.models import Proposal, RunReceipt
from evidence.services import accept_proposal, archive_row, attach_receipt, propose_change, propose_from_run
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden, Missing, Refusal
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

NUMBER = {
    "text": "−6%", "readable": True, "value": "-6", "unit": "percent", "role": "verdict",
    "compared_with": "naive", "tier": "1",
}  # fmt: skip
CHANGE = {"verdict": "WIN", "numbers": [NUMBER], "mechanism": "One pass."}


@pytest.fixture
def row(db):
    return f.evidence_row()


@pytest.fixture
def vera(make_user):
    return make_user("vera", "validator")


def send(row_code, author, run="R1", digest="a" * 64, grade="decides", change=CHANGE, judgement="WIN", actor=None):
    return propose_from_run(
        actor or Actor.worker("worker one"), author=author, row_code=row_code, run_id=run, result_hash=digest,
        judgement=judgement, grade=grade, sentence="6% faster than naive", content_change=change,
    )  # fmt: skip


def test_a_deciding_run_proposes_and_a_curator_accepts(row, vera, cleo):
    outcome = send(row.code, vera)
    proposal = outcome.proposal
    assert (outcome.opened, proposal.origin, proposal.author, proposal.base) == (True, "run", vera, row.head)
    assert proposal.content["sources"][-1] == {
        "kind": "run",
        "text": f"R1, result {'a' * 12}",
        "document": "",
        "anchor": "",
    }
    assert (outcome.receipt.proposal, outcome.receipt.row, outcome.receipt.submitted_by) == (proposal, row, vera)
    row.refresh_from_db()
    assert row.head.verdict == "UNTESTED"
    accept_proposal(cleo, proposal.pk)
    row.refresh_from_db()
    assert (row.head.verdict, row.head.author) == ("WIN", vera)


def test_a_second_run_joins_the_open_proposal(row, vera, cleo, make_user):
    first = send(row.code, vera)
    second = send(row.code, make_user("vic", "validator", "curator"), run="R2", digest="b" * 64)
    assert (second.opened, second.proposal) == (False, first.proposal)
    assert Proposal.objects.filter(row=row, state="open").count() == 1
    assert first.proposal.receipts.count() == 2
    with pytest.raises(Forbidden) as refused:
        accept_proposal(Actor.of_user(second.receipt.submitted_by), first.proposal.pk)
    assert refused.value.code == "evidence.author"
    assert accept_proposal(cleo, first.proposal.pk).state == "accepted"


def test_the_same_result_twice_changes_nothing(row, vera):
    first = send(row.code, vera)
    lines = Activity.objects.count()
    again = send(row.code, vera)
    assert (again.receipt, again.proposal, again.opened) == (first.receipt, first.proposal, False)
    assert Activity.objects.count() == lines


@pytest.mark.parametrize("grade", ["corroborates", "diagnostic"])
def test_other_grades_leave_a_receipt_only(row, vera, grade):
    outcome = send(row.code, vera, grade=grade)
    assert (outcome.proposal, outcome.receipt.grade) == (None, grade)
    assert not Proposal.objects.filter(row=row, state="open").exists()
    other = {"row_code": row.code, "run_id": "R9", "result_hash": "c" * 64, "judgement": "", "grade": grade}
    receipt = attach_receipt(Actor.worker("w"), **other, sentence="seen")
    assert row.receipts.count() == 2
    same = attach_receipt(Actor.worker("w"), **other, sentence="seen")
    assert same == receipt


def test_no_clear_judgement_leaves_a_receipt_only(row, vera):
    assert send(row.code, vera, change={}, judgement="INCONCLUSIVE").proposal is None
    assert send(row.code, vera, run="R2", change=None, judgement="INVALID").proposal is None


def test_a_run_adds_and_does_not_erase(vera):
    row = f.evidence_row(f.DEAD)
    content = send(
        row.code, vera, change={"numbers": [NUMBER], "approaches": ["a third way"]}, judgement="REGRESS"
    ).proposal.content
    assert [number["text"] for number in content["numbers"]] == ["+11%", "−6%"]
    assert content["approaches"] == ["two passes", "one pass with a scratch row", "a third way"]
    assert content["mechanism"] == f.DEAD["mechanism"]


def test_a_run_that_says_what_the_row_says_leaves_a_receipt_only(row, vera):
    assert send(row.code, vera, change={"verdict": "UNTESTED"}).proposal is None


def test_an_incomplete_verdict_is_proposed_but_not_accepted(row, vera, cleo):
    proposal = send(row.code, vera, change={"verdict": "DEAD", "numbers": [NUMBER]}, judgement="REGRESS").proposal
    with pytest.raises(Refusal) as refused:
        accept_proposal(cleo, proposal.pk)
    assert {problem["field"] for problem in refused.value.problems} >= {"cause_class", "not_checked"}
    assert Proposal.objects.get(pk=proposal.pk).decisions.count() == 0


def test_a_stale_run_proposal_is_replaced_by_the_next_run(row, vera, cleo, make_actor):
    first = send(row.code, vera).proposal
    other = propose_change(
        make_actor("ines", "designer"), row, base_hash=row.head.content_hash,
        content={**copy.deepcopy(row.head.content), "bound": "less"}, reason="x",
    )  # fmt: skip
    accept_proposal(cleo, other.pk)
    second = send(row.code, vera, run="R2", digest="b" * 64)
    first.refresh_from_db()
    assert (first.state, second.opened, second.proposal.replaces) == ("superseded", True, first)
    assert second.proposal.content["bound"] == "less"


def test_a_persons_open_proposal_does_not_stand_in_the_way(row, vera):
    propose_change(
        Actor.of_user(vera), row, base_hash=row.head.content_hash,
        content={**copy.deepcopy(row.head.content), "bound": "less"}, reason="x",
    )  # fmt: skip
    assert send(row.code, vera).opened


def test_a_deciding_run_may_propose_a_new_row_and_the_next_joins(vera, row):
    content = {**copy.deepcopy(row.head.content), **CHANGE, "title": "Found by a run"}
    first = send(None, vera, change=content)
    second = send(None, vera, run="R2", digest="b" * 64, change={**content, "title": "Found again"})
    assert (first.opened, second.opened, second.proposal) == (True, False, first.proposal)
    with pytest.raises(Refusal) as refused:
        send(None, vera, run="R3", grade="diagnostic")
    assert refused.value.code == "evidence.row_needed"
    with pytest.raises(Refusal) as refused:
        send(None, vera, run="R3", change={**content, "lever": "no-such"})
    assert refused.value.code == "evidence.no_lever"


def test_an_archived_row_gets_a_receipt_only(row, vera, cleo):
    archive_row(cleo, row.code, reason="twin")
    assert send(row.code, vera).proposal is None
    assert row.receipts.count() == 1


def test_refusals(row, vera, make_actor):
    for call, code in (
        (lambda: send("D77", vera), "evidence.no_row"),
        (lambda: send(row.code, vera, grade="sure"), "evidence.grade"),
        (lambda: send(row.code, vera, change={"verdict": "GREAT"}), "evidence.content"),
        (lambda: send(row.code, vera, change={"numbers": "many"}), "evidence.content"),
    ):
        with pytest.raises((Refusal, Missing)) as refused:
            call()
        assert refused.value.code == code
    with pytest.raises(Forbidden):
        send(row.code, vera, actor=make_actor("ines", "designer"))
    assert not RunReceipt.objects.exists()
