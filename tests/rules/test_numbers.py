"""Numbers of free text: what is a value, what stays text, what is no number at all."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.canonical import canonical_json
from v2kb.rules.number_reading import parse_numbers, two_ways, unit_of_heading
from v2kb.rules.numbers import (
    DIRECTIONS,
    FIELDS,
    QUALIFIERS,
    UNITS,
    contains,
    format_number,
    interval,
    read_decimal,
    read_number,
)


def shown(number):
    """Return (text, value or (low, high), qualifier, unit) of a readable number, else its text."""
    if not number["readable"]:
        return number["text"]
    value = number["value"] if number["value"] is not None else (number["low"], number["high"])
    return (number["text"], value, number["qualifier"], number["unit"])


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("7 percent", [("7 percent", "7", "", "percent")]),
        ("killed, +67%, +17% regressions", [("+67%", "67", "", "percent"), ("+17%", "17", "", "percent")]),
        ("6.24µs = 2.50 TB/s", [("6.24µs", "6.24", "", "us"), ("2.50 TB/s", "2.50", "", "TB/s")]),
        ("−7..−9%", [("−7..−9%", ("-9", "-7"), "", "percent")]),
        ("≤6%", [("≤6%", "6", "<=", "percent")]),
        ("+0.058..+0.342ms", [("+0.058..+0.342ms", ("0.058", "0.342"), "", "ms")]),
        ("(±0.08 TB/s)", [("±0.08 TB/s", "0.08", "+-", "TB/s")]),
        ("ceiling 1.18×", [("1.18×", "1.18", "", "x")]),
        ("27µs (3.2× slower)", [("27µs", "27", "", "us"), ("3.2×", "3.2", "", "x")]),
        ("1.41-1.56× slower", [("1.41-1.56×", ("1.41", "1.56"), "", "x")]),
        ("2-8µs", [("2-8µs", ("2", "8"), "", "us")]),
        ("10-40µs", [("10-40µs", ("10", "40"), "", "us")]),
        ("10 – 40 us", [("10 – 40 us", ("10", "40"), "", "us")]),
        ("2 to 8 ms", [("2 to 8 ms", ("2", "8"), "", "ms")]),
        ("10us-40us", [("10us-40us", ("10", "40"), "", "us")]),
        ("≈ 4.1µs", [("≈ 4.1µs", "4.1", "~", "us")]),
        ("~+12%", [("~+12%", "12", "~", "percent")]),
        ("+11-17%", [("+11-17%", ("11", "17"), "", "percent")]),
        ("14.5µs", [("14.5µs", "14.5", "", "us")]),
        ("−36% @ KV=544", [("−36%", "-36", "", "percent")]),
        ("+0.69/+0.92ms", [("+0.69", "0.69", "", "ms"), ("+0.92ms", "0.92", "", "ms")]),
        ("6.24 ± 0.1 us", [("6.24 ± 0.1 us", "6.24", "+-", "us")]),
        ("≥5%", [("≥5%", "5", ">=", "percent")]),
        ("gain >5%", [(">5%", "5", ">=", "percent")]),
        ("2.50 TB/s < 3.5 TB/s", [("2.50 TB/s", "2.50", "", "TB/s"), ("3.5 TB/s", "3.5", "", "TB/s")]),
        ("1,234.5 us", [("1,234.5 us", "1234.5", "", "us")]),
        ("1e-3 s", [("1e-3 s", "0.001", "", "s")]),
        ("15.6MB, 2 KB, 64 B, 1 GiB", [
            ("15.6MB", "15.6", "", "MB"), ("2 KB", "2", "", "KB"), ("64 B", "64", "", "B"), ("1 GiB", "1", "", "GiB")]),
        ("4μs 4us", [("4μs", "4", "", "us"), ("4us", "4", "", "us")]),
        ("1.5x faster", [("1.5x", "1.5", "", "x")]),
        ("t=5us", [("5us", "5", "", "us")]),
        ("0,125 ms", [("0,125 ms", "0.125", "", "ms")]),
        ("−0,5%", [("−0,5%", "-0.5", "", "percent")]),
        ("1,234,567 us", [("1,234,567 us", "1234567", "", "us")]),
        ("16,384 B", [("16,384 B", "16384", "", "B")]),
        ("1'234 us", [("1'234 us", "1234", "", "us")]),
        ("1’234.5 us", [("1’234.5 us", "1234.5", "", "us")]),
        ("1\u202f234 us", [("1\u202f234 us", "1234", "", "us")]),
        ("between 3 and 4 ms", [("between 3 and 4 ms", ("3", "4"), "", "ms")]),
        ("Between 3 ms and 4 ms", [("Between 3 ms and 4 ms", ("3", "4"), "", "ms")]),
        ("between −7 and −9%", [("between −7 and −9%", ("-9", "-7"), "", "percent")]),
        ("5% up to 7%", [("5% up to 7%", ("5", "7"), "", "percent")]),
        ("5% and 3%", [("5%", "5", "", "percent"), ("3%", "3", "", "percent")]),
        ("52.2 and 14.2 us", [("52.2", "52.2", "", "us"), ("14.2 us", "14.2", "", "us")]),
        ("M=8 and 4 ms", [("4 ms", "4", "", "ms")]),
        ("D3 250 us", [("250 us", "250", "", "us")]),
        ("no more than 5%", [("no more than 5%", "5", "<=", "percent")]),
        ("isn't less than 5%", [("isn't less than 5%", "5", ">=", "percent")]),
        ("5% more than 3 us", [("5%", "5", "", "percent"), ("3 us", "3", "", "us")]),
        ("1.4× over 27 us", [("1.4×", "1.4", "", "x"), ("27 us", "27", "", "us")]),
        ("about ~8µs", [("~8µs", "8", "~", "us")]),
        ("up to **7%**", [("up to **7%", "7", "<=", "percent")]),
        ("**−4%**, 5&nbsp;us, `−4%`", [("−4%", "-4", "", "percent"), ("−4%", "-4", "", "percent")]),
        ("more than a 5% gain", [("more than a 5%", "5", ">=", "percent")]),
        ("within ±5%", [("±5%", "5", "+-", "percent")]),
        ("5% or more", [("5% or more", "5", ">=", "percent")]),
        ("1.18x at most", [("1.18x at most", "1.18", "<=", "x")]),
        ("10us or so", [("10us or so", "10", "~", "us")]),
        ("5%+", [("5%+", "5", ">=", "percent")]),
        ("5%+3%", [("5%", "5", "", "percent"), ("+3%", "3", "", "percent")]),
        ("≲5%, ⩾3%", [("≲5%", "5", "<=", "percent"), ("⩾3%", "3", ">=", "percent")]),
        ("6 us -> 5 us", [("6 us", "6", "", "us"), ("5 us", "5", "", "us")]),
    ],
)  # fmt: skip
def test_values_and_ranges(cell, expected):
    assert [shown(number) for number in parse_numbers(cell)] == expected


@pytest.mark.parametrize(
    "cell",
    [
        "D3", "W13", "7-warp", "f624d75a", "019f2fab", "62449212", "2026-07-03", "2026-06-20/27/28/29",
        "136 CTA", "BN=16",
        "STAGES 4→12", "M=1", "M≥16", "n ≥ 3", "17/136 CTA", "split-N 1→4", "256T/1-CTA/SM", "NS=48/56/62/72", "KV=544",
        "task_register.cc:3481-3494", "sm_100", "fp8", "16x128", "2 x 4", "136 × 4", "v4/v6", "R1", "§2.3", "H=7168",
        "3 x 4 widgets", "2^20", "1 234", "1-GiB", "8ms1", "", "no digits", "%", "±", "..", "1 %globaltimer",
    ],
)  # fmt: skip
def test_names_dates_and_counts_are_no_values(cell):
    assert parse_numbers(cell) == []


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("killed 3×", "3×"),
        ("4×-DEAD", "4×"),
        ("+5 widgets", "+5"),
        ("cos 0.999", "0.999"),
        ("1.2.3us", "1.2.3us"),
        ("1,23us", "1,23us"),
        ("−7-9%", "−7-9%"),
        ("9-3us", "9-3us"),
        ("1/2 ms", "1/2 ms"),
        ("~12", "~12"),
        ("1e99 us", "1e99 us"),
        ("8,125%", "8,125%"),
        ("−1,234 us", "−1,234 us"),
        ("1,234..2,345 us", "1,234..2,345 us"),
        ("1.234,5 us", "1.234,5 us"),
        ("1 234 us", "1 234 us"),
        ("12 345 678 B", "12 345 678 B"),
        ("2^20 B", "2^20 B"),
        ("2**20 B", "2**20 B"),
        ("10^-3 s", "10^-3 s"),
        ("3 × 4 ms", "3 × 4 ms"),
        ("1 + 4 us", "1 + 4 us"),
        ("3 and 4 ms", "3 and 4 ms"),
        ("between 3 ms", "between 3 ms"),
        ("between 900 us and 1.2 ms", "between 900 us and 1.2 ms"),
        ("between 3 / 4 ms", "between 3 / 4 ms"),
        ("- 4%", "- 4%"),
        ("gain: − 4%", "− 4%"),
        ("minus 4%", "minus 4%"),
        ("up to ~7%", "up to ~7%"),
        ("up to about 7%", "up to about 7%"),
        ("between about 3 and 4 ms", "between about 3 and 4 ms"),
        ("1⁄3 us", "1⁄3 us"),
        ("not about 5%", "not about 5%"),
        ("over 5%", "over 5%"),
        ("within 5%", "within 5%"),
        ("at least 5% or less", "at least 5% or less"),
        ("∓4%", "4%"),
        ("−**4%**", "4%"),
        ("~`4 us`", "4 us"),
        ("&minus;4%", "4%"),
        ("&lt;4%", "4%"),
        ("- **4%**", "- **4%"),
        ("³4 us", "4 us"),
        ("9" * 60 + "us", "9" * 60 + "us"),
    ],
)
def test_what_cannot_be_told_stays_text_and_is_marked(cell, text):
    (number,) = parse_numbers(cell)
    assert (number["text"], number["readable"], number["value"], number["low"]) == (text, False, None, None)
    assert format_number(number) == text


@pytest.mark.parametrize("sign", "-−‐‑‒–—―－﹘﹣⁻₋➖˗")
def test_a_minus_of_any_kind(sign):
    assert [shown(number) for number in parse_numbers(f"{sign}4%, ~{sign}0.5 us")] == [
        (f"{sign}4%", "-4", "", "percent"),
        (f"~{sign}0.5 us", "-0.5", "~", "us"),
    ]


QUALIFYING = {
    "<=": "up to|upto|at most|less than|lower than|below|under|as much as|no more than|never exceeding|≤|<|⩽|≲",
    ">=": "at least|more than|greater than or equal to|higher than|above|exceeds|as low as|not less than|≥|>|≳",
    "~": "about|around|approx|approx.|approximately|roughly|circa|ca.|nearly|almost|close to|~|≈|～",
}


@given(
    word=st.sampled_from([(word, mark) for mark, words in QUALIFYING.items() for word in words.split("|")]),
    before=st.sampled_from(["", "gain ", "(", "6.24 ms, "]),
    figure=st.sampled_from(["5%", "−5 %", "5.00 us", "0,5 ms", "3..4 ms", "3-4 ms", "1'000 us"]),
    upper=st.booleans(),
)
def test_words_and_signs_qualify(word, before, figure, upper):
    said, mark = word
    text = f"{said.capitalize() if upper else said} {figure}"
    number = parse_numbers(before + text)[-1]
    assert (number["text"], number["readable"], number["qualifier"]) == (text, True, mark)
    (plain,) = parse_numbers(figure)
    assert [number[name] for name in ("value", "low", "high")] == [plain[name] for name in ("value", "low", "high")]
    (again,) = parse_numbers(format_number(number))
    assert interval(again) == interval(number)
    assert again["qualifier"] == mark


@given(st.integers(0, 10**12), st.sampled_from(["%", " us", "x", " GB/s", " B"]), st.sampled_from(",' \u00a0\u202f"))
def test_a_figure_with_parts_is_read_as_it_is_or_not_at_all(figure, unit, by):
    text = f"{figure:,}".replace(",", by) + unit
    (number,) = parse_numbers(text)
    assert number["text"] == text
    if number["readable"]:
        assert number["value"] == str(figure)
    else:
        assert by == " " or (by == "," and 1000 <= figure < 10**6 and unit != " B")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("8,125%", " (8.125 or 8125)"),
        ("up to −1,234 us", " (-1.234 or -1234)"),
        ("3,5%", " (3.5 or 3 and 5)"),
        ("1 234 us", " (1 and 234 or 1234)"),
        ("1.2.3 us", ""),
        ("1,23,456 us", ""),
    ],
)
def test_an_unread_number_names_its_two_readings(text, told):
    assert two_ways(text) == told


@pytest.mark.parametrize(
    ("heading", "unit"),
    [("result_us", "us"), ("Time (µs)", "us"), ("us", "us"), ("Δ %", "%"), ("delta(%)", "%"), ("time_s", "s"),
     ("size [KiB]", "KiB"), ("bw GB/s", "GB/s"), ("speed_x", "x"), ("variant B", ""), ("results", ""), ("max", ""),
     ("us of v1", ""), ("", "")],
)  # fmt: skip
def test_the_unit_of_a_heading(heading, unit):
    assert unit_of_heading(heading) == unit


def test_what_is_better_and_what_it_is_compared_with():
    def first(cell):
        return parse_numbers(cell)[0]

    assert first("6.24µs")["direction"] == "lower"
    assert first("2.5 TB/s")["direction"] == "higher"
    assert first("3.2× slower")["direction"] == "lower"
    assert first("1.5x faster")["direction"] == "higher"
    assert first("−7%")["direction"] == first("1.18×")["direction"] == ""
    assert first("−7..−9% vs v1 (commit f624d75a)")["compared_with"] == "v1"
    assert first("1.41-1.56× slower than v1 mega, later")["compared_with"] == "v1 mega"
    assert first("8.26µs vs floor 7.65µs → gap")["compared_with"] == "floor 7.65µs"
    assert first("1.5× slower than v1: what is untested")["compared_with"] == "v1"
    assert first("1.5× slower than v1 — the rest")["compared_with"] == "v1"
    assert first("5% regress")["compared_with"] == ""


def test_role_and_backing_are_the_callers():
    (number,) = parse_numbers("5 us", role="bound", verified=True)
    assert (number["role"], number["verified"]) == ("bound", True)
    assert parse_numbers("5 us")[0]["verified"] is False
    assert tuple(number) == FIELDS


@pytest.mark.parametrize(
    ("cell", "written"),
    [("−7..−9%", "−9..−7%"), ("≤ 6 %", "≤6%"), ("6.24us", "6.24 µs"), ("1.18x", "1.18×"), ("±0.08 TB/s", "±0.08 TB/s"),
     ("6.24 ± 0.1 us", "6.24 ± 0.10 µs"), ("≈4.1µs", "~4.1 µs"), ("+67%", "+67%"), ("+11-17%", "+11..+17%"),
     ("+0.058..+0.342ms", "+0.058..+0.342 ms"), ("-1..2%", "−1..+2%"), ("~+12%", "~+12%"), ("+0%", "0%"),
     ("+2 ± 1 %", "+2 ± 1%"), ("1e+3 us", "1000 µs"), ("± 3%", "±3%"), ("8..9%", "8..9%")],
)  # fmt: skip
def test_writing(cell, written):
    assert format_number(parse_numbers(cell)[0]) == written


@given(st.text())
def test_any_text_gives_parts_of_itself(text):
    for number in parse_numbers(text):
        assert number["text"] in text
        assert number["text"]
        assert read_number(number)[1] == []
        canonical_json(number)
        format_number(number)


PIECES = st.sampled_from(
    ["6.24", "1", "-", "−", "..", "µs", "us", "%", "×", "x", " ", "≤", "<", "~", "±", "+", "/", "TB/s", "vs ", "=", "M",
     "to", "and", "about ", "between ", "^", "'", "1e5", ",", ".", "(", ")", "D3", "\n", "2026", "B", "killed "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_mixture_of_pieces_gives_parts_in_order(text):
    position = 0
    for number in parse_numbers(text):
        position = text.index(number["text"], position) + 1
        assert read_number(number)[1] == []


DECIMALS = st.decimals(min_value=-9999, max_value=9999, places=3, allow_nan=False).map(lambda value: format(value, "f"))


@given(value=DECIMALS, unit=st.sampled_from(UNITS), qualifier=st.sampled_from(QUALIFIERS))
def test_a_value_survives_writing_and_reading(value, unit, qualifier):
    number = parse_numbers("5 us")[0] | {"value": value, "unit": unit, "qualifier": qualifier}
    (again,) = parse_numbers(format_number(number))
    assert read_decimal(again["value"]) == read_decimal(value)
    assert (again["unit"], again["qualifier"]) == (unit, qualifier)


@given(ends=st.tuples(DECIMALS, DECIMALS), unit=st.sampled_from(UNITS))
def test_a_range_survives_writing_and_reading(ends, unit):
    low, high = sorted(ends, key=Decimal)
    number = parse_numbers("5 us")[0] | {"value": None, "low": low, "high": high, "unit": unit}
    (again,) = parse_numbers(format_number(number))
    assert (read_decimal(again["low"]), read_decimal(again["high"])) == (Decimal(low), Decimal(high))
    assert again["unit"] == unit


def test_a_number_whose_value_was_corrected_shows_the_new_one():
    (number,) = parse_numbers("+67%")
    assert format_number(number | {"value": "-5"}) == "−5%"
    assert format_number(number | {"text": "", "value": "67"}) == "67%"


def test_intervals_and_containment():
    def first(cell):
        return parse_numbers(cell)[0]

    assert interval(first("≤6%")) == (None, Decimal(6))
    assert interval(first("±0.08 TB/s")) == (Decimal(-80000), Decimal(80000))
    assert interval(first("1.2.3us")) is None
    assert contains(first("2-8µs"), first("0.003 ms"))
    assert contains(first("2-8µs"), first("3..4 us"))
    assert not contains(first("2-8µs"), first("1..4 us"))
    assert not contains(first("2-8µs"), first("5%"))
    assert contains(first("≤6%"), first("−3%"))
    assert not contains(first("≤6%"), first("≥5%"))
    assert contains(first("6.24µs"), first("6.240us"))
    assert not contains(first("6.24µs"), first("6.25us"))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"unit": "furlong"}, "unit"),
        ({"unit": ""}, "unit"),
        ({"value": "fast"}, "value"),
        ({"value": None}, "value"),
        ({"value": 5.5}, "value"),
        ({"value": "NaN"}, "value"),
        ({"low": "1"}, "high"),
        ({"low": "2", "high": "1"}, "low"),
        ({"qualifier": "about"}, "qualifier"),
        ({"direction": "up"}, "direction"),
        ({"role": "boss"}, "role"),
        ({"tier": "4"}, "tier"),
        ({"n": "many"}, "n"),
        ({"verified": "yes"}, "verified"),
        ({"speed": "5"}, "speed"),
        ({"text": 5}, "text"),
        ({"readable": False, "text": ""}, "text"),
    ],
)
def test_a_number_document_is_checked_by_field(change, field):
    number = parse_numbers("5 us")[0]
    assert read_number(number) == (number, [])
    assert field in {problem.field for problem in read_number(number | change)[1]}


def test_a_long_line_is_read_in_reasonable_time():
    assert len(parse_numbers("1 us, " * 3000)) == 3000
    for part in ("1 234 ", "1*", "1'234'", "1,", "about ", "- ", "not up to 3 and "):
        assert parse_numbers(part * (20_000 // len(part)) + "us") is not None
    assert parse_numbers("1." * 10_000 + "-" * 10_000) is not None
    assert set(DIRECTIONS) == {"", "lower", "higher"}
