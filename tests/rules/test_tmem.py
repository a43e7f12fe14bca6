"""Rule R14 and the picture of tensor memory."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from v2kb.rules.canonical import canonical_json
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_rules import spec_report, tmem_map
from v2kb.rules.tmem import COLUMNS, TmemObject, allocation, layout, valid_allocation

DOC = grouped_gemm_spec()
F1 = [TmemObject("ACC", 2, 16, 0), TmemObject("SFA", 1, 4, 32), TmemObject("SFB", 1, 4, 36)]


@pytest.mark.parametrize(
    ("objects", "total", "alloc"),
    [
        (F1, 40, 64),
        ([TmemObject("ACC", 2, 16)], 32, 32),
        ([TmemObject("ACC", 2, 128)], 256, 256),
        ([TmemObject("ACC", 2, 256)], 512, 512),
        ([TmemObject("ACC", 2, 257)], 514, None),
        ([TmemObject("ACC", 1, 1)], 1, 32),
        ([], 0, 0),
    ],
)
def test_columns_and_their_allocation(objects, total, alloc):
    plan = layout(objects)
    assert (plan.total, plan.need, plan.alloc) == (total, total, alloc)


def test_an_object_without_a_start_follows_the_one_before():
    blank = [TmemObject(item.name, item.slots, item.columns) for item in F1]
    assert layout(blank) == layout(F1)
    assert [(span.name, span.first, span.last) for span in layout(blank).spans] == [
        ("ACC0", 0, 15), ("ACC1", 16, 31), ("SFA", 32, 35), ("SFB", 36, 39),
    ]  # fmt: skip


def test_a_gap_raises_the_need():
    plan = layout([TmemObject("ACC", 1, 16, 0), TmemObject("SF", 1, 8, 32)])
    assert (plan.total, plan.need, plan.alloc, plan.gaps) == (24, 40, 64, ((16, 31),))


def test_overlap_names_both_and_the_columns():
    plan = layout([TmemObject("ACC", 2, 16, 0), TmemObject("SF", 1, 8, 28)])
    assert plan.overlaps == ((28, 31, "SF", "ACC1"),)


@pytest.mark.parametrize(
    ("columns", "size"), [(0, 0), (1, 32), (32, 32), (33, 64), (256, 256), (512, 512), (513, None)]
)
def test_allocation(columns, size):
    assert allocation(columns) == size


def test_r14_passes_the_worked_plan():
    assert spec_report(DOC).states["R14"] == "passed"
    assert spec_report(norm_spec()).states["R14"] == "not_applicable"
    blank = changed(DOC, tmem__objects__1__start="", tmem__objects__2__start="")
    assert spec_report(blank).states["R14"] == "passed"


@pytest.mark.parametrize(
    ("edit", "path", "said"),
    [
        ({"tmem__alloc_columns": "32"}, "tmem.alloc_columns", "40 columns are needed, but 32 are allocated."),
        ({"tmem__alloc_columns": "40"}, "tmem.alloc_columns", "40 columns can't be allocated"),
        ({"tmem__alloc_columns": "16"}, "tmem.alloc_columns", "16 columns can't be allocated"),
        ({"tmem__alloc_columns": "1024"}, "tmem.alloc_columns", "1,024 columns can't be allocated"),
        ({"tmem__objects__0__columns": "250", "tmem__objects__1__start": "", "tmem__objects__2__start": "",
          "tmem__alloc_columns": "512"}, None, ""),
        ({"tmem__objects__0__columns": "256", "tmem__objects__1__start": "", "tmem__objects__2__start": ""},
         "tmem.objects", "520 columns are needed; tensor memory has 512."),
        ({"tmem__objects__1__start": "31"}, "tmem.objects[1].start", "SFA overlaps ACC1 in column 31."),
        ({"tmem__objects__2__start": "34"}, "tmem.objects[2].start", "SFB overlaps SFA in columns 34..35."),
        ({"tmem__objects__1__columns": "0"}, "tmem.objects[1].columns", "SFA has columns 0."),
        ({"tmem__objects__0__slots": "0"}, "tmem.objects[0].slots", "ACC has slots 0."),
        ({"tmem__objects__0__start": "-4"}, "tmem.objects[0].start", "ACC has start -4."),
        ({"tmem__dealloc_role": "consumer"}, "tmem.dealloc_role", "mma allocates tensor memory and consumer frees it."),
        ({"tmem__address_cached": "no"}, "tmem.address_cached", "isn't cached before the scratch page is released"),
        ({"tmem__published_by": "ready"}, "tmem.published_by", "ready is no row of the semaphore table."),
    ],
)  # fmt: skip
def test_r14_fires(edit, path, said):
    findings = found(changed(DOC, claims=[], **edit), "R14")
    if path is None:
        assert findings == []
        return
    assert [f.severity for f in findings if f.path == path and said in f.message] == ["E"]


def test_r14_more_than_needed_is_a_warning():
    (finding,) = found(changed(DOC, tmem__alloc_columns="128"), "R14")
    assert (finding.severity, finding.message) == ("W", "40 columns are needed and 128 are allocated; 64 would do.")


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({"tmem__objects": []}, "tmem.objects"),
        ({"tmem__alloc_columns": ""}, "tmem.alloc_columns"),
        ({"tmem__alloc_role": ""}, "tmem.alloc_role"),
        ({"tmem__dealloc_role": ""}, "tmem.dealloc_role"),
        ({"tmem__address_cached": ""}, "tmem.address_cached"),
        ({"tmem__published_by": ""}, "tmem.published_by"),
        ({"tmem__objects__0__columns": "x"}, "tmem.objects[0].columns"),
        ({"tmem__objects__1__start": "x"}, "tmem.objects[1].start"),
    ],
)
def test_r14_says_what_is_missing(edit, path):
    assert path in {f.path for f in found(changed(DOC, **edit), "R14", "missing_input")}


def test_r14_a_barrier_of_the_tensor_cores_asks_for_the_table():
    doc = changed(DOC, tmem=empty_spec()["tmem"])
    assert {f.path for f in found(doc, "R14", "missing_input")} >= {"tmem.objects", "tmem.alloc_role"}
    assert spec_report(changed(doc, sems__rows=[], sems__num_op_sems="")).states["R14"] == "not_applicable"


def test_the_picture():
    drawn = tmem_map(DOC)
    assert (drawn["columns"], drawn["total"], drawn["need"], drawn["wanted"], drawn["alloc"]) == (512, 40, 40, 64, 64)
    assert (drawn["alloc_valid"], drawn["unused"], drawn["error"]) == (True, 24, None)
    assert [(o["index"], o["name"], o["first"], o["last"], o["outside"]) for o in drawn["objects"]] == [
        (0, "ACC0", 0, 15, False), (0, "ACC1", 16, 31, False), (1, "SFA", 32, 35, False), (2, "SFB", 36, 39, False),
    ]  # fmt: skip
    assert drawn["gaps"] == drawn["overlaps"] == []


def test_the_picture_of_a_wrong_plan():
    drawn = tmem_map(changed(DOC, tmem__alloc_columns="32", tmem__objects__1__start="30"))
    assert drawn["overlaps"] == [{"first": 30, "last": 31, "names": ["ACC1", "SFA"]}]
    assert drawn["gaps"] == [{"first": 34, "last": 35}]
    assert [o["name"] for o in drawn["objects"] if o["outside"]] == ["SFA", "SFB"]
    assert not drawn["alloc_valid"]


def test_the_picture_while_inputs_are_missing():
    drawn = tmem_map(changed(DOC, tmem__objects__0__columns="x", tmem__alloc_columns=""))
    assert (drawn["error"]["path"], drawn["objects"], drawn["alloc"]) == ("tmem.objects[0].columns", [], None)
    assert tmem_map(empty_spec())["objects"] == []


OBJECTS = st.lists(
    st.builds(
        TmemObject,
        name=st.just("o"),
        slots=st.integers(-1, 9),
        columns=st.integers(-1, 200),
        start=st.one_of(st.none(), st.integers(-5, 600)),
    ),
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(OBJECTS)
def test_gaps_and_spans_cover_every_column_below_the_need(objects):
    plan = layout(objects)
    covered = {column for span in plan.spans for column in range(span.first, span.last + 1)}
    free = {column for first, last in plan.gaps for column in range(first, last + 1)}
    assert not covered & free
    end = max((span.last + 1 for span in plan.spans), default=0)
    assert set(range(min(plan.need, COLUMNS))) <= covered | free
    assert free <= set(range(max(end, min(plan.need, COLUMNS))))
    ordered = sorted(plan.spans, key=lambda span: span.first)
    assert bool(plan.overlaps) == any(b.first <= a.last for a, b in pairwise(ordered))
    assert plan.alloc is None or plan.alloc == 0 or (valid_allocation(plan.alloc) and plan.alloc >= plan.need)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["slots", "columns", "start"]), st.one_of(st.text(max_size=6), st.just("10**70")))
def test_any_text_in_the_table_is_drawn_or_named(field, text):
    doc = changed(DOC, **{f"tmem__objects__0__{field}": text})
    canonical_json([tmem_map(doc), [f.as_document() for f in found(doc, "R14")]])
