"""Each spec rule passes on a right spec and fires on the mutation that it is there for."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from tests.rules.steps import at_most
from v2kb.rules.canonical import canonical_json
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_rules import (
    RULES,
    check_spec,
    findings_as_document,
    page_map,
    rules_version,
    semaphore_map,
    spec_report,
    tmem_map,
)

# R60 to R63 live in the gate.
NAMED = [f"R{n:02}" for first, last in ((1, 16), (20, 38), (40, 53), (64, 79)) for n in range(first, last + 1)]


def fused_linear(stages=6):
    doc = grouped_gemm_spec()
    doc["smem"]["regions"] = [
        {"ordinal": str(s), "name": f"WA{s}", "size_bytes": "36864", "alignment": "1024"} for s in range(stages)
    ]
    return doc


def test_the_registry_is_complete_and_explains_itself():
    assert sorted(RULES) == NAMED
    for rule in RULES.values():
        shown = rule.as_document()
        assert all(shown[key] for key in ("id", "version", "severity", "title", "source", "formula", "inputs"))


@pytest.mark.parametrize("doc", [grouped_gemm_spec(), norm_spec(), norm_spec(1024)])
def test_a_right_spec_has_no_findings(doc):
    report = spec_report(doc)
    assert [(f.rule, f.message) for f in report.findings if f.severity != "I"] == []
    assert {f.rule for f in report.findings} <= {"R10"}
    assert report.passes
    assert set(report.states.values()) <= {"passed", "not_applicable"}


def test_totals_of_the_grouped_gemm():
    summary = spec_report(grouped_gemm_spec()).summary
    assert (summary["smem_bytes"], summary["smem_pages"], summary["semaphores"], summary["tasks"]) == (
        155_664, 10, 30, 124,
    )  # fmt: skip
    assert summary["rules_version"] == rules_version()


def test_r01_total_bytes():
    (finding,) = found(changed(grouped_gemm_spec(), symbols__SLICE="12*1024"), "R01")
    assert finding.facts == {"total_bytes": 229_392, "over_bytes": 5_136}
    assert finding.message == "SMEM total 229,392 B exceeds 224,256 B by 5,136."
    assert finding.path == "smem.regions"


def test_r02_pages_although_the_bytes_fit():
    doc = fused_linear()
    assert found(doc, "R01") == []
    (finding,) = found(doc, "R02")
    assert finding.message.startswith("Plan needs 18 pages (14 exist); WA4 could not be placed: ")
    assert finding.path == "smem.regions[4]"
    assert found(doc, "R03") == []


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"smem__regions__2__size_bytes": "-1"}, "negative_size"),
        ({"smem__regions__2__alignment": "48"}, "bad_alignment"),
        ({"smem__regions__2__page_count": "0"}, "page_count_too_small"),
        ({"smem__regions__2__contiguous": False}, "not_contiguous"),
    ],
)
def test_r02_rows_that_the_planner_refuses(edit, reason):
    (finding,) = found(changed(grouped_gemm_spec(), **edit), "R02")
    assert (finding.facts["reason"], finding.path) == (reason, "smem.regions[2]")


def test_r02_points_at_the_row_when_rows_are_not_in_order_of_ordinals():
    doc = changed(grouped_gemm_spec(), smem__regions__0__size_bytes="20000")
    doc["smem"]["regions"].reverse()
    (finding,) = found(doc, "R02")
    assert finding.path == "smem.regions[8]"


def test_r03_page_13():
    doc = grouped_gemm_spec()
    template = doc["smem"]["regions"][0]
    doc["smem"]["regions"] = [{**template, "ordinal": str(i), "name": f"P{i}"} for i in range(13)]
    last = {**template, "ordinal": "13", "name": "last", "size_bytes": "11264"}
    doc["smem"]["regions"].append(last)
    assert found(doc, "R03") == []
    last["size_bytes"] = "11265"
    (finding,) = found(doc, "R03")
    assert finding.message == "Page 13 has 11,264 usable bytes; last needs 11,265."
    assert finding.path == "smem.regions[13]"


def test_r04_a_stated_queue_is_an_error():
    doc = changed(grouped_gemm_spec(), smem__queue=["this", "this"])
    (finding,) = found(doc, "R04")
    assert finding.severity == "E"
    assert finding.message == "After this task, W3 lands on page 13 and ends 5,120 B past capacity."
    assert finding.path == "smem.regions[3]"
    assert not spec_report(doc).passes


def test_r04_a_guessed_queue_is_a_warning():
    doc = changed(grouped_gemm_spec(), smem__queue=[])
    findings = found(doc, "R04")
    assert {f.severity for f in findings} == {"W"}
    assert all("guessed" in f.message and f.facts["guessed"] for f in findings)
    assert spec_report(doc).passes
    assert spec_report(doc).states["R04"] == "warned"


def test_r04_on_a_fresh_sm_is_an_error_even_without_a_queue():
    doc = changed(norm_spec(), smem__queue=[])
    template = doc["smem"]["regions"][0]
    small = {**template, "name": "small", "size_bytes": "4096"}
    full = [
        {**template, "ordinal": str(i), "name": f"P{i}", "size_bytes": "PAGE", "can_pack": False} for i in range(1, 14)
    ]
    doc["smem"]["regions"] = [small, *full]
    findings = found(doc, "R04")
    assert findings[0].severity == "E"
    assert findings[0].message.startswith("On an SM that has run nothing, P13 lands on page 13 and ends 5,120 B past")


def test_r04_with_a_neighbour():
    attention = changed(
        norm_spec(), smem__regions=[{**norm_spec()["smem"]["regions"][0], "size_bytes": "96288", "can_pack": False}]
    )
    doc = changed(grouped_gemm_spec(), smem__queue=["S7", "this"])
    (finding,) = found(doc, "R04", neighbours={"S7": attention, "S8": None})
    assert (finding.path, finding.facts["overrun_bytes"]) == ("smem.regions[7]", 5_120)
    assert finding.message.startswith("After S7, W7 lands on page 13")


def test_r04_is_judged_whatever_stands_in_other_sections():
    choice = {**grouped_gemm_spec()["choices"][0], "lever": "two words!"}
    doc = changed(grouped_gemm_spec(), smem__queue=["this", "this"], choices=[choice])
    assert found(doc, "R04", "missing_input") == []
    assert found(doc, "R04")


def test_r04_names_this_spec_when_its_regions_cannot_be_read():
    doc = changed(grouped_gemm_spec(), smem__queue=["this"], smem__static_shared_bytes=["x"])
    (finding,) = found(doc, "R04", "missing_input")
    assert finding.message == "This spec has no plan of its own yet."


def test_r04_reports_the_neighbour_that_overruns():
    doc = changed(grouped_gemm_spec(), smem__queue=["this", "S7"])
    (finding,) = found(doc, "R04", neighbours={"S7": grouped_gemm_spec()})
    assert finding.path == "smem.queue[1]"
    assert "W3 of S7" in finding.message


@pytest.mark.parametrize(
    ("queue", "neighbours", "path"),
    [
        (["this", "S9"], {}, "smem.queue[1]"),
        (["this", "S9"], None, "smem.queue[1]"),
        (["this", "S9"], {"S9": fused_linear()}, "smem.queue[1]"),
        (["this", "S9"], {"S9": "not a document"}, "smem.queue[1]"),
        (["this", "S9"], {"S9": empty_spec()}, "smem.queue[1]"),
        (["this", "S9"], {"S9": {"engine": {"family": "D"}}}, None),
        (["S9"], {"S9": grouped_gemm_spec()}, "smem.queue"),
    ],
)
def test_r04_says_what_is_missing(queue, neighbours, path):
    doc = changed(grouped_gemm_spec(), smem__queue=queue)
    findings = found(doc, "R04", "missing_input", neighbours=neighbours)
    assert [f.path for f in findings] == ([path] if path else [])


def test_r05_number_of_regions():
    doc = norm_spec()
    template = doc["smem"]["regions"][3]
    for count, fires in ((16, False), (17, True)):
        doc["smem"]["regions"] = [{**template, "ordinal": str(i), "name": f"r{i}"} for i in range(count)]
        assert bool(found(doc, "R05")) is fires
    assert found(doc, "R05")[0].message == "17 regions; the descriptor holds 16."


@pytest.mark.parametrize(
    ("edit", "paths"),
    [
        ({"smem__regions__3__ordinal": "9"}, {"smem.regions", "smem.regions[3].ordinal"}),
        ({"smem__regions__3__ordinal": "2"}, {"smem.regions", "smem.regions[3].ordinal"}),
        ({"smem__regions__0__ordinal": "-1"}, {"smem.regions", "smem.regions[0].ordinal"}),
        ({"smem__regions__4__name": "W3"}, {"smem.regions[3].name", "smem.regions[4].name"}),
    ],
)
def test_r06_ordinals_and_names(edit, paths):
    assert {f.path for f in found(changed(grouped_gemm_spec(), **edit), "R06")} == paths


def test_r06_names_the_gap():
    messages = [f.message for f in found(changed(grouped_gemm_spec(), smem__regions__3__ordinal="9"), "R06")]
    assert "Region ordinals have a gap at 3." in messages


@pytest.mark.parametrize(
    ("edit", "severity"),
    [
        ({"smem__regions__0__alignment": "512"}, "E"),
        ({"smem__regions__0__alignment": "0"}, "E"),
        ({"smem__regions__0__alignment": "2048"}, "W"),
        ({"smem__regions__8__alignment": "24"}, "W"),
        ({"smem__regions__8__alignment": "-16"}, "W"),
        ({"smem__regions__8__alignment": "4096"}, "W"),
        ({"smem__regions__8__alignment": "16"}, None),
    ],
)
def test_r07_alignment(edit, severity):
    findings = found(changed(grouped_gemm_spec(), **edit), "R07")
    assert [f.severity for f in findings] == ([severity] if severity else [])


def test_r07_message():
    (finding,) = found(changed(grouped_gemm_spec(), smem__regions__0__alignment="512"), "R07")
    assert finding.message == "W0 is a TMA target but aligned 512."


@pytest.mark.parametrize(
    ("storage", "region", "fires"),
    [("W", 3, True), ("W3", 3, True), ("W0, W3", 3, True), ("W0", 3, False), ("B", 8, True), ("BSF.SFA", 8, True)],
)
def test_r07_a_region_that_a_tma_barrier_is_bound_to_is_a_target(storage, region, fires):
    unmarked = {f"smem__regions__{index}__tma_dst": False for index in range(9)}
    doc = changed(grouped_gemm_spec(), **unmarked, **{f"smem__regions__{region}__alignment": "512"})
    (finding,) = found(changed(doc, sems__rows__0__storage=storage), "R07") or (None,)
    assert (finding is not None and finding.path == f"smem.regions[{region}].alignment") is fires
    threads = changed(doc, sems__rows__0__storage=storage, sems__rows__0__kind="warp")
    assert found(threads, "R07") == []


@pytest.mark.parametrize(("count", "severity"), [("1", "E"), ("3", "W"), ("2", None), ("-1", None)])
def test_r08_pinned_page_count(count, severity):
    findings = found(changed(grouped_gemm_spec(), smem__regions__8__page_count=count), "R08")
    assert [f.severity for f in findings] == ([severity] if severity else [])


def test_r08_message():
    (finding,) = found(changed(grouped_gemm_spec(), symbols__STAGES="11", smem__regions__8__page_count="2"), "R08")
    assert finding.message == "page_count 2 is too small for 33,808 B."


@pytest.mark.parametrize(
    ("edit", "fires"),
    [
        ({"smem__regions__0__can_pack": True}, True),
        ({"smem__regions__0__can_pack": True, "smem__regions__0__size_bytes": "16383"}, False),
        (
            {
                "smem__regions__0__can_pack": True,
                "smem__regions__0__size_bytes": "100",
                "smem__regions__0__page_count": "2",
            },
            True,
        ),
    ],
)
def test_r09_intent_to_pack(edit, fires):
    findings = found(changed(grouped_gemm_spec(), **edit), "R09")
    assert [f.severity for f in findings] == (["W"] if fires else [])


@pytest.mark.parametrize(
    ("edit", "path", "said"),
    [
        ({"granularity__0__listed": "124"}, "granularity[0].listed", "gives 64 tasks, but 124 are listed"),
        ({"symbols__N": "2048"}, "granularity[0].listed", "gives 128 tasks"),
        (
            {"granularity__1__num_tasks": "0", "granularity__1__listed": "0"},
            "granularity[1].num_tasks",
            "gives 0 tasks",
        ),
    ],
)
def test_r40_counts(edit, path, said):
    (finding,) = found(changed(grouped_gemm_spec(), **edit), "R40")
    assert finding.path == path
    assert said in finding.message


def test_r40_a_fraction_of_a_task_is_no_count():
    (finding,) = found(changed(grouped_gemm_spec(), symbols__N="1000"), "R40", "missing_input")
    assert finding.path == "granularity[0].num_tasks"
    assert "ceil" in finding.fix


GRID_WIDE = {"justification": "One barrier.", "monotonic_barrier": True, "host_assert": True,
             "skip_after_step0": True, "task_offset": True}  # fmt: skip


@pytest.mark.parametrize("lacking", [None, *GRID_WIDE])
def test_r41_grid_wide(lacking):
    row = {**grouped_gemm_spec()["granularity"][0], **GRID_WIDE, "mode": "grid_wide"}
    if lacking:
        row[lacking] = "" if lacking == "justification" else False
    findings = found(changed(grouped_gemm_spec(), granularity__0=row), "R41")
    assert [f.facts["lacking"] for f in findings] == ([[lacking]] if lacking else [])
    assert [f.path for f in findings] == ([f"granularity[0].{lacking}"] if lacking else [])


def test_r41_lists_all_that_is_missing():
    doc = changed(grouped_gemm_spec(), granularity__2__mode="grid_wide", granularity__2__task_offset=False)
    (finding,) = found(doc, "R41")
    assert finding.facts["lacking"] == list(GRID_WIDE)


@pytest.mark.parametrize(
    ("items", "old", "new", "outcome"),
    [("7168", "4", "7", None), ("1024", "4", "7", "tie"), ("7168", "7", "4", "more_trips")],
)
def test_r65_wave_quantisation(items, old, new, outcome):
    claim = {"items": items, "tasks": "136", "old_warps": old, "new_warps": new}
    findings = found(changed(grouped_gemm_spec(), choices__0__wave_quant=claim), "R65")
    assert [f.facts["outcome"] for f in findings] == ([outcome] if outcome else [])
    assert all(f.path == "choices[0].wave_quant" and f.severity == "E" for f in findings)


def test_r65_tie_of_the_router():
    claim = {"items": "1024", "tasks": "136", "old_warps": "4", "new_warps": "7"}
    (finding,) = found(changed(grouped_gemm_spec(), choices__0__wave_quant=claim), "R65")
    assert "take 2 trips with 4 warps and 2 with 7: a tie" in finding.message
    avoided = changed(grouped_gemm_spec(), choices__0__wave_quant=claim, choices__0__polarity="avoids")
    assert found(avoided, "R65") == []


@pytest.mark.parametrize("lever", ["nwarps-7", "7-warp-mac-fold", "seven_warp", "nw7"])
def test_r65_a_claim_without_arithmetic_is_missing_input(lever):
    doc = changed(grouped_gemm_spec(), choices__0__wave_quant=None, choices__0__lever=lever, choices__0__title="")
    (finding,) = found(doc, "R65", "missing_input")
    assert (finding.path, finding.severity) == ("choices[0].wave_quant", "E")


def test_r65_reads_the_title_too():
    doc = changed(
        grouped_gemm_spec(), choices__0__wave_quant=None, choices__0__lever="fold", choices__0__title="nwarps = 7"
    )
    assert found(doc, "R65", "missing_input")


def test_r65_other_levers_need_no_arithmetic():
    doc = changed(
        grouped_gemm_spec(), choices__0__wave_quant=None, choices__0__lever="tma-loader", choices__0__title="TMA"
    )
    assert spec_report(doc).states["R65"] == "not_applicable"


def test_r65_zero_is_named():
    claim = {"items": "7168", "tasks": "0", "old_warps": "4", "new_warps": "7"}
    (finding,) = found(changed(grouped_gemm_spec(), choices__0__wave_quant=claim), "R65")
    assert finding.path == "choices[0].wave_quant.tasks"


def test_an_empty_spec_passes_nothing_silently():
    report = spec_report(empty_spec())
    assert not report.passes
    memory = {rule: state for rule, state in report.states.items() if rule < "R20"}
    assert set(memory.values()) == {"missing_input", "not_applicable"}
    assert {f.path for f in report.findings} >= {"smem.regions", "sems.rows", "granularity"}
    (regions,) = [f for f in report.findings if f.path == "smem.regions"]
    assert regions.also == ("R02", "R03", "R04", "R05", "R06", "R07", "R08", "R09", "R10", "R11")


@pytest.mark.parametrize(("family", "skipped"), [("D", True), ("E", True), ("A", False), ("B", False), ("C", False)])
def test_families_without_memory_skip_its_rules(family, skipped):
    states = spec_report(changed(empty_spec(), engine__family=family)).states
    assert (states["R02"] == "not_applicable") is skipped


def test_an_unreadable_formula_is_missing_input_of_every_rule_that_needs_it():
    doc = changed(grouped_gemm_spec(), smem__regions__8__size_bytes="STAGE*3072")
    (finding,) = [f for f in check_spec(doc) if f.path == "smem.regions[8].size_bytes"]
    assert (finding.kind, finding.severity, finding.rule) == ("missing_input", "E", "R01")
    assert {"R02", "R03", "R04", "R08", "R09"} <= set(finding.also)
    assert "STAGE is not a known symbol" in finding.message


def test_broken_symbols_and_broken_form_are_findings():
    doc = changed(grouped_gemm_spec(), symbols__LOOP="LOOP+1", engine__family="Z", title=5)
    found_paths = {f.path for f in check_spec(doc) if f.rule == "DOC"}
    assert found_paths == {"symbols.LOOP", "engine.family", "title"}
    assert not spec_report(doc).passes


def test_fixed_axes_of_contracts_are_symbols():
    doc = changed(grouped_gemm_spec(), ops=[{"op": "w13", "contract": "c"}], granularity__0__num_tasks="8*(rows/128)")
    assert found(doc, "R40", "missing_input")
    contract = {"axes": {"rows": {"value": "1024"}, "m": {"symbol": True}, "PAGE": {"value": "1"}}}
    assert spec_report(doc, ops={"w13": contract}).passes
    other = {"w13": contract, "w2": {"axes": {"rows": {"value": "512"}}}}
    assert spec_report(doc, ops=other).passes
    both = changed(doc, ops=[{"op": "w13", "contract": "c"}, {"op": "w2", "contract": "c"}])
    assert found(both, "R40", "missing_input", ops=other)


def test_findings_are_sorted_and_canonical():
    doc = changed(
        grouped_gemm_spec(), smem__queue=[], smem__regions__8__alignment="4096", granularity__0__listed="1",
        smem__regions__3__ordinal="4", sems__num_op_sems="", choices__0__wave_quant=None,
    )  # fmt: skip
    findings = check_spec(doc)
    severities = [f.severity for f in findings]
    assert severities == sorted(severities, key="EWI".index)
    errors = [f.path for f in findings if f.severity == "E"]
    assert errors == ["smem.regions", "smem.regions[4].ordinal", "sems.num_op_sems", "granularity[0].listed",
                      "choices[0].wave_quant"]  # fmt: skip
    assert json.loads(canonical_json(findings_as_document(findings)))[0]["state"] == "open"
    canonical_json([page_map(doc), semaphore_map(doc), spec_report(doc).summary])


def test_a_check_is_little_enough_work_for_every_keystroke():
    doc = grouped_gemm_spec()
    with at_most(100_000):
        check_spec(doc)


TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["8", "2**64", "PAGE"]))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)  # fmt: skip
PATHS = [
    "smem", "smem__regions", "smem__regions__0", "smem__regions__0__size_bytes", "smem__regions__8__page_count",
    "smem__queue", "sems", "sems__rows__1", "sems__rows__1__slots", "sems__num_op_sems", "symbols", "symbols__STAGES",
    "granularity", "granularity__0", "granularity__0__num_tasks", "choices", "choices__0", "choices__0__wave_quant",
    "choices__0__scope", "choices__0__citations", "choices__0__prediction", "engine", "engine__routing", "ops", "title",
    "measurement", "measurement__body_us", "measurement__targets", "scale_packs", "wiring", "wiring__tasks__0",
    "wiring__tasks__0__graph_tuple", "wiring__placeholders", "open_questions", "reviews__rows", "amendments",
    "claims", "claims__0", "claims__0__high", "smem__regions__8__slices", "smem__regions__8__slices__0__offset_bytes",
    "smem__static_shared_bytes", "tmem", "tmem__objects", "tmem__objects__0__columns", "tmem__alloc_columns",
]  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(PATHS), JSON)
def test_any_json_anywhere_gives_findings_not_errors(path, value):
    doc = changed(grouped_gemm_spec(), **{path: value})
    report = spec_report(doc)
    pictures = [page_map(doc), semaphore_map(doc), tmem_map(doc)]
    canonical_json([findings_as_document(report.findings), report.summary, pictures])


def test_a_rule_that_only_warns_does_not_block_for_what_it_lacks():
    doc = changed(grouped_gemm_spec(), sems__protocol__exit_snapshot="")
    report = spec_report(doc)
    (finding,) = [f for f in report.findings if f.path == "sems.protocol.exit_snapshot"]
    assert (finding.severity, finding.kind) == ("W", "missing_input")
    assert report.states["R37"] == "missing_input"
    assert report.passes


def test_an_input_that_two_rules_lack_blocks_when_one_of_them_would():
    doc = changed(grouped_gemm_spec(), roles__release__owners=["storer"], granularity__2__iterations="")
    report = spec_report(doc)
    (finding,) = [f for f in report.findings if f.path == "granularity[2].iterations"]
    assert {"R35", "R43"} <= {finding.rule, *finding.also}
    assert finding.severity == "E"
    assert not report.passes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine__tiles_per_task": ""}, "engine: tiles per task is not given."),
        ({"wiring__tasks__1__register_split": ""}, "W2: register split is not given."),
        ({"smem__regions__8__slices__0__offset_bytes": ""}, "smem regions, row 9 slices, row 1: offset (B) is not"),
    ],
)
def test_an_empty_number_says_which_one(change, message):
    missing = [f.message for f in check_spec(changed(grouped_gemm_spec(), **change)) if f.kind == "missing_input"]
    assert any(said.startswith(message) for said in missing)
