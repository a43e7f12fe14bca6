"""Rules R20 to R23: budget, ordinals, sums, arrivals and blank cells of a semaphore table, in both forms."""

import pytest

from tests.rules.barrier_tables import grouped_gemm_channels, linear_spec
from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import canonical, grouped_gemm_spec, norm_spec
from tests.rules.steps import at_most
from v2kb.rules.spec_rules import semaphore_map, spec_report


@pytest.mark.parametrize(
    ("edit", "path", "said"),
    [
        ({"symbols__STAGES": "9", "sems__num_op_sems": "33"}, "sems.rows", "33 semaphores"),
        ({"sems__num_op_sems": "29"}, "sems.num_op_sems", "add up to 30"),
        ({"sems__rows__6__ordinal": "28"}, "sems.rows[6].ordinal", "overlaps tmem_ready"),
        ({"sems__rows__6__ordinal": "30"}, "sems.rows[6].ordinal", "Ordinals 29..29"),
        ({"sems__rows__0__ordinal": "-1"}, "sems.rows[0].ordinal", "starts at -1"),
        ({"sems__rows__5__slots": "0", "sems__num_op_sems": "29"}, "sems.rows[5].slots", "0 slots"),
    ],
)
def test_r20_budget_and_ordinals(edit, path, said):
    findings = found(changed(grouped_gemm_spec(), **edit), "R20")
    assert any(f.path == path and said in f.message and f.severity == "E" for f in findings), findings


def test_r20_a_row_inside_another_does_not_hide_the_next():
    rows = [("0", "10"), ("2", "2"), ("4", "6")]
    doc = grouped_gemm_spec()
    template = doc["sems"]["rows"][0]
    doc["sems"] = {
        "rows": [{**template, "name": f"s{o}", "ordinal": o, "slots": n} for o, n in rows],
        "num_op_sems": "18",
    }
    assert [f.path for f in found(doc, "R20")] == ["sems.rows[1].ordinal", "sems.rows[2].ordinal"]


def test_r20_boundary_of_31():
    doc = changed(grouped_gemm_spec(), sems__rows__6__slots="2", sems__num_op_sems="31")
    assert found(doc, "R20") == []


def test_r20_enormous_slots_answer_at_once():
    doc = changed(grouped_gemm_spec(), sems__rows__6__slots="10**60")
    with at_most(500_000):
        assert found(doc, "R20")
        assert len(semaphore_map(doc)["slots"]) <= 256


@pytest.mark.parametrize("field", ["producer", "consumer", "meaning", "kind", "reinit_owner", "name"])
def test_r23_blank_cells(field):
    doc = changed(grouped_gemm_spec(), **{f"sems__rows__4__{field}": ""})
    (finding,) = [f for f in found(doc, "R23", "missing_input") if f.severity == "E"]
    assert finding.path == f"sems.rows[4].{field}"


def test_r23_count():
    doc = changed(grouped_gemm_spec(), sems__rows__4__count="")
    assert [f.path for f in found(doc, "R23", "missing_input")] == ["sems.rows[4].count"]
    assert found(changed(grouped_gemm_spec(), sems__rows__4__count="0"), "R23")[0].facts == {"count": 0}


def test_r23_a_blank_cell_is_one_finding_of_all_rules_that_need_it():
    doc = changed(grouped_gemm_spec(), sems__rows__0__reinit_owner="")
    findings = [f for f in found(doc, "R23", "missing_input") if f.path == "sems.rows[0].reinit_owner"]
    assert [(f.rule, f.also) for f in findings] == [("R23", ("R24",))]
    assert findings[0].message == "W_tma doesn't say who re-initialises it (none is an answer)."


def test_r23_two_barriers_of_one_name():
    findings = found(changed(grouped_gemm_spec(), sems__rows__1__name="W_tma"), "R23")
    assert {f.path for f in findings} == {"sems.rows[0].name", "sems.rows[1].name"}


@pytest.mark.parametrize(
    ("path", "cell"),
    [
        ("channels__0__full_base", "sems.channels[0].full_base"),
        ("channels__0__empty_base", "sems.channels[0].empty_base"),
        ("channels__2__depth", "sems.channels[2].depth"),
        ("channels__1__producer_kind", "sems.channels[1].producer_kind"),
        ("channels__2__empty_arrivals", "sems.channels[2].empty_arrivals"),
        ("channels__1__reinit_full_by", "sems.channels[1].reinit_full_by"),
        ("channels__0__consumer", "sems.channels[0].consumer"),
        ("channels__0__reinit_empty_by", "sems.channels[0].reinit_empty_by"),
        ("one_shots__1__reinit_by", "sems.one_shots[1].reinit_by"),
        ("one_shots__1__arrivals", "sems.one_shots[1].arrivals"),
        ("one_shots__0__ordinal", "sems.one_shots[0].ordinal"),
    ],
)
def test_a_blank_cell_of_a_channel_is_found_in_that_cell(path, cell):
    doc = changed(grouped_gemm_channels(), **{f"sems__{path}": ""})
    findings = found(doc, "R20", "missing_input") + found(doc, "R23", "missing_input")
    assert cell in {f.path for f in findings}
    assert not spec_report(doc).passes


def test_a_shared_empty_edge_is_asked_of_its_owner_alone():
    assert all("channels[1]" not in f.path for f in found(linear_spec(), "R23", "missing_input"))


@pytest.mark.parametrize(
    ("edit", "path", "said"),
    [
        ({"sems__channels__2__full_base": "17"}, "sems.channels[2].full_base", "overlaps mma"),
        ({"sems__one_shots__1__ordinal": "24"}, "sems.one_shots[1].ordinal", "Ordinals 23..23"),
        ({"sems__channels__0__depth": "0"}, "sems.channels[0].depth", "0 slots"),
        ({"sems__channels__1__shares_empty_with": ""}, "sems.channels[1].empty_base", None),
    ],
)
def test_r20_in_the_channel_form(edit, path, said):
    findings = found(changed(linear_spec(), **edit), "R20", "violation" if said else "missing_input")
    assert any(f.path == path and (said or "") in f.message for f in findings), findings


@pytest.mark.parametrize(
    ("doc", "declared", "terms"),
    [(linear_spec(), "25", "(6+6)+(6)+(2+2)+2 = 24"), (grouped_gemm_channels(), "29", "(8+8)+(8)+(2+2)+2 = 30")],
)
def test_r21_the_sum_of_the_channel_table(doc, declared, terms):
    assert spec_report(doc).states["R21"] == "passed"
    (finding,) = found(changed(doc, sems__num_op_sems=declared), "R21")
    assert finding.path == "sems.num_op_sems"
    assert terms in finding.message
    assert found(changed(doc, sems__num_op_sems=declared), "R20") == []


def test_r21_a_shared_edge_has_no_base_of_its_own():
    assert found(changed(linear_spec(), sems__channels__1__empty_base="12"), "R21") == []
    (finding,) = found(changed(linear_spec(), sems__channels__1__empty_base="18"), "R21")
    assert finding.path == "sems.channels[1].empty_base"


def test_r21_concerns_channels_only_and_says_what_is_missing():
    assert spec_report(grouped_gemm_spec()).states["R21"] == "not_applicable"
    (finding,) = found(changed(linear_spec(), sems__num_op_sems=""), "R21", "missing_input")
    assert finding.path == "sems.num_op_sems"
    assert [f.path for f in found(changed(linear_spec(), sems__channels=[], sems__one_shots=[]), "R21", "missing_input")
            ] == ["sems.channels"]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "count", "said"),
    [
        (4, "127", "epilogue: count 127 but 128 arrivers (four warps)."),
        (4, "1", "epilogue: count 1 but 128 arrivers"),
        (6, "32", "consumer_done: count 32 but 128 arrivers"),
        (5, "128", "tmem_ready: count 128 but 1 arriver (elected)."),
        (2, "2", "mma: count 2 but 1 arriver (commit)."),
        (0, "128", "W_tma: count 128 but 1 arriver (tma)."),
    ],
)
def test_r22_count_and_arrivers(row, count, said):
    (finding,) = found(changed(grouped_gemm_spec(), **{f"sems__rows__{row}__count": count}), "R22")
    assert (finding.severity, finding.path) == ("E", f"sems.rows[{row}].count")
    assert finding.message.startswith(said)


def test_r22_hardware_says_itself_who_arrives():
    for row in (0, 2):
        assert found(changed(grouped_gemm_spec(), **{f"sems__rows__{row}__arrivers": ""}), "R22") == []
    (finding,) = found(changed(grouped_gemm_spec(), sems__rows__2__arrivers="four_warps"), "R22")
    assert (finding.path, "arrived by mma" in finding.message) == ("sems.rows[2].arrivers", True)
    (finding,) = found(changed(grouped_gemm_spec(), sems__rows__4__arrivers=""), "R22", "missing_input")
    assert finding.path == "sems.rows[4].arrivers"


def test_r22_in_the_channel_form():
    (finding,) = found(changed(linear_spec(), sems__channels__2__empty_arrivals="4"), "R22")
    assert finding.path == "sems.channels[2].empty_arrivals"
    (finding,) = found(changed(linear_spec(), sems__one_shots__1__arrivals="1"), "R22")
    assert finding.path == "sems.one_shots[1].arrivals"


@pytest.mark.parametrize("family", ["B", "C", "D", "E"])
def test_a_family_without_barriers_skips_all_of_their_rules(family):
    states = spec_report(changed(norm_spec(), engine__family=family)).states
    assert {states[f"R{n}"] for n in range(20, 39)} == {"not_applicable"}


def test_a_family_without_barriers_is_judged_as_soon_as_it_lists_some():
    doc = canonical({**norm_spec(), "sems": {"rows": [{"ordinal": "0", "slots": "1", "name": "flag"}]}})
    assert not spec_report(doc).passes
    assert found(doc, "R24", "missing_input")
