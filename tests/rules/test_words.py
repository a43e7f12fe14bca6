"""Counts in words."""

import pytest

from v2kb.rules.words import counted


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (2, ("row",), "2 rows"),
        (1, ("family", "families"), "1 family"),
        (5, ("family", "families"), "5 families"),
        (2000, ("file",), "2,000 files"),
    ],
)
def test_a_count_and_its_noun_agree(count, words, text):
    assert counted(count, *words) == text
