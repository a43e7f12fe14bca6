import pytest

from v2kb.rules.grades import Grade
from v2kb.rules.ladder import (
    STATUSES,
    TRAITS,
    Check,
    Result,
    checked_results,
    ladder_states,
    perf_result,
    rungs_of,
    standing_below,
    validate_results,
)

OK = Result("PASS")
DECIDES, CORROBORATES, DIAGNOSTIC = Grade(1, "decides", "."), Grade(2, "corroborates", "."), Grade(3, "diagnostic", ".")


def statuses(envelope, results, traits=()):
    return {state.rung.id: state.status for state in ladder_states(envelope, results, frozenset(traits))}


def whole(envelope, *without):
    return {rung.id: OK for rung in rungs_of(envelope) if rung.id not in without}


@pytest.mark.parametrize(
    ("envelope", "ids"),
    [
        ("standalone", ["compile", "numeric", "perf"]),
        ("cpu", ["compile", "numeric", "perf"]),
        ("fused_megakernel", [f"G{number}" for number in range(10)]),
    ],
)
def test_rungs_depend_on_the_envelope(envelope, ids):
    assert [rung.id for rung in rungs_of(envelope)] == ids
    for position, rung in enumerate(rungs_of(envelope)):
        assert set(rung.needs) <= set(ids[:position])


def test_an_unknown_envelope_or_rung_is_refused():
    with pytest.raises(KeyError):
        rungs_of("orbital")
    with pytest.raises(ValueError, match="no rung G1"):
        ladder_states("cpu", {"G1": OK})
    with pytest.raises(ValueError, match="can't be 'GREAT'"):
        ladder_states("cpu", {"compile": Result("GREAT")})


@pytest.mark.parametrize("envelope", ["standalone", "fused_megakernel"])
def test_nothing_on_record(envelope):
    assert set(statuses(envelope, {}, TRAITS).values()) == {"MISSING"}


@pytest.mark.parametrize("envelope", ["standalone", "cpu", "fused_megakernel"])
def test_everything_passed(envelope):
    assert set(statuses(envelope, whole(envelope), TRAITS).values()) == {"PASS"}


@pytest.mark.parametrize(
    ("envelope", "gap", "invalid"),
    [
        ("cpu", "compile", {"numeric", "perf"}),
        ("cpu", "numeric", {"perf"}),
        ("fused_megakernel", "G0", {"G1", "G3", "G4", "G5", "G6", "G7", "G8", "G9"}),
        ("fused_megakernel", "G2", {"G3", "G4", "G5", "G7", "G8", "G9"}),
        ("fused_megakernel", "G4", {"G7", "G8", "G9"}),
        ("fused_megakernel", "G6", {"G9"}),
    ],
)
def test_a_later_pass_over_an_earlier_gap_is_invalid(envelope, gap, invalid):
    found = statuses(envelope, whole(envelope, gap), TRAITS)
    assert found.pop(gap) == "MISSING"
    assert {rung_id for rung_id, status in found.items() if status == "INVALID"} == invalid
    assert all(status == "PASS" for rung_id, status in found.items() if rung_id not in invalid)


@pytest.mark.parametrize(
    "below", [Result("PENDING", "sm_100"), Result("FAIL", "cos 0.9"), Result("INVALID", "no test")]
)
def test_only_a_rung_that_stands_carries_a_pass(below):
    states = ladder_states("cpu", {"compile": OK, "numeric": below, "perf": OK})
    assert states[2].status == "INVALID"
    assert f"numeric is {below.status}" in states[2].reason


def test_a_failure_stays_a_failure_whatever_lies_below():
    assert statuses("cpu", {"perf": Result("FAIL", "KILLED")})["perf"] == "FAIL"


def test_audit_and_numeric_in_either_order():
    assert statuses("fused_megakernel", {"G2": OK})["G2"] == "PASS"
    assert statuses("fused_megakernel", {"G0": OK, "G1": OK})["G1"] == "PASS"


def test_rungs_for_traits_the_op_lacks_do_not_apply_and_do_not_block():
    found = {
        state.rung.id: state for state in ladder_states("fused_megakernel", whole("fused_megakernel", "G5", "G6", "G7"))
    }
    assert found["G6"].text == "NOT_APPLICABLE(The op has no collective.)"
    assert found["G9"].status == "PASS"


def test_a_rung_that_does_not_apply_hides_no_gap_below_it():
    results = whole("fused_megakernel", "G3") | {rung: Result("NOT_APPLICABLE", "n/a here") for rung in ("G4", "G5")}
    results |= {"G7": Result("NOT_APPLICABLE", "n/a here"), "G8": Result("NOT_APPLICABLE", "n/a here")}
    assert statuses("fused_megakernel", results)["G9"] == "INVALID"


def test_not_applicable_needs_a_reason():
    found = ladder_states("cpu", {"compile": Result("NOT_APPLICABLE", " "), "numeric": OK})
    assert (found[0].status, found[1].status) == ("MISSING", "INVALID")
    assert ladder_states("cpu", {"compile": Result("NOT_APPLICABLE", "interpreted")})[0].text == (
        "NOT_APPLICABLE(interpreted)"
    )


def test_pending_names_the_machine():
    assert ladder_states("cpu", {"compile": Result("PENDING", "sm_100")})[0].text == "PENDING(sm_100)"


def validated(envelope, outcome, target="cpu", hardware="cpu"):
    return {rung: result.status for rung, result in validate_results(envelope, outcome, target, hardware).items()}


@pytest.mark.parametrize(
    ("outcome", "results"),
    [
        ("PASS", {"compile": "PASS", "numeric": "PASS"}),
        ("FAIL_NUMERIC", {"compile": "PASS", "numeric": "FAIL"}),
        ("FAIL_SHAPE", {"compile": "PASS", "numeric": "FAIL"}),
        ("WEDGE", {"compile": "PASS", "numeric": "FAIL"}),
        ("CRASHED", {"numeric": "FAIL"}),
        ("TIMEOUT", {"numeric": "FAIL"}),
        ("OOM", {"numeric": "FAIL"}),
        ("TAMPERED", {"numeric": "FAIL"}),
        ("COMPILE_ERROR", {"compile": "FAIL"}),
        ("COMPILE_TIMEOUT", {"compile": "FAIL"}),
        ("INVALID_REFERENCE", {"numeric": "INVALID"}),
        ("NO_CASES", {"numeric": "INVALID"}),
        ("INFRA", {}),
        ("NO_DATA", {}),
        ("CANCELLED", {}),
    ],
)
def test_what_a_validate_run_puts_on_record(outcome, results):
    assert validated("cpu", outcome) == results


def test_a_pass_away_from_the_target_is_pending_there():
    found = validate_results("standalone", "PASS", "sm_100", "cpu")
    assert found["numeric"] == Result("PENDING", "sm_100")
    assert validated("standalone", "FAIL_NUMERIC", "sm_100", "cpu")["numeric"] == "FAIL"


def test_this_harness_can_fail_a_megakernel_op_but_not_pass_it():
    assert validated("fused_megakernel", "PASS", "sm_100", "sm_100") == {"G0": "PENDING", "G1": "PENDING"}
    assert validated("fused_megakernel", "FAIL_NUMERIC", "sm_100", "sm_100")["G1"] == "FAIL"


VALIDATED, FAILED = Check("PASS", "cpu", True, True), Check("FAIL_NUMERIC", "cpu", True, True)
TIMED, TIMED_IN_PART = Check("PASS", "cpu", False, True), Check("PASS", "cpu", False, False)


@pytest.mark.parametrize(
    ("checks", "compiles", "numeric"),
    [
        ([], None, None),
        ([VALIDATED], "PASS", "PASS"),
        ([VALIDATED, FAILED], "PASS", "FAIL"),
        ([FAILED, VALIDATED], "PASS", "PASS"),
        ([TIMED], "PASS", "PASS"),
        ([TIMED_IN_PART], "PASS", None),
        ([Check("PASS", "cpu", True, False)], "PASS", None),
        ([FAILED, Check("PASS", "cpu", True, False)], "PASS", "FAIL"),
        ([FAILED, TIMED], "PASS", "FAIL"),
        ([FAILED, TIMED_IN_PART], "PASS", "FAIL"),
        ([Check("INVALID_REFERENCE", "cpu", True, True), TIMED], "PASS", "INVALID"),
        ([VALIDATED, Check("FAIL_NUMERIC", "cpu", False, False)], "PASS", "FAIL"),
        ([VALIDATED, Check("INVALID_REFERENCE", "cpu", False, True)], "PASS", "PASS"),
        ([VALIDATED, Check("INFRA", "", True, True)], "PASS", "PASS"),
        ([Check("COMPILE_ERROR", "cpu", True, True), TIMED], "FAIL", "PASS"),
    ],
)
def test_which_runs_count_below_perf(checks, compiles, numeric):
    found = checked_results("cpu", "cpu", checks)
    assert [found[rung].status if rung in found else None for rung in ("compile", "numeric")] == [compiles, numeric]


@pytest.mark.parametrize(
    ("results", "status", "words"),
    [
        ({"compile": OK, "numeric": OK}, "PASS", ""),
        ({"compile": OK, "numeric": Result("FAIL", "It ended as OOM.")}, "FAIL", "numeric is FAIL. It ended as OOM."),
        ({"compile": Result("FAIL", "x"), "numeric": OK}, "FAIL", "compile is FAIL, numeric is INVALID. x."),
        ({"compile": OK, "numeric": Result("PENDING", "sm_90")}, "PENDING", "numeric is PENDING(sm_90)."),
        ({"perf": OK}, "MISSING", "compile is MISSING, numeric is MISSING."),
        ({"compile": OK}, "MISSING", "numeric is MISSING."),
    ],
)
def test_how_a_version_stands_below_perf(results, status, words):
    found = standing_below("cpu", results)
    assert found.status == status
    assert found.fault.endswith(words)
    assert bool(found.fault) == (status != "PASS")


def test_a_megakernels_rungs_below_perf_are_all_but_the_last():
    assert standing_below("fused_megakernel", whole("fused_megakernel", "G9", "G5")).status == "PASS"
    assert standing_below("fused_megakernel", whole("fused_megakernel", "G3")).status == "FAIL"


@pytest.mark.parametrize(
    ("judgement", "results"),
    [
        ("WIN", {"perf": "PASS"}),
        ("NULL", {"perf": "FAIL"}),
        ("REGRESS", {"perf": "FAIL"}),
        ("KILLED", {"perf": "FAIL"}),
        ("INVALID", {"perf": "INVALID"}),
        ("INCONCLUSIVE", {}),
        ("", {}),
    ],
)
def test_what_a_deciding_session_puts_on_record(judgement, results):
    found = perf_result("cpu", DECIDES, judgement, "cpu")
    assert {rung: result.status for rung, result in found.items()} == results


@pytest.mark.parametrize("grade", [CORROBORATES, DIAGNOSTIC])
def test_other_grades_leave_perf_pending(grade):
    assert perf_result("fused_megakernel", grade, "WIN", "sm_100") == {"G9": Result("PENDING", "TIER 1 on sm_100")}
    assert perf_result("standalone", grade, "", "sm_90") == {"perf": Result("PENDING", "on sm_90")}


def test_every_status_of_the_vocabulary_can_occur():
    results = {
        "G0": OK,
        "G1": Result("FAIL", "cos"),
        "G2": Result("PENDING", "sm_100"),
        "G3": OK,
        "G8": Result("NOT_APPLICABLE", "one model only"),
    }
    assert set(statuses("fused_megakernel", results, TRAITS).values()) == set(STATUSES)
