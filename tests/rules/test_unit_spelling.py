"""Spellings that an installation adds to units: what they may be, and that numbers are read with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.number_reading import parse_numbers, unit_of_heading
from v2kb.rules.numbers import SPELLINGS, read_number
from v2kb.rules.unit_spelling import read_spelling

ADDED = {
    **SPELLINGS,
    "usec": "us",
    "MB/sec": "MB/s",
    "times": "x",
    "pct": "percent",
    "bytes": "B",
    "microseconds": "us",
}


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        ("6.24 usec", "6.24 us"), ("6.24µsec vs v1", "6.24µs vs v1"), ("−7..−9pct", "−7..−9%"),
        ("5 MB/sec", "5 MB/s"), ("2 us - 8 usec", "2 us - 8 us"), ("between 3 usec and 4 us", "between 3 us and 4 us"),
        ("16,384 bytes", "16,384 B"), ("killed 3 times", "killed 3 x"),
        ("52.2/14.2 usec", "52.2/14.2 us"), ("at least 5 usec or so", "at least 5 us or so"), ("5 usecs", "5 uss"),
        ("5 microseconds more than 3 us", "5 us more than 3 us"), ("5 microseconds  < 3 us", "5 us  < 3 us"),
    ],
)  # fmt: skip
def test_an_added_spelling_is_read_as_its_unit(cell, plain):
    def said(numbers):
        return [{name: value for name, value in number.items() if name != "text"} for number in numbers]

    assert said(parse_numbers(cell, units=ADDED)) == said(parse_numbers(plain))


@given(st.text(st.sampled_from("0123456789.,-+~ usxBMGKi/%TOFLPk±≤and"), max_size=40))
def test_an_added_spelling_changes_nothing_else(text):
    if not any(spelling in text for spelling in ADDED.keys() - SPELLINGS):
        assert parse_numbers(text, units=ADDED) == parse_numbers(text)


def test_no_spelling_hides_a_unit():
    assert parse_numbers("5 us, 2 TB/s", units={"us": "ms", "TB": "GB"}) == parse_numbers("5 us, 2 TB/s")


def test_headings_and_typed_numbers_know_added_spellings():
    assert [unit_of_heading(name, ADDED) for name in ("result_usec", "Rate (MB/sec)", "usecs")] == [
        "usec",
        "MB/sec",
        "",
    ]
    number, problems = read_number({"text": "6 usec", "readable": True, "value": "6", "unit": "usec"}, ADDED)
    assert (number["unit"], problems) == ("us", [])
    assert [problem.field for problem in read_number({"text": "6", "unit": "usec"})[1]] == ["unit"]
    assert [problem.field for problem in read_number({"text": "6", "unit": ["us"]}, ADDED)[1]] == ["unit"]


@pytest.mark.parametrize(
    ("text", "spelling"),
    [(" usec ", "usec"), ("µsec", "usec"), ("MB/sec", "MB/sec"), ("microseconds", "microseconds"), ("sec", "sec"),
     ("pct", "pct"), ("Gbyte/s", "Gbyte/s"), ("times", "times")],
)  # fmt: skip
def test_what_may_be_a_spelling_of_a_unit(text, spelling):
    assert read_spelling(text) == (spelling, "")


@pytest.mark.parametrize(
    "text",
    ["", " ", "m", "%", "к", "µ", "10us", "1e3", "e5", "u s", "micro-sec", "MB/s/SM", "/s", "s/", "мкс", "a" * 31, "to",
     "And", "than", "CTA", "CTAs", "warps", "runs", "min", "GHz", "bits", "u\nsec", "x\0y"],
)  # fmt: skip
def test_what_may_be_no_spelling_of_a_unit(text):
    spelling, why = read_spelling(text)
    assert (spelling, why[:1] != "") == ("", True)
