"""The page that imports evidence: what is read, what is refused, in words."""

import copy
import html

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.html import escape

from evidence.importers.map_tables import SHAPES
from evidence.models import EvidenceRow, ImportJob, ImportLine
from evidence.services import import_work
from tests.evidence.sample import MAP, typing_bytes
from v2kb.rules.numbers import format_number

pytestmark = pytest.mark.django_db


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
    assert EvidenceRow.objects.get(code="D1").head.lever.slug == "warp-spec"
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
