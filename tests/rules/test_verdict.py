import json
import math
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.sessions import BASE, FIRST_SAMPLE, SEALED, case, registration, session, verdict
from v2kb.rules.canonical import canonical_json, content_hash
from v2kb.rules.grades import graded
from v2kb.rules.session import Pair, RunSamples, Watch, pair_runs
from v2kb.rules.units import finite
from v2kb.rules.verdict import RULE_VERSION, judge, show
from v2kb.rules.verdict_gates import JudgePolicy, Registration
from v2kb.rules.verdict_table import JUDGEMENTS

UNHURRIED = settings(deadline=None)

WIN = (94.0, 95.2, 93.8)
NULL = (100.1, 100.9, 99.6)
REGRESS = (103, 104.3, 102.1)
UNCLEAR = (94, 99, 95)
LONG, LONG_KILLED = (100, 101, 99.5, 100.4, 99.9), (98.4, 99.6, 98.1, 98.7, 98.3)
QUIET = {"aa_sd": None, "timer_tick": None}


def judged(*cases, plan=None, policy=None, registered=None, **facts):
    """Judge several workloads, all of them registered."""
    names = [one.workload for one in cases]
    sealed = registered or registration(**({"cases": names} | (plan or {})))
    return judge(graded(session(*cases, **facts)), sealed, policy)


# --- the golden vectors ------------------------------------------------------------------------------------------


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


# --- the ordered table --------------------------------------------------------------------------------------------


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


# --- the timer ----------------------------------------------------------------------------------------------------


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


# --- gates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "gate", "words"),
    [
        ({"outcome": "WEDGE"}, "outcome", "WEDGE"),
        ({"outcome": ""}, "outcome", "unknown"),
        ({"metric": "wall_us"}, "grade", "wall_us"),
        ({"direction": "higher"}, "grade", "higher"),
        ({"anchor": "other"}, "grade", "other"),
        ({"unit": "tokens"}, "grade", "us, the session in tokens"),
        ({"candidate_environment": {"driver": "580", "card": "H200"}}, "fingerprint", "driver, torch"),
        ({"candidate_environment": {}}, "fingerprint", "not recorded"),
        ({"aa_passed": False}, "aa", "differs from itself"),
        ({"first_candidate_sample_at": SEALED - timedelta(seconds=1)}, "registered", "after the candidate's first"),
        ({"first_candidate_sample_at": SEALED}, "registered", "after the candidate's first"),
        ({"first_candidate_sample_at": None}, "registered", "unknown"),
        ({"first_candidate_sample_at": datetime(2026, 3, 1, 10)}, "registered", "time zone"),
        ({"anchor_state": "UNVERIFIED"}, "anchor", "UNVERIFIED"),
        ({"anchor_state": "STALE"}, "anchor", "STALE"),
        ({"tier1_log_interval": (0.01, 0.03)}, "tier_1", "says the opposite"),
        ({"tier1_log_interval": (math.nan, 0.03)}, "tier_1", "no"),
    ],
)
def test_one_broken_fact_names_its_gate(facts, gate, words):
    assert verdict(BASE, WIN).judgement == "WIN"
    found = verdict(BASE, WIN, **facts)
    assert (found.judgement, found.gate, found.disposition) == ("INVALID", gate, "none")
    assert [one.id for one in found.gates if not one.passed] == [gate]
    sentence = found.as_document()["sentence"]
    assert f"first failed gate {gate}" in sentence
    assert words in sentence


@pytest.mark.parametrize(
    ("change", "gate", "words"),
    [
        ({"output_right": False, "failure": "cos 0.91"}, "outputs", "wrong output: cos 0.91"),
        ({"output_right": None}, "outputs", "Nobody checked"),
        ({"floor": 94.0}, "floor", "93.80 us breaks the floor of 94.00 us"),
        ({"workload": "prefill"}, "outputs", "decode was not measured"),
    ],
)
def test_one_broken_case_names_its_gate(change, gate, words):
    found = judge(graded(session(replace(case(BASE, WIN), **change))), registration())
    assert (found.judgement, found.gate) == ("INVALID", gate)
    assert words in found.as_document()["sentence"]


def test_a_rate_above_its_floor_is_impossible_too():
    rate = {"direction": "higher", "unit": "GB/s", "metric": "bandwidth"}
    one = case(BASE, [104, 105, 103], floor=104.5)
    found = judged(one, plan=rate, **rate)
    assert (found.judgement, found.gate) == ("INVALID", "floor")
    assert judged(replace(one, floor=200.0), plan=rate, **rate).judgement == "WIN"


def test_the_first_failed_gate_is_named_when_several_fail():
    found = verdict(BASE, WIN, anchor_state="STALE", aa_passed=False, outcome="OOM")
    assert found.gate == "outcome"
    assert [gate.id for gate in found.gates if not gate.passed] == ["outcome", "aa", "anchor"]


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_under_three_rounds_there_is_no_verdict(rounds):
    found = verdict(BASE[:rounds], WIN[:rounds])
    assert (found.judgement, found.gate) == ("INVALID", "rounds")
    assert "under 3" in found.as_document()["sentence"]


@pytest.mark.parametrize("registered", ["4", "5"])
def test_rounds_other_than_registered_are_no_look(registered):
    found = verdict(BASE, WIN, plan={"rounds": registered})
    assert found.gate == "rounds"
    assert f"registered were {registered}" in found.as_document()["sentence"]


def test_extra_rounds_count_only_as_a_registered_look():
    assert verdict(BASE * 2, WIN * 2, plan={"rounds": "3"}).gate == "rounds"
    assert verdict(BASE * 2, WIN * 2, plan={"rounds": "3", "looks": "2"}).judgement == "WIN"


def with_pairs(**change):
    pairs = tuple(
        Pair(number, a, c, **{name: values[number] for name, values in change.items()})
        for number, (a, c) in enumerate(zip(BASE, WIN, strict=True))
    )
    return replace(case(BASE, WIN), pairs=pairs)


def test_a_run_of_few_launches_is_no_run():
    few = with_pairs(launches=(30, 29, 30))
    assert judged(few).gate == "rounds"
    assert "29 launches; 30 are needed" in judged(few).as_document()["sentence"]
    assert judged(few, policy=JudgePolicy(min_launches=5)).judgement == "WIN"


def test_rounds_must_alternate():
    assert judged(with_pairs(first=("anchor", "candidate", "anchor"))).judgement == "WIN"
    same = judged(with_pairs(first=("anchor", "anchor", "candidate")))
    assert (same.judgement, same.gate) == ("INVALID", "rounds")
    assert judged(with_pairs(first=("anchor", "", "anchor"))).judgement == "WIN"


def test_a_missing_aa_check_is_noted_or_demanded():
    assert "No A/A check" in verdict(BASE, WIN, aa_passed=None).notes[0]
    assert verdict(BASE, WIN, aa_passed=None, policy=JudgePolicy(require_aa=True)).gate == "aa"
    assert verdict(BASE, WIN).notes == ()


def test_a_prediction_that_was_never_sealed():
    found = judged(case(BASE, WIN), registered=Registration(registration().prereg, None))
    assert (found.judgement, found.gate) == ("INVALID", "registered")


def test_tier_2_can_not_stand_for_a_registered_tier_1():
    assert verdict(BASE, WIN, plan={"tier": "1"}).gate == "grade"
    in_place = {"envelope": "fused_megakernel", "method": "in_situ_slow_cta"}
    assert verdict(BASE, WIN, plan={"tier": "1"}, **in_place).judgement == "WIN"
    assert verdict(BASE, WIN, plan={"tier": "2"}, **in_place).judgement == "WIN"


def test_tier_1_in_the_same_direction_or_unclear_does_not_bar_tier_2():
    assert verdict(BASE, WIN, tier1_log_interval=(-0.05, -0.01)).judgement == "WIN"
    assert verdict(BASE, WIN, tier1_log_interval=(-0.05, 0.01)).judgement == "WIN"
    assert verdict(BASE, REGRESS, tier1_log_interval=(-0.05, -0.01)).gate == "tier_1"
    in_place = {"envelope": "fused_megakernel", "method": "in_situ_slow_cta"}
    assert verdict(BASE, REGRESS, tier1_log_interval=(-0.05, -0.01), **in_place).judgement == "REGRESS"


def test_an_event_alone_can_not_judge_a_number():
    found = verdict(BASE, WIN, plan={"kill_percent": "", "kill_event": "a hang"})
    assert (found.judgement, found.gate) == ("INVALID", "bar")


# --- watch metrics ------------------------------------------------------------------------------------------------

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


# --- many cases ---------------------------------------------------------------------------------------------------


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


# --- properties ---------------------------------------------------------------------------------------------------

TIMES = st.lists(st.tuples(st.floats(50, 150), st.floats(50, 150)), min_size=3, max_size=8)


def split(rounds):
    return [a for a, _ in rounds], [c for _, c in rounds]


@UNHURRIED
@given(TIMES)
def test_swapping_negates_the_estimate_and_mirrors_the_interval(rounds):
    anchor, candidate = split(rounds)
    here, there = verdict(anchor, candidate).primary, verdict(candidate, anchor).primary
    assert there.mean == pytest.approx(-here.mean, abs=1e-15)
    assert there.interval().low == pytest.approx(-here.interval().high, abs=1e-12)
    assert there.interval().high == pytest.approx(-here.interval().low, abs=1e-12)


@UNHURRIED
@given(TIMES)
def test_a_rate_gives_the_verdict_of_its_time(rounds):
    anchor, candidate = split(rounds)
    rate = {"direction": "higher", "unit": "1/us", "metric": "rate"}
    as_time = verdict(anchor, candidate, timer_tick=None)
    as_rate = verdict([1 / a for a in anchor], [1 / c for c in candidate], plan=rate, timer_tick=None, **rate)
    assert (as_rate.judgement, as_rate.against_prediction) == (as_time.judgement, as_time.against_prediction)
    assert as_rate.primary.mean == pytest.approx(as_time.primary.mean, abs=1e-12)


@UNHURRIED
@given(TIMES, st.sampled_from([("ns", 1e3), ("ms", 1e-3), ("s", 1e-6)]))
def test_the_unit_changes_nothing(rounds, scale):
    (unit, factor), (anchor, candidate) = scale, split(rounds)
    plain = verdict(anchor, candidate)
    scaled = verdict(
        [a * factor for a in anchor], [c * factor for c in candidate], unit=unit, timer_tick=0.001 * factor
    )
    assert scaled.judgement == plain.judgement
    assert scaled.primary.mean == pytest.approx(plain.primary.mean, abs=1e-12)
    assert scaled.primary.sd == pytest.approx(plain.primary.sd, rel=1e-6)


@UNHURRIED
@given(TIMES, st.randoms())
def test_shuffling_rounds_changes_nothing(rounds, random):
    anchor, candidate = split(rounds)
    made = case(anchor, candidate)
    mixed = list(made.pairs)
    random.shuffle(mixed)
    plan = {"rounds": str(len(rounds))}
    straight, shuffled = judged(made, plan=plan), judged(replace(made, pairs=tuple(mixed)), plan=plan)
    assert canonical_json(shuffled.as_document()) == canonical_json(straight.as_document())


def test_posting_twice_changes_nothing():
    runs = [
        RunSamples(number, side, "decode", (nanoseconds,) * 30, position)
        for number, pair in enumerate(zip(BASE, WIN, strict=True))
        for position, (side, nanoseconds) in enumerate(
            zip(("anchor", "candidate"), (int(t * 1000) for t in pair), strict=True)
        )
    ]
    once, twice = pair_runs(runs)["decode"], pair_runs(runs * 2)["decode"]
    assert once == twice
    assert len(twice) == 3


ODD = st.one_of(
    st.sampled_from([None, 0, 0.0, -1, math.nan, math.inf, -math.inf, 1e308, 5e-324, 10**400, 100.0, 100, 10_000.0]),
    st.floats(allow_nan=True, allow_infinity=True),
)


def check_presentable(document):
    """A document is canonical, is JSON, and shows neither NaN nor infinity nor a false zero."""
    text = canonical_json(document)
    assert json.loads(text) == document
    assert not re.search(r"nan\b|\binf(inity)?\b", text, re.IGNORECASE)
    assert not re.search(r"\b0\.0+( [num]?s|%|\")", text)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(ODD, ODD), max_size=6),
    st.one_of(st.none(), st.floats()),
    st.one_of(st.none(), st.floats()),
    st.sampled_from(["lower", "higher"]),
)
def test_odd_numbers_never_crash_and_never_show_nan(rounds, tick, aa_sd, direction):
    anchor, candidate = split(rounds)
    found = verdict(anchor, candidate, plan={"direction": direction}, timer_tick=tick, aa_sd=aa_sd, direction=direction)
    assert found.judgement in JUDGEMENTS
    check_presentable(found.as_document())
    check_presentable(show(graded(session(case(anchor, candidate), timer_tick=tick, aa_sd=aa_sd))).as_document())
    if any(finite(value) is None or value <= 0 for value in (*anchor, *candidate)):
        assert found.judgement == "INVALID"


@pytest.mark.parametrize(
    ("candidate", "judgement"),
    [
        ((94.0, math.nan, 93.8), "INVALID"),
        ((94.0, 0, 93.8), "INVALID"),
        ((94.0, -95, 93.8), "INVALID"),
        ((94.0, 1e308, 93.8), "INCONCLUSIVE"),
        ((94.0, 9520.0, 93.8), "INCONCLUSIVE"),
        ((1e308, 1e308, 1e308), "REGRESS"),
    ],
)
def test_one_odd_run(candidate, judgement):
    found = verdict(BASE, candidate)
    assert found.judgement == judgement
    check_presentable(found.as_document())


def test_an_anchor_of_zero_has_no_percentage_and_no_verdict():
    document = verdict((0, 0, 0), WIN).as_document()
    assert document["judgement"] == "INVALID"
    assert document["estimate"]["change_percent"] is None
    assert document["anchor_text"] == "n/a"


# --- sentences and documents --------------------------------------------------------------------------------------


def test_the_sentence_of_a_win():
    assert verdict(BASE, WIN, **QUIET).as_document()["sentence"] == (
        "v7 is 5.8% faster than the anchor (95% interval 5.4 to 6.2%, 3 paired runs, TIER 2 of an op launched alone, "
        "GPU 0, 1,980 MHz): registered bar 3%, prediction 5%: WIN, beats the prediction. Could have detected 0.5%."
    )


def test_inconclusive_names_next_action_and_cost():
    action = verdict(BASE, UNCLEAR, **QUIET).as_document()["next_action"]
    assert action == "Next: register a fresh session; about 14 rounds would settle it (1.9 GPU minutes)."
    assert "cost not known yet" in verdict(BASE, UNCLEAR, seconds_per_round=None).as_document()["next_action"]
    on_cpu = {"envelope": "cpu", "target": "cpu", "hardware": "cpu", "method": "process_clock"}
    assert "CPU minutes" in verdict(BASE, UNCLEAR, **on_cpu).as_document()["next_action"]


def test_a_mean_on_the_bar_is_told_that_rounds_will_not_help():
    on_bar = [a * 0.97 * wobble for a, wobble in zip(BASE, (1.01, 0.99, 1 / (1.01 * 0.99)), strict=True)]
    found = verdict(BASE, on_bar)
    assert (found.judgement, found.rounds_to_settle) == ("INCONCLUSIVE", None)
    assert "more rounds will not settle it" in found.as_document()["next_action"]


def test_null_names_the_largest_gain_still_compatible():
    assert "The largest gain still compatible is 0.25%." in verdict(BASE, NULL, **QUIET).as_document()["sentence"]
    slower = verdict(BASE, [a * r for a, r in zip(BASE, (1.002, 1.0021, 1.0022), strict=True)])
    assert "No gain is compatible" in slower.as_document()["sentence"]


def test_a_rate_is_called_higher_and_its_bar_is_explained():
    rate = {"direction": "higher", "unit": "tokens/s", "metric": "throughput"}
    text = verdict(BASE, [106, 107, 105.5], plan=rate, **rate).as_document()["sentence"]
    assert text.startswith("v7 is 6.0% higher than the anchor")
    assert "registered bar 3% of the cost (3.1% higher)" in text


def test_an_interval_around_nothing_names_both_directions():
    text = verdict(BASE, UNCLEAR, **QUIET).as_document()["sentence"]
    assert "95% interval 0.99% slower to 9.1% faster" in text


def test_the_document_carries_what_a_page_needs():
    document = verdict(BASE, WIN).as_document()
    assert document["rule_version"] == RULE_VERSION
    assert document["registration"] == registration().prereg.as_document()
    assert (document["tier"], document["grade"]) == (2, "decides")
    assert [gate["passed"] for gate in document["gates"]] == [True] * len(document["gates"])
    assert document["case_judgements"] == {"decode": "WIN"}
    assert len(content_hash(document)) == 64


def test_another_grade_shows_its_estimate_and_why_it_is_not_judged():
    shown = show(graded(session(case(BASE, WIN), target="sm_100"))).as_document()
    assert shown["judgement"] is None
    assert shown["grade"] == "diagnostic"
    assert round(float(shown["estimate"]["change_percent"]), 3) == -5.824
    assert shown["sentence"].endswith("Not judged, diagnostic: It ran on sm_90; the op is meant for sm_100.")
    check_presentable(shown)


def test_a_single_round_is_shown_without_an_interval():
    shown = show(graded(session(case(BASE[:1], WIN[:1]), target="sm_100"))).as_document()
    assert "1 paired run," in shown["sentence"]
    assert "One paired run has no spread." in shown["sentence"]
    assert shown["estimate"]["low_percent"] is None


def test_sealed_after_the_anchor_but_before_the_candidate_is_fine():
    assert verdict(BASE, WIN, first_candidate_sample_at=FIRST_SAMPLE).judgement == "WIN"
