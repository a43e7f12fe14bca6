import math
from dataclasses import replace

import pytest

from tests.rules.sessions import (
    BASE,
    LONG,
    LONG_KILLED,
    NULL,
    QUIET,
    REGRESS,
    UNCLEAR,
    WIN,
    case,
    judged,
    registration,
    session,
    verdict,
)
from v2kb.rules.grades import graded
from v2kb.rules.session import Watch
from v2kb.rules.verdict import judge, show


# --- the golden vectors ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("anchor", "candidate", "shown", "judgement", "against", "disposition"),
    [
        (BASE, WIN, (-5.824, -6.203, -5.443), "WIN", "beats", "ship"),
        (BASE, NULL, (0.034, -0.252, 0.320), "NULL", "", "kill"),
        (BASE, REGRESS, (2.960, 2.146, 3.780), "REGRESS", "", "kill"),
        (LONG, LONG_KILLED, (-1.538, -1.704, -1.371), "KILLED", "", "kill"),
        (BASE, UNCLEAR, (-4.182, -9.089, 0.990), "INCONCLUSIVE", "", "park"),
    ],
)
def test_golden_vectors(anchor, candidate, shown, judgement, against, disposition):
    found = verdict(anchor, candidate, **QUIET)
    numbers = found.as_document()["estimate"]
    assert tuple(round(float(numbers[f"{name}_percent"]), 3) for name in ("change", "low", "high")) == shown
    assert (found.judgement, found.against_prediction, found.disposition) == (judgement, against, disposition)


def test_golden_null_shows_equivalence_at_ninety_percent():
    numbers = verdict(BASE, NULL, **QUIET).as_document()["estimate"]
    narrow = (numbers["equivalence_low_percent"], numbers["equivalence_high_percent"])
    assert tuple(round(float(end), 3) for end in narrow) == (-0.160, 0.228)


def test_golden_inconclusive_asks_for_fourteen_rounds():
    assert verdict(BASE, UNCLEAR, **QUIET).rounds_to_settle == 14


@pytest.mark.parametrize("floor", [{"timer_tick": 0.032, "aa_sd": None}, {"timer_tick": None, "aa_sd": 0.004}])
def test_golden_all_equal_is_null_with_the_width_of_the_floor(floor):
    found = verdict((100,) * 3, (100,) * 3, **floor)
    numbers = found.as_document()["estimate"]
    assert found.judgement == "NULL"
    assert numbers["change_percent"] == "0"
    assert float(numbers["low_percent"]) < 0 < float(numbers["high_percent"])
    assert numbers["sd_source"] == ("timer" if floor["timer_tick"] else "aa")


def test_all_equal_without_any_floor_is_not_certain_but_invalid():
    found = verdict((100,) * 3, (90,) * 3, **QUIET)
    assert (found.judgement, found.gate) == ("INVALID", "values")


@pytest.mark.parametrize("scale", [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_golden_seconds_read_the_same_in_any_unit(scale):
    unit, factor = scale
    anchor, candidate = (5.00e-6, 5.10e-6, 5.05e-6), (4.70e-6, 4.80e-6, 4.74e-6)
    found = verdict([a * factor for a in anchor], [c * factor for c in candidate], unit=unit, **QUIET)
    document, plain = found.as_document(), verdict(anchor, candidate, unit="s", **QUIET).as_document()
    assert (found.judgement, found.against_prediction) == ("WIN", "beats")
    assert round(float(document["estimate"]["change_percent"]), 3) == -6.007
    assert (round(float(document["estimate"]["low_percent"]), 3)) == -6.325
    assert document["sentence"] == plain["sentence"]
    assert (document["anchor_text"], document["candidate_text"]) == ("5.050 us", "4.746 us")


# --- the ordered table -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("candidate", "plan", "against"),
    [
        (WIN, {"gain_percent": "5"}, "beats"),
        (WIN, {"gain_percent": "5.8"}, "meets"),
        (WIN, {"gain_percent": "9"}, "falls short of"),
        (WIN, {"gain_percent": "5", "gain_high_percent": "9"}, "meets"),
        (WIN, {"gain_percent": "7", "gain_high_percent": "9"}, "falls short of"),
        (WIN, {"gain_percent": "4", "gain_high_percent": "5"}, "beats"),
    ],
)
def test_a_win_beats_meets_or_falls_short_of_the_prediction(candidate, plan, against):
    found = verdict(BASE, candidate, plan=plan)
    assert (found.judgement, found.against_prediction) == ("WIN", against)


def test_null_comes_before_regress_and_killed():
    steady = verdict(BASE, [a * r for a, r in zip(BASE, (1.002, 1.0021, 1.0022), strict=True)])
    assert steady.primary.interval().low > 0
    assert steady.judgement == "NULL"
    assert verdict(BASE, BASE, plan={"delta_percent": "0"}).judgement == "KILLED"


def test_null_asks_the_ninety_percent_interval():
    found = verdict(BASE, [a * math.exp(d) for a, d in zip(BASE, (0.005, -0.005, 0.0), strict=True)])
    wide, narrow = found.primary.interval(0.95), found.primary.interval(0.90)
    margin = found.thresholds.margin
    assert -margin < narrow.low < narrow.high < margin
    assert wide.low < -margin < margin < wide.high
    assert found.judgement == "NULL"


def test_regress_comes_before_killed():
    found = verdict(BASE, REGRESS)
    assert found.primary.interval().low > found.thresholds.bar
    assert found.judgement == "REGRESS"


def test_a_bar_must_be_exceeded_by_the_whole_interval():
    assert verdict(BASE, WIN, plan={"kill_percent": "5.4", "gain_percent": "6"}).judgement == "WIN"
    assert verdict(BASE, WIN, plan={"kill_percent": "5.5", "gain_percent": "6"}).judgement == "INCONCLUSIVE"


def test_looks_widen_the_interval():
    once = verdict(BASE, WIN, plan={"kill_percent": "5.4", "gain_percent": "6"})
    thrice = verdict(BASE, WIN, plan={"kill_percent": "5.4", "gain_percent": "6", "looks": "3"})
    assert (once.judgement, thrice.judgement) == ("WIN", "INCONCLUSIVE")
    assert thrice.as_document()["estimate"]["level"] == "0.983333333"


def test_an_unclear_look_goes_on_to_the_next_registered_one():
    found = verdict(BASE, UNCLEAR, plan={"looks": "2"})
    assert "registered look at 6 rounds" in found.as_document()["next_action"]


def test_absolute_thresholds_follow_the_anchor():
    plan = {"gain_percent": "", "kill_percent": "", "gain_absolute": "0.005", "kill_absolute": "0.003", "unit": "ms"}
    assert verdict(BASE, WIN, plan=plan).judgement == "WIN"
    too_much = plan | {"kill_absolute": "0.0058", "gain_absolute": "0.009"}
    assert verdict(BASE, WIN, plan=too_much).judgement == "INCONCLUSIVE"
    several = judged(case(BASE, WIN, "a"), case(BASE, WIN, "b"), plan=plan)
    assert (several.judgement, several.gate) == ("INVALID", "bar")


# --- the timer -------------------------------------------------------------------------------------------------------
def test_a_small_kernel_on_a_coarse_timer_decides_nothing():
    found = verdict((2.30, 2.31, 2.30), (2.21, 2.22, 2.21), timer_tick=0.032)
    assert found.primary.mean < 0
    assert (found.judgement, found.rounds_to_settle) == ("INCONCLUSIVE", None)
    assert "bar is under three ticks" in found.as_document()["next_action"]


@pytest.mark.parametrize("candidate", [(95.0, 96.0, 94.5), (105.0, 106.0, 104.5)])
def test_a_difference_under_three_ticks_is_neither_win_nor_regress(candidate):
    clear = verdict(BASE * 3, candidate * 3, timer_tick=1.0)
    coarse = verdict(BASE * 3, candidate * 3, timer_tick=1.8)
    assert clear.judgement in ("WIN", "REGRESS")
    assert coarse.judgement == "INCONCLUSIVE"
    assert coarse.rounds_to_settle is None
    assert "three ticks" in coarse.as_document()["sentence"]


def test_a_difference_under_three_ticks_above_a_bar_that_is_not():
    gain = [a * r for a, r in zip(BASE * 3, (0.955, 0.956, 0.957) * 3, strict=True)]
    assert verdict(BASE * 3, gain, timer_tick=1.0).judgement == "WIN"
    slower = [a * r for a, r in zip(BASE * 3, (1.020, 1.021, 1.022) * 3, strict=True)]
    assert verdict(BASE * 3, slower, timer_tick=0.5).judgement == "REGRESS"
    assert verdict(BASE * 3, slower, timer_tick=0.9).judgement == "KILLED"


# --- watch metrics ---------------------------------------------------------------------------------------------------
WATCH = {"park_metric": "wall", "park_percent": "5"}


@pytest.mark.parametrize(
    ("worse", "judgement", "disposition"),
    [
        (5.1, "WIN", "park"),
        (5.0, "WIN", "ship"),
        (-20.0, "WIN", "ship"),
        (None, "INCONCLUSIVE", "park"),
        (math.nan, "INCONCLUSIVE", "park"),
    ],
)
def test_a_watch_metric_parks_a_win_and_its_absence_prevents_one(worse, judgement, disposition):
    found = verdict(BASE, WIN, plan=WATCH, watches=(Watch("other", 50.0), Watch("wall", worse)))
    assert (found.judgement, found.disposition) == (judgement, disposition)
    assert ("wall" in found.as_document()["sentence"]) is (disposition == "park")


def test_a_missing_watch_metric_changes_no_other_judgement():
    assert verdict(BASE, REGRESS, plan=WATCH).judgement == "REGRESS"
    assert verdict(BASE, NULL, plan=WATCH).judgement == "NULL"
    assert verdict(BASE, WIN, plan=WATCH, watches=()).judgement == "INCONCLUSIVE"


# --- many cases ------------------------------------------------------------------------------------------------------
def test_the_primary_is_the_mean_of_log_ratios_per_round():
    found = judged(case(BASE, WIN, "a"), case(BASE, (96.0, 96.9, 95.6), "b"))
    by_hand = [(math.log(w / b) + math.log(o / b)) / 2 for b, w, o in zip(BASE, WIN, (96.0, 96.9, 95.6), strict=True)]
    assert found.primary.mean == pytest.approx(sum(by_hand) / 3)
    assert found.primary.n == 3
    assert found.judgement == "WIN"
    assert "2 workloads" in found.as_document()["sentence"]


def test_a_regressing_case_holds_a_win_back():
    fast, slow = (80.0, 81.0, 79.5), (103.0, 104.1, 102.5)
    found = judged(case(BASE, fast, "a"), case(BASE, slow, "b"))
    assert found.case_judgements == {"a": "WIN", "b": "REGRESS"}
    assert (found.judgement, found.disposition) == ("INCONCLUSIVE", "park")
    assert "b regresses" in found.as_document()["next_action"]


def test_a_case_regresses_only_at_the_holm_adjusted_level():
    slow = [a * r for a, r in zip(BASE, (1.03, 1.02, 1.035), strict=True)]
    assert judged(case(BASE, slow, "b")).case_judgements == {"b": "REGRESS"}
    among = judged(case(BASE, slow, "b"), *(case(BASE, UNCLEAR, f"a{number}") for number in range(9)))
    slower = among.effects.case("b")
    assert slower.estimate.p_value() < 0.05 < slower.p_holm
    assert among.case_judgements["b"] == "KILLED"


def test_the_case_table_has_adjusted_p_and_q():
    document = judged(case(BASE, WIN, "a"), case(BASE, NULL, "b"), case(BASE, UNCLEAR, "c")).as_document()
    for row in document["cases"]:
        raw, holm_p, q = float(row["estimate"]["p_value"]), float(row["p_holm"]), float(row["q_value"])
        assert raw <= q <= holm_p + 1e-9 <= 1 + 1e-9


def test_an_unregistered_case_is_shown_and_decides_nothing():
    found = judge(graded(session(case(BASE, WIN), case(BASE, REGRESS, "extra"))), registration())
    assert found.judgement == "WIN"
    assert found.primary.mean == verdict(BASE, WIN).primary.mean
    assert [row["workload"] for row in found.as_document()["cases"]] == ["decode", "extra"]
    assert "extra" not in found.case_judgements


def test_a_failing_case_never_improves_a_mean():
    slow_but_wrong = case(BASE, REGRESS, "b", output_right=False)
    fast_but_wrong = case(BASE, (10.0, 10.1, 9.9), "b", output_right=False)
    for wrong in (slow_but_wrong, fast_but_wrong):
        found = judged(case(BASE, WIN, "a"), wrong)
        assert (found.judgement, found.gate) == ("INVALID", "outputs")
        assert found.primary.mean is None
        assert show(graded(session(case(BASE, WIN, "a"), wrong))).effects.primary.mean is None


def test_cases_with_other_rounds_have_no_common_mean():
    shifted = replace(case(BASE, WIN, "b"), pairs=tuple(replace(p, round=p.round + 1) for p in case(BASE, WIN).pairs))
    found = judged(case(BASE, WIN, "a"), shifted)
    assert (found.judgement, found.gate) == ("INVALID", "values")


def test_a_case_or_a_round_listed_twice_is_refused():
    assert judged(case(BASE, WIN, "a"), case(BASE, WIN, "a"), plan={"cases": ["a"]}).gate == "values"
    pairs = case(BASE, WIN).pairs
    assert judged(replace(case(BASE, WIN), pairs=(*pairs, pairs[0])), plan={"rounds": "4"}).gate == "values"


def test_the_tick_weighs_by_the_smallest_median_of_all_sides_and_cases():
    one_way = verdict((100,) * 3, (50,) * 3, timer_tick=1.0, aa_sd=None)
    other_way = verdict((50,) * 3, (100,) * 3, timer_tick=1.0, aa_sd=None)
    assert one_way.primary.sd == other_way.primary.sd == pytest.approx(1.0 / 50)
    both = judged(case((100,) * 3, (99,) * 3, "a"), case((10,) * 3, (9,) * 3, "b"), timer_tick=1.0, aa_sd=None)
    assert both.primary.sd == pytest.approx(1.0 / 9)
