"""Numbers, approaches and sources as lines of text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.lines import (
    approach_lines,
    number_lines,
    read_approaches,
    read_numbers,
    read_sources,
    source_lines,
)
from tests.starter_data import STARTER, load
from v2kb.rules.evidence import read_content


def test_a_number_line_says_everything():
    numbers, problems = read_numbers(
        "−7..−9% | verdict | vs v1 | tier 1 | n 3 | verified | lower is better", role="bound"
    )
    assert problems == []
    number = numbers[0]
    assert (number["low"], number["high"], number["unit"], number["role"]) == ("-9", "-7", "percent", "verdict")
    assert (number["compared_with"], number["tier"], number["n"], number["verified"]) == ("v1", "1", "3", True)
    assert number["direction"] == "lower"


def test_a_line_without_a_readable_number_stays_as_text():
    numbers, problems = read_numbers("killed 3×", role="verdict")
    assert (numbers[0]["readable"], numbers[0]["text"], problems) == (False, "killed 3×", [])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("6 us and 7 us", "Line 1 holds 2 numbers."),
        ("6 us | tier 9", "'tier 9' is not understood"),
        ("6 us | n 0", "'n 0' is not understood"),
        ("6 us | about right", "'about right' is not understood"),
        ("x" * 700, "Line 1 has 700 characters."),
    ],
)
def test_lines_that_are_refused(line, said):
    _, problems = read_numbers(line, role="verdict")
    assert said in problems[0].message
    assert problems[0].fix


def test_a_pipe_of_the_text_a_text_that_is_no_number_and_a_missing_direction_come_back():
    for number in (
        {"text": "a | b \\| c", "readable": False},
        {"text": "6 us and 7 us", "readable": False},
        {"text": "6 us", "readable": True, "value": "6", "unit": "us", "direction": ""},
        {"text": "6 us", "readable": True, "value": "6", "unit": "us", "direction": "lower", "compared_with": "a | b"},
    ):
        content, _ = read_content({"numbers": [{**number, "role": "bound"}]})
        assert read_numbers(number_lines(content["numbers"]), role="verdict") == (content["numbers"], [])


def test_a_long_line_that_stood_there_already_is_no_problem():
    sources = [{"kind": "note", "text": "x" * 700, "document": "", "anchor": ""}]
    assert read_sources(source_lines(sources), known=sources) == (sources, [])
    assert read_sources(source_lines(sources))[1]


def test_more_lines_than_are_kept():
    numbers, problems = read_numbers("1 us\n" * 101, role="verdict")
    assert len(numbers) == 100
    assert "101 lines" in problems[0].message


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("commit: 62449212", ("commit", "62449212", "", "")),
        ("just words", ("note", "just words", "", "")),
        ("https://example.org/x", ("url", "https://example.org/x", "", "")),
        ("document: section 2 | some-map#wins", ("document", "section 2", "some-map", "wins")),
        ("note: a \\| b | some-map", ("note", "a | b", "some-map", "")),
        ("a|b", ("note", "a|b", "", "")),
        ("Codex: a note with a colon", ("note", "Codex: a note with a colon", "", "")),
    ],
)
def test_source_lines(line, source):
    sources, problems = read_sources(line)
    assert problems == []
    assert tuple(sources[0].values()) == source


def test_what_is_left_as_it_was_comes_back_exactly():
    """Every row of the starter data survives the form unchanged, also numbers that a line could not say."""
    for code, typed in load(STARTER / "levers.json")["rows"].items():
        content = read_content({**typed, "verdict": "DEAD"})[0]
        back = {
            "numbers": read_numbers(number_lines(content["numbers"]), role="verdict", known=content["numbers"]),
            "approaches": read_approaches(approach_lines(content["approaches"]), known=content["approaches"]),
            "sources": read_sources(source_lines(content["sources"]), known=content["sources"]),
        }
        for field, (value, problems) in back.items():
            assert value == content[field], (code, field)
            assert problems == []


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    for read in (lambda t: read_numbers(t, role="verdict"), read_approaches, read_sources):
        read(text)
