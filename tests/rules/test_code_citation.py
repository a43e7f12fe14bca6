"""Places in code: as they are typed, as prose names them, and what an import makes of them."""

import pytest

from tests.rules.test_spec_markdown import SPEC
from v2kb.rules.code_citation import code_text, places_in, read_code, stated_pins
from v2kb.rules.spec_markdown.reading import read_markdown

BARE = {"tree": "", "path": "builder.py", "commit": "", "lines": "3108-3128"}
PINNED = {"tree": "mpk", "path": "tasks/a.cuh", "commit": "f624d75a", "lines": "10"}


@pytest.mark.parametrize(
    ("typed", "expected", "again"),
    [
        ("builder.py:3108-3128", BARE, "builder.py:3108-3128"),
        # As earlier versions wrote a place without tree and commit.
        (":builder.py@:3108-3128", BARE, "builder.py:3108-3128"),
        ("mpk:tasks/a.cuh@f624d75a:10", PINNED, "mpk:tasks/a.cuh@f624d75a:10"),
        ("mpk:tasks/a.cuh:10", PINNED | {"commit": ""}, "mpk:tasks/a.cuh:10"),
        ("tasks/a.cuh@f624d75a", PINNED | {"tree": "", "lines": ""}, "tasks/a.cuh@f624d75a"),
        ("mpk:Makefile@f624d75a", {**BARE, "tree": "mpk", "path": "Makefile", "commit": "f624d75a", "lines": ""}, None),
    ],
)
def test_a_typed_place_is_read_in_whole_or_in_part_and_written_again(typed, expected, again):
    assert read_code(typed) == expected
    assert code_text(expected) == (again or typed)


@pytest.mark.parametrize("typed", ["D3", "house-style#section-3", "", "builder.py: see there", "builder.py:ten"])
def test_what_is_no_place_in_code(typed):
    assert read_code(typed) is None


def test_prose_names_places_with_lines_or_with_a_commit():
    prose = "code ground truth (builder.py:3108-3128 `x`; mpk:tasks/a.cuh@f624d75a:10), main.py, v1.2:30"
    assert list(places_in(prose)) == [BARE, PINNED]


def test_the_pins_that_a_file_states_for_all_its_code():
    assert stated_pins("mpk@f624d75a as of July") == {"tree": "mpk", "commit": "f624d75a"}
    assert stated_pins("the tree of July") == {}


def cited(text):
    reading = read_markdown(text)
    (citation,) = [c for choice in reading.document["choices"] for c in choice["citations"] if c["kind"] == "code"]
    doubts = [p for p in reading.placements if "names no tree and commit" in p.why]
    return citation, doubts


def test_an_imported_place_without_tree_and_commit_is_code_and_is_told():
    citation, doubts = cited(SPEC)
    assert (citation["path"], citation["tree"], citation["commit"]) == ("x.py", "", "")
    assert len(doubts) == 1
    assert 'Write a line "Code: tree@commit"' in doubts[0].why


def test_a_line_at_the_head_of_the_file_gives_them_to_all_places():
    citation, doubts = cited(SPEC.replace("**Designer**", "**Code**: mpk@f624d75a\n\n**Designer**", 1))
    assert (citation["path"], citation["tree"], citation["commit"]) == ("x.py", "mpk", "f624d75a")
    assert doubts == []
    own = SPEC.replace("x.py:", "other:x.py@abc1234:")
    citation, _ = cited(own.replace("**Designer**", "**Code**: mpk@f624d75a\n\n**Designer**", 1))
    assert (citation["tree"], citation["commit"]) == ("other", "abc1234")
