"""The planner against the worked numbers of real tasks, and against its own promises on random regions."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.region_lists import (
    attention_block,
    full_pages,
    grouped_gemm,
    language_model_head,
    linear,
    linear_fused,
    one_region,
    rmsnorm,
)
from v2kb.rules.smem import (
    CAPACITY_BYTES,
    DEFAULT_GEOMETRY,
    PAGE_BYTES,
    PAGES,
    Geometry,
    PlanError,
    Region,
    pages_needed,
    plan,
)


@pytest.mark.parametrize(
    ("regions", "total_bytes", "pages"),
    [
        (linear(), 221_200, 14),
        (grouped_gemm(8), 155_664, 10),
        (grouped_gemm(9), 175_120, 11),
        (grouped_gemm(10), 194_576, 12),
        (rmsnorm(1024), 7_168, 1),
        (rmsnorm(4096), 25_600, 2),
        (rmsnorm(5120), 31_744, 3),
        (rmsnorm(7168), 44_032, 3),
        ([Region("partial", 256, can_pack=True), Region("index", 64, can_pack=True)], 320, 1),
        (attention_block(), 96_288, 6),
        (language_model_head(), 47_104, 3),
        # Routing and quantising, four and seven warps; W13 with 4, 7 and 13; W2 with 7; paged attention.
        (one_region(22_528), 22_528, 2),
        (one_region(28_672), 28_672, 2),
        (one_region(72_928), 72_928, 5),
        (one_region(122_080), 122_080, 8),
        (one_region(220_384), 220_384, 14),
        (one_region(119_176), 119_176, 8),
        (one_region(151_600), 151_600, 10),
        (one_region(108_592), 108_592, 7),
        (full_pages(13), 212_992, 13),
        (full_pages(13, 11_264), 224_256, 14),
        ([], 0, 0),
    ],
)
def test_bytes_and_pages(regions, total_bytes, pages):
    result = plan(regions)
    assert (result.total_bytes, result.page_count) == (total_bytes, pages)
    assert pages_needed(regions) == pages


@pytest.mark.parametrize(
    ("regions", "total_bytes", "region", "code", "needed"),
    [
        (linear(7), 258_064, "W6", "last_page", 16_384),
        (linear_fused(), 221_184, "WA4", "no_run", 0),
        (grouped_gemm(11), 214_032, "W10", "last_page", 16_384),
        (grouped_gemm(11, bsf_pages=2), 214_032, "BSF", "page_count_too_small", 0),
        (grouped_gemm(12), 233_488, "W10", "last_page", 16_384),
        (one_region(237_616), 237_616, "all", "no_run", 0),
        # W13 grows by a page per warp, so fourteen warps are the first that fail.
        (one_region(220_384 + 16_384), 236_768, "all", "no_run", 0),
        (full_pages(13, 11_265), 224_257, "extra", "last_page", 11_265),
        (full_pages(14), 229_376, "P13", "last_page", 16_384),
        (full_pages(15), 245_760, "P13", "last_page", 16_384),
    ],
)
def test_refusals(regions, total_bytes, region, code, needed):
    with pytest.raises(PlanError) as caught:
        plan(regions)
    error = caught.value
    assert sum(r.size_bytes for r in regions) == total_bytes
    assert (regions[error.index].name, error.code, error.needed_bytes) == (region, code, needed)


def test_the_fused_stages_need_18_pages_though_their_bytes_fit():
    assert sum(r.size_bytes for r in linear_fused()) <= CAPACITY_BYTES
    assert pages_needed(linear_fused()) == 18


def test_eleven_stages_fit_by_bytes_and_pages_and_still_fail():
    assert sum(r.size_bytes for r in grouped_gemm(11)) <= CAPACITY_BYTES
    assert pages_needed(grouped_gemm(11)) == 14


def test_linear_positions():
    result = plan(linear())
    at = {p.region.name: (p.page, p.page_count, p.offset_bytes) for p in result.placements}
    assert [at[f"W{s}"] for s in range(6)] == [(2 * s, 2, 0) for s in range(6)]
    assert [at[f"A{s}"] for s in range(4)] == [(12, 1, 4_096 * s) for s in range(4)]
    assert (at["A4"], at["A5"], at["scratch"]) == ((13, 1, 0), (13, 1, 4_096), (13, 1, 8_192))
    assert result.high_byte == 221_200
    assert Geometry().usable_bytes(13) - 8_208 == 3_056


def test_rmsnorm_reduce_packs_behind_the_input():
    reduce = plan(rmsnorm(7168)).placements[3]
    assert (reduce.region.name, reduce.page, reduce.offset_bytes) == ("reduce", 0, 14_336)


def test_a_full_page_with_can_pack_is_booked_whole():
    result = plan([Region("full", PAGE_BYTES, can_pack=True), Region("small", 16, 16, can_pack=True)])
    assert [(p.page, p.packed) for p in result.placements] == [(0, False), (1, True)]


def test_nothing_packs_into_the_slack_of_a_booked_run():
    result = plan([Region("big", PAGE_BYTES + 1), Region("small", 16, 16, can_pack=True)])
    assert [(p.page, p.page_count) for p in result.placements] == [(0, 2), (2, 1)]


def test_whole_pages_come_before_packed_ones_whatever_their_size():
    result = plan([Region("packed", 5_000, can_pack=True), Region("whole", 100)])
    assert [p.page for p in result.placements] == [1, 0]


def test_a_pinned_page_count_above_one_is_not_packable():
    result = plan([Region("pinned", 4_096, page_count=2, can_pack=True), Region("next", 16_384)])
    assert [(p.page, p.page_count, p.packed) for p in result.placements] == [(0, 2, False), (2, 1, False)]


def test_regions_of_no_bytes_take_no_page():
    result = plan([Region("none", 0), Region("one", 16)])
    assert (result.placements[0].page, result.page_count) == (-1, 1)


def test_packed_page_13_ends_at_11_264():
    fits = [*full_pages(13), Region("a", 10_240, can_pack=True), Region("b", 1_024, can_pack=True)]
    assert plan(fits).placements[14].offset_bytes == 10_240
    with pytest.raises(PlanError) as caught:
        plan([*fits, Region("c", 16, 16, can_pack=True)])
    assert (caught.value.code, caught.value.needed_bytes) == ("last_page", 11_280)


def test_first_fit_uses_an_aligned_gap_between_packed_regions():
    regions = [
        Region("a", 5_000, 16, can_pack=True),
        Region("b", 4_000, 8_192, can_pack=True),
        Region("c", 3_000, 1_024, can_pack=True),
    ]
    assert [(p.page, p.offset_bytes) for p in plan(regions).placements] == [(0, 0), (0, 8_192), (0, 5_120)]


@pytest.mark.parametrize(
    ("region", "code"),
    [
        (Region("r", -1), "negative_size"),
        (Region("r", 16, 0), "bad_alignment"),
        (Region("r", 16, -16), "bad_alignment"),
        (Region("r", 16, 48), "bad_alignment"),
        (Region("r", 16, page_count=0), "page_count_too_small"),
        (Region("r", 16_385, page_count=1), "page_count_too_small"),
        (Region("r", 16, contiguous=False), "not_contiguous"),
    ],
)
def test_unreadable_regions(region, code):
    with pytest.raises(PlanError) as caught:
        plan([Region("first", 16), region])
    assert (caught.value.code, caught.value.index) == (code, 1)
    with pytest.raises(PlanError):
        pages_needed([region])


def test_enormous_numbers_are_refused_at_once():
    with pytest.raises(PlanError):
        plan([Region("r", 2**250)])
    assert pages_needed([Region("r", 2**250)]) == 2**236


def outcome(regions, geometry=DEFAULT_GEOMETRY):
    try:
        return plan(regions, geometry)
    except PlanError as error:
        return error


def pinned(region, spare):
    """The region with a page count pinned to `spare` pages more than it needs; as it is for -1."""
    return region if spare < 0 else replace(region, page_count=-(-region.size_bytes // PAGE_BYTES) + spare)


REGIONS = st.lists(
    st.builds(
        pinned,
        st.builds(
            Region,
            name=st.just("r"),
            size_bytes=st.one_of(
                st.integers(0, 3 * PAGE_BYTES),
                st.integers(0, 2_000),
                st.sampled_from([16_384, 16_383, 11_264, 11_265, 32_768]),
            ),
            alignment=st.sampled_from([16, 128, 1024, 4096]),
            can_pack=st.booleans(),
            release_step=st.integers(0, 9),
        ),
        st.sampled_from([-1, -1, -1, 0, 1]),
    ),
    max_size=20,
)


def plain_plan(regions):
    """The planner once more, written as the section reads: (page, offset) per region, or the index it stops at."""
    last_bytes = CAPACITY_BYTES - 13 * PAGE_BYTES
    taken = [[] for _ in range(PAGES)]  # spans of bytes per page
    where = {}
    pages = [r.page_count if r.page_count >= 0 else -(-r.size_bytes // PAGE_BYTES) for r in regions]
    packs = [r.can_pack and k <= 1 and r.size_bytes < PAGE_BYTES for r, k in zip(regions, pages, strict=True)]
    whole = [i for i in range(len(regions)) if not packs[i]]
    whole.sort(key=lambda i: (-pages[i], -regions[i].size_bytes))
    small = [i for i in range(len(regions)) if packs[i]]
    small.sort(key=lambda i: (-pages[i], -regions[i].size_bytes))
    for i in whole:
        size, k = regions[i].size_bytes, pages[i]
        if size == 0:
            continue
        starts = [s for s in range(PAGES - k + 1) if not any(taken[s : s + k])]
        starts = [s for s in starts if s * PAGE_BYTES + size <= CAPACITY_BYTES]
        if not starts:
            return i
        for page in range(starts[0], starts[0] + k):
            taken[page].append((0, PAGE_BYTES))
        where[i] = (starts[0], 0)
    for i in small:
        size, step = regions[i].size_bytes, regions[i].alignment
        if size == 0:
            continue
        fits = (
            (page, offset)
            for page in range(PAGES)
            for offset in range(0, (last_bytes if page == 13 else PAGE_BYTES) - size + 1, step)
            if all(offset + size <= start or offset >= end for start, end in taken[page])
        )
        found = next(fits, None)
        if found is None:
            return i
        taken[found[0]].append((found[1], found[1] + size))
        where[i] = found
    return where


@settings(max_examples=150, deadline=None)
@given(REGIONS)
def test_a_plain_reading_of_the_section_gives_the_same(regions):
    result = outcome(regions)
    if isinstance(result, PlanError):
        assert plain_plan(regions) == result.index
    else:
        placed = {p.index: (p.page, p.offset_bytes) for p in result.placements if p.page >= 0}
        assert plain_plan(regions) == placed


@settings(max_examples=100, deadline=None)
@given(REGIONS, st.sampled_from([4_096, 8_192, 16_384, 32_768]), st.integers(1, 28))
def test_another_geometry_keeps_the_capacity(regions, page_bytes, pages):
    result = outcome([replace(region, page_count=-1) for region in regions], Geometry(page_bytes, pages))
    for placement in result.placed if isinstance(result, PlanError) else result.placements:
        end = placement.page * page_bytes + placement.offset_bytes + placement.region.size_bytes
        assert placement.page < 0 or end <= CAPACITY_BYTES
        assert placement.page + placement.page_count <= pages


@settings(max_examples=400, deadline=None)
@given(REGIONS)
def test_a_plan_keeps_its_promises(regions):
    result = outcome(regions)
    if isinstance(result, PlanError):
        assert regions[result.index].size_bytes > 0
        assert all(p.index != result.index for p in result.placed)
        again = outcome(regions)
        assert (again.code, again.index) == (result.code, result.index)
        return
    assert plan(regions) == result
    spans = []
    booked = set()
    for placement in result.placements:
        size = placement.region.size_bytes
        if size == 0:
            continue
        start = placement.page * PAGE_BYTES + placement.offset_bytes
        assert start % placement.region.alignment == 0
        assert start + size <= CAPACITY_BYTES
        assert 0 <= placement.page < PAGES
        if placement.packed:
            assert placement.offset_bytes + size <= PAGE_BYTES
        else:
            assert placement.offset_bytes == 0
            pages = set(range(placement.page, placement.page + placement.page_count))
            assert not pages & booked
            booked |= pages
        spans.append((start, start + size))
    spans.sort()
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert not booked & {p.page for p in result.placements if p.packed}
    assert result.page_count == pages_needed(regions)
    assert result.high_byte == max((end for _, end in spans), default=0)


@settings(max_examples=100, deadline=None)
@given(st.permutations(range(13)))
def test_equal_sizes_keep_their_order(order):
    regions = [Region(f"r{i}", 8_000 if i % 2 else 16_384) for i in order]
    places = plan(regions).placements
    for size in (8_000, 16_384):
        pages = [p.page for p in places if p.region.size_bytes == size]
        assert pages == sorted(pages)
