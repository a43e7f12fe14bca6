"""The search over everything keeps in step with what services change; reindex builds it anew, verify compares."""

import io

import pytest
from django.core.management import call_command
from django.utils import timezone

from evidence.indexing import find_experiments, find_levers, find_rows
from evidence.models import RowFacts
from evidence.search import Query, search_rows
from evidence.services import (
    add_alias,
    add_entry,
    archive_lever,
    archive_row,
    correct_entry,
    create_lever,
    edit_lever,
    restore_lever,
)
from kernels.indexing import find_kernels, find_ops, find_runs, find_specs
from kernels.models import Kernel, KernelVersion
from kernels.selectors.verify import faults
from kernels.services.kernels import add_version
from kernels.services.ops import revise_op
from kernels.services.runs import submit_run
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.indexing import find_families, find_sections
from references.services.documents import archive_document, restore_document
from tests import factories as f
from v2kb.core.models import SearchEntry, SearchWord
from v2kb.core.search import Kind, find

pytestmark = pytest.mark.django_db

RULES = "# House rules\n\n## 1. Roles\n\nThe loader copies weights with cp.async.\n\n## 2. Pages\n\nFourteen pages.\n"
CATALOGUE = """# Catalogue — up/main @ 0123abcd (studied 2026-01-02)

Merge-base = 89abcdef

## 0. Inventory (1 file)

| Kernel (tasks/blackwell_v2/) | Family | Task type (upstream id) | graph.cc tuple |
|---|---|---|---|
| norm_fold.cuh | B regions | TASK_NORM (7) | (2,1) |

## 2. Family B — regions of the planner (norm)

When to copy: a reduction that stages data.
"""


def imported(system, **texts: str) -> None:
    import_documents(system, files=Files(texts=[(f"{name}.md", text) for name, text in texts.items()]))


def urls(hits: list[dict]) -> list[str]:
    return [hit["url"] for hit in hits]


def output(command: str) -> str:
    out = io.StringIO()
    call_command(command, stdout=out)
    return out.getvalue()


# --- in step ----------------------------------------------------------------------------------------------------------


def test_sections_are_those_of_the_newest_text(system):
    imported(system, rules=RULES)
    (hit,) = find_sections("cp_async", 5)
    assert (hit["url"], hit["why"], hit["kind"]) == (
        "/references/documents/rules/s/roles/", "identifier in the section", "section")  # fmt: skip
    assert ("cp.async", True) in hit["snippet"]
    imported(system, rules=RULES.replace("cp.async", "bulk copies"))
    assert find_sections("cpasync", 5) == []
    assert urls(find_sections("bulk copies", 5)) == ["/references/documents/rules/s/roles/"]


def test_sections_of_archived_documents_are_not_found(system):
    imported(system, rules=RULES)
    archive_document(system, slug="rules")
    assert find_sections("fourteen", 5) == find_sections("rules#pages", 5) == []
    restore_document(system, slug="rules")
    assert urls(find_sections("fourteen", 5)) == ["/references/documents/rules/s/pages/"]


def test_sections_by_number_citation_and_hash(system):
    imported(system, rules=RULES)
    pages = "/references/documents/rules/s/pages/"
    assert urls(find_sections("house rules §2", 5))[0] == pages
    (cited, *_) = find_sections("rules#pages", 5)
    assert (cited["url"], cited["why"]) == (pages, "the section")
    section = SearchEntry.objects.get(title__endswith="pages")
    digest = next(word for word in section.body.split() if len(word) == 64)
    assert urls(find_sections(digest[:7], 5)) == [pages]


def test_families_are_those_of_the_newest_snapshot(system):
    imported(system, catalogue=CATALOGUE)
    (hit,) = find_families("norm_fold", 5)
    assert hit["title"] == "Family B regions of the planner"
    assert hit["url"].endswith("#family-B")
    imported(system, catalogue=CATALOGUE.replace("norm_fold", "norm_ring"))
    assert find_families("norm_fold", 5) == []
    assert len(find_families("norm ring", 5)) == 1
    (hit, *_) = find_sections("0123abc", 5)
    assert (hit["why"], hit["url"].split("/")[3]) == ("the commit of a snapshot", "catalogue")
    archive_document(system, slug="catalogue")
    assert find_families("norm ring", 5) == find_sections("0123abc", 5) == []


def test_levers_by_every_name(make_actor):
    cleo = make_actor("cleo", "curator")
    lever = create_lever(cleo, name="Split-K", slug="split-k", description="Cut the reduction.")
    create_lever(cleo, name="Split-K oracle", slug="oracle")
    (hit, *_) = find_levers("splitK", 5)
    assert (hit["title"], hit["why"]) == ("Split-K", "its name")
    add_alias(cleo, lever.slug, "stream-K")
    assert find_levers("stream_k", 5)[0]["title"] == "Split-K"
    archive_lever(cleo, lever.slug, reason="a twin")
    assert find_levers("stream_k", 5) == []
    restore_lever(cleo, lever.slug)
    assert find_levers("stream_k", 5)[0]["title"] == "Split-K"


def test_ops_by_name_words_and_contract():
    op = f.op()
    assert find_ops("rmsnorm-cpu", 5)[0]["why"] == "its name"
    before = op.head.content_hash
    content = {**op.head.content, "title": "Norm of zebras"}
    revise_op(f.designer(), op=op, base_hash=before, content=content, reason="clearer")
    op.refresh_from_db()
    assert urls(find_ops("zebras", 5)) == [op.get_absolute_url()]
    for digest in (before, op.head.content_hash):
        (hit,) = find_ops(digest[:7], 5)
        assert hit["why"] == "the hash of a contract"


def test_specs_by_code_words_and_hash():
    row, _ = f.evidence_row(), f.op()
    revision = f.saved_revision(f.spec_content(row, rationale="Reads zebras once."))
    spec = revision.spec
    (hit, *_) = find_specs(f"spec {spec.code.lower()}", 5)
    assert (hit["title"], hit["why"]) == (str(spec), "the code")
    assert find_specs("zebra", 5)[0]["url"] == spec.get_absolute_url()
    assert find_specs(revision.content_hash[:7], 5)[0]["why"] == "the hash of a revision"
    f.saved_revision(f.spec_content(row, rationale="Reads giraffes once."), spec=spec)
    assert find_specs("zebra", 5) == []
    assert find_specs("giraffe", 5)[0]["url"] == spec.get_absolute_url()


def test_kernels_by_slug_words_and_digest_of_any_version():
    version = f.kernel_version(f.op(), slug="fold-7w", basis=Kernel.Basis.EXPLORATORY)
    assert find_kernels("fold-7w", 5)[0]["why"] == "its name"
    assert urls(find_kernels("nwarps=7 fold", 5)) == [version.kernel.get_absolute_url()]
    assert find_kernels(version.digest[:7], 5)[0]["why"] == "the digest of a version"
    add_version(
        f.designer(), kernel=version.kernel, files={"kernel.py": b"def run(i): return 2\n"}, entry="kernel.py:run",
        note="salted tags",
    )  # fmt: skip
    assert urls(find_kernels("salted", 5)) == [version.kernel.get_absolute_url()]
    assert len(KernelVersion.objects.all()) == 2
    assert find_kernels(version.digest, 5)[0]["why"] == "the digest of a version"


def test_runs_by_the_beginning_of_their_id_and_by_how_they_ended():
    op = f.op()
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="mine", basis=Kernel.Basis.EXPLORATORY)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    for text in (run.public_id, run.public_id[:7], run.public_id.upper()):
        (hit, *_) = find_runs(text, 5)
        assert (hit["title"], hit["why"]) == (run.public_id, "the id")
    assert find_runs("wedge", 5) == []
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    run.refresh_from_db()
    assert urls(find_runs("perf mine pass", 5)) == [run.get_absolute_url()]
    assert urls(find_runs(run.result.content_hash[:7], 5)) == [run.get_absolute_url()]


ENTRY = {
    "on": "2026-07-03", "env": "B200, driver 570", "verdict": "NULL", "why": "Reads zebras twice.",
    "trace": "outputs/split_k_0703/", "commit": "ac3d9736", "lever": "", "links": [],
}  # fmt: skip


def test_experiments_by_number_commit_hash_and_everything_that_they_say():
    dora, row = f.designer(), f.evidence_row()
    create_lever(f.curator(), name="Split-K", slug="split-k", aliases=["stream-K"])
    other = add_entry(dora, entry=ENTRY | {"why": "Cites ac3d9736.", "commit": "", "on": "2026-07-04"})
    made = add_entry(dora, entry=ENTRY | {"lever": "split-k", "links": [f"row:{row.code}"]})
    for text in (f"experiment {made.pk}", f"Experiment #{made.pk}"):
        (hit, *_) = find_experiments(text, 5)
        assert (hit["url"], hit["why"], hit["kind"]) == (made.get_absolute_url(), "the id", "experiment")
    assert find_experiments("AC3D973", 5)[0]["why"] == "the commit"
    assert [(hit["url"], hit["why"]) for hit in find_experiments("ac3d973", 5)] == [
        (made.get_absolute_url(), "the commit"),
        (other.get_absolute_url(), "identifier in the experiment"),
    ]
    (hit,) = find_experiments(made.content_hash[:9], 5)
    assert (hit["url"], hit["why"]) == (made.get_absolute_url(), "the hash of a line")
    for text in ("zebras twice", "driver 570", "stream_k", "split_k_0703", row.code, "NULL zebras", "2026-07-03"):
        assert made.get_absolute_url() in urls(find_experiments(text, 5)), text
    assert ("zebras", True) in find_experiments("zebras", 5)[0]["snippet"]
    assert all(hit["is_guess"] for hit in find_experiments("experiment " + "9" * 30, 5))
    assert find_experiments("giraffe", 5) == []


def test_experiments_follow_their_lever_and_a_corrected_line_says_so():
    dora = f.designer()
    create_lever(f.curator(), name="Split-K", slug="split-k")
    made = add_entry(dora, entry=ENTRY | {"lever": "split-k"})
    edit_lever(f.curator(), "split-k", name="Cut reduction")
    assert urls(find_experiments("cut reduction", 5)) == [made.get_absolute_url()]
    later = correct_entry(dora, made.pk, entry=ENTRY | {"verdict": "WIN"})
    titles = {hit["url"]: hit["title"] for hit in find_experiments("zebras", 5)}
    assert titles == {
        made.get_absolute_url(): f"Experiment {made.pk} NULL, 2026-07-03, corrected by experiment {later.pk}",
        later.get_absolute_url(): f"Experiment {later.pk} WIN, 2026-07-03",
    }
    assert search_faults() == []


# --- ranked hits of a kind --------------------------------------------------------------------------------------------


def test_exact_then_every_word_then_typing_errors_then_some_words(system):
    text = "# Notes\n\n## Barrier\n\nOne.\n\n## Two\n\nA coarse barrier.\n\n## Three\n\nCoarse steps.\n"
    imported(system, notes=text)

    def said(query: str) -> list[tuple[str, str]]:
        return [(hit["title"].partition("Notes ")[2], hit["why"]) for hit in find_sections(query, 5)]

    assert said("barrier") == [("Barrier", "words in its title"), ("Two", "words in the section")]
    assert said("barier") == [("Barrier", "barier read as barrier"), ("Two", "barier read as barrier")]
    assert said("coarse barrier") == [("Two", "words in the section")], "no guess beside a full answer"
    assert said("zebra barrier") == [("Barrier", "1 of 2 words"), ("Two", "1 of 2 words")]
    assert said("barrier -coarse") == [("Barrier", "words in its title")]
    assert said("giraffe zebra") == []
    assert [hit["is_guess"] for hit in find_sections("barier", 5)] == [True, True]
    assert [hit["is_guess"] for hit in find_sections("barrier", 5)] == [False, False]


def test_fields_are_of_rows_alone(system):
    imported(system, rules=RULES)
    assert find_sections("verdict:dead pages", 5) == []
    assert find(Kind.SECTION, "", 5) == []
    assert find(Kind.SECTION, "%", 5) == []


def test_rows_in_the_top_bar_are_marked(system):
    f.evidence_row(mechanism="The loader waits for cp.async.", title="Loader warp")
    (hit,) = find_rows("cpasync", 5)
    assert ("cp.async", True) in hit["snippet"]
    assert hit["is_guess"] is False


# --- building anew ----------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(system):
    """Something of every kind."""
    imported(system, rules=RULES, catalogue=CATALOGUE)
    row, op = f.evidence_row(), f.op()
    f.saved_revision(f.spec_content(row))
    version = f.kernel_version(op, slug="mine", basis=Kernel.Basis.EXPLORATORY)
    submit_run(f.designer(), kind="validate", version=version)
    add_entry(f.designer(), entry=ENTRY)
    return row


def stored() -> list[tuple]:
    return list(SearchEntry.objects.order_by("pk").values_list("pk", "title", "body", "whole"))


def search_faults() -> list[str]:
    return [str(fault) for fault in faults() if fault.kind == "search entry"]


def test_what_services_wrote_needs_no_reindex(filled):
    assert {pk >> 40 for pk, *_ in stored()} == set(Kind) - {Kind.EVERYTHING}
    assert search_faults() == []
    said = output("reindex")
    assert "rows: 1, 0 written, 0 taken out" in said
    assert said.count(" 0 written, 0 taken out") == len(Kind) - 1


def test_reindex_builds_everything_and_then_changes_nothing(filled):
    entries, facts = stored(), RowFacts.objects.values().get()
    SearchEntry.objects.all().delete()
    SearchWord.objects.all().delete()
    RowFacts.objects.all().delete()
    said = output("reindex")
    assert "rows: 1, 1 written, 0 taken out" in said
    assert stored() == entries
    again = RowFacts.objects.values().get()
    assert {**again, "change": 0} == {**facts, "change": 0}
    assert len(search_rows(Query(text=filled.code))) == 1
    assert find_sections("fourten", 5)[0]["why"] == "fourten read as fourteen"
    assert "rows: 1, 0 written, 0 taken out" in output("reindex")
    assert RowFacts.objects.values().get() == again


def test_reindex_mends_what_differs_and_takes_out_what_is_left_over(filled):
    entries = stored()
    RowFacts.objects.update(verdict="WIN", state="flagged")
    SearchEntry.objects.filter(pk=Kind.ROW.entry_id(filled.pk)).update(title="another")
    SearchEntry.objects.create(pk=Kind.RUN.entry_id(10**6), title="ghost", body="", whole="")
    assert len(search_faults()) == 2
    said = output("reindex")
    assert "rows: 1, 1 written, 0 taken out" in said
    assert "runs: 1, 0 written, 1 taken out" in said
    assert stored() == entries
    assert RowFacts.objects.get().verdict == filled.head.verdict
    assert "ghost" not in SearchWord.objects.values_list("word", flat=True)
    assert search_faults() == []


def test_archived_rows_stay_in_the_index_and_are_not_shown():
    row = f.evidence_row()
    archive_row(f.curator(), row.code, reason="a twin")
    assert search_faults() == []
    assert find_rows(row.code, 5) == []
    assert len(search_rows(Query(text=row.code, archived=True))) == 1


def test_what_somebody_archived_by_hand_is_taken_out(filled):
    Kernel.objects.update(archived_at=timezone.now())
    (fault,) = search_faults()
    assert "kernels: it has a search entry and should have none" in fault
    assert "kernels: 0, 0 written, 1 taken out" in output("reindex")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda: RowFacts.objects.update(blocking="weak"),
        lambda: RowFacts.objects.all().delete(),
        lambda: SearchEntry.objects.filter(pk__range=Kind.ROW.ids).delete(),
        lambda: SearchEntry.objects.filter(pk__range=Kind.SPEC.ids).update(body=""),
    ],
)
def test_verify_says_what_is_missing_or_differs(filled, spoil):
    spoil()
    (fault,) = search_faults()
    assert fault.endswith("missing or differs; run manage.py reindex")
