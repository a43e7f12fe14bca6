"""The pictures of barriers and roles: who holds a slot, the audit's ledger, and that no document breaks them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.barrier_tables import grouped_gemm_channels, linear_spec
from tests.rules.spec_checks import changed
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from v2kb.rules.canonical import canonical_json
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_rules import barrier_ledger, findings_as_document, role_matrix, semaphore_map, spec_report


def ledger_lines(doc):
    return {line["name"]: line["cells"] for line in barrier_ledger(doc)["rows"]}


def texts(cells, *names):
    return [cells[name]["text"] for name in names]


def test_the_map_says_direction_edge_and_owner():
    rows = {row["name"]: row for row in semaphore_map(grouped_gemm_spec())["rows"]}
    told = ("from_role", "to_role", "edge", "reinit_owner", "path")
    assert [rows["B_sf"][name] for name in told] == ["loader", "mma", "full", "loader", "sems.rows[1]"]
    assert [rows["mma"][name] for name in told] == ["mma", "loader", "empty", "loader", "sems.rows[2]"]
    assert [rows["consumer_done"][name] for name in told] == ["consumer", "mma", "one_shot", "mma", "sems.rows[6]"]


def test_the_map_of_channels_points_at_them():
    rows = semaphore_map(linear_spec())["rows"]
    assert [(row["name"], row["first"], row["last"], row["path"], row["edge"]) for row in rows] == [
        ("W", 0, 5, "sems.channels[0]", "full"),
        ("mma", 12, 17, "sems.channels[0]", "empty"),
        ("A", 6, 11, "sems.channels[1]", "full"),
        ("acc", 18, 19, "sems.channels[2]", "full"),
        ("acc_empty", 20, 21, "sems.channels[2]", "empty"),
        ("tmem_ready", 22, 22, "sems.one_shots[0]", "one_shot"),
        ("consumer_done", 23, 23, "sems.one_shots[1]", "one_shot"),
    ]


def test_a_row_without_its_other_direction_has_no_edge():
    doc = changed(grouped_gemm_spec(), sems__rows__1__pair="gone")
    assert semaphore_map(doc)["rows"][1]["edge"] == ""


@pytest.mark.parametrize("doc", [grouped_gemm_spec(), grouped_gemm_channels(), linear_spec()])
def test_the_ledger_of_a_right_spec_has_no_blank_cell(doc):
    drawn = barrier_ledger(doc)
    assert drawn["blanks"] == 0
    assert [column["key"] for column in drawn["columns"]] == list(drawn["rows"][0]["cells"])
    assert len(drawn["rows"]) == 7


def test_the_ledger_of_the_grouped_gemm():
    lines = ledger_lines(grouped_gemm_spec())
    columns = ("ordinals", "arrivals", "tx_bytes", "mechanism", "first_phase", "releases", "reinit_owner")
    assert texts(lines["W_tma"], *columns) == [
        "0..7", "1", "16,384", "TMA byte delivery", "0", "nothing, it announces data", "loader",
    ]  # fmt: skip
    assert texts(lines["mma"], *columns) == [
        "16..23", "1", "none", "tcgen05.commit", "1", "a slot of W", "loader",
    ]  # fmt: skip
    assert texts(lines["B_sf"], "mechanism") == ["wait_group, fence.proxy.async, one arrive"]
    assert texts(lines["consumer_done"], *columns) == [
        "29", "128", "none", "arrive, four warps", "0", "tensor memory", "mma",
    ]  # fmt: skip
    assert texts(lines["consumer_done"], "init") == ["controller at each publish, mma at task start"]
    assert texts(lines["tmem_ready"], "init") == ["controller at each publish"]
    assert lines["mma"]["releases"]["state"] == "derived"
    assert lines["W_tma"]["releases"]["state"] == "not_applicable"


@pytest.mark.parametrize(
    ("edit", "line", "column", "path"),
    [
        ({"rows__6__releases": ""}, "consumer_done", "releases", "sems.rows[6].releases"),
        ({"rows__0__tx_bytes": ""}, "W_tma", "tx_bytes", "sems.rows[0].tx_bytes"),
        ({"rows__1__publication": ""}, "B_sf", "mechanism", "sems.rows[1].publication"),
        ({"rows__4__arrivers": ""}, "epilogue", "mechanism", "sems.rows[4].arrivers"),
        ({"rows__2__first_phase": ""}, "mma", "first_phase", "sems.rows[2].first_phase"),
        ({"rows__3__reinit_owner": ""}, "mainloop", "reinit_owner", "sems.rows[3].reinit_owner"),
        ({"rows__5__ordinal": "X"}, "tmem_ready", "ordinals", "sems.rows[5].ordinal"),
        ({"rows__5__count": ""}, "tmem_ready", "arrivals", "sems.rows[5].count"),
    ],
)
def test_a_blank_cell_of_the_ledger_is_marked_with_its_field(edit, line, column, path):
    doc = changed(grouped_gemm_spec(), **{f"sems__{key}": value for key, value in edit.items()})
    cell = ledger_lines(doc)[line][column]
    assert (cell["state"], cell["text"], cell["path"]) == ("blank", "", path)
    assert barrier_ledger(doc)["blanks"] == 1


def test_a_blank_cell_of_a_channel_is_marked_with_the_channel_s_field():
    doc = changed(linear_spec(), sems__channels__2__reinit_empty_by="")
    cell = ledger_lines(doc)["acc_empty"]["reinit_owner"]
    assert (cell["state"], cell["path"]) == ("blank", "sems.channels[2].reinit_empty_by")


def test_a_spec_without_barriers_has_an_empty_ledger():
    assert (barrier_ledger(norm_spec())["rows"], barrier_ledger(empty_spec())["blanks"]) == ([], 0)


TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["", "8", "2**64", "mma", "W", "yes", "tma", "1/2"]))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=4,
)  # fmt: skip
PATHS = [
    "sems__channels", "sems__channels__0", "sems__one_shots__1", "sems__form", "sems__protocol", "sems__num_op_sems",
    *(f"sems__channels__{row}__{cell}" for row in (0, 1) for cell in (
        "name", "depth", "full_base", "empty_base", "shares_empty_with", "producer", "storage", "tx_bytes",
        "empty_name", "full_arrivers", "producer_kind", "full_phase")),
    "roles", "roles__rows", "roles__rows__0", "roles__rows__1__role", "roles__release", "roles__release__owners",
    "roles__stages", "granularity__2__iterations", "granularity__2__active_high", "amendments",
]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(PATHS), JSON)
def test_any_json_in_barriers_and_roles_gives_findings_not_errors(path, value):
    doc = changed(grouped_gemm_channels(), **{path: value})
    report = spec_report(doc)
    pictures = [semaphore_map(doc), barrier_ledger(doc), role_matrix(doc)]
    canonical_json([findings_as_document(report.findings), report.summary, *pictures])
