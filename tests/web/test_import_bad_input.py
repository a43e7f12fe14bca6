"""Bad input at the import pages: refused in words, never a 500, and nothing is written by halves."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evidence.importers.load import MAX_MAP_BYTES
from evidence.models import EvidenceRow, ImportJob, Lever
from evidence.services import import_work
from references.models import Document, UploadDraft
from tests.evidence.sample import MAP, typing_bytes
from tests.zips import zipped
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

GOOD = b"# Fine\n\nText.\n"
HOSTILE = (
    "# <script>alert(1)</script>\n\n[x](javascript:alert(1)) ![y](javascript:alert(2)) <img src=x onerror=alert(3)>\n\n"
    "<iframe src='//evil'></iframe>\n\n| <b>a</b> | [z](vbscript:x) |\n|---|---|\n| <svg onload=alert(4)> | b |\n"
)
LIVE = ("<script>alert", "<img src=x", "<iframe", "<svg onload", 'href="javascript', 'href="vbscript', "<b>a</b>")


@pytest.fixture
def cora(client, make_user):
    client.force_login(make_user("cora", "curator"))
    return client


def written() -> tuple[int, ...]:
    """Counts of what an import writes, and of what was done; an import that is refused leaves lines about itself."""
    about = Activity.objects.exclude(object_type="evidence.importjob")
    return (*(model.objects.count() for model in (Document, EvidenceRow, Lever)), about.count())


# ---- documents ----


def send(client, files: list[tuple[str, bytes]], source: str = "typed"):
    uploads = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post("/references/import/", {"files": uploads, "source": source})


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        ([], "", "Choose a zip or some .md files."),
        ([("notes", GOOD)], "archive.no_markdown", "no markdown file"),
        ([("a.exe", b"MZ\x00")], "archive.no_markdown", "no markdown file"),
        ([("a.zip", GOOD)], "archive.not_a_zip", "a.zip is not a readable zip"),
        ([("a.zip", zipped(("x.md", GOOD))[:-30])], "archive.not_a_zip", "Pack the folder again"),
        ([("a.zip", zipped())], "archive.no_markdown", "no markdown file"),
        ([("a.zip", zipped(("in.zip", zipped(("x.md", GOOD)))))], "archive.no_markdown", "no markdown file"),
        ([("ok.md", GOOD), ("a.zip", zipped(("../x.md", GOOD)))], "archive.unsafe_path", "leaves the archive"),
        ([("a.zip", zipped(("/etc/x.md", GOOD)))], "archive.unsafe_path", "leaves the archive"),
        ([("a.zip", zipped(("C:\\x.md", GOOD)))], "archive.unsafe_path", "leaves the archive"),
        ([("a.zip", zipped(("a\x1b.md", GOOD)))], "archive.unsafe_path", "holds signs that are not text"),
        ([("a.zip", zipped(("d/" * 150 + "x.md", GOOD)))], "archive.unsafe_path", "has more than 300 characters"),
        ([("a.zip", zipped(("x.md", "/etc"), external_attr=0o120777 << 16))], "archive.symlink", "symbolic link"),
        ([("a.zip", zipped(("x.md", b"0" * 4_000_000)))], "archive.bomb", "more than 200 times"),
        (
            [("a.zip", zipped(*[(f"{number}.md", b"# a b c d\n" * 90_000) for number in range(40)]))],
            "archive.too_large",
            "What the zip holds has 34.3 MiB; it may have 32 MiB.",
        ),
    ],
)
def test_an_upload_of_documents_is_refused_with_what_was_typed(cora, files, code, said):
    before = written()
    response = send(cora, files)
    html = response.content.decode()
    assert response.status_code == 422
    assert said in html
    assert code in html
    assert 'value="typed"' in html
    assert written() == before
    assert not UploadDraft.objects.exists()


@pytest.mark.parametrize("source", ["x" * 301, "a\x00b"])
def test_a_bad_source_is_refused_at_its_field(cora, source):
    response = send(cora, [("a.md", GOOD)], source)
    assert response.status_code == 422
    assert 'id="id_source_error"' in response.content.decode()


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", "document.empty", "bad.md is empty"),
        (b" \r\n\t", "document.empty", "bad.md is empty"),
        (b"---\nname: x\n---\n", "document.empty", "front matter and no text"),
        (b"# a\x00b", "document.binary", "it holds NUL bytes"),
        (b"# a\n\ngr\xf6\xdfe", "document.not_utf8", "line 3"),
        ("# größe".encode("utf-16"), "document.not_utf8", "is UTF-16"),
        (b"# \xed\xa0\x80", "document.not_utf8", "line 1"),
        (zipped(("x.md", GOOD)), "document.binary", "NUL bytes"),
        (b"\x01\x02\x03 x", "document.binary", "control characters"),
        (b"# x\n" * 50_002, "document.too_large", "50,002 lines"),
        (b"## x\n\n" * 2_001, "document.too_large", "2,001 headings"),
        (b"x" * (5 * 1024 * 1024 + 1), "document.too_large", "5,242,881 bytes"),
    ],
)
def test_a_bad_file_is_named_and_the_good_one_is_imported(cora, content, code, said):
    page = cora.get(send(cora, [("good.md", GOOD), ("bad.md", content)]).url)
    html = page.content.decode()
    assert said in html
    assert code in html
    assert "1 new, 0 changed, 0 unchanged, 1 refused, 0 skipped" in html
    assert cora.post(page.wsgi_request.path).status_code == 302
    assert list(Document.objects.values_list("slug", flat=True)) == ["good"]


@pytest.mark.parametrize(
    "files",
    [
        [("a.md", GOOD), ("a.md", b"# Other\n")],
        [("A.md", GOOD), ("a.md", b"# Other\n")],
        [("a.zip", zipped(("1/x/a.md", GOOD), ("2/x/a.md", "# Other\n")))],
    ],
)
def test_two_files_of_one_name_are_both_refused_before_the_import(cora, files):
    page = cora.get(send(cora, files).url)
    assert page.content.decode().count("document.same_name") == 2
    assert "Another file of this import is called" in page.content.decode()
    done = cora.post(page.wsgi_request.path, follow=True)
    assert "Nothing was imported: 0 new" in done.content.decode()
    assert not Document.objects.exists()


@pytest.mark.parametrize(
    "name", ["x" * 300 + ".md", "é" * 300 + ".md", "a\x00b.md", "a\nb.md", "..md", ".md", "日本.md", "a\u202eb.md"]
)
def test_odd_names_are_taken_or_made_harmless(cora, name):
    url = send(cora, [(name, GOOD)]).url
    cora.get(url)
    assert cora.post(url).status_code == 302
    document = Document.objects.get()
    assert "\x00" not in document.path
    assert len(document.path) <= 300
    assert cora.get(document.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + GOOD, GOOD.replace(b"\n", b"\r\n"), GOOD.replace(b"\n", b"\r")])
def test_a_byte_order_mark_and_other_line_ends_make_the_same_document(cora, content):
    cora.post(send(cora, [("a.md", GOOD)]).url)
    html = cora.get(send(cora, [("a.md", content)]).url).content.decode()
    assert "0 new, 0 changed, 1 unchanged" in html


def test_hostile_markdown_is_shown_as_text(cora):
    url = send(cora, [("a.md", HOSTILE.encode())]).url
    preview = cora.get(url).content.decode()
    cora.post(url)
    section = Document.objects.get().head.sections.get()
    pages = [preview] + [
        cora.get(path).content.decode()
        for path in ("/references/", "/references/documents/a/", f"/references/documents/a/s/{section.anchor}/")
    ]
    for html in pages:
        assert "&lt;script&gt;alert(1)" in html
        assert not [live for live in LIVE if live in html]


@pytest.mark.parametrize(
    "content",
    [b"# T\n\n" + b">" * 3000 + b" x\n", b"[" * 20_000, b"|" + b"a|" * 2000 + b"\n|" + b"-|" * 2000, b"`" * 20_000],
)
def test_markdown_that_is_hard_to_read_is_read(cora, content):
    cora.post(send(cora, [("a.md", content)]).url)
    assert cora.get("/references/documents/a/").status_code == 200


def test_a_section_as_long_as_a_book_is_shown_as_text(cora, monkeypatch):
    monkeypatch.setattr("references.presenters.WHOLE_PAGE_BYTES", 100)
    cora.post(send(cora, [("a.md", b"# T\n\n" + b"*word* " * 50)]).url)
    assert "*word* *word*" in cora.get("/references/documents/a/").content.decode()


# ---- maps ----


class Preview:
    """An upload and its dry run: `status` and `html` of the page that says what came of it."""

    def __init__(self, client, content: bytes | None, typing: bytes | None, name: str) -> None:
        data: dict[str, Any] = {"source": "typed"}
        data |= {} if content is None else {"file": SimpleUploadedFile(name, content)}
        data |= {} if typing is None else {"typing": SimpleUploadedFile("levers.json", typing)}
        self.client, self.url = client, ""
        response = client.post("/evidence/imports/new/", data)
        if response.status_code == 302:
            self.url = response.url
            response = self.work()
        self.status, self.html = response.status_code, response.content.decode().replace("&#x27;", "'")

    def work(self):
        for pk in import_work.due_jobs():
            import_work.work_on(pk)
        return self.client.get(self.url)

    @property
    def job(self) -> ImportJob:
        return ImportJob.objects.latest("pk")


def preview(client, content: bytes | None = MAP.encode(), typing: bytes | None = None, name: str = "map.md"):
    return Preview(client, content, typing, name)


def apply(client, shown: Preview, **data: str) -> bool:
    """Whether the import that the dry run showed was done."""
    response = client.post(f"{shown.url}apply/", data)
    if response.status_code != 302:
        assert response.status_code in (409, 422)
        return False
    shown.work()
    return shown.job.state == "done"


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "This field is required"), (b"", "empty")],
)
def test_a_map_is_refused_at_the_upload_with_what_was_typed(cora, content, said):
    before = written()
    shown = preview(cora, content)
    assert (shown.status, said in shown.html, 'value="typed"' in shown.html) == (422, True, True)
    assert written() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b" \n", "The file is empty"),
        (MAP.encode() + b"\x00", "NUL bytes"),
        (MAP.encode() + "größe".encode("latin-1"), "is not UTF-8: line"),
        (MAP.encode("utf-16"), "is UTF-16"),
        (zipped(("map.md", MAP)), "NUL bytes"),
        (MAP.encode() + b"\n" + b"word\n" * 220_000, "a map may have 1 MiB"),
        (MAP.encode() + b"\n## Known gaps\n\n" + b"- gap\n" * 201, "a document may have 200"),
    ],
)
def test_a_map_that_can_not_be_taken_over_stops_the_import_and_says_why(cora, content, said):
    before = written()
    shown = preview(cora, content)
    assert shown.job.state == "failed"
    assert said in shown.html
    assert not apply(cora, shown)
    assert written() == before


def typing(**parts: Any) -> bytes:
    return json.dumps(parts).encode()


def lever(**fields: Any) -> bytes:
    return typing(levers=[{"slug": "a", "name": "A"} | fields])


def typed_row(**fields: Any) -> bytes:
    return typing(rows={"D1": fields})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"{", "line 1, column 2"),
        (b"[]", "an object with levers and rows"),
        (b"null", "an object with levers and rows"),
        (b'{"row": {}}', "row is not one of levers and rows"),
        ('{"levers": [{"slug": "a", "name": "größe"}]}'.encode("latin-1"), "Line 1 of the typing file is not UTF-8"),
        (b'{"rows": {"D1": {"scope": NaN}}}', "NaN is no JSON value"),
        (b'{"rows": {"D1": {}, "D1": {}}}', "stands twice"),
        (b'{"rows": {"D1": {"scope": {"m": ' + b"9" * 5000 + b"}}}}", "more than 100 digits"),
        (b'{"rows": {"D1": {"scope": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}}", "nested too deeply"),
        (b" " * (2 * 1024 * 1024 + 1), "evidence.import.typing_size"),
        (lever(name="a\0b"), "levers[0].name holds characters that are not text"),
        (lever(name="a\ud800b"), "levers[0].name holds characters that are not text"),
        (typed_row(mechanism="a\ud800"), "rows.D1.mechanism holds characters that are not text"),
        (typing(rows={"D\0": {}}), "a name in rows holds characters that are not text"),
        (typing(levers={"a": 1}), "levers is not a list"),
        (typing(levers=["x"]), "levers[0] is not an object"),
        (typing(levers=[{"slug": "a"}]), "levers[0].name is not text"),
        (lever(slug="A b"), "lever A b, slug: A b is no slug."),
        (lever(name="x" * 300), "lever a, name: The name is longer than 200 characters."),
        (lever(aliases=["x" * 300]), "lever a, aliases: The name is longer"),
        (lever(aliases=[""]), "holds no letter and no digit"),
        (lever(parent="nowhere"), "lever a, parent: There is no lever"),
        (lever(parent="a"), "circles of parents"),
        (typing(levers=[{"slug": "a", "name": "Same"}, {"slug": "b", "name": "same"}]), "same is a"),
        (typing(rows=[1]), "rows is not an object"),
        (typing(rows={"D1": "x"}), "rows.D1 is not an object"),
        (typed_row(colour="x"), "rows.D1.colour is not one of the fields"),
        (typed_row(lever=5), "rows.D1.lever is not text"),
        (typed_row(measured_note=5), "rows.D1.measured_note is not text"),
    ],
)
def test_a_typing_file_is_refused_before_the_import_with_its_place(cora, content, said):
    before = written()
    shown = preview(cora, typing=content)
    assert said in shown.html
    assert (shown.status == 422 and 'value="typed"' in shown.html) or shown.job.state == "failed"
    assert written() == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("| # | Win |", "| # | Gain |", "has no column Win"),
        ("| # | Cell | Status | Bound / caveat |", "| # | Cell | Status |", "has 3 cells, the line under it 4"),
        ("| ties the chain | Fences once | same |", "| ties |", "3 cells where the header has 5"),
        ("| D10 |", "| D1 |", "stands in line"),
        ("| D10 |", "| d10 |", "is no code of a row"),
        ("| D10 |", "| S10 |", "is no code of a row"),
        ("| D10 |", "| D１０ |", "is no code of a row"),
        ("| D10 |", "| D9999999 |", "is no code of a row"),
        ("STAGES 4→12", " ", "D10 has no name"),
        ("STAGES 4→12", "🚀🚀", "holds no letter and no digit"),
        ("Takes a MAC", "T" * 20_000, "at most 10000 are kept"),
        ("ALL FLAT", "Promising", "is no verdict of the DEAD table"),
    ],
)
def test_lines_that_can_not_be_read_are_named_and_left_out_on_request(cora, old, new, said):
    assert old in MAP
    before = written()
    shown = preview(cora, MAP.replace(old, new).encode())
    assert said in shown.html
    assert written() == before
    assert not apply(cora, shown)
    assert written() == before
    assert apply(cora, shown, skip_unreadable="on")
    assert 0 < EvidenceRow.objects.count() < 6


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (typed_row(scope={"m": 1.5}), "scope.m"),
        (typed_row(scope=[[]]), "The scope is not a set of named dimensions"),
        (typed_row(numbers="x"), "numbers must be a list"),
        (typed_row(numbers=[1, {"unit": [1]}, {"unit": {"a": 1}}]), "A number must be a set of named fields"),
        (typed_row(cause_class="because"), "is not known"),
        (typed_row(sources=[{"kind": "x"}]), "sources[0].kind"),
        (typed_row(measured_on="yesterday"), "is not a date"),
        (typed_row(title="x" * 400), "title has 400 characters"),
        (typed_row(title=[1]), "title must be text"),
        (typed_row(structural="yes"), "structural must be true or false"),
    ],
)
def test_typed_values_that_no_row_can_hold_are_named_with_their_line(cora, content, said):
    shown = preview(cora, typing=content)
    assert said in shown.html
    assert "Line 9, column" in shown.html
    assert not apply(cora, shown)
    assert not EvidenceRow.objects.exists()


@pytest.mark.parametrize(
    ("content", "typed", "said"),
    [
        (MAP.replace("2026-06-29", "2026-02-31"), None, "line 11: 2026-02-31"),
        (MAP, typing(rows={"D77": {"bound": "x"}}), "codes that no table has: D77"),
    ],
)
def test_what_is_not_taken_over_is_said_and_stops_nothing(cora, content, typed, said):
    shown = preview(cora, content.encode(), typed)
    assert said in shown.html.replace("Line 11", "line 11")
    assert apply(cora, shown)


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbf" + MAP.encode(), MAP.replace("\n", "\r\n").encode(), MAP.replace("\n", "\r").encode()],
)
def test_maps_of_other_editors_read_the_same(cora, content):
    assert apply(cora, preview(cora, content, b"\xef\xbb\xbf" + typing_bytes()))
    counts = preview(cora, MAP.encode(), typing_bytes()).job.counts
    assert [counts[state] for state in ("new", "changed", "unchanged", "unreadable")] == [0, 0, 6, 0]


@pytest.mark.parametrize("name", ["x" * 300 + ".md", "a\nb.md", "日本.md", "..md", "a.txt", "a"])
def test_odd_names_of_maps_are_made_harmless(cora, name):
    assert apply(cora, preview(cora, name=name))
    assert cora.get(Document.objects.get().get_absolute_url()).status_code == 200


def test_a_hostile_map_is_shown_as_text(cora):
    cell = "<script>alert(1)</script> [x](javascript:alert(1)) <img src=x>"
    shown = preview(cora, MAP.replace("Takes a MAC slot", cell).replace("Loader warp", f"Loader {cell}").encode())
    assert apply(cora, shown)
    pages = [shown.html] + [
        cora.get(path).content.decode() for path in ("/evidence/", "/evidence/rows/D1/", "/references/documents/map/")
    ]
    for html in pages:
        assert "&lt;script&gt;alert(1)" in html
        assert not [live for live in LIVE if live in html]


def test_a_map_as_large_as_a_map_may_be_is_imported(cora):
    content = MAP.encode() + b"\n## More\n\n" + b"\n" * 40_000 + b"x" * 1000
    assert apply(cora, preview(cora, content + b"y" * (MAX_MAP_BYTES - len(content))))


def test_a_typed_lever_that_is_no_slug_becomes_one(cora):
    assert apply(cora, preview(cora, typing=typed_row(lever="A new lever!")))
    assert EvidenceRow.objects.get(code="D1").head.lever.slug == "a-new-lever"
