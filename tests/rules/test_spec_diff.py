"""Differences of two spec documents, in the words of the document."""

import copy

import pytest

from tests.rules.spec_examples import canonical, grouped_gemm_spec
from v2kb.rules.spec_diff import spec_diff
from v2kb.rules.spec_document import empty_row, empty_spec
from v2kb.rules.spec_fields import ROW_FIELDS

TABLES = [path for path in ROW_FIELDS if path != "choices.prediction"]


def test_equal_documents_and_moved_rows_have_no_difference():
    old = grouped_gemm_spec()
    new = copy.deepcopy(old)
    new["smem"]["regions"].reverse()
    assert spec_diff(old, new) == []


def test_a_choice_comes_and_goes():
    old = grouped_gemm_spec()
    new = canonical({**old, "choices": [{"id": "C2", "lever": "tma"}]})
    assert [(c.kind, c.key, c.place) for c in spec_diff(old, new)] == [
        ("added", "C2", "choices C2"),
        ("removed", "C1", "choices C1"),
    ]


def test_a_symbol_shows_at_every_number_that_depends_on_it():
    old = grouped_gemm_spec()
    new = copy.deepcopy(old)
    new["symbols"]["STAGES"] = "10"
    changes = {c.place: c for c in spec_diff(old, new)}
    assert (changes["symbols > STAGES"].percent, changes["symbols > STAGES"].kind) == ("+25.0", "number_changed")
    size = changes["smem > regions BSF > size_bytes"]
    assert (size.before, size.after) == ("STAGES*SLICE + 16 = 24592", "STAGES*SLICE + 16 = 30736")
    assert size.percent == "+25.0"
    assert "sems > rows tmem_ready > ordinal" in changes


def test_numbers_of_a_prediction_and_texts():
    base = grouped_gemm_spec()
    base["choices"][0]["prediction"] = {"metric": "time_us", "gain_percent": "5", "cases": ["a"]}
    old = canonical(base)
    new = copy.deepcopy(old)
    new["choices"][0]["prediction"].update(gain_percent="4", cases=["a", "b"], kill_percent="3")
    new["choices"][0]["rationale"] = "Because."
    changes = [(c.kind, c.place, c.before, c.after, c.percent) for c in spec_diff(old, new)]
    assert changes == [
        ("added", "choices C1 > rationale", "", "Because.", ""),
        ("changed", "choices C1 > prediction > cases", '["a"]', '["a","b"]', ""),
        ("number_changed", "choices C1 > prediction > gain_percent", "5", "4", "-20.0"),
        ("added", "choices C1 > prediction > kill_percent", "", "3", ""),
    ]


def test_a_prediction_that_appears_or_goes():
    old = grouped_gemm_spec()
    base = copy.deepcopy(old)
    base["choices"][0]["prediction"] = {"metric": "time_us"}
    new = canonical(base)
    assert [(c.kind, c.place) for c in spec_diff(old, new)] == [("added", "choices C1 > prediction")]
    assert [(c.kind, c.place) for c in spec_diff(new, old)] == [("removed", "choices C1 > prediction")]


def test_rewritten_formula_with_the_same_value_is_a_change_of_text():
    old = grouped_gemm_spec()
    new = copy.deepcopy(old)
    new["granularity"][0]["num_tasks"] = "64"
    (change,) = spec_diff(old, new)
    assert (change.kind, change.before, change.after) == ("changed", "8*(N/128)", "64")


def test_a_number_from_zero_has_no_percent_and_an_unreadable_one_is_text():
    old = grouped_gemm_spec()
    new = copy.deepcopy(old)
    old["granularity"][0]["listed"] = "0"
    new["granularity"][1]["listed"] = "x"
    changes = spec_diff(old, new)
    assert [(c.kind, c.percent) for c in changes] == [("number_changed", ""), ("changed", "")]


def test_rows_with_the_same_name_are_kept_apart():
    old = grouped_gemm_spec()
    new = copy.deepcopy(old)
    new["anchors"] = [{"name": "a", "metric": "m", "method": ""}, {"name": "a", "metric": "n", "method": ""}]
    assert [c.place for c in spec_diff(old, new)] == ["anchors a", "anchors a (2)"]


def with_two_rows(path: str) -> dict:
    """A document with two rows at `path`, told apart by every text that may name them."""
    document = empty_spec()
    holder, above = document, ""
    *parents, last = path.split(".")
    for part in parents:
        above = f"{above}.{part}".lstrip(".")
        if above in TABLES:
            row = empty_row(above)
            row.update({name: "same" for name in ("id", "name") if name in row})
            holder[part] = [row]
            holder = row
        elif holder[part] is None:
            holder[part] = empty_row(above)
            holder = holder[part]
        else:
            holder = holder[part]
    names = ("id", "name", "what", "task", "role", "op", "symbol", "rung", "type", "path", "item", "field")
    rows = []
    for text in ("first", "second"):
        row = empty_row(path)
        rows.append(row | {name: text for name in names if name in row})
    holder[last] = rows
    return document


@pytest.mark.parametrize("path", TABLES)
def test_a_row_that_moved_in_any_table_is_no_change_and_one_that_went_is_named(path):
    old, turned, fewer = (with_two_rows(path) for _ in range(3))
    for document, change in ((turned, list.reverse), (fewer, list.pop)):
        rows = document
        for part in path.split("."):
            rows = rows[0][part] if isinstance(rows, list) else rows[part]
        change(rows)
    assert spec_diff(old, turned) == []
    assert [(c.kind, "second" in c.place) for c in spec_diff(old, fewer)] == [("removed", True)]


def test_formulas_of_slices_channels_and_wiring_are_compared_by_value():
    old = canonical(
        {
            "symbols": {"N": "4"},
            "smem": {"regions": [{"name": "R", "slices": [{"name": "A", "size_bytes": "N*16"}]}]},
            "sems": {"channels": [{"name": "W", "depth": "N"}]},
            "wiring": {"tasks": [{"type": "T", "inputs": "N"}]},
        }
    )
    new = copy.deepcopy(old)
    new["symbols"]["N"] = "8"
    assert [(c.place, c.percent) for c in spec_diff(old, new)] == [
        ("symbols > N", "+100.0"),
        ("smem > regions R > slices A > size_bytes", "+100.0"),
        ("sems > channels W > depth", "+100.0"),
        ("wiring > tasks T > inputs", "+100.0"),
    ]
