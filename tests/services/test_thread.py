"""The whole loop through services: evidence, spec, gate, approval, runs, judgement, proposal, acceptance, staleness."""

import pytest

from evidence.models import Proposal
from evidence.services.decisions import accept_proposal
from kernels.models import Anchor, Kernel, PreRegistration
from kernels.selectors.specs import spec_status
from kernels.services.reviews import take_position
from kernels.services.runs import submit_run
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.activity import broken_links

pytestmark = pytest.mark.django_db


def test_from_evidence_to_verdict_and_back():
    row = f.evidence_row()
    assert row.code == "U1"
    op = f.op()
    revision = f.saved_revision(f.spec_content(row))
    spec = revision.spec
    assert spec_status(spec).state == "draft"
    submit_spec(f.designer(), revision=revision)
    assert spec_status(spec).state == "in review"
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    assert spec_status(spec).state == "approved to build"
    assert PreRegistration.objects.get(revision=revision).content["anchor"] == "naive"

    anchor = f.pinned_anchor(op)
    assert (anchor.state, anchor.values["small"]["median_ns"]) == (Anchor.State.PINNED, "100000")
    assert spec_status(spec).state == "verdict-ready"

    version = f.kernel_version(
        op, slug="fused", basis=Kernel.Basis.SPEC, spec=spec, source=b"def run(i):\n    return i\n"
    )
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    run = f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    judgement = run.judgements.get()
    assert (judgement.judgement, judgement.grade, judgement.disposition) == ("WIN", "decides", "ship")
    assert "5.8% faster" in judgement.sentence

    proposal = Proposal.objects.get(row=row, state="open")
    assert proposal.content["verdict"] == "WIN"
    assert proposal.receipts.get().run_id == run.public_id
    assert spec_status(spec).state == "verdict-ready"
    accept_proposal(f.curator(), proposal.pk)
    row.refresh_from_db()
    assert row.head.verdict == "WIN"
    status = spec_status(spec)
    assert status.state == "stale"
    assert status.moved[0].code == "U1"
    assert broken_links() == []
