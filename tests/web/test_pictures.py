"""Where pictures stand: in the editor's sections while typing, on the page of a spec, on the page of an op."""

from html import unescape

import pytest
from django.utils import timezone

from kernels.calculators.links import calculator_link
from kernels.editor.layout import BY_SLUG
from kernels.models import Op, Spec, SpecDraft
from kernels.selectors.pictures import DRAWN, graph_of, pictures_of
from kernels.services.specs import open_draft
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec, ring_gemm_spec

pytestmark = pytest.mark.django_db
TITLES = {
    "overview": "Tasks in the layer graph", "granularity": "Tasks in the layer graph", "roles": "Roles and paths",
    "smem": "Shared memory of this task", "tmem": "Columns of tensor memory", "sems": "Semaphore ordinals",
    "ledger": "Semaphore ordinals",
}  # fmt: skip


@pytest.fixture
def spec():
    f.op(producers=["residual stream"], consumers=["all-reduce"])
    return f.saved_revision(ring_gemm_spec()).spec


@pytest.fixture
def dora(client):
    client.force_login(f.designer().user)
    return client


def test_every_picture_belongs_to_a_section():
    assert set(DRAWN) == set(TITLES) <= set(BY_SLUG)


@pytest.mark.parametrize("section", DRAWN)
def test_a_section_shows_its_picture(dora, spec, section):
    page = dora.get(f"/specs/{spec.code}/edit/{section}/").content.decode()
    assert f">{TITLES[section]}</h3>" in page.split('<div id="picture">')[1]
    assert page.count("</desc>") == 1


@pytest.mark.parametrize("section", sorted(set(BY_SLUG) - set(DRAWN)))
def test_other_sections_have_none(dora, spec, section):
    assert b'id="picture"' not in dora.get(f"/specs/{spec.code}/edit/{section}/").content


def test_the_picture_follows_what_is_typed(dora, spec):
    draft = open_draft(f.designer(), spec=spec)
    page = dora.get(f"/specs/{spec.code}/edit/tmem/").content.decode()
    assert "40 are needed, 64 allocated" in page
    typed = {"version": draft.version, "action": "autosave"}
    for name, value in draft.content["tmem"].items():
        if isinstance(value, str):
            typed[f"tmem.{name}"] = value
    rows = draft.content["tmem"]["objects"]
    typed["tmem.objects.total"] = len(rows)
    for number, row in enumerate(rows):
        typed |= {f"tmem.objects[{number}].{name}": value for name, value in row.items() if isinstance(value, str)}
    typed["tmem.objects[0].columns"] = "32"
    reply = dora.post(f"/specs/{spec.code}/edit/tmem/", typed, HTTP_HX_REQUEST="true").content.decode()
    assert '<div id="picture">' in reply
    assert "72 are needed, 64 allocated" in reply
    assert "overlap in columns" in reply


def test_an_unfinished_draft_is_drawn_as_far_as_it_goes(dora, spec):
    open_draft(f.designer(), spec=spec)
    broken = {"smem": {"regions": [{"size_bytes": "x"}, 7]}, "tmem": {"objects": "a"}, "roles": 3, "ops": [None]}
    SpecDraft.objects.filter(spec=spec).update(content=broken)
    for section in DRAWN:
        assert dora.get(f"/specs/{spec.code}/edit/{section}/").status_code == 200


def test_the_page_of_a_spec_has_each_picture_once(dora, spec):
    page = dora.get(f"/specs/{spec.code}/").content.decode()
    for title in set(TITLES.values()):
        assert page.count(f">{title}</h3>") == 1, title


def test_all_pictures_ask_for_the_contracts_once(spec, django_assert_num_queries):
    document = spec.head.content
    with django_assert_num_queries(1):
        assert set(pictures_of(document, DRAWN)) == set(DRAWN)
    with django_assert_num_queries(0):
        assert pictures_of(document, ("choices", "notes")) == {}


def test_a_spec_without_rows_has_no_pictures(db):
    assert pictures_of({}, DRAWN) == {}


def test_the_page_of_an_op_shows_it_between_its_neighbours(dora):
    op = f.op(producers=["residual stream"], consumers=["all-reduce"])
    page = dora.get(f"/ops/{op.slug}/").content.decode()
    assert "residual stream" in page.split("In the layer")[1]
    assert "no instance listed" in page
    first = f.saved_revision(f.spec_content(f.evidence_row())).spec
    page = unescape(dora.get(f"/ops/{op.slug}/").content.decode())
    assert "row: 4 tasks" in page
    assert f"{first.code}</a> plans them" in page


def test_the_newest_live_spec_counts():
    f.op()
    content = f.spec_content(f.evidence_row())
    first = f.saved_revision(content).spec
    second = f.saved_revision({**content, "title": "Again"}).spec
    op = Op.objects.select_related("head").get(slug="rmsnorm-cpu")
    assert graph_of(op, op.specs.select_related("head"))[1] == second
    Spec.objects.filter(pk=second.pk).update(archived_at=timezone.now())
    assert graph_of(op, op.specs.select_related("head"))[1] == first


@pytest.mark.parametrize(
    ("section", "document", "url"),
    [
        ("smem", {}, "/calculators/smem-planner/"),
        ("smem", {"smem": {"regions": [{"name": "W", "can_pack": True, "x": 1}]}, "symbols": {"A": "1"}},
         "/calculators/smem-planner/?regions-0-name=W&regions-0-can_pack=1&symbols-0-name=A&symbols-0-value=1"),
        ("smem", {"smem": {"regions": "odd"}, "symbols": ["odd"]}, "/calculators/smem-planner/"),
        ("tmem", {"tmem": {"alloc_columns": "64"}}, "/calculators/tmem-columns/?alloc_columns=64"),
        ("tmem", {"tmem": None, "symbols": {"A": "1"}}, "/calculators/tmem-columns/"),
        ("granularity", {"symbols": {"A": "1"}}, "/calculators/task-count/"),
    ],
)  # fmt: skip
def test_a_section_leads_to_its_calculator_with_what_it_holds(section, document, url):
    assert calculator_link(section, document)["url"] == url


def test_the_planner_says_the_same_of_a_spec_as_its_picture(dora, spec):
    url = calculator_link("smem", grouped_gemm_spec())["url"]
    assert "155,664 of 224,256 B in 10 of 14 pages" in dora.get(url).content.decode()
    page = unescape(dora.get(f"/specs/{spec.code}/edit/smem/").content.decode())
    stored = SpecDraft.objects.get(spec=spec).content  # PostgreSQL keeps the symbols in an order of its own
    assert calculator_link("smem", stored)["url"] in page
    assert calculator_link("notes", {}) is None
