"""The page of a spec shows the whole design, and what an amendment changed beside what was written."""

import pytest

from kernels.editor.layout import BY_SLUG
from kernels.editor.reading import design_of
from tests import factories as f
from tests.rules.spec_examples import canonical, grouped_gemm_spec, norm_spec

AMENDMENT = {
    "id": "A1",
    "date": "2026-07-20",
    "resolves": ["Q1"],
    "text": "The storer goes.",
    "fields": [
        {"field": "roles.release.only_used_pages", "value": "no"},
        {"field": "smem.regions[0].size_bytes", "value": "64*128"},
        {"field": "sems.rows[0].tx_bytes", "value": "8192"},
        {"field": "roles.release.owners", "value": "codegen, storer"},
    ],
}


def texts(design) -> str:
    """Every value of a design that is shown."""
    found = []

    def of_table(table):
        for row in table.rows:
            found.extend(f"{value.label}={value.text}" for value in (*row.values, *row.more))
            found.extend(f"{path}, {value.label}={value.text}" for path, values in row.paths for value in values)
            for inner in row.inner:
                of_table(inner)

    for section in design["sections"]:
        found.extend(f"{value.label}={value.text}" for value in section.fields)
        for table in section.tables:
            of_table(table)
    return "\n".join(found)


def full_spec():
    """The grouped GEMM with the parts that its rules don't need."""
    document = grouped_gemm_spec()
    document["self_audit"] = [{"item": "Header", "answer": "yes", "where": "line 1"}]
    document["notes"]["gates"] = "A word on gates."
    document["amendments"] = [AMENDMENT]
    return canonical(document)


def test_every_section_that_holds_something_is_shown_with_its_rows_and_inner_rows():
    design = design_of(full_spec())
    shown = [section.slug for section in design["sections"]]
    assert shown == [slug for slug in BY_SLUG if slug != "choices"]
    said = texts(design)
    for value in (
        "name=taddr",
        "offset (B)=s*SLICE + 2048",
        "normal, duty=streams tiles",
        "inactive, pages=none",
        "rung=G9",
        "enum=TASK_W13_PIPE",
        "Parameters=always_active, experts",
        "answer=yes",
        "resolution=The launcher, filtered by the pages in use.",
        "engine=second engine",
        "Timer=globaltimer",
        "Handshake between roles=mbarrier",
        "Gates=A word on gates.",
        "K iterations of one task=HIDDEN/GRP",
    ):
        assert value in said, value
    assert [section.count for section in design["sections"] if section.slug == "smem"] == ["9 regions"]


def test_a_small_spec_shows_only_what_it_has():
    design = design_of(norm_spec())
    assert [section.slug for section in design["sections"]] == ["overview", "smem", "granularity"]


def test_what_was_written_stands_beside_what_stands():
    design = design_of(full_spec())
    amended = {item.label: (item.written, item.text, item.by) for item in design["amended"]}
    assert amended["Only used pages are released"] == ("yes", "no", "A1")
    assert amended["size (B), region 1"] == ("128*128", "64*128", "A1")
    assert amended["Released by"] == ("launcher", "codegen, storer", "A1")
    smem = next(section for section in design["sections"] if section.slug == "smem")
    size = next(value for value in smem.tables[0].rows[0].values if value.label == "size (B)")
    assert (size.written, size.text, size.by) == ("128*128", "64*128", "A1")
    assert design["stands"]["roles"]["release"]["only_used_pages"] == "no"


@pytest.mark.django_db
def test_the_page_shows_both(client):
    row, op = f.evidence_row(), f.op()
    document = {**f.spec_content(row), **{name: full_spec()[name] for name in ("smem", "sems", "roles", "amendments")}}
    document["symbols"] = full_spec()["symbols"]
    revision = f.saved_revision(document)
    client.force_login(f.designer().user)
    page = client.get(revision.spec.get_absolute_url()).content.decode()
    assert "<del>128*128</del> <ins>64*128</ins>" in page
    assert "4 fields" in page
    assert op.title in page
