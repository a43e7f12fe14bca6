import math
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.sessions import prediction
from v2kb.rules.canonical import content_hash
from v2kb.rules.plan_check import anchor_in_unit, check_plan
from v2kb.rules.prediction_reading import FIELDS, parse_prediction

UNHURRIED = settings(deadline=None)


def prereg(**changes):
    parsed = parse_prediction(prediction(**changes))
    assert parsed.prereg is not None, parsed.problems
    return parsed.prereg


def test_a_complete_prediction_is_read():
    plan = prereg(deadline="2026-12-31", park_metric="wall_us", park_percent="5", gain_high_percent="12")
    assert (plan.metric, plan.unit, plan.direction, plan.anchor, plan.tier) == ("time_us", "us", "lower", "base", 2)
    assert (plan.gain.percent, plan.gain_high.percent, plan.kill.percent) == (5, 12, 3)
    assert (plan.rounds, plan.looks, plan.cases, plan.budget_runs) == (3, 1, ("decode",), 3)
    assert (plan.deadline, plan.park_metric, plan.park_percent) == (date(2026, 12, 31), "wall_us", 5)


def test_thresholds_in_log_units():
    plan = prereg(gain_high_percent="12")
    assert plan.bar() == pytest.approx(-abs(math.log(1 - 0.03)))
    assert plan.margin == pytest.approx(abs(math.log(1 - 0.01)))
    assert plan.prediction() == pytest.approx((math.log(0.95), math.log(0.88)))
    assert prereg().prediction() == pytest.approx((math.log(0.95), math.log(0.95)))


def test_looks_split_the_level():
    plan = prereg(looks="2", rounds="5")
    assert plan.level == pytest.approx(0.975)
    assert plan.equivalence_level == pytest.approx(0.95)
    assert plan.allowed_rounds() == (5, 10)
    assert prereg().level == pytest.approx(0.95)
    assert prereg().equivalence_level == pytest.approx(0.90)


def test_absolute_thresholds_need_the_anchor():
    plan = prereg(kill_percent="", kill_absolute="0.3", gain_percent="", gain_absolute="0.5", unit="ms")
    assert plan.bar() is None
    assert plan.bar(30.0) == pytest.approx(math.log(1 - 0.01))
    assert plan.prediction(30.0)[0] == pytest.approx(math.log(1 - 0.5 / 30))
    assert plan.bar(0.2) is None, "more than the whole anchor can't be gained"
    assert plan.bar(0.0) is None
    assert plan.kill.text("ms") == "0.3 ms"


@pytest.mark.parametrize(
    ("changes", "field", "rule"),
    [
        ({"metric": ""}, "metric", "AL5"),
        ({"metric": 5}, "metric", "AL5"),
        ({"metric": "m" * 201}, "metric", "AL5"),
        ({"unit": "  "}, "unit", "AL5"),
        ({"anchor": None}, "anchor", "AL5"),
        ({"direction": "down"}, "direction", "AL5"),
        ({"direction": ["lower"]}, "direction", "AL5"),
        ({"tier": "4"}, "tier", "AL5"),
        ({"tier": 2}, "tier", "AL5"),
        ({"tier": "3"}, "tier", "AL5"),
        ({"gain_percent": ""}, "gain_percent", "AL5"),
        ({"gain_percent": "five"}, "gain_percent", "AL5"),
        ({"gain_percent": 5.5}, "gain_percent", "AL5"),
        ({"gain_percent": True}, "gain_percent", "AL5"),
        ({"gain_percent": "NaN"}, "gain_percent", "AL5"),
        ({"gain_percent": "Infinity"}, "gain_percent", "AL5"),
        ({"gain_percent": "0"}, "gain_percent", "AL5"),
        ({"gain_percent": "-5"}, "gain_percent", "AL5"),
        ({"gain_percent": "100"}, "gain_percent", "AL5"),
        ({"gain_absolute": "3"}, "gain_absolute", "AL5"),
        ({"gain_high_percent": "4"}, "gain_high_percent", "AL5"),
        ({"gain_percent": "", "gain_absolute": "9", "gain_high_percent": "9"}, "gain_high_percent", "AL5"),
        ({"cases": []}, "cases", "AL5"),
        ({"cases": "decode"}, "cases", "AL5"),
        ({"cases": ["decode", "decode"]}, "cases", "AL5"),
        ({"cases": ["decode", 3]}, "cases", "AL5"),
        ({"rounds": ""}, "rounds", "AL5"),
        ({"rounds": "2"}, "rounds", "AL5"),
        ({"rounds": "3.5"}, "rounds", "AL5"),
        ({"rounds": "1e9"}, "rounds", "AL5"),
        ({"looks": "0"}, "looks", "AL5"),
        ({"delta_percent": ""}, "delta_percent", "AL5"),
        ({"delta_percent": "-1"}, "delta_percent", "AL5"),
        ({"delta_percent": "3"}, "delta_percent", "AL5"),
        ({"delta_percent": "99.9999999999999999999999"}, "delta_percent", "AL5"),
        ({"kill_percent": ""}, "kill_percent", "AL6"),
        ({"kill_percent": "0"}, "kill_percent", "AL6"),
        ({"kill_percent": "5"}, "kill_percent", "AL6"),
        ({"kill_percent": "7"}, "kill_percent", "AL6"),
        ({"kill_absolute": "0.3"}, "kill_absolute", "AL6"),
        (
            {"kill_percent": "", "kill_absolute": "5", "gain_percent": "", "gain_absolute": "4"},
            "kill_absolute",
            "AL6",
        ),
        ({"budget_runs": ""}, "budget_runs", "AL6"),
        ({"budget_runs": "0"}, "budget_runs", "AL6"),
        ({"deadline": "next week"}, "deadline", "AL6"),
        ({"deadline": "2025-01-01"}, "deadline", "AL6"),
        ({"park_metric": "wall_us"}, "park_percent", "AL6"),
        ({"park_percent": "5"}, "park_metric", "AL6"),
        ({"surprise": "1"}, "surprise", "AL5"),
    ],
)
def test_a_wrong_field_is_named_and_only_that(changes, field, rule):
    parsed = parse_prediction(prediction(**changes), today=date(2026, 1, 1))
    assert parsed.prereg is None
    assert {(problem.field, problem.rule) for problem in parsed.problems} == {(field, rule)}
    assert all(problem.message and problem.fix for problem in parsed.problems)


def test_an_event_alone_is_a_kill_but_no_number():
    plan = prereg(kill_percent="", kill_event="a hang that survives the ladder")
    assert plan.kill is None
    assert plan.bar() is None
    assert not check_plan(plan, 0.001).ok


@pytest.mark.parametrize("raw", [None, "", [], 5, "time"])
def test_what_is_no_object_is_one_problem(raw):
    parsed = parse_prediction(raw)
    assert parsed.prereg is None
    assert len(parsed.problems) == 1


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.lists(st.text(), max_size=3)
)


@UNHURRIED
@given(st.dictionaries(st.sampled_from(FIELDS), JUNK), st.dictionaries(st.text(), JUNK, max_size=2))
def test_junk_never_raises(known, unknown):
    for raw in (known, {**prediction(), **known, **unknown}):
        parsed = parse_prediction(raw, today=date(2026, 1, 1))
        assert (parsed.prereg is None) == bool(parsed.problems)
        if parsed.prereg:
            assert content_hash(parsed.prereg.as_document())


def test_the_sealed_document_is_canonical_and_reads_back():
    plan = prereg(gain_percent="5.00", cases=["b", "a"], park_metric="wall_us", park_percent="5")
    document = plan.as_document()
    assert document["gain_percent"] == "5"
    assert document["cases"] == ["a", "b"]
    again = parse_prediction(document).prereg
    assert content_hash(again.as_document()) == content_hash(document)
    assert content_hash(prereg(gain_percent="6").as_document()) != content_hash(prereg().as_document())


def test_numbers_may_be_whole_but_never_floats():
    assert prereg(rounds=5, gain_percent=7).gain.percent == Decimal(7)


def test_a_quiet_plan_can_disagree():
    check = check_plan(prereg(rounds="5"), 0.002)
    assert check.ok
    assert check.detectable < check.distance
    assert check.distance == pytest.approx(abs(math.log(0.95) - math.log(0.97)))


def test_a_noisy_plan_is_refused_with_the_rounds_it_needs():
    check = check_plan(prereg(rounds="3"), 0.01)
    assert not check.ok
    assert 3 < check.rounds_needed < 20
    assert f"About {check.rounds_needed} rounds" in check.message
    assert check_plan(prereg(rounds=str(check.rounds_needed)), 0.01).ok


def test_a_plan_on_a_range_is_measured_from_the_end_next_to_the_bar():
    assert check_plan(prereg(gain_high_percent="20"), 0.001).distance == check_plan(prereg(), 0.001).distance


@pytest.mark.parametrize("sd", [None, 0.0, math.nan])
def test_unknown_noise_is_refused(sd):
    check = check_plan(prereg(), sd)
    assert not check.ok
    assert "noise" in check.message


def test_a_margin_below_the_noise_floor_is_refused():
    check = check_plan(prereg(delta_percent="0.01", rounds="1000"), 0.004)
    assert not check.ok
    assert "below the noise floor of 0.10%" in check.message


def test_looks_cost_power():
    assert check_plan(prereg(looks="3"), 0.002).detectable > check_plan(prereg(), 0.002).detectable


def test_anchor_value_changes_unit_or_is_refused():
    assert anchor_in_unit(30_000_000, "ns", prereg(unit="ms")) == pytest.approx(30.0)
    assert anchor_in_unit(30.0, "tokens/s", prereg(unit="ms")) is None
