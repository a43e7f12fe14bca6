"""Importing a spec, beginning from a template or another spec, and exporting one."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from kernels.models import Spec, SpecDraft
from kernels.selectors.spec_files import templates
from tests import factories as f
from tests.rules.test_spec_markdown import SPEC
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.reading import read_markdown
from v2kb.rules.spec_rules import spec_report

pytestmark = pytest.mark.django_db

URL = "/specs/import/"


@pytest.fixture
def designer(client):
    f.op()
    client.force_login(f.designer().user)
    return client


def test_a_preview_shows_lines_and_stores_nothing(designer):
    response = designer.post(URL, {"text": SPEC, "action": "preview"})
    html = response.content.decode()
    assert response.status_code == 200
    assert "What was read: Ring product" in html
    assert "The total of 69,648 B agrees with the rows." in html
    assert "controller init only" in html or "nobody re-initialises" in html
    assert "Begin the spec" in html
    assert not Spec.objects.exists()


def test_an_uploaded_file_is_kept_as_text(designer):
    file = SimpleUploadedFile("spec.md", SPEC.encode("utf-8-sig"))
    html = designer.post(URL, {"file": file, "action": "preview"}).content.decode()
    assert "# Stage-1 SPEC — Ring product" in html


def test_it_begins_a_spec_with_a_draft(designer):
    response = designer.post(URL, {"text": SPEC, "ops": "rmsnorm-cpu", "action": "create"})
    spec = Spec.objects.get()
    assert response["Location"] == reverse("kernels:spec_edit", args=[spec.code, "overview"])
    draft = SpecDraft.objects.get(spec=spec).content
    assert spec.title == draft["title"] == "Ring product"
    assert [(row["op"], row["name"], bool(row["contract"])) for row in draft["ops"]] == [("rmsnorm-cpu", "Up", True)]
    assert draft["smem"] == read_markdown(SPEC).document["smem"]


def test_what_is_missing_is_said_and_nothing_is_lost(designer):
    response = designer.post(URL, {"text": SPEC, "title": "Mine", "action": "create"})
    html = response.content.decode()
    assert response.status_code == 422
    assert "A spec covers at least one op." in html
    assert "Ring product" in html
    assert 'value="Mine"' in html
    assert not Spec.objects.exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "Choose a file or paste the text of a spec."),
        ({"text": "  "}, "Choose a file or paste the text of a spec."),
        ({"text": '{"title": '}, "This is no JSON"),
        ({"text": "a\n" * 20_001}, "more than 20,000 lines"),
        ({"file": SimpleUploadedFile("s.md", b"\xff\xfe\x00")}, "The file is no text in UTF-8."),
    ],
)
def test_what_cannot_be_read_is_refused(designer, data, said):
    response = designer.post(URL, {**data, "action": "preview"})
    assert response.status_code == 422
    assert said in response.content.decode()


@pytest.mark.parametrize("name", sorted(templates()))
def test_templates(designer, name):
    html = designer.get(URL, {"template": name}).content.decode()
    assert templates()[name].title in html
    assert "Begin the spec" in html


def test_there_is_a_template_per_family_and_they_are_whole():
    found = templates()
    assert [t.family for t in found.values()] == list("ABCDE")
    for template in found.values():
        assert normalise(template.document) == (template.document, [])
        broken = [x for x in spec_report(template.document).findings if x.kind == "violation" and x.severity == "E"]
        assert broken == []
    assert spec_report(found["family-b-rmsnorm-7168"].document).passes


def test_another_spec_as_the_beginning(designer):
    revision = f.saved_revision(f.spec_content(f.evidence_row()))
    spec = revision.spec
    response = designer.get(URL, {"spec": spec.code})
    text = response.context["form"].initial["text"]
    document = read_markdown(text).document
    assert document["choices"] == spec.head.content["choices"]
    assert document["ops"][0]["contract"] == ""
    assert designer.get(URL, {"spec": "S99"}).status_code == 404


def test_exports_come_back(designer):
    revision = f.saved_revision(f.spec_content(f.evidence_row()))
    spec = revision.spec
    for extension in ("md", "json"):
        response = designer.get(reverse("kernels:spec_export", args=[spec.code, revision.number, extension]))
        assert response["Content-Disposition"] == f'attachment; filename="{spec.code}-r1.{extension}"'
        text = response.content.decode()
        found = read_markdown(text).document if extension == "md" else json.loads(text)
        assert found == revision.content
    assert designer.get(f"/specs/{spec.code}/r1/spec.exe").status_code == 404
    assert f"/specs/{spec.code}/r1/spec.md" in designer.get(spec.get_absolute_url()).content.decode()
