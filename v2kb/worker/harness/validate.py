"""Correctness: a kernel against the contract's reference over named workloads, judged by the parent."""

from dataclasses import dataclass

from v2kb.wire import Bundle, CaseResult, Outcome, OutputResult
from v2kb.worker.harness.compare import Reference, compare_output, merge_outputs, null_kernel
from v2kb.worker.harness.endings import Failure, raise_for_ending, texts
from v2kb.worker.harness.inputs import Workload, make_inputs, seed_label
from v2kb.worker.harness.session import Session, Tensors

CALLS = 3
"""Calls per case in one process: new objects, other objects, and the first objects again with other contents."""
MAX_REASONS = 5


@dataclass(frozen=True)
class Prepared:
    """A workload with the inputs and the reference of every checked call; valid for each kernel of the job."""

    workload: Workload
    calls: list[Tensors]
    references: list[Reference]


def prepare_case(session: Session, workload: Workload) -> Prepared:
    """Make inputs and reference outputs, and refuse a workload that a kernel doing no work would pass.

    Raises Failure INVALID_REFERENCE.
    """
    calls = [make_inputs(workload, session.job.seed_secret, "check", index) for index in range(CALLS)]
    references = session.references(workload, calls)
    idle = null_kernel(workload, calls[0], references[0], references[1])
    if idle:
        raise Failure(
            Outcome.INVALID_REFERENCE,
            f"Workload {workload.name} does not discriminate: {idle} would pass. "
            "Change its profile or shapes, or tighten the contract's tolerance.",
        )
    return Prepared(workload, calls, references)


def check_case(session: Session, bundle: Bundle, case: Prepared, who: str) -> tuple[CaseResult, Outcome]:
    """Run a kernel on a prepared workload. Returns the facts and PASS, FAIL_NUMERIC, FAIL_SHAPE or TAMPERED.

    Raises Failure when the kernel did not come to an end by itself.
    """
    workload = case.workload
    task = session.task("check", session.place_inputs(case.calls), workload)
    task |= {"files": session.place(bundle), "entry": bundle.entry}
    ending = session.supervisor.run(task, session.deadlines)
    if ending.detail:
        session.say(f"{who}, workload {workload.name}: {ending.detail}.")
    status = raise_for_ending(ending, who, session.job.limits, session.device)
    problems = texts(status.get("problems"))
    tampered = texts(status.get("tampered"))
    per_output: dict[str, list[OutputResult]] = {spec.name: [] for spec in workload.outputs}
    reasons: list[str] = []
    missing = False
    for index, reference in enumerate(case.references):
        outputs = session.read_out(f"call{index}.tensors")
        missing = missing or set(outputs) != set(per_output)
        for spec in workload.outputs:
            result, reason = compare_output(outputs.get(spec.name), spec, reference, workload.tolerance)
            per_output[spec.name].append(result)
            if reason:
                reasons.append(f"call {index}: {reason}")
    session.supervisor.clear_out()
    outputs = [merge_outputs(results) for results in per_output.values()]
    count_ok = not missing and not any("is not in the contract" in text for text in problems)
    wrong_form = not count_ok or any(not (o.shape_ok and o.dtype_ok) for o in outputs)
    outcome = _outcome(bool(tampered), wrong_form, bool(reasons or problems))
    if tampered:
        problems.insert(0, f"the kernel changed {', '.join(tampered[:5])}")
    reason = "; ".join((problems + reasons)[:MAX_REASONS])[:4000]
    return CaseResult(
        workload=workload.name,
        profile=workload.profile,
        seed=seed_label(session.job.seed_secret, workload.name),
        passed=outcome is Outcome.PASS,
        reason=reason,
        outputs=outputs,
        count_ok=count_ok,
    ), outcome


def _outcome(tampered: bool, wrong_form: bool, wrong: bool) -> Outcome:
    if tampered:
        return Outcome.TAMPERED
    if wrong_form:
        return Outcome.FAIL_SHAPE
    return Outcome.FAIL_NUMERIC if wrong else Outcome.PASS
