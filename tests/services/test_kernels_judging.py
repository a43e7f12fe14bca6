"""From a posted result to what the app says of it: judgements, grades, proposals and receipts."""

import copy

import pytest

from evidence.models import Proposal, RunReceipt
from evidence.services.decisions import accept_proposal
from evidence.services.proposals import revise_proposal
from kernels.models import Anchor, Judgement, Kernel, KernelVersion, Run
from kernels.selectors.ladder import ladder_of
from kernels.services.anchors import mark_anchor_stale, name_anchor
from kernels.services.ops import revise_op
from kernels.services.results import evidence_change, judge_run
from kernels.services.runs import submit_run
from tests import factories as f
from v2kb.core.activity import broken_links
from v2kb.core.errors import Refusal
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

# The golden vectors of the measurement page, in ns: anchor and candidate medians by round.
ANCHOR_3 = [100_000, 101_000, 99_500]
ANCHOR_5 = [100_000, 101_000, 99_500, 100_400, 99_900]
WIN = (ANCHOR_3, [94_000, 95_200, 93_800])
NULL = (ANCHOR_3, [100_100, 100_900, 99_600])
REGRESS = (ANCHOR_3, [103_000, 104_300, 102_100])
KILLED = (ANCHOR_5, [98_400, 99_600, 98_100, 98_700, 98_300])
INCONCLUSIVE = (ANCHOR_3, [94_000, 99_000, 95_000])


class Loop:
    """An approved spec with `rounds` registered, its pinned anchor, and a version under it."""

    def __init__(self, rounds=3, row=None, choice=None, **contract):
        self.row = f.evidence_row(**(row or {}))
        self.op = f.op(**contract)
        prediction = {**f.PREDICTION, "row": self.row.code, "anchor": "naive", "rounds": str(rounds)}
        self.revision = f.approved_revision(self.row, prediction=prediction, **(choice or {}))
        self.anchor = f.pinned_anchor(self.op)
        source = b"def run(i): ...\n"
        self.version = f.kernel_version(
            self.op, slug="fused", basis=Kernel.Basis.SPEC, spec=self.revision.spec, source=source
        )

    def run(self, anchor, candidate, who=None, diagnostic=False, workloads=None, **changes) -> Run:
        run = submit_run(
            who or f.designer(),
            kind="perf",
            version=self.version,
            anchor=self.anchor,
            rounds=max(3, len(candidate)),
            diagnostic=diagnostic,
            workloads=workloads,
        )
        return f.finish(run, f.result(run, anchor, candidate, **changes))


@pytest.mark.parametrize(
    ("vector", "judgement", "disposition", "said"),
    [
        (WIN, "WIN", "ship", "5.8% faster"),
        (NULL, "NULL", None, ""),
        (REGRESS, "REGRESS", "kill", "slower"),
        (KILLED, "KILLED", "kill", ""),
        (INCONCLUSIVE, "INCONCLUSIVE", "park", "rounds"),
    ],
)
def test_the_golden_vectors_through_the_whole_path(vector, judgement, disposition, said):
    loop = Loop(rounds=len(vector[0]))
    run = loop.run(*vector)
    made = run.judgements.get()
    assert (made.judgement, made.grade, made.tier) == (judgement, "decides", 2)
    assert disposition is None or made.disposition == disposition
    assert judgement in made.sentence
    assert said in made.sentence
    assert RunReceipt.objects.get().judgement == judgement
    assert broken_links() == []


@pytest.mark.parametrize(
    ("vector", "verdict", "cause"),
    [
        (WIN, "WIN", ""),
        (NULL, "DEAD", "flat"),
        (REGRESS, "DEAD", "regressed_in_scope"),
        (KILLED, "DEAD", "regressed_in_scope"),
    ],
)
def test_a_clear_judgement_proposes_and_changes_nothing_by_itself(vector, verdict, cause):
    loop = Loop(rounds=len(vector[0]))
    run = loop.run(*vector)
    proposal = Proposal.objects.get(origin="run")
    assert (proposal.state, proposal.content["verdict"], proposal.content["cause_class"]) == ("open", verdict, cause)
    assert proposal.author == run.submitted_by
    number = proposal.content["numbers"][-1]
    assert (number["unit"], number["compared_with"], number["tier"]) == ("percent", "naive", "2")
    assert proposal.receipts.get().run_id == run.public_id
    loop.row.refresh_from_db()
    assert loop.row.head.verdict == "UNTESTED"


UNTESTED_WORDS = {"mechanism": "Nobody has measured it.", "measured_note": "not measured"}


def test_a_win_takes_the_mechanism_that_the_spec_claimed():
    loop = Loop(row=UNTESTED_WORDS, choice={"new_mechanism": "The row stays in registers."})
    loop.run(*WIN)
    proposal = Proposal.objects.get(origin="run")
    assert (proposal.content["mechanism"], proposal.content["measured_note"]) == ("The row stays in registers.", "")
    accept_proposal(f.curator(), proposal.pk)
    loop.row.refresh_from_db()
    assert (loop.row.head.verdict, loop.row.head.content["mechanism"]) == ("WIN", "The row stays in registers.")


def test_a_win_without_a_claimed_mechanism_takes_the_reason_for_the_choice():
    loop = Loop(row=UNTESTED_WORDS)
    loop.run(*WIN)
    assert Proposal.objects.get(origin="run").content["mechanism"] == "One pass reads the row once."


def test_why_a_lever_is_dead_is_left_for_a_person_to_write():
    loop = Loop(row=UNTESTED_WORDS)
    loop.run(*REGRESS)
    proposal = Proposal.objects.get(origin="run")
    assert proposal.content["mechanism"] == ""
    assert proposal.content["approaches"] == ["Fuse the norm (fused v1)"]
    with pytest.raises(Refusal) as refused:
        accept_proposal(f.curator(), proposal.pk)
    assert {problem["field"] for problem in refused.value.problems} == {"mechanism", "not_checked"}
    words = {"mechanism": "The second pass costs more than it saves.", "not_checked": "Longer rows."}
    content = {**proposal.content, **words}
    head = loop.row.head.content_hash
    other = f.actor("cleo", "curator")
    written = revise_proposal(other, proposal.pk, base_hash=head, content=content, reason="why it is slower")
    accept_proposal(f.curator(), written.pk)
    loop.row.refresh_from_db()
    assert loop.row.head.verdict == "DEAD"


def test_a_row_that_keeps_its_verdict_keeps_its_words():
    run = Loop().run(*WIN)
    change = evidence_change(run, run.judgements.get(), said="WIN")
    assert set(change) == {"verdict", "numbers", "measured_on", "scope"}


def test_no_clear_judgement_leaves_a_receipt_only():
    loop = Loop()
    loop.run(*INCONCLUSIVE)
    assert not Proposal.objects.filter(origin="run").exists()
    receipt = RunReceipt.objects.get()
    assert (receipt.row, receipt.proposal) == (loop.row, None)


def test_a_second_run_joins_the_open_proposal():
    loop = Loop()
    loop.run(*WIN)
    loop.run(*WIN, who=f.actor("val", "validator"))
    proposal = Proposal.objects.get(origin="run")
    assert proposal.receipts.count() == 2
    assert proposal.author == f.designer().user
    accept_proposal(f.curator(), proposal.pk)
    loop.row.refresh_from_db()
    assert loop.row.head.verdict == "WIN"


# --- INVALID ---


def invalid(run) -> str:
    made = run.judgements.get()
    assert made.judgement == "INVALID", made.sentence
    assert not Proposal.objects.filter(origin="run").exists()
    assert RunReceipt.objects.get().judgement == "INVALID"
    return made.sentence


def test_a_machine_that_is_not_the_anchors_is_invalid():
    run = Loop().run(*WIN, environment={**f.ENVIRONMENT, "cpu": "another cpu"})
    assert "anchor" in invalid(run)


def test_an_anchor_that_went_stale_or_was_captured_anew_is_invalid():
    loop = Loop()
    run = submit_run(f.designer(), kind="perf", version=loop.version, anchor=loop.anchor, rounds=3)
    mark_anchor_stale(f.designer(), anchor=loop.anchor, reason="new BIOS")
    f.finish(run, f.result(run, *WIN))
    assert "anchor" in invalid(run)


def test_an_anchor_with_another_kernel_than_when_the_run_was_sent_is_invalid():
    loop = Loop()
    run = submit_run(f.designer(), kind="perf", version=loop.version, anchor=loop.anchor, rounds=3)
    slow = f.kernel_version(loop.op, slug="slow", source=b"def run(i): slow\n")
    f.pinned_anchor(loop.op, version=slow)
    f.finish(run, f.result(run, *WIN))
    assert "anchor" in invalid(run)


def test_an_unverified_anchor_is_never_judged_with():
    loop = Loop()
    run = submit_run(f.designer(), kind="perf", version=loop.version, anchor=loop.anchor, rounds=3)
    Anchor.objects.filter(pk=loop.anchor.pk).update(state="UNVERIFIED")
    f.finish(run, f.result(run, *WIN))
    assert "anchor" in invalid(run)


@pytest.mark.parametrize("outcome", ["FAIL_NUMERIC", "CRASHED", "TAMPERED", "NO_DATA"])
def test_a_run_that_did_not_pass_is_invalid_and_never_a_kill(outcome):
    run = Loop().run(*REGRESS, outcome=outcome)
    assert outcome in invalid(run) or "output" in invalid(run)


def test_a_sample_from_before_the_seal_is_invalid():
    loop = Loop()
    run = submit_run(f.designer(), kind="perf", version=loop.version, anchor=loop.anchor, rounds=3)
    body = f.result(run, *WIN)
    for timed in body["rounds"]:
        timed["started_at"] = "2020-01-01T00:00:00+00:00"
    f.finish(run, body)
    assert "before" in invalid(run) or "after" in invalid(run)


def test_fewer_or_more_rounds_than_registered_are_invalid():
    assert "rounds" in invalid(Loop().run(ANCHOR_5, [94_000] * 5))


def validated(version, outcome="PASS", **changes) -> Run:
    run = submit_run(f.designer(), kind="validate", version=version, **changes)
    return f.finish(run, f.result(run, [], [], outcome=outcome))


def perf_rung(version) -> str:
    return ladder_of(version)[-1].status


def test_a_version_that_fails_validation_gets_no_verdict_until_it_passes():
    loop = Loop()
    validated(loop.version, "FAIL_NUMERIC")
    sentence = invalid(loop.run(*WIN))
    assert "first failed gate ladder: Validation failed: numeric is FAIL" in sentence
    assert perf_rung(loop.version) == "INVALID"
    validated(loop.version)
    assert loop.run(*WIN).judgements.get().judgement == "WIN"
    assert perf_rung(loop.version) == "PASS"


def test_a_failure_after_the_session_leaves_its_judgement_and_takes_the_rung():
    loop = Loop()
    run = loop.run(*WIN)
    validated(loop.version, "FAIL_NUMERIC")
    assert judge_run(run).judgement == "WIN"
    assert perf_rung(loop.version) == "INVALID"


def test_a_session_over_some_workloads_stands_on_a_validate_run_over_all():
    loop = Loop(workloads=[*f.CONTRACT["workloads"], {"name": "large", "axes": {"rows": "64"}}])
    validated(loop.version, workloads=["small"])
    sentence = invalid(loop.run(*WIN, workloads=["small"]))
    assert "first failed gate ladder: Never validated over every workload: numeric is MISSING" in sentence
    validated(loop.version)
    assert loop.run(*WIN, workloads=["small"]).judgements.get().judgement == "WIN"


def test_what_passed_under_an_older_contract_is_no_pass_under_the_new_one():
    loop = Loop()
    validated(loop.version)
    assert [rung.status for rung in ladder_of(loop.version)] == ["PASS", "PASS", "MISSING"]
    stricter = {**loop.op.head.content, "tolerance": {"cos_min": "0.9999", "rel_max": "0.01"}}
    revise_op(f.designer(), op=loop.op, base_hash=loop.op.head.content_hash, content=stricter)
    version = KernelVersion.objects.get(pk=loop.version.pk)
    assert {rung.status for rung in ladder_of(version)} == {"MISSING"}


# --- what decides nothing ---


def test_an_exploratory_kernel_is_measured_and_not_judged():
    loop = Loop()
    free = f.kernel_version(loop.op, slug="free", basis=Kernel.Basis.EXPLORATORY, source=b"def run(i): 0\n")
    run = submit_run(f.designer(), kind="perf", version=free, anchor=loop.anchor, rounds=3)
    f.finish(run, f.result(run, *WIN))
    made = run.judgements.get()
    assert (made.judgement, made.disposition) == ("", "none")
    assert "5.8%" in made.sentence
    assert not RunReceipt.objects.exists()
    assert not Proposal.objects.filter(origin="run").exists()


def test_a_diagnostic_run_says_nothing_to_the_evidence():
    run = Loop().run(*WIN, diagnostic=True)
    assert run.judgements.get().judgement == ""
    assert not RunReceipt.objects.exists()


def test_a_b200_op_on_a_cpu_worker_is_diagnostic_and_only_attaches_a_receipt():
    scope = {"envelope": ["fused_megakernel"], "arch": ["sm_100"]}
    row = f.evidence_row(scope=scope)
    op = f.op(envelope="fused_megakernel", target="sm_100", scope=scope)
    prediction = {**f.PREDICTION, "row": row.code, "anchor": "naive", "park_metric": "wall_us", "park_percent": "5"}
    measurement = {
        "tier": "1", "timer": "globaltimer", "grid": "136", "launches": "3", "statistic": "median", "cold": "yes",
        "weight_bytes": "49545216", "layers": "6", "floor": "same_grid_xor_consumer", "adds_block_maxima": "no",
        "reads_block_sum": "yes",
    }  # fmt: skip
    revision = f.approved_revision(row, measurement, scope=scope, prediction=prediction)
    naive = f.kernel_version(op)
    anchor = name_anchor(f.designer(), name="naive", op=op, method="this harness")
    capture = submit_run(f.designer(), kind="capture", version=naive, anchor=anchor, rounds=3, queue="cpu")
    f.finish(capture, f.result(capture, [], ANCHOR_3))
    anchor.refresh_from_db()
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec, source=b"x = 1\n")
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3, queue="cpu")
    assert run.preregistration is not None
    f.finish(run, f.result(run, *WIN))
    made = run.judgements.get()
    assert (made.judgement, made.grade) == ("", "diagnostic")
    receipt = RunReceipt.objects.get()
    assert (receipt.row, receipt.grade, receipt.proposal) == (row, "diagnostic", None)
    assert not Proposal.objects.filter(origin="run").exists()
    assert not any(rung.status == "PASS" for rung in ladder_of(version))


# --- results that are odd, and judging again ---


@pytest.mark.parametrize(
    "damage",
    [
        lambda b: b.update(rounds=[]),
        lambda b: b.update(cases=[]),
        lambda b: b.update(environment={}),
        lambda b: b.update(environment={"timer_tick_ns": "\u00b2"}),
        lambda b: b.update(environment={"timer_tick_ns": "9" * 400}),
        lambda b: b["rounds"].pop(),
        lambda b: b["rounds"].append(copy.deepcopy(b["rounds"][0])),
        lambda b: b["rounds"][0].update(samples_ns=[]),
        lambda b: b["rounds"][0].update(samples_ns=[0] * 30),
        lambda b: b["rounds"][0].update(samples_ns=[2**63 - 1] * 30),
        lambda b: b["rounds"][0].update(workload="unknown"),
        lambda b: b["rounds"][0].update(round=10**9, position=10**9),
        lambda b: b["rounds"][0].update(method="stopwatch"),
        lambda b: [t.update(started_at=t["started_at"].partition("+")[0]) for t in b["rounds"]],
        lambda b: b.update(started_at="2026-01-01T00:00:00", finished_at="2025-01-01T00:00:00Z"),
    ],
)
def test_an_odd_result_is_kept_and_judged_without_a_fault(damage):
    loop = Loop()
    run = submit_run(f.designer(), kind="perf", version=loop.version, anchor=loop.anchor, rounds=3)
    body = f.result(run, *WIN)
    damage(body)
    f.finish(run, body)
    run.refresh_from_db()
    made = run.judgements.get()
    assert run.state == "finished"
    assert made.judgement in ("WIN", "INVALID", "INCONCLUSIVE", "")
    assert "nan" not in made.sentence.lower()


def test_judging_again_adds_a_row_and_says_the_same():
    run = Loop().run(*WIN)
    first = run.judgements.get()
    again = judge_run(run)
    assert Judgement.objects.count() == 2
    assert (again.judgement, again.content_hash) == (first.judgement, first.content_hash)


def test_what_can_not_be_proposed_is_noted_and_the_result_stays(monkeypatch):
    def refuse(*args, **kwargs):
        raise Refusal("evidence.no", "the row is closed")

    loop = Loop()
    monkeypatch.setattr("kernels.services.results.propose_from_run", refuse)
    run = loop.run(*WIN)
    run.refresh_from_db()
    assert (run.state, run.judgements.get().judgement) == ("finished", "WIN")
    assert not RunReceipt.objects.exists()
    noted = Activity.objects.get(verb="kernels.proposal_refused")
    assert "the row is closed" in noted.summary
