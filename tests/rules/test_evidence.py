"""Evidence content, blocking, material changes, acceptance, diff and three-way view."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.canonical import canonical_json
from v2kb.rules.evidence import (
    CAUSE_CLASSES,
    FIELDS,
    blocking_kind,
    check_revision,
    is_blocking,
    read_content,
    weak_dead,
)
from v2kb.rules.evidence_change import (
    acceptors_needed,
    diff,
    joined,
    material_change,
    may_accept,
    merged_content,
    three_way,
    turns_dead,
    weakens,
)
from v2kb.rules.number_reading import parse_numbers

SOURCE = {"kind": "note", "text": "sweep of 29 June", "document": "", "anchor": ""}


def make(**changes):
    """Return a complete DEAD content."""
    return {
        "lever": "tcgen05",
        "title": "tcgen05 for projection GEMVs",
        "verdict": "DEAD",
        "scope": {"m": "1", "envelope": ["fused_megakernel"]},
        "numbers": parse_numbers("27µs (3.2× slower)"),
        "mechanism": "Allocation costs more than the gap.",
        "cause_class": "mechanism_refuted",
        "approaches": ["BN=16", "K split"],
        "not_checked": "none",
        "bound": "",
        "structural": False,
        "measured_on": "2026-06-29",
        "measured_note": "",
        "sources": [SOURCE],
    } | changes


def make_win(**changes):
    numbers = parse_numbers("−7..−9% vs v1")
    return make(verdict="WIN", cause_class="", numbers=numbers, not_checked="", **changes)


def make_untested(**changes):
    return make(verdict="UNTESTED", cause_class="", numbers=[], bound="at most 1.18×", not_checked="") | changes


def fields(problems):
    return {problem.field for problem in problems}


# --- content ---


@pytest.mark.parametrize("raw", [make(), make_win(), make_untested()])
def test_complete_contents_are_accepted_and_repeat(raw):
    check = check_revision(raw)
    assert check.refusals == check.missing == ()
    assert set(check.content) == set(FIELDS)
    assert check_revision(check.content).content == check.content
    canonical_json(check.content)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (make(cause_class=""), "cause_class"),
        (make(mechanism="  "), "mechanism"),
        (make(scope={}), "scope"),
        (make(scope={"m": ""}), "scope"),
        (make(not_checked=""), "not_checked"),
        (make_win() | {"numbers": []}, "numbers"),
        (make_win() | {"numbers": parse_numbers("−7%")}, "numbers"),
        (make_win() | {"numbers": parse_numbers("killed 3×")}, "numbers"),
        (make_win() | {"numbers": parse_numbers("−7% vs v1", role="bound")}, "numbers"),
        (make_win() | {"sources": []}, "sources"),
        (make_win() | {"structural": True, "numbers": [], "mechanism": ""}, "mechanism"),
        (make_win() | {"structural": True, "numbers": [], "sources": []}, "sources"),
        (make_untested() | {"bound": ""}, "bound"),
        (make_untested() | {"numbers": parse_numbers("5 us")}, "numbers[0].role"),
    ],
)
def test_a_new_verdict_without_what_it_needs_is_refused_and_an_import_lists_it(raw, field):
    new, imported = check_revision(raw), check_revision(raw, imported=True)
    assert fields(new.refusals) == {field}
    assert all(problem.fix for problem in new.refusals)
    assert imported.refusals == ()
    assert fields(imported.missing) == {field}


def test_structural_wins_and_data_points_are_fine():
    assert check_revision(make_win() | {"structural": True, "numbers": []}).refusals == ()
    related = parse_numbers("~+12%", role="data_point") + parse_numbers("≤1.18×", role="bound")
    assert check_revision(make_untested() | {"numbers": related}).refusals == ()


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (make(verdict="MAYBE"), "verdict"),
        (make(verdict=""), "verdict"),
        (make(verdict=["DEAD"]), "verdict"),
        (make(cause_class="bad luck"), "cause_class"),
        (make(lever=""), "lever"),
        (make(lever="x" * 81), "lever"),
        (make(title="t" * 301), "title"),
        (make(mechanism=5), "mechanism"),
        (make(mechanism="a\0b"), "mechanism"),
        (make(structural="yes"), "structural"),
        (make(measured_on="last week"), "measured_on"),
        (make(measured_on=20260703), "measured_on"),
        (make(scope={"m": "few"}), "scope.m"),
        (make(scope=[]), "scope"),
        (make(numbers=[{"text": "5 us", "readable": True, "value": "5", "unit": "parsec"}]), "numbers[0].unit"),
        (make(numbers="5 us"), "numbers"),
        (make(numbers=["5 us"]), "numbers[0]"),
        (make(approaches=[""]), "approaches[0]"),
        (make(approaches=["x"] * 101), "approaches"),
        (make(sources=[{"kind": "rumour", "text": "x"}]), "sources[0].kind"),
        (make(sources=[{"kind": "note", "text": ""}]), "sources[0].text"),
        (make(sources=["note"]), "sources[0]"),
        (make(colour="red"), "colour"),
    ],
)
def test_bad_values_are_named_by_field_in_import_too(raw, field):
    for imported in (False, True):
        refusals = check_revision(raw, imported=imported).refusals
        assert field in fields(refusals)
        assert len([problem for problem in refusals if problem.field == field]) == 1


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["DEAD", "WIN", "flat"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*FIELDS, "kind", "text", "m", "value", "unit", "role"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(JUNK)
def test_junk_is_refused_and_never_throws(raw):
    check = check_revision(raw)
    assert check.refusals
    canonical_json(check.content)
    assert set(check.content) == set(FIELDS)


@given(st.sampled_from(FIELDS), JUNK)
def test_one_junk_field_never_throws_and_reads_back(field, value):
    content = check_revision(make() | {field: value}).content
    assert read_content(content)[0] == content
    diff(read_content(make())[0], content)
    material_change(read_content(make())[0], content)


# --- blocking ---


def test_the_first_seven_causes_block_and_the_survey_weakly():
    kinds = [blocking_kind(make(cause_class=slug)) for slug in CAUSE_CLASSES]
    assert kinds == ["full"] * 6 + ["weak"] + [""] * 4
    assert len(CAUSE_CLASSES) == 11


def test_missing_cause_blocks_and_other_verdicts_and_superseded_rows_do_not():
    for cause in ("", "no such class", None, ["flat"]):
        assert blocking_kind(make(cause_class=cause)) == "full"
    assert not is_blocking(make(), superseded=True)
    assert is_blocking(make())
    assert not is_blocking(make_win())
    assert not is_blocking(make_untested())


def test_one_approach_makes_a_weak_negative():
    assert weak_dead(make(approaches=["one"]))
    assert weak_dead(make(approaches=[]))
    assert not weak_dead(make())
    assert not weak_dead(make_win() | {"approaches": []})


# --- changes ---


def content(raw):
    result, problems = read_content(raw)
    assert problems == []
    return result


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"title": "another title"},
        {"mechanism": "the same in other words"},
        {"sources": []},
        {"approaches": ["one"]},
        {"not_checked": "prefill"},
        {"measured_note": "re-read"},
        {"scope": {"m": "M=1", "envelope": "fused"}},
        {"numbers": parse_numbers("(3.2× slower) 27.0µs")},
        {"numbers": parse_numbers("0.027ms (3.2× slower)")},
        {"numbers": parse_numbers("27µs (3.2× slower)") + parse_numbers("12%", role="data_point")},
        {"cause_class": "mechanism_refuted"},
    ],
)
def test_a_change_of_wording_is_not_material(change):
    assert material_change(content(make()), content(make() | change)) == []


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({"verdict": "WIN"}, {"verdict", "blocking"}),
        ({"cause_class": "flat"}, {"cause_class"}),
        ({"cause_class": "abandoned"}, {"cause_class", "blocking"}),
        ({"cause_class": "ruled_out_by_survey"}, {"cause_class", "blocking"}),
        ({"scope": {"m": "1..16", "envelope": ["fused_megakernel"]}}, {"scope"}),
        ({"lever": "tma"}, {"lever"}),
        ({"numbers": parse_numbers("28µs (3.2× slower)")}, {"number"}),
        ({"numbers": parse_numbers("27µs")}, {"number"}),
        ({"numbers": parse_numbers("27µs (3.2× slower) 5%")}, {"number"}),
        ({"numbers": parse_numbers("27µs", role="bound") + parse_numbers("3.2× slower")}, {"number"}),
    ],
)
def test_material_changes_are_named(change, codes):
    reasons = material_change(content(make()), content(make() | change))
    assert {reason.code for reason in reasons} == codes
    assert all(reason.sentence.endswith(".") for reason in reasons)


def test_a_number_within_its_stated_interval_is_not_material():
    old = content(make(numbers=parse_numbers("2-8µs")))
    for within in ("2-8µs", "3-4µs", "5µs", "0.002ms"):
        assert material_change(old, content(make(numbers=parse_numbers(within)))) == [], within
    for outside in ("2-9µs", "1µs", "5%", "killed 3×"):
        assert material_change(old, content(make(numbers=parse_numbers(outside)))) != [], outside
    bounded = content(make(numbers=parse_numbers("≤6%")))
    assert {r.code for r in material_change(bounded, content(make(numbers=parse_numbers("≤9%"))))} == {"number"}
    assert material_change(bounded, content(make(numbers=parse_numbers("≤6.0%")))) == []


def test_a_data_point_may_come_and_go():
    with_point = content(make(numbers=make()["numbers"] + parse_numbers("12%", role="data_point")))
    assert material_change(with_point, content(make())) == []
    assert material_change(content(make()), with_point) == []


def test_supersession_and_a_confirmed_flag_are_material():
    old = content(make())
    superseded = material_change(old, old, new_superseded=True)
    assert {reason.code for reason in superseded} == {"supersession", "blocking"}
    assert [reason.code for reason in material_change(old, old, flag_confirmed=True)] == ["flag"]


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        (None, make(), 1),
        (make(), make(title="x"), 1),
        (make_untested(), make(), 1),
        (make_untested(), make_win(), 1),
        (make_win(), make_untested(), 1),
        (make_win(), make(), 2),
        (make(), make_win(), 2),
        (make(), make_untested(), 2),
        (make(), make(cause_class="abandoned"), 2),
        (make(cause_class="abandoned"), make_win(), 2),
        (make(cause_class="abandoned"), make_untested(), 1),
    ],
)
def test_how_many_must_accept(old, new, count):
    assert acceptors_needed(old and content(old), content(new)) == count


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (make(), False),
        (make(title="x"), False),
        (make(scope={"m": "1"}), False),
        (make(cause_class="flat"), False),
        (make(cause_class="ruled_out_by_survey"), True),
        (make(cause_class="tooling_blocked"), True),
        (make(lever="tma"), True),
        (make(scope={"m": "1", "envelope": ["fused_megakernel"], "grid": "136"}), True),
        (make(scope={"m": "16..", "envelope": ["fused_megakernel"]}), True),
        (make_untested(), True),
    ],
)
def test_what_disarms_a_dead_row(new, expected):
    assert weakens(content(make()), content(new)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, make(), False),
        (make(), make(title="x"), False),
        (make_win(), make_untested(), False),
        (make_win(), make(), True),
        (make_untested(), make(), True),
        (make(cause_class="abandoned"), make_untested(), True),
        (make(), make(cause_class="abandoned"), True),
        (make(), make(scope={"m": "1", "envelope": ["fused_megakernel"], "grid": "136"}), True),
    ],
)
def test_which_changes_lead_to_dead_or_away_from_it(old, new, expected):
    assert turns_dead(old and content(old), content(new)) is expected


def test_joining_adds_what_was_measured_and_keeps_the_words():
    into, same = content(make()), content(make(numbers=parse_numbers("+3%"), approaches=["TMA"], mechanism="other"))
    both = joined(into, same)
    assert (both["mechanism"], both["verdict"]) == (into["mechanism"], "DEAD")
    assert both["approaches"] == [*into["approaches"], "TMA"]
    assert [number["text"] for number in both["numbers"]] == [n["text"] for n in into["numbers"]] + ["+3%"]
    assert joined(both, same) == both
    other = joined(into, content(make_win()))
    assert {number["role"] for number in other["numbers"][len(into["numbers"]) :]} == {"data_point"}


def test_nobody_accepts_what_they_had_a_hand_in():
    def codes(person, **facts):
        return [reason.code for reason in may_accept(person, proposer="ann", **facts)]

    assert codes("rob") == []
    assert codes("ann") == ["own_proposal"]
    assert codes("rob", authors_since_head={"rob"}) == ["author"]
    assert codes("rob", accepted_by=["rob"]) == ["already_accepted"]
    assert codes("rob", recused={"rob"}) == ["recused"]
    assert codes("rob", interested=["rob"]) == ["interested"]
    assert codes("ann", authors_since_head=["ann"]) == ["own_proposal", "author"]


# --- showing changes ---


def test_diff_goes_by_field_by_dimension_and_by_entry():
    old = content(make())
    new = content(
        make(
            mechanism="other",
            scope={"m": "1..16", "envelope": ["fused_megakernel"], "dtype": ["bf16"]},
            approaches=["BN=16", "TMA"],
        )
    )
    changes = {change.field: change for change in diff(old, new)}
    assert set(changes) == {"mechanism", "scope.m", "scope.dtype", "approaches"}
    assert (changes["scope.m"].old, changes["scope.m"].new) == ("1", "1..16")
    assert changes["scope.m"].label == "scope: M"
    assert (changes["approaches"].removed, changes["approaches"].added) == (("K split",), ("TMA",))
    assert diff(old, old) == []


def test_three_way_shows_who_changed_what_and_loses_nothing():
    base = content(make())
    theirs = content(make(mechanism="theirs", title="both", bound="new", scope={"m": "1..16", "envelope": ["fused"]}))
    mine = content(make(mechanism="mine", title="both", not_checked="mine", scope={"m": "1", "grid": "136"}))
    view = three_way(base, theirs, mine)
    states = {part.field: part.state for part in view if part.state != "same"}
    assert states == {
        "mechanism": "conflict",
        "title": "both",
        "bound": "theirs",
        "not_checked": "mine",
        "scope.m": "theirs",
        "scope.envelope": "mine",
        "scope.grid": "mine",
    }
    merged = merged_content(view, {"mechanism": "settled"})
    assert merged["mechanism"] == "settled"
    assert merged["scope"] == {"m": "1..16", "grid": "136"}
    assert (merged["bound"], merged["not_checked"]) == ("new", "mine")
    assert merged_content(view)["mechanism"] == "theirs"
    assert merged_content(three_way(base, theirs, base)) == theirs
    assert merged_content(three_way(base, base, mine)) == mine
