"""The calculators: worked numbers, a code per field, and any text answered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.calculators import CALCULATORS, achievable_floor, smem_plan, task_count, tmem_columns, wave_quantisation
from v2kb.rules.canonical import canonical_json
from v2kb.rules.spec_rules import page_map, spec_report

RING = [
    {"name": "W", "slots": "STAGES", "size_bytes": "PAGE", "page_count": "1", "release_step": "1"},
    {"name": "BSF", "size_bytes": "STAGES*3072 + 16", "release_step": "1"},
]


def problems(answer):
    return [(problem["code"], problem["field"]) for problem in answer["problems"]]


@pytest.mark.parametrize(
    ("items", "tasks", "old", "new", "trips", "outcome"),
    [
        ("1024", "136", "4", "7", (2, 2), "tie"),
        ("7,168", "136", "4", "7", (14, 8), "may_win"),
        ("7168", "136", "7", "4", (8, 14), "more_trips"),
        ("8*ROWS", "136", "4", "4 + 3", (2, 2), "tie"),
    ],
)
def test_wave_quantisation(items, tasks, old, new, trips, outcome):
    given = {"items": items, "tasks": tasks, "old_warps": old, "new_warps": new, "symbols": {"ROWS": "128"}}
    answer = wave_quantisation(given)
    result = answer["result"]
    assert (result["old_trips"], result["new_trips"], result["outcome"]) == (*trips, outcome)
    assert answer["problems"] == []


def test_wave_quantisation_says_that_a_tie_regresses():
    result = wave_quantisation({"items": "1024", "tasks": "136", "old_warps": "4", "new_warps": "7"})["result"]
    assert result["message"] == (
        "1,024 items over 136 tasks take 2 trips with 4 warps and 2 with 7. A tie, so a regression is predicted."
    )


def test_wave_quantisation_problems_have_a_code_per_field():
    given = {"items": "", "tasks": "0", "old_warps": "x", "new_warps": "10**30", "extra": "1"}
    answer = wave_quantisation(given)
    assert answer["result"] is None
    assert problems(answer) == [
        ("malformed", "extra"),
        ("missing", "items"),
        ("too_small", "tasks"),
        ("unreadable", "old_warps"),
        ("too_large", "new_warps"),
    ]


@pytest.mark.parametrize(
    ("moved", "low_us", "high_us"),
    [
        ("31.5 MB", "9.26", "15.75"),
        ("31,500,000", "9.26", "15.75"),
        ("16.1 MB", "4.74", "8.05"),
        ("31.5 MiB", "9.71", "16.52"),
        ("36*7*128*1024", "9.71", "16.52"),
        ("4*STREAM MB", "9.41", "16.00"),
        ("1 KB", "0.000294", "0.0005"),
    ],
)
def test_achievable_floor(moved, low_us, high_us):
    answer = achievable_floor({"bytes": moved, "symbols": {"STREAM": "8"}})
    assert (answer["result"]["low_us"], answer["result"]["high_us"]) == (low_us, high_us)
    assert "m1-decode-evidence section 4" in answer["result"]["source"]
    assert answer["problems"] == []


def test_achievable_floor_of_a_given_band():
    answer = achievable_floor({"bytes": "10 MB", "low_tb_s": "2.5", "high_tb_s": "2.50"})
    assert (answer["result"]["low_us"], answer["result"]["high_us"]) == ("4.00", "4.00")
    assert answer["result"]["source"] == "given here"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [("missing", "bytes")]),
        ({"bytes": "-5"}, [("too_small", "bytes")]),
        ({"bytes": "0 MB"}, [("too_small", "bytes")]),
        ({"bytes": "some MB"}, [("unreadable", "bytes")]),
        ({"bytes": "2.5"}, [("unreadable", "bytes")]),
        ({"bytes": "1 MB", "low_tb_s": "fast"}, [("unreadable", "low_tb_s")]),
        ({"bytes": "1 MB", "low_tb_s": "0"}, [("too_small", "low_tb_s")]),
        ({"bytes": "1 MB", "high_tb_s": "2000"}, [("too_large", "high_tb_s")]),
        ({"bytes": "1 MB", "low_tb_s": "3", "high_tb_s": "2"}, [("reversed", "high_tb_s")]),
    ],
)
def test_achievable_floor_problems(given, expected):
    answer = achievable_floor(given)
    assert answer["result"] is None
    assert problems(answer) == expected


def test_a_bandwidth_out_of_range_says_the_range():
    (problem,) = achievable_floor({"bytes": "1 MB", "low_tb_s": "0"})["problems"]
    assert problem["fix"] == "Write 0.001 to 1,000 TB/s."


def test_a_floor_from_the_peak_is_named():
    answer = achievable_floor({"bytes": "1 MB", "high_tb_s": "8"})
    assert problems(answer) == [("peak_bandwidth", "high_tb_s")]
    assert answer["result"]["high_us"] == "0.50"


@pytest.mark.parametrize(
    ("formula", "tasks"), [("8*(N/128)", 64), ("512/128", 4), ("7,168/128", 56), ("ceil(N/100)", 11)]
)
def test_task_count(formula, tasks):
    answer = task_count({"num_tasks": formula, "symbols": {"N": "1024"}})
    assert answer["result"]["tasks"] == tasks
    assert answer["problems"] == []


def test_task_count_against_a_listed_number():
    result = task_count({"num_tasks": "8*8", "listed": "124"})["result"]
    assert (result["agrees"], result["message"]) == (
        False, "8*8 gives 64 tasks; 124 are listed, which is another number.",
    )  # fmt: skip
    assert task_count({"num_tasks": "8*8", "listed": "64"})["result"]["agrees"]
    assert problems(task_count({"num_tasks": "100/128"})) == [("unreadable", "num_tasks")]
    assert problems(task_count({"num_tasks": "0", "listed": "x"})) == [
        ("too_small", "num_tasks"), ("unreadable", "listed"),
    ]  # fmt: skip
    assert ("unreadable", "symbols.A") in problems(task_count({"num_tasks": "1", "symbols": {"A": "A"}}))


def test_tmem_columns():
    objects = [{"name": "ACC", "slots": "ACC", "columns": "16"}, {"columns": "4"}, {"columns": "4"}]
    answer = tmem_columns({"objects": objects, "symbols": {"ACC": "2"}})
    result = answer["result"]
    assert (result["total"], result["wanted"], result["message"]) == (
        40, 64, "40 columns are needed, so 64 are allocated.",
    )  # fmt: skip
    assert [o["name"] for o in result["objects"]] == ["ACC0", "ACC1", "Object 2", "Object 3"]
    assert tmem_columns({"objects": [{"slots": "2", "columns": "16"}]})["result"]["wanted"] == 32


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [("missing", "objects")]),
        ({"objects": [{"columns": ""}]}, [("missing", "objects[0].columns")]),
        ({"objects": [{"columns": "16", "start": "600"}]}, [("too_large", "objects[0].start")]),
        ({"objects": [{"columns": "300", "slots": "2"}]}, [("too_large", "objects")]),
        ({"objects": [{"columns": "16"}], "alloc_columns": "48"}, [("unreadable", "alloc_columns")]),
        ({"objects": [{"columns": "40"}], "alloc_columns": "32"}, [("too_small", "alloc_columns")]),
    ],
)
def test_tmem_columns_problems(given, expected):
    assert problems(tmem_columns(given)) == expected


def test_tmem_columns_shows_overlaps():
    objects = [{"name": "A", "columns": "16"}, {"name": "B", "columns": "16", "start": "8"}]
    result = tmem_columns({"objects": objects})["result"]
    assert result["message"].endswith("A and B overlap in columns 8 to 15.")


def test_planner_agrees_with_the_spec():
    answer = smem_plan({"regions": RING, "symbols": {"STAGES": "8"}})
    result = answer["result"]
    assert answer["problems"] == []
    assert (result["total_bytes"], result["page_count"], result["high_byte"]) == (155_664, 10, 163_840)
    assert result["map"]["pages"] == page_map_without_rows(grouped_gemm_spec(), result["map"])
    assert result["message"] == "155,664 of 224,256 B in 10 of 14 pages."
    assert spec_report(grouped_gemm_spec()).totals["smem_pages"] == result["page_count"]


def page_map_without_rows(doc, other):
    """The pages of the spec's picture with the row numbers of the other one: rows and slots differ."""
    rows = {region["name"]: (region["index"], region["slot"]) for region in other["regions"]}
    pages = page_map(doc)["pages"]
    for page in pages:
        for part in page["parts"]:
            part["index"], part["slot"] = rows[part["name"]]
    return pages


def test_planner_over_a_queue():
    answer = smem_plan({"regions": RING, "symbols": {"STAGES": "8"}, "queue": "this, this"})
    assert problems(answer) == [("overrun", "queue[1]")]
    assert answer["problems"][0]["message"] == "W3 of this ends 5,120 B past capacity at place 2."
    assert answer["result"]["high_byte"] == 229_376
    attention = {"name": "attention", "regions": [{"name": "all", "size_bytes": "96288", "release_step": "1"}]}
    answer = smem_plan(
        {"regions": RING, "symbols": {"STAGES": "8"}, "others": [attention], "queue": ["attention", "this"]}
    )
    assert answer["problems"][0]["message"].startswith("W7 of this ends 5,120 B past capacity")


def test_planner_refusals_keep_the_picture():
    answer = smem_plan({"regions": RING, "symbols": {"STAGES": "11"}})
    assert problems(answer) == [("last_page", "regions[0]")]
    assert answer["result"]["page_count"] is None
    assert [region["name"] for region in answer["result"]["map"]["unplaced"]] == ["W10"]


def test_planner_of_another_geometry():
    answer = smem_plan({"regions": [{"name": "A", "size_bytes": "PAGE + 1"}], "page_bytes": "8192", "pages": "27"})
    result = answer["result"]
    assert (result["total_bytes"], result["page_count"], len(result["map"]["pages"])) == (8_193, 2, 27)
    assert result["map"]["pages"][26]["usable_bytes"] == 8_192
    few = smem_plan({"regions": [{"name": "A", "size_bytes": "3*PAGE"}], "pages": "2"})
    assert problems(few) == [("no_run", "regions[0]")]


@pytest.mark.parametrize(("typed", "packed"), [("yes", True), ("1", True), ("", False), ("no", False), (True, True)])
def test_planner_reads_ticks_from_a_link(typed, packed):
    answer = smem_plan({"regions": [{"name": "A", "size_bytes": "16", "can_pack": typed}]})
    assert answer["result"]["map"]["regions"][0]["packed"] is packed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [("missing", "regions")]),
        ({"regions": [{"name": "A"}]}, [("missing", "regions[0].size_bytes")]),
        ({"regions": [{"size_bytes": "X"}]}, [("unreadable", "regions[0].size_bytes")]),
        ({"regions": [{"size_bytes": "16", "alignment": "24"}]}, [("bad_alignment", "regions[0].alignment")]),
        ({"regions": [{"size_bytes": "-1"}]}, [("negative_size", "regions[0].size_bytes")]),
        ({"regions": [{"size_bytes": "1"}], "pages": "65"}, [("too_large", "pages")]),
        ({"regions": [{"size_bytes": "1"}], "page_bytes": "0"}, [("too_small", "page_bytes")]),
        ({"regions": [{"size_bytes": "1"}], "queue": "gg"}, [("unknown_task", "queue[0]")]),
        ({"regions": [{"size_bytes": "1"}], "others": [{"name": "this"}]}, [("missing", "others[0].name")]),
        ({"regions": [{"size_bytes": "1"}], "others": [{"name": "b", "regions": [{}]}]},
         [("missing", "others[0].regions[0].size_bytes")]),
        ({"regions": [{"size_bytes": "1", "can_pack": "maybe"}]}, [("malformed", "regions[0].can_pack")]),
        ({"regions": [{"size_bytes": "1", "slots": "10**9"}]}, [("too_large", "regions")]),
        ({"regions": [{"size_bytes": "16", "page_count": "0"}]}, [("page_count_too_small", "regions[0].page_count")]),
    ],
)  # fmt: skip
def test_planner_problems(given, expected):
    assert problems(smem_plan(given)) == expected


def test_the_planner_says_all_at_once_what_is_wrong():
    answer = smem_plan(
        {
            "page_bytes": "0",
            "pages": "many",
            "symbols": {"A": "A"},
            "regions": [
                {"name": "a"},
                {"name": "b", "size_bytes": "-1"},
                {"name": "c", "size_bytes": "B", "release_step": "C"},
                {"name": "d", "size_bytes": "40000", "page_count": "1"},
                {"name": "e", "size_bytes": "300000"},
            ],
            "others": [{"name": "next", "regions": [{"size_bytes": "1", "alignment": "3"}]}],
            "queue": "this, gg",
        }
    )
    assert answer["result"] is None
    # Whether d fits its pages, and whether e fits at all, hangs on the page that is not known.
    assert problems(answer) == [
        ("unreadable", "symbols.A"),
        ("too_small", "page_bytes"),
        ("unreadable", "pages"),
        ("missing", "regions[0].size_bytes"),
        ("unreadable", "regions[2].size_bytes"),
        ("unreadable", "regions[2].release_step"),
        ("negative_size", "regions[1].size_bytes"),
        ("bad_alignment", "others[0].regions[0].alignment"),
        ("unknown_task", "queue[1]"),
    ]
    pinned = {"regions": [{"size_bytes": "40000", "page_count": "1"}, {"size_bytes": "8", "alignment": "3"}]}
    expected = [("page_count_too_small", "regions[0].page_count"), ("bad_alignment", "regions[1].alignment")]
    assert problems(smem_plan(pinned)) == expected
    assert problems(smem_plan({**pinned, "pages": "0"})) == [("too_small", "pages"), *expected]


TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["8", "2**64", "PAGE", "1 MB", "10**76", "-1", "1e999"]))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=5), st.sampled_from(["name", "columns", "size_bytes"])), inner),
    ),
    max_leaves=6,
)  # fmt: skip
FIELDS = ["items", "tasks", "old_warps", "new_warps", "bytes", "low_tb_s", "high_tb_s", "num_tasks", "listed",
          "objects", "alloc_columns", "regions", "page_bytes", "pages", "others", "queue", "symbols"]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(CALCULATORS)), st.one_of(JSON, st.dictionaries(st.sampled_from(FIELDS), JSON)))
def test_any_input_gets_an_answer(name, given):
    answer = CALCULATORS[name](given)
    canonical_json(answer)
    assert answer["result"] is not None or answer["problems"]
    assert all(set(p) == {"code", "field", "message", "fix"} and p["code"] and p["message"] for p in answer["problems"])
