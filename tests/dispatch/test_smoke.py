"""Three runs through a broker and a worker process; they pass on every broker."""

from evidence.models import Proposal
from kernels.models import Anchor, Kernel, RunResult
from kernels.services.anchors import name_anchor
from kernels.services.runs import submit_run
from tests import factories as f
from tests.dispatch import kernels
from tests.dispatch.harness import claim_ms, log_of, send_run, until, wait_for_log, wait_until_over
from v2kb.core.activity import activity_of
from v2kb.rules.verdict import RULE_VERSION


def test_a_validate_run_is_claimed_logged_while_it_runs_and_passes(dispatcher):
    worker = dispatcher.start_worker()
    run = send_run(kernels.WAITING, "waiting")
    wait_for_log(run, kernels.RUNNING, fence=1)
    run.refresh_from_db()
    assert run.state in ("claimed", "running")
    until(lambda: run.attempt_rows.filter(run__state="running").exists(), "the first ping")
    attempt = run.attempt_rows.get()
    assert (attempt.worker.name, attempt.fence) == ("w1", 1)
    worker.let_go()
    run = wait_until_over(run)
    assert (run.state, run.outcome, run.message) == ("finished", "PASS", "1 of 1 workload passed.")
    assert "outcome PASS" in log_of(run)
    case = run.result.content["cases"][0]
    assert (case["workload"], case["passed"], case["outputs"][0]["name"]) == ("small", True, "y")
    print(f"\nfrom submit to claim on {dispatcher.broker_url}: {claim_ms(run):.0f} ms")


def test_a_captured_anchor_and_a_perf_run_of_three_rounds_are_judged(dispatcher):
    row = f.evidence_row()
    op = f.op(workloads=[{"name": "small", "axes": {"rows": "256"}}])
    spec = f.approved_revision(row).spec
    naive = f.kernel_version(op, slug="naive", source=kernels.NAIVE.encode())
    anchor = name_anchor(f.designer(), name="naive", op=op, method="this harness")
    dispatcher.start_worker()
    capture = wait_until_over(submit_run(f.designer(), kind="capture", version=naive, anchor=anchor, rounds=3))
    assert capture.outcome == "PASS", capture.message
    anchor.refresh_from_db()
    assert anchor.state == Anchor.State.PINNED
    fused = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=spec, source=kernels.HONEST.encode())
    run = wait_until_over(submit_run(f.designer(), kind="perf", version=fused, anchor=anchor, rounds=3))
    assert run.outcome == "PASS", run.message
    rounds = run.result.content["rounds"]
    assert sorted((r["round"], r["side"]) for r in rounds) == [
        (n, side) for n in range(3) for side in ("anchor", "candidate")
    ]
    assert all(len(r["samples_ns"]) == 30 for r in rounds)
    judgement = run.judgements.get()
    assert judgement.rule_version == RULE_VERSION
    assert judgement.sentence
    assert judgement.content["estimate"]["n"] == 3
    assert run.preregistration.revision.spec == spec
    proposal = Proposal.objects.get(row=row, state="open")
    assert proposal.receipts.get().run_id == run.public_id
    print(f"\n{dispatcher.broker_url}: {judgement.grade} {judgement.judgement}: {judgement.sentence}")


def test_a_message_delivered_three_times_gives_one_claim_and_one_result(dispatcher):
    worker = dispatcher.start_worker()
    run = send_run(kernels.WAITING, "waiting")
    dispatcher.send_again(dispatcher.sent[0])
    wait_for_log(run, kernels.RUNNING, fence=1)
    dispatcher.send_again(dispatcher.sent[0])
    worker.let_go()
    run = wait_until_over(run)
    # One worker takes the messages in order, so after a run sent behind the copies these were delivered.
    after = wait_until_over(send_run(kernels.HONEST, "honest"))
    assert (run.outcome, after.outcome) == ("PASS", "PASS")
    assert worker.log.count(f"run {run.public_id} is not ours to do") == 2
    run.refresh_from_db()
    assert (run.fence, run.attempts, RunResult.objects.filter(run=run).count()) == (1, 1, 1)
    verbs = [line.verb for line in activity_of(run, 50)]
    assert (verbs.count("kernels.claim_run"), verbs.count("kernels.store_result")) == (1, 1)
