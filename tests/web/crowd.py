"""One of everything, then thirty: objects for the query counts of pages."""

import copy
from types import SimpleNamespace

from django.contrib.auth.models import Group

from evidence.models import ExperimentEntry, Flag, ImportJob, Proposal
from evidence.search.board import Design
from evidence.services.decisions import accept_proposal
from evidence.services.experiments import add_entry, correct_entry
from evidence.services.import_jobs import start_import
from evidence.services.levers import add_alias, create_lever
from evidence.services.proposals import propose_change, propose_row
from evidence.services.searches import save_search
from evidence.services.supersession import supersede_row
from kernels.models import Judgement, Kernel, Run, RunLog, RunResult
from kernels.services.anchors import name_anchor
from kernels.services.dispatch import worker_hello
from kernels.services.gate import evaluate_gate
from kernels.services.kernels import add_version
from kernels.services.ops import revise_op, stop_op
from kernels.services.reviews import comment, take_position
from kernels.services.runs import submit_run
from kernels.services.searches import record_search
from kernels.services.specs import open_draft, submit_spec
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.importers.payload import payload_of_files
from references.models import Document, Guideline, UpstreamSnapshot
from references.services.uploads import keep_upload
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.models import User

SECTION = "\n## Part {n}\n\nText of part {n}, see [[U1]] and [[spec:S1]].\n\n| a | b |\n|---|---|\n| 1 | {n} |\n"
CATALOGUE = """# Catalogue — up/main @ 0123abcd (studied 2026-01-02)

Merge-base = 89abcdef

| Kernel | Family | Task type | Arity |
|---|---|---|---|
"""
FAMILY = "\n## Family A — ring pipeline\n\nWhen to copy: real GEMMs.\n"


def onlooker() -> Actor:
    """Somebody with every role who wrote nothing: sees every button and every turn."""
    user = User.objects.filter(username="olga").first()
    if user is None:
        user = User.objects.create_user("olga", password=f.PASSWORD)
        user.groups.set(Group.objects.all())
    return Actor.of_user(user)


def begin() -> SimpleNamespace:
    """One of everything: an approved spec with a judged run, another spec in review, a proposal, a document."""
    row = f.evidence_row()
    op = f.op()
    revision = f.approved_revision(row)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec, source=b"x = 1\n")
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    proposal = Proposal.objects.get(origin="run")
    review = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=review)
    w = SimpleNamespace(
        row=row, op=op, revision=revision, spec=revision.spec, anchor=anchor, version=version, kernel=version.kernel,
        run=run, proposal=proposal, review=review, lever=row.head.lever,
    )  # fmt: skip
    open_draft(onlooker(), spec=w.spec)
    record_search(f.designer(), spec=review.spec, design=Design("zebra"), decisions={})
    references(1)
    references(2)  # so that revision 1 is an old one
    grow(w, 0)
    upload = Files(texts=[("new.md", "# New\n\nText.\n")])
    w.entry = ExperimentEntry.objects.latest("pk")
    w.job = start_import(f.curator(), name="log.csv", chunks=[b"a,b\n"])
    w.upload = keep_upload(onlooker(), payload=payload_of_files(upload))
    w.document = Document.objects.get(slug="notes")
    w.snapshot = UpstreamSnapshot.objects.latest("pk")
    return w


def grow(w: SimpleNamespace, number: int) -> None:
    """One more of everything that a page may list."""
    _searches(w, number)
    _evidence(w, number)
    _specs(w, number)
    _kernels(w, number)
    _runs(w, number)
    name = f"w-{number}"
    worker_hello(Actor.worker(name), info=f.WORKER.model_copy(update={"name": name}))


def _searches(w: SimpleNamespace, number: int) -> None:
    """A saved search of the onlooker."""
    save_search(onlooker(), name=f"Search {number}", query=f"q=row&tier={number}")


def references(count: int) -> None:
    """A document of `count` sections, `count` further documents, a catalogue of `count` kernels, `count` rules."""
    sections = "".join(SECTION.format(n=n) for n in range(count))
    kernels = "".join(f"| gemm{n}.cuh | A | TASK_GEMM_{n} ({n}) | (2,1) |\n" for n in range(count))
    others = [(f"other-{n}.md", f"# Other {n}\n\nText.\n") for n in range(count)]
    texts = [("notes.md", "# Notes\n" + sections), ("catalogue.md", CATALOGUE + kernels + FAMILY), *others]
    import_documents(f.curator(), files=Files(texts=texts))
    document = Document.objects.get(slug="notes")
    known = Guideline.objects.count()
    for n in range(known, count):
        Guideline.objects.create(
            document=document, kind="measurement_rule", number=n + 1, title=f"Rule {n}", text="Measure.",
            anchor=f"part-{n}", content_hash="0" * 64,
        )  # fmt: skip


def _evidence(w: SimpleNamespace, number: int) -> None:
    prue, cora, olga = f.actor("prue", "curator", "designer"), f.curator(), onlooker()
    slug = f"lever-{number}"
    create_lever(cora, name=f"Lever {number}", slug=slug, parent=w.lever.slug)
    add_alias(cora, w.lever.slug, f"another name {number}")
    content = copy.deepcopy(f.DEAD if number % 2 else f.EVIDENCE)
    content |= {"lever": w.lever.slug, "title": f"Row {number}", "bound": f"bound {number}"}
    content["sources"] = [{"kind": "document", "text": "notes", "document": "notes", "anchor": "part-0"}]
    made = accept_proposal(cora, propose_row(prue, content=content, reason="seen").pk).row
    supersede_row(cora, newer=made.code, older=w.row.code, kind="narrows", reason="narrower")
    links = [f"row:{w.row.code}", f"kernel:{w.kernel.slug}", f"run:{w.run.public_id}"]
    entry = f.EXPERIMENT | {"why": f"experiment {number}", "lever": w.lever.slug, "links": links}
    correct_entry(cora, add_entry(cora, entry=entry).pk, entry=entry | {"verdict": "WIN"})
    uploaded = start_import(cora, name=f"log-{number}.csv", chunks=[b"a,b\n"])
    ImportJob.objects.filter(pk=uploaded.pk).update(state="cancelled")
    Flag.objects.create(row=w.row, reason=f"doubt {number}", raised_by=olga.user)
    someone = f.actor(f"someone-{number}", "designer")
    changed = {**copy.deepcopy(w.row.head.content), "bound": f"wording {number}"}
    propose_change(someone, w.row.code, base_hash=w.row.head.content_hash, content=changed, reason="wording")


def _specs(w: SimpleNamespace, number: int) -> None:
    content = f.spec_content(w.row)
    content["title"] = f"Spec {number}"
    revision = f.saved_revision(content)
    submit_spec(f.designer(), revision=revision)
    rita = f.actor(f"rita-{number}", "reviewer_performance")
    root = comment(rita, revision=w.review, place="C1", text=f"Question {number}, see [[U1]]")
    comment(f.designer(), revision=w.review, place="C1", text="Answer", parent=root)
    comment(rita, revision=w.review, place="summary", text=f"Another {number}")
    take_position(rita, revision=w.review, aspect="performance", position="no_objection")
    evaluate_gate(rita, revision=w.review)
    stop_op(f.designer(), op=w.op, reason=f"stop {number}", codes=[w.row.code])


def _kernels(w: SimpleNamespace, number: int) -> None:
    f.kernel_version(w.op, slug=f"kernel-{number}", basis=Kernel.Basis.EXPLORATORY)
    files = {"kernel.py": b"x = %d\n" % number, **{f"lib{n}.py": b"n = %d\n" % n for n in range(min(number, 20))}}
    add_version(f.designer(), kernel=w.kernel, files=files, entry="kernel.py:run")
    name_anchor(f.designer(), name=f"anchor-{number}", op=w.op, method="this harness")
    f.op(f"op-{number}", title=f"Op {number}")
    if number:
        w.op.refresh_from_db()
        contract = {**copy.deepcopy(w.op.head.content), "producers": [f"op {number}"]}
        revise_op(f.designer(), op=w.op, base_hash=w.op.head.content_hash, content=contract)


def _runs(w: SimpleNamespace, number: int) -> None:
    """Two more runs of the same version: one judged like the first, one that waits."""
    judged = w.run.judgements.latest("id")
    result = RunResult.objects.get(run=w.run)
    for state in ("finished", "queued"):
        run = Run.objects.get(pk=w.run.pk)
        run.pk, run._state.adding, run.public_id, run.state = None, True, f"R{state}{number}", state
        run.outcome = run.outcome if state == "finished" else ""
        run.save()
        if state == "finished":
            RunResult.objects.create(run=run, fence=1, content=result.content, content_hash=result.content_hash)
            fields = {x.attname: getattr(judged, x.attname) for x in Judgement._meta.concrete_fields}
            Judgement.objects.create(**{**fields, "id": None, "run_id": run.pk})
    RunLog.objects.create(run=w.run, fence=1, seq=number, text=f"line {number}\n")
