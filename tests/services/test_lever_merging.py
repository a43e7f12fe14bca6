"""Merging levers: every citation keeps working, no DEAD row is disarmed, and all reading follows the merge."""

import itertools
import random

import pytest
from django.db import DatabaseError, transaction

from evidence.history import EntryFilter, list_entries
from evidence.models import EvidenceRow, Lever
from evidence.search import Query, search_rows
from evidence.search.board import Design, board_of
from evidence.selectors import list_levers, pin_reasons, resolve_lever, rows_of_lever
from evidence.services import (
    accept_proposal,
    add_alias,
    add_entry,
    archive_lever,
    create_lever,
    edit_lever,
    merge_levers,
    propose_change,
    propose_row,
    remove_alias,
    restore_lever,
    supersede_row,
    unmerge_levers,
)
from kernels.models import GateResult
from kernels.selectors.gate import evidence_snapshot, gate_preview
from kernels.selectors.interests import authors_on_lever, specs_resting_on
from kernels.selectors.searches import check_receipt, newest_change
from kernels.selectors.specs import spec_statuses
from kernels.selectors.verify import faults
from kernels.services.searches import record_search
from tests import factories as f
from v2kb.core.activity import activity_of
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.core.guards.errors import refusal_from_database
from v2kb.rules.antiloop_facts import Snapshot

pytestmark = pytest.mark.django_db


def against(name: str) -> set[str]:
    """Codes of the DEAD rows that count against a choice that adopts the lever called so."""
    snapshot = Snapshot(evidence_snapshot({}))
    return {match.row.code for match in snapshot.dead_matches(snapshot.levers_named(name), {}) if match.counts}


def merge(taken: str, into: str) -> Lever:
    return merge_levers(f.curator(), taken, into=into, reason="One technique under two names.")


@pytest.fixture
def two():
    """A lever with a DEAD row below another with one, and a third with a WIN-to-be row and a child."""
    create_lever(f.curator(), name="Row passes", slug="row-passes")
    create_lever(f.curator(), name="Fused row norm", slug="fused-row-norm", parent="row-passes", aliases=["row fusion"])
    create_lever(f.curator(), name="One-pass norm", slug="one-pass", aliases=["single pass"])
    create_lever(f.curator(), name="One-pass norm, vectorised", slug="one-pass-vector", parent="one-pass")
    create_lever(f.curator(), name="Fused norm of two rows", slug="two-rows", parent="fused-row-norm")
    above = f.evidence_row(f.DEAD, lever="row-passes", title="Passes over a row")
    dead = f.evidence_row(f.DEAD)
    open_row = f.evidence_row(lever="one-pass", title="One pass")
    return above, dead, open_row


def test_names_and_levers_below_move_and_the_merged_one_is_archived(two):
    into = merge("fused-row-norm", "one-pass")
    taken = Lever.objects.get(slug="fused-row-norm")
    assert (taken.merged_into, taken.archived_at is not None, taken.parent.slug) == (into, True, "row-passes")
    assert {child.slug for child in into.children.all()} == {"one-pass-vector", "two-rows"}
    for name in ("Fused row norm", "fused-row-norm", "row fusion", "Row-Fusion", "single pass"):
        assert resolve_lever(name) == into
    assert "fused-row-norm" not in {lever.slug for lever in list_levers()}
    for lever in (taken, into):
        entry = activity_of(lever)[0]
        assert (entry.verb, entry.summary) == (
            "evidence.merge_levers",
            "lever fused-row-norm merged into one-pass: One technique under two names.",
        )


def test_what_blocked_either_blocks_both_and_all_below(two):
    above, dead, _ = two
    other = f.evidence_row(f.DEAD, lever="one-pass", title="One pass, dead")
    everything = {above.code, dead.code, other.code}
    assert against("one-pass") == against("one-pass-vector") == {other.code}
    assert against("two-rows") == {above.code, dead.code}
    merge("fused-row-norm", "one-pass")
    for name in ("fused-row-norm", "row fusion", "one-pass", "single pass", "one-pass-vector", "two-rows"):
        assert against(name) == everything
    assert against("row-passes") == {above.code}


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_merges_disarms_anything(seed):
    dice = random.Random(seed)
    slugs = [f"way-{letter}" for letter in "abcdef"]
    for place, slug in enumerate(slugs):
        parent = dice.choice(["", *slugs[:place]])
        create_lever(f.curator(), name=f"Way {slug[-1]}", slug=slug, parent=parent, aliases=[f"path {slug[-1]}"])
        f.evidence_row(f.DEAD, lever=slug, title=f"Dead {slug}")
    names = [*slugs, *(f"path {slug[-1]}" for slug in slugs)]
    done = 0
    for taken, into in dice.sample(list(itertools.permutations(slugs, 2)), 12):
        before = {name: against(name) for name in names}
        try:
            with transaction.atomic():
                merge(taken, into)
        except Refusal:
            continue
        after = {name: against(name) for name in names}
        assert all(before[name] <= after[name] for name in names)
        assert after[taken] == after[into]
        done += 1
    assert done > 1


def test_pins_hold_and_a_signed_spec_keeps_its_hash(two):
    f.op()
    _, _, row = two
    revision = f.approved_revision(row)
    state = spec_statuses([revision.spec])[revision.spec_id].state
    merge("one-pass", "two-rows")
    row.refresh_from_db()
    assert row.head.content["lever"] == "one-pass"
    citation = revision.citations.get()
    assert citation.evidence == row.head
    assert pin_reasons(citation.evidence, revision.created_at) == []
    assert spec_statuses([revision.spec])[revision.spec_id].state == state
    again = f.saved_revision(revision.content | {"title": "Another title"}, spec=revision.spec)
    assert again.content["choices"][0]["lever"] == "one-pass"
    choices = [document["choices"][0] for document in (revision.content, again.content)]
    assert choices[0] == choices[1]


def test_the_gate_asks_for_the_dead_row_of_the_other_lever_and_stored_answers_still_verify(two):
    f.op()
    above, dead, row = two
    revision = f.approved_revision(row)
    assert gate_preview(revision.spec, revision.content).passed
    merge("one-pass", "fused-row-norm")
    lines = gate_preview(revision.spec, revision.content).blocking_lines
    assert {"AL3", "AL4"} <= {line.rule for line in lines}
    said = next(line for line in lines if line.rule == "AL3")
    assert dead.code in said.message
    assert above.code in said.message
    assert said.inputs["levers"] == {"one-pass": "lever", "fused-row-norm": "merged", "row-passes": "ancestor"}
    assert GateResult.objects.filter(revision=revision, passed=True).exists()
    assert list(faults()) == []


def test_interests_follow_the_merge(two):
    f.op()
    _, _, row = two
    revision = f.approved_revision(row)
    author = revision.author_id
    assert author not in authors_on_lever("fused-row-norm")
    merge("one-pass", "fused-row-norm")
    for slug in ("one-pass", "fused-row-norm", "row-passes"):
        assert author in authors_on_lever(slug)
        assert [one["how"] for one in specs_resting_on(slug)] == [f"adopts it, cites {row.code}"], slug
    assert author not in authors_on_lever("two-rows")


def test_search_board_and_pages_follow_the_merge(two, client):
    above, dead, row = two
    receipt_design = Design(levers=("one-pass",))
    assert {one.row.code for one in board_of(receipt_design).rows} == {row.code}
    merge("fused-row-norm", "one-pass")
    for slug in ("one-pass", "fused-row-norm"):
        board = {one.row.code: one for one in board_of(Design(levers=(slug,))).rows}
        assert set(board) == {above.code, dead.code, row.code}
        assert board[dead.code].standing.blocks
        assert board[above.code].standing.blocks
    for text in ('lever:"row fusion"', "lever:fused-row-norm", "lever:one-pass"):
        found = {EvidenceRow.objects.get(pk=pk).code for pk in search_rows(Query(text)).ids.tolist()}
        assert found == {dead.code, row.code}, text
    chosen = search_rows(Query("", {"lever": ("fused-row-norm",)}))
    assert len(chosen.ids) == 2
    assert len(search_rows(Query("single pass")).ids) == 2
    assert [one.code for one in rows_of_lever(Lever.objects.get(slug="one-pass"))] == [dead.code, row.code]
    client.force_login(f.designer().user)
    page = client.get("/evidence/levers/fused-row-norm/").content.decode()
    assert "merged into" in page
    assert "/evidence/levers/one-pass/" in page
    assert "fused-row-norm" in client.get("/evidence/levers/one-pass/").content.decode()


def test_a_stored_search_tells_the_rows_that_the_merge_brought(two):
    f.op()
    above, dead, row = two
    revision = f.saved_revision(f.spec_content(row))
    receipt = record_search(f.designer(), spec=revision.spec, design=Design(levers=("one-pass",)), decisions={})
    merge("fused-row-norm", "one-pass")
    check = check_receipt(receipt, newest_change())
    assert {blocker.code for blocker in check.new} == {above.code, dead.code}


def test_experiments_of_a_merged_lever_are_found_under_the_other(two):
    entry = {"on": "2026-10-01", "env": "h200", "verdict": "NULL", "why": "no change", "lever": "fused-row-norm"}
    made = add_entry(f.curator(), entry=entry)
    merge("fused-row-norm", "one-pass")
    for name in ("one-pass", "row fusion"):
        assert list(list_entries(EntryFilter(lever=name))) == [made]


def test_a_row_keeps_the_merged_name_and_a_new_one_gets_the_other(two):
    _, dead, _ = two
    merge("fused-row-norm", "one-pass")
    head = dead.head
    reworded = {**head.content, "mechanism": "The second pass costs more than it saves."}
    proposer = f.actor("prue", "curator", "designer")
    accept_proposal(
        f.curator(),
        propose_change(proposer, dead, base_hash=head.content_hash, content=reworded, reason="words").pk,
    )
    dead.refresh_from_db()
    assert (dead.head.number, dead.head.content["lever"]) == (2, "fused-row-norm")
    made = propose_row(proposer, content={**f.EVIDENCE, "lever": "fused-row-norm", "title": "New"}, reason="try it")
    assert accept_proposal(f.curator(), made.pk).row.head.content["lever"] == "one-pass"


def test_a_dead_row_of_one_may_replace_that_of_the_other(two):
    _, dead, _ = two
    wider = f.evidence_row(f.DEAD, lever="one-pass", title="One pass, dead", scope={"arch": ["cpu"]})
    with pytest.raises(Refusal) as caught, transaction.atomic():
        supersede_row(f.curator(), newer=wider.code, older=dead.code, kind="replaces", reason="measured again")
    assert caught.value.code == "evidence.supersession_disarms"
    merge("fused-row-norm", "one-pass")
    supersede_row(f.curator(), newer=wider.code, older=dead.code, kind="replaces", reason="measured again")
    assert wider.code in against("fused-row-norm")


def test_a_merged_lever_takes_no_more_changes_and_only_its_service_undoes_the_merge(two):
    merge("fused-row-norm", "one-pass")
    curator = f.curator()
    for call in (
        lambda: edit_lever(curator, "fused-row-norm", name="Something else"),
        lambda: add_alias(curator, "fused-row-norm", "yet another name"),
        lambda: restore_lever(curator, "fused-row-norm"),
        lambda: merge("fused-row-norm", "two-rows"),
        lambda: merge("two-rows", "fused-row-norm"),
        lambda: create_lever(curator, name="New below", parent="fused-row-norm"),
    ):
        with pytest.raises(Conflict) as caught, transaction.atomic():
            call()
        assert (caught.value.code, caught.value.facts["lever"]) == ("evidence.lever_merged", "one-pass")
    for name in ("Fused row norm", "fused-row-norm"):
        with pytest.raises(Refusal) as caught, transaction.atomic():
            remove_alias(curator, "one-pass", name)
        assert caught.value.code == "evidence.alias_is_name"
    with pytest.raises(Conflict) as caught, transaction.atomic():
        archive_lever(curator, "one-pass", reason="unused?")
    assert caught.value.code == "evidence.lever_in_use"
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        Lever.objects.filter(slug="fused-row-norm").update(merged_into=None)
    assert refusal_from_database(refused.value).code == "database.lever_merged"


def test_a_child_that_moved_can_not_be_taken_away_from_what_blocks_it(two):
    above, dead, _ = two
    merge("fused-row-norm", "one-pass")
    with pytest.raises(Refusal) as caught, transaction.atomic():
        edit_lever(f.curator(), "two-rows", name="Fused norm of two rows", parent="")
    assert caught.value.code == "evidence.lever_disarms"
    assert above.code in caught.value.message
    assert dead.code in caught.value.message


def test_a_lever_is_merged_with_its_neighbours_in_either_direction(two):
    merge("row-passes", "fused-row-norm")
    assert Lever.objects.get(slug="fused-row-norm").parent is None
    merge("two-rows", "fused-row-norm")
    assert against("two-rows") == against("row-passes") == against("fused-row-norm")


def test_refusals(two):
    create_lever(f.curator(), name="Old", slug="old")
    archive_lever(f.curator(), "old", reason="never used")
    for taken, into, reason, code, field in (
        ("one-pass", "one-pass", "twin", "evidence.merge_lever_self", "into"),
        ("one-pass", "old", "twin", "evidence.lever_archived", "into"),
        ("one-pass", "nowhere", "twin", "evidence.no_lever", "into"),
        ("row-passes", "two-rows", "twin", "evidence.lever_cycle", "into"),
        ("one-pass", "two-rows", " ", "evidence.reason_missing", "reason"),
    ):
        with pytest.raises(Refusal) as caught, transaction.atomic():
            merge_levers(f.curator(), taken, into=into, reason=reason)
        assert (caught.value.code, caught.value.field) == (code, field)
    with pytest.raises(Forbidden):
        merge_levers(f.actor("ada", "administrator"), "one-pass", into="two-rows", reason="twin")
    merge("old", "one-pass")
    assert resolve_lever("old").slug == "one-pass"


# --- a wrong merge is undone ------------------------------------------------------------------------------------------


def unmerge(slug: str, reason: str = "They are two techniques.") -> Lever:
    return unmerge_levers(f.actor("mira", "curator"), slug, reason=reason)


def vocabulary() -> list[tuple]:
    levers = Lever.objects.select_related("parent", "merged_into").prefetch_related("aliases").order_by("pk")
    return [
        (
            lever.slug, lever.parent and lever.parent.slug, lever.merged_into and lever.merged_into.slug,
            lever.archived_at is None, sorted(alias.name for alias in lever.aliases.all()),
        )
        for lever in levers
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("taken", "into"),
    [
        ("fused-row-norm", "one-pass"),
        ("one-pass", "two-rows"),
        ("row-passes", "fused-row-norm"),
        ("two-rows", "one-pass"),
    ],
)
def test_undoing_a_merge_brings_names_places_and_what_blocks_back(two, taken, into):
    names = ("row-passes", "fused-row-norm", "row fusion", "one-pass", "single pass", "two-rows", "one-pass-vector")
    before, blocked = vocabulary(), {name: against(name) for name in names}
    merge(taken, into)
    assert vocabulary() != before
    unmerge(taken)
    assert vocabulary() == before
    assert {name: against(name) for name in names} == blocked
    assert list(faults()) == []
    entry = activity_of(Lever.objects.get(slug=taken))[0]
    assert (entry.verb, entry.summary) == (
        "evidence.unmerge_levers",
        f"merge of {taken} into {into} undone: They are two techniques.",
    )


def test_the_gate_search_and_stored_searches_follow_an_undone_merge(two):
    f.op()
    row = two[2]
    revision = f.approved_revision(row)
    receipt = record_search(f.designer(), spec=revision.spec, design=Design(levers=("one-pass",)), decisions={})
    merge("fused-row-norm", "one-pass")
    assert gate_preview(revision.spec, revision.content).blocking_lines
    assert not check_receipt(receipt, newest_change()).is_current
    assert len(search_rows(Query("single pass")).ids) == 2
    unmerge("fused-row-norm")
    assert gate_preview(revision.spec, revision.content).passed
    assert check_receipt(receipt, newest_change()).is_current
    assert len(search_rows(Query("single pass")).ids) == 1
    assert {one.row.code for one in board_of(Design(levers=("one-pass",))).rows} == {row.code}
    assert list(faults()) == []


def test_what_was_given_away_or_moved_since_stays_where_it_is(two):
    merge("fused-row-norm", "one-pass")
    add_alias(f.curator(), "one-pass", "given since")
    create_lever(f.curator(), name="Third", slug="third")
    merge("one-pass", "third")
    unmerge("fused-row-norm")
    assert resolve_lever("given since").slug == "third"
    assert resolve_lever("row fusion").slug == "fused-row-norm"
    assert resolve_lever("Fused row norm").slug == "fused-row-norm"
    assert Lever.objects.get(slug="two-rows").parent.slug == "fused-row-norm"
    assert resolve_lever("single pass").slug == "third"
    assert list(faults()) == []


def test_who_undoes_a_merge(two):
    f.op()
    _, _, row = two
    merge("fused-row-norm", "one-pass")
    for actor, code in (
        (f.curator(), "evidence.unmerge_own"),
        (f.actor("ada", "administrator"), "core.role"),
        (f.designer(), "core.role"),
    ):
        with pytest.raises(Forbidden) as caught, transaction.atomic():
            unmerge_levers(actor, "fused-row-norm", reason="two")
        assert caught.value.code == code
    author = f.actor("auda", "curator", *f.ALL_DESIGN)
    f.saved_revision(f.spec_content(row), who=author)
    with pytest.raises(Forbidden) as caught, transaction.atomic():
        unmerge_levers(author, "fused-row-norm", reason="two")
    assert caught.value.code == "evidence.unmerge_interest"
    for slug, reason, code in (
        ("one-pass", "two", "evidence.lever_not_merged"),
        ("fused-row-norm", " ", "evidence.reason_missing"),
        ("nowhere", "two", "evidence.no_lever"),
    ):
        with pytest.raises(Refusal) as caught, transaction.atomic():
            unmerge(slug, reason)
        assert caught.value.code == code


def test_one_undoing_opens_the_database_for_one_merge_alone(two):
    merge("fused-row-norm", "one-pass")
    unmerge("fused-row-norm")
    merge("fused-row-norm", "one-pass")
    for change in ({"merged_into": None}, {"merged_into": Lever.objects.get(slug="two-rows")}):
        with pytest.raises(DatabaseError) as refused, transaction.atomic():
            Lever.objects.filter(slug="fused-row-norm").update(**change)
        assert refusal_from_database(refused.value).code == "database.lever_merged"


def test_a_page_undoes_a_merge(two, client):
    merge("fused-row-norm", "one-pass")
    address = "/evidence/levers/fused-row-norm/"
    client.force_login(f.curator().user)
    own = client.get(address).content.decode()
    assert "You merged them, so another curator undoes it" in own
    assert "unmerge/" not in own
    client.force_login(f.actor("mira", "curator").user)
    assert f'action="{address}unmerge/"' in client.get(address).content.decode()
    assert client.post(f"{address}unmerge/", {"reason": ""}).status_code == 422
    assert client.post(f"{address}unmerge/", {"reason": "two"}).status_code == 302
    assert "Undo the merge" not in client.get(address).content.decode()
    assert client.post(f"{address}unmerge/", {"reason": "two"}).status_code == 409
