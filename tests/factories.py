"""Objects of the field for tests, made through the services that every door uses."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import Group

from evidence.models import EvidenceRow, Lever
from evidence.services.decisions import accept_proposal
from evidence.services.levers import create_lever
from evidence.services.proposals import propose_row
from kernels.models import Anchor, Kernel, KernelVersion, Op, Run, RunAttempt, Spec, SpecRevision
from kernels.services.anchors import name_anchor
from kernels.services.dispatch import claim_run, key_hash
from kernels.services.kernels import add_version, create_kernel
from kernels.services.ops import create_op
from kernels.services.results import store_result
from kernels.services.reviews import take_position
from kernels.services.runs import submit_run
from kernels.services.specs import create_spec, open_draft, save_draft, save_revision, submit_spec
from v2kb.core.actor import Actor
from v2kb.core.models import User
from v2kb.rules.spec_document import empty_row, empty_spec
from v2kb.wire.messages import ResultRequest, WorkerInfo

ALL_DESIGN = ("designer", "implementer", "validator")
PASSWORD = "a-long-test-phrase"


def actor(name: str, *roles: str) -> Actor:
    """An Actor for the user `name`, made with these roles when it does not exist yet."""
    user = User.objects.filter(username=name).first()
    if user is None:
        user = User.objects.create_user(name, password=PASSWORD)
        user.groups.set(Group.objects.filter(name__in=roles))
    return Actor.of_user(user)


def designer() -> Actor:
    return actor("dora", *ALL_DESIGN)


def reviewer() -> Actor:
    return actor("remy", "reviewer_correctness", "reviewer_performance")


def curator() -> Actor:
    return actor("cora", "curator")


EXPERIMENT = {
    "on": "2026-07-03", "env": "B200", "verdict": "NULL", "why": "Flat within the noise.", "trace": "outputs/f1/",
    "commit": "ac3d9736", "lever": "", "links": [],
}  # fmt: skip
EVIDENCE: dict[str, Any] = {
    "lever": "fused-row-norm",
    "title": "Fused row norm",
    "verdict": "UNTESTED",
    "scope": {"envelope": ["cpu"], "arch": ["cpu"]},
    "numbers": [],
    "mechanism": "",
    "cause_class": "",
    "approaches": [],
    "not_checked": "",
    "bound": "At most the time of one read and one write of the row.",
    "structural": False,
    "measured_on": "",
    "measured_note": "",
    "sources": [],
}
DEAD: dict[str, Any] = {
    **EVIDENCE,
    "title": "Fused row norm, first attempt",
    "verdict": "DEAD",
    "numbers": [
        {
            "text": "+11%",
            "readable": True,
            "value": "11",
            "low": None,
            "high": None,
            "unit": "percent",
            "direction": "lower",
            "qualifier": "",
            "compared_with": "baseline",
            "tier": "2",
            "n": "3",
            "verified": True,
            "role": "verdict",
        }
    ],
    "mechanism": "The second pass over the row costs more than the temporary saves.",
    "cause_class": "regressed_in_scope",
    "approaches": ["two passes", "one pass with a scratch row"],
    "not_checked": "Rows longer than 16384.",
    "bound": "",
    "sources": [{"kind": "note", "text": "bench of 2026-10-01", "document": "", "anchor": ""}],
}


def evidence_row(content: dict[str, Any] | None = None, **changes: Any) -> EvidenceRow:
    """A row with a head, proposed by one curator and accepted by another; its lever is made when missing."""
    content = {**copy.deepcopy(content or EVIDENCE), **changes}
    one, two = actor("prue", "curator", "designer"), curator()
    if not Lever.objects.filter(slug=content["lever"]).exists():
        create_lever(curator(), name=content["lever"].replace("-", " "), slug=content["lever"])
    proposal = propose_row(one, content=content, reason="first look")
    return accept_proposal(two, proposal.pk).row


CONTRACT: dict[str, Any] = {
    "title": "RMS norm on the CPU",
    "kind": "reduction",
    "family": "B",
    "axes": {"rows": {"symbol": True}, "cols": {"value": "64"}},
    "inputs": [{"name": "x", "shape": ["rows", "cols"]}, {"name": "w", "shape": ["cols"], "kind": "weight"}],
    "outputs": [{"name": "y", "shape": ["rows", "cols"]}],
    "envelope": "cpu",
    "target": "cpu",
    "scope": {"envelope": ["cpu"], "arch": ["cpu"]},
    "reference": (
        "def reference(inputs):\n"
        "    x, w = inputs['x'], inputs['w']\n"
        "    return {'y': x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w}\n"
    ),
    "workloads": [{"name": "small", "axes": {"rows": "4"}}],
}


def op(slug: str = "rmsnorm-cpu", **changes: Any) -> Op:
    return create_op(designer(), slug=slug, content={**copy.deepcopy(CONTRACT), **changes})


PREDICTION: dict[str, Any] = {
    "metric": "time_us",
    "unit": "us",
    "direction": "lower",
    "tier": "2",
    "gain_percent": "5",
    "kill_percent": "3",
    "delta_percent": "1",
    "cases": ["small"],
    "rounds": "3",
    "budget_runs": "3",
}


def spec_content(row: EvidenceRow, anchor: str = "naive", **changes: Any) -> dict[str, Any]:
    """A spec document with one choice that adopts the row's lever and predicts against `anchor`."""
    document = empty_spec()
    document["title"] = "Fused RMS norm"
    document["engine"] = {"family": "D", "idiom": "one pass", "why": "The row fits the cache."}
    document["granularity"] = [
        {**empty_row("granularity"), "task": "row", "mode": "per_tile", "num_tasks": "4", "listed": "4"}
    ]
    choice = {
        **empty_row("choices"),
        "id": "C1",
        "title": "Fuse the norm",
        "lever": row.head.lever.slug,
        "polarity": "adopts",
        "rationale": "One pass reads the row once.",
        "scope": {"envelope": ["cpu"], "arch": ["cpu"]},
        "citations": [{"kind": "evidence", "code": row.code, "revision": "HEAD", "stance": "supports"}],
        "prediction": {**PREDICTION, "row": row.code, "anchor": anchor},
    }
    document["choices"] = [{**choice, **changes}]
    document["anchors"] = [{"name": anchor, "metric": "time_us", "method": "this harness, process clock"}]
    return document


def saved_revision(content: dict[str, Any], spec: Spec | None = None, who: Actor | None = None) -> SpecRevision:
    """A revision with this content; a new spec over rmsnorm-cpu when none is given."""
    who = who or designer()
    if spec is None:
        spec = create_spec(who, title=content["title"], ops=[Op.objects.get(slug="rmsnorm-cpu")])
    draft = open_draft(who, spec=spec)
    content = {**content, "ops": draft.content["ops"]}
    draft = save_draft(who, spec=spec, content=content, version=draft.version)
    return save_revision(who, spec=spec, version=draft.version, reason="test")


def approved_revision(row: EvidenceRow, measurement: dict[str, Any] | None = None, **changes: Any) -> SpecRevision:
    """A revision that a second user approved."""
    content = spec_content(row, **changes)
    content["measurement"] |= measurement or {}
    revision = saved_revision(content)
    submit_spec(designer(), revision=revision)
    take_position(reviewer(), revision=revision, aspect="correctness", position="approve")
    revision.refresh_from_db()
    return revision


SOURCE = b"def run(inputs):\n    return {'y': inputs['x']}\n"


def kernel_version(
    op: Op, slug: str = "naive", basis: str = Kernel.Basis.ANCHOR, spec: Spec | None = None, source: bytes = SOURCE
) -> KernelVersion:
    kernel = create_kernel(designer(), slug=slug, title=slug, op=op, basis=basis, spec=spec)
    return add_version(designer(), kernel=kernel, files={"kernel.py": source}, entry="kernel.py:run")


ENVIRONMENT = {"arch": "cpu", "cpu": "test cpu", "torch": "2.13.0", "python": "3.11.7"}
WORKER = WorkerInfo(name="w1", queue="cpu", cpu="test cpu")
KEY = "k" * 40


def claimed(run: Run) -> tuple[RunAttempt, int]:
    """Claim a queued run as a worker would, with a key that the test knows. Returns the attempt and its fence."""
    attempt = run.attempt_rows.latest("number")
    attempt.key_hash = key_hash(f"{KEY}{run.pk}-{attempt.number}")
    attempt.save(update_fields=["key_hash"])
    reply = claim_run(Actor.worker("w1"), attempt=attempt, info=WORKER)
    attempt.refresh_from_db()
    return attempt, reply.fence


def result(run: Run, anchor: list[int], candidate: list[int], outcome: str = "PASS", **changes: Any) -> dict[str, Any]:
    """A result message: one run median (ns) per round and side, 30 equal samples each, in ABBA order."""
    start = datetime.now(UTC) + timedelta(seconds=1)
    rounds, position = [], 0
    for number, (a, b) in enumerate(zip(anchor or candidate, candidate, strict=True)):
        sides = [("anchor", a), ("candidate", b)] if number % 2 == 0 else [("candidate", b), ("anchor", a)]
        for side, median in sides:
            if side == "anchor" and not anchor:
                continue
            rounds.append(
                {
                    "round": number,
                    "side": side,
                    "position": position,
                    "workload": "small",
                    "samples_ns": [median] * 30,
                    "clock_mhz": None,
                    "method": "process_clock (self-timed)",
                    "started_at": (start + timedelta(seconds=position)).isoformat(),
                    "setup_ns": 1000,
                }
            )
            position += 1
    case = {
        "workload": "small",
        "profile": "random",
        "seed": "s",
        "passed": outcome == "PASS",
        "count_ok": True,
        "outputs": [],
    }
    return {
        "outcome": outcome,
        "cases": [case],
        "rounds": rounds,
        "environment": ENVIRONMENT,
        "harness_hash": "h",
        "checker_hash": "c",
        "sandbox": "test",
        "started_at": start.isoformat(),
        "finished_at": (start + timedelta(minutes=1)).isoformat(),
        **changes,
    }


def finish(run: Run, body: dict[str, Any]) -> Run:
    """Claim a run and post `body` as its result."""
    attempt, fence = claimed(run)
    message = ResultRequest.model_validate({"fence": fence, "result": body})
    return store_result(Actor.worker("w1"), attempt=attempt, message=message)


def pinned_anchor(op: Op, name: str = "naive", version: KernelVersion | None = None) -> Anchor:
    """An anchor that a capture run pinned at about 100 us."""
    version = version or kernel_version(op, slug=name)
    anchor = Anchor.objects.filter(name=name).first() or name_anchor(
        designer(), name=name, op=op, method="this harness"
    )
    run = submit_run(designer(), kind="capture", version=version, anchor=anchor, rounds=3)
    finish(run, result(run, [], [100_000, 101_000, 99_500]))
    anchor.refresh_from_db()
    return anchor
