"""Services on ops and their immutable contracts."""

from typing import Any

from django.db.models import Max

from evidence.models import EvidenceRow
from kernels import policies
from kernels.models import Op, OpContract, OpStop
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal, refuse_problems
from v2kb.core.service import service
from v2kb.core.values import check_text, check_values
from v2kb.rules.canonical import content_hash
from v2kb.rules.op_contract import read_contract

RESERVED_SLUGS = frozenset({"new"})  # an address of its own


@service("kernels.create_op")
def create_op(actor: Actor, *, slug: str, content: dict[str, Any], reason: str = "") -> Op:
    """Add an op with its first contract. Raises Conflict op.slug_taken or Refusal op.unreadable with every field."""
    policies.may_design(actor)
    check_values(Op, slug=slug)
    contract, problems = read_contract(content)
    refuse_problems("op.unreadable", problems)
    if slug in RESERVED_SLUGS or Op.objects.filter(slug=slug).exists():
        raise Conflict("op.slug_taken", f"An op {slug} exists already.", field="slug")
    op = Op.objects.create(slug=slug, title=contract["title"], created_by=actor.user)
    _add_contract(actor, op, contract, reason)
    record(actor, "kernels.create_op", op, f"op {slug} added", after={"contract": op.head.content_hash})
    return op


@service("kernels.revise_op")
def revise_op(actor: Actor, *, op: Op, base_hash: str, content: dict[str, Any], reason: str = "") -> Op:
    """Give an op a new contract. Specs that name the old one keep it and show that the op moved.

    Raises Conflict op.stale_base when the head is not `base_hash` any more.
    """
    policies.may_design(actor)
    contract, problems = read_contract(content)
    refuse_problems("op.unreadable", problems)
    op = Op.objects.select_for_update(of=("self",)).select_related("head").get(pk=op.pk)
    if op.head is not None and op.head.content_hash != base_hash:
        raise Conflict(
            "op.stale_base",
            f"{op.slug} has a newer contract than the one you began from.",
            fix="Look at the newer one, then make your change again.",
            facts={"head": op.head.number},
        )
    before = op.head
    if before is not None and before.content_hash == content_hash(contract):
        record(actor, "kernels.revise_op", op, "nothing changed")
        return op
    _add_contract(actor, op, contract, reason)
    record(
        actor,
        "kernels.revise_op",
        op,
        f"contract {op.head.number} of {op.slug}",
        before={"contract": before.content_hash} if before else None,
        after={"contract": op.head.content_hash},
    )
    return op


def _add_contract(actor: Actor, op: Op, contract: dict[str, Any], reason: str) -> None:
    number = (op.contracts.aggregate(last=Max("number"))["last"] or 0) + 1
    op.head = OpContract.objects.create(
        op=op,
        number=number,
        content=contract,
        content_hash=content_hash(contract),
        family=contract["family"],
        envelope=contract["envelope"],
        target=contract["target"],
        author=actor.user,
        reason=reason,
    )
    op.title = contract["title"]
    op.save(update_fields=["head", "title"])


@service("kernels.stop_op")
def stop_op(actor: Actor, *, op: Op, reason: str, lever: str = "", codes: list[str] | None = None) -> OpStop:
    """Record that stage 0 ended well: the evidence says not to build this. Needs a reason and the rows that decided."""
    policies.may_design(actor)
    check_values(OpStop, lever=lever)
    check_text(reason, "reason")
    if not reason.strip():
        raise Refusal("op.reason_missing", "Say why the work stops.", field="reason")
    codes = codes or []
    rows = {row.code: row for row in EvidenceRow.objects.select_related("head").filter(code__in=codes)}
    unknown = [code for code in codes if code not in rows]
    if unknown:
        raise Refusal("op.unknown_rows", f"There is no evidence row {', '.join(unknown)}.", field="codes")
    if not codes:
        raise Refusal(
            "op.rows_missing", "Name the evidence rows that decided.", field="codes", fix="For example D3, D9."
        )
    pinned = [{"code": code, "revision": rows[code].head.content_hash} for code in codes]
    stop = OpStop.objects.create(op=op, lever=lever, reason=reason.strip(), rows=pinned, user=actor.user)
    record(actor, "kernels.stop_op", op, f"stopped: {reason.strip()}", after={"rows": pinned, "lever": lever})
    return stop
