"""Reading specs: their derived states and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evidence.hooks import RowChange
from evidence.models import EvidenceRevision, EvidenceRow
from evidence.selectors import pin_reasons, standing
from kernels.models import Anchor, Approval, Citation, OpStop, PreRegistration, Spec, SpecRevision
from v2kb.rules.spec_document import find_choice
from v2kb.rules.states import APPROVED, READY, SpecFacts, spec_state

MAY_BUILD = (APPROVED, READY)


@dataclass(frozen=True)
class MovedPin:
    """An evidence row that changed materially since an approved revision pinned it; `since` is its head's time."""

    choice_id: str
    code: str
    pinned_number: int
    head_number: int
    sentences: tuple[str, ...]
    since: datetime


@dataclass(frozen=True)
class SpecStatus:
    """The derived state of a spec, why, and which pins moved."""

    state: str
    reason: str
    moved: tuple[MovedPin, ...] = ()


def spec_statuses(specs: Iterable[Spec]) -> dict[int, SpecStatus]:
    """The status of each spec by primary key; a constant number of queries for any number of specs."""
    specs = list(specs)
    keys = [spec.pk for spec in specs]
    heads = {
        revision.spec_id: revision
        for revision in SpecRevision.objects.filter(head_of__in=keys).select_related("submission", "approval")
    }
    approved = set(Approval.objects.filter(revision__spec__in=keys).values_list("revision__spec_id", flat=True))
    moved = moved_pins(heads.values())
    sealed: dict[int, int] = {}
    for revision_id in PreRegistration.objects.filter(revision__in=heads.values()).values_list(
        "revision_id", flat=True
    ):
        sealed[revision_id] = sealed.get(revision_id, 0) + 1
    stops = _stops(specs)
    names = {name for revision in heads.values() for name in _anchor_names(revision)}
    anchors = dict(Anchor.objects.filter(name__in=names).values_list("name", "state")) if names else {}
    return {
        spec.pk: _status(spec, heads.get(spec.pk), spec.pk in approved, moved, sealed, stops, anchors) for spec in specs
    }


def spec_status(spec: Spec) -> SpecStatus:
    """The status of one spec."""
    return spec_statuses([spec])[spec.pk]


def _anchor_names(revision: SpecRevision) -> list[str]:
    return [
        choice["prediction"]["anchor"]
        for choice in revision.content["choices"]
        if choice["polarity"] == "adopts" and choice["prediction"]
    ]


def anchor_states(document: dict[str, Any]) -> list[tuple[str, str]]:
    """(state, name) of each anchor that a spec document plans with; UNVERIFIED where nobody has named it yet."""
    names = [anchor["name"] for anchor in document["anchors"]]
    known = dict(Anchor.objects.filter(name__in=names).values_list("name", "state")) if names else {}
    return [(known.get(name, Anchor.State.UNVERIFIED), name) for name in names]


def _stops(specs: list[Spec]) -> dict[int, str]:
    """Spec -> reason, where every op of a spec that was never approved has been stopped since the spec began."""
    reasons: dict[int, str] = {}
    links = Spec.ops.through.objects.filter(spec__in=specs).values_list("spec_id", "op_id")
    ops_of: dict[int, set[int]] = {}
    for spec_id, op_id in links:
        ops_of.setdefault(spec_id, set()).add(op_id)
    stops: dict[int, OpStop] = {}
    for stop in OpStop.objects.filter(op__in={op for ops in ops_of.values() for op in ops}).order_by("id"):
        stops[stop.op_id] = stop
    for spec in specs:
        found = [stops.get(op) for op in ops_of.get(spec.pk, ())]
        if found and all(stop is not None and stop.at > spec.created_at for stop in found):
            reasons[spec.pk] = found[-1].reason
    return reasons


def _status(spec, head, was_approved, moved, sealed, stops, anchors) -> SpecStatus:
    approval = getattr(head, "approval", None) if head else None
    pins = moved.get(head.pk, ()) if approval else ()
    names = _anchor_names(head) if head else []
    facts = SpecFacts(
        head_revision=head.content_hash if head else "",
        submitted_revision=head.content_hash if head and hasattr(head, "submission") else "",
        approved_revision=head.content_hash if approval else ("an earlier one" if was_approved else ""),
        moved_pins=tuple(dict.fromkeys(pin.code for pin in pins)),
        anchor_states=tuple(anchors.get(name, Anchor.State.UNVERIFIED) for name in names),
        registrations=len(names),
        sealed=sealed.get(head.pk, 0) if head else 0,
        stopped_reason="" if approval else stops.get(spec.pk, ""),
        archived=spec.archived_at is not None,
    )
    state = spec_state(facts)
    return SpecStatus(state.name, state.reason, tuple(pins))


def moved_pins(revisions: Iterable[SpecRevision]) -> dict[int, tuple[MovedPin, ...]]:
    """For each revision the evidence pins that changed materially since they were made."""
    citations = (
        Citation.objects.filter(revision__in=list(revisions), kind=Citation.Kind.EVIDENCE, evidence__isnull=False)
        .select_related("revision", "evidence__row__head")
        .prefetch_related(*standing("evidence__row__"))
    )
    moved: dict[int, list[MovedPin]] = {}
    for citation in _answering(citations):
        pinned, row = citation.evidence, citation.evidence.row
        if reasons := pin_reasons(pinned, citation.revision.created_at):
            sentences = tuple(reason.sentence for reason in reasons)
            pin = MovedPin(citation.choice_id, row.code, pinned.number, row.head.number, sentences, row.head.created_at)
            moved.setdefault(citation.revision_id, []).append(pin)
    return {key: tuple(pins) for key, pins in moved.items()}


def _answering(citations: Iterable[Citation]) -> list[Citation]:
    """Citations of evidence at what the choice answers for: the revision that it pinned, or a later one whose change it
    acknowledges with a reason, as the gate takes it (AL2).
    """
    citations = list(citations)
    wanted = {citation.pk: _acknowledged(citation) for citation in citations}
    digests = {digest for found in wanted.values() for digest in found}
    later = EvidenceRevision.objects.filter(content_hash__in=digests).order_by("number") if digests else []
    known = {(revision.row_id, revision.content_hash): revision for revision in later}
    for citation in citations:
        pinned, row = citation.evidence, citation.evidence.row
        answered = [known[row.pk, digest] for digest in wanted[citation.pk] if (row.pk, digest) in known]
        citation.evidence = max([pinned, *answered], key=lambda revision: revision.number)
        citation.evidence.row = row
    return citations


def _acknowledged(citation: Citation) -> list[str]:
    choice = find_choice(citation.revision.content, citation.choice_id)
    code = citation.evidence.row.code
    return [said["revision"] for said in choice["acknowledged"] if said["code"] == code and said["reason"].strip()]


def specs_reopened(changes: Sequence[RowChange]) -> list[list[dict[str, Any]]]:
    """For each change the approved specs that it would make stale, that are stale already, or that hold again."""
    asked = EvidenceRow.objects.filter(pk__in={change.row_id for change in changes}).select_related("head")
    rows = {row.pk: row for row in asked.prefetch_related(*standing())}
    citations = Citation.objects.filter(
        evidence__row__in=rows,
        revision__approval__isnull=False,
        revision__head_of__isnull=False,
        revision__head_of__archived_at__isnull=True,
    )
    pins: dict[int, list[Citation]] = {}
    for citation in _answering(citations.select_related("revision__spec", "evidence__row")):
        citation.evidence.row = rows[citation.evidence.row_id]
        pins.setdefault(citation.evidence.row_id, []).append(citation)
    return [
        [line for citation in pins.get(change.row_id, []) if (line := _effect(citation, change))] for change in changes
    ]


def _effect(citation: Citation, change: RowChange) -> dict[str, Any] | None:
    since = citation.revision.created_at
    now = pin_reasons(citation.evidence, since)
    then = pin_reasons(
        citation.evidence, since, content=change.content, superseded=change.superseded, flagged=change.flagged
    )
    if not now and not then:
        return None
    spec = citation.revision.spec
    return {
        "title": f"{spec.code}, {citation.choice_id}",
        "url": spec.get_absolute_url(),
        "effect": "reopens" if not now else "stale already" if then else "holds again",
        "sentences": [reason.sentence for reason in then],
    }


def specs_citing(row_id: int) -> list[Citation]:
    """Citations of an evidence row by head revisions of live specs."""
    return list(
        Citation.objects.filter(
            evidence__row=row_id, revision__head_of__isnull=False, revision__head_of__archived_at__isnull=True
        ).select_related("revision__spec", "evidence")
    )
