"""Nothing typed into the spec editor is lost: saves that overlap, a sign-in that ends, a second tab, no connection."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from kernels.models import SpecDraft
from kernels.services import specs
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.core.models import User

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_S = 20
COUNT_POSTS = """
window.posts = 0;
const sent = window.fetch;
window.fetch = (address, how) => { if (how?.method === "POST") window.posts++; return sent(address, how); };
0
"""


@pytest.fixture
def designer(site: str, sign_in, page: Page) -> User:
    """The owner of the starter specs, signed in."""
    page.set_default_timeout(30_000)
    return sign_in("dora", *f.ALL_DESIGN)


@pytest.fixture
def overview(page: Page, site: str, designer: User) -> Callable[[], Page]:
    """A function that opens the first section of S2 in a new tab."""

    def tab() -> Page:
        other = page.context.new_page()
        other.set_default_timeout(30_000)
        other.goto(f"{site}/specs/S2/edit/overview/")
        return other

    return tab


@pytest.fixture
def gate_of_saving(monkeypatch) -> tuple[threading.Event, threading.Event]:
    """(entered, open): a save tells when it has begun, and waits until it may go on."""
    entered, opened = threading.Event(), threading.Event()
    opened.set()
    save = specs.save_draft

    def slow(*args: Any, **kwargs: Any) -> SpecDraft:
        entered.set()
        assert opened.wait(WAIT_S)
        return save(*args, **kwargs)

    monkeypatch.setattr(specs, "save_draft", slow)
    return entered, opened


def until(page: Page, true: Callable[[], bool]) -> None:
    """Wait for something on the server."""
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, "it did not happen"
        page.wait_for_timeout(50)


def draft_of(user: User) -> dict[str, Any]:
    return SpecDraft.objects.get(user=user, spec__code="S2").content


def saved(page: Page) -> None:
    expect(page.locator("#autosave")).to_have_attribute("data-state", "saved")


def enter(tab: Page, site: str, name: str) -> None:
    """Sign in by the form, which renews the tokens too."""
    tab.goto(f"{site}/sign-in/")
    tab.locator("#id_username").fill(name)
    tab.locator("#id_password").fill(f"pass-{name}-phrase")
    tab.get_by_role("button", name="Sign in").click()
    expect(tab.get_by_role("heading", name="Home")).to_be_visible()


def test_what_is_typed_during_a_save_is_saved_after_it(page: Page, site, console, designer, gate_of_saving) -> None:
    entered, opened = gate_of_saving
    page.goto(f"{site}/specs/S2/edit/overview/")
    title, idiom, why = (page.get_by_label(label, exact=True) for label in ("Title", "Engine idiom", "Why this engine"))
    page.evaluate(COUNT_POSTS)
    opened.clear()
    title.fill("")
    title.press_sequentially("Typed title", delay=20)
    assert entered.wait(WAIT_S), "typing did not save"
    idiom.fill("")
    idiom.press_sequentially("typed idiom", delay=20)
    why.click()
    why.press_sequentially("!", delay=20)
    assert page.evaluate("window.posts") == 1, "a second save began before the first was answered"
    opened.set()
    until(
        page,
        lambda: (draft_of(designer)["title"], draft_of(designer)["engine"]["idiom"]) == ("Typed title", "typed idiom"),
    )
    saved(page)
    expect(why).to_be_focused()

    entered.clear()
    opened.clear()
    title.press("End")
    title.press_sequentially("2", delay=20)
    assert entered.wait(WAIT_S)
    title.press_sequentially("3", delay=20)
    page.get_by_role("button", name="Save draft").click(no_wait_after=True)
    opened.set()
    until(page, lambda: draft_of(designer)["title"].endswith("23"))
    saved(page)
    expect(page.locator("[data-error-summary]")).to_have_count(0)


def test_a_finding_stands_beside_its_field_and_leads_there_from_another_section(
    page: Page, site: str, console, designer
) -> None:
    page.goto(f"{site}/specs/S2/edit/sems/")
    page.get_by_label("Number of semaphores").fill("99")
    expect(page.locator("#f-sems-num_op_sems-say")).to_contain_text("R20")
    expect(page.get_by_label("Number of semaphores")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#sections a[aria-current] .count")).to_contain_text("blocking")
    SpecDraft.objects.filter(user=designer).update(content=with_a_bad_slice())
    page.goto(f"{site}/specs/S2/edit/tmem/")
    page.locator('#checks a[href*="slices"]').first.click()
    expect(page).to_have_url(re.compile(r"/edit/smem/#f-smem-regions-8-slices-"))
    expect(page.locator("[id^=more-f-smem-regions-8] :focus")).to_have_count(1)
    for label, value in (("size (B), row 1", "2048"), ("offset (B), row 1", "0")):
        page.locator("#f-smem-regions-8-slices").get_by_label(label).fill(value)
    expect(page.locator('#checks a[href*="slices"]')).to_have_count(0)
    expect(page.locator("#f-smem-regions-8-slices .field-error")).to_have_count(0)


def test_what_the_gate_stops_at_stays_counted_where_it_is_not_asked(page: Page, site: str, console, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/sems/")
    SpecDraft.objects.filter(user=designer).update(content={**grouped_gemm_spec(), "choices": []})
    page.reload()
    counted = page.locator('#sections a[href$="/edit/choices/"] [data-gate]')
    expect(counted).to_contain_text("gate 1")
    for text in ("99", "98"):
        page.get_by_label("Number of semaphores").fill(text)
        expect(page.locator("#checks [data-at=sems-num_op_sems]")).to_contain_text(f"NUM_OP_SEMS is {text}")
        expect(counted).to_contain_text("gate 1")


def with_a_bad_slice() -> dict[str, Any]:
    """The grouped GEMM, whose last region has one slice that is larger than the region."""
    document = grouped_gemm_spec()
    document["smem"]["regions"][8]["slices"] = [
        {"name": "B", "slots": "1", "offset_bytes": "0", "size_bytes": "999999", "alignment": "1", "contents": ""}
    ]
    return document


def test_two_tabs_that_change_different_fields_are_merged_without_a_question(page, designer, overview) -> None:
    first, second = overview(), overview()
    second.get_by_label("Title", exact=True).fill("From the other tab")
    saved(second)
    first.bring_to_front()
    idiom = first.get_by_label("Engine idiom")
    idiom.click()
    idiom.press_sequentially(" and more", delay=10)
    until(first, lambda: draft_of(designer)["engine"]["idiom"].endswith(" and more"))
    saved(first)
    expect(first.get_by_label("Title", exact=True)).to_have_value("From the other tab")
    expect(idiom).to_be_focused()
    assert draft_of(designer)["title"] == "From the other tab"
    expect(first.locator("#editor [data-error-summary]")).to_have_count(0)
    expect(first.locator("#merged")).to_contain_text("Its changes and yours are stored.")
    idiom.press_sequentially("!")
    until(first, lambda: draft_of(designer)["engine"]["idiom"].endswith("more!"))
    expect(first.locator("#merged")).to_have_count(0)


@pytest.mark.parametrize("choice", ["Mine", "Theirs"])
def test_a_field_that_both_tabs_changed_is_asked_about(page, designer, overview, choice) -> None:
    first, second = overview(), overview()
    before = draft_of(designer)["title"]
    second.get_by_label("Title", exact=True).fill("Theirs it is")
    saved(second)
    first.bring_to_front()
    first.get_by_label("Title", exact=True).fill("Mine it is")
    asked = first.locator("#asked")
    for said in (before, "Mine it is", "Theirs it is"):
        expect(asked).to_contain_text(said)
    first.get_by_label("Engine idiom").fill("typed while it asks")
    first.wait_for_timeout(300)
    assert draft_of(designer)["title"] == "Theirs it is", "nothing is saved before the choice"
    asked.get_by_label(re.compile(f"{choice}:")).check()
    asked.get_by_role("button", name="Save with these choices").click()
    until(first, lambda: draft_of(designer)["title"] == f"{choice} it is")
    expect(asked).to_have_count(0)
    expect(first.get_by_label("Title", exact=True)).to_have_value(f"{choice} it is")
    assert draft_of(designer)["engine"]["idiom"] == "typed while it asks"


def test_after_the_sign_in_ended_the_text_is_kept_and_sent(page: Page, site: str, console, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/smem/")
    rows = page.locator('section[data-edit-table="smem.regions"] > div tbody[data-edit-row]')
    before = rows.count()
    Session.objects.all().delete()
    page.get_by_label("name, row 1", exact=True).fill("KEPT")
    expect(page.locator("#signed-out")).to_contain_text("What you typed is kept on this page")
    expect(page.get_by_label("name, row 1", exact=True)).to_have_value("KEPT")
    page.get_by_role("button", name="Add region").click()
    expect(page.locator("#autosave")).to_contain_text("signed out")
    assert draft_of(designer)["smem"]["regions"][0]["name"] != "KEPT"
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    enter(opened.value, site, "dora")
    page.bring_to_front()
    if page.locator("#signed-out").count():  # a window that is not shown gets no focus
        page.get_by_role("button", name="Send it now").click()
    expect(rows).to_have_count(before + 1)
    saved(page)
    assert draft_of(designer)["smem"]["regions"][0]["name"] == "KEPT"
    expect(page.locator("#signed-out")).to_have_count(0)


@pytest.mark.parametrize("roles", [f.ALL_DESIGN, ("viewer",)])
def test_somebody_else_signed_in_meanwhile(page: Page, site: str, console, designer, make_user, roles) -> None:
    """Their name is said, nothing of the text goes to them, and it is sent when its owner is back."""
    page.goto(f"{site}/specs/S2/edit/overview/")
    other = make_user("otto", *roles, must_change_password=False)
    enter(page.context.new_page(), site, "otto")
    page.get_by_label("Title", exact=True).fill("Typed by dora")
    expect(page.locator("#messages")).to_contain_text("otto is signed in now. What you typed is kept on this page.")
    expect(page.locator("#messages")).to_contain_text("Sign in as dora")
    assert not SpecDraft.objects.filter(user=other, content__title="Typed by dora").exists()
    enter(page.context.new_page(), site, "dora")
    page.bring_to_front()
    if page.locator("#signed-out").count():  # a window that is not shown gets no focus
        page.get_by_role("button", name="Send it now").click()
    saved(page)
    assert draft_of(designer)["title"] == "Typed by dora"
    expect(page.locator("#messages li")).to_have_count(0)


def test_a_refusal_is_no_longer_said_once_a_save_went_through(page: Page, site: str, console, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/overview/")
    page.route("**/edit/overview/", lambda route: route.fulfill(status=403, body="no"))
    title = page.get_by_label("Title", exact=True)
    title.fill("Refused")
    expect(page.locator("#messages")).to_contain_text("The server refused this (403)")
    page.unroute("**/edit/overview/")
    title.fill("Taken")
    saved(page)
    expect(page.locator("#messages li")).to_have_count(0)


def test_without_a_connection_the_text_is_kept_and_sent_later(page: Page, site: str, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/overview/")
    page.context.set_offline(True)
    page.get_by_label("Title", exact=True).fill("Typed in a tunnel")
    expect(page.locator("#autosave")).to_contain_text("kept here and sent again")
    assert draft_of(designer)["title"] != "Typed in a tunnel"
    page.context.set_offline(False)
    saved(page)
    assert draft_of(designer)["title"] == "Typed in a tunnel"


def test_a_link_waits_for_what_is_typed(page: Page, site: str, console, designer) -> None:
    page.goto(f"{site}/specs/S2/edit/overview/")
    page.get_by_label("Title", exact=True).fill("Saved on the way out")
    page.get_by_role("link", name="Tensor memory").click()
    expect(page).to_have_url(re.compile("/edit/tmem/"))
    assert draft_of(designer)["title"] == "Saved on the way out"
