"""The page of the family questions: the branch, its engine and files, and the rows that speak for it and against it."""

from html import unescape

import pytest

from evidence.models import Lever
from kernels.selectors.decisions import branch_of
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.selectors import current_snapshot
from tests import factories as f
from tests.references.test_catalogue import FIELDS
from v2kb.rules.decision_tree import decide

pytestmark = pytest.mark.django_db

PIPELINE = {"own_task": "yes", "matrix_product": "yes", "full_tile": "yes"}
GEMV = {
    "own_task": "yes", "matrix_product": "yes", "full_tile": "no", "streams_k": "yes", "fused_gemv": "yes",
    "stages_smem": "no",
}  # fmt: skip
UNTESTED = {"verdict": "UNTESTED", "cause_class": "", "bound": "for GEMM shapes only"}


@pytest.fixture
def rows():
    """A dead row and an open one of the pipeline's levers."""
    dead = f.evidence_row(f.DEAD, lever="tcgen05-small-m", title="tcgen05 for one row")
    untested = f.evidence_row(lever="role-pipeline", title="Pipeline for tiles", **UNTESTED)
    f.evidence_row(lever="elsewhere", title="Not about this")
    return dead, untested


@pytest.fixture
def get(client):
    client.force_login(f.designer().user)

    def get(**answers):
        response = client.get("/families/", answers)
        assert response.status_code == 200
        return response, unescape(response.content.decode())

    return get


def test_a_dead_row_speaks_against_what_the_branch_adopts_and_for_what_it_turns_down(rows):
    dead, untested = rows
    pipeline, gemv = branch_of(decide(PIPELINE)), branch_of(decide(GEMV))
    assert (pipeline.speaks_for, pipeline.speaks_against) == ((untested,), (dead,))
    assert (gemv.speaks_for, gemv.speaks_against) == ((dead,), (untested,))


def test_rows_of_a_lever_below_count(rows):
    f.evidence_row(f.DEAD, lever="below", title="A narrower try")
    Lever.objects.filter(slug="below").update(parent=Lever.objects.get(slug="role-pipeline"))
    assert "A narrower try" in [row.head.title for row in branch_of(decide(PIPELINE)).speaks_against]


def test_no_branch_before_a_family_is_reached(get):
    assert branch_of(decide({})) is None
    response, text = get(own_task="yes")
    assert response.context["branch"] is None
    assert "Answer next: Is the main work a matrix product" in text
    assert "Does M fill" not in text


def test_the_page_names_engine_skills_files_and_rows(get, rows):
    _, text = get(**PIPELINE)
    assert "Family A: Pipeline" in text
    assert "Role pipeline: the loader streams tiles by TMA" in text
    assert "b200-tmem-lifecycle-planner" in text
    assert "linear_sm100_v2.cuh" in text
    assert "No upstream catalogue was imported" in text
    assert text.index("speak for it") < text.index("Pipeline for tiles") < text.index("speak against it")
    assert text.index("speak against it") < text.index("tcgen05 for one row")
    assert "Not about this" not in text


def test_answers_that_no_longer_lie_on_the_path_go(get):
    response, text = get(own_task="no", matrix_product="yes")
    assert "Family E" in text
    assert [q["id"] for q in response.context["questions"]] == ["own_task"]


def test_files_come_from_the_newest_catalogue(get, rows):
    import_documents(f.curator(), files=Files(texts=[("catalogue.md", FIELDS)]))
    _, text = get(**PIPELINE)
    kernels = current_snapshot().kernels.all()
    inside, outside = ([k.name for k in kernels if (k.family == "A") == wanted] for wanted in (True, False))
    assert inside
    assert all(f"<code>{name}</code>" in text for name in inside)
    assert not any(f"<code>{name}</code>" in text for name in outside)
    assert "No upstream catalogue" not in text
