"""Search of evidence and step 0 of a spec by hand: swaps, the keyboard, decisions that travel, axe."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from evidence.models import SavedSearch
from kernels.models import Spec
from tests import factories as f
from tests.browser.test_pages import complaints

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dead(live_server, sign_in, page: Page):
    """A DEAD row that blocks, an op in its scope; a designer is signed in."""
    page.set_default_timeout(30_000)
    f.op()
    row = f.evidence_row(f.DEAD)
    sign_in("dina", *f.ALL_DESIGN)
    return row


def test_a_query_is_typed_mended_and_saved(page: Page, live_server, console, dead) -> None:
    page.goto(f"{live_server.url}/evidence/")
    page.keyboard.press("j")
    expect(page.locator("[data-row] a[data-open]").first).to_be_focused()
    box = page.get_by_label("Code or words")
    box.fill("norm foo:bar")
    box.press("Enter")
    expect(page.locator("pre.caret")).to_have_text("norm foo:bar\n     ^")
    page.get_by_label("Code or words").fill("the nrom")
    page.get_by_label("Code or words").press("Enter")
    expect(page.locator(".said")).to_contain_text("nrom read as norm")
    expect(page).to_have_url(re.compile(r"\?q=the%20nrom$|\?q=the\+nrom$"))
    page.get_by_role("checkbox", name="DEAD").check()
    expect(page).to_have_url(re.compile("verdict=DEAD"))
    page.get_by_text("Save this search").click()
    page.get_by_label("Name").fill("Dead norms")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("link", name="Dead norms")).to_be_visible()
    page.get_by_role("button", name="Delete this saved search").click()
    page.get_by_role("button", name="Delete the search").click()
    expect(page.get_by_text("The saved search is deleted.")).to_be_visible()
    assert not SavedSearch.objects.exists()


def test_decisions_travel_with_a_second_search_and_begin_a_spec(page: Page, live_server, console, dead) -> None:
    page.goto(f"{live_server.url}/specs/search/")
    page.get_by_label("Levers that the design adopts").fill("fused row norm")
    page.get_by_role("button", name="Search", exact=True).click()
    card = page.locator(f"#decide-{dead.code}")
    card.get_by_label("re-propose").check()
    card.get_by_label("What is new in the mechanism").fill("one pass")
    assert Axe().run(page).response["violations"] == []
    page.get_by_label("Words").fill("norm")
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_url(re.compile("q=norm"))
    expect(page.get_by_label("fused row norm", exact=True)).to_be_checked()
    expect(card.get_by_label("re-propose")).to_be_checked()
    expect(card.get_by_label("What is new in the mechanism")).to_have_value("one pass")
    page.get_by_label("Title").fill("My norm")
    page.get_by_label("RMS norm on the CPU").check()
    page.get_by_role("button", name="Begin the spec").click()
    page.wait_for_url(re.compile("/edit/choices/"))
    choice = Spec.objects.get().drafts.get().content["choices"][0]
    assert choice["new_mechanism"] == "one pass"
    assert choice["citations"][0]["code"] == dead.code


def test_step_0_reads_in_both_themes_and_narrow(page: Page, live_server, console, dead) -> None:
    for query in ("", "?lever=fused-row-norm&arch=cpu", "?lever=fused-row-norm&arch=sm_90", "?q=zebra", "?q=foo:"):
        said = complaints(page, f"{live_server.url}/specs/search/{query}")
        assert [line for line in said if line != "status 422"] == [], query
