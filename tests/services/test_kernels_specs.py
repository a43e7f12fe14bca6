"""Specs: drafts compared and set, revisions over a hashed document, pins, stale bases, submission."""

import copy

import pytest

from kernels.models import Citation, Spec, SpecDraft, SpecRevision, Submission
from kernels.selectors.gate import gate_preview
from kernels.selectors.specs import spec_status
from kernels.services.specs import (
    create_spec,
    discard_draft,
    open_draft,
    rebase_draft,
    save_draft,
    save_revision,
    submit_spec,
)
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Document
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.models import Activity
from v2kb.rules.canonical import content_hash

pytestmark = pytest.mark.django_db


@pytest.fixture
def row():
    return f.evidence_row()


@pytest.fixture
def spec(row):
    f.op()
    return create_spec(f.designer(), title="Fused RMS norm", ops=[f.Op.objects.get()])


def typed(spec, content, who=None):
    """Save `content` as the draft of `who`; the draft."""
    who = who or f.designer()
    draft = open_draft(who, spec=spec)
    return save_draft(who, spec=spec, content={**content, "ops": draft.content["ops"]}, version=draft.version)


def with_citation(row, **citation):
    return f.spec_content(row, citations=[{"kind": "evidence", "stance": "supports", **citation}])


# --- beginning ---


def test_codes_are_issued_by_the_server_and_never_reused(spec):
    assert spec.code == "S1"
    second = create_spec(f.designer(), title="Another", ops=[f.Op.objects.get()])
    Spec.objects.filter(pk=second.pk).delete()
    assert create_spec(f.designer(), title="Third", ops=[f.Op.objects.get()]).code == "S3"


@pytest.mark.parametrize(
    ("title", "content", "field"),
    [
        ("", None, "title"),
        ("  ", None, "title"),
        ("x" * 201, None, "title"),
        ("a\x00", None, "title"),
        ("T", {"x": 1.5}, "x"),
    ],
)
def test_a_spec_that_cannot_be_begun(spec, title, content, field):
    with pytest.raises(Refusal) as caught:
        create_spec(f.designer(), title=title, ops=[f.Op.objects.get()], content=content)
    assert caught.value.field == field
    assert Spec.objects.count() == 1


def test_a_spec_covers_at_least_one_op():
    with pytest.raises(Refusal) as caught:
        create_spec(f.designer(), title="T", ops=[])
    assert caught.value.field == "ops"


# --- drafts ---


def test_two_tabs_the_second_save_is_refused_and_overwrites_nothing(spec):
    draft = open_draft(f.designer(), spec=spec)
    content = {**draft.content, "summary": "first tab"}
    saved = save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    with pytest.raises(Conflict) as caught:
        save_draft(f.designer(), spec=spec, content={**content, "summary": "second"}, version=draft.version)
    assert caught.value.code == "spec.draft_moved"
    assert caught.value.facts == {"version": saved.version, "sent": draft.version}
    assert SpecDraft.objects.get().content["summary"] == "first tab"
    with pytest.raises(Conflict) as caught:
        save_revision(f.designer(), spec=spec, version=draft.version)
    assert caught.value.code == "spec.draft_moved"
    assert not SpecRevision.objects.exists()


def test_a_draft_keeps_what_was_typed_right_or_wrong(spec):
    content = {"title": 7, "choices": "none yet", "smem": {"regions": [{"size_bytes": "16 KB"}]}}
    draft = open_draft(f.designer(), spec=spec)
    save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    assert SpecDraft.objects.get().content == content


@pytest.mark.parametrize(
    ("content", "code", "field"),
    [
        ({"summary": 1.5}, "core.bad_value", "summary"),
        ({"summary": "a\x00b"}, "core.bad_text", "content.summary"),
        ({"choices": [{"title": "\ud800"}]}, "core.bad_text", "content.choices[0].title"),
        ({"a\x00": ""}, "core.bad_text", "content"),
        ({"summary": "x" * (1024 * 1024)}, "core.bad_value", "content"),
    ],
)
def test_a_draft_that_no_database_can_hold_is_refused_with_its_place(spec, content, code, field):
    draft = open_draft(f.designer(), spec=spec)
    with pytest.raises(Refusal) as caught:
        save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert SpecDraft.objects.get().version == draft.version


def test_each_user_has_a_draft_of_their_own_and_throws_away_only_that(spec, row):
    typed(spec, {**f.spec_content(row), "summary": "dora's"})
    dan = f.actor("dan", "designer")
    open_draft(dan, spec=spec)
    discard_draft(dan, spec=spec)
    assert SpecDraft.objects.get().content["summary"] == "dora's"
    with pytest.raises(Missing) as caught:
        discard_draft(dan, spec=spec)
    assert caught.value.code == "spec.no_draft"


# --- revisions ---


def test_a_revision_is_a_hashed_document_with_its_checks_and_citations(spec, row):
    draft = typed(spec, f.spec_content(row))
    revision = save_revision(f.designer(), spec=spec, version=draft.version, reason="begin")
    assert revision.content_hash == content_hash(revision.content)
    assert (revision.number, revision.reason, revision.author) == (1, "begin", f.designer().user)
    assert Citation.objects.get().evidence == row.head
    assert not SpecDraft.objects.exists()
    spec.refresh_from_db()
    assert spec.head == revision


def test_the_same_content_makes_no_new_revision(spec, row):
    draft = typed(spec, f.spec_content(row))
    first = save_revision(f.designer(), spec=spec, version=draft.version)
    draft = typed(spec, dict(reversed(first.content.items())))
    assert save_revision(f.designer(), spec=spec, version=draft.version) == first
    assert SpecRevision.objects.count() == 1
    assert not SpecDraft.objects.exists()
    assert Activity.objects.latest("id").summary == "nothing changed since revision 1"


@pytest.mark.parametrize("pin", ["", "HEAD", None])
def test_a_citation_without_a_pin_is_pinned_to_the_head(spec, row, pin):
    citation = {"code": row.code, "revision": pin} if pin is not None else {"code": row.code}
    draft = typed(spec, with_citation(row, **citation))
    if pin is None:
        with pytest.raises(Refusal):
            save_revision(f.designer(), spec=spec, version=draft.version)
        return
    revision = save_revision(f.designer(), spec=spec, version=draft.version)
    assert revision.content["choices"][0]["citations"][0]["revision"] == row.head.content_hash


@pytest.mark.parametrize("shown_chars", [0, 12, 64])
def test_a_section_is_cited_at_the_documents_head_or_as_far_as_its_pin_is_typed(spec, row, shown_chars):
    import_documents(f.curator(), files=Files(texts=[("notes.md", "# Notes\n\n## One\n\nText.\n")]))
    pinned = Document.objects.get().head.content_hash
    citation = {"kind": "section", "document": "notes", "anchor": "one", "stance": "context"}
    citation["revision"] = pinned[:shown_chars] or "HEAD"
    draft = typed(spec, f.spec_content(row, citations=[citation]))
    revision = save_revision(f.designer(), spec=spec, version=draft.version)
    assert revision.content["choices"][0]["citations"][0]["revision"] == pinned
    assert Citation.objects.get().section.anchor == "one"


@pytest.mark.parametrize("named", ["1", "§1", "one"])
@pytest.mark.parametrize("pin", ["", "HEAD", "first"])
def test_a_section_is_cited_by_its_number_too_and_its_anchor_is_kept(spec, row, named, pin):
    for text in ("First.", "Second."):
        import_documents(f.curator(), files=Files(texts=[("notes.md", f"# Notes\n\n## 1. One\n\n{text}\n")]))
    head, first = (revision.content_hash for revision in Document.objects.get().revisions.order_by("-number"))
    citation = {"kind": "section", "document": "notes", "anchor": named, "stance": "context"}
    citation["revision"] = first[:12] if pin == "first" else pin
    revision = save_revision(
        f.designer(), spec=spec, version=typed(spec, f.spec_content(row, citations=[citation])).version
    )
    (kept,) = revision.content["choices"][0]["citations"]
    assert (kept["anchor"], kept["revision"]) == ("one", first if pin == "first" else head)
    assert Citation.objects.get().section.revision.content_hash == kept["revision"]


@pytest.mark.parametrize("section", [("none", "§4"), ("notes", "§4"), ("notes", "gone")])
def test_a_section_that_nobody_imported_stays_unpinned_and_nothing_is_handed_in_before_it_is_there(spec, row, section):
    document, anchor = section
    import_documents(f.curator(), files=Files(texts=[("notes.md", "# Notes\n\n## 1. One\n\nText.\n")]))
    missing = {"kind": "section", "document": document, "anchor": anchor, "revision": "HEAD", "stance": "context"}
    cited = [{"kind": "evidence", "code": row.code, "revision": "HEAD", "stance": "supports"}, missing]
    draft = typed(spec, f.spec_content(row, citations=cited))
    revision = save_revision(f.designer(), spec=spec, version=draft.version)
    kept = revision.content["choices"][0]["citations"][1]
    assert (kept["anchor"], kept["revision"]) == (anchor, "")
    gate = gate_preview(spec, revision.content)
    (line,) = [line for line in gate.lines if line.rule == "AL1"]
    assert (line.status, gate.passed) == ("ERROR", False)
    assert line.message.startswith("Choice C1: ")
    with pytest.raises(Refusal) as caught:
        submit_spec(f.designer(), revision=revision)
    assert caught.value.code == "spec.findings"
    (problem,) = [p for p in caught.value.problems if p["field"] == "choices[0].citations[1].anchor"]
    assert problem["message"] == f"Choice C1 cites {document}#{anchor}, and there is no such section."
    text = "# Notes\n\n## 4. Gone\n\nText.\n"
    import_documents(f.curator(), files=Files(texts=[(f"{document}.md", text)]))
    again = save_revision(f.designer(), spec=spec, version=open_draft(f.designer(), spec=spec).version)
    assert again.content["choices"][0]["citations"][1]["anchor"] == "gone"
    assert submit_spec(f.designer(), revision=again)


@pytest.mark.parametrize(
    ("citation", "field"),
    [
        ({"kind": "evidence", "code": "D99", "revision": "HEAD"}, "choices[0].citations[0].code"),
        ({"kind": "evidence", "code": "", "revision": "HEAD"}, "choices[0].citations[0].code"),
        ({"kind": "evidence", "code": "U1", "revision": "0" * 64}, "choices[0].citations[0].code"),
        ({"kind": "song", "code": "U1"}, "choices[0].citations[0]"),
    ],
)
def test_an_unknown_citation_is_refused_with_its_field_and_the_draft_stays(spec, row, citation, field):
    draft = typed(spec, f.spec_content(row, citations=[{"stance": "supports", **citation}]))
    with pytest.raises(Refusal) as caught:
        save_revision(f.designer(), spec=spec, version=draft.version)
    assert caught.value.code == "spec.unreadable"
    said = [problem["message"] for problem in caught.value.problems if problem["field"].startswith(field)]
    assert said
    assert citation["kind"] == "song" or said[0].startswith("Choice C1 cites ")
    assert not SpecRevision.objects.exists()
    assert SpecDraft.objects.get().content == draft.content


def test_an_unknown_op_and_a_long_title_are_refused(spec, row):
    draft = open_draft(f.designer(), spec=spec)
    content = {**f.spec_content(row), "ops": [{"op": "nowhere", "contract": ""}], "title": "x" * 5000}
    draft = save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    with pytest.raises(Refusal) as caught:
        save_revision(f.designer(), spec=spec, version=draft.version)
    assert {"ops[0].op", "title"} <= {problem["field"] for problem in caught.value.problems}


def test_a_part_without_op_is_saved_and_not_handed_in_before_its_op_is_chosen(spec, row):
    draft = open_draft(f.designer(), spec=spec)
    (named,) = draft.content["ops"]
    content = {**f.spec_content(row), "ops": [named, {"name": "W2", "op": ""}]}
    save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    revision = save_revision(f.designer(), spec=spec, version=draft.version + 1)
    line = next(line for line in gate_preview(spec, revision.content).blocking_lines if line.field == "ops[1].op")
    assert line.message == "Choice C1: W2 names no op, so its scope is not known."
    with pytest.raises(Refusal) as caught:
        submit_spec(f.designer(), revision=revision)
    assert [p["field"] for p in caught.value.problems] == ["ops[1].op"]
    op = f.op("w2-cpu")
    draft = open_draft(f.designer(), spec=spec)
    content = {**draft.content, "ops": [named, {"name": "W2", "op": "w2-cpu", "contract": ""}]}
    save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    revision = save_revision(f.designer(), spec=spec, version=draft.version + 1)
    assert revision.content["ops"][1]["contract"] == op.head.content_hash
    assert submit_spec(f.designer(), revision=revision)


def test_two_users_the_second_revision_is_on_a_stale_base(spec, row):
    dan = f.actor("dan", "designer")
    first = typed(spec, f.spec_content(row))
    save_revision(f.designer(), spec=spec, version=first.version)
    content = copy.deepcopy(SpecRevision.objects.get().content)
    mine, theirs = typed(spec, {**content, "summary": "mine"}), typed(spec, {**content, "summary": "theirs"}, dan)
    save_revision(dan, spec=spec, version=theirs.version)
    with pytest.raises(Conflict) as caught:
        save_revision(f.designer(), spec=spec, version=mine.version)
    assert (caught.value.code, caught.value.facts) == ("spec.stale_base", {"base": 1, "head": 2})
    assert SpecDraft.objects.get(user=f.designer().user).content["summary"] == "mine"
    rebased = rebase_draft(f.designer(), spec=spec)
    assert rebased.content["summary"] == "mine"
    third = save_revision(f.designer(), spec=spec, version=rebased.version)
    assert (third.number, third.content["summary"]) == (3, "mine")


def test_ops_follow_the_newest_revision(spec, row):
    f.op("other-op", title="Another op")
    content = {**f.spec_content(row), "ops": [{"op": "other-op", "contract": ""}]}
    draft = open_draft(f.designer(), spec=spec)
    draft = save_draft(f.designer(), spec=spec, content=content, version=draft.version)
    save_revision(f.designer(), spec=spec, version=draft.version)
    assert [op.slug for op in spec.ops.all()] == ["other-op"]


# --- handing in ---


def test_findings_that_block_stop_the_submission_and_are_all_named(spec, row):
    content = f.spec_content(row)
    content["engine"]["family"] = ""
    content["smem"] = {"regions": [{"ordinal": "0", "name": "W0", "size_bytes": "999999999", "alignment": "16"}]}
    draft = typed(spec, content)
    revision = save_revision(f.designer(), spec=spec, version=draft.version)
    with pytest.raises(Refusal) as caught:
        submit_spec(f.designer(), revision=revision)
    assert caught.value.code == "spec.findings"
    assert caught.value.problems
    assert all(problem["message"].startswith("R") and problem["field"] for problem in caught.value.problems)
    assert not Submission.objects.exists()
    assert spec_status(spec).state == "draft"


@pytest.mark.parametrize(("bound", "blocks"), [("1.18", False), ("1.02", True)])
def test_a_prediction_beyond_what_the_cited_row_allows_blocks(bound, blocks):
    f.op()
    (number,) = f.DEAD["numbers"]
    ceiling = {**number, "text": f"{bound}x", "value": bound, "unit": "x", "direction": "higher", "role": "bound"}
    row = f.evidence_row(numbers=[ceiling])
    revision = f.saved_revision(f.spec_content(row))
    found = [finding for finding in revision.checks["findings"] if finding["rule"] == "R64"]
    assert [finding["facts"] for finding in found] == ([{"row": row.code, "ceiling": f"{bound}x"}] if blocks else [])
    assert revision.checks["summary"]["passes"] is not blocks


def test_only_the_newest_revision_is_handed_in_and_once(spec, row):
    draft = typed(spec, f.spec_content(row))
    old = save_revision(f.designer(), spec=spec, version=draft.version)
    draft = typed(spec, {**old.content, "summary": "more"})
    new = save_revision(f.designer(), spec=spec, version=draft.version)
    with pytest.raises(Conflict) as caught:
        submit_spec(f.designer(), revision=old)
    assert caught.value.code == "spec.not_newest"
    submit_spec(f.designer(), revision=new)
    with pytest.raises(Conflict) as caught:
        submit_spec(f.designer(), revision=new)
    assert caught.value.code == "spec.submitted"


def test_an_archived_spec_gets_no_draft(spec):
    Spec.objects.update(archived_at="2026-01-01T00:00Z")
    spec.refresh_from_db()
    with pytest.raises(Conflict) as caught:
        open_draft(f.actor("dan", "designer"), spec=spec)
    assert caught.value.code == "spec.archived"


@pytest.mark.parametrize("roles", [(), ("viewer",), ("implementer", "reviewer_correctness", "administrator")])
def test_only_designers_write_specs(spec, row, roles, make_actor):
    who = make_actor("ann", *roles)
    draft = typed(spec, f.spec_content(row))
    revision = save_revision(f.designer(), spec=spec, version=draft.version)
    for act in (
        lambda: create_spec(who, title="T", ops=[f.Op.objects.get()]),
        lambda: open_draft(who, spec=spec),
        lambda: save_draft(who, spec=spec, content={}, version=1),
        lambda: save_revision(who, spec=spec, version=1),
        lambda: rebase_draft(who, spec=spec),
        lambda: discard_draft(who, spec=spec),
        lambda: submit_spec(who, revision=revision),
    ):
        with pytest.raises(Forbidden):
            act()
    assert not SpecDraft.objects.exists()
