import math
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.rules.sessions import BASE, REGRESS, SEALED, WIN, case, judged, registration, session, verdict
from v2kb.rules.grades import graded
from v2kb.rules.session import Pair
from v2kb.rules.verdict import judge
from v2kb.rules.verdict_gates import JudgePolicy, Registration


@pytest.mark.parametrize(
    ("facts", "gate", "words"),
    [
        ({"outcome": "WEDGE"}, "outcome", "WEDGE"),
        ({"outcome": ""}, "outcome", "unknown"),
        ({"ladder_fault": "Validation failed: numeric is FAIL."}, "ladder", "numeric is FAIL. A validate run"),
        ({"ladder_fault": None}, "ladder", "unknown"),
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
    said = {0: "0 rounds", 1: "1 round", 2: "2 rounds"}[rounds]
    assert f"has {said}; under 3" in found.as_document()["sentence"]


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
