"""The pictures of a spec: what the page draws for shared memory and for semaphores."""

import copy

import pytest

from tests.rules.region_lists import grouped_gemm
from tests.rules.spec_examples import canonical, grouped_gemm_spec, norm_spec, ring_gemm_spec
from v2kb.rules.page_map import queue_map
from v2kb.rules.smem_sequence import simulate
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_rules import page_map, semaphore_map


def linear_spec():
    rows = [("W", 6, "32768", False), ("A", 6, "4096", True)]
    regions = [
        {"name": f"{name}{s}", "size_bytes": size, "alignment": "1024", "can_pack": pack}
        for name, count, size, pack in rows
        for s in range(count)
    ]
    regions.append({"name": "scratch", "size_bytes": "16", "alignment": "16", "can_pack": True})
    return canonical({"smem": {"regions": [{**r, "ordinal": str(i)} for i, r in enumerate(regions)]}})


def test_pages_of_the_linear_task():
    drawn = page_map(linear_spec())
    assert (drawn["page_count"], drawn["total_bytes"], drawn["high_byte"], drawn["error"]) == (
        14,
        221_200,
        221_200,
        None,
    )
    assert [page["state"] for page in drawn["pages"]] == ["whole"] * 12 + ["packed"] * 2
    last = drawn["pages"][13]
    assert (last["usable_bytes"], last["used_bytes"], last["slack_bytes"]) == (11_264, 8_208, 3_056)
    assert [(p["name"], p["offset_bytes"], p["bytes"]) for p in last["parts"]] == [
        ("A4", 0, 4_096), ("A5", 4_096, 4_096), ("scratch", 8_192, 16),
    ]  # fmt: skip
    assert [(p["name"], p["continued"]) for p in drawn["pages"][1]["parts"]] == [("W0", True)]


@pytest.mark.parametrize("doc", [linear_spec(), grouped_gemm_spec(), ring_gemm_spec(), norm_spec()])
def test_parts_add_up_to_the_regions(doc):
    drawn = page_map(doc)
    for region in drawn["regions"]:
        at = (region["index"], region["slot"])
        parts = [p["bytes"] for page in drawn["pages"] for p in page["parts"] if (p["index"], p["slot"]) == at]
        assert sum(parts) == region["size_bytes"]
    assert sum(page["used_bytes"] for page in drawn["pages"]) == drawn["total_bytes"]
    assert drawn["unplaced"] == []


def test_physical_pages_and_slack():
    drawn = page_map(grouped_gemm_spec())
    bsf = drawn["regions"][8]
    assert (bsf["physical_pages"], bsf["slack_bytes"], bsf["end_byte"]) == ([0, 1], 8_176, 24_592)
    assert drawn["pages"][2]["physical"] == 2
    assert drawn["next_order"][:4] == [10, 11, 12, 13]


def test_slices_of_a_region():
    drawn = page_map(grouped_gemm_spec())
    slices = drawn["regions"][8]["slices"]
    assert len(slices) == 25
    assert slices[0] == {
        "name": "B0", "offset_bytes": 0, "size_bytes": 2_048, "alignment": 1_024, "contents": "", "overlaps": False,
    }  # fmt: skip
    assert (slices[24]["name"], slices[24]["offset_bytes"]) == ("taddr", 24_576)
    assert [region["slices"] for region in drawn["regions"][:8]] == [[]] * 8


def test_slices_that_overlap_are_marked():
    doc = copy.deepcopy(grouped_gemm_spec())
    doc["smem"]["regions"][8]["slices"][3]["offset_bytes"] = "7*SLICE"
    marked = [part["name"] for part in page_map(doc)["regions"][8]["slices"] if part["overlaps"]]
    assert marked == ["B7", "taddr"]


def test_slices_without_a_value_are_left_out():
    doc = copy.deepcopy(grouped_gemm_spec())
    doc["smem"]["regions"][8]["slices"][0]["offset_bytes"] = "s*WIDTH"
    assert {part["name"][:3] for part in page_map(doc)["regions"][8]["slices"]} == {"SFA", "SFB", "tad"}


def test_a_ring_in_one_row():
    drawn = page_map(ring_gemm_spec())
    rows = [(region["index"], region["slot"], region["name"]) for region in drawn["regions"]]
    assert rows == [*((0, s, f"W{s}") for s in range(8)), (1, 0, "BSF")]
    refused = copy.deepcopy(ring_gemm_spec())
    refused["symbols"]["STAGES"] = "12"
    left = page_map(refused)["unplaced"]
    assert [(row["index"], row["slot"], row["name"]) for row in left] == [(0, 10, "W10"), (0, 11, "W11")]


def test_indexes_follow_the_document_not_the_ordinals():
    doc = grouped_gemm_spec()
    doc["smem"]["regions"].reverse()
    drawn = page_map(doc)
    assert all(doc["smem"]["regions"][r["index"]]["name"] == r["name"] for r in drawn["regions"])


def test_a_refused_plan_shows_what_was_placed_and_what_was_not():
    doc = copy.deepcopy(grouped_gemm_spec())
    doc["symbols"]["STAGES"] = "11"
    template = doc["smem"]["regions"][0]
    for s in range(8, 11):
        doc["smem"]["regions"].insert(s, {**template, "ordinal": str(s), "name": f"W{s}"})
    drawn = page_map(doc)
    assert drawn["error"]["path"] == "smem.regions[10]"
    assert drawn["error"]["code"] == "last_page"
    assert [u["name"] for u in drawn["unplaced"]] == ["W10"]
    assert drawn["page_count"] is None
    assert drawn["pages"][12]["state"] == "whole"
    assert drawn["pages"][13]["state"] == "empty"


def test_missing_inputs_draw_empty_pages():
    doc = copy.deepcopy(grouped_gemm_spec())
    doc["smem"]["regions"][1]["size_bytes"] = "x"
    drawn = page_map(doc)
    assert drawn["error"]["path"] == "smem.regions[1].size_bytes"
    assert len(drawn["unplaced"]) == 9
    assert drawn["total_bytes"] is None
    assert page_map(empty_spec())["pages"][13]["state"] == "empty"


def test_a_queue_drawn():
    drawn = queue_map(simulate([("gg", grouped_gemm()), ("gg", grouped_gemm())]))
    over = [(r["name"], r["overrun_bytes"]) for r in drawn[1]["regions"] if r["overrun_bytes"]]
    assert over == [("W3", 5_120)]
    assert drawn[0]["preferred_before"] == list(range(14))


def test_semaphore_slots():
    drawn = semaphore_map(grouped_gemm_spec())
    assert (drawn["budget"], drawn["used"], drawn["free"]) == (31, 30, 1)
    assert [slot["state"] for slot in drawn["slots"]] == ["used"] * 30 + ["free"]
    row = drawn["rows"][3]
    assert (row["name"], row["first"], row["last"], row["count"], row["asynchronous"]) == ("mainloop", 24, 25, 1, True)


def test_semaphore_clash_and_overflow():
    doc = copy.deepcopy(grouped_gemm_spec())
    doc["sems"]["rows"][6]["ordinal"] = "28"
    doc["sems"]["rows"][5]["slots"] = "5"
    doc["sems"]["rows"][1]["slots"] = "x"
    drawn = semaphore_map(doc)
    states = {slot["ordinal"]: slot["state"] for slot in drawn["slots"]}
    assert (states[28], states[30], states[31], states[8]) == ("clash", "used", "over", "free")
    assert drawn["rows"][1]["first"] is None
