"""Submitting and cancelling runs."""

import random
import secrets
from typing import Any

from django.conf import settings
from django.utils import timezone

from kernels import policies
from kernels.models import Anchor, KernelVersion, OpContract, PreRegistration, Run, Spec
from kernels.selectors.specs import MAY_BUILD, spec_status
from kernels.services.dispatch import issue_attempt
from v2kb.broker import RUN_QUEUES
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.models import User
from v2kb.core.moves import move, require_move
from v2kb.core.service import service
from v2kb.core.values import check_values
from v2kb.wire.bundle import Bundle, BundleFile
from v2kb.wire.messages import MAX_ROUNDS, Job, Limits, PerfPlan
from v2kb.wire.outcomes import JobKind

MIN_ROUNDS_FOR_VERDICT = 3
DEFAULT_ROUNDS = 5
DEFAULT_LAUNCHES = 30
QUEUE_OF_TARGET = {"cpu": "cpu", "sm_90": "gpu.sm_90", "sm_100": "gpu.sm_100"}


def bundle_of(version: KernelVersion) -> Bundle:
    """The wire form of a stored version."""
    files = [
        BundleFile(path=path, sha256=sha256, size_bytes=size)
        for path, sha256, size in version.files.values_list("path", "blob__sha256", "blob__size_bytes")
    ]
    return Bundle(digest=version.digest, language=version.language, entry=version.entry, files=files)


@service("kernels.submit_run")
def submit_run(
    actor: Actor,
    *,
    kind: str,
    version: KernelVersion,
    workloads: list[str] | None = None,
    anchor: Anchor | None = None,
    rounds: int = DEFAULT_ROUNDS,
    launches: int = DEFAULT_LAUNCHES,
    queue: str = "",
    diagnostic: bool = False,
    idempotency_key: str = "",
) -> Run:
    """Queue a run. The same `idempotency_key` of the same user gives the same run, once, or run.key_reused.

    A perf run of a kernel under a spec is bound to the sealed pre-registration of its approved revision; `diagnostic`
    asks for a run that is bound to nothing and can't back a verdict. Raises Refusal or Conflict with codes run.*.
    """
    policies.may_run(actor)
    check_values(Run, idempotency_key=idempotency_key)
    if idempotency_key:
        User.objects.select_for_update(no_key=True).get(pk=actor.user.pk)
        earlier = Run.objects.filter(submitted_by=actor.user, idempotency_key=idempotency_key).first()
        if earlier is not None:
            _same_request(earlier, kind, version, anchor, workloads, rounds, launches, queue)
            record(actor, "kernels.submit_run", earlier, f"{earlier.public_id} asked for again with the same key")
            return earlier
    version = KernelVersion.objects.select_related("kernel__op__head", "kernel__spec").get(pk=version.pk)
    op = version.kernel.op
    contract = op.head
    _check_kind(kind, anchor, op)
    names = _workloads(contract.content, workloads)
    queue = queue or QUEUE_OF_TARGET.get(contract.target, "")
    if queue not in RUN_QUEUES:
        raise Refusal(
            "run.unknown_queue",
            f"No worker queue is called {queue or contract.target!r}.",
            field="queue",
            facts={"known": list(RUN_QUEUES)},
        )
    registration = None if diagnostic or kind != Run.Kind.PERF else _registration(version, anchor, contract)
    plan = _plan(kind, rounds, launches)
    public_id = f"R{secrets.token_hex(6)}"
    candidate = bundle_of(version)
    against = bundle_of(anchor.version) if kind == Run.Kind.PERF else None
    job = Job(
        run_id=public_id,
        kind=JobKind(kind),
        contract=contract.content,
        candidate=candidate,
        anchor=against,
        workloads=names,
        plan=plan,
        limits=Limits(total_s=settings.RUN_TOTAL_S),
        seed_secret=secrets.token_hex(24),
    )
    run = Run.objects.create(
        public_id=public_id,
        kind=kind,
        op=op,
        contract=contract,
        version=version,
        anchor=anchor,
        anchor_version=anchor.version if anchor else None,
        preregistration=registration,
        queue=queue,
        job=job.model_dump(mode="json"),
        idempotency_key=idempotency_key,
        submitted_by=actor.user,
    )
    record(
        actor,
        "kernels.submit_run",
        run,
        f"{kind} run of {version} queued on {queue}",
        after={
            "kind": kind,
            "version": version.digest,
            "queue": queue,
            "workloads": names,
            "anchor": anchor.name if anchor else "",
            "preregistration": registration.content_hash if registration else "",
        },
    )
    issue_attempt(run)
    return run


def _same_request(
    earlier: Run,
    kind: str,
    version: KernelVersion,
    anchor: Anchor | None,
    workloads: list[str] | None,
    rounds: int,
    launches: int,
    queue: str,
) -> None:
    """Refuse a key that was sent with another request; what the request left to the server is not compared."""
    plan = earlier.job["plan"] or {"rounds": rounds, "launches": launches}
    asked = (kind, version.pk, anchor.pk if anchor else None, rounds, launches)
    had = (earlier.kind, earlier.version_id, earlier.anchor_id, plan["rounds"], plan["launches"])
    other_names = bool(workloads) and sorted(workloads) != sorted(earlier.job["workloads"])
    if asked != had or other_names or (queue and queue != earlier.queue):
        raise Conflict(
            "run.key_reused",
            "This idempotency key was used for another run.",
            field="idempotency_key",
            facts={"run": earlier.public_id},
        )


def _check_kind(kind: str, anchor: Anchor | None, op) -> None:
    if kind not in Run.Kind.values:
        raise Refusal(
            "run.unknown_kind", f"{kind!r} is no kind of run.", field="kind", facts={"known": Run.Kind.values}
        )
    if kind == Run.Kind.VALIDATE:
        if anchor is not None:
            raise Refusal("run.anchor_not_wanted", "A validate run has no anchor.", field="anchor")
        return
    if anchor is None:
        raise Refusal(
            "run.anchor_missing",
            f"A {kind} run needs an anchor.",
            field="anchor",
            fix="Name an anchor for this op, and capture it with the kernel that candidates are compared with.",
        )
    if anchor.op_id != op.pk:
        raise Refusal("run.anchor_other_op", f"{anchor.name} is an anchor of another op.", field="anchor")
    if kind == Run.Kind.PERF and anchor.version_id is None:
        raise Refusal(
            "run.anchor_without_kernel",
            f"{anchor.name} was never captured, so there is nothing to run against.",
            field="anchor",
            fix="Capture it first.",
        )


def _workloads(contract: dict[str, Any], wanted: list[str] | None) -> list[str]:
    known = [workload["name"] for workload in contract.get("workloads", [])]
    if not known:
        raise Refusal(
            "run.no_cases",
            "The op's contract names no workloads.",
            field="workloads",
            fix="Add workloads to the contract.",
        )
    unknown = sorted(set(wanted or []) - set(known))
    if unknown:
        raise Refusal(
            "run.unknown_workload",
            f"The contract has no workload {', '.join(unknown)}.",
            field="workloads",
            facts={"known": known},
        )
    return [name for name in known if not wanted or name in wanted]


def _plan(kind: str, rounds: int, launches: int) -> PerfPlan | None:
    if kind == Run.Kind.VALIDATE:
        return None
    if not MIN_ROUNDS_FOR_VERDICT <= rounds <= MAX_ROUNDS:
        raise Refusal(
            "run.rounds",
            f"Rounds must be {MIN_ROUNDS_FOR_VERDICT} to {MAX_ROUNDS}; under "
            f"{MIN_ROUNDS_FOR_VERDICT} there is no verdict.",
            field="rounds",
        )
    if not DEFAULT_LAUNCHES <= launches <= 1000:
        raise Refusal("run.launches", f"Launches must be {DEFAULT_LAUNCHES} to 1000 a run.", field="launches")
    return PerfPlan(rounds=rounds, launches=launches, first_letter=random.SystemRandom().choice("AB"))


def _registration(version: KernelVersion, anchor: Anchor, contract: OpContract) -> PreRegistration | None:
    """The sealed prediction that this perf run is judged against; None for a kernel without a spec."""
    spec = version.kernel.spec
    if spec is None:
        return None
    status = spec_status(spec)
    if status.state not in MAY_BUILD:
        raise Conflict(
            "run.spec_not_approved",
            f"{spec.code} is {status.state}: no deciding run may start.",
            field="version",
            fix="Have the spec approved again, or ask for a diagnostic run.",
            facts={"state": status.state},
        )
    if version.spec_revision_id != spec.head_id:
        raise Conflict(
            "run.version_of_older_spec",
            f"{version} was made under an older revision of {spec.code}.",
            field="version",
            fix="Add the version again under the approved revision, or run it as a diagnostic.",
        )
    _check_contract(spec, contract)
    registrations = list(PreRegistration.objects.filter(revision=spec.head))
    for registration in registrations:
        if registration.content.get("anchor") == anchor.name:
            return registration
    raise Refusal(
        "run.anchor_not_registered",
        f"{spec.code} predicts nothing against the anchor {anchor.name}.",
        field="anchor",
        fix="Choose the anchor of the prediction, or ask for a diagnostic run.",
        facts={"registered": [r.content.get("anchor") for r in registrations]},
    )


def _check_contract(spec: Spec, contract: OpContract) -> None:
    """A deciding run computes what the approved revision says: nobody loosens a tolerance after the approval."""
    pinned = {named["op"]: named["contract"] for named in spec.head.content["ops"]}
    if pinned.get(contract.op.slug) != contract.content_hash:
        raise Conflict(
            "run.contract_moved",
            f"{contract.op.slug} has a newer contract than the one that {spec.code} was approved with.",
            field="version",
            fix="Have a revision of the spec with the new contract approved, or ask for a diagnostic run.",
            facts={"contract": contract.number},
        )


@service("kernels.cancel_run")
def cancel_run(actor: Actor, *, run: Run) -> Run:
    """Cancel a run: at once while it is queued, else its worker is told with the next ping."""
    policies.may_cancel(actor, run)
    run = Run.objects.select_for_update().get(pk=run.pk)
    require_move(run, Run.State.CANCELLED, "run.over")
    if run.state == Run.State.QUEUED:
        move(run, Run.State.CANCELLED, "run.over")
        run.finished_at = timezone.now()
        run.message = f"Cancelled by {actor.name} before a worker took it."
    run.cancel_requested_at = timezone.now()
    run.save(update_fields=["state", "finished_at", "message", "cancel_requested_at"])
    record(actor, "kernels.cancel_run", run, f"{run.public_id} cancelled", after={"state": run.state})
    return run
