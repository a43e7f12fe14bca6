"""Step 0 of a spec: DEAD rows that no filter hides, decisions, the receipt, and whether it still holds."""

import pytest

from evidence.search.board import BELOW, OWN, Design, board_of
from evidence.services import archive_row, create_lever, flag_row, supersede_row
from kernels.models import SearchReceipt, Spec
from kernels.selectors.searches import receipts_of, spec_counts
from kernels.services.searches import begin_spec, bring_decisions, record_search
from kernels.services.specs import open_draft, save_draft
from tests import factories as f
from v2kb.core.errors import Conflict, Missing, Refusal

pytestmark = pytest.mark.django_db

CPU = {"envelope": ["cpu"], "arch": ["cpu"]}
LEVER = "fused-row-norm"


@pytest.fixture
def rows(db):
    """A DEAD row and an UNTESTED one of a lever, and a DEAD one of another lever."""
    return {
        "dead": f.evidence_row(f.DEAD),
        "open": f.evidence_row(),
        "other": f.evidence_row(f.DEAD, lever="row-split", title="Row split over warps"),
    }


def codes(board, verdict="DEAD", aside=None):
    return [row.row.code for row in board.of(verdict) if aside is None or row.standing.aside == aside]


@pytest.mark.parametrize(
    "design",
    [
        Design("norm", chosen={"verdict": ("WIN",)}),
        Design("norm -verdict:dead"),
        Design("norm verdict:win"),
        Design("norm is:flagged"),
        Design("norm -is:blocking"),
        Design("norm -attempt"),
        Design("norm tier:1 delta:>90% measured:>=2030-01"),
        Design("norm", chosen={"state": ("flagged",), "blocking": ("none",), "cause": ("flat",), "tier": ("1",)}),
        Design("something else", (LEVER,)),
        Design("verdict:untested", (LEVER,)),
        Design(f"lever:{LEVER} -verdict:dead"),
    ],
)
def test_no_filter_takes_a_dead_row_off_the_board(rows, design):
    assert rows["dead"].code in codes(board_of(design))


def test_filters_narrow_what_is_not_dead(rows):
    assert codes(board_of(Design("norm")), "UNTESTED") == [rows["open"].code]
    assert codes(board_of(Design("norm verdict:win")), "UNTESTED") == []
    assert codes(board_of(Design("verdict:win", (LEVER,))), "UNTESTED") == []


def test_picked_levers_bring_their_rows_with_those_above_and_below(rows):
    create_lever(f.curator(), name="Norm of rows", slug="row-norms")
    below = create_lever(f.curator(), name="Fused norm in a ring", slug="ring-norm", parent=LEVER)
    f.evidence_row(f.DEAD, lever=below.slug, title="Ring")
    board = board_of(Design("", (LEVER,)))
    assert codes(board) == [rows["dead"].code, "D3"]
    assert [row.why for row in board.of("DEAD")] == [OWN, BELOW]
    assert [row.standing.blocks for row in board.of("DEAD")] == [True, False]
    seen_from_below = board_of(Design("", (below.slug,)))
    assert [row.standing.blocks for row in seen_from_below.of("DEAD")] == [True, True]


def test_what_is_superseded_or_out_of_scope_is_put_aside_and_what_blocks_never_is(rows):
    flag_row(f.designer(), rows["dead"].code, reason="Which machine?")
    assert codes(board_of(Design("", (LEVER,), CPU)), aside="") == [rows["dead"].code]
    assert codes(board_of(Design("", (LEVER,), {"arch": ["sm_90"]})), aside="out of scope") == [rows["dead"].code]
    newer = f.evidence_row(f.DEAD, title="Fused row norm, again")
    supersede_row(f.curator(), newer=newer.code, older=rows["dead"].code, kind="replaces", reason="measured again")
    board = board_of(Design("", (LEVER,), CPU))
    assert codes(board, aside="superseded") == [rows["dead"].code]
    assert codes(board, aside="") == [newer.code]


def test_archived_dead_rows_are_counted_too(rows):
    old = f.evidence_row(f.DEAD, cause_class="tooling_blocked", title="Norm on an old compiler")
    archive_row(f.curator(), old.code, reason="old")
    for design in (Design("norm"), Design("", (LEVER,)), Design("norm -verdict:dead", (LEVER,), CPU)):
        assert codes(board_of(design), aside="archived") == [old.code]


def test_a_lever_that_is_not_there_is_refused(rows):
    with pytest.raises(Missing) as caught:
        board_of(Design("", ("no-such",)))
    assert caught.value.code == "evidence.no_lever"


def test_a_board_costs_the_same_for_any_number_of_rows(rows, django_assert_max_num_queries):
    for number in range(6):
        f.evidence_row(f.DEAD, title=f"Norm {number}")
    board_of(Design("norm", (LEVER,), CPU))
    with django_assert_max_num_queries(40):
        board_of(Design("norm", (LEVER,), CPU))


def begin(rows, decisions=None, **changes):
    decisions = decisions or {
        rows["dead"].code: {"decision": "repropose", "reason": "one pass now", "seen": rows["dead"].head.content_hash},
        rows["open"].code: {"decision": "cite", "reason": "", "seen": ""},
    }
    ops = changes.pop("ops", None) or [f.op()]
    design = changes.pop("design", Design("norm", (LEVER,), CPU))
    return begin_spec(f.designer(), title="Norm", ops=ops, design=design, decisions=decisions, **changes)


def test_a_spec_begins_with_its_receipt_and_its_citations(rows):
    spec = begin(rows, family="D")
    receipt = spec.receipts.get()
    assert receipt.content["search"] == {"query": "norm", "levers": [LEVER], "scope": CPU, "filters": {}}
    kept = [(row["code"], row["content_hash"], row["decision"]) for row in receipt.content["rows"]]
    assert kept == [
        (rows["dead"].code, rows["dead"].head.content_hash, "repropose"),
        (rows["open"].code, rows["open"].head.content_hash, "cite"),
    ]
    draft = spec.drafts.get().content
    assert draft["engine"]["family"] == "D"
    (choice,) = draft["choices"]
    assert (choice["lever"], choice["polarity"], choice["new_mechanism"]) == (LEVER, "adopts", "one pass now")
    assert [(c["code"], c["stance"]) for c in choice["citations"]] == [
        (rows["dead"].code, "contradicts"),
        (rows["open"].code, "supports"),
    ]
    assert [view.check.is_current for view in receipts_of(spec)] == [True]


def test_a_new_blocking_row_ends_the_receipt_until_one_searches_again(rows):
    spec = begin(rows)
    f.evidence_row(title="Nothing dead here")
    assert receipts_of(spec)[0].check.is_current
    newer = f.evidence_row(f.DEAD, title="Fused row norm, third attempt")
    f.evidence_row(f.DEAD, title="Elsewhere", scope={"arch": ["sm_90"]})
    (view,) = receipts_of(spec)
    assert [blocker.code for blocker in view.check.new] == [newer.code]
    assert f"New blocking row since: {newer.code}" in view.check.sentence
    decided = {code: {"decision": "cite"} for code in (rows["dead"].code, newer.code)}
    record_search(f.designer(), spec=spec, design=Design("norm", (LEVER,), CPU), decisions=decided)
    (view,) = receipts_of(spec)
    assert view.check.is_current
    assert SearchReceipt.objects.count() == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"design": Design()}, "search.nothing"),
        ({"decisions": {"U1": {"decision": "cite"}}}, "search.decisions"),
        ({"family": "Z"}, "search.family"),
        ({"design": Design("foo:bar")}, "evidence.query"),
    ],
)
def test_what_is_refused_leaves_nothing(rows, change, code):
    with pytest.raises(Refusal) as caught:
        begin(rows, **change)
    assert caught.value.code == code
    assert not Spec.objects.exists()
    assert not SearchReceipt.objects.exists()


def test_a_row_that_changed_since_it_was_shown_is_a_conflict(rows):
    decisions = {rows["dead"].code: {"decision": "cite", "seen": "0" * 64}}
    with pytest.raises(Conflict) as caught:
        begin(rows, decisions)
    assert caught.value.code == "search.moved"
    assert caught.value.facts == {"codes": [rows["dead"].code]}


def test_an_archived_spec_takes_no_search(rows):
    spec = begin(rows)
    Spec.objects.filter(pk=spec.pk).update(archived_at=spec.created_at)
    spec.refresh_from_db()
    with pytest.raises(Conflict) as caught:
        record_search(f.designer(), spec=spec, design=Design("norm"), decisions={})
    assert caught.value.code == "spec.archived"


def test_specs_on_a_row_are_counted_once(rows):
    f.op()
    for _ in range(2):
        f.saved_revision(f.spec_content(rows["open"]))
    assert spec_counts([rows["open"].pk, rows["dead"].pk]) == {rows["open"].pk: 2}


def test_a_later_search_goes_into_the_draft_and_nothing_typed_changes(rows):
    f.op()
    spec = f.saved_revision(f.spec_content(rows["open"])).spec
    draft = open_draft(f.designer(), spec=spec)
    typed = draft.content | {"title": "typed", "choices": [{**draft.content["choices"][0], "rationale": "typed here"}]}
    save_draft(f.designer(), spec=spec, content=typed, version=draft.version)
    decided = {
        rows["dead"].code: {"decision": "repropose", "reason": "one pass now"},
        rows["other"].code: {"decision": "cite"},
    }
    receipt = record_search(f.designer(), spec=spec, design=Design("split", (LEVER,), CPU), decisions=decided)
    assert spec.drafts.get().content == typed, "it is stored, and offered"
    assert bring_decisions(f.designer(), receipt=receipt) == ["C1", "C2"]
    now = spec.drafts.get().content
    first, second = now["choices"]
    assert (now["title"], first["rationale"], first["new_mechanism"]) == ("typed", "typed here", "one pass now")
    assert [citation["code"] for citation in first["citations"]] == [rows["open"].code, rows["dead"].code]
    assert (second["lever"], second["polarity"]) == ("row-split", "avoids")
    assert bring_decisions(f.designer(), receipt=receipt) == []
    other = f.actor("olga", *f.ALL_DESIGN)
    assert bring_decisions(other, receipt=receipt) == ["C1", "C2"]
    assert spec.drafts.filter(user=other.user).exists(), "everyone has a draft of their own"


def test_a_search_that_grew_beyond_a_receipt_does_not_hold_and_names_new_blockers(rows, monkeypatch):
    spec = begin(rows)
    newer = f.evidence_row(f.DEAD, title="Fused row norm, third attempt")
    monkeypatch.setattr("evidence.search.board.MAX_ROWS", 2)
    with pytest.raises(Refusal) as caught:
        record_search(f.designer(), spec=spec, design=Design("norm", (LEVER,), CPU), decisions={})
    assert caught.value.code == "search.too_many"
    (view,) = receipts_of(spec)
    assert not view.check.is_current
    assert [blocker.code for blocker in view.check.new] == [newer.code]
    assert "more than the" in view.check.sentence
