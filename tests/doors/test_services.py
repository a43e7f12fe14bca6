"""Every service refuses whoever may not call it, superusers too; and none exists that this table does not know."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group

import v2kb.urls  # noqa: F401  every door is imported, so every service is registered
from evidence.search.board import Design
from evidence.services.flags import flag_row
from evidence.services.import_jobs import start_import
from evidence.services.import_work import fail_import
from evidence.services.proposals import propose_change
from evidence.services.searches import save_search
from evidence.services.terms import add_term
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden
from v2kb.core.models import User
from v2kb.core.service import SERVICES
from v2kb.wire.messages import LogChunk, Ping, ResultRequest

pytestmark = pytest.mark.django_db

HERE = Path(__file__).parent
ROLE, USER, WORKER = "a role", "any signed-in user", "a worker with a run key"
PAGES = "test_pages.py::test_who_writes_and_how"
APPROVALS = "test_approvals.py::test_services_and_pages_do_not_approve_a_failing_spec"
ADMIN = "test_admin.py::test_a_superuser_without_the_role_manages_nobody"
ROLES = "test_people.py::test_who_may_not_change_roles_in_the_admin"
DISPATCH = "../services/test_kernels_dispatch.py"


@dataclass(frozen=True)
class Door:
    """Who may call a service, a call with good arguments, and which tests go through its doors."""

    needs: str
    call: Callable[[SimpleNamespace], tuple[tuple[Any, ...], dict[str, Any]]]
    tests: tuple[str, ...] = ()


def kw(**named: Callable[[SimpleNamespace], Any]) -> Callable:
    """A call with keyword arguments, each made of the world."""
    return lambda w: ((), {name: make(w) for name, make in named.items()})


def args(*made: Callable[[SimpleNamespace], Any], **named: Callable[[SimpleNamespace], Any]) -> Callable:
    """A call with positional and keyword arguments, each made of the world."""
    return lambda w: (tuple(make(w) for make in made), {name: make(w) for name, make in named.items()})


def const(value: Any) -> Callable[[SimpleNamespace], Any]:
    return lambda _: value


def result(w: SimpleNamespace) -> ResultRequest:
    return ResultRequest.model_validate({"fence": 1, "result": f.result(w.run, [], [1, 1, 1])})


LEVER = const("fused-row-norm")
REASON = const("because")
DOORS: dict[str, Door] = {
    "api.issue_token": Door(USER, kw(days=const(3))),
    "api.revoke_token": Door(USER, kw(key=const("abc"))),
    "core.change_roles": Door(ROLE, args(const("other"), const(["viewer"]), REASON), (ROLES,)),
    "core.create_user": Door(ROLE, kw(username=const("x"), password=const("y" * 12), roles=const([]))),
    "core.note_password_issued": Door(ROLE, kw(user=lambda w: w.other), (ADMIN,)),
    "core.note_user_edit": Door(ROLE, kw(user=lambda w: w.other, before=const(None)), (ADMIN,)),
    "core.password_changed": Door(USER, kw()),
    "evidence.accept_proposal": Door(ROLE, args(lambda w: w.proposal.pk)),
    "evidence.add_alias": Door(ROLE, args(LEVER, const("row norm fused"))),
    "evidence.add_entry": Door(ROLE, kw(entry=const(f.EXPERIMENT | {"env": "another"}))),
    "evidence.apply_import": Door(ROLE, args(lambda w: w.job.public_id)),
    "evidence.archive_lever": Door(ROLE, args(LEVER, reason=REASON)),
    "evidence.add_term": Door(ROLE, kw(kind=const("cause"), word=const("register pressure"))),
    "evidence.add_term_alias": Door(ROLE, args(lambda w: w.term.pk, const("Rubin"))),
    "evidence.archive_row": Door(ROLE, args(lambda w: w.row.code, reason=REASON)),
    "evidence.archive_term": Door(ROLE, args(lambda w: w.term.pk, reason=REASON)),
    "evidence.attach_receipt": Door(
        ROLE,
        kw(
            row_code=lambda w: w.row.code,
            run_id=lambda w: w.run.public_id,
            result_hash=const("0" * 64),
            judgement=const("WIN"),
            grade=const("diagnostic"),
            sentence=const("faster"),
        ),
    ),
    "evidence.claim_proposal": Door(ROLE, args(lambda w: w.proposal.pk)),
    "evidence.cancel_import": Door(ROLE, args(lambda w: w.job.public_id)),
    "evidence.clear_flag": Door(ROLE, args(lambda w: w.flag.pk, reason=REASON)),
    "evidence.confirm_flag": Door(ROLE, args(lambda w: w.flag.pk)),
    "evidence.correct_entry": Door(ROLE, args(lambda w: w.entry.pk, entry=const(f.EXPERIMENT | {"verdict": "WIN"}))),
    "evidence.create_lever": Door(ROLE, kw(name=const("other lever"))),
    "evidence.delete_search": Door(USER, args(lambda w: w.saved.pk)),
    "evidence.edit_lever": Door(ROLE, args(LEVER, name=const("other name"))),
    "evidence.edit_term": Door(ROLE, args(lambda w: w.term.pk, note=const("a note"))),
    "evidence.merge_levers": Door(ROLE, args(LEVER, into=const("split-k"), reason=REASON)),
    "evidence.unmerge_levers": Door(ROLE, args(LEVER, reason=REASON)),
    "evidence.mark_search_seen": Door(USER, args(lambda w: w.saved.pk)),
    "evidence.save_search": Door(USER, kw(name=const("mine"), query=const("q=norm"))),
    "evidence.fail_import": Door(ROLE, args(lambda w: w.job.pk, message=const("no"))),
    "evidence.flag_row": Door(USER, args(lambda w: w.row.code, reason=REASON)),
    "evidence.import_batch": Door(ROLE, args(lambda w: w.job.pk, phase=const("reading"), work=const(lambda job: 1))),
    "evidence.import_entries": Door(ROLE, kw(job=lambda w: w.job, entries=const([]))),
    "evidence.map_import": Door(ROLE, args(lambda w: w.job.public_id, mapping=const({}))),
    "evidence.retry_import": Door(ROLE, args(lambda w: w.failed_job.public_id)),
    "evidence.start_import": Door(ROLE, kw(name=const("log.csv"), chunks=const([b"a,b\n"]))),
    "evidence.import_baseline": Door(ROLE, kw(rows=const([]), source=const("s"))),
    "evidence.keep_vectors": Door(ROLE, args(const("a model"), const([]))),
    "evidence.store_vectors": Door(ROLE, args(const("a model"), const([]), const([]))),
    "evidence.mark_seen": Door(USER, args(lambda w: w.row.code)),
    "evidence.note_baseline": Door(ROLE, kw(code=lambda w: w.row.code, baseline=const("1234567"), run_id=const("R1"))),
    "evidence.note_driver": Door(ROLE, kw(driver=const("570.1"), arch=const("sm_100"), worker=const("w1"))),
    "evidence.note_snapshot": Door(ROLE, args(const(None))),
    "evidence.propose_change": Door(
        ROLE,
        args(
            lambda w: w.row.code,
            base_hash=lambda w: w.row.head.content_hash,
            content=lambda w: w.row.head.content,
            reason=REASON,
        ),
    ),
    "evidence.propose_from_run": Door(
        ROLE,
        kw(
            author=lambda w: w.other,
            row_code=lambda w: w.row.code,
            run_id=const("R1"),
            result_hash=const("0" * 64),
            judgement=const("WIN"),
            grade=const("decides"),
            sentence=const("faster"),
            content_change=const({"verdict": "WIN"}),
        ),
    ),
    "evidence.propose_merge": Door(ROLE, kw(into=lambda w: w.row.code, taken=lambda w: w.row.code, reason=REASON)),
    "evidence.propose_revert": Door(ROLE, args(lambda w: w.row.code, const(1), reason=REASON)),
    "evidence.propose_row": Door(ROLE, kw(content=const(f.EVIDENCE), reason=REASON)),
    "evidence.recuse": Door(ROLE, args(lambda w: w.proposal.pk, reason=REASON)),
    "evidence.reject_proposal": Door(ROLE, args(lambda w: w.proposal.pk, reason=REASON)),
    "evidence.release_claim": Door(ROLE, args(lambda w: w.proposal.pk)),
    "evidence.remove_alias": Door(ROLE, args(LEVER, const("x"))),
    "evidence.remove_term_alias": Door(ROLE, args(lambda w: w.term.pk, const("vera"))),
    "evidence.restore_lever": Door(ROLE, args(LEVER)),
    "evidence.restore_row": Door(ROLE, args(lambda w: w.row.code)),
    "evidence.restore_term": Door(ROLE, args(lambda w: w.term.pk)),
    "evidence.revise_proposal": Door(
        ROLE, args(lambda w: w.proposal.pk, content=lambda w: w.row.head.content, reason=REASON)
    ),
    "evidence.set_bounds": Door(ROLE, args(lambda w: w.row.code, driver=const("570.1"))),
    "evidence.supersede_row": Door(
        ROLE, kw(newer=lambda w: w.row.code, older=lambda w: w.row.code, kind=const("replaces"), reason=REASON)
    ),
    "evidence.unwatch_row": Door(USER, args(lambda w: w.row.code)),
    "evidence.watch_row": Door(USER, args(lambda w: w.row.code)),
    "evidence.withdraw_proposal": Door(ROLE, args(lambda w: w.proposal.pk)),
    "kernels.add_version": Door(
        ROLE,
        kw(kernel=lambda w: w.kernel, files=const({"kernel.py": b"x = 1\n"}), entry=const("kernel.py:run")),
        (PAGES,),
    ),
    "kernels.append_log": Door(
        WORKER,
        kw(attempt=lambda w: w.attempt, chunk=const(LogChunk(fence=1, seq=0, text="x"))),
        (f"{DISPATCH}::test_the_log_is_kept_in_order_once_and_up_to_its_cap",),
    ),
    "kernels.cancel_run": Door(ROLE, kw(run=lambda w: w.queued), (PAGES,)),
    "kernels.claim_run": Door(
        WORKER,
        kw(attempt=lambda w: w.attempt, info=const(f.WORKER)),
        (f"{DISPATCH}::test_a_run_is_claimed_once",),
    ),
    "kernels.close_quorum": Door(ROLE, kw(revision=lambda w: w.revision), (PAGES, APPROVALS)),
    "kernels.comment": Door(
        USER, kw(revision=lambda w: w.revision, place=const("C1"), text=const("a question")), (PAGES,)
    ),
    "kernels.create_kernel": Door(
        ROLE, kw(slug=const("k"), title=const("K"), op=lambda w: w.op, basis=const("exploratory")), (PAGES,)
    ),
    "kernels.create_op": Door(ROLE, kw(slug=const("other"), content=const(f.CONTRACT)), (PAGES,)),
    "kernels.begin_spec": Door(
        ROLE,
        kw(title=const("T"), ops=lambda w: [w.op], design=const(Design("zebra")), decisions=const({})),
        (PAGES,),
    ),
    "kernels.record_search": Door(
        ROLE, kw(spec=lambda w: w.spec, design=const(Design("zebra")), decisions=const({})), (PAGES,)
    ),
    "kernels.bring_decisions": Door(
        ROLE, kw(receipt=lambda w: w.spec.receipts.first() or w.revision.spec.receipts.first()), (PAGES,)
    ),
    "kernels.create_spec": Door(ROLE, kw(title=const("T"), ops=lambda w: [w.op]), (PAGES,)),
    "kernels.discard_draft": Door(ROLE, kw(spec=lambda w: w.spec), (PAGES,)),
    "kernels.evaluate_gate": Door(USER, kw(revision=lambda w: w.revision), (PAGES,)),
    "kernels.mark_anchor_stale": Door(ROLE, kw(anchor=lambda w: w.anchor, reason=REASON), (PAGES,)),
    "kernels.name_anchor": Door(ROLE, kw(name=const("a"), op=lambda w: w.op, method=const("m")), (PAGES,)),
    "kernels.open_draft": Door(ROLE, kw(spec=lambda w: w.spec), (PAGES,)),
    "kernels.ping_run": Door(
        WORKER,
        kw(attempt=lambda w: w.attempt, ping=const(Ping(fence=1, done=0, total=1))),
        (f"{DISPATCH}::test_cancelling_a_running_run_reaches_its_worker_with_the_next_ping",),
    ),
    "kernels.post_revision": Door(ROLE, kw(spec=lambda w: w.spec, base_hash=lambda w: w.revision.content_hash)),
    "kernels.post_spec": Door(ROLE, kw(title=const("T"), ops=lambda w: [w.op])),
    "kernels.reap_run": Door(
        ROLE,
        kw(run_id=lambda w: w.run.pk),
        (f"{DISPATCH}::test_a_silent_worker_costs_one_more_attempt_then_the_run_is_closed_as_infra",),
    ),
    "kernels.rebase_draft": Door(ROLE, kw(spec=lambda w: w.spec), (PAGES,)),
    "kernels.resend_run": Door(
        ROLE,
        kw(run_id=lambda w: w.queued.pk),
        (f"{DISPATCH}::test_a_lost_message_is_sent_again_and_the_old_key_opens_nothing",),
    ),
    "kernels.revise_op": Door(
        ROLE, kw(op=lambda w: w.op, base_hash=lambda w: w.op.head.content_hash, content=const(f.CONTRACT)), (PAGES,)
    ),
    "kernels.save_draft": Door(ROLE, kw(spec=lambda w: w.spec, content=const({}), version=const(1)), (PAGES,)),
    "kernels.save_revision": Door(ROLE, kw(spec=lambda w: w.spec, version=const(1)), (PAGES,)),
    "kernels.sign_mechanism": Door(
        ROLE, kw(revision=lambda w: w.revision, choice_id=const("C1"), reason=REASON), (PAGES, APPROVALS)
    ),
    "kernels.ask_waiver": Door(
        ROLE, kw(spec=lambda w: w.spec, rule=const("R40"), path=const("granularity[0].listed"), reason=REASON), (PAGES,)
    ),
    "kernels.answer_waiver": Door(ROLE, kw(waiver=lambda w: w.waiver, answer=const("agreed")), (PAGES,)),
    "kernels.stop_op": Door(ROLE, kw(op=lambda w: w.op, reason=REASON, codes=lambda w: [w.row.code]), (PAGES,)),
    "kernels.store_result": Door(
        WORKER,
        kw(attempt=lambda w: w.attempt, message=result),
        (f"{DISPATCH}::test_the_same_result_twice_is_harmless_and_another_one_is_refused",),
    ),
    "kernels.submit_run": Door(ROLE, kw(kind=const("validate"), version=lambda w: w.version), (PAGES,)),
    "kernels.submit_spec": Door(ROLE, kw(revision=lambda w: w.revision), (PAGES,)),
    "kernels.take_position": Door(
        ROLE,
        kw(revision=lambda w: w.revision, aspect=const("correctness"), position=const("approve")),
        (PAGES, APPROVALS),
    ),
    "kernels.worker_hello": Door(
        WORKER, kw(info=const(f.WORKER)), (f"{DISPATCH}::test_hello_wants_the_workers_token",)
    ),
    "references.archive_document": Door(ROLE, kw(slug=const("notes"))),
    "references.discard_upload": Door(ROLE, kw(pk=const(1))),
    "references.keep_upload": Door(ROLE, kw(payload=const({}))),
    "references.restore_document": Door(ROLE, kw(slug=const("notes"))),
    "references.save_documents": Door(ROLE, kw(documents=const([]))),
    "references.set_guidelines": Door(ROLE, args(lambda w: w.document, const("measurement"), const([]))),
}


@pytest.fixture
def full(world, document):
    """The world, with what the calls of the table name."""
    world.document = document
    world.other = User.objects.create_user("other", password=f.PASSWORD)
    world.attempt = world.queued.attempt_rows.get()
    world.job = start_import(f.curator(), name="log.csv", chunks=[b"a,b\n"])
    world.failed_job = start_import(f.curator(), name="log.csv", chunks=[b"a,b\n"])
    fail_import(f.curator(), world.failed_job.pk, message="no")
    world.flag = flag_row(f.designer(), world.row.code, reason="look again")
    world.term = add_term(f.curator(), kind="arch", word="sm_110", aliases=["vera"])
    world.saved = save_search(f.designer(), name="Norms", query="q=norm")
    world.row.refresh_from_db()
    changed = {**world.row.head.content, "bound": "another bound", "mechanism": "one pass"}
    world.proposal = propose_change(
        f.actor("prue"), world.row.code, base_hash=world.row.head.content_hash, content=changed, reason="better"
    )
    return world


def everything() -> dict[str, list]:
    models = [
        m for label in ("core", "evidence", "references", "kernels") for m in apps.get_app_config(label).get_models()
    ]
    return {model._meta.label: list(model.objects.order_by("pk").values()) for model in models}


def test_every_service_is_in_the_table_and_every_test_it_names_exists():
    unknown = sorted(set(SERVICES) - set(DOORS))
    assert unknown == [], "add each new service to DOORS: who may call it, a good call, and the tests of its doors"
    assert sorted(set(DOORS) - set(SERVICES)) == []
    for name, door in DOORS.items():
        for test in door.tests:
            file, _, function = test.partition("::")
            tree = ast.parse((HERE / file).read_text())
            defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            assert function in defined, f"{name} names {test}, which does not exist"


@pytest.mark.parametrize("name", sorted(DOORS))
def test_who_may_not_call_a_service(full, roleless, nobody, name):
    """Without the right: a superuser without roles, an anonymous visitor, an inactive user, a worker, or a person."""
    door = DOORS[name]
    positional, named = door.call(full)
    everyone = User.objects.create_user("allof", password=f.PASSWORD, is_superuser=True)
    everyone.groups.set(Group.objects.all())
    gone = User.objects.create_user("gone", password=f.PASSWORD, is_active=False)
    gone.groups.set(Group.objects.all())
    # A worker's key opens the services on its run; those on evidence serve the judgement of that run.
    for_workers = door.needs == WORKER or name in ("evidence.propose_from_run", "evidence.attach_receipt")
    refused = [nobody, Actor.of_user(gone)]
    refused += [] if for_workers else [Actor.worker("w1")]
    refused += [roleless] if door.needs in (ROLE, WORKER) else []
    refused += [Actor.of_user(everyone), f.designer()] if door.needs == WORKER else []
    before = everything()
    for actor in refused:
        with pytest.raises(Forbidden) as caught:
            SERVICES[name](actor, *positional, **named)
        assert caught.value.code.partition(".")[0] in ("core", "run", "spec", "evidence", "references", "api")
        assert caught.value.status == 403
    assert everything() == before
