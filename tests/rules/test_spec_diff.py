"""Differences of two spec documents, in the words of the document."""

import copy

from tests.rules.spec_examples import canonical, grouped_gemm_spec
from v2kb.rules.spec_diff import spec_diff


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
