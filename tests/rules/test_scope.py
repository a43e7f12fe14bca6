"""Scopes: one spelling, four relations, sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.scope import (
    DIMENSIONS,
    RELATIONS,
    describe,
    explain,
    normalise_scope,
    parse_range,
    read_description,
    read_scope,
    relation,
    scope_problems,
)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("1", ((1, 1),)),
        ("1..16", ((1, 16),)),
        ("1-16", ((1, 16),)),
        ("1–16", ((1, 16),)),
        ("1 to 16", ((1, 16),)),
        ("16..", ((16, None),)),
        ("..8", ((0, 8),)),
        ("M=1", ((1, 1),)),
        ("M >= 16", ((16, None),)),
        ("≤16", ((0, 16),)),
        (">16", ((17, None),)),
        ("<16", ((0, 15),)),
        ("16+", ((16, None),)),
        ("8, 1..4, 5", ((1, 5), (8, 8))),
        ("4.., 1..9", ((1, None),)),
        ("", ()),
        ("any", ()),
    ],
)
def test_ranges_are_read(text, spans):
    assert parse_range(text) == spans


@pytest.mark.parametrize("text", ["x", "16..1", "-5", "1.5", "..", "1,,2", "1 2", "1..2..3", "9999999999", "=", "<0"])
def test_what_is_no_range_is_refused(text):
    assert parse_range(text) is None


def test_one_spelling():
    raw = {
        "op_class": "Projection-GEMV",
        "m": "M=1",
        "dtype": ["bfloat16", "BF16", "float8_e4m3fn"],
        "arch": ["B200", "sm_100a"],
        "envelope": ["fused"],
        "sharding": "any",
        "batch": "",
        "grid": 136,
        "baseline": "  main   @ f624d75a ",
    }
    assert normalise_scope(raw) == {
        "op_class": ["projection_gemv"],
        "m": "1",
        "dtype": ["bf16", "fp8_e4m3"],
        "arch": ["sm_100"],
        "envelope": ["fused_megakernel"],
        "grid": "136",
        "baseline": "main @ f624d75a",
    }
    assert scope_problems(raw) == []
    assert normalise_scope(normalise_scope(raw)) == normalise_scope(raw)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"m": "sixteen"}, "m"),
        ({"grid": "num_workers"}, "grid"),
        ({"envelope": ["spaceship"]}, "envelope"),
        ({"dtype": ["fp8!"]}, "dtype"),
        ({"op_class": [{}]}, "op_class"),
        ({"op_class": [True]}, "op_class"),
        ({"op_class": ["a"] * 99}, "op_class"),
        ({"baseline": "b" * 999}, "baseline"),
        ({"speed": "fast"}, "speed"),
        ([], ""),
    ],
)
def test_problems_name_the_dimension_and_a_fix(raw, field):
    (problem,) = scope_problems(raw)
    assert problem.field == field
    assert problem.fix


D2 = {"op_class": ["projection_gemv"], "m": "1", "dtype": ["bf16"], "envelope": ["fused_megakernel"], "grid": "136"}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, "equal"),
        ({"m": "0..1"}, "overlapping"),
        ({"m": "1..16"}, "overlapping"),
        ({"m": "2..16"}, "disjoint"),
        ({"m": ""}, "overlapping"),
        ({"batch": "1"}, "inside"),
        ({"batch": "1", "m": ""}, "overlapping"),
        ({"dtype": ["fp8"]}, "disjoint"),
        ({"dtype": ["fp8", "bf16"]}, "overlapping"),
        ({"op_class": ["gemv"]}, "overlapping"),
        ({"op_class": ["fused_projection_gemv"]}, "inside"),
        ({"op_class": ["grouped_gemm"]}, "disjoint"),
        ({"envelope": ["standalone"]}, "disjoint"),
        ({"envelope": ["standalone", "fused"]}, "overlapping"),
        ({"grid": "64"}, "disjoint"),
        ({"baseline": "main"}, "inside"),
        ({"m": "who knows"}, "overlapping"),
    ],
)
def test_relations(change, kind):
    assert relation({**D2, **change}, D2) == kind


def test_subtypes_and_baselines():
    assert relation({"dtype": ["fp8_e4m3"]}, {"dtype": ["fp8"]}) == "inside"
    assert relation({"dtype": ["bfloat16"]}, {"dtype": ["bf16"]}) == "equal"
    assert relation({"arch": ["sm_90"]}, {"arch": ["sm_100"]}) == "disjoint"
    assert relation({"op_class": ["gemv", "projection_gemv"]}, {"op_class": ["gemv"]}) == "equal"
    assert relation({"baseline": "main@1"}, {"baseline": "main@2"}) == "overlapping", (
        "text can't show that cases differ"
    )
    assert relation({}, {}) == relation(None, None) == "equal"


def test_sentences():
    parts = explain({"dtype": ["fp8"], "m": "1"}, {"dtype": ["bf16"], "m": ""})
    assert [part.sentence for part in parts] == ["M: 1 against any: inside", "dtype: fp8 against bf16: disjoint"]
    (part,) = explain({"m": "soon"}, {"m": "1"})
    assert part.sentence == "M: any against 1: overlapping (what can't be read counts as any)"
    assert describe({"m": "1", "dtype": ["bf16", "fp8"]}) == "M: 1; dtype: bf16, fp8"
    assert describe({}) == "any case"


WORDS = {
    "op_class": ["gemv", "projection_gemv", "fused_projection_gemv", "grouped_gemm", "gemm"],
    "dtype": ["bf16", "fp8", "fp8_e4m3", "fp8_e5m2"],
    "arch": ["sm_90", "sm_100"],
    "envelope": ["fused_megakernel", "standalone", "cpu"],
    "sharding": ["rep", "col"],
}
RANGE = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda ends: f"{min(ends)}..{max(ends)}") | st.just("9.."),
    max_size=3,
).map(",".join)
SCOPES = st.fixed_dictionaries(
    {},
    optional={name: st.lists(st.sampled_from(words), max_size=3) for name, words in WORDS.items()}
    | dict.fromkeys(("m", "batch", "grid"), RANGE)
    | {"baseline": st.sampled_from(["", "main", "v1"])},
)


@given(SCOPES, SCOPES)
def test_relations_are_lawful(a, b):
    there, back = relation(a, b), relation(b, a)
    assert there in RELATIONS
    assert relation(a, a) == "equal"
    if there in ("equal", "disjoint"):
        assert back == there
    if there == "inside":
        assert back == "overlapping"
    if there == "overlapping":
        assert back in ("overlapping", "inside")


@given(SCOPES, SCOPES, SCOPES)
def test_inside_is_transitive_and_nothing_inside_escapes(a, b, c):
    if relation(a, b) in ("equal", "inside") and relation(b, c) in ("equal", "inside"):
        assert relation(a, c) in ("equal", "inside")
    if relation(a, b) in ("equal", "inside") and relation(b, c) == "disjoint":
        assert relation(a, c) == "disjoint"


@given(RANGE, RANGE)
def test_range_relations_agree_with_sets(a, b):
    def members(text):
        spans = parse_range(text) or ((0, None),)
        return {value for low, high in spans for value in range(low, 40 if high is None else high + 1)}

    left, right = members(a), members(b)
    kind = relation({"m": a}, {"m": b})
    # An unnamed range means any case, which differs from every range that is written, even one without end.
    if left == right and bool(a) == bool(b):
        assert kind == "equal"
    elif left < right:
        assert kind == "inside"
    elif left & right:
        assert kind in ("overlapping", "inside")
    else:
        assert kind == "disjoint"


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(DIMENSIONS) | st.text(max_size=5), inner)
    ),
    max_leaves=12,
)


@given(JUNK, SCOPES)
def test_junk_never_throws_and_never_hides(junk, scope):
    scope_problems(junk)
    describe(junk)
    assert relation(junk, scope) in RELATIONS
    if scope_problems(junk) and not normalise_scope(junk):
        assert relation(junk, scope) != "disjoint"


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("", {}),
        ("any case", {}),
        ("op class: gemv, norm; M: 1, 4..8; architecture: b200", {"op_class": ["gemv", "norm"], "m": "1, 4..8",
                                                                   "arch": ["sm_100"]}),
        ("OP_CLASS: gemv;m: 1", {"op_class": ["gemv"], "m": "1"}),
        ("upstream baseline: v1; M: 2", {"baseline": "v1; M: 2"}),
    ],
)  # fmt: skip
def test_a_description_is_read(text, scope):
    raw, problems = read_description(text)
    assert (read_scope(raw), problems) == ((scope, []), [])


@pytest.mark.parametrize("text", ["gemv", "colour: red", "M: 1; m: 2", ";"])
def test_a_description_that_names_no_dimension_is_a_problem(text):
    (problem,) = read_description(text)[1]
    assert problem.fix.startswith("Write for example op class: gemv")


@given(SCOPES)
def test_what_a_scope_says_is_read_back(raw):
    scope = normalise_scope(raw)
    assert read_scope(read_description(describe(scope))[0]) == (scope, [])
