"""R43 to R45, R75 and R77: idiom, stages, rows, the engine that writes the body, scale packs."""

import pytest

from tests.rules.barrier_tables import grouped_gemm_channels
from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from v2kb.rules.engine_rules import expected_route
from v2kb.rules.rule_registry import Context
from v2kb.rules.spec_document import empty_row
from v2kb.rules.spec_rules import spec_report
from v2kb.rules.spec_view import Missing, SpecView

GEMM = {
    "kind": "gemm_pipeline",
    "envelope": "fused_megakernel",
    "inputs": [{"name": "w", "shape": [], "kind": "scale"}],
}


def with_op(doc, **edits):
    return changed(doc, ops=[{"op": "w13", "contract": "c"}], **edits)


# --- R43 ---


def test_r43_the_published_counts_give_a_note_at_active_0():
    doc = changed(grouped_gemm_spec(), granularity__2__active_low="0")
    (finding,) = found(doc, "R43")
    assert (finding.severity, finding.path) == ("I", "granularity[2].iterations")
    assert finding.facts == {"low": 2, "high": 34, "active": [0]}
    assert finding.message == "W2 streams 2 to 34 K iterations; below 4 at active = 0."


@pytest.mark.parametrize(
    ("count", "m", "severity"),
    [("3", "1", "W"), ("4", "1", None), ("3", "127", "W"), ("3", "128", None), ("56", "1", None)],
)
def test_r43_a_pipeline_fills_its_ring_or_its_tile(count, m, severity):
    doc = changed(grouped_gemm_spec(), granularity__0__iterations=count, engine__m=m)
    assert [f.severity for f in found(doc, "R43")] == ([severity] if severity else [])


def test_r43_needs_iterations_only_below_the_tile():
    doc = changed(grouped_gemm_spec(), granularity__0__iterations="")
    assert [f.path for f in found(doc, "R43", "missing_input")] == ["granularity[0].iterations"]
    assert found(changed(doc, engine__m="128"), "R43", "missing_input") == []


def test_r43_a_streamed_product_without_a_pipeline():
    doc = with_op(norm_spec(), granularity__0__iterations="56")
    (finding,) = found(doc, "R43", ops={"w13": GEMM})
    assert (finding.severity, finding.path) == ("W", "engine.family")
    assert found(changed(doc, granularity__0__iterations="3"), "R43", ops={"w13": GEMM}) == []
    assert found(doc, "R43", ops={"w13": {**GEMM, "kind": "reduction"}}) == []


@pytest.mark.parametrize("rule", ["R43", "R44", "R45"])
def test_an_unchosen_family_is_a_missing_input(rule):
    doc = changed(grouped_gemm_spec(), engine__family="")
    assert [f.path for f in found(doc, rule, "missing_input")] == ["engine.family"]
    assert spec_report(norm_spec()).states[rule] == "not_applicable"


# --- R44, R45 ---


@pytest.mark.parametrize(("stages", "fires"), [("4", True), ("5", True), ("6", False), ("8", False)])
def test_r44_stages(stages, fires):
    findings = found(changed(grouped_gemm_spec(), symbols__STAGES=stages), "R44")
    assert [(f.severity, f.path) for f in findings] == ([("W", "roles.stages")] if fires else [])


@pytest.mark.parametrize("written", [{"roles__stages": "7"}, {"symbols__STAGES": "7", "roles__stages": "8"}])
def test_r44_barriers_of_the_loads_have_a_slot_for_each_stage(written):
    """The tensor-memory ring has its own depth; the way back is compared with the way there by R31."""
    findings = found(changed(grouped_gemm_spec(), **written), "R44")
    assert [(f.severity, f.path) for f in findings] == [("W", "sems.rows[0].slots"), ("W", "sems.rows[1].slots")]
    slots, stages = (8, 7) if written == {"roles__stages": "7"} else (7, 8)
    assert findings[0].message == f"W_tma has {slots} slots, but the ring has {stages} stages."


OWN_WAY_BACK = {"name": "B_free", "ordinal": "4*STAGES", "slots": "6", "pair": "B_sf", "first_phase": "1"}


def with_second_ring(slots, *, slices="6", pair="B_free", **cells):
    """The grouped GEMM with B and its scales in a ring of their own; the ring of the stages stays that of W."""
    doc = grouped_gemm_spec()
    rows = doc["sems"]["rows"]
    rows.append({**rows[2], **OWN_WAY_BACK, "slots": slots})
    doc = changed(doc, sems__rows__1__slots=slots, sems__rows__1__pair=pair)
    doc = changed(doc, **{f"sems__rows__1__{name}": value for name, value in cells.items()})
    for part in doc["smem"]["regions"][8]["slices"][:3]:
        part["slots"] = slices
    return doc


@pytest.mark.parametrize(
    ("second", "severity", "said"),
    [
        ({"slots": "6"}, None, ""),
        ({"slots": "12", "slices": "12"}, None, ""),
        ({"slots": "6", "storage": "B+SFA+SFB"}, None, ""),
        ({"slots": "6", "storage": ""}, None, ""),
        ({"slots": "2", "slices": "2", "arrives": "early"}, None, ""),
        ({"slots": "4", "slices": "4"}, "I", "the loads of one iteration get 4 ahead at most"),
        # Each of the ways in which a barrier is left behind when the stages change.
        ({"slots": "6", "slices": "STAGES"}, "W", "but BSF, which it fills, has 8."),
        ({"slots": "6", "slices": "4", "storage": "B"}, "W", "but B, which it fills, has 4."),
        ({"slots": "6", "storage": "W"}, "W", "but W, which it fills, has 8."),
        ({"slots": "6", "pair": "mma"}, "W", "but comes back by mma together with the ring of 8 stages."),
        ({"slots": "6", "slices": "STAGES", "data": "tma"}, "W", "but BSF, which it fills, has 8."),
    ],
)
def test_r44_a_second_ring_has_its_own_depth_where_its_way_back_and_its_storage_are_its_own(second, severity, said):
    findings = found(with_second_ring(**second), "R44")
    assert [(f.severity, f.path) for f in findings] == ([(severity, "sems.rows[1].slots")] if severity else [])
    assert [f for f in findings if said not in f.message] == []


def test_r44_two_rings_of_which_none_has_the_stages():
    findings = found(changed(with_second_ring("6"), roles__stages="7"), "R44")
    assert [(f.severity, f.path) for f in findings] == [("W", "sems.rows[0].slots"), ("W", "sems.rows[1].slots")]


def test_r44_depths_of_channels():
    doc = grouped_gemm_channels()
    assert found(doc, "R44") == []
    findings = found(changed(doc, sems__channels__0__depth="4"), "R44")
    assert [f.path for f in findings] == ["sems.channels[0].depth"]
    own = {"shares_empty_with": "", "empty_base": "32", "depth": "6", "storage": ""}
    second = changed(doc, **{f"sems__channels__1__{name}": value for name, value in own.items()})
    assert found(second, "R44") == []


def test_r44_missing_stages():
    doc = changed(grouped_gemm_spec(), roles__stages="")
    assert [f.path for f in found(doc, "R44", "missing_input")] == ["roles.stages"]


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({"engine__m": "16"}, None),
        ({"engine__m": "17"}, "engine.m"),
        ({"engine__m": "128"}, "engine.m"),
        ({"engine__m": "0"}, "engine.m"),
        ({"engine__tiles_per_task": "2"}, "engine.tiles_per_task"),
        ({"engine__tiles_per_task": "0"}, "engine.tiles_per_task"),
    ],
)
def test_r45_rows_and_tiles(edit, path):
    findings = found(changed(grouped_gemm_spec(), **edit), "R45")
    assert [(f.path, f.severity) for f in findings] == ([(path, "E")] if path else [])


def test_r45_missing():
    doc = changed(grouped_gemm_spec(), engine__m="", engine__tiles_per_task="")
    assert [f.path for f in found(doc, "R45", "missing_input")] == ["engine.m", "engine.tiles_per_task"]


# --- R75 ---

WIRED = {"wired": "yes", "frozen_gate": "yes", "numeric_target": "yes", "campaign_verdict": "no"}


@pytest.mark.parametrize(
    ("answers", "route"),
    [
        ({"first_bring_up": "yes"}, "engineer"),
        ({"first_bring_up": "yes", **WIRED}, "engineer"),
        ({"first_bring_up": "no", **WIRED}, "ferret"),
        ({"first_bring_up": "no", **WIRED, "frozen_gate": "no"}, "engineer"),
        ({"first_bring_up": "no", **WIRED, "wired": "no"}, "engineer"),
        ({"first_bring_up": "no", **WIRED, "numeric_target": "no"}, "engineer"),
        ({"first_bring_up": "no", **WIRED, "campaign_verdict": "yes"}, "kda"),
        ({"first_bring_up": "no", **WIRED, "wedge_rounds": "1"}, "ferret"),
        ({"first_bring_up": "no", **WIRED, "wedge_rounds": "2"}, "engineer"),
    ],
)
def test_r75_the_routing_table(answers, route):
    for said in ("engineer", "ferret", "kda", "none"):
        doc = changed(grouped_gemm_spec(), engine__routing={"route": said, **answers})
        findings = found(doc, "R75")
        assert [f.facts.get("expected") for f in findings] == ([] if said == route else [route])
        assert {f.severity for f in findings} <= {"W"}


def test_r75_a_dead_class_goes_to_nobody():
    against = {"kind": "evidence", "code": "D2", "revision": "", "stance": "contradicts"}
    doc = changed(grouped_gemm_spec(), choices__0__citations=[against])
    (finding,) = found(doc, "R75")
    assert finding.facts == {"route": "engineer", "expected": "none"}
    assert found(changed(doc, choices__0__new_mechanism="The consumer is the tensor core."), "R75") == []
    assert found(changed(doc, choices__0__polarity="avoids"), "R75") == []
    for harmless in ({**against, "stance": "context"}, {**against, "code": "W2"}):
        assert found(changed(doc, choices__0__citations=[harmless]), "R75") == []


@pytest.mark.parametrize(
    ("code", "verdicts", "fires"),
    [
        ("D2", {}, True),
        ("D2", {"D2": "DEAD"}, True),
        ("U1", {"U1": "DEAD"}, True),
        ("D2", {"D2": "WIN"}, False),
        ("U1", {"U1": "UNTESTED"}, False),
        ("U1", {"D2": "DEAD"}, False),
    ],
)
def test_r75_knows_a_dead_row_by_its_verdict_and_by_its_letter_only_where_the_row_is_not_at_hand(code, verdicts, fires):
    against = {"kind": "evidence", "code": code, "revision": "", "stance": "contradicts"}
    doc = changed(grouped_gemm_spec(), choices__0__citations=[against])
    report = spec_report(doc, verdicts=verdicts)
    assert bool([f for f in report.findings if f.rule == "R75"]) is fires


@pytest.mark.parametrize("asked", ["first_bring_up", "campaign_verdict", "wired", "frozen_gate", "numeric_target"])
def test_r75_says_which_answer_is_missing(asked):
    routing = {"route": "ferret", "first_bring_up": "no", **WIRED, asked: ""}
    doc = changed(grouped_gemm_spec(), engine__routing=routing)
    assert [f.path for f in found(doc, "R75", "missing_input")] == [f"engine.routing.{asked}"]
    assert isinstance(expected_route(SpecView(doc), Context()), Missing)


def test_r75_only_a_pipeline_must_name_its_engine():
    assert spec_report(norm_spec()).states["R75"] == "not_applicable"
    doc = changed(grouped_gemm_spec(), engine__routing={})
    assert [f.path for f in found(doc, "R75", "missing_input")] == ["engine.routing.route"]
    unreadable = changed(grouped_gemm_spec(), engine__routing__wedge_rounds="TWO")
    assert [f.path for f in found(unreadable, "R75", "missing_input")] == ["engine.routing.wedge_rounds"]
    assert found(changed(norm_spec(), engine__routing={"route": "kda", "first_bring_up": "yes"}), "R75")


# --- R77 ---


@pytest.mark.parametrize("flag", ["positive", "finite", "power_of_two", "exponent_in_range"])
def test_r77_each_property_of_a_pack(flag):
    (finding,) = found(changed(grouped_gemm_spec(), **{f"scale_packs__0__{flag}": False}), "R77")
    assert (finding.path, finding.facts) == (f"scale_packs[0].{flag}", {"lacking": [flag]})
    assert finding.message.startswith("w13_scale is not asserted to be ")


def test_r77_a_blank_pack_lacks_all_four():
    doc = changed(grouped_gemm_spec(), scale_packs=[empty_row("scale_packs")])
    assert len(found(doc, "R77")[0].facts["lacking"]) == 4


def test_r77_scales_without_a_pack_are_a_missing_input():
    doc = with_op(grouped_gemm_spec(), scale_packs=[])
    assert [f.path for f in found(doc, "R77", "missing_input", ops={"w13": GEMM})] == ["scale_packs"]
    assert spec_report(doc, ops={"w13": {**GEMM, "inputs": []}}).states["R77"] == "not_applicable"
    assert spec_report(norm_spec()).states["R77"] == "not_applicable"
