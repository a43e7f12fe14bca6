"""The page and the REST of a sweep: values, first breaks, errors beside their field, links, whose draft."""

from html import unescape

import pytest
from django.urls import reverse

from kernels.models import SpecDraft
from kernels.services.specs import create_spec, open_draft, save_draft
from tests import factories as f
from tests.rules.spec_examples import ring_gemm_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def spec():
    """A ring of STAGES slots, claimed from 6 to 12, of which 9 is too much."""
    document = ring_gemm_spec()
    document["claims"] = [{"symbol": "STAGES", "low": "6", "high": "12", "text": "to 12"}]
    f.op()
    return f.saved_revision(document).spec


@pytest.fixture
def get(client, spec):
    client.force_login(f.designer().user)

    def get(query="", page="r1", status=200, **headers):
        response = client.get(f"/specs/{spec.code}/{page}/sweep/{query}", **headers)
        assert response.status_code == status
        return unescape(response.content.decode())

    return get


def test_first_breaks_and_values(get):
    page = get("?symbol=STAGES&low=8&high=12")
    first = page.split("First breaks")[1].split("</table>")[0]
    assert [first.find(text) > 0 for text in ("33 semaphores", "Page 13 has 11,264", "exceeds 224,256 B by 9,232")] == [
        True
    ] * 3
    table = page.split('id="sweep-table"')[1].split("</table>")[0]
    exact = [row.split('data-exact="')[1:3] for row in table.split("<tr>")[2:]]
    assert [(value.split('"')[0], size.split('"')[0]) for value, size in exact] == [
        ("8", "155664"), ("9", "175120"), ("10", "194576"), ("11", "214032"), ("12", "233488")
    ]  # fmt: skip
    assert "R01, R02, R03, R20" in table
    assert "W10: the free run ends on page 13" in table


def test_where_nothing_breaks(get):
    assert "Nothing breaks." in get("?symbol=STAGES&low=6&high=8")


def test_an_empty_page_offers_what_the_spec_claims(get):
    page = get()
    assert "?symbol=STAGES&low=6&high=12" in page
    assert "field-error" not in page


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("?symbol=STAGES&low=&high=8", "low", "given"),
        ("?symbol=STAGES&low=9&high=8", "high", "before it starts"),
        ("?symbol=STAGES&low=1&high=9999", "high", "can be swept"),
        ("?symbol=STAGES&low=1&high=X", "high", "has no value"),
        ("?symbol=NOPE&low=1&high=2", "symbol", "is not a symbol"),
        ("?low=1&high=2", "symbol", "is not a symbol"),
    ],
)
def test_errors_stand_beside_their_field(get, query, field, said):
    page = get(query)
    assert said in page.split(f'id="e-{field}"')[1].split("</p>")[0]
    assert page.split(f'id="f-{field}"')[1].split(">")[0].count('aria-invalid="true"') == 1
    assert "<table" not in page


def test_htmx_swaps_what_the_page_includes(get):
    query = "?symbol=STAGES&low=8&high=9"
    part = get(query, HTTP_HX_REQUEST="true")
    assert "<html" not in part
    assert part.strip() in get(query)


def test_the_draft_is_ones_own(get, client, spec):
    draft = open_draft(f.designer(), spec=spec)
    content = {**draft.content, "symbols": {**draft.content["symbols"], "STAGES": "6"}}
    save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    assert "Written is STAGES = 6." in get("?symbol=STAGES&low=6&high=7", "edit")
    client.force_login(f.reviewer().user)
    page = get("?symbol=STAGES&low=6&high=7", "edit")
    assert "Written is STAGES = 8." in page, "who has no draft sees the newest revision"
    assert SpecDraft.objects.count() == 1, "looking makes no draft"


def test_a_spec_without_revision_or_draft(client, spec):
    empty = create_spec(f.designer(), title="Not begun", ops=list(spec.ops.all()))
    client.force_login(f.reviewer().user)
    assert b"Nothing to sweep yet" in client.get(f"/specs/{empty.code}/edit/sweep/").content


def test_a_spec_without_symbols(client):
    content = f.spec_content(f.evidence_row())
    f.op()
    revision = f.saved_revision(content)
    client.force_login(f.designer().user)
    page = client.get(reverse("kernels:spec_sweep", args=[revision.spec.code, 1])).content.decode()
    assert "No symbol to sweep" in page


def test_it_is_linked_from_the_finding_the_section_and_the_editor(get, client, spec):
    page = unescape(client.get(spec.get_absolute_url()).content.decode())
    assert f"/specs/{spec.code}/r1/sweep/?symbol=STAGES&low=6&high=12" in page
    assert f'href="/specs/{spec.code}/r1/sweep/"' in page
    editor = unescape(client.get(f"/specs/{spec.code}/edit/overview/").content.decode())
    assert f"/specs/{spec.code}/edit/sweep/?symbol=STAGES&low=6&high=12" in editor
    assert f'href="/specs/{spec.code}/edit/sweep/"' in editor


def test_an_unknown_revision_is_not_found(get):
    get(page="r9", status=404)


@pytest.mark.parametrize(
    "query", ["?symbol=%F0%9F%98%80&low=1&high=2", "?symbol=STAGES&low=9**9**9&high=1/0", "?low=1"]
)
def test_whatever_is_asked_is_answered(get, query):
    assert "field-error" in get(query)
