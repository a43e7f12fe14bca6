"""One line per endpoint: who may use it, and a request that succeeds. A new endpoint without a line fails a test."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from knox.models import AuthToken

from evidence.models import EvidenceRow, ExperimentEntry, ImportJob, SavedSearch, Term
from evidence.search.board import Design
from evidence.services import accept_proposal, archive_lever, archive_row, create_lever, merge_levers, propose_change
from evidence.services.claims import claim_proposal
from evidence.services.experiments import add_entry
from evidence.services.import_jobs import map_import, start_import
from evidence.services.import_work import due_jobs, fail_import, work_on
from evidence.services.searches import save_search
from evidence.services.terms import add_term, archive_term
from kernels.models import FindingWaiver, Op, Spec
from kernels.services.searches import record_search
from kernels.services.specs import open_draft
from kernels.services.waivers import ask_waiver
from references.models import Family, Guideline, UpstreamKernel, UpstreamSnapshot
from tests import factories as f
from tests.api.world import World
from v2kb.core.models import User

Params = Callable[[World], dict[str, Any]]
Body = Callable[[World], dict[str, Any]] | dict[str, Any] | None
ANYONE = "vera"  # has the role viewer
PUBLIC = ""


@dataclass
class Line:
    """`user` is who may (ANYONE: who is signed in; PUBLIC: nobody needs to be); `before` prepares the world."""

    user: str = ANYONE
    params: Params = field(default=lambda world: {})
    body: Body = None
    status: int = 200
    query: str = ""
    before: Callable[[World], None] = field(default=lambda world: None)


def revision(name: str) -> Params:
    """Parameters of one of the world's revisions."""

    def params(world: World) -> dict[str, Any]:
        found = getattr(world, name)
        return {"code": found.spec.code, "number": found.number}

    return params


def code_of(name: str) -> Params:
    return lambda world: {"code": getattr(world, name).spec.code}


def run(name: str) -> Params:
    return lambda world: {"id": getattr(world, name).public_id}


def fixed(**params: Any) -> Params:
    return lambda world: params


def first(model: type) -> Params:
    return lambda world: {"id": model.objects.order_by("pk").first().pk}


def _unused_row(world: World) -> None:
    f.evidence_row(lever="unused-norm", title="Unused norm")


def _changed_row(world: World) -> None:
    _unused_row(world)
    row = EvidenceRow.objects.get(code="U3")
    content = {**row.head.content, "bound": "Half of that."}
    made = propose_change(f.designer(), row, base_hash=row.head.content_hash, content=content, reason="measured")
    accept_proposal(f.actor("prue"), made.pk)


def _claimed(world: World) -> None:
    claim_proposal(f.curator(), world.proposal.pk)


def _archived_row(world: World) -> None:
    _unused_row(world)
    archive_row(f.curator(), "U3", reason="A twin.")


LOG = "| Date | Env | Verdict | Why |\n|---|---|---|---|\n| 2026-07-01 | B200 | WIN | Fences once |\n"
LOG_MAPPING = {
    "columns": {"Date": "date", "Env": "env", "Verdict": "verdict", "Why": "why"},
    "words": {"WIN": {"as": "entry", "verdict": "WIN"}},
}
JOB = fixed(id="00000000-0000-4000-8000-000000000001")


def _entry(world: World) -> None:
    add_entry(f.designer(), entry=f.EXPERIMENT)


def first_entry(world: World) -> dict[str, Any]:
    return {"id": ExperimentEntry.objects.values_list("pk", flat=True).first() or 1}


def _stored_search(world: World) -> None:
    record_search(f.designer(), spec=world.saved.spec, design=Design("zebra"), decisions={})


def a_search(world: World) -> dict[str, Any]:
    receipt = world.saved.spec.receipts.first()
    return {"code": world.saved.spec.code, "content_hash": receipt.content_hash if receipt else "0" * 64}


def _uploaded(world: World) -> None:
    job = start_import(f.curator(), name="log.md", chunks=[LOG.encode()])
    ImportJob.objects.filter(pk=job.pk).update(public_id=JOB(world)["id"])


def _read(world: World) -> None:
    _uploaded(world)
    for pk in due_jobs():
        work_on(pk)


def _failed(world: World) -> None:
    _uploaded(world)
    fail_import(f.curator(), ImportJob.objects.get(public_id=JOB(world)["id"]).pk, message="no")


def _checked(world: World) -> None:
    _read(world)
    map_import(f.curator(), JOB(world)["id"], mapping=LOG_MAPPING)
    for pk in due_jobs():
        work_on(pk)


def _unused_lever(world: World) -> None:
    create_lever(f.curator(), name="Idle", slug="idle")


def _merged_lever(world: World) -> None:
    _unused_lever(world)
    merge_levers(f.actor("mira", "curator"), "idle", into="fused-row-norm", reason="One technique.")


def _archived_lever(world: World) -> None:
    _unused_lever(world)
    archive_lever(f.curator(), "idle", reason="Never used.")


def _added_term(world: World) -> None:
    add_term(f.curator(), kind="arch", word="sm_110", aliases=["vera"])


def _archived_term(world: World) -> None:
    _added_term(world)
    archive_term(f.curator(), added_term(world)["id"], reason="A typo.")


def added_term(world: World) -> dict[str, Any]:
    return {"id": Term.objects.filter(built_in=False).values_list("pk", flat=True).first() or 1}


def _saved_search(world: World) -> None:
    save_search(f.designer(), name="Norms", query="q=norm")


def _with_finding(world: World) -> None:
    """A spec whose tasks are listed wrongly."""
    content = f.spec_content(f.evidence_row(lever="listed-wrongly", title="Listed"))
    content["granularity"][0]["listed"] = "2"
    f.saved_revision(content)


def _with_waiver(world: World) -> None:
    _with_finding(world)
    ask_waiver(f.designer(), spec=Spec.objects.latest("pk"), **WAIVED)


def newest_spec(world: World) -> dict[str, Any]:
    return {"code": Spec.objects.latest("pk").code}


def newest_waiver(world: World) -> dict[str, Any]:
    return newest_spec(world) | {"id": getattr(FindingWaiver.objects.last(), "pk", 1)}


def first_saved(world: World) -> dict[str, Any]:
    return {"id": getattr(SavedSearch.objects.first(), "pk", 1)}


def _viewer_token(world: World) -> None:
    vera = User.objects.filter(username=ANYONE).first() or User.objects.create_user(ANYONE)
    vera.groups.set(Group.objects.filter(name="viewer"))
    AuthToken.objects.create(user=vera)


def _viewer_has_a_password(world: World) -> None:
    vera = User.objects.filter(username=ANYONE).first() or User.objects.create_user(ANYONE)
    vera.set_password(f.PASSWORD)
    vera.save()


def _change(world: World) -> dict[str, Any]:
    content = {**world.dead.head.content, "not_checked": "Rows longer than 32768."}
    return {"row": world.dead.code, "base_hash": world.dead.head.content_hash, "content": content, "reason": "seen"}


def _revised(world: World) -> dict[str, Any]:
    content = {**world.row.head.content, "not_checked": "Rows longer than 4096."}
    return {"base_hash": world.row.head.content_hash, "content": content, "reason": "narrower"}


def _new_contract(world: World) -> dict[str, Any]:
    op = Op.objects.get(slug="plain-add")
    return {"base_hash": op.head.content_hash, "content": {**f.CONTRACT, "title": "Plain addition"}, "reason": "name"}


def _new_revision(world: World) -> dict[str, Any]:
    content = {**world.saved.content, "summary": "Shorter."}
    return {"base_hash": world.saved.content_hash, "content": content, "reason": "summary"}


WHY = {"reason": "Because of the driver."}
WAIVED = {"rule": "R40", "path": "granularity[0].listed", "reason": "The list counts both runs."}
MERGE = {"into": "fused-row-norm", "reason": "One technique."}
PERF_ORDER = {"kind": "perf", "kernel": "fused", "version": 1, "anchor": "naive", "rounds": 3}
PROPOSAL: Params = lambda world: {"id": world.proposal.pk}  # noqa: E731
MAP = {"name": "map.md", "text": "# Evidence\n\nNothing yet.\n", "dry_run": True, "skip_unreadable": True}

REFERENCES = {
    "GET /documents/": Line(),
    "GET /documents/{slug}/": Line(params=fixed(slug="rules")),
    "GET /documents/{slug}/revisions/": Line(params=fixed(slug="rules")),
    "GET /documents/{slug}/sections/{anchor}/": Line(params=fixed(slug="rules", anchor="roles")),
    "GET /sections/": Line(),
    "GET /sections/{id}/": Line(params=lambda world: {"id": world.sections[0].pk}),
    "GET /snapshots/": Line(),
    "GET /snapshots/{id}/": Line(params=first(UpstreamSnapshot)),
    "GET /families/": Line(),
    "GET /families/{id}/": Line(params=first(Family)),
    "GET /upstream-kernels/": Line(),
    "GET /upstream-kernels/{id}/": Line(params=first(UpstreamKernel)),
    "GET /guidelines/": Line(),
    "GET /guidelines/{id}/": Line(params=first(Guideline)),
}
LEVER = fixed(slug="fused-row-norm")
EVIDENCE = {
    "GET /levers/": Line(),
    "POST /levers/": Line("cora", body={"name": "Row split"}, status=201),
    "GET /levers/{slug}/": Line(params=LEVER),
    "PUT /levers/{slug}/": Line("cora", LEVER, {"name": "Fused norm of rows"}),
    "POST /levers/{slug}/add-alias/": Line("cora", LEVER, {"alias": "norm fusion"}),
    "POST /levers/{slug}/remove-alias/": Line(
        "cora", fixed(slug="many-names"), {"alias": "names galore"},
        before=lambda world: create_lever(f.curator(), name="many names", aliases=["names galore"]),
    ),
    "POST /levers/{slug}/archive/": Line("cora", fixed(slug="idle"), WHY, before=_unused_lever),
    "POST /levers/{slug}/merge/": Line("cora", fixed(slug="idle"), MERGE, before=_unused_lever),
    "POST /levers/{slug}/unmerge/": Line("cora", fixed(slug="idle"), WHY, before=_merged_lever),
    "GET /terms/": Line(query="?kind=arch"),
    "POST /terms/": Line("cora", body={"kind": "cause", "word": "register pressure"}, status=201),
    "GET /terms/{id}/": Line(params=added_term, before=_added_term),
    "PUT /terms/{id}/": Line("cora", added_term, {"note": "The next one."}, before=_added_term),
    "POST /terms/{id}/add-alias/": Line("cora", added_term, {"alias": "Rubin"}, before=_added_term),
    "POST /terms/{id}/remove-alias/": Line("cora", added_term, {"alias": "vera"}, before=_added_term),
    "POST /terms/{id}/archive/": Line("cora", added_term, WHY, before=_added_term),
    "POST /terms/{id}/restore/": Line("cora", added_term, {}, before=_archived_term),
    "POST /levers/{slug}/restore/": Line("cora", fixed(slug="idle"), {}, before=_archived_lever),
    "GET /evidence/": Line(),
    "GET /evidence/{code}/": Line(params=fixed(code="U1")),
    "GET /evidence/{code}/revisions/": Line(params=fixed(code="U1")),
    "GET /evidence/{code}/revisions/{number}/": Line(params=fixed(code="U1", number=1)),
    "POST /evidence/{code}/flag/": Line(params=fixed(code="U1"), body=WHY, status=201),
    "POST /evidence/{code}/supersede/": Line(
        "cora", fixed(code="D1"), {"newer": "U1", "kind": "narrows", "reason": "Newer card."}
    ),
    "GET /evidence/{code}/diff/": Line(params=fixed(code="U1"), query="?old=1&new=1"),
    "GET /evidence/{code}/lineage/": Line(params=fixed(code="U1")),
    "GET /evidence/over-time/": Line(),
    "POST /evidence/{code}/revert/": Line("cora", fixed(code="U3"), {"revision": 1, **WHY}, 201, before=_changed_row),
    "POST /evidence/{code}/merge/": Line("cora", fixed(code="U1"), {"taken": "U3", **WHY}, 201, before=_unused_row),
    "POST /evidence/{code}/bounds/": Line("dora", fixed(code="U1"), {"driver": "570.1"}),
    "POST /evidence/{code}/watch/": Line(params=fixed(code="U1"), body={}),
    "POST /evidence/{code}/unwatch/": Line(params=fixed(code="U1"), body={}),
    "POST /evidence/{code}/archive/": Line("cora", fixed(code="U3"), WHY, before=_unused_row),
    "POST /evidence/{code}/restore/": Line("cora", fixed(code="U3"), {}, before=_archived_row),
    "GET /flags/{id}/effects/": Line(params=lambda world: {"id": world.flag.pk}),
    "POST /flags/{id}/confirm/": Line("cora", lambda world: {"id": world.flag.pk}, {}),
    "POST /flags/{id}/clear/": Line("cora", lambda world: {"id": world.flag.pk}, WHY),
    "GET /experiments/": Line(),
    "POST /experiments/": Line("dora", body=f.EXPERIMENT, status=201),
    "GET /experiments/{id}/": Line(params=first_entry, before=_entry),
    "POST /experiments/{id}/correct/": Line(
        "dora", first_entry, f.EXPERIMENT | {"verdict": "WIN"}, 201, before=_entry
    ),
    "GET /import-jobs/": Line("cora"),
    "POST /import-jobs/": Line("cora", body={"name": "log.md", "text": LOG}, status=201),
    "GET /import-jobs/{id}/": Line("cora", JOB, before=_uploaded),
    "GET /import-jobs/{id}/lines/": Line("cora", JOB, before=_checked),
    "POST /import-jobs/{id}/check/": Line("cora", JOB, {"mapping": LOG_MAPPING}, before=_read),
    "POST /import-jobs/{id}/apply/": Line("cora", JOB, {}, before=_checked),
    "POST /import-jobs/{id}/retry/": Line("cora", JOB, {}, before=_failed),
    "POST /import-jobs/{id}/cancel/": Line("cora", JOB, {}, before=_uploaded),
    "GET /exports/{id}/": Line(params=fixed(id="history.md")),
    "GET /repository-snapshot/": Line(),
    "GET /saved-searches/": Line(),
    "POST /saved-searches/": Line(body={"name": "Norms", "query": "q=norm"}, status=201),
    "DELETE /saved-searches/{id}/": Line("dora", first_saved, status=204, before=_saved_search),
    "POST /saved-searches/{id}/seen/": Line("dora", first_saved, {}, before=_saved_search),
    "GET /proposals/": Line(),
    "GET /proposals/{id}/": Line(params=lambda world: {"id": world.proposal.pk}),
    "POST /proposals/": Line("dora", body=_change, status=201),
    "POST /proposals/{id}/revise/": Line("dora", lambda world: {"id": world.proposal.pk}, _revised, 201),
    "POST /proposals/{id}/accept/": Line("cora", PROPOSAL, {"conflict": "none"}),
    "POST /proposals/bulk-accept/": Line("cora", body=lambda world: {"ids": [world.proposal.pk], "conflict": "none"}),
    "GET /proposals/{id}/effects/": Line(params=PROPOSAL),
    "POST /proposals/{id}/recuse/": Line("cora", PROPOSAL, WHY),
    "POST /proposals/{id}/claim/": Line("cora", PROPOSAL, {}),
    "POST /proposals/{id}/release/": Line("cora", PROPOSAL, {}, before=_claimed),
    "POST /proposals/{id}/reject/": Line("cora", lambda world: {"id": world.proposal.pk}, WHY),
    "POST /proposals/{id}/withdraw/": Line("dora", lambda world: {"id": world.proposal.pk}, {}),
    "POST /evidence-imports/": Line("cora", body=MAP),
}  # fmt: skip
OP = fixed(slug="rmsnorm-cpu")
OPS = {
    "GET /ops/": Line(),
    "POST /ops/": Line("dora", body={"slug": "softmax", "content": f.CONTRACT}, status=201),
    "GET /ops/{slug}/": Line(params=OP),
    "GET /ops/{slug}/evidence/": Line(params=OP),
    "GET /ops/{slug}/contracts/": Line(params=OP),
    "POST /ops/{slug}/contracts/": Line("dora", fixed(slug="plain-add"), _new_contract, 201),
    "GET /ops/{slug}/stops/": Line(params=OP),
    "POST /ops/{slug}/stops/": Line("dora", OP, {"reason": "Dead here.", "codes": ["D1"]}, 201),
}


def _sweepable(world: World) -> None:
    """A spec whose number of tasks follows a symbol."""
    content = world.content()
    content["symbols"] = {"ROWS": "4"}
    content["granularity"][0] |= {"num_tasks": "ROWS", "listed": "ROWS"}
    f.saved_revision(content)


def _sweepable_draft(world: World) -> None:
    _sweepable(world)
    open_draft(f.designer(), spec=Spec.objects.latest("pk"))


def newest_revision(world: World) -> dict[str, Any]:
    return {**newest_spec(world), "number": 1}


SWEEP = "?symbol=ROWS&low=1&high=2*4"
CALCULATORS = {
    "POST /calculators/smem-planner/": Line(
        body={
            "regions": [{"name": "W", "slots": "STAGES", "size_bytes": "16384", "page_count": "1"}],
            "symbols": {"STAGES": "8"}, "queue": ["this", "this"],
        }
    ),
    "POST /calculators/wave-quantisation/": Line(body={"items": 7168, "tasks": 136, "old_warps": 4, "new_warps": 7}),
    "POST /calculators/achievable-floor/": Line(body={"bytes": "31.5 MB", "low_tb_s": "2.0", "high_tb_s": "3.4"}),
    "POST /calculators/task-count/": Line(body={"num_tasks": "8*(N/128)", "listed": "64", "symbols": {"N": "1024"}}),
    "POST /calculators/tmem-columns/": Line(
        body={"objects": [{"name": "ACC", "slots": "2", "columns": "16"}], "alloc_columns": "64"}
    ),
}  # fmt: skip
SPECS = {
    "GET /specs/": Line(),
    "POST /specs/": Line("dora", body={"title": "Another", "ops": ["plain-add"]}, status=201),
    "POST /specs/check-file/": Line(body={"text": "# Spec\n\n## Op contract\n"}),
    "POST /specs/check/": Line(body=lambda world: {"content": world.content()}),
    "GET /specs/{code}/": Line(params=code_of("approved")),
    "GET /specs/{code}/diff/": Line(params=code_of("approved"), query="?old=1&new=1"),
    "GET /specs/{code}/draft/": Line("dora", code_of("saved")),
    "DELETE /specs/{code}/draft/": Line("dora", code_of("saved"), status=204),
    "GET /specs/{code}/draft/sweep/": Line("dora", newest_spec, query=SWEEP, before=_sweepable_draft),
    "POST /specs/{code}/gate/": Line(params=code_of("saved"), body=lambda world: {"content": world.content()}),
    "POST /design-search/": Line(body={"query": "norm", "levers": ["fused row norm"], "scope": {"arch": "cpu"}}),
    "POST /design-search/begin/": Line(
        "dora", body={"title": "Another", "ops": ["plain-add"], "search": {"query": "zebra"}}, status=201
    ),
    "GET /specs/{code}/searches/": Line(params=code_of("approved")),
    "POST /specs/{code}/searches/": Line("dora", code_of("approved"), {"search": {"query": "zebra"}}, 201),
    "POST /specs/{code}/searches/{content_hash}/bring/": Line("dora", a_search, {}, before=_stored_search),
    "GET /specs/{code}/revisions/": Line(params=code_of("approved")),
    "POST /specs/{code}/revisions/": Line("dora", code_of("saved"), _new_revision, 201),
    "GET /specs/{code}/revisions/{number}/": Line(params=revision("approved")),
    "GET /specs/{code}/revisions/{number}/markdown/": Line(params=revision("approved")),
    "GET /specs/{code}/revisions/{number}/sweep/": Line(params=newest_revision, query=SWEEP, before=_sweepable),
    "POST /specs/{code}/revisions/{number}/submit/": Line("dora", revision("saved"), status=201),
    "GET /specs/{code}/revisions/{number}/gate/": Line(params=revision("approved")),
    "GET /specs/{code}/revisions/{number}/gate-results/": Line(params=revision("approved")),
    "POST /specs/{code}/revisions/{number}/gate-results/": Line(params=revision("approved"), status=201),
    "GET /specs/{code}/revisions/{number}/review/": Line(params=revision("approved")),
    "POST /specs/{code}/revisions/{number}/close/": Line("remy", revision("closable"), status=201),
    "GET /specs/{code}/revisions/{number}/comments/": Line(params=revision("in_review")),
    "POST /specs/{code}/revisions/{number}/comments/": Line(
        params=revision("in_review"), body={"place": "C1", "text": "Why?"}, status=201
    ),
    "GET /specs/{code}/revisions/{number}/positions/": Line(params=revision("in_review")),
    "POST /specs/{code}/revisions/{number}/positions/": Line(
        "remy", revision("in_review"), {"aspect": "correctness", "position": "approve"}, 201
    ),
    "GET /specs/{code}/revisions/{number}/signatures/": Line(params=revision("signable")),
    "POST /specs/{code}/revisions/{number}/signatures/": Line(
        "cora", revision("signable"), {"choice_id": "C1", "reason": "Registers, not scratch."}, 201
    ),
}
SPECS |= {
    "GET /specs/{code}/waivers/": Line(params=newest_spec),
    "POST /specs/{code}/waivers/": Line("dora", newest_spec, WAIVED, 201, before=_with_finding),
    "POST /specs/{code}/waivers/{id}/answers/": Line(
        "remy", newest_waiver, {"answer": "agreed"}, 201, before=_with_waiver
    ),
}
FUSED = fixed(slug="fused")
KERNELS = {
    "GET /kernels/": Line(),
    "POST /kernels/": Line(
        "dora", body={"slug": "try", "title": "Try", "op": "plain-add", "basis": "exploratory"}, status=201
    ),
    "GET /kernels/{slug}/": Line(params=FUSED),
    "GET /kernels/{slug}/versions/": Line(params=FUSED),
    "POST /kernels/{slug}/versions/": Line(
        "dora", FUSED, {"files": {"kernel.py": "def run(inputs):\n    return {}\n"}}, 201
    ),
    "GET /kernels/{slug}/versions/{number}/": Line(params=fixed(slug="fused", number=1)),
    "GET /kernels/{slug}/versions/{number}/files/{path}/": Line(params=fixed(slug="fused", number=1, path="kernel.py")),
    "GET /anchors/": Line(),
    "POST /anchors/": Line("dora", body={"name": "vendor", "op": "plain-add", "method": "harness"}, status=201),
    "GET /anchors/{name}/": Line(params=fixed(name="naive")),
    "POST /anchors/{name}/stale/": Line("dora", fixed(name="naive"), WHY),
}
RUNS = {
    "GET /runs/": Line(),
    "POST /runs/": Line("dora", body=PERF_ORDER, status=201),
    "GET /runs/{id}/": Line(params=run("perf")),
    "GET /runs/{id}/log/": Line(params=run("perf")),
    "GET /runs/{id}/judgements/": Line(params=run("perf")),
    "GET /runs/{id}/result/": Line(params=run("perf")),
    "GET /runs/{id}/samples/": Line(params=run("perf")),
    "POST /runs/{id}/cancel/": Line("dora", run("queued")),
    "GET /workers/": Line(),
    "GET /queues/": Line(),
}
FRAME = {
    "GET /me/": Line(),
    "GET /tokens/": Line(),
    "POST /tokens/": Line(
        PUBLIC, body={"username": ANYONE, "password": f.PASSWORD}, status=201, before=_viewer_has_a_password
    ),
    "DELETE /tokens/{key}/": Line(
        params=lambda world: {"key": AuthToken.objects.filter(user__username=ANYONE).first().token_key},
        status=204,
        before=_viewer_token,
    ),
}
TABLE: dict[str, Line] = {**REFERENCES, **EVIDENCE, **OPS, **CALCULATORS, **SPECS, **KERNELS, **RUNS, **FRAME}
# Things of one person: to anybody else they do not exist.
PRIVATE = {
    "GET /specs/{code}/draft/": "spec.no_draft",
    "GET /specs/{code}/draft/sweep/": "spec.no_draft",
    "DELETE /specs/{code}/draft/": "spec.no_draft",
    "DELETE /saved-searches/{id}/": "evidence.no_saved_search",
    "POST /saved-searches/{id}/seen/": "evidence.no_saved_search",
}
# Policies that refuse strangers of the thing itself, whatever their roles.
OTHER_CODES = {
    "POST /proposals/{id}/withdraw/": "evidence.not_author",
    "POST /flags/{id}/clear/": "evidence.not_author",
}


@contextmanager
def rolled_back() -> Iterator[None]:
    """What happens inside leaves no trace, so that one world serves every line of the table."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def request_of(key: str, world: World) -> tuple[str, str, Any]:
    """Method, path and body of the table's request."""
    line = TABLE[key]
    method, _, template = key.partition(" ")
    path = template.format(**line.params(world)) + line.query
    return method, path, copy.deepcopy(line.body(world) if callable(line.body) else line.body)
