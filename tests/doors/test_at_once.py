"""Two at once: approvers, workers, senders. One wins, the other is told, and nothing is there twice."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from kernels.models import Approval, Judgement, Kernel, Position, PreRegistration, Run, RunResult
from kernels.services.dispatch import claim_run
from kernels.services.gate import evaluate_gate
from kernels.services.results import store_result
from kernels.services.reviews import take_position
from kernels.services.runs import submit_run
from kernels.services.specs import create_spec, submit_spec
from tests import factories as f
from v2kb.core.activity import broken_links
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.models import User
from v2kb.core.services import change_roles
from v2kb.wire.messages import ResultRequest

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls in threads that start together; what each returned, or its refusal."""
    start, answers = threading.Barrier(len(calls), timeout=30), [None] * len(calls)

    def run(number: int, call: Callable[[], Any]) -> None:
        try:
            start.wait()
            answers[number] = call()
        except Refusal as refusal:
            answers[number] = refusal
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=item) for item in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(answer is None for answer in answers), "a call broke or hung"
    return answers


def codes(answers: list[Any]) -> list[str]:
    return sorted(answer.code if isinstance(answer, Refusal) else "" for answer in answers)


def test_two_approvers_make_one_approval():
    row = f.evidence_row()
    f.op()
    revision = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=revision)
    people = [f.actor(name, "reviewer_correctness") for name in ("rita", "rolf")]
    answers = at_once(
        *(lambda p=p: take_position(p, revision=revision, aspect="correctness", position="approve") for p in people)
    )
    assert codes(answers) == ["", "spec.approved"]
    assert (Approval.objects.count(), PreRegistration.objects.count(), Position.objects.count()) == (1, 1, 1)
    assert broken_links() == []


def test_two_workers_with_one_key_one_claims():
    version = f.kernel_version(f.op(), slug="mine", basis=Kernel.Basis.EXPLORATORY)
    run = submit_run(f.designer(), kind="validate", version=version)
    answers = at_once(
        *(lambda: claim_run(Actor.worker("w1"), attempt=run.attempt_rows.get(), info=f.WORKER) for _ in range(2))
    )
    assert codes(answers) == ["", "run.not_claimable"]
    run.refresh_from_db()
    assert (run.fence, run.state) == (1, "claimed")


def test_one_key_sent_twice_is_one_run():
    version = f.kernel_version(f.op(), slug="mine", basis=Kernel.Basis.EXPLORATORY)
    who = f.designer()
    answers = at_once(
        *(lambda: submit_run(who, kind="validate", version=version, idempotency_key="k1") for _ in range(3))
    )
    assert len({answer.pk for answer in answers}) == 1
    assert Run.objects.count() == 1


def test_one_result_posted_twice_is_stored_and_judged_once():
    row, op = f.evidence_row(), f.op()
    revision = f.approved_revision(row)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec, source=b"x = 1\n")
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    attempt, fence = f.claimed(run)
    body = f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800])
    same = ResultRequest.model_validate({"fence": fence, "result": body})
    other = ResultRequest.model_validate({"fence": fence, "result": {**body, "message": "another"}})
    answers = at_once(*(lambda m=m: store_result(Actor.worker("w1"), attempt=attempt, message=m) for m in (same, same)))
    assert codes(answers) == ["", ""]
    assert codes(at_once(lambda: store_result(Actor.worker("w1"), attempt=attempt, message=other))) == [
        "run.stale_fence"
    ]
    assert RunResult.objects.filter(run=run).count() == Judgement.objects.count() == 1


def test_codes_of_specs_begun_at_once_differ():
    op, who = f.op(), f.designer()
    create_spec(who, title="First", ops=[op])
    answers = at_once(*(lambda n=n: create_spec(who, title=f"Spec {n}", ops=[op]) for n in range(3)))
    assert sorted(spec.code for spec in answers) == ["S2", "S3", "S4"]
    assert broken_links() == []


def test_one_name_taken_twice_at_once_is_a_conflict():
    who = f.designer()
    answers = at_once(*(lambda: f.create_op(who, slug="same", content=f.CONTRACT) for _ in range(2)))
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert [refusal.status for refusal in refused] == [409]
    assert {refusal.code for refusal in refused} <= {"op.slug_taken", "database.taken"}


def test_a_gate_evaluated_beside_an_approval_does_not_spoil_it():
    row = f.evidence_row()
    f.op()
    revision = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=revision)
    onlooker, reviewer = f.actor("vera", "viewer"), f.reviewer()
    answers = at_once(
        lambda: take_position(reviewer, revision=revision, aspect="correctness", position="approve"),
        *(lambda: evaluate_gate(onlooker, revision=revision) for _ in range(3)),
    )
    assert codes(answers) == ["", "", "", ""]
    assert Approval.objects.get().gate_result.passed


def test_two_administrators_who_take_each_others_role_leave_one():
    people = [f.actor(name, "administrator") for name in ("ada", "alan")]
    User.objects.update(is_staff=True)
    answers = at_once(
        lambda: change_roles(people[0], "alan", [], "mine alone"),
        lambda: change_roles(people[1], "ada", [], "mine alone"),
    )
    assert codes(answers)[0] == ""
    assert set(codes(answers)[1:]) <= {"core.last_administrator", "core.role"}
    assert User.objects.filter(groups__name="administrator").count() == 1
