"""Whole jobs: validate, perf, capture; refusals of what can't be judged; stopping."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import pytest
import torch

from v2kb.wire import Limits, Outcome, PerfPlan, Side
from v2kb.worker.harness import perf
from v2kb.worker.harness.endings import Failure
from v2kb.worker.harness.inputs import find_workload, make_inputs, seed_label
from v2kb.worker.harness.job import run_job
from v2kb.worker.harness.supervisor import sweep_workspaces
from v2kb.worker.harness.watch import Watch

from .conftest import LIMITS, REFERENCE, make_job, rms_norm_contract, sample

SLOWER = (
    sample("honest_plain")
    .replace("    return {", "    time.sleep(0.05)\n    return {")
    .replace("import torch", "import time\n\nimport torch", 1)
)
PLAN = PerfPlan(rounds=3, launches=5, warmup=2, first_letter="B")


def run(source, device="cpu", watch=None, **options):
    job, contents = make_job(source, **options)
    return run_job(job, contents, device, watch)


def test_validate_reports_every_case_with_its_facts():
    result = run(sample("honest_plain"), workloads=("small", "wide"))
    assert result.outcome is Outcome.PASS, result.message
    assert [case.workload for case in result.cases] == ["small", "wide"]
    for case in result.cases:
        (output,) = case.outputs
        assert case.passed
        assert case.count_ok
        assert output.cos > 0.9999
        assert 0 < output.rel_max < 0.01
        assert 0 < output.reference_error_fp64 < 1e-5
        assert output.nan_count == 0
    assert result.cases[0].seed != result.cases[1].seed
    assert len(result.harness_hash) == len(result.checker_hash) == 64
    assert result.started_at < result.finished_at
    assert result.environment["torch"]
    assert result.rounds == []


def test_a_failing_case_does_not_hide_the_others():
    wrong_when_wide = sample("honest_plain").replace(
        'return {"y": honest(inputs)}', 'y = honest(inputs)\n    return {"y": y if y.shape[0] == 64 else -y}'
    )
    result = run(wrong_when_wide, workloads=("wide", "small"))
    assert result.outcome is Outcome.FAIL_NUMERIC
    assert [case.passed for case in result.cases] == [False, True]
    assert "wide" in result.message


def test_perf_times_both_sides_in_abba_order_and_sees_the_slower_one():
    seen = []
    watch = Watch(progress=lambda done, total, phase: seen.append((done, total, phase)))
    result = run(sample("honest_plain"), kind="perf", anchor=SLOWER, plan=PLAN, watch=watch)
    assert result.outcome is Outcome.PASS, result.message
    assert [(r.round, r.side.value[0]) for r in result.rounds] == [
        (0, "c"), (0, "a"), (1, "a"), (1, "c"), (2, "c"), (2, "a"),
    ]  # fmt: skip
    assert [r.position for r in result.rounds] == list(range(6))
    for timed in result.rounds:
        assert len(timed.samples_ns) == 5
        assert all(type(ns) is int and ns > 0 for ns in timed.samples_ns)
        assert "self-timed" in timed.method
        assert timed.setup_ns > 0
    medians = {
        side: statistics.median(ns for r in result.rounds if r.side is side for ns in r.samples_ns) for side in Side
    }
    assert medians[Side.ANCHOR] >= 50_000_000
    assert medians[Side.CANDIDATE] < medians[Side.ANCHOR]
    assert len(result.cases) == 1
    assert seen[-1][0] == seen[-1][1] - 1
    assert [done for done, _, _ in seen] == list(range(len(seen)))


def test_perf_checks_first_and_times_nothing_of_a_wrong_candidate():
    result = run(sample("wrong_no_weight"), kind="perf", anchor=sample("honest_plain"), plan=PLAN)
    assert result.outcome is Outcome.FAIL_NUMERIC
    assert result.rounds == []
    assert not result.cases[0].passed


def test_perf_refuses_an_anchor_that_is_wrong_itself():
    result = run(sample("honest_plain"), kind="perf", anchor=sample("wrong_no_weight"), plan=PLAN)
    assert result.outcome is Outcome.INVALID_REFERENCE
    assert "anchor" in result.message


def test_capture_times_one_kernel_as_an_anchor():
    result = run(sample("honest_plain"), kind="capture", plan=PerfPlan(rounds=2, launches=3, warmup=1))
    assert result.outcome is Outcome.PASS, result.message
    assert [r.side for r in result.rounds] == [Side.ANCHOR, Side.ANCHOR]


def test_a_kernel_that_fails_in_a_timed_run_keeps_the_rounds_before_it():
    result = run(sample("timing_garbage_after_check"), kind="perf", anchor=sample("honest_plain"),
                 plan=PerfPlan(rounds=3, launches=5, warmup=3, first_letter="A"))  # fmt: skip
    assert result.outcome is Outcome.FAIL_NUMERIC
    assert "audited timed call" in result.message
    assert [r.side for r in result.rounds] == [Side.ANCHOR]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("def reference(inputs):\n    return {'y': inputs['x'] * float('nan')}", "NaN"),
        ("def reference(inputs):\n    return {'z': inputs['x']}", "no output named 'y'"),
        ("def reference(inputs):\n    return {'y': inputs['x'][:1]}", "shape"),
        ("def reference(inputs):\n    return inputs['nothing']", "KeyError"),
        ("def reference(inputs", "SyntaxError"),
        ("", "reference"),
        ("import os\ndef reference(inputs):\n    os._exit(0)", "without returning"),
        ("def reference(inputs):\n    return {'y': inputs['x'] * 0}", "all zeros would pass"),
        ("def reference(inputs):\n    return {'y': inputs['x'] * 0 + 3}", "a constant would pass"),
        ("def reference(inputs):\n    return {'y': inputs['x'] * 1.0001}", "a copy of x would pass"),
    ],
)
def test_a_reference_that_can_not_judge_is_refused_and_says_why(bench, reference, words):
    with pytest.raises(Failure, match=words) as caught:
        bench.prepare(rms_norm_contract(reference=reference))
    assert caught.value.outcome is Outcome.INVALID_REFERENCE


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workloads": []}, "no workload named"),
        ({"axes": {"rows": {"symbol": True}}}, "cols"),
        ({"tolerance": {"cos_min": "much"}}, "no number"),
        ({"outputs": []}, "names no outputs"),
        ({"inputs": [{"name": "x", "shape": ["rows", "cols"], "dtype": "bf17"}]}, "bf17"),
        ({"workloads": [{"name": "small", "axes": {"rows": "64"}, "profile": "odd"}]}, "profile"),
        ({"workloads": [{"name": "small", "axes": {"rows": "1/0"}}]}, "zero"),
    ],
)
def test_a_contract_that_can_not_be_run_is_refused_and_says_why(changes, words):
    result = run(sample("honest_plain"), contract=rms_norm_contract(**changes))
    assert result.outcome is Outcome.INVALID_REFERENCE, result.message
    assert words in result.message


def test_no_workloads_is_no_pass():
    result = run(sample("honest_plain"), workloads=())
    assert result.outcome is Outcome.NO_CASES


def test_a_gpu_job_without_a_card_is_the_machines_fault(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    result = run(sample("honest_plain"), device="cuda")
    assert result.outcome is Outcome.INFRA
    assert "card" in result.message


def test_a_reference_can_not_leave_its_answer_for_the_candidate():
    leaking = REFERENCE.replace("return", "import os\n    os.system('echo answer > $TMPDIR/answer')\n    return")
    source = sample("honest_plain").replace(
        "import torch", "import glob\nimport os\n\nimport torch\n\n"
        "if glob.glob(os.environ['TMPDIR'] + '/answer'):\n    raise RuntimeError('found the answer')", 1
    )  # fmt: skip
    result = run(source, contract=rms_norm_contract(reference=leaking))
    assert result.outcome is Outcome.PASS, result.message


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.INFRA])
def test_stopping_ends_a_hanging_kernel_at_once(outcome):
    state = {"since": None}

    def log(text):
        if "kernel is running" in text:
            state["since"] = time.monotonic()

    source = sample("hog_loop").replace("while True", "print('kernel is running', flush=True)\n    while True")
    limits = Limits(**LIMITS.model_dump() | {"case_s": 60})
    watch = Watch(log=log, stopped=lambda: outcome if state["since"] else None)
    result = run(source, watch=watch, limits=limits)
    assert result.outcome is outcome
    assert time.monotonic() - state["since"] < 5


def test_the_whole_job_has_a_limit_of_its_own():
    limits = Limits(**LIMITS.model_dump() | {"total_s": 8, "case_s": 60})
    result = run(sample("hog_loop"), limits=limits)
    assert result.outcome is Outcome.TIMEOUT
    assert "8 s" in result.message


def test_inputs_are_equal_for_both_sides_and_differ_by_secret_call_and_workload():
    contract = rms_norm_contract()
    small, wide = find_workload(contract, "small"), find_workload(contract, "wide")
    first = make_inputs(small, "a" * 16, "time", 0)["x"]
    assert torch.equal(first, make_inputs(small, "a" * 16, "time", 0)["x"])
    for other in (make_inputs(small, "b" * 16, "time", 0), make_inputs(small, "a" * 16, "time", 1)):
        assert not torch.equal(first, other["x"])
    assert seed_label("a" * 16, "small") != seed_label("b" * 16, "small")
    assert wide.inputs[0].shape == (8, 1024)
    ratio = make_inputs(wide, "a" * 16)["x"].abs().max() / first.abs().max()
    assert ratio > 4, "the profile large_range widens the values"


def test_order_is_abba_for_either_first_letter():
    for letter, text in (("A", "accaac"), ("B", "caacca")):
        runs = perf.order(PerfPlan(rounds=3, first_letter=letter), both=True)
        assert "".join(side.value[0] for _, side in runs) == text
        assert [number for number, _ in runs] == [0, 0, 1, 1, 2, 2]


def test_workspaces_of_killed_workers_are_removed_and_living_ones_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"v2kb-run-{ended.pid}-abc", f"v2kb-run-{os.getpid()}-abc", "v2kb-run-other", "another"):
        (tmp_path / name / "in").mkdir(parents=True)
    sweep_workspaces()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"v2kb-run-{os.getpid()}-abc", "v2kb-run-other", "another"]
    )
