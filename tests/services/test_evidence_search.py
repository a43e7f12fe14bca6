"""Searching rows: codes first, identifiers in any spelling, facets that count, a constant number of queries."""

import json

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from evidence.exports import export_map
from evidence.importers.load import load_map
from evidence.indexing import find_rows
from evidence.models import EvidenceRow
from evidence.registration import link_to_code, link_to_lever, turns
from evidence.search import Query, hits_of, search_rows
from evidence.services import accept_proposal, flag_row, propose_change
from kernels.selectors.verify import faults
from tests import factories as f
from tests.evidence.sample import MAP, changed, load_sample
from v2kb.core.markdown import render

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded(system):
    load_sample(system)


def hits(query: Query):
    found = search_rows(query)
    return hits_of(found, found.ids.tolist())


def codes(text: str = "", **chosen: str) -> list[str]:
    params = QueryDict(mutable=True)
    params["q"] = text
    for name, value in chosen.items():
        params.setlist(name, value.split(","))
    return [hit.code for hit in hits(Query.of_params(params))]


def test_without_words_all_rows_in_the_order_of_their_codes(loaded):
    assert codes() == ["D1", "D2", "D10", "U1", "W1", "W2"]


def test_an_exact_code_comes_first(loaded):
    assert codes("D1") == ["D1"]
    assert codes("W1")[0] == "W1"
    assert set(codes("W1")) == {"W1", "D1"}, "D1 mentions W1"
    assert codes("d10 u1")[:2] == ["D10", "U1"]
    found = hits(Query(text="W1"))
    assert [hit.why for hit in found] == ["the code", "identifier in the row"]


@pytest.mark.parametrize("text", ["split-k", "split_k", "splitK", "SPLIT K", "Split–K", "splitting K"])
def test_spellings_are_one_name(loaded, text):
    assert "D2" in codes(text)
    assert "D10" not in codes(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7-warp", ["W1"]),
        ("nwarps=7", ["W1"]),
        ("7w", ["W1"]),
        ("qkv_a", ["D2"]),
        ("6.24us", ["D2", "U1"]),
        ("6.24µs", ["D2", "U1"]),
        ("f624d75a", ["D10"]),
        ("ac3d9736", ["D2"]),
        ("loader", ["D1"]),
        ("load", ["D1"]),
        ("warp gemv", ["D1"]),
        ("gemv -warp", ["D2"]),
        ("D1..D2 -D2", ["D1"]),
        ("D1 -warp", []),
        ("7-warp -W1", []),
        ("W1..W300", ["W1"]),
        ("sm_100", ["D1", "D2"]),
        ("zebra giraffe", []),
        ("%", []),
        ("_", []),
        ("'; DROP TABLE", []),
        ("()[]{}", []),
    ],
)
def test_words(loaded, text, found):
    assert sorted(codes(text)) == sorted(found)


def test_a_lever_is_found_by_an_alias_added_later(loaded, make_actor):
    from evidence.services import add_alias

    add_alias(make_actor("cleo", "curator"), "warp-spec", "DMA warp")
    assert codes("dma-warp") == ["D1"]


def test_the_dimensions_of_a_scope_are_fields(loaded):
    one = f.evidence_row(scope={"m": "1", "batch": "1..8", "baseline": "fork f624d75a, of July"})
    many = f.evidence_row(scope={"m": "16..", "grid": "136"})
    any_m = f.evidence_row(scope={"arch": ["sm_100"]})
    three = {one.code, many.code, any_m.code}
    for text, found in (
        ("m:1", {one, any_m}), ("m:0..4", {one, any_m}), ("m:>=20", {many, any_m}), ("M:1,17", {one, many, any_m}),
        ("-m:1", {many, any_m}), ("batch:9", {many, any_m}), ("grid:136", {one, many, any_m}),
        ("grid:1", {one, any_m}), ("baseline:f624d75a", {one, many, any_m}), ("baseline:0badcafe", {many, any_m}),
    ):  # fmt: skip
        assert three & set(codes(text)) == {row.code for row in found}, text
    assert codes("op_class:gemv") == codes("op:gemv")


def test_facets_narrow_and_count_what_they_would_show(loaded):
    assert codes(verdict="DEAD") == ["D1", "D2", "D10"]
    assert codes(verdict="DEAD,WIN", arch="sm_100") == ["D1", "D2"]
    assert codes(cause="none", verdict="DEAD") == ["D10"]
    assert codes(cause="none") == codes("cause:none") == ["D10"], "other verdicts need no cause"
    assert codes(blocking="weak") == ["D2"]
    assert codes(envelope="fused_megakernel") == ["D1"]
    assert codes(verdict="NONSENSE") == []
    found = search_rows(Query(chosen={"verdict": ("DEAD",)}))
    counts = {option.value: option.count for option in found.facets["verdict"]}
    assert counts == {"DEAD": 3, "WIN": 2, "UNTESTED": 1}, "a facet does not narrow itself"
    assert {option.value: option.count for option in found.facets["blocking"]} == {"full": 2, "weak": 1, "none": 0}
    for name, options in found.facets.items():
        for option in options:
            chosen = {"verdict": ("DEAD",), name: (option.value,)}
            assert option.count == len(search_rows(Query(chosen=chosen))), (name, option)


def test_a_hash_finds_its_row(loaded):
    digest = EvidenceRow.objects.get(code="D2").head.content_hash
    assert codes(digest) == codes(digest[:12]) == ["D2"]
    assert codes("0" * 12) == []


def test_archived_rows_are_kept_apart(loaded, make_actor):
    from evidence.services import archive_row

    archive_row(make_actor("cleo", "curator"), "U1", reason="a twin")
    assert "U1" not in codes()
    assert codes("U1", archived="1") == ["U1"]


def test_the_number_of_queries_does_not_grow(loaded, system, django_assert_num_queries):
    search_rows(Query())
    with CaptureQueriesContext(connection) as few:
        hits(Query(text="gemv warp"))
    more = MAP
    for number in range(20, 60):
        more = more.replace("| D10 |", f"| D{number} | Lever {number} gemv warp | DEAD | m | 2026-01-01 `x` |\n| D10 |")
    load_sample(system, more)
    assert len(search_rows(Query(text="gemv warp"))) == 41
    with django_assert_num_queries(8):
        assert len(hits(Query(text="gemv warp"))) == 41
    assert len(few) >= 8, "with few hits, guesses are tried too"
    with django_assert_num_queries(2):
        search_rows(Query())


def test_odd_parameters():
    params = QueryDict("q=" + "x" * 500 + "&verdict=&verdict=DEAD&colour=red&archived=yes")
    query = Query.of_params(params)
    assert (len(query.text), query.chosen, query.archived) == (500, {"verdict": ("DEAD",)}, False)


# --- hooks --------------------------------------------------------------------------------------------------------


def test_the_top_bars_search(loaded):
    found = find_rows("loader warp", 5)
    assert [(hit["title"], hit["kind"], hit["url"]) for hit in found] == [
        ("D1 Loader warp", "evidence row", "/evidence/rows/D1/")
    ]
    assert find_rows("", 5) == []
    assert len(find_rows("D1 D2 W1 W2 U1", 2)) == 2


def test_links_in_markdown(loaded):
    assert '<a href="/evidence/rows/D1/"' in render("see [[D1]]")
    assert 'href="/evidence/levers/split-k/"' in render("see [[lever:splitK]]")
    assert "<a" not in render("see [[D99]] and [[nothing]] and W1")
    assert link_to_code("d1") == ("/evidence/rows/D1/", "D1")
    assert link_to_code("D1 D2") is None
    assert link_to_lever("nothing") is None


def test_turns_are_for_curators_who_may_decide(make_actor, make_user):
    row = f.evidence_row()
    ines, cleo = make_actor("ines", "designer"), make_actor("cleo", "curator")
    proposal = propose_change(
        ines, row, base_hash=row.head.content_hash, content=changed(row.head.content, bound="less"), reason="x"
    )
    flag_row(ines, row.code, reason="x")
    assert [turn["url"] for turn in turns(cleo.user)] == [f"/evidence/proposals/{proposal.pk}/"]
    assert turns(ines.user) == []
    assert turns(make_user("vita", "viewer")) == []


def test_the_words_of_a_table_cell_are_found_where_a_typing_file_says_it_otherwise(system, make_actor):
    typing = {"rows": {"U1": {"title": "Copies by a compute warp", "bound": "At most 1.18×."}}}
    load_map(system, name="probe-map.md", data=MAP.encode(), typing=json.dumps(typing).encode())
    row = EvidenceRow.objects.get(code="U1")
    assert (row.head.title, row.head.content["bound"]) == ("Copies by a compute warp", "At most 1.18×.")
    for text in ('"TMA from a MAC warp"', '"upside bounded by"', "predict", "copies"):
        assert codes(text) == ["U1"], text
    assert export_map("probe-map") == MAP, "the cells come back to the letter"
    assert list(faults()) == []
    edited = changed(row.head.content, title="Copies by one warp")
    proposal = propose_change(
        make_actor("ines", "designer"), row, base_hash=row.head.content_hash, content=edited, reason="clearer"
    )
    accept_proposal(make_actor("cleo", "curator"), proposal.pk)
    assert codes('"TMA from a MAC warp"') == ["U1"], "an edit keeps the words that people know from the map"
    assert list(faults()) == []


def test_a_second_map_about_a_row_adds_its_words(system):
    load_sample(system)
    assert codes("zebra") == []
    again = MAP.replace("STAGES 4→12", "STAGES 4→12 of a zebra")
    typing = {"rows": {"D10": {"title": "STAGES 4→12"}}}
    load_map(system, name="other-map.md", data=again.encode(), typing=json.dumps(typing).encode())
    assert EvidenceRow.objects.get(code="D10").head.number == 1
    assert codes("zebra") == ["D10"]
    assert list(faults()) == []
