"""How rows stand to a planned design, what may be decided of them, and when a stored search no longer holds."""

import pytest

from v2kb.rules.search_query import split_query
from v2kb.rules.search_receipt import choices_of, decision_problems, receipt_is_current, standing, with_choices

MINE = {"arch": ["sm_100"], "m": "1"}


def content(**changes):
    row = {"verdict": "DEAD", "lever": "ring", "cause_class": "regressed_in_scope", "scope": {"arch": ["sm_100"]}}
    return {**row, **changes}


@pytest.mark.parametrize(
    ("row", "how", "blocks", "aside", "word"),
    [
        (content(), {}, True, "", "your scope lies inside its scope"),
        (content(scope={}), {}, True, "", "your scope lies inside"),
        (content(cause_class=""), {}, True, "", "no cause class"),
        (content(cause_class="ruled_out_by_survey"), {}, True, "", "weakly"),
        (content(), {"flagged": True}, True, "", "regressed"),
        (content(), {"archived": True}, True, "", "regressed"),
        (content(scope={"arch": ["sm_90"]}), {}, False, "out of scope", "disjoint"),
        (content(cause_class="tooling_blocked"), {}, False, "", "does not block"),
        (content(), {"superseded_by": ("D9",)}, False, "superseded", "superseded by D9"),
        (content(), {"is_my_lever": False}, False, "", "only designs that adopt ring"),
        (content(verdict="WIN"), {}, False, "", ""),
        (content(verdict="WIN"), {"flagged": True}, False, "flagged", ""),
        (content(verdict="WIN", scope={"m": "16"}), {"flagged": True}, False, "out of scope", ""),
    ],
)
def test_standing(row, how, blocks, aside, word):
    seen = standing(row, MINE, **{"is_my_lever": True, **how})
    assert (seen.blocks, seen.aside) == (blocks, aside)
    assert word in seen.why
    assert seen.relation_words


def test_without_a_scope_every_scope_overlaps():
    seen = standing(content(), None, is_my_lever=True)
    assert seen.blocks
    assert seen.relation == seen.relation_words == ""


def seen_row(code, blocks=True, content_hash="a"):
    return {"code": code, "content_hash": content_hash, "blocks": blocks, "why": "cause: flat"}


def test_only_new_blocking_rows_end_a_receipt():
    then = [seen_row("D1"), seen_row("D2", blocks=False), seen_row("W1", blocks=False)]
    assert receipt_is_current(then, then).is_current
    reworded = receipt_is_current(then, [seen_row("D1", content_hash="b"), seen_row("W7", blocks=False)])
    assert reworded.is_current
    assert "No blocking row" in reworded.sentence
    check = receipt_is_current(then, [*then, seen_row("D3"), seen_row("D2")])
    assert [blocker.code for blocker in check.new] == ["D3", "D2"]
    assert not check.is_current
    assert "New blocking rows since: D3, D2" in check.sentence


ROWS = [
    {"code": "D1", "verdict": "DEAD", "blocks": True, "lever": "ring", "lever_name": "Ring", "for": ["ring"],
     "content_hash": "d1"},
    {"code": "W1", "verdict": "WIN", "blocks": False, "lever": "fold", "lever_name": "Fold", "for": [],
     "content_hash": "w1"},
    {"code": "D4", "verdict": "DEAD", "blocks": False, "lever": "split", "lever_name": "Split", "for": [],
     "content_hash": "d4"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("decisions", "where", "word"),
    [
        ({}, "decisions.D1", "have not decided"),
        ({"D1": {"decision": "cite"}, "X9": {"decision": "cite"}}, "decisions.X9", "not among the hits"),
        ({"D1": {"decision": "ignore"}}, "decisions.D1", "no decision"),
        ({"D1": {"decision": "not_relevant", "reason": " "}}, "decisions.D1", "needs a reason"),
        ({"D1": {"decision": "repropose"}}, "decisions.D1", "needs a reason"),
        ({"D1": {"decision": "cite"}, "W1": {"decision": "repropose", "reason": "x"}}, "decisions.W1", "not DEAD"),
        ({"D1": {"decision": "cite", "reason": "x" * 501}}, "decisions.D1", "too long"),
    ],
)
def test_what_is_wrong_with_decisions(decisions, where, word):
    (problem,) = decision_problems(ROWS, decisions)
    assert problem.field == where
    assert word in problem.message


def test_a_decision_on_what_blocks_is_enough():
    assert decision_problems(ROWS, {"D1": {"decision": "not_relevant", "reason": "another envelope"}}) == []


def test_decisions_become_choices():
    decided = {"D1": ("repropose", "one pass now"), "W1": ("cite", ""), "D4": ("cite", "")}
    rows = [{**row, "decision": decided[row["code"]][0], "reason": decided[row["code"]][1]} for row in ROWS]
    ring, fold, split = choices_of(rows, [("ring", "Ring")], MINE)
    assert (ring["id"], ring["lever"], ring["polarity"], ring["scope"]) == ("C1", "ring", "adopts", MINE)
    assert ring["new_mechanism"] == "one pass now"
    assert ring["citations"] == [{"kind": "evidence", "code": "D1", "revision": "d1", "stance": "contradicts"}]
    assert (fold["lever"], fold["polarity"], fold["citations"][0]["stance"]) == ("fold", "adopts", "supports")
    assert (split["lever"], split["polarity"], split["citations"][0]["stance"]) == ("split", "avoids", "context")


def test_rows_without_a_decision_cite_nothing():
    rows = [{**row, "decision": "not_relevant", "reason": "x"} for row in ROWS]
    assert choices_of(rows, [], {}) == []


def test_a_query_is_split_into_what_must_be_there_and_what_leaves_out():
    held, left = split_query('D3 "ring of" -verdict:dead -foo lever:"a b" x::y')
    assert held == 'D3 "ring of" x::y'
    assert left == '-verdict:dead -foo lever:"a b"'


def _found(decision: str = "cite", reason: str = "") -> list[dict]:
    rows = [{**row, "decision": decision if row["code"] == "D1" else "", "reason": reason} for row in ROWS]
    return choices_of(rows, [("ring", "Ring")], MINE)


TYPED = {"id": "C1", "lever": "The Ring", "polarity": "adopts", "title": "mine", "new_mechanism": "typed",
         "citations": [{"kind": "section", "document": "d"}]}  # fmt: skip
SLUGS = {"The Ring": "ring"}


def test_a_choice_of_the_lever_gets_the_citations_that_it_lacks_and_keeps_what_is_typed():
    (choice,), changed = with_choices([TYPED], _found("repropose", "one pass"), SLUGS)
    assert changed == ["C1"]
    assert {**choice, "citations": TYPED["citations"]} == TYPED
    assert [citation.get("code") for citation in choice["citations"]] == [None, "D1"]
    again, changed = with_choices([choice], _found("repropose", "one pass"), SLUGS)
    assert (again, changed) == ([choice], [])
    (choice,), _ = with_choices([TYPED | {"new_mechanism": " "}], _found("repropose", "one pass"), SLUGS)
    assert choice["new_mechanism"] == "one pass"


@pytest.mark.parametrize(
    ("polarity", "decision", "ids"),
    [("avoids", "repropose", ["C1", "C2"]), ("avoids", "cite", ["C1"]), ("", "repropose", ["C1"])],
)
def test_a_lever_that_is_avoided_is_re_proposed_in_a_choice_of_its_own(polarity, decision, ids):
    choices, _ = with_choices([TYPED | {"polarity": polarity}], _found(decision, "x"), SLUGS)
    assert [choice["id"] for choice in choices] == ids
    assert choices[0]["polarity"] == polarity


def test_missing_choices_come_behind_with_free_ids_and_nothing_decided_brings_nothing():
    typed = ["no choice", {"id": "C2", "lever": 5}]
    choices, changed = with_choices(typed, _found(), SLUGS)
    assert (choices[:2], changed, choices[2]["lever"]) == (typed, ["C1"], "ring")
    assert with_choices(typed, _found(""), SLUGS) == (typed, [])
