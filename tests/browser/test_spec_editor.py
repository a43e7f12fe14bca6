"""The spec editor in Chromium: rows come and go without a word in the console, Enter saves, and it asks before it
destroys.
"""

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from kernels.models import SpecDraft
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec

pytestmark = pytest.mark.django_db(transaction=True)

# Section and the tables on its page.
TABLES = {
    "overview": ("ops", "symbols", "claims"),
    "smem": ("smem.regions",),
    "tmem": ("tmem.objects",),
    "sems": ("sems.rows",),
    "roles": ("roles.rows",),
    "granularity": ("granularity",),
    "anchors": ("anchors", "measurement.targets"),
    "gates": ("gates", "scale_packs"),
    "wiring": ("wiring.tasks", "wiring.files", "wiring.placeholders"),
    "questions": ("open_questions",),
    "reviews": ("reviews.rows",),
    "amendments": ("amendments",),
    "audit": ("self_audit",),
    "choices/C1": ("citations", "prediction.bands", "acknowledged"),
}
# A browser writes styles into elements by itself: on a textarea that was dragged larger, or from an extension.
STYLE_EVERYTHING = "document.querySelectorAll('[id]').forEach((node) => { node.style.caretColor = 'auto'; })"


@pytest.fixture
def editor(page: Page, site: str, sign_in, console):
    """editor("smem") -> the page of that section of S2, opened by its owner; its console must stay quiet."""
    page.set_default_timeout(15_000)
    user = sign_in("dora", *f.ALL_DESIGN)

    def go(section: str) -> Page:
        page.goto(f"{site}/specs/S2/edit/{section}/")
        return page

    go.user = user
    return go


def rows(page: Page, path: str):
    return page.locator(f'section:has(button[value="add:{path}"]) [data-edit-row]')


def test_rows_of_every_table_are_added_filled_and_removed_without_a_console_error(editor) -> None:
    for section, paths in TABLES.items():
        page = editor(section)
        for path in paths:
            before = rows(page, path).count()
            page.locator(f'button[value="add:{path}"]').click()
            expect(rows(page, path)).to_have_count(before + 1)
            fresh = rows(page, path).last
            expect(fresh.locator(".field-error, [aria-invalid]")).to_have_count(0)
            page.evaluate(STYLE_EVERYTHING)
            with page.expect_response(lambda answer: answer.request.method == "POST"):
                fresh.locator("input:not([type=hidden], [type=checkbox]), textarea").first.fill("X1")
            expect(page.locator("#autosave")).to_have_attribute("data-state", "saved")
            page.locator(f'button[value="remove:{path}:{before}"]').click()
            expect(rows(page, path)).to_have_count(before)


def test_enter_in_a_field_saves_and_moves_or_pins_nothing(editor) -> None:
    page = editor("choices/C1")
    before = SpecDraft.objects.get(user=editor.user).content["choices"][0]
    title = page.get_by_label("Title", exact=True)
    title.fill("Entered")
    title.press("Enter")
    expect(page.get_by_role("heading", name="Entered")).to_be_visible()
    after = SpecDraft.objects.get(user=editor.user).content["choices"][0]
    assert after["title"] == "Entered"
    assert after["citations"] == before["citations"]


def test_the_focus_stays_where_it_was_when_one_saves_or_checks(editor) -> None:
    page = editor("overview")
    title = page.get_by_label("Title", exact=True)
    title.fill("Entered")
    title.press("ArrowLeft")
    selection = title.evaluate("(field) => [field.selectionStart, field.selectionEnd]")
    with page.expect_response(
        lambda answer: answer.request.method == "POST" and "action=save" in answer.request.post_data
    ):
        title.press("Enter")
    expect(page.locator("#autosave")).to_have_attribute("data-state", "saved")
    expect(title).to_be_focused()
    assert title.evaluate("(field) => [field.selectionStart, field.selectionEnd]") == selection
    for name in ("Save draft", "Check"):
        button = page.locator(".toolbar").get_by_role("button", name=name)
        button.focus()
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.keyboard.press("Enter")
        expect(page.locator("#autosave")).to_have_attribute("data-state", "saved")
        expect(button).to_be_focused()


def test_the_focus_stays_after_a_save_that_failed(editor, console) -> None:
    page = editor("overview")
    title = page.get_by_label("Title", exact=True)
    page.route("**/edit/overview/", lambda route: route.fulfill(status=403, body="no"))
    title.fill("Entered")
    title.press("Enter")
    expect(page.locator("#messages")).to_contain_text("The server refused this (403)")
    expect(page.locator("#spec-form")).not_to_have_attribute("inert", "")
    expect(title).to_be_focused()


def test_the_heading_follows_a_stored_title(editor) -> None:
    page = editor("overview")
    page.get_by_label("Title", exact=True).fill("A title of its own")
    expect(page.locator("h1")).to_have_text("S2 A title of its own")


def test_a_finding_beside_a_field_stretches_no_other(editor) -> None:
    page = editor("overview")
    wired, frozen = page.get_by_label("Wired already"), page.get_by_label("Frozen gate")
    before = [field.bounding_box()["height"] for field in (wired, frozen)]
    page.get_by_label("First bring-up").evaluate(
        "(field) => field.closest('.field').append('a long finding '.repeat(60))"
    )
    assert [field.bounding_box()["height"] for field in (wired, frozen)] == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_that_is_wider_than_the_window_says_so(editor, scheme) -> None:
    page = editor("smem")
    page.emulate_media(color_scheme=scheme)
    hint = "(map) => getComputedStyle(map, '::before').content"
    picture = page.locator("#picture .map").first
    assert picture.evaluate(hint) == "none"
    page.set_viewport_size({"width": 400, "height": 800})
    expect(picture).to_have_attribute("data-sideways", "")
    assert "Scroll sideways" in picture.evaluate(hint)


def test_a_renamed_symbol_s_uses_are_renamed_by_one_button(editor) -> None:
    page = editor("overview")
    SpecDraft.objects.filter(user=editor.user).update(content=grouped_gemm_spec())
    page.reload()
    page.get_by_label("name, row 1", exact=True).and_(page.locator("[name^=symbols]")).fill("RING")
    page.get_by_role("button", name="Rename to RING everywhere").click()
    expect(page.locator('[value^="rename:"]')).to_have_count(0)
    stored = SpecDraft.objects.get(user=editor.user).content
    assert stored["sems"]["rows"][0]["slots"] == "RING"
    assert stored["symbols"]["RING"] == grouped_gemm_spec()["symbols"]["STAGES"]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_what_is_destroyed_is_asked_about_first(
    editor, browser: Browser, context: BrowserContext, scripts: bool
) -> None:
    page = editor("choices")
    if not scripts:
        plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
        address, page = page.url, plain.new_page()
        page.goto(address)
    before = SpecDraft.objects.get(user=editor.user).content["choices"]
    button, question = page.get_by_role("button", name="Remove C1", exact=True), page.get_by_role("alertdialog")
    button.click()
    expect(question).to_contain_text("Its rationale, scope, citations and prediction go from your draft for good.")
    question.get_by_role("button", name="Keep it").click()
    expect(question).to_have_count(0)
    assert SpecDraft.objects.get(user=editor.user).content["choices"] == before
    button.click()
    question.get_by_role("button", name="Remove the choice").click()
    expect(page.get_by_role("button", name="Remove C1", exact=True)).to_have_count(0)
    assert SpecDraft.objects.get(user=editor.user).content["choices"] == before[1:]

    page.get_by_role("link", name="Finish").click()
    page.get_by_role("button", name="Discard my draft").click()
    expect(question).to_contain_text("nobody else has it")
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    assert SpecDraft.objects.filter(user=editor.user).exists()
    page.get_by_role("button", name="Discard my draft").click()
    question.get_by_role("button", name="Discard the draft").click()
    expect(page).to_have_url(re.compile(r"/specs/S2/$"))
    assert not SpecDraft.objects.filter(user=editor.user).exists()
    if not scripts:
        plain.close()
