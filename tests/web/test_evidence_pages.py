"""Pages of evidence: who sees and does what, bad input, text that is never lost, query counts."""

import copy
import html
import re

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from evidence.forms import initial_of
from evidence.importers.map_tables import SHAPES
from evidence.models import EvidenceRow, Flag, ImportJob, ImportLine, Lever, Proposal, Supersession
from evidence.services import accept_proposal, flag_row, import_work, propose_change, propose_from_run
from tests import factories as f
from tests.evidence.sample import MAP, changed, load_sample, typing_bytes
from v2kb.core.actor import Actor
from v2kb.core.registry import PANELS, add_panel
from v2kb.rules.numbers import format_number

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


@pytest.fixture
def sign_in(make_user):
    """sign_in("dora", "designer") -> a client."""

    def make(username: str, *roles: str) -> Client:
        client = Client()
        client.force_login(make_user(username, *roles))
        return client

    return make


@pytest.fixture
def viewer(sign_in):
    return sign_in("vita", "viewer")


@pytest.fixture
def designer(sign_in):
    return sign_in("ines", "designer")


@pytest.fixture
def curator(sign_in):
    return sign_in("cleo", "curator")


def row(code: str) -> EvidenceRow:
    return EvidenceRow.objects.select_related("head").get(code=code)


def form_data(code: str, **changes) -> dict:
    head = row(code).head
    data = initial_of(head.content) | {"base_hash": head.content_hash, "reason": "measured again", **changes}
    return {name: value for name, value in data.items() if value not in (False, None)}


def actor_of(client: Client) -> Actor:
    from v2kb.core.models import User

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


# --- proposing ----------------------------------------------------------------------------------------------------


def test_who_may_propose(loaded, client, viewer, sign_in):
    for url in ("/evidence/rows/U1/propose/", "/evidence/rows/new/"):
        assert client.get(url).status_code == 302
        for method in ("get", "post"):
            assert getattr(viewer, method)(url).status_code == 403
        assert sign_in(f"rev{len(url)}", "reviewer_performance").get(url).status_code == 403
    assert "Propose a change" not in viewer.get("/evidence/rows/U1/").content.decode()
    assert not Proposal.objects.exists()


def test_an_unchanged_form_is_no_change_for_every_row(loaded, designer):
    for code in ("D1", "D2", "D10", "W1", "W2", "U1"):
        assert designer.get(f"/evidence/rows/{code}/propose/").status_code == 200
        response = designer.post(f"/evidence/rows/{code}/propose/", form_data(code))
        assert response.status_code == 422
        assert f"{code} says this already" in response.content.decode()


def test_a_change_goes_through_the_form(loaded, designer, curator):
    data = form_data(
        "U1",
        bound="At most 1.1×",
        scope_m="1..4",
        scope_envelope=["fused_megakernel", "cpu"],
        numbers="≤ 1.1× | bound | vs v1\n6.24µs | data point",
        approaches="one\n\ntwo\n",
        sources="commit: f624d75a",
        measured_on="2026-11-01",
    )
    response = designer.post("/evidence/rows/U1/propose/", data)
    proposal = Proposal.objects.get()
    assert (response.status_code, response.url) == (302, f"/evidence/proposals/{proposal.pk}/")
    page = curator.get(response.url).content.decode()
    assert "At most 1.1×" in page
    assert "What changes" in page
    response = curator.post(f"{response.url}accept/", {"conflict": "none"})
    assert response.status_code == 302
    content = row("U1").head.content
    assert content["scope"] == {"m": "1..4", "envelope": ["cpu", "fused_megakernel"]}
    assert [(n["qualifier"], n["value"], n["role"]) for n in content["numbers"]] == [
        ("<=", "1.1", "bound"),
        ("", "6.24", "data_point"),
    ]
    assert content["approaches"] == ["one", "two"]
    page = curator.get("/evidence/rows/U1/revisions/2/").content.decode()
    assert "bound or caveat" in page
    assert "<ins>At most 1.1×</ins>" in page
    assert curator.get("/evidence/rows/U1/revisions/1/?against=2").status_code == 200


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"reason": ""}, "reason", "This field is required"),
        ({"title": ""}, "title", "This field is required"),
        ({"scope_m": "many"}, "scope_m", "not a range of whole numbers"),
        ({"numbers": "6 us and 7 us"}, "numbers", "Line 1 holds 2 numbers."),
        ({"numbers": "6 us | n 0"}, "numbers", "is not understood"),
        ({"numbers": "6 us | verdict"}, "numbers", "no verdict number of its own"),
        ({"measured_on": "yesterday"}, "measured_on", "is not a date"),
        ({"verdict": "DEAD", "cause_class": ""}, "cause_class", "needs the class of its cause"),
        ({"lever": "nothing"}, "lever", "Select a valid choice"),
        ({"bound": ""}, "bound", "needs its bound"),
        ({"mechanism": "x" * 10_001}, "mechanism", "at most 10000 characters"),
        ({"verdict": "MAYBE"}, "verdict", "Select a valid choice"),
        ({"title": "a\x00b"}, "title", "Null characters"),
    ],
)
def test_errors_stand_at_their_field_and_keep_the_text(loaded, designer, changes, field, said):
    data = form_data("U1", measured_note="words that took an hour", **changes)
    response = designer.post("/evidence/rows/U1/propose/", data)
    page = response.content.decode()
    assert response.status_code == 422
    assert any(said in error for error in response.context["form"].errors[field]), response.context["form"].errors
    assert "words that took an hour" in page
    assert 'role="alert"' in page
    assert not Proposal.objects.exists()


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"numbers": "6 parsecs | n 0", "scope_m": "many"}, {"numbers", "scope_m"}),
        ({"reason": "", "scope_m": "many", "measured_on": "yesterday"}, {"reason", "scope_m", "measured_on"}),
        (
            {"verdict": "WIN", "numbers": "6 us | n 0", "scope_m": "many", "sources": ""},
            {"numbers", "scope_m", "sources"},
        ),
        ({"verdict": "MAYBE", "scope_m": "many"}, {"verdict", "scope_m"}),
        ({"lever": "nothing", "title": ""}, {"lever", "title"}),
    ],
)
def test_every_faulty_field_is_named_at_once_and_no_other(loaded, designer, changes, fields):
    response = designer.post("/evidence/rows/U1/propose/", form_data("U1", **changes))
    errors = response.context["form"].errors
    assert (response.status_code, set(errors)) == (422, fields)
    assert all(len(set(said)) == len(said) for said in errors.values()), errors


def test_a_row_that_moved_on_gives_three_versions_and_a_merged_form(loaded, designer, curator, make_actor):
    mine = form_data("U1", bound="mine", mechanism="my mechanism")
    head = row("U1").head
    theirs = propose_change(
        make_actor("tess", "designer"),
        "U1",
        base_hash=head.content_hash,
        content=changed(head.content, bound="theirs", title="A better title"),
        reason="x",
    )
    accept_proposal(actor_of(curator), theirs.pk)
    response = designer.post("/evidence/rows/U1/propose/", mine)
    page = response.content.decode()
    assert response.status_code == 409
    assert "evidence.stale_base" in page
    assert "both changed it differently" in page
    form = response.context["form"]
    assert form["bound"].value() == "mine"
    assert form["title"].value() == "A better title"
    assert form["mechanism"].value() == "my mechanism"
    assert form["reason"].value() == "measured again"
    assert form["base_hash"].value() == row("U1").head.content_hash
    again = {field.name: field.value() for field in form if field.value() not in (False, None)}
    response = designer.post("/evidence/rows/U1/propose/", again)
    assert response.status_code == 302
    assert Proposal.objects.get(state="open").content["title"] == "A better title"


def test_the_own_open_proposal_is_named(loaded, designer):
    designer.post("/evidence/rows/U1/propose/", form_data("U1", bound="one"))
    response = designer.post("/evidence/rows/U1/propose/", form_data("U1", bound="two"))
    assert response.status_code == 409
    assert "You have an open proposal on U1 already" in response.content.decode()
    assert response.context["form"]["bound"].value() == "two"


def test_a_new_row(loaded, designer, curator):
    page = designer.get("/evidence/rows/new/?lever=split-k&title=Another").content.decode()
    assert 'value="Another"' in page
    data = form_data("U1", title="Another cell", lever="split-k", base_hash="")
    response = designer.post("/evidence/rows/new/", data)
    assert response.status_code == 302
    curator.post(f"{response.url}accept/", {"conflict": "none"})
    assert row("U2").head.title == "Another cell"
    assert designer.post("/evidence/rows/new/", {}).status_code == 422


def test_numbers_are_read_while_typing(loaded, designer):
    response = designer.post(
        "/evidence/numbers/", {"numbers": "−7..−9% vs v1\nkilled 3×\n1 us and 2 us", "verdict": "WIN"}
    )
    page = response.content.decode()
    assert "−9..−7%" in page
    assert "not read" in page
    assert "Line 3 holds 2 numbers." in page
    assert designer.get("/evidence/numbers/").status_code == 405
    assert designer.post("/evidence/numbers/", {}).status_code == 200


# --- deciding -----------------------------------------------------------------------------------------------------


@pytest.fixture
def proposal(loaded, designer):
    designer.post("/evidence/rows/U1/propose/", form_data("U1", bound="less"))
    return Proposal.objects.get()


def test_only_a_curator_decides(proposal, client, viewer, designer):
    for action in ("accept", "reject", "withdraw"):
        url = f"/evidence/proposals/{proposal.pk}/{action}/"
        assert client.post(url).status_code == 401
        assert viewer.post(url, {"reason": "x"}).status_code == 403
        assert viewer.get(url).status_code == 405
    assert designer.post(f"/evidence/proposals/{proposal.pk}/accept/").status_code == 403
    proposal.refresh_from_db()
    assert proposal.state == "open"
    assert ">Accept</button>" not in designer.get(proposal.get_absolute_url()).content.decode()


def test_the_queue_and_the_decision_bar_say_whose_turn_it_is(proposal, curator, designer):
    assert "yours to decide" in curator.get("/evidence/proposals/").content.decode()
    assert "yours to decide" not in designer.get("/evidence/proposals/").content.decode()
    page = curator.get(proposal.get_absolute_url()).content.decode()
    assert "Needs 1 acceptance of a curator who did not write it." in page
    assert ">Accept</button>" in page


def test_rejecting_asks_for_a_reason(proposal, curator):
    url = f"/evidence/proposals/{proposal.pk}/reject/"
    response = curator.post(url, {"reason": " "})
    assert response.status_code == 422
    assert "The reason is empty." in response.content.decode()
    assert curator.post(url, {"reason": "no trace"}).status_code == 302
    page = curator.get(proposal.get_absolute_url()).content.decode()
    assert "no trace" in page
    assert curator.post(url, {"reason": "again"}).status_code == 409


def test_withdrawing(proposal, designer):
    assert "Withdraw" in designer.get(proposal.get_absolute_url()).content.decode()
    assert designer.post(f"/evidence/proposals/{proposal.pk}/withdraw/").status_code == 302
    proposal.refresh_from_db()
    assert proposal.state == "withdrawn"


def test_a_stale_proposal_is_brought_to_the_newest_revision(proposal, designer, curator, make_actor):
    head = row("U1").head
    other = propose_change(
        make_actor("tess", "designer"), "U1", base_hash=head.content_hash,
        content=changed(head.content, title="New title", bound="theirs"), reason="x",
    )  # fmt: skip
    accept_proposal(actor_of(curator), other.pk)
    page = curator.get(proposal.get_absolute_url()).content.decode()
    assert "Three versions" in page
    assert ">Accept</button>" not in page
    response = curator.post(f"/evidence/proposals/{proposal.pk}/accept/", {"conflict": "none"})
    assert response.status_code == 409
    assert "evidence.stale_base" in response.content.decode()
    url = f"/evidence/proposals/{proposal.pk}/revise/"
    form = designer.get(url).context["form"]
    assert (form["title"].value(), form["bound"].value()) == ("New title", "less")
    data = {field.name: field.value() for field in form if field.value() not in (False, None)}
    response = designer.post(url, data)
    assert response.status_code == 302
    proposal.refresh_from_db()
    assert proposal.state == "superseded"
    assert proposal.replaced_by.get_absolute_url() == response.url
    assert f"proposal {proposal.replaced_by.pk}" in designer.get(proposal.get_absolute_url()).content.decode()


def test_somebody_elses_proposal_is_not_revised(proposal, sign_in):
    other = sign_in("otto", "designer")
    assert other.post(f"/evidence/proposals/{proposal.pk}/revise/", form_data("U1", bound="x")).status_code == 403


def test_a_runs_proposal_shows_its_receipts(loaded, make_user, curator):
    outcome = propose_from_run(
        Actor.worker("w"), author=make_user("vera", "validator"), row_code="U1", run_id="R7", result_hash="a" * 64,
        judgement="REGRESS", grade="decides", sentence="11% slower than naive",
        content_change={"verdict": "DEAD", "cause_class": "regressed_in_scope"},
    )  # fmt: skip
    page = curator.get(outcome.proposal.get_absolute_url()).content.decode()
    for text in ("R7", "11% slower than naive", "through a judged run", "needs what was not checked", "Revise"):
        assert text in page
    assert ">Accept</button>" not in page
    assert "R7" in curator.get("/evidence/rows/U1/").content.decode()


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


# --- import -------------------------------------------------------------------------------------------------------


EXAMPLES = settings.BASE_DIR / "static/examples"


def upload(text: str | bytes = MAP, typing: bytes | None = None, name: str = "probe-map.md") -> dict:
    data = {"file": SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)}
    return data | ({"typing": SimpleUploadedFile("levers.json", typing)} if typing else {})


def dry_run(client, *args, **kwargs) -> str:
    """The address of an import whose dry run is over."""
    response = client.post("/evidence/imports/new/", upload(*args, **kwargs))
    assert response.status_code == 302
    work_on_imports()
    return response.url


def work_on_imports() -> None:
    for pk in import_work.due_jobs():
        import_work.work_on(pk)


def test_there_is_one_page_for_imports(curator):
    assert curator.get("/evidence/import/").status_code == 404
    for page in ("/evidence/", "/evidence/experiments/", "/evidence/imports/"):
        assert 'href="/evidence/imports/new/"' in curator.get(page).content.decode()


def test_the_dry_run_shows_how_numbers_are_read(curator):
    url = dry_run(curator, MAP)
    page = html.unescape(curator.get(url).content.decode())
    lines = ImportLine.objects.filter(job__public_id=url.split("/")[-2])
    numbers = [number for line in lines for number in line.document.get("content", {}).get("numbers", [])]
    assert {number["readable"] for number in numbers} == {True, False}, "the sample holds both"
    for number in numbers:
        assert (format_number(number) if number["readable"] else "not read") in page, number
    assert page.count("not all of them can be") == sum(
        any(not number["readable"] for number in line.document.get("content", {}).get("numbers", [])) for line in lines
    )


def test_who_may_import(client, viewer, designer, sign_in):
    assert client.get("/evidence/imports/new/").status_code == 302
    for each in (viewer, designer, sign_in("ada", "administrator")):
        assert each.get("/evidence/imports/new/").status_code == 403
        assert each.post("/evidence/imports/new/", upload()).status_code == 403


def test_the_page_says_before_the_upload_what_is_read(curator):
    page = curator.get("/evidence/imports/new/").content.decode()
    for shape in SHAPES:
        for column in shape.columns:
            assert f"<code>{column.label}</code>" in page
    for said in ("UTF-8", "at most 1 MiB", "at most 2 MiB and 2,000 levers", "<code>cause_class</code>", "download="):
        assert said in page
    for name in ("evidence-map.md", "typing.json"):
        assert escape((EXAMPLES / name).read_text()) in page


def test_the_examples_are_read_without_a_word_and_stand_in_the_documentation(curator):
    text, typing = (EXAMPLES / "evidence-map.md").read_text(), (EXAMPLES / "typing.json").read_text()
    url = dry_run(curator, text, typing.encode(), "evidence-map.md")
    lines = ImportJob.objects.get().lines.all()
    assert [(line.document["content"]["verdict"], line.problems, line.note) for line in lines] == [
        ("DEAD", [], lines[0].note),
        ("WIN", [], lines[1].note),
        ("UNTESTED", [], lines[2].note),
    ]
    assert "missing" not in curator.get(url).content.decode()
    using = (settings.BASE_DIR / "docs/using.md").read_text()
    assert text in using
    assert typing in using


def test_dry_run_then_import(curator):
    url = dry_run(curator, typing=typing_bytes())
    page = curator.get(url).content.decode()
    assert not EvidenceRow.objects.exists()
    assert "6 new rows of evidence." in page
    assert "not read as numbers: 3×" in page
    assert curator.post(f"{url}apply/").status_code == 302
    work_on_imports()
    assert EvidenceRow.objects.count() == 6
    assert row("D1").head.lever.slug == "warp-spec"
    again = dry_run(curator, typing=typing_bytes())
    assert "Nothing is new or changed." in curator.get(again).content.decode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "This field is required"),
        (upload(b""), "empty"),
        (upload(typing=b"{"), "The typing file is not JSON: line 1, column 2"),
        (upload(typing=b"\xff\xfe"), "not UTF-8"),
    ],
)
def test_bad_uploads_are_refused_in_words(curator, data, said):
    response = curator.post("/evidence/imports/new/", copy.copy(data))
    assert response.status_code == 422
    assert said in response.content.decode()


def test_unreadable_lines_are_shown_and_refuse_until_left_out(curator):
    url = dry_run(curator, MAP.replace("ALL FLAT (≤6%)", "Promising (≤6%)"))
    assert "Line 11, column Verdict + number" in curator.get(url).content.decode()
    assert curator.post(f"{url}apply/").status_code == 422
    assert not EvidenceRow.objects.exists()
    assert curator.post(f"{url}apply/", {"skip_unreadable": "on"}).status_code == 302
    work_on_imports()
    assert EvidenceRow.objects.count() == 5


def test_a_missing_column_is_named(curator):
    text = MAP.replace(
        "| # | Cell | Status | Bound / caveat |\n|---|---|---|---|", "| # | Cell | Status |\n|---|---|---|"
    )
    page = curator.get(dry_run(curator, text)).content.decode()
    assert "The UNTESTED table has no column Bound / caveat." in page


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
