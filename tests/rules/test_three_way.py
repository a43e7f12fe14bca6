"""Three-way merging of documents: one side's change stands, both sides' is asked, rows are told apart by name."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.three_way import ABSENT, merge


def rows(**sizes: str) -> list[dict[str, str]]:
    return [{"name": name, "size": size} for name, size in sizes.items()]


BASE = {"title": "T", "regions": rows(A="1", B="2", C="3"), "flags": ["x"]}


def changed(**fields):
    return {**copy.deepcopy(BASE), **fields}


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        (changed(title="M"), BASE, changed(title="M")),
        (BASE, changed(title="H"), changed(title="H")),
        (changed(title="M"), changed(flags=["y"]), changed(title="M", flags=["y"])),
        (changed(title="same"), changed(title="same"), changed(title="same")),
        (changed(regions=rows(A="9", B="2", C="3")), changed(regions=rows(A="1", B="8", C="3")),
         changed(regions=rows(A="9", B="8", C="3"))),
        (changed(regions=rows(A="9", B="2", C="3")), changed(regions=rows(C="3", A="1", B="2")),
         changed(regions=rows(C="3", A="9", B="2"))),
        (changed(regions=rows(A="9", B="2", C="3")), changed(regions=rows(A="1", C="3")),
         changed(regions=rows(A="9", C="3"))),
        (changed(regions=rows(A="1", B="2", N="4", C="3")), changed(regions=rows(A="1", B="7", C="3")),
         changed(regions=rows(A="1", B="7", N="4", C="3"))),
        (changed(regions=rows(A="1", NEW="2", C="3")), changed(regions=rows(A="1", B="7", C="3")),
         changed(regions=rows(A="1", NEW="7", C="3"))),
        (changed(regions=rows(A="1", B="2", C="3", M="5")), changed(regions=rows(A="1", B="2", C="3", H="6")),
         changed(regions=rows(A="1", B="2", C="3", M="5", H="6"))),
    ],
)  # fmt: skip
def test_changes_of_one_side_stand(mine, theirs, merged):
    assert merge(BASE, mine, theirs) == (merged, [])


@pytest.mark.parametrize(
    ("mine", "theirs", "place", "kept"),
    [
        (changed(title="M"), changed(title="H"), "title", "M"),
        (changed(flags=["m"]), changed(flags=["h"]), "flags", ["m"]),
        (changed(regions=rows(A="9", B="2", C="3")), changed(regions=rows(A="8", B="2", C="3")), "regions[0].size",
         "9"),
        (changed(regions=rows(A="1", M="2", C="3")), changed(regions=rows(A="1", H="2", C="3")), "regions[1].name",
         "M"),
        (changed(regions=rows(A="9", C="3")), changed(regions=rows(A="1", B="8", C="3")), "regions[1]", None),
        (changed(regions=rows(A="1", B="8", C="3")), changed(regions=rows(A="1", C="3")), "regions[1]", None),
    ],
)  # fmt: skip
def test_changes_of_both_sides_are_asked(mine, theirs, place, kept):
    merged, conflicts = merge(BASE, mine, theirs)
    assert [conflict.path for conflict in conflicts] == [place]
    if kept is not None:
        assert conflicts[0].mine == kept
    else:  # a row that one side took away and the other changed stays until someone says
        assert ABSENT in (conflicts[0].mine, conflicts[0].theirs)
        assert {"name": "B", "size": "8"} in merged["regions"]


def test_rows_without_names_are_merged_by_number_or_asked_as_a_whole():
    base = {"gates": [{"bar": "a", "cases": ""}, {"bar": "b", "cases": ""}]}
    mine = {"gates": [{"bar": "a", "cases": "m"}, {"bar": "b", "cases": ""}]}
    theirs = {"gates": [{"bar": "a", "cases": ""}, {"bar": "t", "cases": ""}]}
    assert merge(base, mine, theirs) == ({"gates": [{"bar": "a", "cases": "m"}, {"bar": "t", "cases": ""}]}, [])
    turned = {"gates": [base["gates"][1], base["gates"][0]]}
    assert [c.path for c in merge(base, mine, turned)[1]] == ["gates"]
    shorter = {"gates": [{"bar": "t", "cases": ""}]}
    merged, conflicts = merge(base, mine, shorter)
    assert (merged, [c.path for c in conflicts]) == (mine, ["gates"])


def test_without_a_base_every_difference_is_asked():
    merged, conflicts = merge({}, changed(title="M"), BASE)
    assert merged == changed(title="M")
    assert [(c.path, c.mine, c.theirs) for c in conflicts] == [("title", "M", "T")]


names = st.sampled_from("ABCDEF")
values = st.sampled_from("123")
tables = st.lists(
    st.builds(lambda n, s: {"name": n, "size": s}, names, values), max_size=5, unique_by=lambda r: r["name"]
)
documents = st.builds(lambda t, r: {"title": t, "rows": r}, values, tables)


@given(documents, documents, documents)
def test_nothing_that_was_typed_is_lost(base, mine, theirs):
    """What one side has new is in the merged document or in a conflict."""
    merged, conflicts = merge(base, mine, theirs)
    asked = [value for c in conflicts for value in (c.mine, c.theirs)]
    held, known = ([value for row in side["rows"] for value in row.values()] for side in (merged, base))
    for side in (mine, theirs):
        assert merged["title"] == side["title"] or side["title"] in asked or side["title"] == base["title"]
        for row in side["rows"]:
            if row not in base["rows"] and row not in asked:
                assert all(value in held or value in asked or value in known for value in row.values())


@given(documents, documents)
def test_a_side_that_changed_nothing_has_no_say(base, other):
    assert merge(base, base, other) == (other, [])
    assert merge(base, other, base) == (other, [])
