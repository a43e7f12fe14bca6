"""A world for the API: at least one of everything, in the states in which the table's requests succeed."""

from dataclasses import dataclass
from typing import Any

from evidence.models import EvidenceRow, Flag, Proposal
from evidence.services import clear_flag, confirm_flag, flag_row, propose_change
from kernels.models import Kernel, Run, SpecRevision
from kernels.services.anchors import name_anchor
from kernels.services.reviews import take_position
from kernels.services.runs import submit_run
from kernels.services.specs import open_draft, submit_spec
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Document, Section
from references.services.guidelines import set_guidelines
from tests import factories as f
from v2kb.core.actor import Actor

CATALOGUE = """# Catalogue — up/main @ 0123abcd (studied 2026-01-02)

| Kernel | Family | Task type | Arity |
|---|---|---|---|
| gemm.cuh | A | TASK_GEMM_V2 (7) | (2,1) |

## Family A — ring pipeline

When to copy: real GEMMs.
"""
FUSED = b"def run(inputs):\n    return {'y': inputs['x'] * 1}\n"


@dataclass
class World:
    """What the requests of the table name. Revisions by the state of their review."""

    row: EvidenceRow
    dead: EvidenceRow
    proposal: Proposal
    own_proposal: Proposal
    flag: Flag
    approved: SpecRevision
    in_review: SpecRevision
    saved: SpecRevision
    signable: SpecRevision
    closable: SpecRevision
    capture: Run
    perf: Run
    queued: Run
    sections: list[Section]

    def content(self, **changes: Any) -> dict[str, Any]:
        return f.spec_content(self.row, **changes)


def _revision(row: EvidenceRow, title: str, **changes: Any) -> SpecRevision:
    content = f.spec_content(row, **changes)
    content["title"] = title
    return f.saved_revision(content)


def _closable() -> SpecRevision:
    """A revision with its approving position whose gate failed when it was taken, and passes now."""
    doubtful = f.evidence_row(lever="doubtful-norm", title="Doubtful norm")
    revision = _revision(doubtful, "Doubtful")
    submit_spec(f.designer(), revision=revision)
    flag = flag_row(f.designer(), doubtful.code, reason="Which machine?")
    confirm_flag(f.curator(), flag.pk)
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    clear_flag(f.curator(), flag.pk, reason="The machine is named in the log.")
    return revision


def _finished_run(row: EvidenceRow, approved: SpecRevision) -> tuple[Run, Run]:
    op = approved.spec.ops.get()
    anchor = f.pinned_anchor(op)
    fused = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=approved.spec, source=FUSED)
    run = submit_run(f.designer(), kind="perf", version=fused, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [100_100, 100_900, 99_600]))
    return anchor.capture, run


def _references() -> list[Section]:
    rules = "# House rules\n\n## 1. Roles\n\nloads\n"
    import_documents(Actor.system(), files=Files(texts=[("rules.md", rules), ("catalogue.md", CATALOGUE)]))
    document = Document.objects.get(slug="rules")
    rule = {"title": "Cold caches", "text": "Measure cold.", "anchor": "roles"}
    set_guidelines(Actor.system(), document, "measurement_rule", [rule])
    return list(Section.objects.filter(revision=document.head).order_by("order"))


def build() -> World:
    """Make the world through the services."""
    row = f.evidence_row()
    dead = f.evidence_row(f.DEAD, lever="two-pass-norm", title="Two-pass norm")
    op = f.op()
    f.op("plain-add", title="Plain add")
    approved = f.approved_revision(row)
    in_review, saved = _revision(row, "In review"), _revision(row, "Saved")
    submit_spec(f.designer(), revision=in_review)
    signable = _revision(dead, "Against the dead row", new_mechanism="One pass keeps the row in registers.")
    submit_spec(f.designer(), revision=signable)
    closable = _closable()
    capture, perf = _finished_run(row, approved)
    queued = submit_run(f.designer(), kind="validate", version=perf.version)
    name_anchor(f.designer(), name="planned", op=op, method="this harness")
    prue = f.actor("prue", "curator", "designer")
    change = {**row.head.content, "not_checked": "Rows longer than 8192."}
    proposal = propose_change(f.designer(), row.code, base_hash=row.head.content_hash, content=change, reason="seen")
    own = propose_change(
        prue, row.code, base_hash=row.head.content_hash, content={**change, "not_checked": "Odd rows."}, reason="seen"
    )
    flag = flag_row(f.designer(), dead.code, reason="Measured on an old driver.")
    open_draft(f.designer(), spec=saved.spec)
    return World(
        row=row, dead=dead, proposal=proposal, own_proposal=own, flag=flag, approved=approved, in_review=in_review,
        saved=saved, signable=signable, closable=closable, capture=capture, perf=perf, queued=queued,
        sections=_references(),
    )  # fmt: skip
