"""How well an entry fits: titles, repetition, length, spellings of one word counted together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.search_expression import any_of, expression_of
from v2kb.rules.search_query import parse_query
from v2kb.rules.search_rank import ranking
from v2kb.rules.search_words import document_words


def score(query: str, title: str, text: str) -> float:
    (named, named_whole), (body, body_whole) = document_words(title), document_words(text)
    return ranking(expression_of(parse_query(query).wanted))(named, body, f"{named_whole} {body_whole}".strip())


FILLER = "stages of kernels wait for pages " * 3


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("ring", ("ring of slots", FILLER), ("slots", f"{FILLER} ring")),
        ("ring", ("slots", f"{FILLER} ring and ring and ring"), ("slots", f"{FILLER} ring of")),
        ("ring", ("slots", f"ring {FILLER}"), ("slots", f"ring {FILLER * 4}")),
        ("cp.async", ("slots", f"{FILLER} cp.async"), ("slots", f"{FILLER} cp async")),
        ("ring async", ("slots", f"{FILLER} ring async"), ("slots", f"{FILLER} ring ring ring")),
        ("9%", ("slots", f"{FILLER} -9%"), ("slots", f"{FILLER} 9 of them")),
        ('"ring of slots"', ("slots", f"{FILLER} ring of slots"), ("slots", f"{FILLER} slots of ring")),
    ],
)
def test_what_fits_better(query, better, worse):
    assert score(query, *better) > score(query, *worse) >= 0


def test_a_stem_finds_its_forms_and_a_whole_word_only_itself():
    assert score("kernels", "", "one kernel") > 0
    assert score("ring", "", "string") == 0


def test_some_of_several_words_add_up():
    words = any_of(parse_query("ring slots").wanted)
    entries = ["ring", "slots", "ring slots"]
    one, other, both = (ranking(words)("", text, "") for text in entries)
    assert both > max(one, other) > 0


@given(st.text(alphabet="ab c.=_-9%", max_size=60), st.text(alphabet="ab c.=_-9%", max_size=12))
def test_a_score_is_finite_and_never_negative(text, query):
    wanted = expression_of(parse_query(query.replace("-", "")).wanted)
    title, whole = document_words(text)
    if wanted is not None:
        assert 0 <= ranking(wanted)(title, title, whole) < 100
