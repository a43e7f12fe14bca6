"""The spec document: one spelling, problems with a path and a fix, and hashes of its parts."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.spec_examples import canonical, grouped_gemm_spec
from v2kb.rules.canonical import canonical_json, content_hash
from v2kb.rules.spec_document import (
    choice_hash,
    empty_row,
    empty_spec,
    find_choice,
    next_choice_id,
    normalise,
    prediction_hash,
)


def problems_of(doc):
    return [(p.field, p.fix != "") for p in normalise(doc)[1]]


@pytest.mark.parametrize("raw", [None, {}, {"smem": {}}, {"choices": None, "symbols": None}])
def test_an_empty_document_is_well_formed(raw):
    assert normalise(raw) == (empty_spec(), [])


def test_normalising_twice_changes_nothing():
    doc = grouped_gemm_spec()
    assert normalise(doc) == (doc, [])


def test_every_section_survives():
    raw = {
        "title": "T", "summary": "*s*", "ops": [{"op": "w13", "contract": "a" * 64}], "symbols": {"S": 8},
        "engine": {"family": "B", "idiom": "i", "why": "w"},
        "roles": {"stages": "8", "rows": [{"role": "loader", "duty": "d", "bounds_fail": "b", "inactive": "i"}]},
        "choices": [
            {
                "id": "C1", "title": "t", "lever": "tma", "polarity": "avoids", "rationale": "r", "scope": {"m": "1"},
                "citations": [
                    {"kind": "evidence", "code": "D3", "revision": "b" * 64, "stance": "contradicts"},
                    {"kind": "section", "document": "house-style", "anchor": "4-smem", "revision": "c",
                     "stance": "supports"},
                    {"kind": "code", "tree": "mpk", "commit": "f624d75a", "path": "a/b.cuh", "lines": "10-20",
                     "sha256": "", "stance": "context"},
                ],
                "acknowledged": [{"code": "D3", "revision": "b" * 64, "reason": "read"}],
                "prediction": {"row": "U1", "metric": "time_us", "unit": "us", "direction": "lower", "tier": "2",
                               "gain_percent": 5, "cases": ["x"], "rounds": 5, "deadline": "2026-12-31"},
            }
        ],
        "anchors": [{"name": "a", "metric": "time_us", "method": "m"}],
        "open_questions": [{"id": "Q1", "text": "q", "blocks": "verdict", "state": "FROZEN"}],
    }  # fmt: skip
    doc, problems = normalise(json.loads(json.dumps(raw)))
    assert problems == []
    choice = doc["choices"][0]
    assert [c["kind"] for c in choice["citations"]] == ["evidence", "section", "code"]
    assert (choice["polarity"], choice["scope"], choice["prediction"]["gain_percent"]) == ("avoids", {"m": "1"}, "5")
    assert (doc["symbols"], doc["roles"]["rows"][0]["role"], doc["open_questions"][0]["state"]) == (
        {"S": "8"}, "loader", "FROZEN",
    )  # fmt: skip
    canonical_json(doc)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ([], ""),
        ("text", ""),
        ({"colour": 1}, "colour"),
        ({"title": 5}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"title": "a\ud800b"}, "title"),
        ({"smem": {"regions": [{}, {}, {"size_bytes": 1.5}]}}, "smem.regions[2].size_bytes"),
        ({"smem": {"regions": [{"size_bytes": True}]}}, "smem.regions[0].size_bytes"),
        ({"smem": {"regions": [{"can_pack": "yes"}]}}, "smem.regions[0].can_pack"),
        ({"smem": {"regions": [{"colour": 1}]}}, "smem.regions[0].colour"),
        ({"smem": {"regions": ["W0"]}}, "smem.regions[0]"),
        ({"smem": {"regions": [{}] * 65}}, "smem.regions"),
        ({"smem": {"regions": "W0"}}, "smem.regions"),
        ({"smem": {"queue": ["two words"]}}, "smem.queue[0]"),
        ({"smem": []}, "smem"),
        ({"sems": {"rows": [{"kind": "laser"}]}}, "sems.rows[0].kind"),
        ({"symbols": {"a b": "1"}}, "symbols"),
        ({"symbols": [1]}, "symbols"),
        ({"symbols": {f"S{i}": "1" for i in range(101)}}, "symbols"),
        ({"engine": {"family": "F"}}, "engine.family"),
        ({"choices": [{}]}, "choices[0].id"),
        ({"choices": [{"id": "C1"}, {"id": "C1"}]}, "choices[1].id"),
        ({"choices": [{"id": "C 1"}]}, "choices[0].id"),
        ({"choices": [{"id": "C1", "polarity": "likes"}]}, "choices[0].polarity"),
        ({"choices": [{"id": "C1", "scope": {"m": "huh"}}]}, "choices[0].scope.m"),
        ({"choices": [{"id": "C1", "scope": 5}]}, "choices[0].scope"),
        ({"choices": [{"id": "C1", "citations": [{"code": "D3"}]}]}, "choices[0].citations[0].kind"),
        ({"choices": [{"id": "C1", "citations": [{"kind": "evidence", "path": "x"}]}]}, "choices[0].citations[0].path"),
        ({"choices": [{"id": "C1", "citations": [{"kind": "code", "lines": "a"}]}]}, "choices[0].citations[0].lines"),
        ({"choices": [{"id": "C1", "prediction": {"tier": "9"}}]}, "choices[0].prediction.tier"),
        ({"choices": [{"id": "C1", "prediction": {"gain_percent": 5.0}}]}, "choices[0].prediction.gain_percent"),
        ({"choices": [{"id": "C1", "prediction": {"deadline": "soon"}}]}, "choices[0].prediction.deadline"),
        ({"choices": [{"id": "C1", "wave_quant": [1]}]}, "choices[0].wave_quant"),
        ({"open_questions": [{"id": ""}]}, "open_questions[0].id"),
    ],
)
def test_problems_name_the_path_and_the_fix(raw, path):
    assert (path, True) in problems_of(raw)
    canonical_json(normalise(raw)[0])


def test_a_problem_leaves_the_rest_alone():
    raw = copy.deepcopy(grouped_gemm_spec())
    raw["smem"]["regions"][2]["size_bytes"] = 1.5
    doc, problems = normalise(raw)
    assert [p.field for p in problems] == ["smem.regions[2].size_bytes"]
    assert doc["smem"]["regions"][2]["size_bytes"] == ""
    assert doc["smem"]["regions"][3] == grouped_gemm_spec()["smem"]["regions"][3]


def test_one_spelling_for_texts_and_numbers():
    raw = {"title": "  two \t words ", "summary": "a\r\nb\rc  \n", "symbols": {"S": 8},
           "choices": [{"id": "C1",
                        "prediction": {"gain_percent": "−5.50", "delta_percent": "1.0", "rounds": 5}}]}  # fmt: skip
    doc = canonical(raw)
    prediction = doc["choices"][0]["prediction"]
    assert (doc["title"], doc["summary"], doc["symbols"]["S"]) == ("two words", "a\nb\nc", "8")
    assert [prediction[k] for k in ("gain_percent", "delta_percent", "rounds")] == ["-5.5", "1", "5"]
    spelled = copy.deepcopy(raw)
    spelled["choices"][0]["prediction"]["gain_percent"] = "-5.5"
    assert content_hash(canonical(spelled)) == content_hash(doc)


def test_an_unreadable_number_stays_for_the_rules_to_refuse():
    doc = canonical({"choices": [{"id": "C1", "prediction": {"gain_percent": "much"}}]})
    assert doc["choices"][0]["prediction"]["gain_percent"] == "much"


def test_an_unstated_polarity_is_the_strictest_and_an_unstated_stance_supports_nothing():
    doc = canonical({"choices": [{"id": "C1", "citations": [{"kind": "evidence", "code": "D3"}]}]})
    assert doc["choices"][0]["polarity"] == "adopts"
    assert doc["choices"][0]["citations"][0]["stance"] == "context"


def test_blank_rows_carry_the_usual_values():
    region = empty_row("smem.regions")
    assert (region["page_count"], region["release_step"], region["contiguous"], region["size_bytes"]) == (
        "-1",
        "0",
        True,
        "",
    )
    with pytest.raises(KeyError):
        empty_row("colours")


def test_choice_ids():
    doc = canonical({"choices": [{"id": "C1"}, {"id": "C3"}]})
    assert next_choice_id(doc) == "C2"
    assert next_choice_id(doc, frozenset({"C2", "C4"})) == "C5"
    assert find_choice(doc, "C3")["id"] == "C3"
    with pytest.raises(KeyError):
        choice_hash(doc, "C2")


def with_prediction():
    return canonical(
        {
            "choices": [
                {"id": "C1", "lever": "tma", "rationale": "r", "prediction": {"anchor": "base", "gain_percent": "5"}},
                {"id": "C2", "lever": "x"},
            ],
            "anchors": [{"name": "base", "metric": "time_us", "method": "m"}, {"name": "other", "method": "m"}],
        }
    )


@pytest.mark.parametrize(
    ("edit", "choice_changes", "prediction_changes"),
    [
        (lambda d: d["choices"][0].update(rationale="other"), True, False),
        (lambda d: d["choices"][0].update(lever="y"), True, True),
        (lambda d: d["choices"][0].update(scope={"m": "1"}), True, True),
        (lambda d: d["choices"][0]["prediction"].update(gain_percent="6"), True, True),
        (lambda d: d["anchors"][0].update(method="n"), False, True),
        (lambda d: d["anchors"][1].update(method="n"), False, False),
        (lambda d: d["choices"][1].update(lever="y"), False, False),
        (lambda d: d["choices"].reverse(), False, False),
        (lambda d: d.update(title="n"), False, False),
    ],
)
def test_hashes_cover_their_part_and_nothing_else(edit, choice_changes, prediction_changes):
    old, new = with_prediction(), with_prediction()
    edit(new)
    assert (choice_hash(old, "C1") != choice_hash(new, "C1")) is choice_changes
    assert (prediction_hash(old, "C1") != prediction_hash(new, "C1")) is prediction_changes


def test_no_prediction_has_no_hash():
    assert prediction_hash(with_prediction(), "C2") == ""


ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(list(empty_spec())), st.text(max_size=4)), inner, max_size=4),
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(ANY_JSON)
def test_anything_becomes_a_canonical_document(value):
    doc, _ = normalise(value)
    canonical_json(doc).encode("utf-8")
    again, problems = normalise(doc)
    assert again == doc
    assert all(p.field.endswith(".id") for p in problems)
