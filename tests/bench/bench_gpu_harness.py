"""Figures of the harness on a GPU: `python -m tests.bench.bench_gpu_harness`.

Validates an RMS norm, times it against itself (A/A) and against a copy that does 5% more rows, prints what the rules
say. Judges nothing itself.
"""

import hashlib
import statistics
import sys
import time
from typing import Any

from v2kb.rules.grades import DecidingSession, graded
from v2kb.rules.op_contract import read_contract
from v2kb.rules.session import Case as SessionCase
from v2kb.rules.session import RunSamples, Session, pair_runs
from v2kb.rules.verdict import show
from v2kb.rules.verdict_text import shown_sentence
from v2kb.wire import Job, Limits, PerfPlan, make_bundle
from v2kb.worker.harness import facts
from v2kb.worker.harness.job import run_job
from v2kb.worker.harness.watch import Watch

KERNEL = """
import torch

def run(inputs):
    x, w = inputs["x"], inputs["w"]
    MORE
    return {"y": torch.nn.functional.rms_norm(x, (x.shape[-1],), w, 1e-6)}
"""
SAME = KERNEL.replace("MORE", "pass")
MORE_ROWS = KERNEL.replace("MORE", "torch.nn.functional.rms_norm(x[: x.shape[0] // 20], (x.shape[-1],), w, 1e-6)")
WRONG = SAME.replace("1e-6)}", "1e-6) * 1.1}")
CONTRACT: dict[str, Any] = {
    "title": "RMS norm launched alone",
    "kind": "reduction",
    "axes": {"rows": {"symbol": True}, "cols": {"value": "4096"}},
    "inputs": [
        {"name": "x", "shape": ["rows", "cols"], "dtype": "bfloat16"},
        {"name": "w", "shape": ["cols"], "dtype": "bfloat16", "kind": "weight"},
    ],
    "outputs": [{"name": "y", "shape": ["rows", "cols"], "dtype": "bfloat16"}],
    "envelope": "standalone",
    "target": "sm_90",
    "reference": (
        "def reference(inputs):\n"
        "    x, w = inputs['x'], inputs['w']\n"
        "    return {'y': x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w}\n"
    ),
    "workloads": [
        {"name": "rows_256", "axes": {"rows": "256"}},
        {"name": "rows_4096", "axes": {"rows": "4096"}},
        {"name": "rows_16384", "axes": {"rows": "16384"}},
    ],
}


def job(kind: str, candidate: str, anchor: str | None, rounds: int) -> tuple[Job, dict[str, bytes]]:
    """A job over all workloads, and its files by hash."""
    contract, problems = read_contract(CONTRACT)
    assert not problems, problems
    sources = [candidate, *([anchor] if anchor else [])]
    contents = {hashlib.sha256(s.encode()).hexdigest(): s.encode() for s in sources}
    bundles = [make_bundle("kernel.py:run", {"kernel.py": s.encode()}) for s in sources]
    made = Job(
        run_id="gpu-bench",
        kind=kind,
        contract=contract,
        candidate=bundles[0],
        anchor=bundles[1] if anchor else None,
        workloads=[w["name"] for w in contract["workloads"]],
        plan=PerfPlan(rounds=rounds, launches=30, warmup=5) if kind != "validate" else None,
        limits=Limits(total_s=240, output_bytes=4 * 1024**3),
        seed_secret="secret-of-the-bench-run",
    )
    return made, contents


def session_of(result: Any, workload: str) -> Session:
    """One workload of a perf result as the rules see it."""
    pairs = pair_runs(
        RunSamples(r.round, r.side.value, r.workload, tuple(r.samples_ns), r.position) for r in result.rounds
    )
    environment = dict(result.environment)
    return Session(
        candidate="candidate",
        anchor="anchor",
        metric="time_us",
        unit="ns",
        direction="lower",
        envelope="standalone",
        target="sm_90",
        hardware=environment.get("arch", ""),
        method=result.rounds[0].method.partition(" ")[0],
        cases=(SessionCase(workload, pairs[workload], True),),
        cold=True,
        fresh_processes=True,
        production_grid=True,
        anchor_state="PINNED",
        machine=environment.get("card", ""),
    )


def main() -> int:
    if not facts.query_card("name"):
        print("This machine has no NVIDIA card; nothing to measure.")
        return 1
    watch = Watch()
    for title, source in (("right", SAME), ("wrong by 10%", WRONG)):
        began = time.monotonic()
        result = run_job(*job("validate", source, None, 0), "cuda", watch)
        print(f"validate, {title}: {result.outcome.value} in {time.monotonic() - began:.1f} s. {result.message}")
        for case in result.cases:
            for output in case.outputs:
                print(
                    f"  {case.workload}: cos {output.cos}, rel_max {output.rel_max}, fp64 {output.reference_error_fp64}"
                )
    print("environment:", result.environment, "sandbox:", result.sandbox)
    for title, source in (("A/A", SAME), ("5% more rows", MORE_ROWS)):
        began = time.monotonic()
        result = run_job(*job("perf", source, SAME, 5), "cuda", watch)
        print(f"perf, {title}: {result.outcome.value} in {time.monotonic() - began:.1f} s. {result.message}")
        for workload in sorted({r.workload for r in result.rounds}):
            medians = {
                side: [
                    round(statistics.median(r.samples_ns))
                    for r in result.rounds
                    if (r.workload, r.side) == (workload, side)
                ]
                for side in ("anchor", "candidate")
            }
            rated = graded(session_of(result, workload))
            kind = "deciding" if isinstance(rated, DecidingSession) else rated.grade.name
            print(f"  {workload} {kind} ns {medians}\n    {shown_sentence(show(rated))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
