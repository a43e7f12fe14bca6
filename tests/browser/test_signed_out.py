"""What was typed before the sign-in ended comes back into its form after the next one, for the same person alone."""

import pytest
from playwright.sync_api import Page, expect

from evidence.models import Flag
from tests import factories as f
from v2kb.core.models import User

pytestmark = pytest.mark.django_db(transaction=True)
PHRASE = "a-long-phrase-of-my-own"


def sign_in_as(page: Page, name: str) -> None:
    user = User.objects.get(username=name)
    user.set_password(PHRASE)
    user.must_change_password = False
    user.save()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PHRASE)
    page.get_by_role("button", name="Sign in").click()


def test_typed_text_comes_back_after_the_sign_in(page: Page, context, live_server, sign_in):
    row = f.evidence_row()
    sign_in("dora", "designer")
    page.goto(f"{live_server.url}{row.get_absolute_url()}")
    page.get_by_text("Flag this row").click()
    page.locator("#flag-reason").fill("Another driver\nand another card")
    context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Flag", exact=True).click()
    expect(page.get_by_text("what you sent was not stored")).to_be_visible()
    sign_in_as(page, "dora")
    expect(page.locator("#flag-reason")).to_have_value("Another driver\nand another card")
    expect(page.locator("#flag-reason")).to_be_visible()
    expect(page.locator("#messages")).to_contain_text("What you typed is back in its form")
    assert not Flag.objects.exists()
    page.get_by_role("button", name="Flag", exact=True).click()
    expect(page.get_by_text("Flagged, not confirmed yet.")).to_be_visible()
    assert Flag.objects.get().reason.splitlines() == ["Another driver", "and another card"]
    page.reload()
    expect(page.locator("#messages")).not_to_contain_text("What you typed")


def test_another_person_does_not_get_it_and_a_form_that_was_taken_leaves_nothing(
    page: Page, context, live_server, sign_in, make_user
):
    row = f.evidence_row()
    make_user("otto", "designer")
    sign_in("dora", "designer")
    page.goto(f"{live_server.url}{row.get_absolute_url()}")
    page.get_by_text("Flag this row").click()
    page.locator("#flag-reason").fill("Mine alone")
    context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Flag", exact=True).click()
    sign_in_as(page, "otto")
    expect(page.get_by_role("heading", name=row.head.title)).to_be_visible()
    expect(page.locator("#flag-reason")).to_have_value("")
    assert page.evaluate("sessionStorage.getItem('v2kb.unsent')") is None


def test_a_long_form_comes_back(page: Page, context, live_server, sign_in):
    sign_in("dora", "designer")
    page.goto(f"{live_server.url}/evidence/rows/new/")
    page.locator("[name=title]").fill("A row")
    page.locator("[name=mechanism]").fill("Two\nlines")
    context.clear_cookies(name="sessionid")
    page.locator("form.panel, main form").last.evaluate("form => { form.noValidate = true; form.requestSubmit(); }")
    expect(page.get_by_text("what you sent was not stored")).to_be_visible()
    sign_in_as(page, "dora")
    expect(page.locator("[name=title]")).to_have_value("A row")
    expect(page.locator("[name=mechanism]")).to_have_value("Two\nlines")
