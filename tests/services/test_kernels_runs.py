"""Submitting runs: roles, keys, plans, anchors, and which runs may decide something. Anchors: named, pinned, stale."""

import copy

import pytest

from evidence.services.decisions import accept_proposal
from evidence.services.proposals import propose_change
from kernels.models import Anchor, Kernel, Run, RunAttempt
from kernels.services.anchors import mark_anchor_stale, name_anchor
from kernels.services.kernels import add_version
from kernels.services.ops import revise_op
from kernels.services.runs import submit_run
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden, Refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def op():
    return f.op()


@pytest.fixture
def version(op):
    return f.kernel_version(op, slug="mine", basis=Kernel.Basis.EXPLORATORY)


@pytest.fixture
def approved(op):
    """An approved spec, its pinned anchor, and a version of a kernel under it."""
    row = f.evidence_row()
    revision = f.approved_revision(row)
    anchor = f.pinned_anchor(op)
    made = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec, source=b"def run(i): ...\n")
    return row, revision, anchor, made


def perf(version, anchor, **more) -> Run:
    return submit_run(f.designer(), kind="perf", version=version, anchor=anchor, **{"rounds": 3, **more})


def refused(call, error=Refusal) -> Refusal:
    before = Run.objects.count(), RunAttempt.objects.count()
    with pytest.raises(error) as caught:
        call()
    assert (Run.objects.count(), RunAttempt.objects.count()) == before
    return caught.value


# --- who, and what is asked ---


@pytest.mark.parametrize("roles", [(), ("viewer",), ("reviewer_correctness", "curator", "operator", "administrator")])
def test_who_may_not_send_runs_nor_name_anchors(version, op, roles, make_actor):
    who = make_actor("ann", *roles)
    refused(lambda: submit_run(who, kind="validate", version=version), Forbidden)
    refused(lambda: name_anchor(who, name="a", op=op, method="m"), Forbidden)
    assert not Anchor.objects.exists()


@pytest.mark.parametrize("role", ["validator", "implementer", "designer"])
def test_who_may_send_runs(version, role, make_actor):
    run = submit_run(make_actor("ann", role), kind="validate", version=version)
    assert (run.state, run.queue, run.attempts) == ("queued", "cpu", 1)
    assert run.job["workloads"] == ["small"]
    assert run.contract == version.kernel.op.head


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"kind": "song"}, "run.unknown_kind", "kind"),
        ({"workloads": ["small", "huge"]}, "run.unknown_workload", "workloads"),
        ({"queue": "gpu.sm_1"}, "run.unknown_queue", "queue"),
        ({"kind": "capture"}, "run.anchor_missing", "anchor"),
        ({"kind": "perf"}, "run.anchor_missing", "anchor"),
        ({"idempotency_key": "k" * 81}, "core.bad_value", "idempotency_key"),
        ({"idempotency_key": "a\x00"}, "core.bad_text", "idempotency_key"),
    ],
)
def test_a_run_that_asks_for_what_is_not_there(version, fields, code, field):
    error = refused(lambda: submit_run(f.designer(), **{"kind": "validate", "version": version, **fields}))
    assert (error.code, error.field) == (code, field)


def test_a_contract_without_workloads_runs_nothing():
    other = f.op("bare", workloads=[])
    version = f.kernel_version(other, slug="bare", basis=Kernel.Basis.EXPLORATORY)
    assert refused(lambda: submit_run(f.designer(), kind="validate", version=version)).code == "run.no_cases"


@pytest.mark.parametrize(
    ("rounds", "fine"), [(-1, False), (0, False), (2, False), (3, True), (64, True), (65, False), (10**30, False)]
)
def test_limits_of_rounds(op, version, rounds, fine):
    anchor = name_anchor(f.designer(), name="naive", op=op, method="m")

    def send():
        return submit_run(f.designer(), kind="capture", version=version, anchor=anchor, rounds=rounds)

    if fine:
        assert send().job["plan"]["rounds"] == rounds
    else:
        assert refused(send).field == "rounds"


@pytest.mark.parametrize(("launches", "fine"), [(0, False), (29, False), (30, True), (1000, True), (1001, False)])
def test_limits_of_launches(op, version, launches, fine):
    anchor = name_anchor(f.designer(), name="naive", op=op, method="m")

    def send():
        return submit_run(f.designer(), kind="capture", version=version, anchor=anchor, rounds=3, launches=launches)

    if fine:
        assert send().job["plan"]["launches"] == launches
    else:
        assert refused(send).field == "launches"


# --- idempotency ---


def test_the_same_key_gives_the_same_run_and_another_request_is_a_conflict(op, version):
    anchor = f.pinned_anchor(op)
    asked = {"idempotency_key": "k1", "rounds": 3, "workloads": ["small"]}
    first = perf(version, anchor, **asked)
    assert perf(version, anchor, **asked) == first
    count = Run.objects.count()
    other = f.kernel_version(op, slug="other", basis=Kernel.Basis.EXPLORATORY, source=b"def run(i): return 2\n")
    for change in ({"rounds": 4}, {"launches": 31}, {"queue": "gpu.sm_90"}, {"workloads": ["nothing"]}):
        assert refused(lambda c=change: perf(version, anchor, **{**asked, **c}), Conflict).code == "run.key_reused"
    assert refused(lambda: perf(other, anchor, **asked), Conflict).code == "run.key_reused"
    key = {"idempotency_key": "k1"}
    assert refused(lambda: submit_run(f.designer(), kind="validate", version=version, **key), Conflict).code == (
        "run.key_reused"
    )
    assert Run.objects.count() == count
    somebody = f.actor("val", "validator")
    assert submit_run(somebody, kind="validate", version=version, **key) != first


def test_without_a_key_every_request_is_a_run(version):
    submit_run(f.designer(), kind="validate", version=version)
    submit_run(f.designer(), kind="validate", version=version)
    assert Run.objects.count() == 2


# --- anchors ---


def test_a_validate_run_has_no_anchor_and_a_perf_run_one_of_its_own_op(op, version):
    anchor = f.pinned_anchor(op)
    other_op = f.op("other-op", title="Other")
    foreign = name_anchor(f.designer(), name="foreign", op=other_op, method="m")
    bare = name_anchor(f.designer(), name="bare", op=op, method="m")
    for call, code in [
        (lambda: submit_run(f.designer(), kind="validate", version=version, anchor=anchor), "run.anchor_not_wanted"),
        (lambda: perf(version, foreign), "run.anchor_other_op"),
        (lambda: submit_run(f.designer(), kind="capture", version=version, anchor=foreign), "run.anchor_other_op"),
        (lambda: perf(version, bare), "run.anchor_without_kernel"),
    ]:
        assert refused(call).code == code


@pytest.mark.parametrize(
    "fields",
    [{"name": ""}, {"name": "a b"}, {"name": "x" * 81}, {"method": ""}, {"method": "x" * 301}, {"method": "\x00"}],
)
def test_an_anchor_needs_a_name_and_a_method(op, fields):
    with pytest.raises(Refusal) as caught:
        name_anchor(f.designer(), **{"name": "naive", "op": op, "method": "m", **fields})
    assert caught.value.field == next(iter(fields))
    assert not Anchor.objects.exists()


def test_a_capture_pins_an_anchor_and_another_capture_pins_it_anew(op):
    anchor = f.pinned_anchor(op)
    assert (anchor.state, anchor.values["small"]["runs"]) == ("PINNED", 3)
    assert "cpu=test cpu" in anchor.machine
    with pytest.raises(Conflict) as caught:
        name_anchor(f.designer(), name="naive", op=op, method="m")
    assert caught.value.code == "anchor.name_taken"
    run = submit_run(f.designer(), kind="capture", version=anchor.version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [], [50_000, 50_000, 50_000]))
    anchor.refresh_from_db()
    assert (anchor.values["small"]["median_ns"], anchor.capture) == ("50000", run)


@pytest.mark.parametrize("outcome", ["FAIL_NUMERIC", "CRASHED", "NO_DATA"])
def test_a_capture_that_did_not_pass_pins_nothing(op, version, outcome):
    anchor = name_anchor(f.designer(), name="naive", op=op, method="m")
    run = submit_run(f.designer(), kind="capture", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [], [100, 100, 100], outcome))
    anchor.refresh_from_db()
    assert (anchor.state, anchor.values, anchor.version) == ("UNVERIFIED", {}, None)


def test_a_capture_without_a_sample_pins_nothing(op, version):
    anchor = name_anchor(f.designer(), name="naive", op=op, method="m")
    run = submit_run(f.designer(), kind="capture", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [], []))
    anchor.refresh_from_db()
    assert anchor.state == "UNVERIFIED"


def test_only_a_pinned_anchor_goes_stale_and_with_a_reason(op):
    anchor = f.pinned_anchor(op)
    with pytest.raises(Refusal) as caught:
        mark_anchor_stale(f.designer(), anchor=anchor, reason=" ")
    assert caught.value.field == "reason"
    assert mark_anchor_stale(f.designer(), anchor=anchor, reason="new driver").state == "STALE"
    with pytest.raises(Conflict) as caught:
        mark_anchor_stale(f.designer(), anchor=anchor, reason="again")
    assert caught.value.code == "anchor.not_pinned"


# --- what may decide ---


def test_a_run_under_an_approved_spec_is_bound_to_its_sealed_prediction(approved):
    _, revision, anchor, version = approved
    run = perf(version, anchor)
    assert run.preregistration == revision.preregistrations.get()
    assert run.anchor_version == anchor.version
    assert perf(version, anchor, diagnostic=True).preregistration is None


def test_an_anchor_that_the_spec_predicts_nothing_against(approved, op):
    _, _, _, version = approved
    other = f.pinned_anchor(op, name="other", version=f.kernel_version(op, slug="other", source=b"def run(i): 1\n"))
    error = refused(lambda: perf(version, other))
    assert (error.code, error.facts) == ("run.anchor_not_registered", {"registered": ["naive"]})
    assert perf(version, other, diagnostic=True).preregistration is None


def test_a_stale_spec_starts_no_deciding_run_but_a_diagnostic_one(approved):
    row, _, anchor, version = approved
    content = {**copy.deepcopy(row.head.content), "scope": {"envelope": ["cpu"]}}
    proposal = propose_change(
        f.actor("prue"), row.code, base_hash=row.head.content_hash, content=content, reason="wider than we thought"
    )
    accept_proposal(f.curator(), proposal.pk)
    error = refused(lambda: perf(version, anchor), Conflict)
    assert (error.code, error.facts) == ("run.spec_not_approved", {"state": "stale"})
    assert perf(version, anchor, diagnostic=True).preregistration is None
    assert submit_run(f.designer(), kind="validate", version=version).state == "queued"


def test_a_version_of_an_older_revision_decides_nothing(approved):
    _, revision, anchor, version = approved
    changed = f.saved_revision({**revision.content, "summary": "more"}, spec=revision.spec)
    assert refused(lambda: perf(version, anchor), Conflict).code == "run.spec_not_approved"
    f.submit_spec(f.designer(), revision=changed)
    f.take_position(f.reviewer(), revision=changed, aspect="correctness", position="approve")
    assert refused(lambda: perf(version, anchor), Conflict).code == "run.version_of_older_spec"
    version.kernel.refresh_from_db()
    files = {"kernel.py": b"def run(i): return 3\n"}
    newer = add_version(f.designer(), kernel=version.kernel, files=files, entry="kernel.py:run")
    assert perf(newer, anchor).preregistration.revision == changed


def test_a_contract_that_was_loosened_after_the_approval_decides_nothing(approved, op):
    _, _, anchor, version = approved
    op.refresh_from_db()
    loose = {**copy.deepcopy(op.head.content), "tolerance": {"cos_min": "0.1", "rel_max": "0.9"}}
    revise_op(f.designer(), op=op, base_hash=op.head.content_hash, content=loose)
    assert refused(lambda: perf(version, anchor), Conflict).code == "run.contract_moved"
    assert perf(version, anchor, diagnostic=True).preregistration is None
