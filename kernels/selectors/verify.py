"""Recomputing what is stored: hashes, stored gate results, approvals, the search index, the activity chain; evidence's
own part is evidence.faults.

Triggers stop changes, but somebody with raw INSERT rights could write a row that never came from a service. Everything
here is recomputed from what the rules say, so that such a row shows.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from django.db.models import Max

from evidence import faults as evidence_faults
from evidence.history import entry_document
from evidence.models import EvidenceRevision, EvidenceRow, ExperimentEntry
from kernels.models import (
    Approval,
    FileBlob,
    GateResult,
    Judgement,
    KernelVersion,
    MechanismMark,
    Op,
    OpContract,
    Position,
    PreRegistration,
    RunResult,
    SearchReceipt,
    Spec,
    SpecRevision,
)
from references.models import Document, DocumentRevision, Section
from v2kb.core.activity import broken_links
from v2kb.core.faults import CHUNK, Fault, differs
from v2kb.core.models import Activity, ActivityHead
from v2kb.core.search.install import full_text_faults
from v2kb.core.search.upkeep import differences
from v2kb.rules import antiloop
from v2kb.rules.canonical import content_hash
from v2kb.rules.experiments import entry_hash
from v2kb.rules.prediction_reading import parse_prediction
from v2kb.rules.spec_document import choice_hash, find_choice
from v2kb.wire.base import message_hash
from v2kb.wire.bundle import bundle_digest
from v2kb.wire.result import RunResult as ResultMessage

HEADS = ((EvidenceRow, "revisions"), (Op, "contracts"), (Spec, "revisions"), (Document, "revisions"))


def faults() -> Iterator[Fault]:
    """Everything stored that does not hold; nothing when all is well. Reads every row once."""
    for check in CHECKS:
        yield from check()


def _hashed_contents() -> Iterator[Fault]:
    for kind, rows in (
        ("evidence revision", EvidenceRevision.objects.select_related("row")),
        ("op contract", OpContract.objects.select_related("op")),
        ("spec revision", SpecRevision.objects.select_related("spec")),
    ):
        for row in rows.order_by("pk").iterator(CHUNK):
            wrong = differs(row.content_hash, lambda row=row: content_hash(row.content))
            if wrong:
                yield Fault(kind, str(row), wrong)


def _experiments() -> Iterator[Fault]:
    entries = ExperimentEntry.objects.select_related("lever").prefetch_related("links")
    for entry in entries.order_by("pk").iterator(CHUNK):
        wrong = differs(entry.content_hash, lambda e=entry: entry_hash(entry_document(e)))
        if wrong:
            yield Fault("experiment", str(entry.pk), wrong)


def _receipts() -> Iterator[Fault]:
    lines = Activity.objects.filter(verb="kernels.record_search").values_list("object_id", "after__receipt")
    told = set(lines.iterator())
    for receipt in SearchReceipt.objects.select_related("spec").order_by("pk").iterator(CHUNK):
        wrong = differs(receipt.content_hash, lambda r=receipt: content_hash({**r.content, "change": r.change}))
        if not wrong and (str(receipt.spec_id), receipt.content_hash) not in told:
            wrong = "nobody stored it"
        if wrong:
            yield Fault("search receipt", str(receipt), wrong)


def _references() -> Iterator[Fault]:
    for revision in DocumentRevision.objects.select_related("document").order_by("pk").iterator(CHUNK):
        wrong = differs(revision.content_hash, lambda r=revision: _sha256(r.text.encode()))
        if wrong:
            yield Fault("document revision", f"{revision.document.slug} {revision.number}", wrong)
    for section in Section.objects.select_related("revision__document").order_by("pk").iterator(CHUNK):
        wrong = differs(section.content_hash, lambda s=section: _sha256(s.text.encode()))
        if wrong:
            yield Fault("section", f"{section.revision.document.slug}#{section.anchor}", wrong)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _files() -> Iterator[Fault]:
    for blob in FileBlob.objects.order_by("pk").iterator(CHUNK):
        content = bytes(blob.content)
        wrong = differs(blob.sha256, lambda c=content: _sha256(c))
        if not wrong and blob.size_bytes != len(content):
            wrong = f"it has {len(content)} bytes, stored is {blob.size_bytes}"
        if wrong:
            yield Fault("file", blob.sha256[:12], wrong)
    versions = KernelVersion.objects.select_related("kernel").prefetch_related("files__blob").order_by("pk")
    for version in versions.iterator(CHUNK):
        files = {file.path: file.blob.sha256 for file in version.files.all()}
        wrong = differs(version.digest, lambda v=version, f=files: bundle_digest(v.language, v.entry, f))
        if wrong:
            yield Fault("kernel version", str(version), wrong)


def _results() -> Iterator[Fault]:
    for result in RunResult.objects.select_related("run").order_by("pk").iterator(CHUNK):
        wrong = differs(result.content_hash, lambda r=result: message_hash(ResultMessage.model_validate(r.content)))
        if wrong:
            yield Fault("run result", result.run.public_id, wrong)


def _judgements() -> Iterator[Fault]:
    for judgement in Judgement.objects.select_related("run__result").order_by("pk").iterator(CHUNK):
        if not hasattr(judgement.run, "result"):
            yield Fault("judgement", str(judgement), "its run has no result")
            continue
        said = judgement.content
        wrong = differs(
            judgement.content_hash,
            lambda j=judgement: content_hash(
                {"rule": j.rule_version, "result": j.run.result.content_hash, "document": j.content}
            ),
        )
        shown = (judgement.judgement, judgement.grade, judgement.tier, judgement.sentence)
        if not wrong and shown != (said.get("judgement") or "", said["grade"], said["tier"], said["sentence"]):
            wrong = "its columns say something else than its document"
        if wrong:
            yield Fault("judgement", str(judgement), wrong)


def _preregistrations() -> Iterator[Fault]:
    for sealed in PreRegistration.objects.select_related("revision__spec").order_by("pk").iterator(CHUNK):
        document = {name: value for name, value in sealed.content.items() if name not in ("lever", "scope")}
        wrong = differs(sealed.content_hash, lambda d=document: content_hash(d))
        wrong = wrong or differs(
            sealed.choice_hash, lambda s=sealed: choice_hash(s.revision.content, s.choice_id)
        ).replace("its content", "its choice")
        if not wrong and _predicted(sealed) != sealed.content:
            wrong = f"it is not what choice {sealed.choice_id} of the revision predicts"
        if wrong:
            yield Fault("pre-registration", str(sealed), wrong)


def _predicted(sealed: PreRegistration) -> dict[str, Any] | None:
    choice = find_choice(sealed.revision.content, sealed.choice_id)
    parsed = parse_prediction(choice["prediction"])
    return parsed.prereg and {**parsed.prereg.as_document(), "lever": choice["lever"], "scope": choice["scope"]}


# --- the gate ---


def _gate_results() -> Iterator[Fault]:
    for stored in GateResult.objects.select_related("revision__spec").order_by("pk").iterator(CHUNK):
        wrong = _gate_fault(stored)
        if wrong:
            yield Fault("gate result", f"{stored.pk} of {stored.revision}", wrong)


def _gate_fault(stored: GateResult) -> str:
    if stored.revision_hash != stored.revision.content_hash:
        return "it is of another hash than its revision"
    try:
        lines = tuple(
            antiloop.Line(**{**line, "what_would_change": tuple(line["what_would_change"])}) for line in stored.lines
        )
        result = antiloop.GateResult(lines, stored.gate_version)
    except (TypeError, KeyError) as error:
        return f"its lines can't be read ({error})"
    document = {"revision": stored.revision_hash, "result": result.as_document(), "inputs": stored.inputs}
    wrong = differs(stored.content_hash, lambda: content_hash(document))
    if wrong:
        return wrong
    if stored.passed != result.passed:
        return f"it says {'passed' if stored.passed else 'not passed'}, its lines say the opposite"
    if stored.gate_version != antiloop.GATE_VERSION:
        return ""
    return _evaluated_again(stored, result)


def _evaluated_again(stored: GateResult, result: antiloop.GateResult) -> str:
    """Evaluate the gate once more on the stored inputs; the revisions that they name are immutable rows."""
    try:
        snapshot = _snapshot(stored.inputs)
        context = stored.inputs["context"]
    except KeyError as error:
        return f"its inputs name {error}, which is not stored"
    unknown = [mark["by"] for mark in context["new_mechanism_marks"] if not _mark_exists(stored, mark)]
    if unknown:
        return f"its inputs hold a signature of {unknown[0]} that was never given"
    again = antiloop.evaluate(stored.revision.content, snapshot, context)
    if again.as_document() == result.as_document():
        return ""
    first = next((a for a, b in zip(again.lines, result.lines, strict=False) if a != b), None)
    where = f" {first.rule} of {first.choice} comes out as {first.status}." if first else ""
    return f"evaluated again on its inputs it says something else.{where}"


def _mark_exists(stored: GateResult, mark: dict[str, str]) -> bool:
    return MechanismMark.objects.filter(
        revision__spec=stored.revision.spec_id,
        choice_id=mark["choice_id"],
        choice_hash=mark["choice_hash"],
        user__username=mark["by"],
    ).exists()


def _snapshot(inputs: dict[str, Any]) -> dict[str, Any]:
    """The evidence as a stored gate result saw it. Raises KeyError for a revision that is not stored."""
    wanted = {digest for row in inputs["rows"].values() for digest in row["revisions"]}
    contents = {
        (revision.row.code, revision.content_hash): revision.content
        for revision in EvidenceRevision.objects.filter(content_hash__in=wanted).select_related("row")
    }
    scopes = dict(
        OpContract.objects.filter(content_hash__in=inputs["contracts"]).values_list("content_hash", "content__scope")
    )
    return {
        "rows": {
            code: {
                "head_hash": row["head"],
                "revisions": {digest: contents[code, digest] for digest in row["revisions"]},
                "flagged": row["flagged"],
                "superseded_by": row["superseded_by"],
            }
            for code, row in inputs["rows"].items()
        },
        "levers": inputs["levers"],
        "aliases": inputs.get("aliases", {}),
        "documents": {
            slug: {digest: _anchors(slug, digest) for digest in digests}
            for slug, digests in inputs["documents"].items()
        },
        "contracts": {digest: scopes[digest] or {} for digest in inputs["contracts"]},
    }


def _anchors(slug: str, digest: str) -> list[str]:
    return list(
        Section.objects.filter(revision__document__slug=slug, revision__content_hash=digest).values_list(
            "anchor", flat=True
        )
    )


def _approvals() -> Iterator[Fault]:
    approvals = Approval.objects.select_related("revision__spec", "gate_result", "approver").order_by("pk")
    for approval in approvals.iterator(CHUNK):
        revision, gate = approval.revision, approval.gate_result
        votes = Position.objects.filter(
            revision=revision, user=approval.approver, aspect="correctness", at__lte=approval.at
        )
        vote = votes.order_by("pk").last()
        wrong = ""
        if approval.revision_hash != revision.content_hash:
            wrong = "it is of another hash than its revision"
        elif gate.revision_id != revision.pk or not gate.passed:
            wrong = "its gate result does not pass, or is of another revision"
        elif SpecRevision.objects.filter(spec=revision.spec, author=approval.approver, pk__lte=revision.pk).exists():
            wrong = f"{approval.approver} wrote a revision of the spec"
        elif vote is None or vote.position != Position.Kind.APPROVE:
            wrong = f"{approval.approver} did not approve"
        if wrong:
            yield Fault("approval", str(revision), wrong)


# --- heads, the search and the log ---


def _heads() -> Iterator[Fault]:
    for model, related in HEADS:
        rows = model.objects.select_related("head").annotate(newest=Max(f"{related}__number")).order_by("pk")
        for row in rows.iterator(CHUNK):
            if (row.head.number if row.head else None) != row.newest:
                yield Fault(f"head of {model._meta.verbose_name}", str(row), f"it is not the newest, {row.newest}")


def _search() -> Iterator[Fault]:
    for name, pk, wrong in differences():
        yield Fault("search entry", f"{pk} of {name}", f"{wrong}; run manage.py reindex")


def _full_text() -> Iterator[Fault]:
    for name, wrong in full_text_faults():
        yield Fault("search index", name, f"{wrong}; run manage.py reindex")


def _activity() -> Iterator[Fault]:
    for pk in broken_links():
        yield Fault("activity", f"line {pk}", "its hash, or its link to the line before, does not hold")
    last = Activity.objects.order_by("id").last()
    head = ActivityHead.objects.filter(pk=1).first()
    if (head.hash if head else "") != (last.hash if last else ""):
        yield Fault("activity", "the end of the log", "its last line is not the one that was written last")


CHECKS = (
    _hashed_contents,
    *evidence_faults.CHECKS,
    _experiments,
    _receipts,
    _references,
    _files,
    _results,
    _judgements,
    _preregistrations,
    _gate_results,
    _approvals,
    _heads,
    _search,
    _full_text,
    _activity,
)
