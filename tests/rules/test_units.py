import math
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from v2kb.rules.units import (
    UnitMismatch,
    conversion_factor,
    decimal_text,
    finite,
    format_percent,
    format_quantity,
    format_time,
    log_to_percent,
)

UNHURRIED = settings(deadline=None)

ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.7e-6, "s", "4.700 us"),
        (24, "ns", "24.00 ns"),
        (999.94, "ns", "999.9 ns"),
        (999.96, "ns", "1.000 us"),
        (999_999.6, "us", "1.000 s"),
        (1_234_567, "ns", "1.235 ms"),
        (59.99996, "s", "60.00 s"),
        (12345.678, "s", "12346 s"),
        (-1500, "us", "-1.500 ms"),
        (0.0032, "ns", "0.003200 ns"),
        (0, "s", "0 ns"),
        (1e308, "s", "1.000e+308 s"),
        (1e308, "ms", "1.000e+305 s"),
        (5e-324, "ns", "4.941e-333 s"),
        ("4.7", "us", "4.700 us"),
        (Decimal("4.7"), "us", "4.700 us"),
        (None, "us", "n/a"),
        (math.nan, "us", "n/a"),
        (math.inf, "us", "n/a"),
        (10**400, "ns", "n/a"),
        ("soon", "us", "n/a"),
        (True, "us", "n/a"),
    ],
)
def test_time_has_a_scale_and_four_digits(value, unit, text):
    assert format_time(value, unit) == text


def test_time_in_an_unknown_unit_is_refused():
    with pytest.raises(UnitMismatch, match="MB cannot be converted to ns"):
        format_time(1, "MB")


@UNHURRIED
@given(ANY_FLOAT, st.sampled_from(["ns", "us", "ms", "s"]))
def test_a_time_is_never_shown_as_zero_or_not_a_number(value, unit):
    text = format_time(value, unit)
    assert "nan" not in text
    assert "inf" not in text
    if value and math.isfinite(value):
        digits = re.sub(r"e.*|[^0-9]", "", text.split(" ")[0]).lstrip("0")
        assert len(digits) >= 4


@UNHURRIED
@given(st.floats(min_value=1e-6, max_value=1e5), st.sampled_from(["ns", "us", "ms"]))
def test_a_time_reads_the_same_in_any_unit(seconds, unit):
    assert format_time(seconds, "s").split()[1] == format_time(seconds / conversion_factor(unit, "s"), unit).split()[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.824, "5.8%"),
        (0.034, "0.034%"),
        (0.252, "0.25%"),
        (12.345, "12.3%"),
        (0, "0%"),
        (1e-7, "<0.001%"),
        (-1e-7, ">-0.001%"),
        (-5.824, "-5.8%"),
        (1e9, ">1,000,000%"),
        (-1e9, "<-1,000,000%"),
        (None, "n/a"),
        (math.nan, "n/a"),
    ],
)
def test_percent(value, text):
    assert format_percent(value) == text


def test_signed_percent():
    assert format_percent(5.8, signed=True) == "+5.8%"
    assert format_percent(-5.8, signed=True) == "-5.8%"


@UNHURRIED
@given(ANY_FLOAT)
def test_a_percentage_that_is_not_zero_never_looks_like_zero(value):
    text = format_percent(value)
    assert "nan" not in text
    assert "inf" not in text
    if value != 0:
        assert not re.fullmatch(r"[+-]?0(\.0+)?%", text)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.5, "TB/s", "2.500 TB/s"),
        (0, "bytes", "0 bytes"),
        (None, "TB/s", "n/a"),
        (4.7, "us", "4.700 us"),
        (1e20, "B", "1.000e+20 B"),
        (123456.0, "B", "123456 B"),
        (3.25, "", "3.250"),
    ],
)
def test_quantity(value, unit, text):
    assert format_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (100, "100"),
        (-0.0, "0"),
        (1234567.8, "1234567.8"),
        (-5.8238e-7, "-0.00000058238"),
        (1e308, "1.00000000e+308"),
        (None, None),
        (math.nan, None),
        (math.inf, None),
    ],
)
def test_decimal_text(value, text):
    assert decimal_text(value) == text


@UNHURRIED
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_decimal_text_keeps_nine_digits(value):
    assert float(decimal_text(value)) == pytest.approx(value, rel=1e-8, abs=1e-300)


def test_log_to_percent_never_overflows():
    assert log_to_percent(math.log(1.05)) == pytest.approx(5)
    assert log_to_percent(1e6) is None
    assert log_to_percent(-1e6) == -100
    assert log_to_percent(None) is None
    assert log_to_percent(math.nan) is None


def test_conversion_names_both_units():
    assert conversion_factor("ms", "us") == 1000
    assert conversion_factor("tokens/s", "tokens/s") == 1
    with pytest.raises(UnitMismatch, match="tokens/s cannot be converted to us"):
        conversion_factor("tokens/s", "us")


def test_finite_refuses_what_is_no_number():
    assert finite("1e3") == 1000
    assert [finite(value) for value in (None, True, "x", math.nan, "1e999", 10**400)] == [None] * 6
