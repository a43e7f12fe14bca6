"""One loop with at least one row in every table, so that a refusal is never for want of a row."""

from types import SimpleNamespace

import pytest

from evidence.models import Proposal
from evidence.search.board import Design
from evidence.services.decisions import accept_proposal
from evidence.services.experiments import add_entry
from evidence.services.supersession import supersede_row
from kernels.models import FindingWaiver, Kernel, RunLog, WaiverAnswer
from kernels.services.ops import stop_op
from kernels.services.reviews import comment, sign_mechanism, take_position
from kernels.services.runs import submit_run
from kernels.services.searches import record_search
from kernels.services.specs import open_draft, submit_spec
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Document
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.models import User


@pytest.fixture
def world(db) -> SimpleNamespace:
    """Evidence, an op that was stopped once, an approved spec with comment and mark, a judged run, a draft."""
    row = f.evidence_row()
    entry = add_entry(f.designer(), entry=f.EXPERIMENT | {"links": [f"row:{row.code}"]})
    op = f.op()
    stop_op(f.designer(), op=op, reason="not now", codes=[row.code])
    revision = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=revision)
    thread = comment(f.designer(), revision=revision, place="C1", text="Why one pass?")
    sign_mechanism(f.curator(), revision=revision, choice_id="C1", reason="nobody tried it")
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    revision.refresh_from_db()
    anchor = f.pinned_anchor(op)
    source = b"def run(i): ...\n"
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec, source=source)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    RunLog.objects.create(run=run, fence=1, seq=0, text="compiled\n")
    queued = submit_run(f.designer(), kind="validate", version=version)
    accept_proposal(f.curator(), Proposal.objects.get(origin="run").pk)
    draft = open_draft(f.designer(), spec=revision.spec)
    record_search(f.designer(), spec=revision.spec, design=Design("norm"), decisions={})
    waiver = FindingWaiver.objects.create(
        spec=revision.spec,
        rule="R40",
        path="granularity[0].listed",
        message="m",
        reason="r",
        asked_by=draft.user,
    )
    WaiverAnswer.objects.create(waiver=waiver, kind="refused", user=f.reviewer().user, note="no")
    run.refresh_from_db()
    return SimpleNamespace(
        row=row, entry=entry, op=op, spec=revision.spec, revision=revision, thread=thread, anchor=anchor,
        version=version, kernel=version.kernel, run=run, queued=queued, draft=draft, waiver=waiver,
    )  # fmt: skip


@pytest.fixture
def document(world):
    """A document with a section, imported."""
    text = "# Notes\n\n## One\n\nText of the first section.\n"
    import_documents(f.curator(), files=Files(texts=[("notes.md", text)]))
    return Document.objects.get(slug="notes")


@pytest.fixture
def edge(world):
    """A row that contradicts another."""
    other = f.evidence_row(title="Fused row norm, told otherwise")
    return supersede_row(f.curator(), newer=other.code, older=world.row.code, kind="contradicts", reason="seen twice")


@pytest.fixture
def roleless(db) -> Actor:
    """A superuser without any role."""
    user = User.objects.create_user("root", password=f.PASSWORD, is_superuser=True, is_staff=True)
    return Actor.of_user(user)


@pytest.fixture
def nobody() -> Actor:
    """An anonymous request's Actor."""
    return Actor(user=None, kind="user", channel="page")


@pytest.fixture
def staff(client, make_user):
    """Signs in a member of the staff with these roles."""

    def sign_in(*roles):
        client.force_login(make_user("-".join(["staff", *roles]), *roles, is_staff=True))
        return client

    return sign_in
