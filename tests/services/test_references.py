"""Importing documents, archiving them, guidelines, links, citations: services and selectors of references."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction

from references import selectors
from references.importers.archive import Files, RefusedFile, read_folder
from references.importers.documents import import_documents, slug_of_paths
from references.indexing import find_sections
from references.links import resolve_document_link
from references.models import Document, DocumentRevision, Family, Guideline, Section, UpstreamSnapshot
from references.services.documents import archive_document, restore_document, save_documents
from references.services.guidelines import set_guidelines
from references.services.uploads import keep_upload, open_upload
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.markdown import render
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

RULES = "# House rules\n\nOpening.\n\n## 1. Roles\n\nLoader loads.\n\n## 2. Memory\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
CATALOGUE = """# Catalogue — up/main @ 0123abcd (studied 2026-01-02)

Merge-base = 89abcdef

| Kernel | Family | Task type | Arity |
|---|---|---|---|
| gemm.cuh | A | TASK_GEMM_V2 (7) | (2,1) |

## Family A — ring pipeline

When to copy: real GEMMs.
"""


def files(**texts):
    return Files(texts=[(f"docs/{name}.md", text) for name, text in texts.items()])


def states(report):
    return {line.path: line.state for line in report.lines}


def test_a_first_import_stores_document_revision_sections_and_activity(make_actor):
    curator = make_actor("cora", "curator")
    report = import_documents(curator, files=files(rules=RULES), source="team/repo, Apache-2.0")
    assert report.applied
    assert states(report) == {"docs/rules.md": "new"}
    document = Document.objects.get(slug="rules")
    assert (document.title, document.path) == ("House rules", "docs/rules.md")
    assert (document.head.number, document.head.source) == (1, "team/repo, Apache-2.0")
    assert document.head.imported_by == curator.user
    assert document.head.text == RULES
    sections = list(document.head.sections.all())
    assert [(s.number, s.anchor, s.first_line, s.last_line) for s in sections] == [
        ("", "house-rules", 1, 4),
        ("1", "roles", 5, 8),
        ("2", "memory", 9, 13),
    ]
    assert sections[2].parent == sections[0]
    assert sections[2].blocks[0]["rows"] == [{"line": 13, "cells": ["1", "2"]}]
    entry = Activity.objects.get(verb="document.imported")
    assert entry.after["hash"] == document.head.content_hash
    assert entry.user == curator.user


def test_a_dry_run_says_the_same_and_writes_nothing(system):
    report = import_documents(system, files=files(rules=RULES), dry_run=True)
    assert states(report) == {"docs/rules.md": "new"}
    assert not report.applied
    assert Document.objects.count() == DocumentRevision.objects.count() == Activity.objects.count() == 0


def test_a_second_import_makes_a_revision_only_where_text_changed(system):
    import_documents(system, files=files(rules=RULES, other="# Other\n"))
    again = import_documents(system, files=files(rules=RULES, other="# Other\n"))
    assert set(states(again).values()) == {"unchanged"}
    assert not again.applied
    changed = import_documents(system, files=files(rules=RULES.replace("loads.", "waits."), other="# Other\n"))
    assert states(changed) == {"docs/rules.md": "changed", "docs/other.md": "unchanged"}
    assert list(Document.objects.get(slug="rules").revisions.values_list("number", flat=True)) == [2, 1]
    assert Document.objects.get(slug="other").revisions.count() == 1
    entry = Activity.objects.filter(verb="document.imported").first()
    assert (entry.before["revision"], entry.after["revision"]) == (1, 2)


def test_anchors_survive_a_second_import_that_puts_an_equal_heading_in_front(system):
    import_documents(system, files=files(a="# T\n\n## One\n\n### Notes\n\nx\n\n## Two\n\n### Notes\n\ny\n"))
    before = dict(Section.objects.values_list("anchor", "content_hash"))
    import_documents(
        system,
        files=files(a="# T\n\n## Zero\n\n### Notes\n\nz\n\n## One\n\n### Notes\n\nx\n\n## Two\n\n### Notes\n\ny\n"),
    )
    head = Document.objects.get(slug="a").head
    assert list(head.sections.values_list("anchor", flat=True)) == [
        "t", "zero", "notes--zero", "one", "notes", "two", "notes--two",
    ]  # fmt: skip
    after = dict(head.sections.values_list("anchor", "content_hash"))
    assert after["notes"] == before["notes"]
    assert after["notes--two"] == before["notes--two"]


def test_the_preview_of_a_change_names_sections_and_a_document_from_elsewhere(system):
    import_documents(system, files=files(rules=RULES))
    text = RULES.replace("## 2. Memory", "## 2. Pages").replace("loads.", "waits.")
    report = import_documents(system, files=Files(texts=[("elsewhere/rules.md", text)]), dry_run=True)
    notes = " / ".join(report.lines[0].notes)
    assert "New sections: pages" in notes
    assert "Changed sections: roles" in notes
    assert "Sections that are gone: memory" in notes
    assert "imported from docs/rules.md before" in notes
    moved = import_documents(system, files=Files(texts=[("repo/docs/rules.md", text)]), dry_run=True)
    assert "imported from" not in " ".join(moved.lines[0].notes)


def test_refused_and_skipped_files_are_listed_and_the_others_are_stored(system):
    mixed = files(rules=RULES)
    mixed.skipped.append(("docs/pic.png", "not a markdown file"))
    mixed.refused.append(
        RefusedFile("docs/bad.md", "document.not_utf8", "docs/bad.md is not UTF-8.", "Save it as UTF-8.")
    )
    report = import_documents(system, files=mixed)
    assert states(report) == {"docs/bad.md": "refused", "docs/pic.png": "skipped", "docs/rules.md": "new"}
    assert report.summary == "1 new, 0 changed, 0 unchanged, 1 refused, 1 skipped"
    assert Document.objects.count() == 1


def test_files_of_one_name_get_their_folders_name_and_equal_ones_are_refused(system):
    assert slug_of_paths(["a/readme.md", "b/readme.md", "x.md"]) == {
        "a/readme.md": "a-readme",
        "b/readme.md": "b-readme",
        "x.md": "x",
    }
    assert slug_of_paths(["日本.md"])["日本.md"].startswith("document-")
    same = Files(texts=[("1/a/notes.md", "# One"), ("2/a/notes.md", "# Two"), ("ok.md", "# Fine")])
    report = import_documents(system, files=same)
    assert states(report) == {"1/a/notes.md": "refused", "2/a/notes.md": "refused", "ok.md": "new"}
    assert report.lines[0].code == "document.same_name"


@pytest.mark.parametrize("role", ["viewer", "designer", "implementer", "reviewer_correctness", "operator"])
def test_only_curators_and_administrators_import_archive_and_restore(make_actor, system, role):
    import_documents(system, files=files(rules=RULES))
    actor = make_actor("vera", role)
    document = Document.objects.get()
    for act in (
        lambda: import_documents(actor, files=files(new="# New")),
        lambda: import_documents(actor, files=files(new="# New"), dry_run=True),
        lambda: archive_document(actor, slug="rules"),
        lambda: restore_document(actor, slug="rules"),
        lambda: set_guidelines(actor, document, "known_gap", []),
        lambda: keep_upload(actor, payload={}),
    ):
        with pytest.raises(Forbidden):
            act()
    assert Document.objects.count() == 1


@pytest.mark.parametrize("role", ["curator", "administrator"])
def test_both_import_roles_may(make_actor, role):
    assert import_documents(make_actor("ada", role), files=files(rules=RULES)).applied


def test_a_head_that_moved_since_the_preview_is_a_conflict_and_nothing_is_written(system):
    import_documents(system, files=files(rules=RULES))
    prepared = _prepared(system, RULES + "\n## 3. New\n")
    import_documents(system, files=files(rules=RULES + "\n## Elsewhere\n"))
    with pytest.raises(Conflict) as refused:
        save_documents(system, documents=[prepared])
    assert refused.value.code == "references.moved"
    assert DocumentRevision.objects.count() == 2


def _prepared(actor, text):
    """What an import would store, caught on its way to the service."""
    caught = []
    import references.importers.documents as module

    original = module.save_documents
    module.save_documents = lambda actor, *, documents, source: caught.extend(documents)
    try:
        import_documents(actor, files=files(rules=text))
    finally:
        module.save_documents = original
    return caught[0]


def test_saving_nothing_is_refused(system):
    with pytest.raises(Refusal) as refused:
        save_documents(system, documents=[])
    assert refused.value.code == "references.nothing_to_import"


def test_an_archived_document_is_off_the_lists_still_cited_and_refuses_imports(system):
    import_documents(system, files=files(rules=RULES))
    document = archive_document(system, slug="rules", reason="superseded")
    assert document.archived_at
    assert selectors.search_sections("loader") == []
    assert selectors.cited_section("rules", "roles").title == "Roles"
    report = import_documents(system, files=files(rules=RULES + "\nmore\n"))
    assert (report.lines[0].state, report.lines[0].code) == ("refused", "references.archived")
    with pytest.raises(Conflict):
        archive_document(system, slug="rules")
    restore_document(system, slug="rules")
    assert [section.anchor for section in selectors.search_sections("loader")] == ["roles"]
    with pytest.raises(Conflict):
        restore_document(system, slug="rules")
    with pytest.raises(Missing):
        archive_document(system, slug="nowhere")
    assert list(Activity.objects.values_list("verb", flat=True)) == [
        "document.restored", "document.archived", "document.imported",
    ]  # fmt: skip


@pytest.mark.parametrize("model", [DocumentRevision, Section])
def test_the_database_refuses_to_change_or_delete_texts(system, model):
    import_documents(system, files=files(rules=RULES))
    with pytest.raises(DatabaseError), transaction.atomic():
        model.objects.update(title="forged")
    with pytest.raises(DatabaseError), transaction.atomic():
        model.objects.all()._raw_delete("default")
    assert not model.objects.filter(title="forged").exists()


def test_a_catalogue_makes_a_snapshot_with_families_kernels_and_what_was_not_read(system):
    report = import_documents(system, files=files(catalogue=CATALOGUE))
    snapshot = UpstreamSnapshot.objects.get()
    assert str(snapshot) == "up/main  @ 0123abcd"
    assert str(snapshot.studied_on) == "2026-01-02"
    kernel = snapshot.kernels.get()
    assert (kernel.name, kernel.family, kernel.task_type, kernel.task_ids, kernel.arities) == (
        "gemm", "A", "TASK_GEMM_V2", [7], [[2, 1]],
    )  # fmt: skip
    family = snapshot.families.get()
    assert (family.letter, family.title, family.idiom, family.when_to_copy, family.anchor) == (
        "A", "ring pipeline", "role pipeline", "real GEMMs.", "family-a-ring-pipeline",
    )  # fmt: skip
    assert any("branch could not be read" in text for text in snapshot.unread)
    assert any("Family B" in text for text in snapshot.unread)
    assert report.lines[0].unread == snapshot.unread


def test_a_catalogue_without_commit_is_a_document_without_snapshot_and_says_so(system):
    report = import_documents(system, files=files(catalogue=CATALOGUE.replace("@ 0123abcd", "")))
    assert UpstreamSnapshot.objects.count() == 0
    assert "No snapshot is stored: repository and commit must be known." in report.lines[0].unread
    assert Document.objects.count() == 1


def test_the_current_snapshot_is_that_of_a_head(system):
    import_documents(system, files=files(catalogue=CATALOGUE))
    import_documents(system, files=files(catalogue=CATALOGUE.replace("0123abcd", "4567abcd")))
    assert UpstreamSnapshot.objects.count() == 2
    assert selectors.current_snapshot().commit == "4567abcd"
    archive_document(system, slug="catalogue")
    assert selectors.current_snapshot() is None
    assert Family.objects.count() == 2


def item(title, text="Because.", anchor="rules"):
    return {"title": title, "text": text, "anchor": anchor}


def test_guidelines_are_set_and_only_differences_are_written(system):
    import_documents(system, files=files(rules=RULES))
    document = Document.objects.get()
    first = set_guidelines(system, document, "measurement_rule", [item("One"), item("Two"), item("Three")])
    assert (first.new, first.changed, first.unchanged, first.removed) == ([1, 2, 3], [], [], [])
    lines = Activity.objects.filter(verb="guidelines.set").count()
    same = set_guidelines(system, document, "measurement_rule", [item("One"), item("Two"), item("Three")])
    assert (same.new, same.unchanged) == ([], [1, 2, 3])
    assert Activity.objects.filter(verb="guidelines.set").count() == lines == 1
    second = set_guidelines(system, document, "measurement_rule", [item("One"), item("Two", "Otherwise.")])
    assert (second.changed, second.unchanged, second.removed) == ([2], [1], [3])
    assert list(Guideline.objects.values_list("number", "title", "text")) == [
        (1, "One", "Because."),
        (2, "Two", "Otherwise."),
    ]
    assert Activity.objects.filter(verb="guidelines.set").count() == 2


@pytest.mark.parametrize(
    ("kind", "items", "code"),
    [
        ("advice", [item("One")], "references.guideline_kind"),
        ("known_gap", [item(" ")], "references.empty_guideline"),
        ("known_gap", [item("One", " ")], "references.empty_guideline"),
        ("known_gap", [item("One")] * 201, "references.too_many_guidelines"),
    ],
)
def test_bad_guidelines_are_refused(system, kind, items, code):
    import_documents(system, files=files(rules=RULES))
    with pytest.raises(Refusal) as refused:
        set_guidelines(system, Document.objects.get(), kind, items)
    assert refused.value.code == code
    assert Guideline.objects.count() == 0


def test_a_cited_section_is_that_of_its_revision(system):
    import_documents(system, files=files(rules=RULES))
    first = Document.objects.get().head.content_hash
    import_documents(system, files=files(rules=RULES.replace("loads.", "waits.")))
    assert selectors.cited_section("rules", "roles").revision.number == 2
    for pin in (first, first[:12]):
        assert selectors.cited_section("rules", "roles", pin).revision.content_hash == first
    for named in ("1", "§1", "§2"):
        assert selectors.cited_section("rules", named) == selectors.get_section(Document.objects.get().head, named)
    for wrong in (
        ("rules", "nowhere", ""),
        ("rules", "§", ""),
        ("nothing", "roles", ""),
        ("rules", "roles", "abcdef01"),
        ("rules", "roles", first[:4]),
        ("rules", "ro\x00les", ""),
    ):
        assert selectors.cited_section(*wrong) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rules#roles@0123456789ab", ("rules", "roles", "0123456789ab")),
        ("rules#roles", ("rules", "roles", "")),
        ("[[doc:rules#roles]]", ("rules", "roles", "")),
        ("rules#10.5", ("rules", "10.5", "")),
        ("rules", None),
        ("rules#roles@xyz", None),
        ("", None),
    ],
)
def test_offered_citations_parse(text, expected):
    assert selectors.parse_citation(text) == expected


def test_markdown_links_to_documents_sections_and_numbers(system):
    import_documents(system, files=files(rules=RULES))
    html = render("See [[doc:rules]], [[doc:rules#roles]], [[doc:rules#§2]], [[doc:rules#nowhere]] and [[doc:none]].")
    assert 'href="/references/documents/rules/"' in html
    assert 'href="/references/documents/rules/s/roles/"' in html
    assert 'href="/references/documents/rules/s/memory/"' in html
    assert html.count("<a ") == 3
    assert "<code>rules#nowhere</code>" in html
    assert resolve_document_link("none") is None


def test_search_finds_sections_by_all_words_titles_first(system):
    import_documents(system, files=files(rules=RULES, other="# Other\n\n## Loader\n\nText about memory.\n"))
    assert [section.anchor for section in selectors.search_sections("loader")] == ["loader", "roles"]
    assert selectors.search_sections("loader nothing") == []
    assert selectors.search_sections("%") == []
    found = {hit["url"]: hit for hit in find_sections("loads", 5)}
    assert list(found) == ["/references/documents/other/s/loader/", "/references/documents/rules/s/roles/"]
    assert ("loads", True) in found["/references/documents/rules/s/roles/"]["snippet"]


def test_uploads_are_their_owners_and_one_each(make_actor):
    cora, otto = make_actor("cora", "curator"), make_actor("otto", "curator")
    first = keep_upload(cora, payload={"texts": []}, source="x")
    second = keep_upload(cora, payload={"texts": [["a.md", "# A"]]})
    assert open_upload(cora, pk=second.pk)[1] == {"texts": [["a.md", "# A"]]}
    for actor, pk in ((cora, first.pk), (otto, second.pk)):
        with pytest.raises(Missing):
            open_upload(actor, pk=pk)


def run_command(*arguments):
    out = io.StringIO()
    call_command("import_references", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_imports_a_folder_previews_and_names_what_is_wrong(tmp_path, make_user):
    make_user("cora", "curator")
    make_user("vera", "viewer")
    (tmp_path / "rules.md").write_text(RULES)
    (tmp_path / "bad.md").write_bytes(b"\xff")
    assert "Would be: 1 new, 0 changed, 0 unchanged, 1 refused, 0 skipped" in run_command(str(tmp_path), "--dry-run")
    assert Document.objects.count() == 0
    out = run_command(str(tmp_path), "--as", "cora", "--source", "team, MIT")
    assert "Done: 1 new" in out
    assert "bad.md is not UTF-8" in out
    assert DocumentRevision.objects.get().imported_by.username == "cora"
    assert DocumentRevision.objects.get().source == "team, MIT"
    for arguments in ((str(tmp_path / "none"),), (str(tmp_path), "--as", "nobody"), (str(tmp_path), "--as", "vera")):
        with pytest.raises(CommandError):
            run_command(*arguments)


def test_the_corpus_imports_and_imports_again_unchanged(system, corpus):
    report = import_documents(system, files=read_folder(corpus))
    assert report.counts == {"new": 9, "changed": 0, "unchanged": 0, "refused": 0, "skipped": 0}
    assert UpstreamSnapshot.objects.get().kernels.count() == 10
    assert import_documents(system, files=read_folder(corpus)).counts["unchanged"] == 9
