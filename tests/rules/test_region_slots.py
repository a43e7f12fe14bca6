"""A region row of several slots is the same as its regions written out: to the planner, the queue and every rule."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import canonical, grouped_gemm_spec, norm_spec, ring_gemm_spec
from tests.rules.steps import at_most
from v2kb.rules.smem_sequence import repeat_until_settled
from v2kb.rules.spec_rules import page_map, spec_report
from v2kb.rules.spec_view import SpecView

RING = ring_gemm_spec()
ROW = {"alignment": "1024", "can_pack": False, "release_step": "1"}


def written_out(rows):
    """One row per region, with the ordinals and names that the slots stand for; `s` becomes a number."""
    regions = []
    for row in rows:
        slots = int(row["slots"])
        for slot in range(slots):
            name = f"{row['name']}{slot}" if slots != 1 else row["name"]
            step = row["release_step"].replace("s", str(slot))
            regions.append({**row, "name": name, "slots": "1", "ordinal": str(len(regions)), "release_step": step})
    return regions


def spec_of(rows, queue=("this", "this")):
    return canonical({"engine": {"family": "B"}, "smem": {"regions": rows, "queue": list(queue)}})


def outcome(view):
    return getattr(view.plan, "placements", None) or (view.plan.code, view.plan.index, view.plan.placed)


def test_the_ring_is_the_grouped_gemm():
    ring, rows = SpecView(RING), SpecView(grouped_gemm_spec())
    assert ring.plan == rows.plan
    assert ring.planner_input == rows.planner_input
    assert (ring.region_count, ring.total_bytes) == (rows.region_count, rows.total_bytes) == (9, 155_664)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "slots": st.integers(1, 6).map(str),
            "size_bytes": st.sampled_from([16, 512, 4_096, 9_000, 16_383, 16_384, 24_592, 32_768, 36_864]).map(str),
            "alignment": st.sampled_from(["16", "1024"]),
            "page_count": st.sampled_from(["-1", "-1", "ceil(size/PAGE)", "ceil(size/PAGE) + 1"]),
            "can_pack": st.booleans(),
            "release_step": st.sampled_from(["1", "s", "s + 1", "7 - s"]),
        }
    ),
    min_size=1,
    max_size=5,
)


def numbered(rows):
    first, result = 0, []
    for index, row in enumerate(rows):
        result.append({**row, "name": f"R{index}_", "ordinal": str(first)})
        first += int(row["slots"])
    return result


@settings(max_examples=120, deadline=None)
@given(ROWS)
def test_slots_are_their_rows_written_out(rows):
    short, long = spec_of(numbered(rows)), spec_of(written_out(numbered(rows)))
    views = SpecView(short), SpecView(long)
    assert views[0].planner_input == views[1].planner_input
    assert outcome(views[0]) == outcome(views[1])
    reports = spec_report(short), spec_report(long)
    for rule in ("R01", "R02", "R03", "R04", "R05", "R06", "R08", "R09", "R10"):
        assert reports[0].states[rule] == reports[1].states[rule], rule
    maps = page_map(short), page_map(long)
    for name in ("pages", "page_count", "high_byte", "next_order", "total_bytes"):
        left, right = ({**m, "pages": [without_index(p) for p in m["pages"]]}[name] for m in maps)
        assert left == right, name
    assert [r["name"] for r in maps[0]["regions"]] == [r["name"] for r in maps[1]["regions"]]
    assert [r["name"] for r in maps[0]["unplaced"]] == [r["name"] for r in maps[1]["unplaced"]]


def without_index(page):
    return {**page, "parts": [{**part, "index": 0, "slot": 0} for part in page["parts"]]}


def test_release_steps_by_slot_order_the_next_task():
    rows = numbered([{**ROW, "name": "W", "slots": "4", "size_bytes": "PAGE", "release_step": "4 - s"}])
    regions, _ = SpecView(spec_of(rows)).planner_input
    assert [region.release_step for region in regions] == [4, 3, 2, 1]
    tasks = repeat_until_settled("t", regions)
    assert tasks[0].preferred_after[-4:] == (3, 2, 1, 0)


def test_r04_names_the_slot_and_points_at_the_row():
    (finding,) = found(changed(RING, smem__queue=["this", "this"]), "R04")
    assert finding.message == "After this task, W3 lands on page 13 and ends 5,120 B past capacity."
    assert finding.path == "smem.regions[0]"


@pytest.mark.parametrize(
    ("edit", "rule", "path", "said"),
    [
        ({"smem__regions__1__ordinal": "7"}, "R06", "smem.regions[1].ordinal", "Ordinal 7 belongs to W already"),
        ({"smem__regions__1__ordinal": "9"}, "R06", "smem.regions", "a gap at 8."),
        ({"smem__regions__0__ordinal": "1"}, "R06", "smem.regions", "a gap at 0."),
        ({"smem__regions__0__slots": "6"}, "R06", "smem.regions", "a gap at 6."),
        ({"smem__regions__0__slots": "0"}, "R06", "smem.regions[0].slots", "W has 0 slots."),
        ({"smem__regions__0__slots": "16"}, "R05", "smem.regions", "17 regions; the descriptor holds 16."),
        ({"smem__regions__0__slots": "15"}, "R01", "smem.regions", "SMEM total 270,352 B exceeds"),
        ({"smem__regions__0__slots": "12"}, "R02", "smem.regions[0]", "W11 could not be placed"),
        ({"smem__regions__0__slots": "12"}, "R03", "smem.regions[0]", "W11 needs 16,384."),
    ],
)
def test_rules_see_every_slot(edit, rule, path, said):
    findings = found(changed(RING, claims=[], **edit), rule)
    assert [f.path for f in findings if said in f.message] == [path], findings


def test_slots_without_a_value_are_missing_input():
    doc = changed(RING, claims=[], smem__regions__0__slots="DEPTH")
    for rule in ("R01", "R02", "R06"):
        assert "smem.regions[0].slots" in {f.path for f in found(doc, rule, "missing_input")}


def test_a_release_step_without_a_value_in_one_slot_is_missing_input():
    doc = changed(RING, claims=[], smem__regions__0__release_step="8/(4 - s)")
    assert "smem.regions[0].release_step" in {f.path for f in found(doc, "R04", "missing_input")}


@pytest.mark.parametrize("slots", ["257", "10**6", "10**60"])
def test_enormous_slots_answer_at_once(slots):
    doc = changed(RING, claims=[], smem__regions__0__slots=slots)
    with at_most(400_000):
        report = spec_report(doc)
    assert report.states["R02"] == "missing_input"
    assert report.states["R05"] == "failed"
    with at_most(100_000):
        assert page_map(doc)["error"]["code"] == "missing_input"


def test_many_rows_of_small_slots_answer_at_once():
    row = {**norm_spec()["smem"]["regions"][0], "slots": "256", "size_bytes": "1", "alignment": "1"}
    doc = changed(norm_spec(), smem__regions=[{**row, "name": f"r{i}", "ordinal": str(256 * i)} for i in range(64)])
    with at_most(1_500_000):
        report = spec_report(doc)
    assert report.states["R05"] == "failed"
    assert report.totals["regions"] == 16_384
