"""The spec editor: fresh rows are neutral until they are touched or handed in."""

import copy
import re
from urllib.parse import parse_qsl, urlencode

import pytest
from django.urls import reverse

from evidence.models import EvidenceRow
from kernels.editor.fresh import without_fresh_rows
from kernels.editor.screen import Page
from kernels.models import SpecDraft, Submission
from references.importers.archive import Files
from references.importers.documents import import_documents
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec
from tests.starter_data import STARTER
from v2kb.rules.spec_document import empty_row

pytestmark = pytest.mark.django_db

# Section, table, a field of its new row, and what a designer begins with there.
TABLES = (
    ("smem", "smem.regions", "name", "RING"),
    ("sems", "sems.rows", "name", "full"),
    ("granularity", "granularity", "task", "tail"),
    ("questions", "open_questions", "text", "Which grid?"),
)


@pytest.fixture
def edit(client, forms_world):
    """edit("smem", **fields) posts a section with the newest version of the draft, follows, and gives the page."""

    def post(section: str, **fields: str) -> str:
        draft = SpecDraft.objects.get(user=f.designer().user)
        url = reverse("kernels:spec_edit", args=[forms_world["spec"].code, section])
        if section.startswith("C"):
            url = reverse("kernels:spec_edit_choice", args=[forms_world["spec"].code, section])
        answer = client.post(url, {"version": draft.version, **fields}, follow=True)
        assert answer.status_code == 200
        return answer.content.decode()

    return post


def stored(path: str):
    value = SpecDraft.objects.get(user=f.designer().user).content
    for part in path.split("."):
        value = value[part]
    return value


@pytest.mark.parametrize(("section", "path", "name", "text"), TABLES)
def test_a_new_row_is_neutral_until_something_is_typed_into_it(edit, section, path, name, text):
    rows = len(stored(path))
    kept = {"granularity[0].task": "row", "granularity[0].mode": "per_tile", "granularity[0].num_tasks": "4",
            "granularity[0].listed": "4"} if path == "granularity" else {}  # fmt: skip
    page = edit(section, action=f"add:{path}", **{f"{path}.total": str(rows), **kept})
    assert len(stored(path)) == rows + 1
    assert "field-error" not in page
    assert "aria-invalid" not in page
    assert "1 empty row is not checked yet" in page
    page = edit(section, action="save", **{f"{path}.total": str(rows + 1), f"{path}[{rows}].{name}": text, **kept})
    assert "field-error" in page
    assert "not checked yet" not in page


def test_a_new_citation_is_neutral_and_a_half_typed_one_is_not(edit):
    choice = {
        "title": "Fuse", "lever": "fused-row-norm", "polarity": "avoids", "citations.total": "1",
        "citations[0].target": "U1", "citations[0].stance": "supports",
    }  # fmt: skip
    page = edit("C1", action="add:citations", **choice)
    assert "1 empty row is not checked yet" in page
    assert "There is no evidence row" not in page
    more = {**choice, "citations.total": "2", "citations[1].stance": "supports"}
    assert "2 empty rows are not checked yet" in edit("C1", action="add:acknowledged", **more)
    assert "D99" in edit("C1", action="save", **more, **{"citations[1].target": "D99"})


def test_a_section_that_is_not_there_is_said_before_the_revision_is_saved(edit):
    typed = {"title": "Fuse", "citations.total": "1", "citations[0].stance": "supports"}
    page = edit("C1", action="save", **typed, **{"citations[0].target": "house-style#§6"})
    assert "Choice C1: row 1 of &quot;Rests on&quot; cites the document &#x27;house-style&#x27;" in page
    import_documents(f.curator(), files=Files(texts=[("house-style.md", "# Style\n\n## 6. Tasks\n\nText.\n")]))
    page = edit("C1", action="save", **typed, **{"citations[0].target": "house-style#§7"})
    assert "Choice C1: row 1 of &quot;Rests on&quot; cites the section house-style#§7" in page
    page = edit("C1", action="save", **typed, **{"citations[0].target": "house-style#§6"})
    assert "row 1 of &quot;Rests on&quot; cites" not in page


def test_a_place_in_code_without_tree_and_commit_stays_code_and_keeps_its_hash(edit):
    draft = SpecDraft.objects.get(user=f.designer().user)
    bare = {"kind": "code", "tree": "", "commit": "", "path": "builder.py", "lines": "3-9", "sha256": "", "stance": ""}
    whole = {**bare, "tree": "mpk", "commit": "abc123", "sha256": "a" * 64}
    draft.content["choices"][0]["citations"] = [bare, whole]
    draft.save()
    form = dict(parse_qsl(Page("choices", "C1").form_of(draft.content), keep_blank_values=True))
    assert (form["citations[0].target"], form["citations[1].target"]) == ("builder.py:3-9", "mpk:builder.py@abc123:3-9")
    said = edit("C1", action="save", **form)
    assert stored("choices")[0]["citations"] == [bare, whole]
    assert "builder.py:3-9" in said
    edit("C1", action="save", **{**form, "citations[0].target": "mpk:builder.py@def456:3-9"})
    assert stored("choices")[0]["citations"][0] == {**bare, "tree": "mpk", "commit": "def456"}


def test_a_new_symbol_is_neutral_until_it_has_a_name_of_its_own(edit):
    page = edit("overview", action="add:symbols", **{"title": "T", "symbols.total": "0"})
    assert "The expression is empty" not in page
    named = {"symbols.total": "1", "symbols[0].name": "STAGES", "symbols[0].value": ""}
    assert "The expression is empty" in edit("overview", action="save", title="T", **named)


def test_findings_of_the_rows_after_a_fresh_one_stay_with_their_rows():
    document = grouped_gemm_spec()
    regions = document["smem"]["regions"]
    blank = empty_row("smem.regions")
    document["smem"]["regions"] = [regions[0], blank, *regions[1:]]
    before = copy.deepcopy(document)
    filled = without_fresh_rows(document)
    assert filled.left_out == 1
    assert filled.document["smem"]["regions"] == regions
    assert filled.place("smem.regions[0].name") == "smem.regions[0].name"
    assert filled.place("smem.regions[1].size_bytes") == "smem.regions[2].size_bytes"
    assert filled.place("sems.rows[1].name") == "sems.rows[1].name"
    assert filled.place("smem.regions") == "smem.regions"
    assert document == before


def test_odd_drafts_are_taken_as_they_are():
    for odd in (
        {"smem": "x", "choices": 5, "symbols": []},
        {"choices": ["C1", {"citations": 3}]},
        {"smem": {"regions": {}}},
    ):
        assert without_fresh_rows(odd).document == odd


def test_handing_in_a_spec_with_an_empty_row_is_refused_and_says_which(client, forms_world, edit):
    edit("smem", action="add:smem.regions", **{"smem.regions.total": "0"})
    code = forms_world["spec"].code
    finish = reverse("kernels:spec_finish", args=[code])
    assert "The region has no name." in client.get(finish).content.decode()
    draft = SpecDraft.objects.get(user=f.designer().user)
    answer = client.post(finish, {"version": draft.version, "action": "submit"})
    assert answer.status_code == 422
    assert "The region has no name." in answer.content.decode()
    assert Submission.objects.count() == 1  # that of the revision before


def test_an_autosave_of_a_whole_pipeline_asks_the_database_few_questions(
    client, forms_world, django_assert_max_num_queries
):
    draft = SpecDraft.objects.get(user=f.designer().user)
    draft.content = grouped_gemm_spec()
    draft.save()
    form = Page("sems").form_of(draft.content)
    body = urlencode({"version": draft.version, "base": form, "action": "autosave"}) + "&" + form
    with django_assert_max_num_queries(30):
        answer = client.post(
            reverse("kernels:spec_edit", args=["S1", "sems"]),
            body,
            content_type="application/x-www-form-urlencoded",
            headers={"HX-Request": "true"},
        )
    assert answer.status_code == 200


def roles_of(edit, *rows) -> list[tuple[str, str]]:
    """("open" or "folded", what the folded line says) of each role in the editor."""
    draft = SpecDraft.objects.get(user=f.designer().user)
    draft.content["roles"]["rows"] = [{**empty_row("roles.rows"), **row} for row in rows]
    draft.save()
    page = edit("roles", action="save", **dict(parse_qsl(Page("roles").form_of(draft.content), keep_blank_values=True)))
    found = re.findall(r'<details[^>]* id="paths-[^"]*"( open)?>\s*<summary>(.*?)</summary>', page, re.DOTALL)
    return [("open" if opened else "folded", " ".join(re.sub(r"<[^>]+>", " ", said).split())) for opened, said in found]


def test_the_duties_of_a_role_are_one_line_per_path_until_they_are_opened(edit):
    answered = {
        "role": "loader", "duty": "Streams tiles. " * 100, "pages": "none", "handshake": "waits mma",
        "bounds_fail": "x", "inactive_pages": "none",
    }  # fmt: skip
    (state, said), (fresh, _) = roles_of(edit, answered, {"role": "storer"})
    assert (state, fresh) == ("folded", "open")
    assert said.startswith("Row 1, normal handshake: waits mma; pages: none; duty: Streams tiles.")
    assert "out of bounds duty: x inactive pages: none" in said
    assert len(said) < 400


def test_a_choice_suggests_the_anchors_of_the_spec_and_the_workloads_of_its_ops(edit):
    page = edit("C1", action="save", title="Fuse", lever="fused-row-norm", polarity="adopts")
    lists = dict(re.findall(r'<datalist id="([a-z-]+)">(.*?)</datalist>', page, re.DOTALL))
    (op,) = SpecDraft.objects.get(user=f.designer().user).spec.ops.all()
    for case in op.head.content["workloads"]:
        assert f'value="{case["name"]}"' in lists["case-list"]
    row = EvidenceRow.objects.get(head__lever__slug="fused-row-norm")
    assert f'<option value="{row.code}">UNTESTED: {row.head.title}</option>' in lists["cite-list"]
    for anchor in stored("anchors"):
        assert f'value="{anchor["name"]}"' in lists["anchor-list"]
    assert stored("anchors")


def test_the_columns_of_a_table_are_explained_where_it_has_rows(edit):
    said = "What the columns of instances mean"
    assert said in edit("granularity", action="check", **{"granularity.total": "1", "granularity[0].task": "row"})
    assert said not in edit("granularity", action="save", **{"granularity.total": "0"})


def test_the_section_of_its_family_is_the_first_suggestion_of_a_citation(edit, system):
    catalogue = (STARTER / "documents" / "upstream-catalogue.md").read_text(encoding="utf-8")
    import_documents(system, files=Files([("upstream-catalogue.md", catalogue)], []), source="test")
    draft = SpecDraft.objects.get(user=f.designer().user)
    draft.content["engine"]["family"] = "C"
    draft.save()
    page = edit("C1", action="check", title="Fuse", polarity="keeps")
    first = re.search(r'<datalist id="cite-list"><option value="([^"]+)">([^<]+)<', page)
    assert first[1].startswith("upstream-catalogue#family-c-")
    assert first[2].startswith("Family C: ")
    cited = {"citations.total": "1", "citations[0].target": first[1], "citations[0].stance": "supports"}
    assert "has nothing under" not in edit("C1", action="check", title="Fuse", polarity="keeps", **cited)
