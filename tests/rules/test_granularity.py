"""R42, and the K iterations of a task; R40 and R41 stand in test_spec_rules."""

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.granularity import iterations
from v2kb.rules.spec_view import Missing, SpecView


def of_w2(**cells):
    doc = changed(grouped_gemm_spec(), **{f"granularity__2__{name}": value for name, value in cells.items()})
    view = SpecView(doc)
    return iterations(view, view.tasks[2])


def test_iterations_of_one_number():
    view = SpecView(grouped_gemm_spec())
    found_here = iterations(view, view.tasks[0])
    assert (found_here.fixed, found_here.low, found_here.high, found_here.by_active) == (56, 56, 56, None)


def test_iterations_over_the_active_experts():
    over = of_w2(active_low="0", active_high="8")
    assert (over.low, over.high) == (2, 34)
    assert [over.by_active[active] for active in (0, 1, 4, 8)] == [2, 6, 18, 34]


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({"iterations": ""}, "granularity[2].iterations"),
        ({"iterations": "4*active +"}, "granularity[2].iterations"),
        ({"iterations": "active/3"}, "granularity[2].iterations"),
        ({"active_low": ""}, "granularity[2].active_low"),
        ({"active_high": ""}, "granularity[2].active_high"),
        ({"active_low": "9"}, "granularity[2].active_high"),
        ({"active_low": "0-1"}, "granularity[2].active_high"),
        ({"active_high": "10**9"}, "granularity[2].active_high"),
    ],
)
def test_iterations_without_a_value_say_what_is_missing(cells, path):
    answer = of_w2(**cells)
    assert isinstance(answer, Missing)
    assert answer.path == path
    assert answer.fix


def test_active_may_be_a_symbol_of_the_spec():
    doc = changed(grouped_gemm_spec(), symbols__active="4", granularity__2__active_low="")
    view = SpecView(doc)
    assert iterations(view, view.tasks[2]).fixed == 18


def test_r40_several_instances_say_why():
    doc = changed(grouped_gemm_spec(), granularity__1__mode="multi_instance")
    assert [f.path for f in found(doc, "R40")] == ["granularity[1].justification"]
    assert found(changed(doc, granularity__1__justification="The shared expert is its own instance."), "R40") == []


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({}, None),
        ({"grid_barrier": True}, "granularity[0].mode"),
        ({"monotonic_barrier": True}, "granularity[0].mode"),
        ({"grid_barrier": True, "mode": "multi_instance"}, "granularity[0].mode"),
        ({"mode": "grid_wide"}, "granularity[0].grid_barrier"),
        ({"mode": "grid_wide", "grid_barrier": True}, None),
        ({"mode": "grid_wide", "monotonic_barrier": True}, None),
    ],
)
def test_r42_a_grid_barrier_exactly_where_the_task_is_grid_wide(cells, path):
    doc = changed(grouped_gemm_spec(), **{f"granularity__0__{name}": value for name, value in cells.items()})
    findings = found(doc, "R42")
    assert [(f.path, f.severity) for f in findings] == ([(path, "E")] if path else [])
