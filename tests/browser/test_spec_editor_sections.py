"""Every section of the spec editor with everything filled in: axe in both themes, a narrow window, a quiet console.

Rows are dragged, and moved by keys.
"""

import re

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
from v2kb.rules.spec_document import empty_row

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


SIDEWAYS = """() => {
  for (const fold of document.querySelectorAll("#editor details")) fold.open = true;
  return [...document.querySelectorAll("#editor .table-wrap")]
    .filter((wrap) => wrap.scrollWidth > wrap.clientWidth)
    .map((wrap) => wrap.querySelector("caption").textContent);
}"""


def test_no_table_scrolls_sideways_in_a_window_of_1280(page: Page, site: str, console, designer) -> None:
    """With a formula that is longer than its column, every row unfolded, and findings at its fields."""
    page.set_viewport_size({"width": 1280, "height": 900})
    long = full_spec()
    long["sems"]["rows"][0] |= {"ordinal": "3*STAGES + 2*ACC + ceil(HIDDEN/GRP) - 56", "name": "weights_of_w13_landed"}
    channels = full_spec()
    assert to_channels(channels) == []
    wide = {}
    for document, sections in ((long, BY_SLUG), (channels, ("sems", "ledger"))):
        write(designer, document)
        for slug in sections:
            page.goto(f"{site}/specs/S2/edit/{slug}/")
            if tables := page.evaluate(SIDEWAYS):
                wide[slug] = tables
    assert wide == {}
    assert console == []


CROWDED = """() => {
  for (const fold of document.querySelectorAll("#editor details")) fold.open = true;
  const found = [], ink = document.createElement("canvas").getContext("2d");
  for (const row of document.querySelectorAll("#editor .table-edit > tbody > tr")) {
    const parts = [...row.querySelectorAll("input:not([type=hidden]), select, textarea, button, .say:not(:empty)")]
      .filter((part) => part.closest("tr") === row && part.getClientRects().length);
    const named = (part) => part.name + (part.value || part.id);
    parts.forEach((one, i) => parts.slice(i + 1).forEach((other) => {
      const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
      const beside = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (!one.contains(other) && beside > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
        found.push(`${named(one)} lies over ${named(other)}`);
    }));
    for (const select of parts.filter((part) => part.matches("select"))) {
      const style = getComputedStyle(select);
      ink.font = style.font;
      const sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight), arrow = 16;
      const room = select.clientWidth - sides - arrow;
      if (ink.measureText(select.selectedOptions[0].textContent).width > room) found.push(`${named(select)} is cut`);
    }
  }
  return found;
}"""


def test_nothing_in_a_row_lies_over_its_neighbour_and_no_word_is_cut(page: Page, site: str, console, designer) -> None:
    """With findings and amended values in narrow columns, and long names beside long texts."""
    document = full_spec()
    question = empty_row("open_questions") | {"id": "Q1", "question": "Which page? " * 60, "blocks": "verdict"}
    document["open_questions"] = [question | {"state": "OPEN"}]
    fields = [{"field": "open_questions[0].state", "value": "RESOLVED"}]
    fields.append({"field": "open_questions[0].resolution", "value": "As the reference does it. " * 20})
    document["amendments"] = [empty_row("amendments") | {"id": "A1", "date": "2026-07-15", "fields": fields}]
    document["gates"] = [
        empty_row("gates") | {"rung": "G1", "bar": "cos at least 0.999, " * 9, "cases": "active 0 to 8"}
    ]
    write(designer, document)
    crowded = {}
    for width in (1280, 1024, 900, 400):
        page.set_viewport_size({"width": width, "height": 900})
        for slug in BY_SLUG:
            page.goto(f"{site}/specs/S2/edit/{slug}/")
            if found := page.evaluate(CROWDED) + (page.evaluate(SIDEWAYS) if width == 400 else []):
                crowded[f"{slug} at {width}"] = found
    assert crowded == {}
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


def test_what_stands_beside_a_field_is_the_same_after_an_autosave(page: Page, site: str, console, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/smem/")
    beside = page.locator("#f-smem-regions-0-size_bytes-say")
    before = beside.inner_html()
    assert "A1 sets this to 64*128" in before
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_label("size (B), row 2", exact=True).first.fill("2,1")
    expect(page.locator("#f-smem-regions-1-size_bytes-say")).to_contain_text("drop it.")
    assert beside.inner_html().replace(' data-link=""', "") == before
    beside.get_by_role("link", name="See the amendment").click()
    expect(page).to_have_url(re.compile(r"/edit/amendments/#f-amendments-0-fields-1$"))
    expect(page.locator("#f-amendments-0-fields-1")).to_be_visible()


def test_the_missing_inputs_of_a_row_stay_open_while_one_types(page: Page, site: str, console, designer) -> None:
    document = full_spec()
    document["wiring"]["tasks"].append({**empty_row("wiring.tasks"), "type": "tail"})
    write(designer, document)
    page.goto(f"{site}/specs/S2/edit/wiring/")
    row = len(document["wiring"]["tasks"])
    group = page.locator(f"#missing-wiring-tasks-{row - 1}")
    expect(group.locator("summary")).to_have_text(f"Task type {row}: 11 missing inputs")
    group.locator("summary").click()
    page.get_by_label(f"enum, row {row}", exact=True).fill("TASK_TAIL_V2")
    expect(group.locator("summary")).to_have_text(f"Task type {row}: 10 missing inputs")
    expect(group.get_by_role("link", name="Register split")).to_be_visible()
    page.locator("#level-missing > summary").click()
    page.get_by_label(f"tree, row {row}", exact=True).fill("mpk")
    expect(page.locator("#level-missing > summary")).to_contain_text("9")
    expect(group).not_to_be_visible()


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
