"""Ordinals of rows with slots, as formulas whose values are the running sum."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.expressions import SymbolTable, evaluate_whole
from v2kb.rules.ordinals import running_ordinals

SYMBOLS = SymbolTable({"STAGES": "8", "ACC": "2"}, {})


@pytest.mark.parametrize(
    ("slots", "ordinals"),
    [
        ([], []),
        (["1", "1", "8", "1"], ["0", "1", "2", "10"]),
        (["STAGES", "STAGES", "STAGES", "ACC", "ACC", "1", "1"],
         ["0", "STAGES", "2*STAGES", "3*STAGES", "3*STAGES + ACC", "3*STAGES + 2*ACC", "3*STAGES + 2*ACC + 1"]),
        (["ACC + 1", "ACC + 1", "1"], ["0", "(ACC + 1)", "2*(ACC + 1)"]),
    ],
)  # fmt: skip
def test_worked_tables(slots, ordinals):
    assert running_ordinals(slots) == ordinals


@given(st.lists(st.sampled_from(["1", "2", " 3 ", "STAGES", "ACC", "STAGES*2", "ACC + 1"]), max_size=20))
def test_each_ordinal_is_the_sum_of_the_slots_before_it(slots):
    values = [evaluate_whole(text, SYMBOLS) for text in slots]
    found = [evaluate_whole(text, SYMBOLS) for text in running_ordinals(slots)]
    assert found == [sum(values[:number]) for number in range(len(values))]
