"""The validation ladder of kernel versions, from their runs."""

from collections import defaultdict
from collections.abc import Sequence

from kernels.models import Judgement, KernelVersion, Op, OpContract, Run
from v2kb.rules.grades import Grade
from v2kb.rules.ladder import (
    Check,
    Result,
    RungState,
    Standing,
    checked_results,
    ladder_states,
    perf_result,
    standing_below,
)


def _checks(contract: OpContract, **which) -> dict[int, list[Check]]:
    """Version id -> what its finished runs under this contract checked, oldest first."""
    workloads = {workload["name"] for workload in contract.content["workloads"]}
    runs = (
        Run.objects.filter(contract=contract, state=Run.State.FINISHED, **which)
        .order_by("finished_at", "id")
        .values_list("version_id", "kind", "outcome", "job__workloads", "result__content__environment__arch")
    )
    found = defaultdict(list)
    for version_id, kind, outcome, names, arch in runs:
        complete = workloads <= set(names or [])
        found[version_id].append(Check(outcome, arch or "", kind == Run.Kind.VALIDATE, complete))
    return found


def _below(contract: OpContract, checks: Sequence[Check]) -> dict[str, Result]:
    return checked_results(contract.content["envelope"], contract.content["target"], checks)


def ladder_of(version: KernelVersion) -> tuple[RungState, ...]:
    """Where a version stands on each rung under its op's newest contract, by its newest runs."""
    contract = version.kernel.op.head
    envelope, target = contract.content["envelope"], contract.content["target"]
    results = _below(contract, _checks(contract, version=version)[version.pk])
    newest = (
        Judgement.objects.filter(run__version=version, run__contract=contract, run__state=Run.State.FINISHED)
        .order_by("run__finished_at", "run_id", "id")
        .values_list("run_id", "tier", "grade", "judgement")
    )
    judged = {run_id: (Grade(tier, grade, ""), judgement) for run_id, tier, grade, judgement in newest}
    for grade, judgement in judged.values():
        results |= perf_result(envelope, grade, judgement, target)
    return ladder_states(envelope, results)


def standing_of_run(run: Run) -> Standing:
    """How the rungs below a perf session stood when it ended, its own check of the outputs included; else stand now."""
    until = {"finished_at__lte": run.finished_at} if run.finished_at else {}
    checks = _checks(run.contract, version=run.version_id, **until)[run.version_id]
    return standing_below(run.contract.content["envelope"], _below(run.contract, checks))


def standings(op: Op) -> dict[int, Standing]:
    """Version id -> how the rungs below perf stand under the op's newest contract, for each version of an op."""
    envelope = op.head.content["envelope"]
    checks = _checks(op.head)
    versions = KernelVersion.objects.filter(kernel__op=op).values_list("pk", flat=True)
    return {pk: standing_below(envelope, _below(op.head, checks[pk])) for pk in versions}
