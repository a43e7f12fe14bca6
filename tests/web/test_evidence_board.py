"""The board of evidence and step 0 of a spec as pages: facets, errors with a caret, saved searches, decisions."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from evidence.models import SavedSearch
from evidence.views import board
from evidence.views.board import FACET_SIZE
from kernels.models import Spec
from tests import factories as f
from tests.evidence.sample import load_sample

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def designer() -> Client:
    client = Client()
    client.force_login(f.designer().user)
    return client


@pytest.fixture
def sample(system):
    load_sample(system)


def text_of(response) -> str:
    return response.content.decode()


# --- the board ----------------------------------------------------------------------------------------------------


def test_a_query_that_can_not_be_read_shows_its_place_and_is_swapped(sample, designer):
    for headers in ({}, HTMX):
        response = designer.get("/evidence/", {"q": "warp foo:bar"}, headers=headers)
        assert response.status_code == 422, "htmx swaps this status and no other error"
        page = text_of(response)
        assert '<pre class="caret">warp foo:bar\n     ^</pre>' in page
        assert "There is no field &#x27;foo&#x27;." in page
        assert 'aria-invalid="true"' in page


def test_how_words_were_read_is_said(sample, designer):
    assert "Left out, as every text holds them: the." in text_of(designer.get("/evidence/", {"q": "the loader"}))
    guessed = text_of(designer.get("/evidence/", {"q": "laoder verdict:dead"}))
    assert "laoder read as loader, a guess." in guessed
    assert 'href="?q=%22laoder%22+verdict%3Adead">Search for “laoder” as typed' in guessed
    assert "read as" not in text_of(designer.get("/evidence/", {"q": '"laoder"'}))
    assert "read as" not in text_of(designer.get("/evidence/", {"q": "multicta"})), (
        "two edits of a short word are too many"
    )


def test_a_comparison_is_read_as_a_field_and_the_page_says_so(sample, designer):
    shown = text_of(designer.get("/evidence/", {"q": "M >= 16"}))
    assert "M &gt;= 16 read as m:&gt;=16; in quotation marks it is words." in shown
    assert "read as m" not in text_of(designer.get("/evidence/", {"q": "m:>=16"}))


def test_long_facets_fold_and_what_is_in_use_stays_in_sight(designer):
    for number in range(FACET_SIZE + 4):
        f.evidence_row(lever=f"lever-{number:02}", title=f"Row {number}")
    page = text_of(designer.get("/evidence/"))
    assert f"Show all {FACET_SIZE + 4}" in page
    last = f'value="lever-{FACET_SIZE + 3:02}"'
    assert page.index("Show all") < page.index(last)
    picked = text_of(designer.get("/evidence/", {"lever": f"lever-{FACET_SIZE + 3:02}"}))
    assert picked.index(last) < picked.index("Show all")


def test_a_facet_with_very_many_values_says_how_to_name_the_others(designer, monkeypatch):
    monkeypatch.setattr(board, "FACET_MOST", FACET_SIZE + 2)
    for number in range(FACET_SIZE + 4):
        f.evidence_row(lever=f"lever-{number:02}", title=f"Row {number}")
    page = text_of(designer.get("/evidence/"))
    assert f"Show more of {FACET_SIZE + 4}" in page
    assert "2 more: type <code>lever:</code>" in page
    assert f'value="lever-{FACET_SIZE + 1:02}"' in page
    assert f'value="lever-{FACET_SIZE + 2:02}"' not in page


def test_titles_are_links_and_one_is_one(sample, designer):
    page = text_of(designer.get("/evidence/", {"q": "U1", "view": "table", "verdict": "UNTESTED"}))
    assert '<a href="/evidence/rows/U1/">' in page
    assert "1 row<" in page


def test_each_filter_in_use_can_be_taken_out(sample, designer):
    page = text_of(designer.get("/evidence/", {"q": "warp", "verdict": "DEAD", "archived": "1"}))
    assert re.search(r'href="\?verdict=DEAD&amp;archived=1">[^?]*Search: warp', page)
    assert re.search(r'href="\?q=warp&amp;archived=1">[^?]*Verdict: DEAD', page)
    assert re.search(r'href="\?q=warp&amp;verdict=DEAD">[^?]*Archived rows', page)


def test_cards_say_how_their_scope_relates_to_mine_and_why_they_block(designer):
    f.evidence_row(f.DEAD)
    op = f.op(scope={"arch": ["sm_90"]})
    assert "disjoint" not in text_of(designer.get("/evidence/"))
    page = text_of(designer.get("/evidence/", {"for": op.slug}))
    assert "Its scope and yours are disjoint" in page
    assert "does not block" in page
    page = text_of(designer.get("/evidence/", {"arch": "cpu", "m": "1"}))
    assert "cause: regressed in scope; its scope overlaps yours" in page
    assert "Scopes are compared with M 1, cpu." in page


def test_cards_count_the_specs_that_rest_on_a_row(designer):
    row = f.evidence_row()
    f.op()
    f.saved_revision(f.spec_content(row))
    assert "1 spec rests on it" in text_of(designer.get("/evidence/"))
    f.saved_revision(f.spec_content(row))
    assert "2 specs rest on it" in text_of(designer.get("/evidence/", {"view": "table"}))


def test_nothing_found_names_words_near_levers_and_opens_a_row(sample, designer):
    page = text_of(designer.get("/evidence/", {"q": "the split-kk"}))
    assert "<code>split-kk</code>" in page
    assert 'href="/evidence/levers/split-k/">Split-K</a>' in page
    link = re.search(r'href="(/evidence/rows/new/[^"]*)"[^>]*>Propose an UNTESTED row', page)[1].replace("&amp;", "&")
    assert link == "/evidence/rows/new/?title=split-kk&lever=split-k"
    form = text_of(designer.get(link))
    assert 'value="split-kk"' in form
    assert '<option value="split-k" selected>' in form


# --- saved searches -----------------------------------------------------------------------------------------------


def test_a_search_is_saved_told_of_on_home_and_marked_as_seen(designer):
    f.evidence_row(f.DEAD)
    page = text_of(designer.get("/evidence/", {"q": "norm", "page": "1"}))
    assert '<input type="hidden" name="query" value="q=norm">' in page
    response = designer.post("/evidence/searches/save/", {"name": "Norms", "query": "q=norm"}, follow=True)
    saved = SavedSearch.objects.get()
    assert response.redirect_chain[0][0] == f"/evidence/?q=norm&saved={saved.pk}"
    assert "Nothing new since you looked" in text_of(response)
    assert "Saved as Norms. The home page" in text_of(response)
    again = designer.post("/evidence/searches/save/", {"name": "Norms ", "query": "q=norm"}, follow=True)
    assert "Saved as Norms in place of the search that had this name." in text_of(again)
    assert "nothing new" in text_of(designer.get("/"))
    row = f.evidence_row(f.DEAD, title="Another norm")
    home = text_of(designer.get("/"))
    assert "1 new or changed row in Norms:" in home
    assert f'href="{row.get_absolute_url()}"' in home
    assert "1 new" in text_of(designer.get("/evidence/"))
    after = designer.post(f"/evidence/searches/{saved.pk}/seen/", follow=True)
    assert "Nothing new since you looked" in text_of(after)
    designer.post(f"/evidence/searches/{saved.pk}/delete/")
    assert not SavedSearch.objects.exists()


def test_a_search_that_can_not_be_saved_says_why(designer):
    response = designer.post("/evidence/searches/save/", {"name": "x", "query": "q=foo%3Abar"}, follow=True)
    assert "Not saved. There is no field" in text_of(response)
    assert designer.post("/evidence/searches/77/seen/").status_code == 404
    assert designer.post("/evidence/searches/99999999999999999999999/delete/").status_code == 404


# --- step 0 of a spec ---------------------------------------------------------------------------------------------


@pytest.fixture
def known(db):
    """A DEAD row and an op whose scope it meets."""
    return f.evidence_row(f.DEAD), f.op()


def test_step_0_asks_before_anything_was_searched(known, designer):
    page = text_of(designer.get("/specs/search/"))
    assert "Search before you design" in page
    assert "Begin the spec" not in page


def test_no_address_hides_a_dead_row_in_step_0(known, designer):
    row, _ = known
    for query in (
        "q=norm&verdict=WIN",
        "q=norm+-verdict:dead",
        "q=norm+is:flagged&state=flagged",
        "lever=fused-row-norm",
    ):
        assert f'id="decide-{row.code}"' in text_of(designer.get(f"/specs/search/?{query}"))


def test_a_row_that_blocks_must_be_decided_on_and_nothing_typed_is_lost(known, designer):
    row, op = known
    data = {"q": "norm", "lever": "fused row norm", "op": op.slug, "title": "My norm", "ops": op.slug}
    response = designer.post("/specs/search/", data)
    assert response.status_code == 422
    page = text_of(response)
    assert f'<a href="#decide-{row.code}">{row.code} blocks you, and you have not decided.</a>' in page
    assert 'value="My norm"' in page
    assert not Spec.objects.exists()
    data |= {f"d-{row.code}": "not_relevant", f"why-{row.code}": ""}
    page = text_of(designer.post("/specs/search/", data))
    assert "needs a reason" in page
    assert f'name="d-{row.code}" value="not_relevant" checked' in page
    data |= {f"why-{row.code}": "another envelope", f"seen-{row.code}": row.head.content_hash}
    response = designer.post("/specs/search/", data)
    spec = Spec.objects.get()
    assert response["Location"] == f"/specs/{spec.code}/edit/choices/"
    assert spec.receipts.get().content["rows"][0]["reason"] == "another envelope"
    shown = text_of(designer.get(spec.get_absolute_url()))
    assert "1 row found, 1 decided" in shown
    assert "No blocking row has appeared since." in shown


def test_step_0_says_which_filter_it_can_not_read_and_leaves_it_out(known, designer):
    asked = {"q": "norm", "op": "nothing", "family": "Z", "verdict": ["dead"], "tier": ["9"]}
    shown = text_of(designer.get("/specs/search/", asked))
    assert "This filter can't be read, so it narrows nothing." in shown
    for said in ("Op: “nothing” is none of", "Family: “Z” is none of A, B, C, D, E.", "Verdict: “dead” is none of DEAD",
                 "Tier of its numbers: “9” is none of 1, 2, 3, none."):  # fmt: skip
        assert said in shown, said
    plain = text_of(designer.get("/specs/search/", {"q": "norm"}))
    assert re.findall(r'id="decide-\w+"', shown) == re.findall(r'id="decide-\w+"', plain) != []
    assert "This filter can't be read" not in plain


def test_step_0_says_how_a_comparison_is_read(known, designer):
    assert "M&gt;=1 read as m:&gt;=1." in text_of(designer.get("/specs/search/", {"q": "norm M>=1"}))


def test_the_spec_page_says_which_blocking_rows_are_new_and_how_to_search_again(known, designer):
    row, op = known
    data = {"lever": "fused-row-norm", "op": op.slug, "title": "My norm", "ops": op.slug, f"d-{row.code}": "cite"}
    designer.post("/specs/search/", data)
    spec = Spec.objects.get()
    newer = f.evidence_row(f.DEAD, title="Fused row norm, third attempt")
    page = text_of(designer.get(spec.get_absolute_url()))
    assert f"New blocking row since: {newer.code}. Search again and decide." in page
    again = re.search(r'href="(/specs/search/\?spec=[^"]*)">Repeat this search', page)[1].replace("&amp;", "&")
    form = text_of(designer.get(again))
    assert f"Store the search with {spec.code}" in form
    kept = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form.partition('id="decide"')[2]))
    sent = kept | {f"d-{row.code}": "cite", f"d-{newer.code}": "contradicts"}
    assert designer.post("/specs/search/", sent).status_code == 302
    assert "No blocking row has appeared since." in text_of(designer.get(spec.get_absolute_url()))


def test_a_further_search_offers_to_go_into_the_draft(known, designer):
    row, op = known
    spec = f.saved_revision(f.spec_content(f.evidence_row(title="Something open"))).spec
    asked = {"lever": "fused-row-norm", "op": op.slug, "spec": spec.code}
    assert 'name="into_draft"' in text_of(designer.get("/specs/search/", asked))
    decided = asked | {f"d-{row.code}": "contradicts"}
    open_cards = dict.fromkeys(re.findall(r'name="(d-\w+)"', text_of(designer.get("/specs/search/", asked))), "cite")
    response = designer.post("/specs/search/", open_cards | decided)
    assert response["Location"] == spec.get_absolute_url()
    assert not spec.drafts.exists()
    response = designer.post("/specs/search/", open_cards | decided | {"into_draft": "on"}, follow=True)
    assert response.redirect_chain[-1][0] == f"/specs/{spec.code}/edit/choices/"
    assert "Your draft got it in C1" in text_of(response)
    cited = spec.drafts.get().content["choices"][0]["citations"]
    assert (row.code, "contradicts") in [(citation["code"], citation["stance"]) for citation in cited]


def test_a_stored_search_is_brought_into_the_draft(known, designer, make_user):
    row, op = known
    spec = f.saved_revision(f.spec_content(f.evidence_row(title="Something open"))).spec
    asked = {"lever": "fused-row-norm", "op": op.slug, "spec": spec.code}
    cards = dict.fromkeys(re.findall(r'name="(d-\w+)"', text_of(designer.get("/specs/search/", asked))), "not_relevant")
    reasons = {name.replace("d-", "why-"): "another op" for name in cards}
    assert designer.post("/specs/search/", asked | cards | reasons).status_code == 302
    assert "Bring into my draft" not in text_of(designer.get(spec.get_absolute_url()))
    designer.post("/specs/search/", asked | cards | reasons | {f"d-{row.code}": "contradicts"})
    page = text_of(designer.get(spec.get_absolute_url()))
    address = re.search(r'action="(/specs/S\d+/searches/\d+/bring/)"', page)[1]
    assert not spec.drafts.exists()
    for said in ("Your draft got it in C1.", "Your draft has all of it already."):
        response = designer.post(address, follow=True)
        assert response.redirect_chain[-1][0] == f"/specs/{spec.code}/edit/choices/"
        assert said in text_of(response)
    cited = spec.drafts.get().content["choices"][0]["citations"]
    assert (row.code, "contradicts") in [(citation["code"], citation["stance"]) for citation in cited]
    assert designer.post(address.replace("/bring/", "9/bring/")).status_code == 404
    Spec.objects.update(archived_at=timezone.now())
    assert designer.post(address).status_code == 409
    assert "/bring/" not in text_of(designer.get(spec.get_absolute_url()))
    viewer = Client()
    viewer.force_login(make_user("vera"))
    assert "/bring/" not in text_of(viewer.get(spec.get_absolute_url()))
    assert viewer.post(address).status_code == 403


def test_a_search_that_a_receipt_can_not_hold_says_how_many_rows_are_left_out(known, designer, monkeypatch):
    f.evidence_row(f.DEAD, title="Fused row norm, second attempt")
    monkeypatch.setattr("evidence.search.board.MAX_ROWS", 1)
    page = text_of(designer.get("/specs/search/", {"lever": "fused-row-norm"}))
    assert "1 more row left out here, so it can't be stored." in page.replace("&#x27;", "'")


def test_decisions_travel_with_the_search(known, designer):
    row, _ = known
    page = text_of(
        designer.get("/specs/search/", {"q": "norm", f"d-{row.code}": "repropose", f"why-{row.code}": "one <pass>"})
    )
    assert f'name="d-{row.code}" value="repropose" checked' in page
    assert "one &lt;pass&gt;</textarea>" in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"lever": "no such thing"}, "There is no lever no such thing."),
        ({"lever": "fused row nrom"}, "lever=fused-row-norm"),
        ({"q": "foo:bar"}, '<pre class="caret">foo:bar\n^</pre>'),
        ({"q": "norm", "m": "many"}, "is not a range of whole numbers"),
    ],
)
def test_what_can_not_be_searched_for_says_what_to_do(known, designer, query, words):
    response = designer.get("/specs/search/", query)
    assert response.status_code == 422
    assert words in text_of(response)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("arch:sm_999", "No row has <code>arch:sm_999</code>. Rows have <code>cpu</code>"),
        ("-arch:sm_999 zebra", "Looked for <code>zebra</code>."),
        ("lever:nowhere", "No row has <code>lever:nowhere</code>.</p>"),
        ("lever:fused-row-nrom zebra", 'Levers with a name like it: <a href="/evidence/levers/fused-row-norm/">'),
        ("%", "There is no word in it to look for."),
    ],
)
def test_a_search_without_rows_says_which_part_of_it_no_row_has(known, designer, query, words):
    page = text_of(designer.get("/evidence/", {"q": query}))
    assert "Nothing is known with this search" in page
    assert words in page
    assert ("No row has" in page) == (":" in query and query[0] != "-")


def test_nothing_known_is_a_finding_too(known, designer):
    _, op = known
    page = text_of(designer.get("/specs/search/", {"q": "zebra"}))
    assert "Nothing is known of this" in page
    assert "/evidence/rows/new/?title=zebra" in page
    designer.post("/specs/search/", {"q": "zebra", "title": "Zebra", "ops": op.slug})
    assert Spec.objects.get().receipts.get().content["rows"] == []


@pytest.mark.parametrize("bad", ["\x00", "😀" * 300, "'; --", "a" * 5000])
def test_odd_input_is_no_error_of_the_server(known, designer, bad):
    for data in ({"q": bad}, {"lever": bad}, {"op": bad}, {"arch": bad}, {"spec": bad}, {"q": "norm", "d-D1": bad}):
        assert designer.get("/specs/search/", data).status_code < 500
        assert designer.post("/specs/search/", {**data, "title": "x"}).status_code < 500
    assert designer.get("/evidence/", {"for": bad, "m": bad, "saved": bad}).status_code < 500


def test_a_guess_that_finds_nothing_is_not_shown(known, designer):
    assert "nrom read as norm" in text_of(designer.get("/evidence/", {"q": "nrom"}))
    page = text_of(designer.get("/evidence/", {"q": "nrom verdict:win"}))
    assert "Nothing is known with this search" in page
    assert "read as" not in page
