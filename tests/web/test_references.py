"""Pages of references: reading, uploading, permissions, bad input, query counts."""

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Document, DocumentRevision, UploadDraft, UpstreamSnapshot
from references.services.guidelines import set_guidelines
from tests.zips import zipped

pytestmark = pytest.mark.django_db

RULES = """# House rules

Opening with [[doc:catalogue]] and [[doc:catalogue#family-a-ring-pipeline]].

## 1. Roles

| role | bar `a|b` |
|---|---|
| loader | <script>alert(1)</script> |
| storer |

### Ship list

- [x] aligned
- [ ] tested

## 2. Memory

```cpp
int pages = 14;
```
"""
CATALOGUE = """# Catalogue — up/main @ 0123abcd (studied 2026-01-02)

| Kernel | Family | Task type | Arity |
|---|---|---|---|
| gemm.cuh | A | TASK_GEMM_V2 (7) | (2,1) |

## Family A — ring pipeline

When to copy: real GEMMs.
"""
READ_PAGES = [
    "/references/",
    "/references/?q=loader",
    "/references/?archived=true",
    "/references/documents/rules/",
    "/references/documents/rules/r1/",
    "/references/documents/rules/s/roles/",
    "/references/documents/rules/r1/roles/",
    "/references/snapshots/",
    "/references/guidelines/",
    "/references/guidelines/?kind=known_gap",
]


@pytest.fixture
def documents(system):
    import_documents(system, files=Files(texts=[("rules.md", RULES), ("catalogue.md", CATALOGUE)]), source="team, MIT")
    gap = {"title": "No baselines", "text": "See [[doc:rules#roles]].", "anchor": "memory"}
    set_guidelines(system, Document.objects.get(slug="rules"), "known_gap", [gap])


@pytest.fixture
def sign_in(client, make_user):
    def enter(*roles):
        user = make_user("-".join(roles) or "norole", *roles)
        client.force_login(user)
        return client

    return enter


def of_folders(**members):
    """A zip of markdown files; `a__b` names a/b.md."""
    return zipped(*((name.replace("__", "/") + ".md", content) for name, content in members.items()))


def upload(name, content):
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def text_of(response):
    return response.content.decode()


# ---- who may ----


@pytest.mark.parametrize("path", [*READ_PAGES, "/references/import/", "/references/import/1/"])
def test_nobody_reads_without_signing_in(client, documents, path):
    response = client.get(path)
    assert response.status_code == 302
    assert response.url.startswith("/sign-in/?next=/references/")


@pytest.mark.parametrize("path", READ_PAGES)
def test_a_viewer_reads_every_page(sign_in, documents, path):
    response = sign_in("viewer").get(path)
    assert response.status_code == 200
    assert "Import documents</a>" not in text_of(response)


def test_a_viewer_reads_the_snapshot(sign_in, documents):
    response = sign_in("viewer").get(UpstreamSnapshot.objects.get().get_absolute_url())
    assert "real GEMMs." in text_of(response)
    assert "TASK_GEMM_V2" in text_of(response)
    assert "branch could not be read" in text_of(response)


@pytest.mark.parametrize("role", ["viewer", "designer", "reviewer_performance", "operator"])
def test_other_roles_can_not_import_archive_or_restore(sign_in, documents, role):
    client = sign_in(role)
    assert client.get("/references/import/").status_code == 403
    assert client.post("/references/import/", {"files": upload("a.md", "# A")}).status_code == 403
    assert client.get("/references/import/1/").status_code == 403
    assert client.post("/references/import/1/").status_code == 403
    assert client.post("/references/documents/rules/archive/").status_code == 403
    assert client.post("/references/documents/rules/restore/").status_code == 403
    assert Document.objects.filter(archived_at__isnull=True).count() == 2


# ---- reading ----


def test_a_document_page_shows_contents_tables_checklists_and_citations(sign_in, documents):
    html = text_of(sign_in("viewer").get("/references/documents/rules/"))
    assert '<a href="#ship-list">Ship list</a>' in html
    assert "<td>loader</td>" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert" not in html
    assert "<code>a|b</code>" in html
    assert "line 10: 1 cell where the header has 2" in html
    assert 'aria-label="done"' in html
    assert 'aria-label="not done"' in html
    assert "int pages = 14;" in html
    assert "[[doc:rules#roles]]" in html
    assert f"rules#roles@{Document.objects.get(slug='rules').head.content_hash}" in html
    assert 'href="/references/documents/catalogue/"' in html
    assert "team, MIT" in html


FRONT = '---\nname: probe-rules\ntags: [sm_100, "<b>"]\nempty:\n---\n\n'


def test_front_matter_is_a_list_at_the_head_and_never_prose(sign_in, system):
    import_documents(system, files=Files(texts=[("rules.md", FRONT + RULES)]))
    client = sign_in("viewer")
    html = text_of(client.get("/references/documents/rules/"))
    assert "<dt>name</dt><dd>probe-rules</dd><dt>tags</dt><dd>sm_100, &lt;b&gt;</dd><dt>empty</dt><dd>–</dd>" in html
    assert html.count("probe-rules") == 1
    assert "lines 6–10" in html
    answer = client.get("/api/v1/documents/rules/revisions/").json()
    assert answer[0]["front_matter"][1] == {"name": "tags", "values": ["sm_100", "<b>"]}


def test_front_matter_that_can_not_be_read_is_said_in_the_preview_and_shown_as_text(sign_in):
    client = sign_in("curator")
    broken = FRONT.replace("]", "") + RULES
    url = client.post("/references/import/", {"files": [upload("rules.md", broken), upload("a.md", FRONT)]}).url
    html = text_of(client.get(url))
    assert "line 4: the front matter is not YAML" in html
    assert "kept as text" in html
    assert "a.md holds front matter and no text." in html
    client.post(url)
    html = text_of(client.get("/references/documents/rules/"))
    assert "name: probe-rules\ntags: [sm_100" in html
    assert "<dt>name</dt>" not in html


def test_titles_are_links_and_counts_agree_with_their_nouns(sign_in, documents, system):
    client = sign_in("curator")
    snapshot = UpstreamSnapshot.objects.get()
    catalogue = snapshot.document_revision.document
    html = text_of(client.get(snapshot.get_absolute_url()))
    assert f'<a href="#kernel-0">{snapshot.kernels.get().name}</a>' in html
    assert 'id="kernel-0"' in html
    assert '<a href="#family-A">A</a>' in html
    assert f'<a href="/references/documents/catalogue/r1/{snapshot.families.get().anchor}/">ring pipeline</a>' in html
    guidelines = text_of(client.get("/references/guidelines/"))
    assert '<a href="/references/documents/rules/s/memory/">No baselines</a>' in guidelines
    assert '<a href="/references/documents/rules/">House rules</a>' in guidelines
    section = text_of(client.get("/references/documents/rules/s/memory/"))
    assert '<a href="/references/documents/rules/">House rules</a>, lines 17–21' in section
    again = client.post("/references/import/", {"files": [upload("rules.md", RULES), upload("new.md", "# New")]}).url
    preview = text_of(client.get(again))
    assert '<a href="/references/documents/rules/">House rules</a>' in preview
    assert "<div>New<" in preview
    assert "1 kernel, 1 family" in text_of(
        client.get(client.post("/references/import/", {"files": upload("other.md", CATALOGUE)}).url)
    )
    assert "revision 1 with 2 sections" in text_of(client.get(catalogue.get_absolute_url()))
    assert "line 1</span>" in text_of(client.get(_imported(client, "one.md", "# One")))


def _imported(client, name, text):
    client.post(client.post("/references/import/", {"files": upload(name, text)}).url)
    return f"/references/documents/{name.removesuffix('.md')}/"


def test_an_older_revision_says_so_and_the_newer_one_marks_what_changed(sign_in, documents, system):
    import_documents(system, files=Files(texts=[("rules.md", RULES.replace("## 2. Memory", "## 2. Pages"))]))
    client = sign_in("viewer")
    old = text_of(client.get("/references/documents/rules/r1/"))
    assert "This is revision 1. The newest is" in old
    assert "Memory" in old
    new = text_of(client.get("/references/documents/rules/"))
    assert "Gone since revision 1: <code>memory</code>" in new
    assert "Revision 1</a>" in new


def test_a_section_is_found_by_its_number_and_redirects_to_its_anchor(sign_in, documents):
    client = sign_in("viewer")
    response = client.get("/references/documents/rules/s/1/")
    assert (response.status_code, response.url) == (302, "/references/documents/rules/s/roles/")
    html = text_of(client.get("/references/documents/rules/s/roles/"))
    assert 'rel="prev"' in html
    assert "Ship list" in html


@pytest.mark.parametrize(
    "path",
    [
        "/references/documents/none/",
        "/references/documents/rules/r7/",
        "/references/documents/rules/r99999999999999999999/",
        "/references/documents/rules/s/nowhere/",
        "/references/snapshots/999/",
        "/references/snapshots/99999999999999999999/",
    ],
)
def test_what_is_not_there_is_a_404_that_says_what_to_do(sign_in, documents, path):
    response = sign_in("viewer").get(path)
    assert response.status_code == 404


@pytest.mark.parametrize("query", ["?page=x", "?page=999", "?q=" + "x" * 5000, "?archived=perhaps", "?q=%25%27%22"])
def test_odd_queries_never_break_the_list(sign_in, documents, query):
    assert sign_in("viewer").get("/references/" + query).status_code == 200


@pytest.mark.parametrize("query", ["?kind=advice", "?document=none"])
def test_odd_queries_never_break_the_guidelines(sign_in, documents, query):
    assert sign_in("viewer").get("/references/guidelines/" + query).status_code == 200


@pytest.mark.parametrize("path", ["?q=%00", "guidelines/?kind=%00", "documents/rules/s/%00/"])
def test_zero_bytes_in_addresses_are_refused(sign_in, documents, path):
    assert sign_in("viewer").get("/references/" + path).status_code == 400


def test_search_shows_documents_and_sections(sign_in, documents):
    html = text_of(sign_in("viewer").get("/references/?q=pages+14"))
    assert "House rules</a>" in html
    assert 'href="/references/documents/rules/s/memory/"' in html
    assert "Catalogue" not in html.split('id="document-list"')[1]


def test_htmx_gets_the_list_alone(sign_in, documents):
    response = sign_in("viewer").get("/references/?q=loader", headers={"HX-Request": "true"})
    html = text_of(response)
    assert html.strip().startswith('<div class="stack" id="document-list">')
    assert "<html" not in html


def test_guidelines_link_to_their_section(sign_in, documents):
    html = text_of(sign_in("viewer").get("/references/guidelines/"))
    assert "No baselines" in html
    assert 'href="/references/documents/rules/s/memory/"' in html
    assert 'href="/references/documents/rules/s/roles/"' in html


def test_a_long_document_shows_its_contents_and_sends_to_section_pages(sign_in, system, monkeypatch):
    monkeypatch.setattr("references.presenters.WHOLE_PAGE_BYTES", 50)
    import_documents(system, files=Files(texts=[("long.md", "# Long\n\n## One\n\nalpha\n\n## Two\n\n" + "beta " * 30)]))
    html = text_of(sign_in("viewer").get("/references/documents/long/"))
    assert 'href="/references/documents/long/s/two/"' in html
    assert "beta" not in html


# ---- importing ----


def test_the_import_page_says_before_the_upload_what_is_read(sign_in):
    html = text_of(sign_in("curator").get("/references/import/"))
    for said in ("UTF-8", "5 MiB", "50,000 lines", "16 MiB", "32 MiB", "2,000 files", "Kernel", "Merge base:"):
        assert said in html


def test_a_curator_uploads_previews_and_imports(sign_in):
    client = sign_in("curator")
    response = client.post(
        "/references/import/", {"files": [upload("rules.md", RULES), upload("pic.png", b"\x89")], "source": "team, MIT"}
    )
    assert response.status_code == 302
    preview = client.get(response.url)
    html = text_of(preview)
    assert "1 new, 0 changed, 0 unchanged, 0 refused, 1 skipped" in html
    assert "line 10: 1 cell where" in html
    assert Document.objects.count() == 0
    done = client.post(response.url, follow=True)
    assert "Imported: 1 new" in text_of(done)
    revision = DocumentRevision.objects.get()
    assert (revision.source, revision.imported_by.username) == ("team, MIT", "curator")
    assert UploadDraft.objects.count() == 0
    assert client.post(response.url).status_code == 404


def test_a_second_upload_of_the_same_text_has_nothing_to_import(sign_in, documents):
    client = sign_in("curator")
    url = client.post("/references/import/", {"files": upload("all.zip", of_folders(docs__rules=RULES))}).url
    html = text_of(client.get(url))
    assert "Nothing is new or changed" in html
    assert ">Import</button>" not in html


def test_an_upload_can_be_thrown_away(sign_in):
    client = sign_in("curator")
    url = client.post("/references/import/", {"files": upload("a.md", "# A")}).url
    assert client.post(url + "discard/", follow=True).status_code == 200
    assert client.get(url).status_code == 404
    assert Document.objects.count() == 0


def test_an_upload_is_nobody_elses(sign_in, make_user, client):
    url = sign_in("curator").post("/references/import/", {"files": upload("a.md", "# A")}).url
    client.force_login(make_user("otto", "curator"))
    assert client.get(url).status_code == 404
    assert client.post(url).status_code == 404
    assert Document.objects.count() == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([], "Choose a zip or some .md files."),
        ([("a.txt", b"x")], "There is no markdown file"),
        ([("a.zip", b"no zip")], "not a readable zip"),
        ([("a.zip", of_folders(**{"..__evil": "# x"}))], "leaves the archive"),
        ([("a.md", b"# ok"), ("b.zip", of_folders(**{"..__evil": "# x"}))], "leaves the archive"),
    ],
)
def test_refused_uploads_come_back_into_the_form_with_what_was_typed(sign_in, files, said):
    response = sign_in("administrator").post(
        "/references/import/", {"files": [upload(*each) for each in files], "source": "typed source"}
    )
    assert response.status_code == 422
    html = text_of(response)
    assert said in html
    assert 'value="typed source"' in html
    assert UploadDraft.objects.count() == 0


def test_a_source_that_is_too_long_is_refused_at_its_field(sign_in):
    response = sign_in("curator").post("/references/import/", {"files": upload("a.md", "# A"), "source": "x" * 301})
    assert response.status_code == 422
    assert "at most 300 characters" in text_of(response)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff\xfe", "not UTF-8"), (b"", "is empty"), (b"# x\x00", "is not text")],
)
def test_a_bad_file_among_good_ones_is_listed_in_the_preview(sign_in, content, said):
    client = sign_in("curator")
    url = client.post("/references/import/", {"files": [upload("good.md", "# Good"), upload("bad.md", content)]}).url
    html = text_of(client.get(url))
    assert said in html
    assert "1 new, 0 changed, 0 unchanged, 1 refused, 0 skipped" in html
    client.post(url)
    assert list(Document.objects.values_list("slug", flat=True)) == ["good"]


def test_a_head_that_moved_between_preview_and_import_is_shown_again(sign_in, documents, system):
    client = sign_in("curator")
    url = client.post("/references/import/", {"files": upload("rules.md", RULES + "\n## 3. Mine\n")}).url
    import_documents(system, files=Files(texts=[("rules.md", RULES + "\n## 3. Theirs\n")]))
    html = text_of(client.get(url))
    assert "Sections that are gone: theirs" in html


def test_archive_and_restore(sign_in, documents):
    client = sign_in("curator")
    html = text_of(client.post("/references/documents/rules/archive/", {"reason": "superseded"}, follow=True))
    assert "House rules is archived." in html
    assert "superseded" in html
    assert "House rules" not in text_of(client.get("/references/")).split('id="document-list"')[1]
    assert "House rules" in text_of(client.get("/references/?archived=true"))
    again = client.post("/references/documents/rules/archive/", follow=True)
    assert "archived already" in text_of(again)
    assert "is restored." in text_of(client.post("/references/documents/rules/restore/", follow=True))
    assert client.post("/references/documents/none/archive/").status_code == 404
    assert client.post("/references/documents/rules/archive/", {"reason": "x" * 1001}, follow=True).status_code == 200
    assert Document.objects.get(slug="rules").archived_at is None


@pytest.mark.parametrize("path", ["/references/documents/rules/archive/", "/references/import/1/discard/"])
def test_actions_are_posts(sign_in, documents, path):
    assert sign_in("curator").get(path).status_code == 405


# ---- admin ----


@pytest.mark.parametrize(
    "model", ["document", "documentrevision", "section", "upstreamsnapshot", "family", "upstreamkernel", "guideline"]
)
def test_admin_shows_and_never_changes(client, make_user, documents, model):
    client.force_login(make_user("root", "administrator", is_staff=True, is_superuser=True))
    assert client.get(f"/admin/references/{model}/").status_code == 200
    assert client.get(f"/admin/references/{model}/add/").status_code == 403
    assert client.post(f"/admin/references/{model}/1/delete/", {"post": "yes"}).status_code in (302, 403)
    assert apps.get_model("references", model).objects.exists()


# ---- query counts ----


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_query_counts_do_not_grow_with_content(sign_in, documents, system):
    client = sign_in("viewer")
    snapshot = UpstreamSnapshot.objects.get().get_absolute_url()
    paths = ["/references/", "/references/?q=a", "/references/documents/rules/", "/references/documents/rules/s/roles/",
             "/references/snapshots/", snapshot, "/references/guidelines/"]  # fmt: skip
    before = {path: queries(client, path) for path in paths}
    more = "".join(
        f"\n## New {n}\n\na [[doc:other-{n}]] [[doc:rules#roles]]\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        for n in range(12)
    )
    texts = [("rules.md", RULES + more)] + [(f"other-{n}.md", f"# Other {n}\n\na\n") for n in range(12)]
    import_documents(system, files=Files(texts=texts))
    import_documents(system, files=Files(texts=[("catalogue.md", CATALOGUE.replace("0123abcd", "4567abcd"))]))
    gaps = [{"title": f"Gap {n}", "text": "[[doc:rules#roles]] [[doc:rules]]", "anchor": "memory"} for n in range(9)]
    set_guidelines(system, Document.objects.get(slug="rules"), "known_gap", gaps)
    after = {path: queries(client, path) for path in paths}
    revision_before = {"/references/documents/rules/": 1, "/references/documents/rules/s/roles/": 1}
    assert {path: after[path] - revision_before.get(path, 0) for path in paths} == before
    assert max(after.values()) <= 20


def test_the_corpus_pages_render(sign_in, system, corpus):
    from references.importers.archive import read_folder

    import_documents(system, files=read_folder(corpus))
    client = sign_in("viewer")
    for document in Document.objects.all():
        assert client.get(document.get_absolute_url()).status_code == 200
