"""The gate: one passing case per rule, and each mutation of it that must fire."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from v2kb.rules.antiloop import GATE_RULES, GATE_VERSION, GateResult, choice_hash, evaluate
from v2kb.rules.canonical import canonical_json, content_hash
from v2kb.rules.code_citation import read_code
from v2kb.rules.spec_document import normalise

FUSED_GEMV = {
    "op_class": ["projection_gemv"],
    "m": "1",
    "dtype": ["bf16"],
    "arch": ["sm_100"],
    "envelope": ["fused_megakernel"],
}
GROUPED_ALONE = {
    "op_class": ["grouped_gemm"],
    "m": "1",
    "dtype": ["fp8"],
    "arch": ["sm_100"],
    "envelope": ["standalone"],
}


def revision(lever, verdict, scope, **more):
    return {
        "lever": lever,
        "title": lever,
        "verdict": verdict,
        "scope": scope,
        "numbers": [],
        "mechanism": more.pop("mechanism", f"why {lever} is {verdict}"),
        "cause_class": more.pop("cause_class", "mechanism_refuted" if verdict == "DEAD" else ""),
        "approaches": ["one", "two"],
        "not_checked": "none",
        "bound": "at most 1.18x" if verdict == "UNTESTED" else "",
        "structural": False,
        "measured_on": "2026-06-29",
        "measured_note": "",
        "sources": [],
        **more,
    }


def row(content, *older, **facts):
    revisions = {content_hash(item): item for item in (content, *older)}
    return {"head_hash": content_hash(content), "revisions": revisions, "flagged": False, "superseded_by": [], **facts}


def make_snapshot():
    """Return the rows around tensor-core instructions at M=1: dead in the fused envelope, alive outside of it."""
    return {
        "rows": {
            "D1": row(revision("warp-specialised-producer", "DEAD", {"envelope": ["fused_megakernel"], "m": "1"})),
            "D2": row(
                revision(
                    "tcgen05",
                    "DEAD",
                    FUSED_GEMV,
                    mechanism="Allocation and barriers cost more than the gap that is left.",
                    numbers=[{"text": "0.61µs", "readable": True, "value": "0.61", "unit": "us", "role": "verdict"}],
                )
            ),
            "W5": row(revision("tcgen05", "WIN", GROUPED_ALONE)),
            "U3": row(revision("reference-pipeline", "UNTESTED", {"m": "16.."})),
        },
        "levers": {
            "tcgen05": {"name": "tcgen05", "aliases": ["tensor core MMA", "UMMA"], "parent": "reference-pipeline"},
            "reference-pipeline": {"name": "Reference pipeline", "aliases": [], "parent": ""},
            "warp-specialised-producer": {"aliases": ["warp-spec producer", "loader warp"], "parent": ""},
        },
        "documents": {"house-style": {"r1": ["section-3"]}},
    }


def pin(snapshot, code, stance="supports"):
    return {"kind": "evidence", "code": code, "revision": snapshot["rows"][code]["head_hash"], "stance": stance}


def make_prediction(**changes):
    return {
        "row": "",
        "metric": "time_us",
        "unit": "us",
        "direction": "lower",
        "anchor": "w13_body",
        "tier": "1",
        "gain_percent": "5",
        "gain_high_percent": "",
        "cases": ["decode_1"],
        "rounds": "5",
        "delta_percent": "1",
        "kill_percent": "3",
        "kill_event": "",
        "budget_runs": "3",
        "deadline": "",
        "park_metric": "",
        "park_percent": "",
    } | changes


def make_choice(snapshot, **changes):
    return {
        "id": "C1",
        "title": "Tensor cores for W13",
        "lever": "tcgen05",
        "polarity": "adopts",
        "rationale": "",
        "scope": copy.deepcopy(GROUPED_ALONE),
        "citations": [pin(snapshot, "W5")],
        "new_mechanism": "",
        "acknowledged": [],
        "prediction": make_prediction(),
        "wave_quant": None,
    } | changes


def make_spec(*choices):
    return {
        "title": "W13",
        "choices": list(choices),
        "anchors": [{"name": "w13_body", "metric": "time_us", "method": "slowest block, grid 136"}],
    }


def make_context(**changes):
    return {"authors": ["ann"], "new_mechanism_marks": [], "today": "2026-07-10"} | changes


def dead_case(**changes):
    """Return (snapshot, choice) of a choice that re-proposes tcgen05 where D2 killed it, properly argued."""
    snapshot = make_snapshot()
    choice = make_choice(
        snapshot,
        scope=dict(FUSED_GEMV),
        citations=[pin(snapshot, "D2", "contradicts"), pin(snapshot, "W5")],
        new_mechanism="Accumulators stay allocated over the whole step, so allocation is paid once.",
    )
    return snapshot, choice | changes


def mark(choice, by="rob", **changes):
    return {"choice_id": choice["id"], "choice_hash": choice_hash(choice), "by": by} | changes


def line(result, rule, choice="C1"):
    found = [item for item in result.lines if (item.rule, item.choice) == (rule, choice)]
    assert len(found) == 1, [(item.rule, item.choice) for item in result.lines]
    return found[0]


def judge(snapshot, *choices, **context):
    return evaluate(make_spec(*choices), snapshot, make_context(**context))


# --- the whole ---


def test_a_well_argued_choice_passes_with_one_line_per_rule():
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot))
    assert result.passed, result.summary()
    assert [item.rule for item in result.lines] == ["AL1", "AL2", "AL3", "AL4", "AL5", "AL6"]
    assert [item.version for item in result.lines] == [rule.version for rule in GATE_RULES]
    assert result.summary() == "The gate passes."


def test_a_spec_without_choices_does_not_pass():
    for document in ({}, {"choices": []}, make_spec(), None, [], "spec", {"choices": "C1"}):
        result = evaluate(document, make_snapshot(), make_context())
        assert not result.passed
        assert result.lines[0].field == "choices"
    assert not GateResult(()).passed
    assert GateResult(()).summary() == "Nothing was judged."


def test_result_is_a_canonical_document_and_repeats():
    snapshot, choice = dead_case()
    first, second = (
        judge(snapshot, choice).as_document(),
        judge(copy.deepcopy(snapshot), copy.deepcopy(choice)).as_document(),
    )
    assert canonical_json(first) == canonical_json(second)
    assert json.loads(canonical_json(first)) == first
    assert first["gate_version"] == GATE_VERSION
    assert first["passed"] is False
    assert {entry["rule"] for entry in first["lines"]} == {rule.id for rule in GATE_RULES}


def test_ids_must_be_there_and_differ():
    snapshot = make_snapshot()
    twice = judge(snapshot, make_choice(snapshot), make_choice(snapshot))
    assert not twice.passed
    assert twice.lines[0].status == "ERROR"
    assert twice.lines[0].field == "choices[1].id"
    nameless = judge(snapshot, make_choice(snapshot, id=""))
    assert not nameless.passed
    assert nameless.lines[0].field == "choices[0].id"


def test_inputs_are_not_changed():
    snapshot, choice = dead_case()
    before = copy.deepcopy((snapshot, choice))
    judge(snapshot, choice)
    assert (snapshot, choice) == before


# --- AL1 ---


@pytest.mark.parametrize(
    "citation",
    [
        {"kind": "section", "document": "house-style", "anchor": "section-3", "revision": "r1", "stance": "supports"},
        {
            "kind": "code",
            "tree": "mirage",
            "commit": "f624d75a",
            "path": "a.cuh",
            "lines": "10-20",
            "stance": "context",
        },
    ],
)
def test_cite_accepts_sections_and_code_as_ground_truth(citation):
    snapshot = make_snapshot()
    assert judge(snapshot, make_choice(snapshot, citations=[citation])).passed


def test_cite_refuses_no_citation_and_names_the_field():
    snapshot = make_snapshot()
    found = line(judge(snapshot, make_choice(snapshot, citations=[])), "AL1")
    assert found.status == "UNSATISFIED"
    assert found.field == "choices[0].citations"
    assert found.fix
    assert found.what_would_change


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"flagged": True}, "flag"),
        ({"superseded_by": ["U3"]}, "superseded by U3"),
        ({"superseded_by": "U3"}, "superseded"),
    ],
)
def test_cite_refuses_flagged_and_superseded_rows_unless_another_carries(facts, why):
    snapshot = make_snapshot()
    snapshot["rows"]["W5"] |= facts
    found = line(judge(snapshot, make_choice(snapshot)), "AL1")
    assert found.status == "UNSATISFIED"
    assert why in found.message
    assert found.field == "choices[0].citations[0]"
    carried = make_choice(snapshot, citations=[pin(snapshot, "W5"), pin(snapshot, "D2", "context")])
    assert line(judge(snapshot, carried), "AL1").status == "SATISFIED"


@pytest.mark.parametrize(
    ("citation", "field"),
    [
        ({"kind": "evidence", "code": "D99", "revision": "x", "stance": "supports"}, "code"),
        ({"kind": "section", "document": "nowhere", "anchor": "a", "revision": "r1", "stance": "supports"}, "document"),
        (
            {"kind": "section", "document": "house-style", "anchor": "gone", "revision": "r1", "stance": "context"},
            "anchor",
        ),
        ({"kind": "section", "document": "house-style", "anchor": "§6", "revision": "", "stance": "context"}, "anchor"),
        (
            {
                "kind": "section",
                "document": "house-style",
                "anchor": "section-3",
                "revision": "r0",
                "stance": "context",
            },
            "anchor",
        ),
        ({"kind": "gossip", "stance": "supports"}, "kind"),
        ({"kind": "evidence", "code": "W5", "revision": "x", "stance": "loves"}, "stance"),
        ("W5", "stance"),
    ],
)
def test_unknown_things_in_a_citation_are_errors(citation, field):
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot, citations=[pin(snapshot, "W5"), citation]))
    assert not result.passed
    assert line(result, "AL1").status == "ERROR"
    assert line(result, "AL1").field == f"choices[0].citations[1].{field}"


def test_cite_refuses_an_unaccepted_revision_and_code_without_commit():
    snapshot = make_snapshot()
    for citation in (
        pin(snapshot, "W5") | {"revision": "0" * 64},
        {"kind": "code", "tree": "mirage", "commit": "", "path": "a.cuh", "stance": "supports"},
    ):
        result = judge(snapshot, make_choice(snapshot, citations=[citation]))
        assert line(result, "AL1").status == "UNSATISFIED", citation


THE_TREE = "<tree> is the repository that holds the file, such as mpk or upstream"
MPK_COMMIT = "<commit> is the hash of the commit of mpk at which you read it (git rev-parse HEAD)"


@pytest.mark.parametrize(
    ("named", "label", "why", "typed", "where"),
    [
        (
            {},
            "builder.py:3108-3128",
            "it names no tree and no commit",
            "<tree>:builder.py@<commit>:3108-3128",
            f"{THE_TREE}, and {MPK_COMMIT.replace('mpk', '<tree>')}",
        ),
        ({"tree": "mpk"}, "mpk:builder.py:3108-3128", "it names no commit", "mpk:builder.py@<commit>:3108-3128",
         MPK_COMMIT),
        ({"tree": "mpk", "lines": ""}, "mpk:builder.py", "it names no commit", "mpk:builder.py@<commit>", MPK_COMMIT),
        ({"tree": "mpk", "commit": "HEAD"}, "mpk:builder.py@HEAD:3108-3128", "it names no commit",
         "mpk:builder.py@<commit>:3108-3128", MPK_COMMIT),
        ({"tree": "mpk", "commit": "main"}, "mpk:builder.py@main:3108-3128", "it names no commit",
         "mpk:builder.py@<commit>:3108-3128", MPK_COMMIT),
        ({"commit": "f624d75a"}, "builder.py@f624d75a:3108-3128", "it names no tree",
         "<tree>:builder.py@f624d75a:3108-3128", THE_TREE),
        ({"tree": "mpk", "path": ""}, "mpk::3108-3128", "it names no path and no commit",
         "mpk:<path>@<commit>:3108-3128", f"<path> is the file, from the root of mpk, and {MPK_COMMIT}"),
    ],
)  # fmt: skip
def test_code_that_nobody_can_look_up_carries_nothing_and_says_what_to_type(named, label, why, typed, where):
    snapshot = make_snapshot()
    code = {"kind": "code", "path": "builder.py", "lines": "3108-3128", "stance": "supports", **named}
    found = line(judge(snapshot, make_choice(snapshot, citations=[code])), "AL1")
    assert found.status == "UNSATISFIED"
    assert f"{label} ({why})" in found.message
    assert found.what_would_change == (f"{label}: write it as {typed}, where {where}.",)
    assert found.fix == found.what_would_change[0]
    pinned = {**code, "tree": "mpk", "commit": "f624d75a", "path": "builder.py"}
    assert line(judge(snapshot, make_choice(snapshot, citations=[pinned])), "AL1").status == "SATISFIED"
    copied = {"choices": [{"id": "C1", "citations": [{**read_code(typed), "kind": "code", "stance": "supports"}]}]}
    assert normalise(copied)[1], "what is typed as it stands must not pass for a place"


def test_several_citations_that_carry_nothing_say_that_one_mended_is_enough():
    snapshot = make_snapshot()
    snapshot["rows"]["W5"]["flagged"] = True
    code = {"kind": "code", "path": "builder.py", "tree": "mpk", "stance": "supports"}
    found = line(judge(snapshot, make_choice(snapshot, citations=[pin(snapshot, "W5"), code])), "AL1")
    first, second = found.what_would_change
    assert first == "W5: cite another row, or ask a curator to take the flag down."
    assert second.startswith("mpk:builder.py: write it as mpk:builder.py@<commit>, where ")
    assert found.fix == f"One of these is enough. {first} {second}"


def test_a_choice_that_rests_says_what_of_it_can_fall_away():
    snapshot = make_snapshot()
    code = {"kind": "code", "path": "a.cuh", "tree": "mpk", "commit": "f624d75a", "stance": "supports"}
    alone = line(judge(snapshot, make_choice(snapshot, citations=[code])), "AL1")
    assert alone.what_would_change == ("mpk:a.cuh@f624d75a removed.",)
    both = line(judge(snapshot, make_choice(snapshot, citations=[pin(snapshot, "W5"), code])), "AL1")
    assert both.what_would_change == (
        "All of these together: W5 (flagged, superseded or removed), mpk:a.cuh@f624d75a (removed).",
    )


def test_kept_on_untested_rows_alone_needs_a_prediction():
    snapshot = make_snapshot()
    kept = make_choice(snapshot, polarity="keeps", citations=[pin(snapshot, "U3")], prediction=None)
    result = judge(snapshot, kept)
    assert line(result, "AL5").status == "UNSATISFIED"
    assert line(result, "AL6").status == "UNSATISFIED"
    beside_a_win = kept | {"citations": [pin(snapshot, "U3"), pin(snapshot, "W5")]}
    assert judge(snapshot, beside_a_win).passed
    deferred = kept | {"polarity": "defers"}
    assert judge(snapshot, deferred).passed
    assert line(judge(snapshot, kept | {"citations": []}), "AL5").status == "NOT_APPLICABLE"


# --- AL2 ---


def test_fresh_fails_on_a_moved_head_until_it_is_acknowledged():
    snapshot = make_snapshot()
    old = revision("tcgen05", "WIN", GROUPED_ALONE, mechanism="an older wording")
    head = snapshot["rows"]["W5"]["head_hash"]
    snapshot["rows"]["W5"] = row(snapshot["rows"]["W5"]["revisions"][head], old)
    stale = make_choice(snapshot, citations=[pin(snapshot, "W5") | {"revision": content_hash(old)}])
    found = line(judge(snapshot, stale), "AL2")
    assert found.status == "UNSATISFIED"
    assert found.field == "choices[0].citations[0].revision"
    assert found.inputs["pins"] == [{"code": "W5", "pinned": content_hash(old), "head": head, "state": "moved"}]
    for acknowledged in (
        [{"code": "W5", "revision": head, "reason": " "}],
        [{"code": "W5", "revision": content_hash(old), "reason": "wording"}],
        [{"code": "D2", "revision": head, "reason": "wording"}],
    ):
        assert line(judge(snapshot, stale | {"acknowledged": acknowledged}), "AL2").status == "UNSATISFIED"
    good = stale | {"acknowledged": [{"code": "W5", "revision": head, "reason": "wording only"}]}
    assert judge(snapshot, good).passed


def test_fresh_does_not_apply_without_evidence_and_refuses_a_made_up_revision():
    snapshot = make_snapshot()
    code = {"kind": "code", "tree": "mirage", "commit": "f624d75a", "path": "a.cuh", "stance": "context"}
    assert line(judge(snapshot, make_choice(snapshot, citations=[code])), "AL2").status == "NOT_APPLICABLE"
    made_up = make_choice(snapshot, citations=[pin(snapshot, "W5") | {"revision": "f" * 64}])
    made_up["acknowledged"] = [{"code": "W5", "revision": snapshot["rows"]["W5"]["head_hash"], "reason": "yes"}]
    assert line(judge(snapshot, made_up), "AL2").status == "UNSATISFIED"


# --- AL3 ---


def test_a_dead_row_of_a_disjoint_scope_is_shown_but_does_not_count():
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot))
    found = line(result, "AL3")
    assert found.status == "SATISFIED"
    (dead,) = found.inputs["dead_rows"]
    assert (dead["code"], dead["relation"], dead["counts"]) == ("D2", "disjoint", False)
    assert "envelope: standalone against fused_megakernel: disjoint" in dead["scopes"]
    assert any("D2" in change for change in found.what_would_change)
    assert line(result, "AL4").status == "NOT_APPLICABLE"


@pytest.mark.parametrize(
    ("scope", "kind"),
    [
        (FUSED_GEMV, "equal"),
        ({**FUSED_GEMV, "grid": "136"}, "inside"),
        ({**FUSED_GEMV, "m": "1..16"}, "overlapping"),
        ({**FUSED_GEMV, "dtype": []}, "overlapping"),
        ({}, "overlapping"),
        ({**FUSED_GEMV, "op_class": ["gemv"]}, "overlapping"),
        ({**FUSED_GEMV, "envelope": ["who knows"]}, "overlapping"),
    ],
)
def test_the_friendly_row_alone_is_not_enough_in_a_dead_scope(scope, kind):
    snapshot, choice = dead_case(scope=scope)
    choice["citations"] = [pin(snapshot, "W5")]
    found = line(judge(snapshot, choice, new_mechanism_marks=[mark(choice)]), "AL3")
    assert found.status == "UNSATISFIED"
    assert "D2" in found.message
    assert found.field == "choices[0].citations"
    assert found.inputs["dead_rows"][0]["relation"] == kind
    cited = choice | {"citations": [pin(snapshot, "W5"), pin(snapshot, "D2", "contradicts")]}
    assert judge(snapshot, cited, new_mechanism_marks=[mark(cited)]).passed


def test_the_shaved_scope_still_matches_and_another_envelope_does_not():
    snapshot, choice = dead_case()
    for scope, status in (
        ({**FUSED_GEMV, "op_class": ["fused_projection_gemv"], "grid": "128"}, "UNSATISFIED"),
        ({**FUSED_GEMV, "envelope": ["standalone"]}, "SATISFIED"),
        ({**FUSED_GEMV, "op_class": ["grouped_gemm"]}, "SATISFIED"),
        ({**FUSED_GEMV, "m": "16.."}, "SATISFIED"),
    ):
        tried = choice | {"scope": scope, "citations": [pin(snapshot, "W5")]}
        assert line(judge(snapshot, tried), "AL3").status == status, scope


@pytest.mark.parametrize("name", ["tcgen05", "TCGEN-05", "UMMA", "umma", "Tensor-core MMA", "tensor_core_mma"])
def test_renaming_the_lever_does_not_help(name):
    snapshot, choice = dead_case(lever=name)
    choice["citations"] = [pin(snapshot, "W5")]
    assert line(judge(snapshot, choice), "AL3").status == "UNSATISFIED"


def test_ancestors_count_and_descendants_do_not():
    snapshot, choice = dead_case()
    snapshot["rows"]["D20"] = row(revision("reference-pipeline", "DEAD", {"envelope": ["fused_megakernel"]}))
    found = line(judge(snapshot, choice, new_mechanism_marks=[mark(choice)]), "AL3")
    assert found.status == "UNSATISFIED"
    assert found.inputs["levers"] == {"tcgen05": "lever", "reference-pipeline": "ancestor"}
    general = choice | {"lever": "reference-pipeline", "citations": [pin(snapshot, "D20")]}
    found = line(judge(snapshot, general), "AL3")
    assert found.status == "SATISFIED"
    assert [dead["code"] for dead in found.inputs["dead_rows"]] == ["D20"]


@pytest.mark.parametrize(
    ("cause", "status"),
    [
        ("flat", "UNSATISFIED"),
        ("ruled_out_by_survey", "UNSATISFIED"),
        ("", "UNSATISFIED"),
        ("no such class", "UNSATISFIED"),
        ("abandoned", "SATISFIED"),
        ("harness_invalid", "SATISFIED"),
    ],
)
def test_the_cause_class_decides_whether_a_dead_row_blocks(cause, status):
    snapshot = make_snapshot()
    snapshot["rows"]["D2"] = row(revision("tcgen05", "DEAD", FUSED_GEMV, cause_class=cause))
    choice = make_choice(snapshot, scope=FUSED_GEMV)
    assert line(judge(snapshot, choice), "AL3").status == status


def test_a_successor_speaks_for_a_superseded_row_only_if_it_exists_and_a_flag_disarms_nothing():
    snapshot = make_snapshot()
    choice = make_choice(snapshot, scope=FUSED_GEMV)
    snapshot["rows"]["D2"]["superseded_by"] = ["D99"]
    assert line(judge(snapshot, choice), "AL3").status == "UNSATISFIED"
    snapshot["rows"]["D2"]["superseded_by"] = ["D2"]
    assert line(judge(snapshot, choice), "AL3").status == "UNSATISFIED"
    snapshot["rows"]["D2"]["superseded_by"] = ["U3"]
    assert line(judge(snapshot, choice), "AL3").status == "SATISFIED"
    snapshot["rows"]["D2"] |= {"superseded_by": [], "flagged": True}
    assert line(judge(snapshot, choice), "AL3").status == "UNSATISFIED"


def test_a_guard_rail_that_avoids_a_dead_lever_just_cites_it():
    snapshot = make_snapshot()
    for polarity in ("avoids", "keeps", "defers"):
        choice = make_choice(
            snapshot, scope=FUSED_GEMV, polarity=polarity, citations=[pin(snapshot, "D2")], prediction=None
        )
        result = judge(snapshot, choice)
        assert result.passed, result.summary()
        assert {item.rule for item in result.lines if item.status == "NOT_APPLICABLE"} == {"AL3", "AL4", "AL5", "AL6"}
        assert result.repropositions == []


@pytest.mark.parametrize("lever", ["tcgen06", "", None, 7])
def test_an_unknown_lever_is_an_error_and_blocks(lever):
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot, lever=lever))
    assert not result.passed
    assert line(result, "AL3").status == "ERROR"
    assert line(result, "AL3").field == "choices[0].lever"


def test_an_unknown_lever_blocks_a_guard_rail_too_but_none_is_fine():
    snapshot = make_snapshot()
    rail = make_choice(snapshot, polarity="keeps", lever="tcgen06", prediction=None)
    assert line(judge(snapshot, rail), "AL3").status == "ERROR"
    assert judge(snapshot, rail | {"lever": ""}).passed


@pytest.mark.parametrize("polarity", ["ADOPTS", "", None, "maybe", 3])
def test_an_unknown_polarity_is_an_error_of_each_rule_that_asks_it(polarity):
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot, polarity=polarity))
    assert not result.passed
    for rule in ("AL3", "AL4", "AL5", "AL6"):
        assert line(result, rule).status == "ERROR"
        assert line(result, rule).field == "choices[0].polarity"


def test_a_broken_vocabulary_or_row_is_an_error():
    broken = []
    for _ in range(4):
        broken.append(make_snapshot())
    broken[0]["levers"]["tcgen05"]["parent"] = "nowhere"
    broken[1]["levers"]["reference-pipeline"]["parent"] = "tcgen05"
    broken[2]["rows"]["D2"]["head_hash"] = "gone"
    broken[3]["rows"]["D50"] = row(revision("never-heard-of", "DEAD", {}))
    for snapshot in broken:
        result = judge(snapshot, make_choice(make_snapshot()))
        assert not result.passed
        assert line(result, "AL3").status == "ERROR"


def test_a_scope_outside_of_the_ops_is_refused_where_contracts_are_known():
    snapshot = make_snapshot()
    snapshot["contracts"] = {"c1": FUSED_GEMV}
    spec = make_spec(make_choice(snapshot)) | {"ops": [{"op": "qkv_a", "contract": "c1"}]}
    found = line(evaluate(spec, snapshot, make_context()), "AL3")
    assert found.status == "UNSATISFIED"
    assert found.field == "choices[0].scope"
    snapshot["contracts"]["c1"] = {"op_class": ["grouped_gemm"]}
    assert evaluate(spec, snapshot, make_context()).passed
    snapshot["contracts"]["c2"] = snapshot["contracts"].pop("c1")
    assert line(evaluate(spec, snapshot, make_context()), "AL3").status == "ERROR"
    snapshot["contracts"] = {}
    assert line(evaluate(spec, snapshot, make_context()), "AL3").status == "ERROR"
    spec["ops"][0]["contract"] = "c9"
    found = line(evaluate(spec, snapshot, make_context()), "AL3")
    assert (found.status, found.field) == ("ERROR", "ops[0].contract")


# --- AL4 ---


def test_a_dead_lever_passes_with_a_new_mechanism_marked_by_a_reviewer():
    snapshot, choice = dead_case()
    result = judge(snapshot, choice, new_mechanism_marks=[mark(choice)])
    assert result.passed, result.summary()
    assert line(result, "AL4").status == "SATISFIED"
    assert result.repropositions == ["C1"]
    (dead,) = line(result, "AL4").inputs["dead_rows"]
    assert dead["mechanism"] == "Allocation and barriers cost more than the gap that is left."
    assert line(result, "AL4").inputs["new_mechanism"] == choice["new_mechanism"]


@pytest.mark.parametrize(
    ("written", "word"),
    [("", "no new mechanism"), ("   ", "no new mechanism"), (None, "no new mechanism"),
     ("allocation and  barriers cost MORE than the gap that is left", "repeats")],
)  # fmt: skip
def test_new_mechanism_must_be_written_and_differ(written, word):
    snapshot, choice = dead_case(new_mechanism=written)
    found = line(judge(snapshot, choice, new_mechanism_marks=[mark(choice)]), "AL4")
    assert found.status == "UNSATISFIED"
    assert word in found.message
    assert found.field == "choices[0].new_mechanism"


def test_marks_by_authors_on_other_choices_or_older_texts_do_not_count():
    snapshot, choice = dead_case()
    for bad in (
        [],
        [mark(choice, by="ann")],
        [mark(choice, by=None)],
        [mark(choice, by="")],
        [mark(choice, choice_id="C2")],
        [mark(choice | {"rationale": "edited"})],
        [{"choice_id": "C1", "by": "rob"}],
        "rob",
        None,
    ):
        result = judge(snapshot, choice, new_mechanism_marks=bad)
        assert line(result, "AL4").status == "UNSATISFIED", bad
        assert not result.passed
    assert judge(snapshot, choice, new_mechanism_marks=[mark(choice, by="ann"), mark(choice)]).passed


def test_marks_count_for_listed_reviewers_only_where_they_are_listed():
    snapshot, choice = dead_case()
    marks = [mark(choice)]
    assert judge(snapshot, choice, new_mechanism_marks=marks, reviewers=["rob"]).passed
    assert not judge(snapshot, choice, new_mechanism_marks=marks, reviewers=["eve"]).passed


# --- AL5, AL6 ---


@pytest.mark.parametrize(
    ("change", "rule", "field"),
    [
        ({"metric": ""}, "AL5", "metric"),
        ({"unit": ""}, "AL5", "unit"),
        ({"direction": "down"}, "AL5", "direction"),
        ({"anchor": ""}, "AL5", "anchor"),
        ({"anchor": "other"}, "AL5", "anchor"),
        ({"tier": "9"}, "AL5", "tier"),
        ({"gain_percent": ""}, "AL5", "gain_percent"),
        ({"gain_percent": "lots"}, "AL5", "gain_percent"),
        ({"cases": []}, "AL5", "cases"),
        ({"rounds": ""}, "AL5", "rounds"),
        ({"kill_percent": ""}, "AL6", "kill_percent"),
        ({"kill_percent": "5"}, "AL6", "kill_percent"),
        ({"delta_percent": "3"}, "AL6", "delta_percent"),
        ({"budget_runs": ""}, "AL6", "budget_runs"),
        ({"budget_runs": "", "deadline": "2026-07-09"}, "AL6", "deadline"),
        ({"park_metric": "wall_us"}, "AL6", "park_percent"),
        ({"park_percent": "5"}, "AL6", "park_metric"),
    ],
)
def test_each_missing_part_of_a_prediction_fires_its_rule(change, rule, field):
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot, prediction=make_prediction(**change)))
    assert not result.passed
    found = line(result, rule)
    assert found.status == "UNSATISFIED"
    assert found.field == f"choices[0].prediction.{field}"
    assert found.fix


@pytest.mark.parametrize("prediction", [None, {}, [], "5%", 5])
def test_no_prediction_fires_both(prediction):
    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot, prediction=prediction))
    assert line(result, "AL5").status == "UNSATISFIED"
    assert line(result, "AL6").status == "UNSATISFIED"


def test_a_deadline_of_today_an_event_and_a_watch_metric_are_fine():
    snapshot = make_snapshot()
    prediction = make_prediction(
        budget_runs="", deadline="2026-07-10", kill_percent="", kill_event="hang", park_metric="wall", park_percent="5"
    )
    assert judge(snapshot, make_choice(snapshot, prediction=prediction)).passed
    assert line(judge(snapshot, make_choice(snapshot, prediction=prediction), today=None), "AL6").status == "ERROR"


def test_the_anchor_needs_its_method_and_the_named_row_must_exist():
    snapshot = make_snapshot()
    spec = make_spec(make_choice(snapshot))
    spec["anchors"][0]["method"] = " "
    found = line(evaluate(spec, snapshot, make_context()), "AL5")
    assert (found.status, found.field) == ("UNSATISFIED", "choices[0].prediction.anchor")
    unknown = make_choice(snapshot, prediction=make_prediction(row="U9"))
    found = line(judge(snapshot, unknown), "AL5")
    assert (found.status, found.field) == ("ERROR", "choices[0].prediction.row")
    known = make_choice(snapshot, prediction=make_prediction(row="U3"))
    assert line(judge(snapshot, known), "AL5").inputs["row_bound"] == "at most 1.18x"


def test_an_exception_inside_a_rule_is_an_error_of_that_rule():
    class Bomb(dict):
        def get(self, *_):
            raise RuntimeError

    snapshot = make_snapshot()
    result = judge(snapshot, make_choice(snapshot, prediction=Bomb(x=1)))
    assert line(result, "AL5").status == "ERROR"
    assert "RuntimeError" in line(result, "AL5").message
    assert not result.passed
    assert line(result, "AL1").status == "SATISFIED"


# --- properties ---

KEYS = st.sampled_from(
    ["rows", "levers", "documents", "choices", "anchors", "id", "lever", "polarity", "scope", "citations", "prediction",
     "kind", "code", "revision", "stance", "head_hash", "revisions", "flagged", "superseded_by", "aliases", "parent",
     "verdict", "cause_class", "m", "tcgen05", "D2", "W5", "authors", "new_mechanism_marks", "contracts", "ops"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | KEYS | st.sampled_from(
    ["adopts", "DEAD", "evidence", "supports", "1..16"]
)  # fmt: skip
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spec=JUNK, snapshot=JUNK, context=JUNK)
def test_evaluate_never_throws_on_junk(spec, snapshot, context):
    result = evaluate(spec, snapshot, context)
    canonical_json(result.as_document())
    assert result.passed is False or result.blocking_lines == []


@settings(max_examples=200, deadline=None)
@given(name=st.sampled_from(sorted(make_choice(make_snapshot()))), value=JUNK)
def test_evaluate_never_throws_on_one_junk_field(name, value):
    snapshot, choice = dead_case()
    canonical_json(judge(snapshot, choice | {name: value}).as_document())


SCOPES = st.fixed_dictionaries(
    {},
    optional={
        "op_class": st.lists(st.sampled_from(["gemv", "projection_gemv", "grouped_gemm"]), max_size=2),
        "m": st.sampled_from(["1", "1..16", "16..", ""]),
        "envelope": st.sampled_from([[], ["fused_megakernel"], ["standalone"]]),
    },
)
LEVER = st.sampled_from(["tcgen05", "reference-pipeline", "warp-specialised-producer", "unknown"])


@settings(max_examples=200, deadline=None)
@given(
    scope=SCOPES,
    dead_scope=SCOPES,
    lever=LEVER,
    cause=st.sampled_from(["", "flat", "ruled_out_by_survey"]),
    cited=st.lists(st.sampled_from(["D2", "W5", "U3"]), max_size=3, unique=True),
    marked=st.booleans(),
    polarity=st.sampled_from(["adopts", "avoids", "keeps", "defers", "?"]),
)
def test_another_blocking_dead_row_never_turns_failing_into_passing(
    scope, dead_scope, lever, cause, cited, marked, polarity
):
    snapshot, choice = dead_case(scope=scope, polarity=polarity)
    choice["citations"] = [pin(snapshot, code) for code in cited]
    marks = [mark(choice)] if marked else []
    before = judge(snapshot, choice, new_mechanism_marks=marks)
    snapshot["rows"]["D77"] = row(revision(lever, "DEAD", dead_scope, cause_class=cause))
    after = judge(snapshot, choice, new_mechanism_marks=marks)
    assert before.passed or not after.passed


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_levers_and_citations_of_the_snapshot_is_irrelevant(random):
    snapshot, choice = dead_case()
    for number in range(3, 13):
        snapshot["rows"][f"D{number}"] = row(revision("tcgen05", "DEAD", {}, mechanism=f"m{number}"))
    before = judge(snapshot, choice).as_document()
    assert [dead["code"] for dead in before["lines"][2]["inputs"]["dead_rows"]] == [f"D{n}" for n in range(2, 13)]
    shuffled = {}
    for name in ("rows", "levers"):
        entries = list(snapshot[name].items())
        random.shuffle(entries)
        shuffled[name] = dict(entries)
    assert judge(snapshot | shuffled, choice).as_document() == before
