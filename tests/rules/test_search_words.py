"""Words as search sees them: every spelling of a query finds every spelling in a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.index_model import holds
from v2kb.rules.search_expression import expression_of
from v2kb.rules.search_query import Text
from v2kb.rules.search_words import document_words, is_hash, stem, words


def finds(query: str, text: str) -> bool:
    """Whether each word of the query stands in the text."""
    atoms, wholes = (part.split() for part in document_words(text))
    wanted = expression_of([Text((word,)) for word in words(query)])
    return wanted is None or holds(wanted, ([], atoms, wholes))


SPELLINGS = [
    ["cp.async", "cp_async", "CP.ASYNC", "cp-async"],
    ["qkv_a", "qkv-a", "QKV_A"],
    ["W13/W2", "w13/w2"],
    ["M=1", "M = 1", "m=1"],
    ["7-warp", "nwarps=7", "7w", "7 warps", "num_warps=7"],
    ["STAGES 4→12", "stages 4 -> 12", "stages 4->12", "STAGES 4 → 12", "stages 4 to 12"],
    ["6.24µs", "6.24us", "6.24 µs", "6.24 us"],
    ["−9%", "-9%", "–9 %"],
    ["+67%", "+67 %"],
    ["splitK", "split_k", "split-k", "split‑k"],
    ["numWarps", "num_warps"],
    ["2.50 TB/s", "2.50TB/s", "2.5 TB/s", "2.500TB/s"],
    ["6.0us", "6 µs", "6.00 µs"],
    ["+5%", "+5.0%", "+5.00 %"],
    ["1.50x", "1.5×", "1.500x"],
    ["look-ahead", "lookahead", "look ahead", "lookAhead", "look_ahead", "LookAhead"],
    ["warp-specialized", "warpspecialised", "warp specialized"],
    ["STAGES>=4", "STAGES ≥ 4", "stages >= 4", "4 <= STAGES", "4≤stages"],
    ["SPLIT_K>1", "split-k > 1", "1 < splitK"],
    ["< -5%", "<−5 %"],
    ["warp-specialised", "warp specialized"],
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda group: group[0])
def test_every_spelling_finds_every_other(spellings):
    for query in spellings:
        for written in spellings:
            assert finds(query, f"what {written} costs"), (query, written)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cpasync", "bound by cp.async issue"),
        ("w2", "grouped GEMM W13/W2"),
        ("f624d75", "commit f624d75a)"),
        ("9%", "gain of −9%"),
        ("-9%", "−7..−9% vs v1"),
        ("-7%", "−7..−9% vs v1"),
        ("+11%", "REGRESS by +11-17%"),
        ("+17%", "REGRESS by +11-17%"),
        ("stages", "one stage more"),
        ("prefetching", "no prefetch"),
        ("§1.1", "see § 1.1 there"),
        ("tcgen05", "tcgen05.mma"),
        ("2.5", "reads 2.50 TB/s"),
        ("2.50", "reads 2.50 TB/s"),
        ("2.0", "2.0-2.50 TB/s"),
        ("2 TB/s", "at most 2.0 TB/s"),
        ("6%", "flat (≤6%)"),
        ("-3%", "delta < −3%"),
        ("128", "Tile<128, 64> of it"),
        ("lookaheads", "one look ahead"),
        ("look-ahead", "two lookaheads"),
        ("lookahead", "two look-aheads"),
    ],
)
def test_a_query_finds(query, text):
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("-9%", "+9% slower"),
        ("+9%", "−9%"),
        ("9%", "19%"),
        ("-17%", "REGRESS by +11-17%"),
        ("7-warp", "17-warp"),
        ("M=1", "M=16"),
        ("W2", "W13"),
        ("cp.async", "async cp"),
        ("us", "use"),
        ("4→12", "412"),
        ("STAGES>=4", "STAGES=4"),
        ("STAGES≥4", "STAGES=4"),
        ("4<=STAGES", "STAGES=4"),
        ("STAGES>=4", "STAGES>4"),
        ("STAGES>=4", "STAGES<=4"),
        ("STAGES=4", "STAGES>=4"),
        (">5%", "gain of 5%"),
        ("> -5%", "gain > 5%"),
        ("§1.1", "see §1.10"),
        ("torch 2.1", "torch 2.10"),
        ("2.5 TB/s", "2.05 TB/s"),
        ("20 TB/s", "2.0 TB/s"),
        ("invalid", "in valid ranges"),
        ("lookahead", "look far ahead"),
    ],
)
def test_a_query_does_not_find(query, text):
    assert not finds(query, text)


def test_what_an_index_stores():
    assert document_words("W13/W2 −9%") == ("w13 w2 9", "w13w2 pct9 pctm9")
    assert document_words("M≥16 at 2.50 TB/s") == ("m ge 16 at 2 5 tb s", "ge16 2_5 tbs 2_50")
    assert document_words(" — ,; ") == ("", "")
    assert [stem(word) for word in ("stages", "fused", "norms", "loss", "us")] == [
        "stag",
        "fused",
        "norm",
        "loss",
        "us",
    ]
    assert is_hash("f624d75a")
    assert not is_hash("tcgen05")


@given(st.text())
def test_atoms_are_safe_to_quote(text):
    for part in document_words(text):
        assert all(token and token.replace("_", "").isalnum() for token in part.split()), part


@given(st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True), min_size=2, max_size=4))
def test_separators_and_capitals_never_matter(parts):
    spellings = ["-".join(parts), "_".join(parts), parts[0] + "".join(part.title() for part in parts[1:])]
    for query in spellings:
        assert all(finds(query, f"x {text} y") for text in spellings)


@given(st.text(alphabet="<>=≤≥ -+.0129%Mx", max_size=40))
def test_no_sign_keeps_a_text_from_being_read(text):
    atoms, wholes = document_words(text)
    assert all(token.replace("_", "").isalnum() for token in (*atoms.split(), *wholes.split()))
    assert finds(text, text)


@pytest.mark.parametrize(
    "text", ["0" * 100_000 + ".", "1." + "0" * 100_000, "1<" * 50_000, "<1,1" * 30_000, "≤" * 50_000]
)
def test_long_runs_are_read(text):
    document_words(text)
