"""Importing a spec, beginning from a template or another spec, and exporting one."""

import copy
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape

from kernels.models import Spec, SpecDraft
from kernels.selectors.spec_files import templates
from tests import factories as f
from tests.rules.test_spec_markdown import SPEC
from tests.starter_data import STARTER, load
from v2kb.rules.antiloop import evaluate
from v2kb.rules.canonical import content_hash
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
    tiles = dict(re.findall(r'stat-label">([^<]+)</span><span class="stat-value">([^<]+)<', html))
    assert (tiles["bytes"], tiles["pages"], tiles["regions"]) == ("69,648", "5", "5")
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


def test_ticked_ops_are_those_of_the_parts_that_name_them_and_the_others_are_said(designer):
    f.op("w13-grouped-gemm")
    text = SPEC.replace("| Up | y = W x |", "| W13 routed | y = W x | | | |\n| W2 (+shared dn) | y = V x |")
    asked = {"text": text, "ops": "w13-grouped-gemm"}
    page = designer.post(URL, {**asked, "action": "preview"}).content.decode()
    assert "W2 (+shared dn) names no op, so no contract says what it computes." in page
    assert "W13 routed names no op" not in page
    designer.post(URL, {**asked, "action": "create"})
    draft = SpecDraft.objects.get().content
    assert [(row["name"], row["op"], bool(row["contract"])) for row in draft["ops"]] == [
        ("W13 routed", "w13-grouped-gemm", True),
        ("W2 (+shared dn)", "", False),
    ]
    assert "names no op" not in designer.post(URL, {"text": SPEC, "ops": "rmsnorm-cpu"}).content.decode()


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


def test_a_preview_says_what_was_not_asked_until_an_op_is_ticked(designer):
    text = json.dumps({**templates()["family-b-rmsnorm-7168"].document, "symbols": {}})
    asked = {"text": text, "action": "preview"}
    page = designer.post(URL, asked).content.decode()
    assert "No op is ticked." in page
    assert "has not been asked" in page
    assert "No rule finds anything." not in page
    page = designer.post(URL, {**asked, "ops": "rmsnorm-cpu"}).content.decode()
    assert "No op is ticked." not in page
    begun = designer.get(URL, {"template": "family-b-rmsnorm-7168", "op": "rmsnorm-cpu"})
    assert "has not been asked" not in begun.content.decode()


def test_a_preview_asks_the_rules_with_the_contracts_of_the_ticked_ops(designer):
    document = copy.deepcopy(templates()["family-b-rmsnorm-7168"].document)
    document["granularity"][0]["num_tasks"] = "cols/4"
    asked = {"text": json.dumps(document), "action": "preview"}
    assert "cols is not a known symbol" in designer.post(URL, asked).content.decode()
    assert "cols is not a known symbol" not in designer.post(URL, {**asked, "ops": "rmsnorm-cpu"}).content.decode()


# What each template leaves to its designer: blocking findings with a starter op, and lines of the gate.
LEFT = {
    "family-a-pipeline": (
        "w13-grouped-gemm-b200",
        {"measurement.weight_bytes", "measurement.layers", "wiring.tasks[0].id", "wiring.tasks[1].id"},
        {("AL1", "choices[0].citations"), ("AL5", "choices[0].prediction.cases")},
    ),
    "family-b-rmsnorm-7168": ("rmsnorm-b200", {"wiring.tasks[0].id"}, {("AL1", "choices[0].citations")}),
    "family-c-one-block": (
        "rmsnorm-b200",
        {"measurement.weight_bytes", "measurement.layers", "wiring.tasks[0].id"},
        {("AL1", "choices[0].citations"), ("AL3", "choices[0].lever"), ("AL4", "choices[0].lever"),
         ("AL5", "choices[0].prediction.cases")},
    ),
    "family-d-no-shared-memory": ("rmsnorm-b200", set(), {("AL1", "choices[0].citations")}),
    "family-e-helper": ("rmsnorm-b200", {"open_questions[0].state"}, {("AL1", "choices[0].citations")}),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_a_template_leaves_to_the_designer_only_what_nobody_else_knows(name):
    template = templates()[name]
    assert normalise(template.document) == (template.document, [])
    op, findings, lines = LEFT[name]
    contract = load(STARTER / "ops" / f"{op}.json")
    document = copy.deepcopy(template.document)
    for row in document["ops"]:
        row |= {"op": op, "contract": content_hash(contract)}
    report = spec_report(document, ops={op: contract})
    assert {f.path for f in report.findings if f.severity == "E"} == findings
    vocabulary = {lever["slug"]: lever for lever in load(STARTER / "levers.json")["levers"]}
    snapshot = {"rows": {}, "levers": vocabulary, "contracts": {content_hash(contract): contract["scope"]}}
    result = evaluate(document, snapshot, {"authors": ["dora"], "today": "2026-11-29"})
    assert {(line.rule, line.field) for line in result.blocking_lines} == lines
    # Every choice that adopts a lever has what it will be measured against.
    anchors = {anchor["name"] for anchor in document["anchors"]}
    assert {c["prediction"]["anchor"] for c in document["choices"] if c["polarity"] == "adopts"} <= anchors
    assert document["ops"]
    assert document["gates"]


def test_each_template_is_listed_with_what_is_left_to_say(designer):
    page = designer.get(URL).content.decode()
    for template in templates().values():
        assert "What is left to say: " in template.document["summary"]
        assert f"{template.title}</a><div" in page
        assert escape(template.document["summary"]) in page


def test_there_is_a_template_per_family():
    assert [t.family for t in templates().values()] == list("ABCDE")


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
