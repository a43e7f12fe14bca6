"""The bounded evaluator: agrees with Python where Python has a value, and refuses the rest with a place and a
fix.
"""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.steps import at_most
from v2kb.rules.arithmetic import MAX_BITS, MAX_DEPTH, MAX_LENGTH
from v2kb.rules.expressions import (
    MAX_SYMBOLS,
    ExpressionError,
    SymbolTable,
    evaluate,
    evaluate_whole,
    names_in,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8*(1024/128)", 64),
        ("16,384", 16384),
        ("1,048,576 + 1", 1048577),
        ("16_384", 16384),
        ("8×1024", 8192),
        ("8·1024", 8192),
        ("10 − 3", 7),
        ("7168 ÷ 128", 56),
        ("ceil(24,592/16,384)", 2),
        ("floor(-7/2)", -4),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("min(16,384)", 16),
        ("max((16,384), 2)", 16384),
        ("min(3, 2, 1)", 1),
        ("0**0", 1),
        ("1/3 + 1/6", Fraction(1, 2)),
        (" 2\u00a0+\u20093 ", 5),
        (24592, 24592),
        ("(1/3)*3", 1),
    ],
)
def test_values(text, value):
    assert evaluate(text) == value


def test_symbols_refer_to_symbols_in_any_order():
    table = SymbolTable(
        {"BSF": "STAGES*SLICE + 16", "SLICE": "3*1024", "STAGES": 8, "PAGES": "ceil(BSF/PAGE)"},
        {"PAGE": 16384},
    )
    assert table.problems == {}
    assert (table.values["BSF"], table.values["PAGES"]) == (24592, 2)
    assert evaluate("STAGES*PAGE + BSF", table) == 155_664


def test_local_name_wins_over_a_symbol():
    assert evaluate("ceil(size/PAGE)", {"size": "1", "PAGE": "16384"}, local={"size": 24592}) == 2


def test_cycle_names_its_members_and_dependents_say_why():
    table = SymbolTable({"A": "B+1", "B": "C", "C": "A*2", "D": "A", "E": "5"})
    assert set(table.problems) == {"A", "B", "C", "D"}
    assert "A -> B -> C -> A" in table.problems["B"].message
    assert "A -> B -> C -> A" in table.problems["D"].message
    assert table.values == {"E": 5}
    assert "itself: S -> S" in SymbolTable({"S": "S"}).problems["S"].message


@pytest.mark.parametrize("name", ["ceil", "PAGE", "7up", "a.b", "", "x" * 65, "é"])
def test_names_that_cannot_be_symbols(name):
    assert name in SymbolTable({name: "1"}, {"PAGE": 16384}).problems


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("2*", 2, "ends"),
        ("2 3", 2, "operator is missing"),
        ("1)", 1, "closing parenthesis"),
        ("((1)", 0, "not closed"),
        ("a.b", 1, "not read here"),
        ("1.5", 1, "Decimals"),
        ("16KB", 2, "follows a number"),
        ("0x10", 1, "follows a number"),
        ("2^3", 1, "not read here"),
        ("__import__('os')", 11, "not read here"),
        ("open(1)", 0, "not a function"),
        ("lambda: 1", 6, "not read here"),
        ("STAGES*2", 0, "not a known symbol"),
        ("4 / (2-2)", 2, "Division by zero"),
        ("4 % 0", 2, "Division by zero"),
        ("2**-1", 1, "exponent"),
        ("2**(1/2)", 1, "exponent"),
        ("9**9**9", 1, "exponent"),
        ("(2**200)**2", 8, "bits"),
        ("2**200 * 2**200", 7, "bits"),
        ("1,0244", 2, "starts with a zero"),
        ("12,34", 2, "comma"),
        ("min(1,024)", 6, "starts with a zero"),
        ("max(3)", 0, "at least two"),
        ("ceil(1;2)", 6, "not read here"),
        ("ceil", 0, "is a function"),
        ("1 == 1", 2, "not read here"),
        ("٣+1", 0, "not read here"),
        ("1" * (MAX_LENGTH + 1), MAX_LENGTH, "characters"),
        ("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), MAX_DEPTH + 1, "levels deep"),
        ("-" * 300 + "1", MAX_DEPTH + 1, "levels deep"),
    ],
)
def test_refusals_have_a_place_and_a_fix(text, position, said):
    with pytest.raises(ExpressionError) as caught:
        evaluate(text)
    error = caught.value
    assert said in error.message
    assert error.position == position
    assert error.fix
    shown, mark = error.caret.split("\n")
    assert mark.index("^") <= len(shown)
    if 0 < position < 30:
        assert shown[mark.index("^") : mark.index("^") + 1] == text[position : position + 1]


@pytest.mark.parametrize("value", [True, None, 1.5, [], b"1", 10**500])
def test_other_types_are_refused_with_the_same_error(value):
    with pytest.raises(ExpressionError):
        evaluate(value)


def test_whole_values_only():
    assert evaluate_whole("7168/128") == 56
    with pytest.raises(ExpressionError, match=r"500/64|125/16") as caught:
        evaluate_whole("1000/128")
    assert "ceil" in caught.value.fix


def test_too_many_symbols():
    with pytest.raises(ExpressionError, match="symbols"):
        SymbolTable({f"S{i}": "1" for i in range(MAX_SYMBOLS + 1)})


def test_names_in_lists_symbols_without_functions():
    assert names_in("ceil(size/PAGE) + size") == ["size", "PAGE", "size"]


def outcome(text, symbols=None):
    try:
        return evaluate(text, symbols)
    except ExpressionError as error:
        return error


LEAVES = st.integers(0, 20000).map(lambda n: (str(n), f"F({n})"))


def _grow(children):
    def joined(parts):
        left, operator, right, spaced = parts
        gap = " " if spaced else ""
        return tuple(f"({a}{gap}{operator}{gap}{b})" for a, b in zip(left, right, strict=True))

    binary = st.tuples(children, st.sampled_from(["+", "-", "*", "/", "//", "%"]), children, st.booleans()).map(joined)
    flat = st.tuples(children, st.sampled_from(["+", "-", "*"]), children).map(
        lambda p: tuple(f"{a} {p[1]} {b}" for a, b in zip(p[0], p[2], strict=True))
    )
    unary = children.map(lambda c: tuple(f"-{t}" for t in c))
    power = st.tuples(children, st.integers(0, 4)).map(lambda p: tuple(f"{t}**{p[1]}" for t in p[0]))
    one = st.tuples(st.sampled_from(["ceil", "floor"]), children).map(lambda p: tuple(f"{p[0]}({t})" for t in p[1]))
    two = st.tuples(st.sampled_from(["min", "max"]), children, children).map(
        lambda p: tuple(f"{p[0]}({a}, {b})" for a, b in zip(p[1], p[2], strict=True))
    )
    return st.one_of(binary, flat, unary, power, one, two)


EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=12)


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS)
def test_agrees_with_python(pair):
    text, source = pair
    ours = outcome(text)
    scope = {
        "F": Fraction,
        "ceil": lambda v: Fraction(math.ceil(v)),
        "floor": lambda v: Fraction(math.floor(v)),
    }
    scope |= {"min": min, "max": max, "__builtins__": {}}
    if isinstance(ours, Fraction):
        assert ours == eval(source, scope)
    elif "Division by zero" in ours.message:
        with pytest.raises(ZeroDivisionError):
            eval(source, scope)
    else:
        assert any(limit in ours.message for limit in ("bits", "levels deep", "characters", "exponent"))


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789+-*/%() ,.AB_cmx×·ceilminax\t\u2212'\"[]", max_size=MAX_LENGTH + 20))
def test_any_text_ends_soon_in_a_value_or_a_refusal(text):
    with at_most(100_000):
        result = outcome(text, {"A": "3", "B": "A*A"})
    if isinstance(result, Fraction):
        assert max(result.numerator.bit_length(), result.denominator.bit_length()) <= MAX_BITS
    else:
        assert 0 <= result.position <= len(text)
        assert result.caret.endswith("^")


@pytest.mark.parametrize("text", ["9**" * 130 + "9", "-" * 400, "(" * 400, "*".join(["9**80"] * 60), "1/" * 199 + "1"])
def test_hostile_text_is_little_work(text):
    with at_most(100_000):
        outcome(text)


def test_a_full_table_of_long_chained_symbols_is_bounded_work():
    names = [f"S{i}" for i in range(MAX_SYMBOLS)]
    chain = {name: "+".join(names[i + 1 : i + 80]) or "1" for i, name in enumerate(names)}
    circle = {name: "+".join(names[:80]) for name in names}
    with at_most(3_000_000):
        SymbolTable(chain)
        assert len(SymbolTable(circle).problems) == MAX_SYMBOLS
