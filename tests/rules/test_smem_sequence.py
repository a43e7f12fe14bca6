"""Physical pages over a queue of tasks: the four worked chains with their exact overruns, and invariants."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.region_lists import attention_block, grouped_gemm, linear
from v2kb.rules.smem import CAPACITY_BYTES, PAGE_BYTES, PAGES, PlanError, Region, plan
from v2kb.rules.smem_sequence import (
    assign_pages,
    fresh_order,
    next_order,
    repeat_until_settled,
    run_task,
    simulate,
)


def overruns(tasks):
    return [(i, r.placement.region.name, r.pages, r.overrun_bytes) for i, t in enumerate(tasks) for r in t.overruns]


def test_grouped_gemm_alone():
    (task,) = simulate([("gg", grouped_gemm())])
    pages = {r.placement.region.name: r.pages for r in task.regions}
    assert pages["BSF"] == (0, 1)
    assert [pages[f"W{s}"] for s in range(8)] == [(2 + s,) for s in range(8)]
    assert overruns([task]) == []


def test_chain_grouped_gemm_twice():
    tasks = simulate([("gg", grouped_gemm()), ("gg", grouped_gemm())])
    assert overruns(tasks) == [(1, "W3", (13,), 5_120)]
    (region,) = tasks[1].overruns
    assert (region.start_byte, region.end_byte) == (212_992, 229_376)


def test_chain_attention_then_grouped_gemm():
    assert overruns(simulate([("attn", attention_block()), ("gg", grouped_gemm())])) == [(1, "W7", (13,), 5_120)]


def test_chain_linear_between_with_one_release_step_is_clean():
    tasks = simulate([("linear", linear()), ("gg", grouped_gemm()), ("linear", linear())])
    assert overruns(tasks) == []
    assert max(task.high_byte for task in tasks) == 221_200


def test_chain_linear_with_release_per_stage_overruns_in_packed_pages():
    first = linear(release="per_stage")
    tasks = simulate([("linear", first), ("gg", grouped_gemm()), ("linear", first)])
    assert overruns(tasks) == [(2, "A2", (13,), 1_024), (2, "A3", (13,), 5_120)]
    assert overruns(tasks[:2]) == []


def test_a_fresh_sm_can_overrun_when_a_small_region_comes_first():
    regions = [Region("small", 4_096, can_pack=True), *[Region(f"P{i}", PAGE_BYTES) for i in range(13)]]
    assert overruns(simulate([("t", regions)])) == [(0, "P12", (13,), 5_120)]


def test_multi_page_regions_ignore_the_preferred_order():
    logical = plan([Region("one", 16_384), Region("two", 2 * PAGE_BYTES), Region("three", 3 * PAGE_BYTES)])
    pages = [r.pages for r in assign_pages(logical, tuple(reversed(range(PAGES))))]
    assert pages == [(13,), (3, 4), (0, 1, 2)]


def test_next_order_puts_unused_first_then_release_step_then_page():
    logical = plan([Region("a", 16_384, release_step=2), Region("b", 16_384, release_step=1), Region("c", 16_384)])
    task = run_task("t", logical, fresh_order())
    assert task.preferred_after == (*range(3, 14), 2, 1, 0)


def test_a_page_of_packed_regions_counts_with_its_latest_release():
    regions = [
        Region("a", 16, 16, can_pack=True, release_step=5),
        Region("b", 16, 16, can_pack=True, release_step=1),
        Region("c", 16_384, release_step=3),
    ]
    logical = plan(regions)
    assert run_task("t", logical, fresh_order()).preferred_after[-2:] == (1, 0)


def test_a_task_without_regions_passes_the_order_on():
    order = (5, 4, *range(6, 14), 0, 1, 2, 3)
    assert next_order((), order) == order
    tasks = simulate([("gg", grouped_gemm()), ("silu", []), ("gg", grouped_gemm())])
    assert tasks[2].preferred_before == tasks[0].preferred_after


def test_an_unplannable_task_refuses_the_queue():
    with pytest.raises(PlanError):
        simulate([("gg", grouped_gemm()), ("big", [Region("r", 300_000)])])


def test_repetition_stops_when_the_order_comes_back():
    tasks = repeat_until_settled("gg", grouped_gemm())
    orders = [task.preferred_before for task in tasks]
    assert len(set(orders)) == len(orders)
    assert tasks[-1].preferred_after in orders
    assert any(task.overruns for task in tasks)


def test_stable_queue_of_the_full_task_settles_at_once():
    assert len(repeat_until_settled("linear", linear())) == 1


REGIONS = st.builds(
    Region,
    name=st.just("r"),
    size_bytes=st.integers(0, 2 * PAGE_BYTES),
    can_pack=st.booleans(),
    release_step=st.integers(0, 5),
)
TASKS = st.lists(st.lists(REGIONS, max_size=7), max_size=5)


@settings(max_examples=200, deadline=None)
@given(TASKS)
def test_physical_placement_keeps_its_promises(queue):
    tasks = simulate([("t", regions) for regions in queue])
    assert simulate([("t", regions) for regions in queue]) == tasks
    for task in tasks:
        assert sorted(task.preferred_after) == list(range(PAGES))
        spans = sorted((r.start_byte, r.end_byte) for r in task.regions if r.end_byte > r.start_byte)
        assert all(left[1] <= right[0] for left, right in pairwise(spans))
        for region in task.regions:
            assert all(b == a + 1 for a, b in pairwise(region.pages))
            assert region.overrun_bytes == max(0, region.end_byte - CAPACITY_BYTES)
            assert not region.overrun_bytes or 13 in region.pages
