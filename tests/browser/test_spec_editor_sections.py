"""Every section of the spec editor with everything filled in: axe in both themes, a narrow window, a quiet console.

Rows are dragged, and moved by keys.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from kernels.editor.convert import to_channels
from kernels.editor.layout import BY_SLUG
from kernels.models import SpecDraft
from tests import factories as f
from tests.browser.test_pages import complaints
from tests.web.test_spec_page_design import full_spec
from v2kb.core.models import User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def designer(site: str, sign_in, page: Page) -> User:
    """The owner of S2 with a draft in which every part is filled in, and some of it wrong."""
    page.set_default_timeout(30_000)
    user = sign_in("dora", *f.ALL_DESIGN)
    page.goto(f"{site}/specs/S2/edit/overview/")
    write(user, full_spec())
    return user


def write(user: User, document) -> None:
    draft = SpecDraft.objects.get(user=user)
    document["symbols"]["STAGES"] = "12"
    document["ops"] = draft.content["ops"]
    document["choices"] = draft.content["choices"]
    draft.content, draft.version = document, draft.version + 1
    draft.save()


def test_every_section_in_both_themes_and_narrow(page: Page, site: str, console, designer) -> None:
    problems = {slug: said for slug in BY_SLUG if (said := complaints(page, f"{site}/specs/S2/edit/{slug}/"))}
    channels = full_spec()
    assert to_channels(channels) == []
    write(designer, channels)
    for slug in ("sems", "ledger"):
        if said := complaints(page, f"{site}/specs/S2/edit/{slug}/"):
            problems[f"{slug} as channels"] = said
    assert problems == {}
    assert console == []


def test_folded_fields_and_a_question_of_two_tabs(page: Page, site: str, console, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/smem/")
    page.get_by_label("name, row 1", exact=True).first.wait_for()
    SpecDraft.objects.filter(user=designer).update(version=99, content=_renamed(designer))
    page.get_by_label("name, row 1", exact=True).first.fill("MINE")
    expect(page.locator("#asked")).to_contain_text("THEIRS")
    page.evaluate("for (const fold of document.querySelectorAll('#editor details')) fold.open = true")
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found] == []


def _renamed(user: User):
    content = SpecDraft.objects.get(user=user).content
    content["smem"]["regions"][0]["name"] = "THEIRS"
    return content


def test_regions_are_dragged_and_moved_by_keys(page: Page, site: str, console, designer) -> None:
    page.set_viewport_size({"width": 1440, "height": 1400})  # both rows in sight
    page.goto(f"{site}/specs/S2/edit/smem/")
    names = lambda: [r["name"] for r in SpecDraft.objects.get(user=designer).content["smem"]["regions"]][:4]  # noqa: E731
    rows = page.locator("#f-smem-regions > div > .table-wrap > table > tbody")
    assert names() == ["W0", "W1", "W2", "W3"]
    rows.nth(0).locator("[data-handle]").first.hover()
    page.mouse.down()
    box = rows.nth(2).bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 10, steps=5)
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] - 10, steps=5)
    page.mouse.up()
    expect(rows.nth(2).get_by_label("name, row 3", exact=True).first).to_have_value("W0")
    assert names() == ["W1", "W2", "W0", "W3"]
    page.reload()
    expect(rows.nth(2).get_by_label("name, row 3", exact=True).first).to_have_value("W0")
    up = page.get_by_role("button", name="move row 3 up").first
    up.focus()
    page.keyboard.press("Enter")
    expect(rows.nth(1).get_by_label("name, row 2", exact=True).first).to_have_value("W0")
    expect(page.get_by_role("button", name="move row 2 up").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows.nth(0).get_by_label("name, row 1", exact=True).first).to_have_value("W0")
    assert names() == ["W0", "W1", "W2", "W3"]
    page.get_by_role("button", name="Copy row 1").first.click()
    expect(page.get_by_label("ordinal, row 2", exact=True).first).to_be_focused()
    page.get_by_role("button", name="Number the ordinals anew").click()
    expect(page.get_by_label("ordinal, row 3", exact=True).first).to_have_value("2")
