"""The catalogue reader: snapshot, inventory, families, and what it could not read."""

import datetime
from pathlib import Path

import pytest

from references.importers.catalogue import looks_like_catalogue, read_catalogue
from references.importers.inventory import expand_task_name
from references.importers.markdown import decode_document, parse_markdown

PROSE = """# Kernel catalogue — someone/new-runtime @ 0123abcd (studied 2026-01-02)

Merge-base with our tree = `89abcdef`. `git remote add someone https://example.org/team/engine.git && git fetch`

## 0. Inventory

| Kernel (tasks/) | Family | Task type (upstream id) | graph tuple |
|---|---|---|---|
| gemm.cuh + gemm_spec.h | A pipeline | TASK_GEMM[_WITH_BIAS]_V2 (7/8) | (2,1)/(3,1) |
| norm.cuh | B regions | TASK_NORM_V2 (9 — old name) | (2,1) |
| top.cuh | B | TASK_TOP_PART/JOIN_V2 (10/11) | (1,2)/(2,1) |
| silu.cuh, embed.cuh (+specs) | D none | 12 / 13 | (1,1)/(2,1) |
| rope.cuh | E helper | not a task — called inside | — |
| ring.cuh | infra | — | — |
| odd.cuh | Q what | TASK_ODD_V2 (14) | two in, one out |
| short.cuh | A |

## 1. Family A — ring pipeline (gemm)

Text.

When to copy: anything that is a
real GEMM.

## 2. Family B — consumer-only, regions

- **When to copy**: staging through SMEM.

## 3. Family D — consumer-only, no memory
## 4. Family E — helpers of other kernels
"""

FIELDS = """# Catalogue

- Repository: team/engine
- Branch: main
- Commit: `0123abcd`
- Studied on: 2026-01-02
- Merge base: 89abcdef

## Kernels

| Kernel | Files | Family | Task type | Ids | Arity |
|---|---|---|---|---|---|
| gemm | `gemm.cuh`, `gemm_spec.h` | A | TASK_GEMM_V2 | 7 | (2,1) |

## Families

| Family | Title | Idiom | When to copy |
|---|---|---|---|
| A | Pipeline | role pipeline | real GEMMs |
| B | Regions | consumer-only | staging |
| C | Monolith | consumer-only | ports |
| D | Nothing | consumer-only | elementwise |
| E | Helper | sub-op helper | tiny fused ops |
"""


def test_the_snapshot_is_read_from_prose():
    snapshot = read_catalogue(PROSE).snapshot
    assert (snapshot.repository, snapshot.branch, snapshot.commit) == ("team/engine", "new-runtime", "0123abcd")
    assert snapshot.studied_on == datetime.date(2026, 1, 2)
    assert snapshot.merge_base == "89abcdef"


def test_the_snapshot_is_read_from_fields_and_nothing_is_left_unread():
    catalogue = read_catalogue(FIELDS)
    snapshot = catalogue.snapshot
    assert (snapshot.repository, snapshot.branch, snapshot.commit) == ("team/engine", "main", "0123abcd")
    assert (snapshot.studied_on, snapshot.merge_base) == (datetime.date(2026, 1, 2), "89abcdef")
    kernel = catalogue.kernels[0]
    assert (kernel.name, kernel.files, kernel.family) == ("gemm", ["gemm.cuh", "gemm_spec.h"], "A")
    assert (kernel.task_types, kernel.task_ids, kernel.arities) == (["TASK_GEMM_V2"], [7], [(2, 1)])
    assert [(family.letter, family.idiom, family.when_to_copy) for family in catalogue.families] == [
        ("A", "role pipeline", "real GEMMs"),
        ("B", "consumer-only", "staging"),
        ("C", "consumer-only", "ports"),
        ("D", "consumer-only", "elementwise"),
        ("E", "sub-op helper", "tiny fused ops"),
    ]
    assert catalogue.unread == []


def test_the_snapshot_is_read_from_front_matter():
    stated, table = FIELDS.split("\n\n- ", 1)[1].split("\n\n", 1)
    front_matter = stated.replace("- ", "").replace("`", "")
    snapshot = read_catalogue(f"---\n{front_matter}\n---\n# Catalogue\n\n{table}").snapshot
    assert snapshot == read_catalogue(FIELDS).snapshot


def test_kernels_have_files_family_tasks_ids_and_arities():
    kernels = {kernel.name: kernel for kernel in read_catalogue(PROSE).kernels}
    assert list(kernels) == ["gemm", "norm", "top", "silu", "embed", "rope", "ring", "odd"]
    assert kernels["gemm"].files == ["gemm.cuh", "gemm_spec.h"]
    assert kernels["gemm"].task_types == ["TASK_GEMM_V2", "TASK_GEMM_WITH_BIAS_V2"]
    assert (kernels["gemm"].task_ids, kernels["gemm"].arities) == ([7, 8], [(2, 1), (3, 1)])
    assert (kernels["norm"].task_ids, kernels["norm"].note) == ([9], "regions; old name")
    assert kernels["top"].task_types == ["TASK_TOP_PART_V2", "TASK_TOP_JOIN_V2"]
    assert (kernels["silu"].task_ids, kernels["silu"].arities) == ([12], [(1, 1)])
    assert (kernels["embed"].task_ids, kernels["embed"].arities) == ([13], [(2, 1)])
    assert (kernels["rope"].family, kernels["rope"].task_ids, kernels["rope"].arities) == ("E", [], [])
    assert kernels["ring"].family == ""


def test_families_have_title_idiom_and_when_to_copy():
    families = {family.letter: family for family in read_catalogue(PROSE).families}
    assert families["A"].title == "ring pipeline"
    assert families["A"].idiom == "role pipeline"
    assert families["A"].when_to_copy == "anything that is a real GEMM."
    assert families["B"].when_to_copy == "staging through SMEM."
    assert families["A"].anchor == "family-a-ring-pipeline-gemm"


def test_everything_that_can_not_be_read_is_listed():
    unread = "\n".join(str(item) for item in read_catalogue(PROSE).unread)
    for expected in (
        "+specs): names spec files without naming them",
        "task ids 12, 13 stand without the name",
        "line 15: Q what: is no family",
        "line 15: two in, one out: can't be read as pairs",
        "line 16: short.cuh | A: the row has not as many cells",
        "family D does not say when to copy",
        "family E does not say when to copy",
        "Family C: no section describes it",
    ):
        assert expected in unread


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (PROSE.replace("@ 0123abcd", ""), "snapshot's commit could not be read"),
        (PROSE.replace("2026-01-02", "2026-13-45"), "2026-13-45: is not a date"),
        (PROSE.replace("Merge-base", "Base"), "snapshot's merge base could not be read"),
        (PROSE.replace("| Family |", "| Kind |"), "no table has a column for kernels and one for families"),
        (PROSE + "\n## Family A — again\n", "family A is described twice"),
        (PROSE + "\n## Family X — unknown\n", "families go from A to E"),
        (PROSE.replace("(7/8)", "(7)"), "1 task id and 2 arities"),
        (PROSE.replace("12 / 13", "12 / 13 / 14"), "3 task ids for 2 kernels"),
        ("", "no table has a column"),
    ],
)
def test_a_broken_catalogue_says_what_is_wrong(broken, complaint):
    assert complaint in "\n".join(str(item) for item in read_catalogue(broken).unread)


@pytest.mark.parametrize(
    ("token", "names"),
    [
        ("TASK_A_V2", ["TASK_A_V2"]),
        ("TASK_A[_B]_V2", ["TASK_A_V2", "TASK_A_B_V2"]),
        ("X_P/Q_V2", ["X_P_V2", "X_Q_V2"]),
        ("X_P/Q/R_V2", ["X_P_V2", "X_Q_V2", "X_R_V2"]),
        ("TASK_A/TASK_B", ["TASK_A", "TASK_B"]),
    ],
)
def test_shortened_task_names_are_written_out(token, names):
    assert expand_task_name(token) == names


def test_a_document_without_inventory_is_no_catalogue():
    assert looks_like_catalogue(parse_markdown(PROSE))
    assert not looks_like_catalogue(parse_markdown("# T\n\n| Family | When |\n|---|---|\n| A | x |\n"))


def test_the_corpus_catalogue(corpus):
    path = corpus / "references" / "upstream-kernel-catalog.md"
    catalogue = read_catalogue(decode_document(path.name, path.read_bytes()))
    snapshot = catalogue.snapshot
    assert (snapshot.repository, snapshot.branch) == ("mirage-project/mirage", "runtime_refactor")
    assert (snapshot.commit, snapshot.merge_base) == ("0eadb3fd", "e08de1df")
    assert snapshot.studied_on == datetime.date(2026, 7, 15)
    found = {kernel.name: (kernel.family, kernel.task_ids, kernel.arities) for kernel in catalogue.kernels}
    assert found == {
        "linear_sm100_v2": ("A", [244, 245], [(2, 1), (3, 1)]),
        "rmsnorm_v2": ("B", [224], [(2, 1)]),
        "argmax_sm100": ("B", [228, 229], [(1, 2), (2, 1)]),
        "attention_sm100": ("C", [227], [(7, 1)]),
        "silu_mul_v2": ("D", [225], [(1, 1)]),
        "embedding_v2": ("D", [226], [(2, 1)]),
        "norm_sm100": ("E", [], []),
        "rotary_embedding_v2": ("E", [], []),
        "channel": ("", [], []),
        "task_header": ("", [], []),
    }
    assert [family.letter for family in catalogue.families] == list("ABCDE")
    assert [family.letter for family in catalogue.families if family.when_to_copy] == ["A", "B", "C"]
    assert len(catalogue.unread) == 4


def test_the_starter_catalogue_describes_the_same_inventory():
    path = Path(__file__).resolve().parents[2] / "v2kb" / "starter" / "documents" / "upstream-catalogue.md"
    catalogue = read_catalogue(decode_document(path.name, path.read_bytes()))
    assert (catalogue.snapshot.branch, catalogue.snapshot.commit) == ("runtime_refactor", "0eadb3fd")
    assert len(catalogue.kernels) == 10
    assert all(family.when_to_copy and family.idiom for family in catalogue.families)
    assert len(catalogue.families) == 5
    assert [str(item.why) for item in catalogue.unread] == [
        "task ids 225, 226 stand without the name of their task type"
    ]


def test_every_document_of_the_corpus_is_covered_line_by_line(corpus):
    paths = sorted(corpus.rglob("*.md"))
    assert len(paths) == 9
    for path in paths:
        text = decode_document(path.name, path.read_bytes())
        document = parse_markdown(text, path.stem)
        assert "\n".join(section.text for section in document.sections) == "\n".join(document.lines)
        assert document.problems == []
    recipe = parse_markdown((corpus / "references" / "wiring-recipe.md").read_text(encoding="utf-8"))
    checklist = next(section for section in recipe.sections if section.number == "10").checklists[0]
    assert len(checklist.items) == 8
    evidence = parse_markdown((corpus / "references" / "m1-decode-evidence.md").read_text(encoding="utf-8"))
    assert [len(section.tables[0].rows) for section in evidence.sections if section.tables] == [11, 5, 3]
