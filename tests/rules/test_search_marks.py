"""Marks in texts: every spelling that a query finds is marked where it stands, and snippets show the marks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.test_search_words import SPELLINGS
from v2kb.rules.search_marks import marks, snippet
from v2kb.rules.search_words import words


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in marks(text, words(query))]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda group: group[0])
def test_what_is_found_is_marked(spellings):
    for query in spellings:
        for written in spellings:
            assert any(mark in written for mark in marked(f"what {written} costs", query)), (query, written)
            assert marked("what it costs", query) == []


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("cpasync", "bound by cp.async issue", ["cp.async"]),
        ("cp async", "the cpasync loop", ["cpasync"]),
        ("stages", "one stage, STAGES=12", ["stage", "STAGES"]),
        ("f624d75", "commit f624d75a)", ["f624d75a"]),
        ("-9%", "−7..−9% vs +9%", ["−7..−9%"]),
        ("7w", "nwarps=7 of 17 warps", ["nwarps=7"]),
        ("slow_cta", "their slowCTA maxima", ["slowCTA"]),
        ("W2", "W13/W2 and W20", ["W2"]),
        ("6.24us", "floor 6.24µs", ["6.24µs"]),
        ("grid barrier", "the grid\nbarrier", ["grid", "barrier"]),
        ("§2", "see § 2", ["2"]),
    ],
)
def test_marks(query, text, found):
    assert marked(text, query) == found


def test_a_snippet_is_where_most_marks_are():
    text = f"barrier {'padding ' * 60}the coarse grid barrier of the FFN {'padding ' * 60}"
    pieces = snippet(text, words("grid barrier"), longest=80)
    assert [piece for piece, is_marked in pieces if is_marked] == ["grid", "barrier"]
    shown = "".join(piece for piece, _ in pieces)
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 90
    assert snippet("short\n\ntext", ()) == [("short text", False)]
    assert snippet("", words("x")) == []


@given(st.text(), st.text())
def test_any_text_and_any_query(text, query):
    wanted = words(query)
    flat = " ".join(text.split())
    found = marks(flat, wanted)
    assert all(0 <= start < end <= len(flat) for start, end in found)
    assert all(first[1] < second[0] for first, second in pairwise(found))
    shown = "".join(piece for piece, _ in snippet(text, wanted, longest=10_000))
    assert shown == flat
