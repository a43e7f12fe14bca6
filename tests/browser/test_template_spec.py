"""A designer writes the spec of a small consumer-only op from its template: few fields, each finding leads to one."""

import re

import pytest
from playwright.sync_api import Page, expect

from kernels.models import Spec
from tests import factories as f

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_rms_norm_is_specified_from_the_template_with_four_fields(page: Page, site: str, sign_in, console) -> None:
    page.set_default_timeout(15_000)
    sign_in("dora", *f.ALL_DESIGN)
    page.goto(f"{site}/specs/")
    page.get_by_role("link", name="Import or template").click()
    page.get_by_role("link", name="Family B: RMS norm, hidden 7168").click()
    page.get_by_label("Title").fill("RMS norm, one task per row tile")
    page.get_by_label("RMS norm in the megakernel (B200)").check()
    page.get_by_role("button", name="Begin the spec").click()

    expect(page.locator("#checks .findings a").first).to_contain_text("R46")
    page.locator("#checks .findings a").first.click()
    expect(page).to_have_url(re.compile("/edit/wiring/"))
    page.get_by_label("id, row 1", exact=True).fill("358")
    expect(page.locator("#checks")).to_contain_text("Nothing blocks.")

    page.get_by_role("link", name="Choices").click()
    page.locator("#gate .findings a").first.click()
    page.get_by_role("button", name="Add citation").click()
    own = page.locator("#cite-list option").first
    expect(own).to_contain_text("Family B")
    page.locator("input[name='citations[0].target']").fill(own.get_attribute("value"))
    expect(page.locator("#gate")).to_contain_text("The gate passes.")

    page.get_by_role("link", name="Finish").click()
    page.get_by_label("What changed, and why").fill("First design")
    page.get_by_role("button", name="Save revision and hand in for review").click()
    expect(page.locator("main")).to_contain_text("Needs 1 approval for correctness")
    revision = Spec.objects.get(title="RMS norm, one task per row tile").head
    assert revision.submission
    assert revision.checks["summary"]["passes"]
    assert revision.checks["summary"]["smem_bytes"] == 44_032
