"""What an agent does shows its engine: in the log, on pages, and by REST."""

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories as f
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db
ENGINE = "kernel-bot 2"


@pytest.fixture
def agent(make_user):
    return make_user("ada", "designer", "validator", "reviewer_correctness", engine_name=ENGINE)


def test_rest_and_the_log_name_the_engine(agent, api_of):
    row = f.evidence_row()
    api = api_of(agent)
    line = api.post("/experiments/", f.EXPERIMENT)
    content = {**row.head.content, "not_checked": "Rows longer than 4096."}
    sent = {"row": row.code, "base_hash": row.head.content_hash, "content": content, "reason": "seen"}
    proposal = api.post("/proposals/", sent)
    spec = api.post("/specs/", {"title": "Theirs", "ops": [f.op().slug]})["code"]
    revision = api.post(f"/specs/{spec}/revisions/", {"base_hash": "", "content": f.spec_content(row)})
    at = f"/specs/{spec}/revisions/1"
    comment = api.post(f"{at}/comments/", {"place": "C1", "text": "Why?"})
    for shown in (line, proposal, revision, comment, api.get("/experiments/")["results"][0]):
        assert shown["engine"] == ENGINE
    assert {entry.actor_name for entry in Activity.objects.filter(user=agent)} == {f"ada ({ENGINE})"}
    human = f.designer().user
    assert api_of(human).post("/experiments/", f.EXPERIMENT | {"why": "Other."})["engine"] == ""


def test_a_position_names_the_engine(agent, api_of, world):
    api = api_of(agent)
    revision = world.in_review
    path = f"/specs/{revision.spec.code}/revisions/{revision.number}/positions/"
    assert api.post(path, {"aspect": "correctness", "position": "discuss", "note": "Why?"})["engine"] == ENGINE


def test_pages_name_the_engine(agent, api_of):
    api = api_of(agent)
    line = api.post("/experiments/", f.EXPERIMENT)["id"]
    row = f.evidence_row()
    content = {**row.head.content, "not_checked": "Rows longer than 4096."}
    sent = {"row": row.code, "base_hash": row.head.content_hash, "content": content, "reason": "seen"}
    proposal = api.post("/proposals/", sent)["id"]
    client = Client()
    client.force_login(f.actor("vera", "viewer").user)
    for name, pk in (("experiment_detail", line), ("proposal_detail", proposal)):
        assert ENGINE in client.get(reverse(f"evidence:{name}", args=[pk])).content.decode(), name
