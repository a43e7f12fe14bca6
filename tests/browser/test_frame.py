"""The frame in Chromium: theme, keys, htmx answers, focus, plots under the CSP, and axe on every part."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("tests.browser.frame_urls")]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture
def frame(live_server, page, sign_in):
    """frame(path) -> the page there, signed in as a designer."""
    sign_in("dora", "designer")

    def go(path: str = "/"):
        page.goto(live_server.url + path)
        return page

    return go


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1280])
def test_styleguide_is_accessible_and_quiet(frame, page, console_errors, theme, width):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    frame("/styleguide/")
    expect(page.locator("#c-forest-plot .main-svg").first).to_be_visible()
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in found] == []
    assert console_errors == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_theme_switch_is_kept_and_redraws_plots(frame, page):
    page.emulate_media(color_scheme="light")
    frame("/styleguide/")
    trace = page.locator("#c-ladder-plot .scatterlayer .lines path").first
    expect(trace).to_be_visible()
    before = trace.evaluate("(line) => getComputedStyle(line).stroke")
    page.locator(".menu > summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert (
        page.locator("#c-ladder-plot .scatterlayer .lines path").first.evaluate(
            "(line) => getComputedStyle(line).stroke"
        )
        != before
    )
    # The cookie alone makes the server answer in the chosen theme, so nothing flashes.
    assert 'data-theme="dark"' in page.request.get(page.url).text()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_keys_focus_move_and_open(frame, page):
    frame()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("j")
    expect(page.locator("#q")).to_have_value("j")
    page.locator("h1").click()
    page.keyboard.press("c")
    expect(page.locator("#comment")).to_be_focused()
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="two")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("o")
    page.wait_for_url("**/one/")


def test_go_keys_and_help(frame, page):
    frame()
    page.keyboard.press("?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys-dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.wait_for_url("**/evidence/")


def test_shortcuts_can_be_turned_off_for_good(frame, page):
    frame()
    page.keyboard.press("?")
    page.get_by_label("Use keyboard shortcuts in this browser").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("/")
    expect(page.locator("#q")).not_to_be_focused()


def test_refused_form_is_swapped_and_gets_the_focus(frame, page):
    frame()
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#box [data-error-summary]")).to_be_focused()


def test_a_conflict_says_why_among_the_messages(frame, page):
    frame()
    page.locator("#conflict").click()
    summary = page.locator("#messages [data-error-summary]")
    expect(summary).to_contain_text("The draft moved on.")
    expect(summary).to_contain_text("Reload and compare.")
    expect(summary).to_be_focused()
    expect(page.locator("#there")).to_be_empty()


def test_a_swap_is_announced(frame, page):
    frame()
    page.locator("#swap").click()
    expect(page.locator("#live")).to_have_text("3 rows")


def test_autosave_says_what_is_not_saved(frame, page):
    frame()
    expect(page.locator("#autosave")).to_have_text("No changes yet")
    page.locator("#lever").fill("7-warp fold")
    expect(page.locator("#autosave")).to_have_text("Changed, not saved yet")


def test_formset_rows_are_added_and_marked_for_removal(frame, page):
    frame("/styleguide/")
    box = page.locator('[data-formset="regions"]')
    box.get_by_role("button", name="Add region").click()
    expect(box.locator("[data-row-item]")).to_have_count(3)
    expect(box.locator('[name="regions-TOTAL_FORMS"]')).to_have_value("3")
    expect(box.locator('[name="regions-2-name"]')).to_be_focused()
    box.locator("[data-row-item]").first.get_by_role("button").click()
    expect(box.locator('[name="regions-0-DELETE"]')).to_be_checked()


def test_menu_closes_on_escape_and_returns_the_focus(frame, page):
    frame()
    menu = page.locator("details.menu")
    menu.locator("summary").click()
    expect(menu.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()


def test_skip_link_leads_to_the_content(frame, page):
    frame()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_plots_save_exactly_their_points(frame, page):
    frame("/styleguide/")
    with page.expect_download() as waiting:
        page.locator('[data-csv="c-ladder-table"]').click()
    lines = open(waiting.value.path()).read().splitlines()  # noqa: SIM115
    assert re.match(r"Version,Value", lines[0])
    assert "v3,48.9,48.5,49.4" in lines


def test_pages_read_without_javascript(live_server, browser, context, sign_in):
    sign_in("nora", "viewer")
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(live_server.url + "/styleguide/")
    page.locator(".menu > summary").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.locator(".theme-switch")).to_be_hidden()
    expect(page.locator("#c-ladder-table")).to_be_visible()
    plain.close()
