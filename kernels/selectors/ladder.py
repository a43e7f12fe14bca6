"""The validation ladder of a kernel version, from its runs."""

from kernels.models import KernelVersion
from kernels.selectors.sessions import hardware_of
from v2kb.rules.grades import Grade
from v2kb.rules.ladder import Result, RungState, ladder_states, perf_result, validate_results


def ladder_of(version: KernelVersion) -> tuple[RungState, ...]:
    """Where a version stands on each rung, by its newest runs."""
    contract = version.kernel.op.head.content
    envelope, target = contract["envelope"], contract["target"]
    results: dict[str, Result] = {}
    runs = version.runs.filter(state="finished").select_related("result").prefetch_related("judgements").order_by("id")
    for run in runs:
        hardware = hardware_of(run) if hasattr(run, "result") else ""
        results |= validate_results(envelope, run.outcome, target, hardware)
        judgement = next(iter(run.judgements.all()), None)
        if run.kind == "perf" and judgement is not None:
            grade = Grade(judgement.tier, judgement.grade, "")
            results |= perf_result(envelope, grade, judgement.judgement, target)
    return ladder_states(envelope, results)
