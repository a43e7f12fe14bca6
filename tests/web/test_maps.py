"""Geometry of the pictures of a design: scale, other page geometries, slack, slices, columns, grids and graphs."""

import pytest
from django.template import Context, Template

from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from v2kb.core.ui.maps import layer_map, role_map, sem_map, smem_map, smem_queue, tmem_map
from v2kb.core.ui.maps.common import clipped, tones
from v2kb.rules.calculators import CALCULATORS
from v2kb.rules.smem import Geometry
from v2kb.rules.spec_rules import layer_graph, page_map, role_matrix, semaphore_map
from v2kb.rules.spec_rules import tmem_map as columns_of

WIDTH = 1_120


def planned(regions, **more):
    """The planner's answer to rows of (name, size, page_count, can_pack)."""
    rows = [{"name": n, "size_bytes": str(s), "page_count": str(c), "can_pack": p} for n, s, c, p in regions]
    return CALCULATORS["smem-planner"]({"regions": rows, **more})["result"]


@pytest.mark.parametrize(
    ("pages", "page_bytes", "void_x", "short"),
    [
        (14, 16_384, 224_256 / 16_384 * 80, "page 13 has 11,264 usable bytes"),
        (7, 32_768, 224_256 / 32_768 * 160, "page 6 has 27,648 usable bytes"),
        (28, 8_192, 224_256 / 8_192 * 40, "page 27 has 3,072 usable bytes"),
        (13, 16_384, WIDTH, ""),
        (4, 16_384, WIDTH, ""),
        (64, 16_384, 224_256 / 16_384 * 17.5, "page 63 has 0 usable bytes"),
        (2, 1 << 20, 224_256 / (1 << 20) * 560, "page 1 has 0 usable bytes"),
    ],
)
def test_pages_of_any_geometry_fill_the_width(pages, page_bytes, void_x, short):
    picture = planned([("W", 3_072, -1, False)], pages=str(pages), page_bytes=str(page_bytes))["map"]
    drawn = smem_map(picture)
    strip = drawn["strips"][0]
    assert [page["number"] for page in strip["pages"]] == list(range(pages))
    assert strip["pages"][-1]["x"] + strip["pages"][-1]["width"] == pytest.approx(WIDTH, abs=0.1)
    assert strip["void_x"] == pytest.approx(void_x, abs=0.01)
    assert strip["void_x"] + strip["void_width"] == pytest.approx(WIDTH, abs=0.01)
    assert drawn["short_page"] == short
    part = strip["parts"][0]
    assert part["width"] == pytest.approx(max(2, 3_072 * WIDTH / (pages * page_bytes)), abs=0.01)
    assert part["x"] + part["width"] <= strip["void_x"]


def test_slack_stands_behind_a_whole_region_and_ends_at_the_capacity():
    regions = [(f"W{n}", 16_384, 1, False) for n in range(13)]
    drawn = smem_map(planned([("A", 10_000, 1, False), ("B", 20_000, 2, False)])["map"])
    b, a = sorted(drawn["strips"][0]["parts"], key=lambda part: part["x"])
    assert (b["text"], b["slack_text"], a["slack_text"]) == ("B", "12,768 B", "")  # 5 % of a page is too narrow
    assert b["slack_x"] == pytest.approx(20_000 / 16_384 * 80, abs=0.01)
    assert b["slack_x"] + b["slack_width"] == pytest.approx(160, abs=0.01)
    assert "19,152 B are lost to whole pages" in drawn["description"]
    last = smem_map(planned([*regions, ("L", 8_192, 1, False)])["map"])["strips"][0]
    short = next(part for part in last["parts"] if part["x"] >= 13 * 80)
    assert short["slack_x"] + short["slack_width"] == pytest.approx(last["void_x"], abs=0.01)


def test_packed_regions_share_a_page_and_have_no_slack():
    parts = smem_map(planned([("A", 4_096, -1, True), ("B", 2_048, -1, True)])["map"])["strips"][0]["parts"]
    assert [(part["x"], part["slack_width"]) for part in parts] == [(0, 0), (20, 0)]


def test_slices_lie_inside_their_region_and_overlaps_are_marked():
    page = {"size_bytes": "16384", "page_count": "1", "alignment": "1024", "release_step": "0"}
    slices = [
        {"name": "SFA", "offset_bytes": "s*1,024", "size_bytes": "1,024", "slots": "2"},
        {"name": "BAD", "offset_bytes": "1,536", "size_bytes": "512"},
        {"name": "OUT", "offset_bytes": "15,872", "size_bytes": "1,024"},
    ]
    regions = [
        {"ordinal": "0", "name": "W", **page},
        {"ordinal": "1", "name": "S", **page, "slices": [{"alignment": "16", **part} for part in slices]},
    ]
    drawn = smem_map(page_map({"smem": {"regions": regions}}))
    inside = drawn["strips"][0]["parts"][1]["slices"]
    assert [(part["x"], part["width"], part["over"]) for part in inside] == [
        (80, 5, False), (85, 5, True), (87.5, 2.5, True), (157.5, 5, True)
    ]  # fmt: skip
    assert [row["name"] for row in drawn["slices"]] == ["SFA0", "SFA1", "BAD", "OUT"]
    assert all(not part["slices"] for part in drawn["strips"][1]["parts"])


def test_the_table_of_pages_holds_every_page_with_what_is_left():
    drawn = smem_map(page_map(grouped_gemm_spec()))
    assert len(drawn["page_rows"]) == 14
    assert drawn["page_rows"][13]["usable_bytes"] == 11_264
    left = sum(page["slack_bytes"] for page in drawn["page_rows"])
    assert left == 224_256 - 155_664


def test_what_the_planner_refused_is_named():
    picture = planned([(f"W{n}", 16_384, 1, False) for n in range(14)])["map"]
    assert "Not placed: W13" in smem_map(picture)["description"]


def test_a_queue_is_drawn_in_the_pages_of_its_geometry():
    result = planned([("A", 8_192, 1, False)], pages="28", page_bytes="8192", queue="this, this")
    drawn = smem_queue(result["queue"], Geometry(8_192, 28))
    assert [len(strip["pages"]) for strip in drawn["strips"]] == [28, 28]
    assert drawn["strips"][0]["parts"][0]["width"] == 40
    assert drawn["description"].startswith("2 tasks")


def test_barriers_say_direction_and_owner_and_stay_in_the_drawing():
    drawn = sem_map(semaphore_map(grouped_gemm_spec()))
    assert len(drawn["lines"]) == len(drawn["rows"])
    first = drawn["lines"][0]
    assert "loader → mma, re-armed by" in first["text"]
    assert (first["x"], first["width"]) == (0, 8 * 34 - 2)
    for line in drawn["lines"]:
        width = len(line["text"]) * 6.8
        left = line["text_x"] if line["anchor"] == "start" else line["text_x"] - width
        assert left >= 0
        assert left + width <= drawn["width"]
        assert line["text_y"] < drawn["height"] + 10


def test_an_asynchronous_barrier_without_owner_says_so():
    rows = [
        {"ordinal": "0", "slots": "1", "name": "DONE", "kind": "mma", "producer": "mma", "consumer": "storer"},
        {"ordinal": "30", "slots": "1", "name": "LATE", "kind": "thread", "producer": "consumer", "consumer": "storer"},
        {"name": "NOWHERE"},
    ]
    drawn = sem_map(semaphore_map({"sems": {"rows": rows}}))
    assert [line["text"] for line in drawn["lines"]] == ["DONE: mma → storer, no owner", "LATE: consumer → storer"]
    assert [line["anchor"] for line in drawn["lines"]] == ["start", "end"]
    assert len(drawn["rows"]) == 3


@pytest.mark.parametrize(
    ("objects", "alloc", "spans", "limit", "ticks"),
    [
        ([("ACC", 2, 16, "0"), ("SF", 1, 4, "32")], "64", [(0, 256), (256, 256), (512, 64)], 1_024, 64),
        ([("ACC", 2, 16, "0"), ("SF", 1, 4, "32")], "", [(0, 256), (256, 256), (512, 64)], 1_024, 64),
        ([("ACC", 2, 256, "")], "512", [(0, 512), (512, 512)], 1_024, 512),
        ([("ACC", 1, 64, "")], "32", [(0, 1_024)], 512, 64),
        ([("ACC", 3, 256, "")], "", [(0, 512), (512, 512)], None, 512),
    ],
)
def test_columns_are_drawn_to_the_scale_of_the_allocation(objects, alloc, spans, limit, ticks):
    rows = [{"name": n, "slots": str(s), "columns": str(c), "start": start} for n, s, c, start in objects]
    picture = CALCULATORS["tmem-columns"]({"objects": rows, "alloc_columns": alloc})["result"]
    drawn = tmem_map(picture)
    assert [(item["x"], item["width"]) for item in drawn["objects"]] == spans
    assert drawn["limit_x"] == limit
    assert drawn["ticks"][-1]["number"] == ticks


def test_columns_that_overlap_are_marked_and_gaps_are_said():
    rows = [{"name": "A", "columns": "16", "start": "0"}, {"name": "B", "columns": "16", "start": "8"},
            {"name": "C", "columns": "4", "start": "40"}]  # fmt: skip
    drawn = tmem_map(CALCULATORS["tmem-columns"]({"objects": rows})["result"])
    assert [item["over"] for item in drawn["objects"]] == [True, True, False]
    assert "A and B overlap in columns 8 to 15" in drawn["description"]
    assert "Nobody uses 24 to 39 (hatched)." in drawn["description"]
    assert drawn["gaps"] == [{"x": 24 * 16, "width": 16 * 16}]


def test_columns_without_numbers_say_what_is_missing():
    drawn = tmem_map(columns_of({"tmem": {"objects": [{"name": "ACC", "columns": "W"}]}}))
    assert drawn["objects"] == []
    assert drawn["description"].startswith("Nothing can be drawn yet: tmem objects, row 1: columns per slot")


def test_the_columns_say_what_is_drawn_and_who_has_them():
    document = grouped_gemm_spec()
    drawn = tmem_map(columns_of(document))
    assert drawn["description"].startswith(
        "Columns 0 to 63 of the 512 that an SM has. 40 are needed, 64 allocated (allo"
    )
    assert "ACC0 to ACC1 in 0 to 31: mma writes, consumer reads." in drawn["description"]
    assert "Nobody uses 40 to 63 (hatched)." in drawn["description"]
    assert drawn["gaps"] == [{"x": 40 * 16, "width": 24 * 16}]
    assert {(row["name"], row["writer"], row["reader"]) for row in drawn["rows"]} >= {("ACC0", "mma", "consumer")}
    rows = [{"name": "ACC", "columns": "32"}]
    plain = tmem_map(CALCULATORS["tmem-columns"]({"objects": rows})["result"])
    assert "32 are needed, 32 to be allocated. ACC in 0 to 31." in plain["description"]
    assert not plain["has_users"]


def test_the_grid_of_roles_has_a_cell_per_role_and_path():
    drawn = role_map(role_matrix(grouped_gemm_spec()))
    assert [line["role"] for line in drawn["lines"]] == ["loader", "mma", "consumer", "storer"]
    assert [len(line["cells"]) for line in drawn["lines"]] == [3] * 4
    assert drawn["description"].endswith("All are answered.")
    for line in drawn["lines"]:
        for cell in line["cells"]:
            assert cell["x"] + cell["width"] <= drawn["width"]
            assert cell["y"] + cell["height"] <= drawn["height"]
            assert all(len(said["text"]) * 6.8 <= cell["width"] for said in cell["lines"])


def test_the_grid_of_roles_marks_what_is_wrong_and_what_is_open():
    document = grouped_gemm_spec()
    document["roles"]["rows"] = [row for row in document["roles"]["rows"] if row["role"] != "storer"]
    document["roles"]["rows"][0]["waits_when_inactive"] = "yes"
    drawn = role_map(role_matrix(document))
    tones_of = {line["role"]: [cell["tone"] for cell in line["cells"]] for line in drawn["lines"]}
    assert tones_of["storer"] == ["open"] * 3
    assert tones_of[document["roles"]["rows"][0]["role"]] == ["calm", "calm", "bad"]
    assert "1 cell is wrong. 3 cells have no answer." in drawn["description"]


def test_boxes_of_a_layer_graph_do_not_overlap_and_arrows_end_at_them():
    contracts = {
        "a": {"title": "A", "producers": ["x", "y", "z"], "consumers": ["B"]},
        "b": {"title": "B", "producers": ["A"], "consumers": ["out"]},
    }
    rows = [{"task": f"t{n}", "op": "a", "num_tasks": "4"} for n in range(5)] + [{"task": "u", "op": "b"}]
    document = {"ops": [{"op": "a"}, {"op": "b"}], "granularity": rows}
    drawn = layer_map(layer_graph(document, contracts))
    boxes = drawn["boxes"]
    for box in boxes:
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= drawn["height"]
        assert box["x"] + drawn["box_width"] <= drawn["width"]
        for other in boxes:
            if other is not box and other["x"] == box["x"]:
                assert box["y"] + box["height"] <= other["y"] or other["y"] + other["height"] <= box["y"]
    assert [line["text"] for line in boxes[0]["lines"]] == [f"t{n}: 4 tasks" for n in range(5)] + ["together 20 tasks"]
    assert [line["text"] for line in boxes[1]["lines"]] == ["u: no value"]
    assert len(drawn["arrows"]) == 5
    assert drawn["rows"][0]["producers"] == ["x", "y", "z"]


def test_a_part_without_op_is_said_to_stand_nowhere():
    contracts = {"w13": {"title": "W13", "producers": ["top-k"], "consumers": ["SiLU"]}}
    ops = [{"op": "w13", "name": "W13 routed"}, {"op": "", "name": "W2"}]
    drawn = layer_map(layer_graph({"ops": ops}, contracts))
    assert "What feeds W2 is not known: no op is named there." in drawn["description"]
    assert drawn["rows"][1]["producers"] == drawn["rows"][1]["consumers"] == []
    assert "not known" not in layer_map(layer_graph({"ops": ops[:1]}, contracts))["description"]


@pytest.mark.parametrize("document", [{}, grouped_gemm_spec(), norm_spec()], ids=["empty", "pipeline", "norm"])
def test_every_picture_renders_for_every_document(document):
    page = Template(
        "{% load ui %}{% smem_map a %}{% sem_map b %}{% tmem_map c %}{% role_map d %}{% layer_map e %}"
    ).render(
        Context(
            {
                "a": page_map(document),
                "b": semaphore_map(document),
                "c": columns_of(document),
                "d": role_matrix(document),
                "e": layer_graph(document),
            }
        )
    )
    assert page.count('role="img"') == page.count("<desc") == page.count("<caption class") == 5
    assert "style=" not in page


@pytest.mark.parametrize(
    ("text", "width", "shown"), [("loader", 100, "loader"), ("a long sentence", 68, "a long se…"), ("", 10, "")]
)
def test_texts_are_cut_with_a_mark(text, width, shown):
    assert clipped(text, width) == shown


def test_numbered_names_share_a_tone():
    assert tones(["W0", "W1", "BSF", "W2"]) == {"W0": 0, "W1": 0, "BSF": 1, "W2": 0}


@pytest.mark.parametrize(
    "name", ["W13", "SiLU, product and quantisation before the second product of the layer", "x" * 400]
)
def test_long_names_are_wrapped_inside_their_box(name):
    contracts = {"a": {"title": "A", "producers": [name], "consumers": []}}
    box = layer_map(layer_graph({"ops": [{"op": "a"}]}, contracts))["boxes"][1]
    assert 1 <= len(box["names"]) <= 3
    assert all(len(line["text"]) * 6.8 <= 230 - 16 for line in box["names"])
    assert box["names"][-1]["y"] < box["y"] + box["height"]
    assert "".join(line["text"] for line in box["names"]).startswith(name.split()[0][:20])
