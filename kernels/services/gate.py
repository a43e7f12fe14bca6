"""Evaluating the gate for a stored revision and keeping its result."""

from evidence.models import EvidenceRevision
from kernels.models import GateResult, Spec, SpecRevision
from kernels.selectors.gate import evidence_snapshot, gate_context, inputs_document
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules import antiloop
from v2kb.rules.canonical import content_hash


def store_gate_result(revision: SpecRevision, *, lock: bool = False) -> tuple[GateResult, antiloop.GateResult]:
    """Evaluate the gate of a revision and keep what it said with its inputs; what the newest kept result says already
    is not kept twice. Part of a service's transaction that has locked the spec.
    """
    snapshot = evidence_snapshot(revision.content, lock=lock)
    context = gate_context(revision.spec)
    result = antiloop.evaluate(revision.content, snapshot, context)
    document = result.as_document()
    inputs = inputs_document(revision.content, snapshot, context)
    digest = content_hash({"revision": revision.content_hash, "result": document, "inputs": inputs})
    newest = revision.gate_results.first()
    said = (revision.content_hash, result.passed, digest)
    if newest is not None and (newest.revision_hash, newest.passed, newest.content_hash) == said and _fresh(newest):
        return newest, result
    stored = GateResult.objects.create(
        revision=revision,
        revision_hash=revision.content_hash,
        passed=result.passed,
        lines=document["lines"],
        inputs=inputs,
        gate_version=result.version,
        content_hash=digest,
    )
    return stored, result


def _fresh(result: GateResult) -> bool:
    """Whether no evidence is newer, be it that a row says again what it said: an approval wants no older result."""
    return not EvidenceRevision.objects.filter(created_at__gt=result.created_at).exists()


@service("kernels.evaluate_gate", silent=True)
def evaluate_gate(actor: Actor, *, revision: SpecRevision) -> tuple[GateResult, bool]:
    """Ask the gate about a revision and keep the answer: (result, whether it is a new one).

    The same answer on the same inputs is the newest result again, and leaves no activity.
    """
    require_user(actor)
    Spec.objects.select_for_update().get(pk=revision.spec_id)  # an approval under way looks for the newest result
    before = revision.gate_results.values_list("pk", flat=True).first()
    stored, result = store_gate_result(revision)
    if stored.pk == before:
        return stored, False
    record(
        actor,
        "kernels.evaluate_gate",
        revision.spec,
        f"gate of revision {revision.number}: {result.summary()}",
        after={"passed": stored.passed, "hash": stored.content_hash},
        rule_version=f"antiloop/{result.version}",
    )
    return stored, True
