"""One key for every spelling; exact codes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.names import ROW_CODE, exact_codes, exact_hashes, fold, lever_key, lever_slug


@pytest.mark.parametrize(
    "spellings",
    [
        ["split-k", "split_k", "splitK", "Split K", "split‑k", "split−k"],
        ["7-warp", "7 warps", "7w", "7W", "nwarps=7", "nwarps 7", "num_warps=7", "NW=7", "nw7", "7warp"],
        ["warp-spec producer", "Warp-Spec Producer", "warp_spec_producer", " warp–spec  producer "],
        ["cp.async", "cp_async", "CP.ASYNC"],
        ["warp-specialised producer", "warp specialized producer"],
        ["4µs", "4μs", "4us"],
        ["TMA de-fuse", "tma defuse"],
    ],
)
def test_spellings_share_a_key(spellings):
    assert len({lever_key(name) for name in spellings}) == 1
    assert lever_key(spellings[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7-warp", "17-warp"),
        ("1-2", "12"),
        ("4→12", "412"),
        ("split-k", "split-n"),
        ("warp 4", "4-warp"),
        ("W13", "W1 3"),
    ],
)
def test_different_names_keep_different_keys(one, other):
    assert lever_key(one) != lever_key(other)


def test_exact_codes_come_out_of_a_query():
    assert exact_codes("d3 and W-1, then U02 or (D3)") == ["D3", "W1", "U2"]
    assert exact_codes("D3") == ["D3"]
    assert exact_codes("sm_100 tcgen05 f624d75a cp.async nwarps=7 splitK 136") == []
    assert exact_hashes("commit F624D75A, 62449212 deadbeef d3") == ["f624d75a", "62449212"]


def test_slugs():
    assert lever_slug("Decoupled producer / TMA de-fuse") == "decoupled-producer-tma-de-fuse"
    assert lever_slug("7×7 µ") == "7x7-u"
    assert lever_slug("漢字") == ""
    assert len(lever_slug("a " * 200)) <= 80


@given(st.text())
def test_arbitrary_text(text):
    fold(text)
    exact_codes(text)
    assert lever_key(lever_key(text)) == lever_key(text) or not text.isascii()
    assert lever_slug(text) == lever_slug(lever_slug(text))


@given(st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True), min_size=2, max_size=4))
def test_separators_and_capitals_never_matter(words):
    spellings = ["-".join(words), "_".join(words), " ".join(words), words[0] + "".join(w.title() for w in words[1:])]
    assert len({lever_key(name) for name in spellings}) == 1


@pytest.mark.parametrize("code", ["D3", "W1", "U999999", "SS1", "GAP12"])
def test_codes_that_a_row_can_have(code):
    assert ROW_CODE.fullmatch(code)


@pytest.mark.parametrize("code", ["S10", "S1", "D0", "D03", "d3", "D", "ABCD1", "D1234567", "D１", "Ⅾ3", "D3\n", ""])
def test_codes_that_no_row_can_have(code):
    """S1, S2, ... are specs."""
    assert not ROW_CODE.fullmatch(code)
