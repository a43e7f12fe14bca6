"""Specs through REST: posted revisions, drafts in the way, checks, gate, review."""

import copy

import pytest

from kernels.models import SpecDraft, SpecRevision
from kernels.services.specs import open_draft, save_draft
from tests import factories as f

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(db):
    return f.evidence_row()


@pytest.fixture
def dora(row, api_of):
    f.op()
    return api_of(f.designer().user)


@pytest.fixture
def spec(dora) -> str:
    return dora.post("/specs/", {"title": "Fused RMS norm", "ops": ["rmsnorm-cpu"]})["code"]


def content(row, **changes) -> dict:
    document = f.spec_content(row)
    del document["ops"]
    return {**document, **changes}


def test_a_posted_revision_takes_ops_from_the_draft_and_pins_citations(dora, spec, row):
    made = dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": content(row), "reason": "first"})
    assert made["number"] == 1
    assert made["content"]["ops"][0]["op"] == "rmsnorm-cpu"
    assert made["content"]["choices"][0]["citations"][0]["revision"] == row.head.content_hash
    assert dora.get(f"/specs/{spec}/")["head"]["content_hash"] == made["content_hash"]
    listed = dora.get(f"/specs/{spec}/revisions/")["results"]
    assert [revision["number"] for revision in listed] == [1]
    assert "content" not in listed[0]


def test_the_same_content_makes_no_revision(dora, spec, row):
    first = dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": content(row)})
    body = {"base_hash": first["content_hash"], "content": first["content"]}
    again = dora.post(f"/specs/{spec}/revisions/", body, status=200)
    assert again["number"] == 1
    assert SpecRevision.objects.count() == 1
    assert not SpecDraft.objects.exists()


def test_a_revision_on_an_older_base_is_refused(dora, spec, row):
    first = dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": content(row)})
    for base in ("", "0" * 64):
        refused = dora.post(f"/specs/{spec}/revisions/", {"base_hash": base, "content": content(row)}, status=409)
        assert refused["code"] == "spec.stale_base"
        assert refused["facts"] == {"head": first["content_hash"], "number": 1}
    assert SpecRevision.objects.count() == 1


def test_typing_in_the_editor_is_not_overwritten(dora, spec, row):
    document = f.Spec.objects.get(code=spec)
    draft = open_draft(f.designer(), spec=document)
    typed = {**draft.content, "summary": "Typed in the editor."}
    save_draft(f.designer(), spec=document, content=typed, version=draft.version)
    body = {"base_hash": "", "content": content(row)}
    refused = dora.post(f"/specs/{spec}/revisions/", body, status=409)
    assert (refused["code"], refused["facts"]) == ("spec.draft_in_the_way", {"version": 2})
    assert dora.get(f"/specs/{spec}/draft/")["content"]["summary"] == "Typed in the editor."
    assert dora.post(f"/specs/{spec}/revisions/", {**body, "draft_version": 1}, status=409)["facts"] == {"version": 2}
    dora.post(f"/specs/{spec}/revisions/", {**body, "draft_version": 2})


def test_without_content_the_draft_becomes_the_revision(dora, row):
    begun = dora.post("/specs/", {"title": "Whole", "ops": ["rmsnorm-cpu"], "content": content(row, title="Other")})
    made = dora.post(f"/specs/{begun['code']}/revisions/", {"base_hash": ""})
    assert made["content"]["title"] == "Whole"
    assert made["content"]["choices"][0]["id"] == "C1"
    dora.get(f"/specs/{begun['code']}/draft/", status=404)


def test_a_draft_is_of_its_owner_and_can_be_discarded(dora, spec, api_of):
    other = api_of(f.actor("dave", "designer").user)
    other.get(f"/specs/{spec}/draft/", status=404)
    other.ask("DELETE", f"/specs/{spec}/draft/", status=404)
    dora.ask("DELETE", f"/specs/{spec}/draft/", status=204)
    assert dora.get(f"/specs/{spec}/draft/", status=404)["code"] == "spec.no_draft"


def test_every_field_that_cannot_be_read_is_named_and_nothing_is_kept(dora, spec, row):
    broken = content(row)
    broken["choices"][0]["polarity"] = "loves"
    broken["smem"] = {"regions": [{"size_bytes": 1.5}], "colour": "red"}
    broken["choices"].append(5)
    for path, body in (
        (f"/specs/{spec}/revisions/", {"base_hash": "", "content": broken}),
        (f"/specs/{spec}/gate/", {"content": broken}),
        ("/specs/", {"title": "Broken", "ops": ["rmsnorm-cpu"], "content": broken}),
    ):
        refused = dora.post(path, body, status=422)
        assert refused["code"] == "spec.unreadable"
        fields = {problem["field"] for problem in refused["problems"]}
        assert {"choices[0].polarity", "smem.regions[0].size_bytes", "smem.colour", "choices[1]"} <= fields
        assert all(problem["fix"] for problem in refused["problems"])
    assert not SpecRevision.objects.exists()
    assert SpecDraft.objects.get().version == 1


def test_rules_of_posted_content(dora, row):
    report = dora.post("/specs/check/", {"content": content(row)}, status=200)
    assert report["summary"]["passes"] is True
    broken = content(row, smem={"regions": [{"name": "W0", "ordinal": "0", "size_bytes": "-16"}]})
    report = dora.post("/specs/check/", {"content": broken}, status=200)
    assert report["summary"]["passes"] is False
    first = report["findings"][0]
    assert first["path"].startswith("smem.regions[0]")
    assert first["fix"]
    for odd in ({}, {"choices": 5}, {"choices": [None, 1, "x"]}, {"ops": {"a": 1}}, {"symbols": [1]}):
        dora.post("/specs/check/", {"content": odd}, status=200)


def test_findings_stop_the_hand_in_and_are_listed(dora, spec, row):
    broken = content(row, smem={"regions": [{"name": "W0", "ordinal": "0", "size_bytes": "-16"}]})
    dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": broken})
    refused = dora.post(f"/specs/{spec}/revisions/1/submit/", status=422)
    assert refused["code"] == "spec.findings"
    assert refused["problems"]
    assert dora.get(f"/specs/{spec}/")["state"] == "draft"


def test_the_gate_says_the_same_in_preview_on_the_revision_and_stored(dora, spec, row):
    bare = copy.deepcopy(content(row))
    bare["choices"][0]["citations"] = []
    preview = dora.post(f"/specs/{spec}/gate/", {"content": bare}, status=200)
    dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": bare})
    now = dora.get(f"/specs/{spec}/revisions/1/gate/")
    stored = dora.post(f"/specs/{spec}/revisions/1/gate-results/")
    assert preview["passed"] is now["passed"] is stored["passed"] is False
    assert preview["lines"] == now["lines"] == stored["lines"]
    assert dora.get(f"/specs/{spec}/revisions/1/gate-results/")["results"] == [stored]
    assert dora.post(f"/specs/{spec}/revisions/1/gate-results/", status=200) == stored
    assert dora.get(f"/specs/{spec}/revisions/1/gate-results/")["results"] == [stored]


def test_a_dead_lever_needs_the_curators_signature(dora, api_of, row):
    """Approval of a re-proposed dead lever: missing is told in sentences, signed, then closed by the position."""
    dead = f.evidence_row(f.DEAD, lever="two-pass-norm", title="Two-pass norm")
    code = dora.post("/specs/", {"title": "Again", "ops": ["rmsnorm-cpu"]})["code"]
    document = f.spec_content(dead, new_mechanism="One pass keeps the row in registers.")
    del document["ops"]
    dora.post(f"/specs/{code}/revisions/", {"base_hash": "", "content": document})
    dora.post(f"/specs/{code}/revisions/1/submit/")
    remy, cora = api_of(f.reviewer().user), api_of(f.curator().user)
    approve = {"aspect": "correctness", "position": "approve"}
    remy.post(f"/specs/{code}/revisions/1/positions/", approve)
    review = dora.get(f"/specs/{code}/revisions/1/review/")
    assert review["approval"] is None
    assert any("AL4" in sentence for sentence in review["missing"])
    refused = remy.post(f"/specs/{code}/revisions/1/close/", status=409)
    assert refused["code"] == "spec.approval_incomplete"
    assert refused["facts"]["missing"] == review["missing"]
    signed = cora.post(f"/specs/{code}/revisions/1/signatures/", {"choice_id": "C1", "reason": "Registers."})
    assert signed["user"] == "cora"
    assert cora.get(f"/specs/{code}/revisions/1/signatures/")["count"] == 1
    assert dora.get(f"/specs/{code}/revisions/1/review/")["approval"]["approver"] == "remy"


def test_answers_stay_in_their_thread(dora, spec, row):
    dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": content(row)})
    other = dora.post("/specs/", {"title": "Other", "ops": ["rmsnorm-cpu"]})["code"]
    dora.post(f"/specs/{other}/revisions/", {"base_hash": "", "content": content(row)})
    foreign = dora.post(f"/specs/{other}/revisions/1/comments/", {"place": "C1", "text": "Hm."})
    path = f"/specs/{spec}/revisions/1/comments/"
    refused = dora.post(path, {"place": "C1", "text": "Hm.", "parent": foreign["id"]}, status=422)
    assert refused["code"] == "review.other_thread"
    assert dora.post(path, {"place": "C1", "text": "Hm.", "parent": 10**9}, status=404)["code"] == "review.no_comment"
    assert dora.post(path, {"place": "C9", "text": "Hm."}, status=422)["code"] == "review.unknown_place"


def test_a_file_is_checked_by_line_and_a_revision_leaves_as_markdown(dora, spec, row):
    made = dora.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": content(row)})
    text = dora.get(f"/specs/{spec}/revisions/1/markdown/", Accept="text/plain").decode()
    said = dora.post("/specs/check-file/", {"text": text}, status=200)
    assert said["document"] == made["content"]
    assert said["exit_code"] == (2 if made["findings"] else 0)
    assert all(finding["line"] >= 1 for finding in said["findings"])
    assert all(placement["state"] == "read" for placement in said["placements"])
    unread = dora.post("/specs/check-file/", {"text": '{"a": '}, status=200)
    assert (unread["exit_code"], unread["findings"]) == (3, [])
