"""REST of evidence: search, conflicts with their facts, import, bad input, query counts. Rights: tests/api."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from knox.models import AuthToken
from rest_framework.test import APIClient

from evidence.models import EvidenceRow, Lever, Proposal, Term
from evidence.services import accept_proposal, propose_change
from tests.evidence.sample import MAP, TYPING, changed, load_sample
from v2kb.core.actor import Actor

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(make_user):
    """api("dora", "designer") -> a client with a token of that user; it keeps the user as `user`."""

    def make(username: str, *roles: str) -> APIClient:
        client = APIClient()
        client.user = make_user(username, *roles)
        client.credentials(HTTP_AUTHORIZATION=f"Token {AuthToken.objects.create(client.user)[1]}")
        return client

    return make


@pytest.fixture
def cora(api):
    return api("cora", "curator")


@pytest.fixture
def dora(api):
    return api("ines", "designer")


def head(code: str):
    return EvidenceRow.objects.select_related("head").get(code=code).head


def post(client: APIClient, path: str, body: Any, status: int = 200) -> Any:
    response = client.post(f"/api/v1{path}", body, format="json")
    assert response.status_code == status, response.content
    return response.json()


def get(client: APIClient, path: str, status: int = 200) -> Any:
    response = client.get(f"/api/v1{path}")
    assert response.status_code == status, response.content
    return response.json()


BODY = {"name": "map.md", "text": MAP}


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"name": ""}, 400, "api.invalid"),
        ({"name": "x" * 201}, 400, "api.invalid"),
        ({"name": "a\0b"}, 400, "api.invalid"),
        ({"name": 5}, 400, "api.invalid"),
        ({"text": ""}, 400, "api.invalid"),
        ({"text": None}, 400, "api.invalid"),
        ({"text": [MAP]}, 400, "api.invalid"),
        ({"text": MAP + "\0"}, 400, "api.invalid"),
        ({"text": "é" * 600_000}, 422, "evidence.import.too_large"),
        ({"text": " \n"}, 422, "document.empty"),
        ({"typing": []}, 400, "api.invalid"),
        ({"typing": "{}"}, 400, "api.invalid"),
        ({"typing": {"rows": {"D1": {"mechanism": "a\0"}}}}, 422, "evidence.import.typing_json"),
        ({"typing": {"levers": [{"slug": "A b", "name": "A"}]}}, 422, "evidence.lever_slug"),
        ({"typing": {"levers": [{"slug": "a", "name": "A", "parent": "b"}]}}, 422, "evidence.no_lever"),
        ({"typing": {"colour": 1}}, 422, "evidence.import.typing_shape"),
        ({"source": "x" * 301}, 400, "api.invalid"),
        ({"skip_unreadable": "perhaps"}, 400, "api.invalid"),
        ({"colour": "red"}, 400, "api.invalid"),
        ({"text": MAP + "\n## Known gaps\n\n" + "- gap\n" * 201}, 422, "references.too_many_guidelines"),
    ],
)
def test_bad_imports_are_coded_in_a_dry_run_as_in_the_import_and_write_nothing(cora, change, status, code, dry_run):
    error = post(cora, "/evidence-imports/", BODY | {"dry_run": dry_run} | change, status)
    assert error["code"] == code
    assert not EvidenceRow.objects.exists()
    assert not Lever.objects.exists()


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"", "application/json", 400, "api.invalid"),
        (b"[]", "application/json", 400, "api.invalid"),
        ('{"name": "größe"}'.encode("latin-1"), "application/json", 400, "api.parse_error"),
        (b'{"name": "a\\ud800"}', "application/json", 400, "api.parse_error"),
        (b"# Map", "text/markdown", 415, "api.unsupported_media_type"),
    ],
)
def test_bodies_that_are_no_json_are_coded(cora, body, content_type, status, code):
    answer = cora.generic("POST", "/api/v1/evidence-imports/", body, content_type)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_import_shows_then_does(cora, dora):
    body = {"name": "probe-map.md", "text": MAP, "typing": TYPING, "source": "test"}
    post(dora, "/evidence-imports/", {**body, "dry_run": True}, 403)
    shown = post(cora, "/evidence-imports/", {**body, "dry_run": True})
    assert (shown["done"], shown["counts"]["new"], EvidenceRow.objects.count()) == (False, 6, 0)
    lines = {line["code"]: line for line in shown["rows"]}
    assert lines["D10"]["missing"] == ["cause_class", "scope", "not_checked"]
    assert lines["D1"]["unreadable_numbers"] == ["3×"]
    done = post(cora, "/evidence-imports/", body)
    assert (done["done"], EvidenceRow.objects.count()) == (True, 6)
    assert done["guidelines"] == {"measurement_rule": 2, "contract_step": 2, "known_gap": 1}
    again = post(cora, "/evidence-imports/", {**body, "text": MAP.replace("+67%", "+76%")})
    assert again["proposed"] == ["D1"]


def test_import_refuses_unreadable_lines_with_their_places(cora):
    text = MAP.replace("| D2 |", "| D1 |")
    error = post(cora, "/evidence-imports/", {"name": "m.md", "text": text}, 422)
    assert error["code"] == "evidence.import_unreadable"
    assert [problem["code"] for problem in error["problems"]] == ["evidence.import.duplicate_code"] * 2
    assert post(cora, "/evidence-imports/", {"name": "m.md", "text": text, "skip_unreadable": True})["done"]
    for body in ({}, {"name": "m.md"}, {"name": "m.md", "text": 5}, {"name": "m.md", "text": MAP, "extra": 1}, []):
        assert post(cora, "/evidence-imports/", body, 400)["code"] == "api.invalid"
    assert post(cora, "/evidence-imports/", {"name": "m.md", "text": "# x"}, 422)["problems"]


def test_search_ranks_and_filters(dora, system):
    load_sample(system)
    found = get(dora, "/evidence/?q=W1")
    assert [(row["code"], row["found_by"]) for row in found["results"]] == [
        ("W1", "the code"),
        ("D1", "identifier in the row"),
    ]
    found = get(dora, "/evidence/?verdict=DEAD&verdict=WIN&arch=sm_100&page_size=1")
    assert (found["count"], len(found["results"])) == (2, 1)
    assert get(dora, "/evidence/?q=nothing-like-it")["results"] == []
    get(dora, "/evidence/?page=99", 404)
    get(dora, "/evidence/D99/", 404)


def test_a_row_with_everything(dora, system):
    load_sample(system)
    row = get(dora, "/evidence/d10/")
    assert (row["code"], row["blocking"], row["weak"]) == ("D10", "full", True)
    assert row["missing"] == ["cause_class", "scope", "not_checked"]
    assert row["head"]["content"]["verdict"] == "DEAD"
    assert get(dora, "/evidence/D10/revisions/")[0]["content_hash"] == row["content_hash"]
    get(dora, "/evidence/D10/revisions/7/", 404)


def test_a_stale_base_answers_with_three_versions(dora, cora, system):
    load_sample(system)
    old = head("U1")
    body = {"row": "U1", "base_hash": old.content_hash, "reason": "x"}
    first = post(dora, "/proposals/", {**body, "content": changed(old.content, bound="theirs")}, 201)
    post(cora, f"/proposals/{first['id']}/accept/", {"conflict": "none"})
    error = post(dora, "/proposals/", {**body, "content": changed(old.content, bound="mine")}, 409)
    assert error["code"] == "evidence.stale_base"
    assert error["facts"]["head"] == head("U1").content_hash
    part = next(part for part in error["facts"]["fields"] if part["field"] == "bound")
    assert (part["theirs"], part["mine"], part["state"]) == ("theirs", "mine", "conflict")
    body = {**body, "base_hash": error["facts"]["head"], "content": changed(old.content, bound="both")}
    assert post(dora, "/proposals/", body, 201)["stale"] is False


def test_two_acceptances_over_rest(dora, cora, api, system):
    load_sample(system)
    content = changed(head("D1").content, cause_class="abandoned")
    body = {"row": "D1", "base_hash": head("D1").content_hash, "content": content, "reason": "nobody pursued it"}
    proposal = post(dora, "/proposals/", body, 201)
    assert proposal["acceptances_needed"] == 2
    assert post(cora, f"/proposals/{proposal['id']}/accept/", {"conflict": "none", "reason": "seen"})["state"] == "open"
    again = post(cora, f"/proposals/{proposal['id']}/accept/", {"conflict": "none"}, 403)
    assert again["code"] == "evidence.already_accepted"
    assert (
        post(api("carl", "curator"), f"/proposals/{proposal['id']}/accept/", {"conflict": "none"})["state"]
        == "accepted"
    )
    assert get(dora, "/evidence/D1/")["blocking"] == ""


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"content": {}, "reason": ""}, 400),
        ({"content": [], "reason": "x"}, 400),
        ({"content": "text", "reason": "x"}, 400),
        ({"content": {}, "reason": 5}, 400),
        ({"content": {}, "reason": "x", "state": "accepted"}, 400),
        ({"content": {}, "reason": "x", "author": "cora"}, 400),
        ({"content": {}, "reason": "x"}, 422),
        ({"content": {"verdict": ["DEAD"], "numbers": {"a": 1}, "scope": 7}, "reason": "x"}, 422),
        ({"content": {"numbers": [None, 3, []], "sources": [[]], "approaches": [{}]}, "reason": "x"}, 422),
        ({"row": "D77", "content": {}, "reason": "x"}, 404),
    ],
)
def test_bad_proposals(dora, body, status):
    error = post(dora, "/proposals/", body, status)
    assert error["code"]
    assert not Proposal.objects.exists()


def test_nothing_can_be_written_past_the_services(dora, cora, system):
    load_sample(system)
    for method in ("put", "patch", "delete"):
        assert getattr(cora, method)("/api/v1/evidence/D1/", {"verdict": "WIN"}, format="json").status_code == 405
        assert getattr(cora, method)("/api/v1/proposals/1/", {"state": "accepted"}, format="json").status_code == 405
    assert cora.post("/api/v1/evidence/", {"code": "D99"}, format="json").status_code == 405
    assert cora.delete("/api/v1/levers/split-k/").status_code == 405


def test_levers_over_rest(dora, cora, system):
    load_sample(system)
    assert get(dora, "/levers/?q=splitK")["results"][0]["slug"] == "split-k"
    made = post(cora, "/levers/", {"name": "Split N", "parent": "splits", "aliases": ["N cut"]}, 201)
    assert (made["slug"], made["parent"], made["aliases"], made["rows"]) == ("split-n", "splits", ["N cut"], 0)
    error = post(cora, "/levers/", {"name": "split_k"}, 409)
    assert (error["code"], error["field"]) == ("evidence.name_taken", "name")
    response = cora.put("/api/v1/levers/split-n/", {"name": "N split"}, format="json")
    assert (response.status_code, response.json()["parent"]) == (200, None)
    assert post(cora, "/levers/split-n/add-alias/", {"alias": "cut of N"})["aliases"] == [
        "N cut",
        "cut of N",
    ]
    assert Lever.objects.get(slug="split-n").name == "N split"


@pytest.mark.parametrize("path", ["/evidence/", "/evidence/?q=warp", "/levers/", "/proposals/"])
def test_query_counts_do_not_grow(cora, dora, system, path):
    load_sample(system)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            get(cora, f"{path}{'&' if '?' in path else '?'}page_size=100")
        return len(queries)

    count()
    few = count()
    text = MAP
    for number in range(20, 40):
        text = text.replace("| D10 |", f"| D{number} | Warp lever {number} | DEAD | m | 2026-01-01 `x` |\n| D10 |")
    load_sample(system, text)
    actor = Actor.of_user(dora.user, "api")
    for code in ("D20", "D21", "D22"):
        row_head = head(code)
        proposal = propose_change(
            actor, code, base_hash=row_head.content_hash, content=changed(row_head.content, bound="x"), reason="x"
        )
    accept_proposal(Actor.of_user(cora.user), proposal.pk)
    count()
    if path != "/proposals/":
        assert count() <= few
    else:
        base = count()
        row_head = head("D23")
        propose_change(
            actor, "D23", base_hash=row_head.content_hash, content=changed(row_head.content, bound="x"), reason="x"
        )
        assert count() == base


def test_a_spelling_of_a_unit_is_added_by_rest_and_understood_by_rest(system, cora, dora):
    unit = Term.objects.get(kind="unit", word="us").pk
    post(dora, f"/terms/{unit}/add-alias/", {"alias": "usec"}, 403)
    refused = post(cora, f"/terms/{unit}/add-alias/", {"alias": "10us"}, 422)
    assert (refused["code"], refused["field"]) == ("evidence.term_word", "alias")
    assert "usec" in post(cora, f"/terms/{unit}/add-alias/", {"alias": "usec"})["aliases"]
    assert post(cora, "/terms/", {"kind": "unit", "word": "furlong"}, 422)["code"] == "evidence.term_closed"
    assert "6.24µs" in MAP
    post(cora, "/evidence-imports/", BODY | {"text": MAP.replace("6.24µs", "6.24 usec")})
    (number,) = (one for one in head("D2").content["numbers"] if one["text"] == "6.24 usec")
    assert (number["unit"], number["value"]) == ("us", "6.24")
    content = head("D2").content | {"bound": "Half.", "numbers": [number | {"unit": "usec"}]}
    body = {"row": "D2", "base_hash": head("D2").content_hash, "content": content, "reason": "seen"}
    made = post(dora, "/proposals/", body, 201)
    assert Proposal.objects.get(pk=made["id"]).content["numbers"] == [number]
