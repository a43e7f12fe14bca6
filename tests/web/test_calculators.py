"""Pages of the calculators: the address holds the inputs, errors stand beside their field, rows, examples, htmx."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from kernels.calculators.forms import FORMS, MAX_ROWS, OF_SECTION
from kernels.calculators.typed import example_of
from kernels.editor.layout import BY_SLUG
from tests import factories as f
from v2kb.rules.calculators import CALCULATORS

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def get(client):
    client.force_login(f.designer().user)

    def get(name, query="", status=200, **headers):
        response = client.get(f"/calculators/{name}/{query}", follow=True, **headers)
        assert response.status_code == status
        return unescape(response.content.decode())

    return get


def beside(page, field):
    """What stands beside one field."""
    found = re.search(rf'<div class="say" id="f-{field}-say"[^>]*>(.*?)</div>', page, re.DOTALL)
    assert found, field
    return re.sub(r"<[^>]+>", "", found[1])


def test_every_calculator_has_a_form_with_the_fields_that_it_reads():
    assert set(FORMS) == set(CALCULATORS)
    assert set(OF_SECTION) <= set(BY_SLUG)
    for form in FORMS.values():
        values = {part.name: "1" for part in form.fields}
        for table in form.rows:
            row = {part.name: "1" for part in table.fields if part.name != "task"}
            values[table.name] = {"N": "1"} if table.name == "symbols" else [row]
        problems = CALCULATORS[form.slug](values)["problems"]
        assert [p for p in problems if p["code"] == "malformed"] == []


def test_the_list_leads_to_each_and_to_its_example(client):
    client.force_login(f.designer().user)
    page = client.get("/calculators/").content.decode()
    for form in FORMS.values():
        assert f'href="/calculators/{form.slug}/"' in page
        assert example_of(form).replace("&", "&amp;") in page


def test_reached_from_specs(client):
    client.force_login(f.designer().user)
    assert 'href="/calculators/"' in client.get("/specs/").content.decode()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("smem-planner", ["155,664 of 224,256 B in 10 of 14 pages", "W3 of this by 5,120 B", "<svg"]),
        ("wave-quantisation", ["take 14 trips with 4 warps and 8 with 7", "A trip is saved"]),
        ("achievable-floor", ["49,545,216 B", "14.57 to 24.77 us", "m1-decode-evidence section 4"]),
        ("task-count", ["8*(N/128) gives 64 tasks; 64 are listed."]),
        ("tmem-columns", ["40 columns are needed, so 64 are allocated", "<svg"]),
    ],
)
def test_the_worked_example(get, name, said):
    page = get(name, example_of(FORMS[name]).removeprefix(f"/calculators/{name}/"))
    for text in said:
        assert text in page
    # The second of two tasks of the example ends past the capacity; that is its point.
    assert ("The answer has 1 problem." in page) == ("field-error" in page) == (name == "smem-planner")


@pytest.mark.parametrize("name", FORMS)
def test_an_empty_page_offers_the_example_and_blames_nobody(get, name):
    page = get(name)
    assert "Nothing is typed yet" in page
    assert "field-error" not in page
    assert page.count("Worked example") == 2


@pytest.mark.parametrize(
    ("name", "query", "field", "said"),
    [
        ("task-count", "?num_tasks=8*(M/128)", "num_tasks", "M is not"),
        ("task-count", "?num_tasks=1/0", "num_tasks", "has no value"),
        ("task-count", "?listed=64", "num_tasks", "Nothing is given here"),
        ("task-count", "?num_tasks=A&symbols-4-name=A&symbols-4-value=B", "symbols-0-value", "B is not"),
        ("wave-quantisation", "?items=7168&tasks=136&old_warps=0&new_warps=7", "old_warps", "too small"),
        ("achievable-floor", "?bytes=1e3&high_tb_s=9", "high_tb_s", "theoretical peak"),
        ("achievable-floor", "?bytes=5&low_tb_s=3&high_tb_s=2", "high_tb_s", "ends below its start"),
        ("smem-planner", "?regions-0-name=A&regions-0-size_bytes=x", "regions-0-size_bytes", "x is not"),
        ("smem-planner", "?regions-7-name=A", "regions-0-size_bytes", "Nothing is given here"),
        ("smem-planner", "?regions-0-name=A&regions-0-size_bytes=400000", "regions-0", "could not be placed"),
        (
            "smem-planner",
            "?regions-0-name=A&regions-0-size_bytes=9&regions-1-task=b&regions-1-name=B&regions-1-size_bytes=y",
            "regions-1-size_bytes",
            "y is not",
        ),
        ("smem-planner", "?regions-0-name=A&regions-0-size_bytes=9&queue=this,+other", "queue", "none of the tasks"),
        ("smem-planner", "?pages=65&regions-0-name=A&regions-0-size_bytes=9", "pages", "too large"),
        ("smem-planner", "?pages=3", "regions", "No region is listed"),
        ("tmem-columns", "?objects-0-columns=513", "objects-0-columns", "too large"),
        ("tmem-columns", "?objects-0-columns=64&alloc_columns=48", "alloc_columns", "can't be allocated"),
    ],
)
def test_errors_stand_beside_their_field(get, name, query, field, said):
    page = get(name, query)
    assert said in beside(page, field)
    assert f'href="#f-{field}"' in page
    assert f'id="f-{field}"' in page


def test_a_bad_geometry_hides_no_other_problem_and_nothing_typed_is_lost(get):
    typed = {
        "page_bytes": "0", "pages": "many", "queue": "this, gg", "regions-0-name": "A", "regions-0-size_bytes": "X+1",
        "regions-1-name": "B", "regions-1-size_bytes": "16", "regions-1-alignment": "24",
    }  # fmt: skip
    page = get("smem-planner", f"?{urlencode(typed)}")
    for field in ("page_bytes", "pages", "queue", "regions-0-size_bytes", "regions-1-alignment"):
        assert beside(page, field), field
    assert "5 problems to settle first" in page
    for name, value in typed.items():
        assert re.search(rf'name="{name}" value="{re.escape(value)}"', page), name


def test_the_address_is_cleaned_and_holds_everything(client):
    client.force_login(f.designer().user)
    query = (
        "?queue=&x=1&regions-5-name=B&regions-5-size_bytes=1024&regions-9-name=&regions-9-can_pack=1&regions-2-name=A"
    )
    response = client.get(f"/calculators/smem-planner/{query}")
    assert response.status_code == 302
    clean = "/calculators/smem-planner/?regions-0-name=A&regions-1-name=B&regions-1-size_bytes=1024"
    assert response["Location"] == clean
    assert client.get(clean).status_code == 200


def test_other_tasks_run_in_the_queue(get):
    query = (
        "?queue=this,+next&regions-0-name=A&regions-0-size_bytes=16384&regions-1-task=next&regions-1-name=B"
        "&regions-1-size_bytes=16384"
    )
    page = get("smem-planner", query.replace("this,+next", "this%2C+next"))
    assert "2 tasks on one SM" in page
    assert "next: B" in page


def test_another_row_is_offered_without_scripts(get):
    query = "?objects-0-name=A&objects-0-columns=4"
    assert get("tmem-columns", query).count('name="objects-') == 4 * 3
    assert get("tmem-columns", f"{query}&more=objects").count('name="objects-') == 4 * 4
    many = "&".join(f"objects-{n}-columns=1" for n in range(MAX_ROWS + 5))
    page = get("tmem-columns", f"?{many}&more=objects")
    assert page.count('name="objects-') == 4 * MAX_ROWS
    assert "Another object" not in page


def test_htmx_gets_the_answer_and_what_is_wrong_per_field(get, client):
    query = "?regions-3-name=A&regions-3-size_bytes=x&regions-1-name="
    page = get("smem-planner", query, **HTMX)
    assert "<form" not in page
    assert "x is not" in beside(page, "regions-3-size_bytes")
    assert beside(page, "queue") == ""
    assert 'hx-swap-oob="true"' in page
    response = client.get(f"/calculators/smem-planner/{query}", **HTMX)
    assert response["HX-Replace-Url"] == "/calculators/smem-planner/?regions-0-name=A&regions-0-size_bytes=x"


def test_htmx_says_the_same_as_the_page(get):
    query = example_of(FORMS["tmem-columns"]).removeprefix("/calculators/tmem-columns/")
    part = get("tmem-columns", query, **HTMX)
    answer = part.split("</section>")[0]
    assert answer.strip().replace(" ", "") in get("tmem-columns", query).replace(" ", "")


@pytest.mark.parametrize(
    "query",
    [
        "?regions-0-size_bytes=%00", "?num_tasks=" + "9" * 5000, "?regions-99999-name=A", "?regions--1-name=A",
        "?symbols-0-name=%F0%9F%98%80&num_tasks=1", "?num_tasks=A**A**A&symbols-0-name=A&symbols-0-value=9**9",
        "?symbols-0-name=A&symbols-0-value=A&num_tasks=A", "?regions-0-slots=999999999&regions-0-size_bytes=1",
        "?symbols-0-value=4&num_tasks=1", "?bytes=%E2%88%9E+MB", "?objects-0-start=-4&objects-0-columns=4",
        "?more=nothing", "?page_bytes=0&pages=0&regions-0-name=A",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", FORMS)
def test_whatever_is_typed_is_answered(client, name, query):
    client.force_login(f.designer().user)
    for headers in ({}, HTMX):
        response = client.get(f"/calculators/{name}/{query}", follow=True, **headers)
        assert response.status_code in (200, 400)


def test_an_unknown_calculator_is_not_found(get):
    get("nothing", status=404)


def test_who_is_not_signed_in_is_asked_to(client):
    response = client.get(reverse("kernels:calculator", args=["task-count"]))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))
