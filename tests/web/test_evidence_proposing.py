"""Pages that propose a change of evidence and decide about it: text that is never lost, who may, whose turn it is."""

import pytest
from django.test import Client

from evidence.forms import initial_of
from evidence.models import EvidenceRow, Proposal, Term
from evidence.services import accept_proposal, propose_change, propose_from_run
from evidence.services.terms import add_term_alias
from tests.evidence.sample import changed, load_sample
from v2kb.core.actor import Actor
from v2kb.core.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded(system):
    load_sample(system)


def row(code: str) -> EvidenceRow:
    return EvidenceRow.objects.select_related("head").get(code=code)


def form_data(code: str, **changes) -> dict:
    head = row(code).head
    data = initial_of(head.content) | {"base_hash": head.content_hash, "reason": "measured again", **changes}
    return {name: value for name, value in data.items() if value not in (False, None)}


def actor_of(client: Client) -> Actor:
    return Actor.of_user(User.objects.get(pk=client.session["_auth_user_id"]), "page")


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


def test_an_added_spelling_of_a_unit_is_understood_and_shown_in_the_unit_itself(loaded, designer, make_actor):
    preview = {"verdict": "UNTESTED", "numbers": "6.24 usec | data point"}
    assert "6.24 µs" not in designer.post("/evidence/numbers/", preview).text
    add_term_alias(make_actor("cleo", "curator"), Term.objects.get(kind="unit", word="us").pk, "usec")
    assert "6.24 µs" in designer.post("/evidence/numbers/", preview).text
    sent = designer.post("/evidence/rows/U1/propose/", form_data("U1", numbers=preview["numbers"]))
    assert sent.status_code == 302
    proposal = Proposal.objects.get()
    (number,) = proposal.content["numbers"]
    assert (number["text"], number["unit"], number["value"]) == ("6.24 usec", "us", "6.24")
    shown = initial_of(proposal.content)["numbers"]
    assert shown == "6.24 µs | data point | lower is better"
    revise = {"numbers": shown, "reason": "in other words", "title": "Another title"}
    form = designer.get(f"{sent.url}revise/").context["form"]
    assert designer.post(f"{sent.url}revise/", {**form.initial, **revise}).status_code == 302
    proposal = Proposal.objects.latest("pk")
    assert (proposal.content["title"], proposal.content["numbers"]) == ("Another title", [number])


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
