"""Pages of evidence: who sees and does what, flags, lineage, levers, the admin, query counts."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evidence.models import EvidenceRow, Flag, Lever, Supersession
from evidence.services import accept_proposal, flag_row, propose_change
from tests import factories as f
from tests.evidence.sample import MAP, changed, load_sample
from v2kb.core.actor import Actor
from v2kb.core.models import User
from v2kb.core.registry import PANELS, add_panel

pytestmark = pytest.mark.django_db

READ_PAGES = [
    "/evidence/",
    "/evidence/?q=warp&verdict=DEAD&arch=sm_100",
    "/evidence/?view=table",
    "/evidence/?view=table&page=999",
    "/evidence/?archived=1",
    "/evidence/?q=%F0%9F%98%80%27%25",
    "/evidence/rows/D1/",
    "/evidence/rows/D10/",
    "/evidence/rows/U1/",
    "/evidence/rows/D1/revisions/1/",
    "/evidence/proposals/",
    "/evidence/proposals/?state=accepted",
    "/evidence/proposals/?state=nonsense",
    "/evidence/levers/",
    "/evidence/levers/?q=splitK",
    "/evidence/levers/?archived=1",
    "/evidence/levers/warp-spec/",
]


@pytest.fixture
def loaded(system):
    load_sample(system)


def row(code: str) -> EvidenceRow:
    return EvidenceRow.objects.select_related("head").get(code=code)


def actor_of(client: Client) -> Actor:
    return Actor.of_user(User.objects.get(pk=client.session["_auth_user_id"]), "page")


# --- reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("/evidence/experiments/?since=banana", "From day: “banana” is no day"),
        ("/evidence/experiments/?until=2026-13-01", "To day: “2026-13-01” is no day"),
        ("/evidence/experiments/?verdict=WIN&verdict=FOO", "Verdict: “FOO” is none of WIN"),
        ("/evidence/proposals/?state=nonsense", "State: “nonsense” is none of"),
        ("/evidence/proposals/?kind=foo", "Kind: “foo” is none of"),
        ("/evidence/?verdict=dead&verdict=WIN", "Verdict: “dead” is none of DEAD, WIN, UNTESTED."),
        ("/evidence/?cause=foo", "Cause class: “foo” is none of mechanism_refuted"),
        ("/evidence/?blocking=maybe&view=table", "Blocks: “maybe” is none of full, weak, none."),
        ("/evidence/?tier=9", "Tier of its numbers: “9” is none of 1, 2, 3, none."),
        ("/evidence/?state=lost", "Standing: “lost” is none of contested"),
        ("/evidence/?for=nothing", "Op: “nothing” is none of"),
        ("/evidence/?m=many", "M &#x27;many&#x27; is not a range of whole numbers."),
        ("/evidence/?archived=yes", "Archived rows: “yes” is none of 1."),
        ("/evidence/?view=map", "View: “map” is none of board, table."),
        ("/evidence/levers/?archived=yes", "Which levers: “yes” is none of 1."),
    ],
)
def test_a_filter_that_can_not_be_read_is_told_of(viewer, url, said):
    shown = viewer.get(url).content.decode()
    assert "This filter can't be read" in shown
    assert said in shown
    assert "This filter can't be read" not in viewer.get(url.split("?")[0]).content.decode()


@pytest.mark.parametrize("url", READ_PAGES)
def test_every_page_needs_a_sign_in_and_no_role(loaded, client, viewer, url):
    assert client.get(url).status_code == 302
    response = viewer.get(url)
    assert response.status_code == 200
    assert "style=" not in response.content.decode()


@pytest.mark.parametrize(
    "url",
    [
        "/evidence/rows/D99/",
        "/evidence/rows/nothing/",
        "/evidence/rows/D1/revisions/2/",
        "/evidence/rows/D1/revisions/99999999999999999999/",
        "/evidence/rows/D1/revisions/1/?against=x",
        "/evidence/rows/D1/revisions/1/?against=77",
        "/evidence/proposals/424242/",
        "/evidence/proposals/99999999999999999999999/",
        "/evidence/levers/none/",
    ],
)
def test_what_is_not_there(loaded, viewer, url):
    assert viewer.get(url).status_code == 404


def test_the_board_has_three_lanes_and_the_filters_count(loaded, viewer):
    page = viewer.get("/evidence/").content.decode()
    for lane in ("dead", "win", "untested"):
        assert f'id="lane-{lane}"' in page
    assert re.search(r'value="DEAD">\s*<span>DEAD</span><span class="count">3</span>', page)
    assert page.count('class="lane-card"') == 6


def _without_token(page: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", page)


def test_a_swap_and_a_page_are_the_same_markup(loaded, viewer):
    url = "/evidence/?q=warp"
    whole = _without_token(viewer.get(url).content.decode())
    part = _without_token(viewer.get(url, headers={"HX-Request": "true"}).content.decode())
    assert part.strip().startswith('<div class="with-filters" id="evidence-list">')
    assert "<html" not in part
    assert part.strip() in whole


def test_nothing_found_says_what_was_looked_for_and_what_to_do(loaded, designer):
    page = designer.get("/evidence/?q=splitN").content.decode()
    assert "<code>splitN</code>" in page
    assert "/evidence/rows/new/?title=splitN" in page


def test_an_empty_installation_says_how_to_begin(viewer, curator):
    assert "A curator can import a map" in viewer.get("/evidence/").content.decode()
    assert 'href="/evidence/imports/new/"' in curator.get("/evidence/").content.decode()


def test_a_row_shows_what_blocks_and_what_is_missing(loaded, viewer):
    page = viewer.get("/evidence/rows/D10/").content.decode()
    assert "No cause class is given, so it counts in full" in page
    for field in ("cause_class", "scope", "not_checked"):
        assert f"<code>{field}</code>" in page
    assert "≤6%" in page
    page = viewer.get("/evidence/rows/D1/").content.decode()
    assert "not read" in page
    assert "3×" in page
    assert "fused_megakernel" in page


def test_a_code_in_small_letters_leads_to_the_row(loaded, viewer):
    assert viewer.get("/evidence/rows/d1/").url == "/evidence/rows/D1/"


def test_scripts_in_the_text_stay_text(system, viewer):
    evil = "<script>alert(1)</script>"
    load_sample(system, MAP.replace("Takes a MAC slot", evil).replace("Loader warp in", evil), typed=False)
    for url in ("/evidence/", "/evidence/?view=table", "/evidence/rows/D1/", "/evidence/rows/D1/revisions/1/"):
        assert evil not in viewer.get(url).content.decode()
        assert "&lt;script&gt;" in viewer.get(url).content.decode()


def test_panels_of_higher_apps_are_shown(loaded, viewer):
    before = list(PANELS.get("evidence.evidencerow", []))
    add_panel(
        "evidence.evidencerow",
        lambda request, obj: {
            "title": f"Specs on {obj.code}",
            "template": "components/empty.html",
            "context": {},
        },
    )
    try:
        assert "Specs on D1" in viewer.get("/evidence/rows/D1/").content.decode()
    finally:
        PANELS["evidence.evidencerow"] = before


@pytest.mark.parametrize("url", ["/evidence/", "/evidence/?view=table", "/evidence/?q=warp", "/evidence/levers/"])
def test_query_counts_do_not_grow_with_rows(loaded, system, curator, url):
    curator.get(url)
    with CaptureQueriesContext(
        connection,
    ) as few:
        curator.get(url)
    text = MAP
    for number in range(20, 60):
        text = text.replace("| D10 |", f"| D{number} | Warp lever {number} | DEAD | m | 2026-01-01 `x` |\n| D10 |")
    load_sample(system, text)
    curator.get(url)
    with CaptureQueriesContext(connection) as many:
        curator.get(url)
    assert len(many) <= len(few), "with more hits, fewer guesses are tried"
    assert len(few) <= 22, "\n".join(query["sql"][:150] for query in few)


def test_query_count_of_a_row_does_not_grow_with_its_history(loaded, designer, curator, make_actor):
    url = "/evidence/rows/U1/"
    designer.get(url)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            designer.get(url)
        return len(queries)

    def change(number: int) -> None:
        head = row("U1").head
        content = changed(head.content, bound=f"Bound {number}")
        proposal = propose_change(
            actor_of(designer), "U1", base_hash=head.content_hash, content=content, reason=f"round {number}"
        )
        accept_proposal(actor_of(curator), proposal.pk)

    change(1)
    flag_row(make_actor("f1", "viewer"), "U1", reason="x")
    few = count()
    for number in range(2, 8):
        change(number)
        flag_row(make_actor(f"f{number}", "viewer"), "U1", reason="x")
    assert count() == few
    assert few <= 24


# --- flags, lineage, archive --------------------------------------------------------------------------------------


def test_flags_on_the_page(loaded, viewer, curator):
    assert viewer.post("/evidence/rows/U1/flag/", {"reason": ""}).status_code == 422
    assert viewer.post("/evidence/rows/U1/flag/", {"reason": "the trace is gone"}).status_code == 302
    flag = Flag.objects.get()
    assert "the trace is gone" in viewer.get("/evidence/rows/U1/").content.decode()
    assert viewer.post(f"/evidence/rows/U1/flags/{flag.pk}/confirm/").status_code == 403
    assert curator.post(f"/evidence/rows/U1/flags/{flag.pk}/confirm/").status_code == 302
    assert curator.post(f"/evidence/rows/U1/flags/{flag.pk}/confirm/").status_code == 409
    assert "the row can&#x27;t be cited" in curator.get("/evidence/rows/U1/").content.decode() or "can't be cited" in (
        curator.get("/evidence/rows/U1/").content.decode()
    )
    assert viewer.post(f"/evidence/rows/U1/flags/{flag.pk}/clear/", {"reason": "x"}).status_code == 403
    assert curator.post(f"/evidence/rows/U1/flags/{flag.pk}/clear/", {"reason": "found"}).status_code == 302
    assert curator.post("/evidence/rows/U1/flags/99999999999999999999999/confirm/").status_code == 404


def test_before_a_flag_is_confirmed_the_page_lists_what_it_reopens(viewer, curator):
    row = f.evidence_row()
    f.op()
    spec = f.approved_revision(row).spec
    viewer.post(f"{row.get_absolute_url()}flag/", {"reason": "which machine?"})
    flag = Flag.objects.get()
    shown = curator.get(row.get_absolute_url()).content.decode()
    dialog = shown.split(f'id="confirm-{flag.pk}"')[1].split("</form>")[0]
    for part in (f"flags/{flag.pk}/confirm/", "reopens", f">{spec.code}, C1</a>", 'type="submit">Confirm the flag'):
        assert part in dialog
    assert f'id="confirm-{flag.pk}"' not in viewer.get(row.get_absolute_url()).content.decode()


def test_a_curator_does_not_confirm_an_own_flag_by_any_door(curator):
    row = f.evidence_row()
    curator.post(f"{row.get_absolute_url()}flag/", {"reason": "which machine?"})
    flag = Flag.objects.get()
    shown = curator.get(row.get_absolute_url()).content.decode()
    assert f'id="confirm-{flag.pk}"' not in shown
    assert "You raised it, so another curator confirms it." in shown
    refused = curator.post(f"{row.get_absolute_url()}flags/{flag.pk}/confirm/")
    assert (refused.status_code, "nobody confirms their own" in refused.content.decode()) == (403, True)
    refused = curator.post(f"/api/v1/flags/{flag.pk}/confirm/")
    assert (refused.status_code, refused.json()["code"]) == (403, "evidence.own_flag")
    flag.refresh_from_db()
    assert flag.confirmed_at is None


def test_lineage_and_archive_on_the_page(loaded, viewer, curator):
    edge = {"newer": "w2", "kind": "replaces", "reason": "measured better"}
    assert viewer.post("/evidence/rows/W1/supersede/", edge).status_code == 403
    assert curator.post("/evidence/rows/W1/supersede/", edge | {"kind": "beats"}).status_code == 422
    assert curator.post("/evidence/rows/W1/supersede/", edge | {"newer": "W1"}).status_code == 422
    assert curator.post("/evidence/rows/W1/supersede/", edge).status_code == 302
    assert Supersession.objects.get().newer.code == "W2"
    assert "Superseded by" in viewer.get("/evidence/rows/W1/").content.decode()
    assert curator.post("/evidence/rows/W2/supersede/", edge | {"newer": "W1"}).status_code == 409
    assert curator.post("/evidence/rows/D1/archive/", {"reason": "old"}).status_code == 422
    assert viewer.post("/evidence/rows/U1/archive/", {"reason": "x"}).status_code == 403
    assert curator.post("/evidence/rows/U1/archive/", {"reason": "a twin"}).status_code == 302
    assert viewer.get("/evidence/rows/U1/").status_code == 200
    assert viewer.post("/evidence/rows/U1/restore/").status_code == 403
    assert curator.post("/evidence/rows/U1/restore/").status_code == 302


# --- levers -------------------------------------------------------------------------------------------------------


def test_levers_on_the_page(loaded, viewer, designer, curator):
    for client in (viewer, designer):
        assert client.get("/evidence/levers/new/").status_code == 403
        assert client.get("/evidence/levers/split-k/edit/").status_code == 403
        assert client.post("/evidence/levers/split-k/aliases/add/", {"alias": "x"}).status_code == 403
    response = curator.post("/evidence/levers/new/", {"name": "Split N", "aliases": "N splitting\nsplitting N"})
    assert response.url == "/evidence/levers/split-n/"
    assert Lever.objects.get(slug="split-n").aliases.count() == 3
    response = curator.post("/evidence/levers/new/", {"name": "splitK"})
    assert response.status_code == 422
    assert "is a name of the lever split-k already" in response.content.decode()
    assert curator.post("/evidence/levers/split-n/aliases/add/", {"alias": "cut N"}).status_code == 302
    assert curator.post("/evidence/levers/split-n/aliases/add/", {"alias": "split-K"}).status_code == 422
    assert curator.post("/evidence/levers/split-n/aliases/add/", {"alias": ""}).status_code == 422
    assert curator.post("/evidence/levers/split-n/aliases/remove/", {"alias": "cut_n"}).status_code == 302
    assert curator.post("/evidence/levers/split-n/aliases/remove/", {"alias": "Split N"}).status_code == 422
    data = {"name": "N split", "description": "d", "parent": "splits"}
    assert curator.post("/evidence/levers/split-n/edit/", data).status_code == 302
    assert curator.post("/evidence/levers/split-n/edit/", data).status_code == 422
    assert curator.post("/evidence/levers/split-k/archive/", {"reason": "x"}).status_code == 409
    assert curator.post("/evidence/levers/split-n/archive/", {"reason": "x"}).status_code == 302
    assert curator.post("/evidence/levers/split-n/restore/").status_code == 302


# --- admin --------------------------------------------------------------------------------------------------------


def test_the_admin_reads_all_and_edits_levers_through_the_services(loaded, make_user):
    client = Client()
    client.force_login(make_user("cora", "curator", is_staff=True, is_superuser=True))
    for name in (
        "evidencerow",
        "evidencerevision",
        "proposal",
        "flag",
        "supersession",
        "runreceipt",
        "lever",
        "codeseries",
    ):
        assert client.get(f"/admin/evidence/{name}/").status_code == 200
    revision = row("D1").head
    assert client.get(f"/admin/evidence/evidencerevision/{revision.pk}/change/").status_code == 200
    assert client.post(f"/admin/evidence/evidencerevision/{revision.pk}/change/", {"verdict": "WIN"}).status_code == 403
    assert client.post(f"/admin/evidence/evidencerow/{row('D1').pk}/delete/", {"post": "yes"}).status_code == 403
    inline = {"aliases-TOTAL_FORMS": 0, "aliases-INITIAL_FORMS": 0}
    taken = client.post("/admin/evidence/lever/add/", {"name": "splitK", "slug": "fresh", **inline})
    assert "is a name of the lever split-k already" in taken.content.decode()
    added = client.post("/admin/evidence/lever/add/", {"name": "Split M", "slug": "split-m", **inline})
    assert added.status_code == 302
    lever = Lever.objects.get(slug="split-m")
    assert lever.aliases.count() == 1
    client.post(f"/admin/evidence/lever/{lever.pk}/change/", {"name": "M split", **inline})
    lever.refresh_from_db()
    assert (lever.name, lever.aliases.count()) == ("M split", 2)
    viewer = Client()
    viewer.force_login(make_user("stan", "viewer", is_staff=True, is_superuser=True))
    assert viewer.post("/admin/evidence/lever/add/", {"name": "X", "slug": "x", **inline}).status_code == 403


def test_the_board_says_that_meaning_is_off_where_it_would_have_helped(loaded, viewer, settings):
    settings.MEANING_URL = ""
    assert "Search by meaning is off here" in viewer.get("/evidence/?q=contention").content.decode()
    assert "Search by meaning" not in viewer.get("/evidence/?q=nwarps=7").content.decode()
