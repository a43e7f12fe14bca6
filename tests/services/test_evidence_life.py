"""The life of a row: conflicts and recusals, reverts, merges, claims, bulk acceptance, bounds, watching."""

import copy
from datetime import timedelta

import pytest
from django.utils import timezone

from evidence.feeds import watched_by
from evidence.lineage import drawing, lineage_of
from evidence.models import EvidenceRow, Flag, Proposal, ProposalClaim, ProposalDecision, RunReceipt, Supersession
from evidence.selectors import get_full_row, proposals_for, receipts_of
from evidence.services import (
    accept_proposal,
    attach_receipt,
    clear_flag,
    flag_row,
    propose_change,
    propose_row,
    reject_proposal,
    restore_row,
    revise_proposal,
    supersede_row,
)
from evidence.services.bulk import accept_many, preview_bulk
from evidence.services.claims import claim_proposal, release_claim
from evidence.services.decisions import recuse
from evidence.services.merging import propose_merge
from evidence.services.proposals import propose_revert
from evidence.services.watching import mark_seen, note_baseline, set_bounds, unwatch_row, watch_row
from kernels.services.dispatch import worker_hello
from kernels.services.runs import submit_run
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import UpstreamSnapshot
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db


@pytest.fixture
def ines(make_actor):
    return make_actor("ines", "designer")


def propose(actor, row, **changes):
    row.refresh_from_db()
    content = {**copy.deepcopy(row.head.content), **changes}
    return propose_change(actor, row, base_hash=row.head.content_hash, content=content, reason="measured again")


def code_of(caught) -> str:
    return caught.value.code


# --- conflict and recusal -----------------------------------------------------------------------------------------


def test_a_conflict_is_kept_with_the_decision(row, ines, cleo):
    accept_proposal(cleo, propose(ines, row, bound="a").pk, conflict="I own the machine.\r\n")
    accept_proposal(cleo, propose(ines, row, bound="b").pk)
    kept = ProposalDecision.objects.filter(user=cleo.user).order_by("id")
    assert [decision.conflict for decision in kept] == ["I own the machine.", ""]
    lines = Activity.objects.filter(verb="evidence.accept_proposal", user=cleo.user).order_by("id")
    assert [line.after["conflict"] for line in lines] == ["I own the machine.", ""]
    with pytest.raises(Refusal) as caught:
        accept_proposal(cleo, propose(ines, row, bound="c").pk, conflict="x" * 4001)
    assert (code_of(caught), caught.value.field) == ("evidence.reason_too_long", "conflict")


def test_who_stands_aside_decides_no_more_and_has_no_turn(dead, ines, cleo, carl, make_actor):
    proposal = propose(ines, dead, cause_class="abandoned")
    recuse(cleo, proposal.pk, reason="My student wrote it.")
    assert proposals_for(cleo) == []
    assert proposal in proposals_for(carl)
    with pytest.raises(Forbidden) as caught:
        accept_proposal(cleo, proposal.pk)
    assert code_of(caught) == "evidence.recused"
    for call in (lambda: reject_proposal(cleo, proposal.pk, reason="x"), lambda: recuse(cleo, proposal.pk, reason="x")):
        with pytest.raises(Conflict) as caught:
            call()
        assert code_of(caught) == "evidence.recused"
    assert accept_proposal(carl, proposal.pk).state == "open", "a recusal is no acceptance: two others are needed"
    assert accept_proposal(make_actor("cid", "curator"), proposal.pk).state == "accepted"


def test_a_recusal_holds_for_the_revised_proposal(row, ines, cleo):
    proposal = propose(ines, row, bound="a")
    recuse(cleo, proposal.pk, reason="mine, nearly")
    content = {**row.head.content, "bound": "b"}
    newer = revise_proposal(ines, proposal.pk, base_hash=row.head.content_hash, content=content, reason="b")
    assert proposals_for(cleo) == []
    with pytest.raises(Forbidden) as caught:
        accept_proposal(cleo, newer.pk)
    assert code_of(caught) == "evidence.recused"


def test_who_may_stand_aside(dead, ines, cleo, carl):
    own = propose(cleo, dead, mechanism="said better")
    with pytest.raises(Forbidden) as caught:
        recuse(cleo, own.pk, reason="x")
    assert code_of(caught) == "evidence.own_proposal"
    with pytest.raises(Forbidden) as caught:
        recuse(ines, own.pk, reason="x")
    assert code_of(caught) == "core.role"
    two = propose(ines, dead, cause_class="abandoned")
    accept_proposal(carl, two.pk)
    with pytest.raises(Conflict) as caught:
        recuse(carl, two.pk, reason="x")
    assert code_of(caught) == "evidence.already_accepted"


WIN = {
    "verdict": "WIN",
    "cause_class": "",
    "numbers": [
        {"text": "−6%", "readable": True, "value": "-6", "unit": "percent", "role": "verdict", "compared_with": "v1"}
    ],
    "sources": [{"kind": "note", "text": "bench"}],
}
DIED = {name: f.DEAD[name] for name in ("verdict", "numbers", "mechanism", "cause_class", "not_checked", "sources")}


@pytest.mark.parametrize(
    ("start", "change", "interested"),
    [
        (f.DEAD, WIN, True),
        (f.DEAD, {"cause_class": "abandoned"}, True),
        (f.DEAD, {"mechanism": "said better"}, False),
        (f.EVIDENCE, DIED, True),
        (f.EVIDENCE, WIN, False),
        (f.EVIDENCE, {"bound": "less"}, False),
    ],
)
def test_no_author_of_an_open_spec_accepts_a_change_from_or_to_dead(start, change, interested, ines):
    """The spec adopts the lever of the row; its author is a curator too."""
    cited, changed = f.evidence_row(), f.evidence_row(start, title="The one that changes")
    f.op()
    author = f.saved_revision(f.spec_content(cited)).author
    author.groups.add(*f.curator().user.groups.all())
    proposal = propose(ines, changed, **change)
    if not interested:
        assert accept_proposal(Actor.of_user(author), proposal.pk).state == "accepted"
        return
    with pytest.raises(Forbidden) as caught:
        accept_proposal(Actor.of_user(author), proposal.pk)
    assert code_of(caught) == "evidence.interested"


def test_an_acceptance_lapses_when_its_giver_begins_a_spec_on_the_lever(dead, row, ines, carl, make_actor):
    first = make_actor("cleo", "curator", "designer")
    proposal = propose(ines, dead, **WIN)
    accept_proposal(first, proposal.pk)
    f.op()
    f.saved_revision(f.spec_content(row), who=first)
    assert accept_proposal(carl, proposal.pk).state == "open", "only one acceptance stands"
    assert accept_proposal(make_actor("cid", "curator"), proposal.pk).state == "accepted"


# --- revert -------------------------------------------------------------------------------------------------------


def test_a_revert_brings_an_old_content_back_through_the_queue(row, ines, cleo):
    first = row.head
    accept_proposal(cleo, propose(ines, row, bound="other").pk)
    proposal = propose_revert(ines, row.code, 1, reason="it was right before")
    assert (proposal.kind, proposal.reverts_to, proposal.content) == ("revert", first, first.content)
    row.refresh_from_db()
    assert row.head.number == 2
    with pytest.raises(Forbidden) as caught:
        accept_proposal(Actor.of_user(ines.user), proposal.pk)
    assert code_of(caught) == "core.role"
    accept_proposal(cleo, proposal.pk)
    row.refresh_from_db()
    assert (row.head.number, row.head.content_hash, row.head.proposal.reverts_to) == (3, first.content_hash, first)
    with pytest.raises(Refusal) as caught:
        propose_revert(ines, row.code, 1, reason="again")
    assert code_of(caught) == "evidence.no_change"


def test_a_revert_out_of_win_needs_two_like_any_other(dead, ines, cleo, carl):
    proposal = propose(ines, dead, **WIN)
    accept_proposal(cleo, proposal.pk)
    accept_proposal(carl, proposal.pk)
    back = propose_revert(ines, dead.code, 1, reason="the clock was wrong")
    assert accept_proposal(cleo, back.pk).state == "open"
    assert accept_proposal(carl, back.pk).state == "accepted"
    dead.refresh_from_db()
    assert (dead.head.verdict, dead.head.number) == ("DEAD", 3)


def test_a_revised_revert_is_one_only_while_it_says_the_same(row, ines, cleo):
    accept_proposal(cleo, propose(ines, row, bound="other").pk)
    row.refresh_from_db()
    proposal = propose_revert(ines, row.code, 1, reason="back")
    content = {**proposal.content, "bound": "third"}
    newer = revise_proposal(ines, proposal.pk, base_hash=row.head.content_hash, content=content, reason="third")
    assert (newer.reverts_to, newer.kind) == (None, "wording")


# --- merge --------------------------------------------------------------------------------------------------------


@pytest.fixture
def twins(dead):
    other = f.evidence_row(
        f.DEAD, title="The same, later", approaches=["one pass", "shuffles"],
        sources=[{"kind": "note", "text": "bench of 2026-11-02", "document": "", "anchor": ""}],
    )  # fmt: skip
    return dead, other


def test_a_merge_keeps_everything_and_says_where_it_went(twins, ines, cleo):
    into, taken = twins
    attach_receipt(
        Actor.worker("w"), row_code=taken.code, run_id="R7", result_hash="b" * 64, judgement="NULL",
        grade="corroborates", sentence="flat",
    )  # fmt: skip
    proposal = propose_merge(ines, into=into.code, taken=taken.code, reason="measured twice")
    assert (proposal.kind, proposal.merges) == ("merge", taken.head)
    assert accept_proposal(cleo, proposal.pk).state == "accepted"
    into.refresh_from_db()
    taken.refresh_from_db()
    assert into.head.content["approaches"] == [*f.DEAD["approaches"], "one pass", "shuffles"]
    assert [source["text"] for source in into.head.content["sources"]][-1] == "bench of 2026-11-02"
    assert into.head.content["mechanism"] == f.DEAD["mechanism"]
    edge = Supersession.objects.get()
    assert (edge.kind, edge.newer, edge.older) == ("merges", into, taken)
    assert taken.archived_at
    assert taken.head.content["approaches"] == ["one pass", "shuffles"], "what was taken in stays readable"
    assert [receipt.run_id for receipt in receipts_of(into)] == ["R7"]
    assert RunReceipt.objects.get().row == taken
    assert [receipt.run_id for receipt in get_full_row(into.code).all_receipts] == ["R7"]
    with pytest.raises(Conflict) as caught:
        restore_row(cleo, taken.code)
    assert code_of(caught) == "evidence.row_merged"


def test_a_merge_into_a_row_that_blocks_less_needs_two_people(twins, row, ines, cleo, carl):
    _, taken = twins
    proposal = propose_merge(ines, into=row.code, taken=taken.code, reason="one lever")
    assert {number["role"] for number in proposal.content["numbers"]} == {"data_point"}
    assert accept_proposal(cleo, proposal.pk).state == "open"
    assert accept_proposal(carl, proposal.pk).state == "accepted"


def test_a_row_above_takes_in_what_it_covers_with_one_acceptance(dead, ines, cleo):
    below = f.evidence_row(f.DEAD, lever="vector-norm", title="Vectorised")
    below.head.lever.parent = dead.head.lever
    below.head.lever.save()
    proposal = propose_merge(ines, into=dead.code, taken=below.code, reason="a case of it")
    assert accept_proposal(cleo, proposal.pk).state == "accepted"


def test_what_stands_against_a_merge(twins, ines, cleo, carl):
    into, taken = twins
    with pytest.raises(Refusal) as caught:
        propose_merge(ines, into=into.code, taken=into.code, reason="x")
    assert code_of(caught) == "evidence.merge_self"
    open_one = propose(carl, taken, mechanism="said better")
    with pytest.raises(Conflict) as caught:
        propose_merge(ines, into=into.code, taken=taken.code, reason="x")
    assert code_of(caught) == "evidence.proposals_open"
    reject_proposal(cleo, open_one.pk, reason="first the merge")
    proposal = propose_merge(ines, into=into.code, taken=taken.code, reason="x")
    accept_proposal(cleo, propose(carl, taken, mechanism="said better").pk)
    with pytest.raises(Conflict) as caught:
        accept_proposal(cleo, proposal.pk)
    assert code_of(caught) == "evidence.merge_moved"
    newer = revise_proposal(
        ines, proposal.pk, base_hash=into.head.content_hash, content=proposal.content, reason="looked again"
    )
    taken.refresh_from_db()
    assert newer.merges == taken.head
    assert accept_proposal(cleo, newer.pk).state == "accepted"
    with pytest.raises(Conflict) as caught:
        propose_merge(ines, into=into.code, taken=taken.code, reason="again")
    assert code_of(caught) == "evidence.row_archived"


def test_two_rows_do_not_merge_each_other(twins, ines, cleo):
    one, other = twins
    supersede_row(cleo, newer=other.code, older=one.code, kind="narrows", reason="a case")
    proposal = propose_merge(ines, into=one.code, taken=other.code, reason="x")
    with pytest.raises(Conflict) as caught:
        accept_proposal(cleo, proposal.pk)
    assert code_of(caught) == "evidence.supersession_cycle"
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.head.number, other.archived_at) == (1, None), "nothing of it was written"


# --- claims and bulk ----------------------------------------------------------------------------------------------


def test_who_accepts_what_another_looks_at_confirms_it(row, ines, cleo, carl):
    proposal = propose(ines, row, bound="a")
    claim_proposal(cleo, proposal.pk)
    with pytest.raises(Conflict) as caught:
        accept_proposal(carl, proposal.pk)
    assert (code_of(caught), caught.value.field, caught.value.facts["by"]) == ("evidence.claimed", "over_claim", "cleo")
    assert not proposal.decisions.exists()
    assert accept_proposal(carl, proposal.pk, over_claim=True).state == "accepted"


def test_a_claim_holds_for_a_while(row, ines, cleo, carl):
    proposal = propose(ines, row, bound="a")
    claim_proposal(cleo, proposal.pk)
    with pytest.raises(Conflict) as caught:
        claim_proposal(carl, proposal.pk)
    assert (code_of(caught), caught.value.facts["by"]) == ("evidence.claimed", "cleo")
    with pytest.raises(Conflict) as caught:
        release_claim(carl, proposal.pk)
    assert code_of(caught) == "evidence.not_claimed"
    claim_proposal(cleo, proposal.pk)
    ProposalClaim.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert claim_proposal(carl, proposal.pk).user == carl.user
    accept_proposal(cleo, proposal.pk, over_claim=True)
    assert not ProposalClaim.objects.exists(), "what is decided is claimed no more"
    with pytest.raises(Conflict) as caught:
        claim_proposal(carl, proposal.pk)
    assert code_of(caught) == "evidence.proposal_closed"


def test_many_of_one_kind_each_with_its_answer(row, dead, ines, cleo, carl):
    others = [f.evidence_row(title=f"Row {n}") for n in range(3)]
    fine = propose(ines, others[0], mechanism="clearer")
    own = propose(cleo, others[1], mechanism="clearer")
    stale = propose(ines, others[2], mechanism="clearer")
    accept_proposal(carl, propose(carl_too(), others[2], mechanism="first").pk)
    claimed = propose(ines, row, mechanism="clearer")
    claim_proposal(carl, claimed.pk)
    ids = [fine.pk, own.pk, stale.pk, claimed.pk]
    wanted = [
        ("accepted", ""), ("refused", "evidence.own_proposal"), ("refused", "evidence.stale_base"),
        ("refused", "evidence.claimed"),
    ]  # fmt: skip
    before = Activity.objects.count()
    assert [(line.outcome, line.code) for line in preview_bulk(cleo, ids)] == wanted
    assert Activity.objects.count() == before
    assert [(line.outcome, line.code) for line in accept_many(cleo, ids, conflict="mine")] == wanted
    fine.refresh_from_db()
    assert (fine.state, fine.decisions.get().conflict) == ("accepted", "mine")
    assert Proposal.objects.filter(state="open").count() == 3


def carl_too() -> Actor:
    return f.actor("prue", "curator", "designer")


def test_some_of_many_need_a_second_acceptor(dead, ines, cleo, carl):
    proposal = propose(ines, dead, cause_class="abandoned")
    for look in (preview_bulk, accept_many):
        assert [line.outcome for line in look(cleo, [proposal.pk])] == ["needs_second_acceptor"]
    assert [line.outcome for line in accept_many(carl, [proposal.pk])] == ["accepted"]


def test_bulk_takes_one_kind_and_at_most_fifty(row, dead, ines, cleo):
    wording, change = propose(ines, row, mechanism="clearer"), propose(ines, dead, cause_class="flat")
    assert (wording.kind, change.kind) == ("wording", "change")
    for ids, code in (
        ([wording.pk, change.pk], "evidence.bulk_kinds"), ([], "evidence.bulk_size"),
        (range(1, 52), "evidence.bulk_size"), ([987654], "evidence.no_proposal"),
    ):  # fmt: skip
        with pytest.raises(Refusal) as caught:
            accept_many(cleo, list(ids))
        assert code_of(caught) == code
    with pytest.raises(Forbidden):
        accept_many(ines, [wording.pk])


def test_kinds(row, dead, ines, cleo):
    new = propose_row(ines, content={**row.head.content, "title": "Another"}, reason="seen")
    assert new.kind == "new"
    newer = revise_proposal(ines, new.pk, content={**row.head.content, "title": "Third"}, reason="seen")
    assert newer.kind == "new"


# --- bounds -------------------------------------------------------------------------------------------------------

CATALOGUE = "# Catalogue — up/main @ {commit} (studied 2026-01-0{day})\n\n| Kernel | Family | Task type | Arity |\n|---|---|---|---|\n| gemm.cuh | A | TASK_GEMM (7) | (2,1) |\n\n## Family A — ring\n\nWhen to copy: GEMMs.\n"  # noqa: E501


def catalogue(commit: str, day: int) -> UpstreamSnapshot:
    text = CATALOGUE.format(commit=commit, day=day)
    import_documents(f.curator(), files=Files(texts=[("catalogue.md", text)]))
    return UpstreamSnapshot.objects.latest("pk")


def reasons(row: EvidenceRow) -> list[str]:
    return list(Flag.objects.filter(row=row).order_by("id").values_list("reason", flat=True))


def test_a_newer_upstream_snapshot_flags_the_row_once(row, dead, ines, cleo):
    old = catalogue("0123abcd", 2)
    set_bounds(ines, row.code, snapshot=old.pk)
    assert reasons(row) == []
    catalogue("4567abcd", 3)
    assert reasons(row) == ["Upstream moved on: up/main is at 4567abcd now; this was measured on 0123abcd."]
    flag = Flag.objects.get(row=row)
    assert (flag.raised_by, flag.confirmed_at) == (None, None)
    clear_flag(cleo, flag.pk, reason="nothing that matters here")
    text = CATALOGUE.format(commit="4567abcd", day=3) + "\nA new sentence.\n"
    import_documents(f.curator(), files=Files(texts=[("catalogue.md", text)]))
    assert len(reasons(row)) == 1, "the same snapshot again says nothing new"
    assert reasons(dead) == []
    set_bounds(ines, dead.code, snapshot=old.pk)
    assert len(reasons(dead)) == 1, "an old bound is passed already when it is recorded"


def test_a_worker_with_another_driver_flags_rows_of_its_architecture(ines):
    here, elsewhere, any_arch = (
        f.evidence_row(title=title, scope={"arch": arch})
        for title, arch in (("a", ["sm_100"]), ("b", ["sm_90"]), ("c", []))
    )
    for row in (here, elsewhere, any_arch):
        set_bounds(ines, row.code, driver="570.1")

    def hello(driver: str, queue: str = "gpu.sm_100") -> None:
        info = f.WORKER.model_copy(update={"name": "w7", "queue": queue, "driver": driver})
        worker_hello(Actor.worker("w7"), info=info)

    hello("570.1")
    hello("", "cpu")
    assert not Flag.objects.exists()
    hello("580.2")
    hello("580.2")
    assert reasons(here) == ["w7 (sm_100) reports driver 580.2; this was measured on 570.1."]
    assert (reasons(elsewhere), len(reasons(any_arch))) == ([], 1)
    hello("590.3")
    assert len(reasons(here)) == 2


def test_a_run_against_another_baseline_flags_its_row(row, ines, system):
    set_bounds(ines, row.code, baseline="f624d75a")
    for same in ("f624d75a", "F624D75A0011", "f624d75"):
        note_baseline(system, code=row.code, baseline=same, run_id="R1")
    assert reasons(row) == []
    for _ in range(2):
        note_baseline(system, code=row.code, baseline="deadbee1", run_id="R1")
    assert reasons(row) == ["Run R1 was made against baseline deadbee1; this was measured against f624d75a."]


def test_a_judged_run_tells_its_baseline(ines):
    row = f.evidence_row()
    set_bounds(ines, row.code, baseline="f624d75a")
    op = f.op()
    scope = {"envelope": ["cpu"], "arch": ["cpu"], "baseline": "deadbee1"}
    revision = f.approved_revision(row, scope=scope)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis="spec", spec=revision.spec, source=b"x = 1\n")
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    assert [reason.split(" was made")[1] for reason in reasons(row)] == [
        " against baseline deadbee1; this was measured against f624d75a."
    ]


def test_bounds_that_are_no_bounds(row, ines):
    for values, field in (({"snapshot": 987}, "snapshot"), ({"driver": "x" * 81}, "driver")):
        with pytest.raises(Refusal) as caught:
            set_bounds(ines, row.code, **values)
        assert (code_of(caught), caught.value.field) == ("evidence.bound", field)
    set_bounds(ines, row.code, driver="570.1")
    set_bounds(ines, row.code)
    row.refresh_from_db()
    assert row.bounds.driver == ""


# --- watching -----------------------------------------------------------------------------------------------------


def test_a_watcher_sees_what_others_did_since(row, dead, ines, cleo, make_actor):
    vera = make_actor("vera", "viewer")
    assert watched_by(vera.user) == []
    watch_row(vera, row.code)
    watch_row(vera, dead.code)
    assert [each.events for each in watched_by(vera.user)] == [(), ()]
    proposal = propose(ines, row, bound="less")
    accept_proposal(cleo, proposal.pk)
    flag_row(vera, row.code, reason="own doings are no news")
    first, second = watched_by(vera.user)
    assert (first.row, second.row, second.events) == (row, dead, ())
    assert [event["who"] for event in first.events] == ["cleo", "ines"]
    mark_seen(vera, row.code)
    assert [each.events for each in watched_by(vera.user)] == [(), ()]
    unwatch_row(vera, row.code)
    assert [each.row for each in watched_by(vera.user)] == [dead]


# --- lineage ------------------------------------------------------------------------------------------------------


def test_the_lineage_is_drawn_from_old_to_new_and_stays_bounded(row, cleo):
    others = [f.evidence_row(title=f"Row {n}") for n in range(30)]
    supersede_row(cleo, newer=others[0].code, older=row.code, kind="narrows", reason="a case")
    supersede_row(cleo, newer=others[1].code, older=others[0].code, kind="replaces", reason="measured again")
    found = lineage_of(row)
    assert ([each.code for each in found.rows], found.more) == ([row.code, others[0].code, others[1].code], False)
    boxes = {box["row"].code: box for box in drawing(found, row)["boxes"]}
    assert boxes[row.code]["x"] < boxes[others[0].code]["x"] < boxes[others[1].code]["x"]
    assert boxes[row.code]["is_here"]
    assert len(drawing(found, row)["edges"]) == 2
    for other in others[2:]:
        supersede_row(cleo, newer=other.code, older=row.code, kind="splits", reason="a case")
    found = lineage_of(row)
    assert (len(found.rows), found.more) == (24, True)
    assert lineage_of(f.evidence_row(title="Alone")).edges == ()
