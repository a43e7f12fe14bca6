"""R67 to R72, R74 and R76: how a deciding number is taken."""

from decimal import Decimal

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from tests.rules.test_prediction_rules import predicting
from v2kb.rules.measurement_rules import contract_weight_bytes
from v2kb.rules.spec_rules import spec_report
from v2kb.rules.spec_view import SpecView
from v2kb.rules.target_rules import ferret_cap, ferret_score

RULES = ["R67", "R68", "R69", "R70", "R71", "R72"]
BLANK = grouped_gemm_spec()["measurement"] | dict.fromkeys(
    (name for name in grouped_gemm_spec()["measurement"] if name != "targets"), ""
)


def measured(**cells):
    return changed(grouped_gemm_spec(), **{f"measurement__{name}": value for name, value in cells.items()})


def placed(doc, envelope, **contract):
    """(document, ops) of a spec whose op lives in `envelope`."""
    return changed(doc, ops=[{"op": "w13", "contract": "c"}]), {"w13": {"envelope": envelope, **contract}}


def seen(doc, rule, **options):
    return [(f.severity, f.path) for f in found(doc, rule, **options)]


# --- whom the rules concern ---


def test_a_blank_part_concerns_only_predictions_inside_a_megakernel():
    quiet = changed(grouped_gemm_spec(), measurement=BLANK)
    asked = changed(predicting(gain_percent="25"), measurement=BLANK)
    for rule in RULES:
        assert spec_report(quiet).states[rule] == "not_applicable"
    states = spec_report(asked).states
    assert {rule: states[rule] for rule in RULES} == dict.fromkeys(RULES[:-1], "missing_input") | {
        "R72": "not_applicable"
    }
    missing = {f.path for f in spec_report(asked).findings if f.kind == "missing_input"}
    assert missing == {
        f"measurement.{name}"
        for name in ("tier", "timer", "grid", "launches", "statistic", "cold", "floor", "adds_block_maxima",
                     "reads_block_sum")
    }  # fmt: skip
    for envelope in ("standalone", "cpu"):
        doc, ops = placed(asked, envelope)
        states = spec_report(doc, ops=ops).states
        assert {states[rule] for rule in RULES} == {"not_applicable"}


@pytest.mark.parametrize(("envelope", "asked"), [("cpu", False), ("standalone", False), ("fused_megakernel", True)])
def test_without_contracts_the_scope_of_the_choice_says_where_it_runs(envelope, asked):
    doc = changed(predicting(gain_percent="25", tier="2", park_metric=""), measurement=BLANK)
    doc = changed(doc, choices__0__scope={"envelope": [envelope]})
    states = spec_report(doc).states
    assert (states["R69"], states["R73"]) == (("missing_input",) * 2 if asked else ("not_applicable",) * 2)
    assert bool(found(doc, "R67")) is asked
    standalone, ops = placed(doc, "standalone")
    assert spec_report(standalone, ops=ops).states["R69"] == "not_applicable"


def test_a_norm_without_predictions_measures_nothing():
    states = spec_report(norm_spec()).states
    assert {states[rule] for rule in (*RULES, "R74", "R76")} == {"not_applicable"}


# --- R67 ---


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({}, []),
        ({"tier": "2"}, [("W", "measurement.tier")]),
        ({"tier": "3"}, [("E", "measurement.tier")]),
        ({"cold": "no"}, [("E", "measurement.cold")]),
        ({"launches": "2"}, [("E", "measurement.launches")]),
        ({"statistic": "min"}, []),
        ({"statistic": "mean"}, [("E", "measurement.statistic")]),
        ({"statistic": "median_over_blocks"}, [("E", "measurement.statistic")]),
    ],
)
def test_r67_a_deciding_grade(cells, expected):
    assert seen(measured(**cells), "R67") == expected


@pytest.mark.parametrize(("tier", "severity"), [("1", None), ("2", "W"), ("3", "E")])
def test_r67_the_registered_tier(tier, severity):
    path = "choices[0].prediction.tier"
    assert seen(predicting(tier=tier), "R67") == ([(severity, path)] if severity else [])


def test_r67_tier_2_is_pending():
    (finding,) = found(predicting(tier="2"), "R67")
    assert finding.message == "C1 is of TIER 2; inside a megakernel the verdict stays pending TIER-1."
    doc, ops = placed(predicting(tier="2"), "standalone")
    assert seen(doc, "R67", ops=ops) == []
    doc, ops = placed(predicting(tier="3"), "standalone")
    assert seen(doc, "R67", ops=ops) == [("E", "choices[0].prediction.tier")]


def test_r67_the_production_grid_is_that_of_the_op():
    doc, ops = placed(measured(grid="68"), "fused_megakernel", grid="136")
    (finding,) = found(doc, "R67", ops=ops)
    assert (finding.path, finding.facts) == ("measurement.grid", {"grid": 68, "production": [136]})
    for right in ("136", ""):
        doc, ops = placed(measured(grid=right), "fused_megakernel", grid="136")
        assert found(doc, "R67", "missing_input", ops=ops) == []
    doc, ops = placed(measured(grid="136"), "fused_megakernel", grid="136")
    assert seen(doc, "R67", ops=ops) == []


# --- R68 ---


@pytest.mark.parametrize(
    ("body_us", "timer", "envelope", "fires"),
    [
        ("5", "events", "fused_megakernel", True),
        ("20", "events", "fused_megakernel", True),
        ("40", "events", "fused_megakernel", True),
        ("40.1", "events", "fused_megakernel", False),
        ("20", "cupti", "fused_megakernel", True),
        ("20", "globaltimer", "fused_megakernel", False),
        ("20", "cupti", "standalone", False),
        ("20", "events", "standalone", True),
    ],
)
def test_r68_short_bodies(body_us, timer, envelope, fires):
    doc, ops = placed(measured(body_us=body_us, timer=timer), envelope)
    assert seen(doc, "R68", ops=ops) == ([("E", "measurement.timer")] if fires else [])


def test_r68_missing_and_unreadable():
    assert [f.path for f in found(measured(timer=""), "R68", "missing_input")] == ["measurement.timer"]
    for timer in ("events", "cupti"):
        bare = measured(timer=timer, body_us="")
        assert [f.path for f in found(bare, "R68", "missing_input")] == ["measurement.body_us"]
    assert spec_report(measured(body_us="")).states["R68"] == "passed", "globaltimer is right for any body"
    for wrong in ("short", "0", "-3"):
        assert seen(measured(body_us=wrong), "R68") == [("E", "measurement.body_us")]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("launches", "The number of launches is not stated."),
        ("grid", "The grid of the measurement is not stated."),
        ("layers", "It isn't said over how many layers one iteration runs."),
        ("weight_bytes", "The weights of one layer are not given, and no contract gives them."),
    ],
)
def test_a_number_that_is_missing_is_asked_for_in_words(cell, said):
    doc = changed(predicting(gain_percent="5"), **{f"measurement__{cell}": ""})
    (missing,) = [f for f in spec_report(doc).findings if f.path == f"measurement.{cell}"]
    assert missing.message == said
    assert missing.fix.startswith("Write ")


# --- R69 to R71 ---


@pytest.mark.parametrize(
    ("rule", "cell", "bad", "good"),
    [
        ("R69", "floor", "peak_roofline", "same_grid_load_only"),
        ("R69", "floor", "peak_roofline", "none"),
        ("R70", "adds_block_maxima", "yes", "no"),
        ("R71", "reads_block_sum", "no", "yes"),
    ],
)
def test_one_answer_fires(rule, cell, bad, good):
    assert seen(measured(**{cell: bad}), rule) == [("E", f"measurement.{cell}")]
    assert seen(measured(**{cell: good}), rule) == []
    blank = changed(predicting(gain_percent="5"), **{f"measurement__{cell}": ""})
    assert [f.path for f in found(blank, rule, "missing_input")] == [f"measurement.{cell}"]


def test_r69_a_range_of_bandwidth_is_a_plan_and_no_probe():
    assert seen(measured(floor="achievable_bandwidth"), "R69") == [("W", "measurement.floor")]


# --- R72 ---


@pytest.mark.parametrize(
    ("per_layer", "layers", "fires"),
    [
        ("47600000", "6", False),
        ("47600000", "4", True),
        ("33030144 + 16515072", "6", False),
        ("33030144 + 16515072", "5", True),
        ("252000000", "1", False),
        ("251999999", "1", True),
    ],
)
def test_r72_cold_stream(per_layer, layers, fires):
    findings = found(measured(weight_bytes=per_layer, layers=layers), "R72")
    assert [f.path for f in findings] == (["measurement.layers"] if fires else [])


def test_r72_worked_numbers():
    (finding,) = found(measured(weight_bytes="47600000", layers="4"), "R72")
    assert finding.facts == {"stream_bytes": 190_400_000}
    assert spec_report(measured(cold="no", layers="1")).states["R72"] == "not_applicable"
    assert [f.path for f in found(measured(weight_bytes=""), "R72", "missing_input")] == ["measurement.weight_bytes"]
    assert [f.path for f in found(measured(layers=""), "R72", "missing_input")] == ["measurement.layers"]


def weights(shapes, **axes):
    """A contract whose weights are fp8 of these shapes, with the axes of its workload `decode_active4`."""
    return {
        "envelope": "fused_megakernel",
        "axes": {**{name: {"symbol": True} for name in axes}, "one": {"value": "1"}},
        "inputs": [
            {"name": "a", "shape": ["one", "7168"], "dtype": "float8_e4m3fn", "kind": "activation"},
            *({"name": f"w{i}", "shape": s, "dtype": "float8_e4m3fn", "kind": "weight"} for i, s in enumerate(shapes)),
        ],
        "workloads": [
            {"name": "one", "axes": dict.fromkeys(axes, "1")},
            {"name": "decode_active4", "axes": axes},
        ],
    }  # fmt: skip


W13 = weights([["slots", "1024", "7168"], ["512", "7168"]], slots="4")
W2 = weights([["slots", "7168", "512"], ["7168", "256"]], slots="4")


def test_r72_bytes_come_from_the_contracts():
    ops = [{"op": "w13", "contract": "c"}, {"op": "w2", "contract": "c"}]
    doc = changed(predicting(cases=["decode_active4"]), ops=ops, measurement__weight_bytes="")
    contracts = {"w13": W13, "w2": W2}
    assert contract_weight_bytes(SpecView(doc, {"w13": W13})) is None
    assert contract_weight_bytes(SpecView(changed(doc, ops=ops[:1]), contracts)) == 33_030_144
    assert contract_weight_bytes(SpecView(changed(doc, ops=ops[1:]), contracts)) == 16_515_072
    assert contract_weight_bytes(SpecView(doc, contracts)) == 49_545_216
    assert seen(doc, "R72", ops=contracts) == []
    (finding,) = found(changed(doc, measurement__layers="5"), "R72", ops=contracts)
    assert finding.facts == {"stream_bytes": 5 * 49_545_216}
    (finding,) = found(changed(doc, measurement__weight_bytes="47600000"), "R72", ops=contracts)
    assert (finding.severity, finding.facts) == ("W", {"stated": 47_600_000, "derived": 49_545_216})


def test_r72_without_a_registered_workload_nothing_is_derived():
    doc = changed(predicting(cases=["another"]), ops=[{"op": "w13", "contract": "c"}])
    assert contract_weight_bytes(SpecView(doc, {"w13": W13})) is None
    assert contract_weight_bytes(SpecView(grouped_gemm_spec())) is None


# --- R74, R76 ---


def test_r74_the_score_of_a_run():
    assert ferret_score(Decimal("12.5")) == 80_000
    assert ferret_score(Decimal("12.5"), trusted=False) == 0
    assert ferret_cap(Decimal("2"), Decimal("25")) == Decimal("80800.00")
    with pytest.raises(ValueError, match="above 0"):
        ferret_score(Decimal(0))
    doc = changed(grouped_gemm_spec(), engine__routing__route="ferret")
    (finding,) = found(doc, "R74")
    assert (finding.severity, finding.facts) == ("I", {"score": "81967", "cap": "82708"})
    none = changed(doc, measurement__targets=[])
    assert [f.path for f in found(none, "R74", "missing_input")] == ["measurement.targets"]
    assert spec_report(grouped_gemm_spec()).states["R74"] == "not_applicable"


@pytest.mark.parametrize(
    ("now", "target", "ratio", "fires"),
    [
        ("27", "12.2", "2.21", False),
        ("27", "12.2", "2.2", False),
        ("27", "12.2", "2", False),
        ("27", "12.2", "2.213", False),
        ("27", "12.2", "2.22", True),
        ("27", "12.2", "2.3", True),
        ("27", "12.2", "3", True),
        ("13", "6", "2.17", False),
        ("13", "6", "2.2", False),
        ("13", "6", "2.16", True),
        ("13", "6", "2.1", True),
    ],
)
def test_r76_targets(now, target, ratio, fires):
    row = {"what": "body", "now": now, "target": target, "ratio": ratio}
    findings = seen(measured(targets=[row]), "R76")
    assert findings == ([("W", "measurement.targets[0].ratio")] if fires else [])


@pytest.mark.parametrize("cell", ["now", "target", "ratio"])
@pytest.mark.parametrize("value", ["", "0", "-1", "many"])
def test_r76_missing(cell, value):
    row = {"what": "body", "now": "27", "target": "12.2", "ratio": "2.21", cell: value}
    assert [f.path for f in found(measured(targets=[row]), "R76", "missing_input")] == [
        f"measurement.targets[0].{cell}"
    ]


def test_r76_enormous_numbers_are_answered():
    row = {"what": "body", "now": "1e30", "target": "1e-30", "ratio": "0." + "1" * 29}
    assert seen(measured(targets=[row]), "R76") == [("W", "measurement.targets[0].ratio")]
