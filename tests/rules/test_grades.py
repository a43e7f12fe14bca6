import dataclasses

import pytest

from tests.rules.sessions import BASE, case, registration, session
from v2kb.rules.grades import (
    METHODS,
    CorroboratingSession,
    DecidingSession,
    DiagnosticSession,
    Measured,
    Policy,
    PolicyRefused,
    grade_of,
    graded,
    tier_text,
)
from v2kb.rules.verdict import judge

IN_PLACE = {"cold": True, "fresh_processes": True, "production_grid": True}


def grade(envelope, method, target, hardware, policy=None, **conditions):
    measured = Measured(envelope, method, target, hardware, **(IN_PLACE | conditions))
    return grade_of(measured, policy) if policy else grade_of(measured)


@pytest.mark.parametrize(
    ("envelope", "method", "target", "hardware", "tier", "name"),
    [
        ("fused_megakernel", "in_situ_slow_cta", "sm_100", "sm_100", 1, "decides"),
        ("fused_megakernel", "production_metric", "sm_100", "sm_100", 1, "decides"),
        ("fused_megakernel", "in_tree_task_harness", "sm_100", "sm_100", 2, "corroborates"),
        ("fused_megakernel", "cupti_span", "sm_100", "sm_100", 3, "diagnostic"),
        ("fused_megakernel", "graph_replay", "sm_100", "sm_100", 3, "diagnostic"),
        ("fused_megakernel", "process_clock", "sm_100", "cpu", 3, "diagnostic"),
        ("fused_megakernel", "event_pair", "sm_100", "sm_100", 3, "diagnostic"),
        ("standalone", "in_situ_trace", "sm_90", "sm_90", 1, "decides"),
        ("standalone", "cupti_span", "sm_90", "sm_90", 2, "decides"),
        ("standalone", "globaltimer_span", "sm_90", "sm_90", 2, "decides"),
        ("standalone", "cupti_span", "sm_100", "sm_90", 3, "diagnostic"),
        ("standalone", "process_clock", "sm_90", "sm_90", 3, "diagnostic"),
        ("standalone", "event_pair", "sm_90", "sm_90", 3, "diagnostic"),
        ("standalone", "standalone_warm", "sm_90", "sm_90", 3, "diagnostic"),
        ("standalone", "block_median", "sm_90", "sm_90", 3, "diagnostic"),
        ("cpu", "production_metric", "cpu", "cpu", 1, "decides"),
        ("cpu", "process_clock", "cpu", "cpu", 2, "decides"),
        ("cpu", "process_clock", "cpu", "sm_90", 3, "diagnostic"),
        ("cpu", "cupti_span", "cpu", "cpu", 3, "diagnostic"),
        ("standalone", "stopwatch", "sm_90", "sm_90", 3, "diagnostic"),
        ("orbital", "cupti_span", "sm_90", "sm_90", 3, "diagnostic"),
        ("standalone", "cupti_span", "", "", 3, "diagnostic"),
    ],
)
def test_tier_table(envelope, method, target, hardware, tier, name):
    found = grade(envelope, method, target, hardware)
    assert (found.tier, found.name) == (tier, name)
    assert found.reason.endswith(".")


@pytest.mark.parametrize("condition", ["cold", "fresh_processes", "production_grid"])
@pytest.mark.parametrize("value", [False, None])
def test_a_device_span_decides_only_with_every_condition_on_record(condition, value):
    found = grade("standalone", "cupti_span", "sm_90", "sm_90", **{condition: value})
    assert found.name == "diagnostic"
    assert condition.replace("_", " ") in found.reason


def test_a_cpu_op_needs_fresh_processes_but_no_cold_cache():
    assert grade("cpu", "process_clock", "cpu", "cpu", cold=None, production_grid=None).name == "decides"
    assert grade("cpu", "process_clock", "cpu", "cpu", fresh_processes=None).name == "diagnostic"


def test_a_megakernel_number_counts_at_the_production_grid_only():
    for method in ("in_situ_slow_cta", "in_tree_task_harness"):
        assert grade("fused_megakernel", method, "sm_100", "sm_100", production_grid=False).name == "diagnostic"


@pytest.mark.parametrize(("method", "words"), [("cupti_span", "harness"), ("standalone_warm", "cache")])
def test_the_reason_says_why_in_words(method, words):
    assert words in grade("fused_megakernel", method, "sm_100", "sm_100").reason


@pytest.mark.parametrize(
    ("envelope", "method", "target", "name"),
    [
        ("cpu", "process_clock", "cpu", "decides"),
        ("standalone", "cupti_span", "sm_90", "decides"),
        ("standalone", "event_pair", "sm_90", "diagnostic"),
    ],
)
def test_a_self_timed_number_keeps_the_tier_of_its_method(envelope, method, target, name):
    assert grade(envelope, f"{method} (self-timed)", target, target).name == name
    assert grade(envelope, f"{method} (guessed)", target, target).name == "diagnostic"


def test_a_strict_policy_lowers_and_none_lifts_tier_3():
    strict = Policy({"standalone": frozenset({1})})
    assert grade("standalone", "cupti_span", "sm_90", "sm_90", strict).name == "corroborates"
    assert grade("cpu", "process_clock", "cpu", "cpu", strict).name == "corroborates"
    none = Policy({"fused_megakernel": frozenset()})
    assert grade("fused_megakernel", "in_situ_slow_cta", "sm_100", "sm_100", none).name == "corroborates"
    with pytest.raises(PolicyRefused, match="Only TIER 1 and TIER 2"):
        Policy({"standalone": frozenset({1, 3})})
    with pytest.raises(PolicyRefused, match="unknown"):
        Policy({"moon": frozenset({1})})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("envelope", ["fused_megakernel", "standalone", "cpu"])
def test_nothing_decides_away_from_its_target(envelope, method):
    assert grade(envelope, method, "sm_100", "sm_90").name == "diagnostic"


def test_a_session_becomes_the_type_of_its_grade():
    one = case(BASE, BASE)
    assert isinstance(graded(session(one)), DecidingSession)
    tree = session(one, envelope="fused_megakernel", method="in_tree_task_harness")
    assert isinstance(graded(tree), CorroboratingSession)
    assert isinstance(graded(session(one, target="sm_100")), DiagnosticSession)


def test_no_other_grade_can_be_dressed_up_as_deciding():
    with pytest.raises(TypeError, match="diagnostic, not decides"):
        DecidingSession(session(case(BASE, BASE), method="event_pair"))
    with pytest.raises(TypeError):
        dataclasses.replace(
            DecidingSession(session(case(BASE, BASE))), session=session(case(BASE, BASE), target="sm_100")
        )


@pytest.mark.parametrize("changes", [{"target": "sm_100"}, {"method": "event_pair"}, {"cold": None}])
def test_only_a_deciding_session_reaches_judge(changes):
    shut_out = graded(session(case(BASE, BASE), **changes))
    with pytest.raises(TypeError, match="Only a deciding session"):
        judge(shut_out, registration())
    with pytest.raises(TypeError, match="Only a deciding session"):
        judge(session(case(BASE, BASE)), registration())


def test_tier_text():
    assert tier_text(grade("standalone", "cupti_span", "sm_90", "sm_90"), "standalone") == (
        "TIER 2 of an op launched alone"
    )
