"""R64, R66 and R73, and how a prediction is compared with what the evidence allows."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from tests.starter_data import STARTER, load
from v2kb.rules.ceilings import (
    FLOOR,
    GAIN,
    PERCENT,
    PUBLISHED,
    RATIO,
    Ceiling,
    Predicted,
    beyond,
    ceilings_of,
    read_predicted,
)
from v2kb.rules.spec_document import empty_row
from v2kb.rules.spec_rules import spec_report

PARK = {"park_metric": "ffn_layer_wall_us", "park_percent": "5"}


def predicting(row="", citations=(), polarity="adopts", now="27", **prediction):
    """The grouped GEMM with one choice that predicts."""
    choice = {
        **empty_row("choices"), "id": "C1", "lever": "role-pipeline", "polarity": polarity,
        "citations": list(citations),
        "prediction": {**empty_row("choices.prediction"), **PARK, "row": row, "unit": "us", "tier": "1", **prediction},
    }  # fmt: skip
    return changed(grouped_gemm_spec(), choices=[choice], measurement__body_us=now)


def cited(code, stance):
    return {"kind": "evidence", "code": code, "revision": "", "stance": stance}


# --- ceilings ---


@pytest.mark.parametrize(
    ("row", "prediction", "fires"),
    [
        ("U1", {"gain_percent": "15.25"}, False),
        ("U1", {"gain_percent": "15.26"}, True),
        ("U1", {"gain_percent": "10", "gain_high_percent": "16"}, True),
        ("U1", {"gain_absolute": "4.1"}, False),
        ("U1", {"gain_absolute": "4.2"}, True),
        ("D3", {"gain_percent": "76.8"}, False),
        ("D3", {"gain_percent": "77"}, True),
        ("D3", {"bands": [{"what": "body", "low": "6.24", "high": "8", "unit": "us"}]}, False),
        ("D3", {"bands": [{"what": "body", "low": "6", "high": "12", "unit": "us"}]}, True),
        ("D3", {"bands": [{"what": "body", "low": "6000", "high": "9000", "unit": "ns"}]}, True),
        ("D2", {"gain_absolute": "0.61"}, False),
        ("D2", {"gain_absolute": "0.62"}, True),
        ("D2", {"gain_absolute": "0.00062", "unit": "ms"}, True),
        ("D2", {"gain_percent": "2"}, False),
        ("D2", {"gain_percent": "3"}, True),
        ("D10", {"gain_absolute": "3.2"}, False),
        ("D10", {"gain_absolute": "3.3"}, True),
        ("U3", {"gain_percent": "90"}, False),
    ],
)
def test_r64_the_published_ceilings(row, prediction, fires):
    findings = found(predicting(row, **prediction), "R64")
    assert [(f.severity, f.path, f.facts["row"]) for f in findings] == (
        [("E", "choices[0].prediction", row)] if fires else []
    )


def test_r64_message():
    (finding,) = found(predicting("U1", gain_percent="20"), "R64")
    assert finding.message == "C1 predicts a gain of 20% (15.25% at most); U1 allows 1.18x."
    (finding,) = found(predicting("D3", gain_percent="80"), "R64")
    assert finding.message == "C1 predicts a time of 5.4 us; D3 allows a floor of 6.24 us."


@pytest.mark.parametrize(("stance", "binds"), [("supports", True), ("contradicts", True), ("context", False)])
def test_r64_context_binds_nobody(stance, binds):
    doc = predicting(citations=[cited("U1", stance)], gain_percent="50")
    assert bool(found(doc, "R64")) is binds


def test_r64_says_what_it_lacks():
    doc = predicting("D2", gain_percent="2", now="")
    assert "measurement.body_us" in [f.path for f in found(doc, "R64", "missing_input")]
    assert found(predicting("D2", gain_absolute="0.5", now=""), "R64", "missing_input") == []
    nothing = predicting("U1")
    assert [f.path for f in found(nothing, "R64", "missing_input")] == ["measurement.body_us"]


def test_r64_reads_the_ceilings_that_it_is_given():
    doc = predicting("U9", gain_percent="20")
    assert spec_report(doc).states["R64"] == "not_applicable"
    given = {"U9": (Ceiling(RATIO, Decimal("1.1")),)}
    report = spec_report(doc, ceilings=given)
    assert [f.facts["ceiling"] for f in report.findings if f.rule == "R64"] == ["1.1x"]
    assert spec_report(predicting("U1", gain_percent="20"), ceilings=given).states["R64"] == "not_applicable"


@pytest.mark.parametrize("code", ["U1", "D2", "D3", "D10"])
def test_ceilings_of_the_starter_rows_hold_the_published_ones(code):
    content = load(STARTER / "levers.json")["rows"][code]
    assert set(PUBLISHED[code]) <= set(ceilings_of(code, content))


def test_ceilings_of_a_row_of_another_site_are_its_own():
    content = {"numbers": [{"role": "bound", "unit": "percent", "value": "7"}, {"role": "verdict", "unit": "x",
               "value": "3.2"}, {"role": "bound", "unit": "us", "value": "9"}, {"role": "bound", "unit": "x",
               "low": "1", "high": "2", "value": None}, {"role": "bound", "unit": "x", "value": "0.9"}]}  # fmt: skip
    assert ceilings_of("D2", content) == (Ceiling(PERCENT, Decimal(7)), Ceiling(RATIO, Decimal(2)))
    assert ceilings_of("D2", {}) == ()


NUMBERS = st.decimals(min_value="0.01", max_value="99", places=2)


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([RATIO, PERCENT, GAIN, FLOOR]))
def test_a_smaller_gain_never_goes_beyond_where_a_larger_one_does_not(one, other, limit, kind):
    small, large = sorted((one, other))
    ceiling = Ceiling(kind, limit + 1 if kind == RATIO else limit)
    if beyond(Predicted(percent=large), ceiling, Decimal(20)) == "":
        assert beyond(Predicted(percent=small), ceiling, Decimal(20)) == ""


@given(st.dictionaries(st.sampled_from(["gain_percent", "gain_high_percent", "gain_absolute", "unit"]), st.text()))
def test_an_unreadable_prediction_is_compared_with_nothing(raw):
    for ceiling in (Ceiling(kind, Decimal(2)) for kind in (RATIO, PERCENT, GAIN, FLOOR)):
        assert beyond(read_predicted(raw), ceiling, None) in (None, "") or raw


def test_enormous_numbers_are_answered():
    doc = predicting("U1", gain_percent="9" * 39)
    assert found(doc, "R64")
    assert found(predicting("D2", gain_absolute="1e30", now="1e-30"), "R64")


# --- R66 ---


@pytest.mark.parametrize(
    ("stance", "polarity", "family", "fires"),
    [
        ("supports", "adopts", "A", True),
        ("context", "adopts", "A", False),
        ("supports", "keeps", "A", False),
        ("supports", "adopts", "B", False),
    ],
)
def test_r66_trip_counts_are_about_mac_warps(stance, polarity, family, fires):
    doc = changed(predicting(citations=[cited("W1", stance)], polarity=polarity), engine__family=family)
    assert [(f.severity, f.path) for f in found(doc, "R66")] == ([("I", "choices[0].citations")] if fires else [])


# --- R73 ---


@pytest.mark.parametrize("cell", ["park_metric", "park_percent"])
def test_r73_cutting_an_op_into_tasks_needs_a_watch_metric(cell):
    assert found(predicting(), "R73", "missing_input") == []
    (finding,) = found(predicting(**{cell: ""}), "R73", "missing_input")
    assert (finding.path, finding.severity) == (f"choices[0].prediction.{cell}", "E")


@pytest.mark.parametrize(
    ("percent", "severity"), [("0.5", None), ("5", None), ("5.1", "W"), ("10", "W"), ("10.5", "E"), ("50", "E")]
)
def test_r73_parks_before_a_loss_ships_and_before_the_phase_is_killed(percent, severity):
    findings = found(predicting(park_percent=percent), "R73")
    path = "choices[0].prediction.park_percent"
    assert [(f.severity, f.path) for f in findings] == ([(severity, path)] if severity else [])
    assert all(f"more than {percent}%" in f.message for f in findings)


def test_r73_concerns_what_changes_the_tasks_of_a_megakernel():
    bare = {"park_metric": "", "park_percent": ""}
    avoided = predicting(polarity="avoids", **bare)
    assert spec_report(avoided).states["R73"] == "not_applicable"
    one = changed(norm_spec(), choices=predicting(**bare)["choices"])
    assert spec_report(one).states["R73"] == "not_applicable"
    alone = changed(predicting(**bare), ops=[{"op": "w13", "contract": "c"}])
    assert spec_report(alone, ops={"w13": {"envelope": "standalone"}}).states["R73"] == "not_applicable"
    wide = changed(one, granularity__0__mode="grid_wide")
    assert spec_report(wide).states["R73"] == "missing_input"
