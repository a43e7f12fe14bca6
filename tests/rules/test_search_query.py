"""The query language: what it reads, and where it points when it can't."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.search_query import MAX_PARTS, Filter, QueryError, parse_query, split_query, taken_as_typed


def day(year: int, month: int, number: int) -> int:
    return datetime.date(year, month, number).toordinal()


def test_words_phrases_and_negation():
    query = parse_query('cp.async "ring of stages" -gemv -"two pass"')
    assert [(text.text, text.phrase, text.negated) for text in query.texts] == [
        ("cp.async", False, False),
        ("ring of stages", True, False),
        ("gemv", False, True),
        ("two pass", True, True),
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("verdict:dead", Filter("verdict", ("dead",))),
        ("VERDICT:Dead,WIN", Filter("verdict", ("dead", "win"))),
        ('lever:"warp-spec producer"', Filter("lever", ("warp-spec producer",))),
        ("-tier:3", Filter("tier", ("3",), negated=True)),
        ("delta:>5%", Filter("delta", low=5, open_low=True)),
        ("delta:>=5", Filter("delta", low=5)),
        ("delta:<−3%", Filter("delta", high=-3, open_high=True)),
        ("delta:-9..-7%", Filter("delta", low=-9, high=-7)),
        ("measured:2026-06", Filter("measured", low=day(2026, 6, 1), high=day(2026, 6, 30))),
        ("measured:2026", Filter("measured", low=day(2026, 1, 1), high=day(2026, 12, 31))),
        ("measured:>2026-02", Filter("measured", low=day(2026, 2, 28), open_low=True)),
        ("measured:2026-01..2026-03-05", Filter("measured", low=day(2026, 1, 1), high=day(2026, 3, 5))),
        ("is:flagged", Filter("is", ("flagged",))),
    ],
)
def test_fields(text, wanted):
    assert parse_query(text).filters == (wanted,)


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("ring colour:red", 5, "no field 'colour'"),
        ('ring "open', 5, "quotation mark"),
        ("verdict:", 8, "no value"),
        ("delta:much", 6, "can't be read"),
        ("delta:9..7", 6, "ends before"),
        ("delta:>1..2", 6, "can't be read"),
        ("measured:2026-13", 9, "can't be read"),
        ("measured:0000", 9, "can't be read"),
        ("is:lovely", 3, "not known"),
        ("verdict:lost", 8, "not known"),
        ("cp.async verdict:dead,(", 17, "not known"),
        ("blocking:maybe", 9, "not known"),
        ("x" * 501, 500, "500 characters"),
        ("a " * (MAX_PARTS + 1), 2 * MAX_PARTS, "24 parts"),
    ],
)
def test_errors_point_at_their_place(text, at, says):
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert (caught.value.at, says in caught.value.message) == (at, True), caught.value.message
    assert caught.value.fix


def test_codes_sentences_and_colons():
    assert parse_query("the row D3").codes == (("D3",),)
    assert parse_query("d3, W-1;W1 W13/W2").codes == (("D3",), ("W1",), ("W13", "W2")), "weights are no rows"
    assert [text.text for text in parse_query("the row D3").texts] == ["D3"]
    query = parse_query("why is the ring dead")
    assert [text.text for text in query.texts] == ["ring", "dead"]
    assert query.dropped == ("why", "is", "the")
    assert [text.text for text in parse_query("to be or not").texts] == ["to", "be", "or", "not"]
    assert parse_query("cute::copy").texts[0].words[0].atoms == ("cute", "copy")
    assert [text.text for text in parse_query("−9% ring").texts] == ["-9%", "ring"], "a signed number is no negation"


def test_nothing_to_look_for():
    assert not parse_query("  ").is_unreadable
    assert parse_query("%").is_unreadable
    assert parse_query('""').is_unreadable


def place_of_error(text: str) -> int | None:
    """Where a query can't be read; None when it can."""
    try:
        parse_query(text)
    except QueryError as error:
        return error.at
    return None


@given(st.text(max_size=520))
def test_any_text_is_read_or_refused_with_a_place(text):
    at = place_of_error(text)
    assert at is None or 0 <= at <= len(text)


@pytest.mark.parametrize(
    ("text", "spans"), [("m:1", ((1, 1),)), ("batch:>=16", ((16, None),)), ("grid:1,4..8", ((1, 1), (4, 8)))]
)
def test_ranges_of_the_scope(text, spans):
    assert parse_query(text).filters[0].spans == spans


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ("M>=16", "m:>=16"),
        ("M ≥ 16", "m:>=16"),
        ("split-K at M <16, fp8", "m:<16"),
        ("batch<=8.", "batch:<=8"),
        ("grid > 64", "grid:>64"),
        ("Delta > 5%", "delta:>5%"),
        ("delta<-20%", "delta:<-20%"),
        ("measured>=2026-06", "measured:>=2026-06"),
        ("-M>16", "-m:>16"),
    ],
)
def test_a_comparison_of_a_field_needs_no_colon_and_says_how_it_is_read(typed, field):
    query = parse_query(typed)
    assert query.filters == parse_query(field).filters
    assert [meant for _, meant in query.readings] == [field]
    assert all(seen in typed for seen, _ in query.readings)
    assert parse_query(field).readings == ()
    held, left_out = split_query(typed)
    assert (parse_query(held).filters, parse_query(left_out).filters) == ((), query.filters)


@pytest.mark.parametrize(
    "text",
    ["STAGES>=4", "16<=M", "1<=M<=8", "1 <= M <= 8", "1 <=  M <= 8", "M>=16k", "M>=16-32", "xM>=16", "M=16", '"M>=16"'],
)
def test_other_comparisons_are_words(text):
    query = parse_query(text)
    assert (query.filters, query.readings) == ((), ())
    assert query.texts


def test_what_has_no_scope_is_searched_for_the_words_of_a_comparison():
    query = parse_query("M>=16 ring m:1", of_rows=False)
    assert [text.text for text in query.texts] == ["M", "≥16", "ring"]
    assert [wanted.name for wanted in query.filters] == ["m"]


def test_a_comparison_that_cannot_be_read_is_shown_in_its_place():
    with pytest.raises(QueryError, match="can't be read") as refused:
        parse_query("ring measured>=2026-13")
    assert refused.value.at == 5


@pytest.mark.parametrize("text", ["W1..W3", "W1-W3", "w1–w3", "W-1 … W-3", "W1 to W3", "(W1...W3)", "W01..W03"])
def test_a_range_of_codes_is_each_of_them(text):
    assert parse_query(text).codes == (("W1",), ("W2",), ("W3",))


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("W3..W1", (("W3", "W1"),)),
        ("D1..W3", (("D1", "W3"),)),
        ("W1-3", (("W1",),)),
        ("xyzW1..W3", (("W3",),)),
    ],
)
def test_what_is_no_range_of_codes(text, codes):
    assert parse_query(text).codes == codes


def test_a_long_range_of_codes_is_its_two_ends_each_where_it_exists():
    assert len(parse_query("W1..W100").codes) == 100
    assert parse_query("W1..W101").codes == (("W1",), ("W101",))


@pytest.mark.parametrize("text", ["m:x", "m:any", "batch:8..1", "grid:-1"])
def test_what_is_no_range_is_shown_in_its_place(text):
    with pytest.raises(QueryError, match="no range of whole numbers") as refused:
        parse_query(text)
    assert refused.value.at == text.index(":") + 1


def test_a_word_is_taken_as_typed_in_quotation_marks():
    assert taken_as_typed("multicast of a ring, multicast2", "multicast") == '"multicast" of a ring, multicast2'
