"""Calculators, the sweep and the pictures in Chromium: typing, errors, rows, links, without scripts, axe, narrow."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from kernels.calculators.forms import FORMS
from kernels.calculators.typed import example_of
from tests import factories as f
from tests.rules.spec_examples import ring_gemm_spec

pytestmark = pytest.mark.django_db(transaction=True)

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
SIDEWAYS_PX = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def faults(page: Page) -> list[str]:
    """What axe finds, and scrolling sideways in a narrow window."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    said = [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in Axe().run(page, options=RULES).response["violations"]]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    said += [
        f"dark {v['id']}: {v['nodes'][0]['html'][:160]}"
        for v in Axe().run(page, options=COLOURS).response["violations"]
    ]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 375, "height": 900})
    page.wait_for_timeout(300)
    if page.evaluate(SIDEWAYS_PX) > 0:
        said.append("scrolls sideways at 375 px")
    page.set_viewport_size({"width": 1440, "height": 900})
    return said


def test_every_calculator_is_accessible(page: Page, live_server, sign_in, console):
    sign_in("vera", "viewer")
    found = {}
    troubled = "/calculators/smem-planner/?regions-0-name=A&regions-0-size_bytes=x&regions-1-size_bytes=4"
    for path in (
        "/calculators/",
        "/calculators/smem-planner/",
        troubled,
        *(example_of(form) for form in FORMS.values()),
    ):
        page.goto(f"{live_server.url}{path}")
        found[path] = faults(page)
    assert {path: said for path, said in found.items() if said} == {}


def test_the_answer_follows_what_is_typed(page: Page, live_server, sign_in, console):
    sign_in("vera", "viewer")
    page.goto(f"{live_server.url}/calculators/tmem-columns/")
    expect(page.locator("#answer")).to_contain_text("Nothing is typed yet")
    page.get_by_label("columns of a slot, object 1").fill("48")
    expect(page.locator("#answer")).to_contain_text("48 columns are needed, so 64 are allocated.")
    expect(page).to_have_url(re.compile(r"\?objects-0-columns=48$"))
    page.get_by_label("slots, object 1").fill("12")
    expect(page.locator("#f-objects-say")).to_contain_text("more than the 512")
    expect(page.locator("#answer svg").first).to_be_visible()
    page.get_by_label("slots, object 1").fill("A")
    slots = page.get_by_label("slots, object 1")
    expect(page.locator("#f-objects-0-slots-say")).to_contain_text("A is not")
    expect(slots).to_have_attribute("aria-invalid", "true")
    expect(slots).to_be_focused()
    expect(slots).to_have_value("A")
    slots.fill("2")
    expect(page.locator("#answer")).to_contain_text("96 columns are needed")
    expect(slots).not_to_have_attribute("aria-invalid", "true")
    page.reload()
    expect(page.locator("#answer")).to_contain_text("96 columns are needed")
    slots.press("Enter")
    expect(page.get_by_label("slots, object 4")).to_have_count(0)
    page.get_by_role("button", name="Another object").click()
    expect(page.get_by_label("slots, object 4")).to_be_visible()
    expect(page.get_by_label("slots, object 1")).to_have_value("2")


def test_a_calculator_works_without_scripts(browser: Browser, live_server, sign_in, context):
    sign_in("vera", "viewer")
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(f"{live_server.url}/calculators/smem-planner/")
    page.get_by_label("name, region 1").fill("W")
    page.get_by_label("size, region 1").fill("16384")
    page.get_by_role("button", name="Another region").click()
    expect(page.get_by_label("name, region 4")).to_be_visible()
    page.get_by_label("name, region 2").fill("B")
    page.get_by_label("size, region 2").fill("half")
    page.get_by_role("button", name="Calculate").last.click()
    expect(page.locator("#f-regions-1-size_bytes-say")).to_contain_text("half")
    page.get_by_label("size, region 2").fill("8192")
    page.get_by_role("button", name="Calculate").last.click()
    expect(page.locator("#answer")).to_contain_text("24,576 of 224,256 B in 2 of 14 pages")
    expect(page.locator("#answer svg[role=img]")).to_have_count(2)
    plain.close()


def test_a_sweep_and_the_pictures_of_a_spec(page: Page, live_server, sign_in, console):
    f.op(producers=["residual stream"], consumers=["all-reduce"])
    document = ring_gemm_spec()
    document["claims"] = [{"symbol": "STAGES", "low": "6", "high": "12", "text": "to 12"}]
    spec = f.saved_revision(document).spec
    sign_in("dora2", "designer")
    page.goto(f"{live_server.url}{spec.get_absolute_url()}")
    page.get_by_role("link", name="Sweep STAGES from 6 to 12").click()
    expect(page.get_by_role("row", name="9 R20")).to_be_visible()
    expect(page.locator(".chart-plot svg").first).to_be_visible()
    assert faults(page) == []
    page.get_by_label("To", exact=True).fill("8")
    page.get_by_label("To", exact=True).press("Tab")
    expect(page.locator("#swept")).to_contain_text("Nothing breaks.")
    expect(page).to_have_url(re.compile("high=8"))
    found = {}
    for section in ("smem", "tmem", "sems", "roles", "granularity"):
        page.goto(f"{live_server.url}/specs/{spec.code}/edit/{section}/")
        expect(page.locator("#picture svg[role=img]")).to_be_visible()
        found[section] = faults(page)
    assert {section: said for section, said in found.items() if said} == {}
    page.goto(f"{live_server.url}/specs/{spec.code}/edit/tmem/")
    page.locator("#f-tmem-objects-0-columns").fill("8")
    expect(page.locator("#picture")).to_contain_text("16 to 31")
