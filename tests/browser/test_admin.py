"""The administration in Chromium: a merge with keys alone, axe in both themes, a quiet console."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Page, expect

from evidence.models import Lever, Term
from evidence.services import create_lever, flag_row
from tests import factories as f

pytestmark = pytest.mark.django_db(transaction=True)

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


@pytest.fixture
def lever(transactional_db) -> Lever:
    return create_lever(f.curator(), name="Split-K", aliases=["K splitting"])


def test_two_levers_are_merged_with_keys_alone(page: Page, live_server, sign_in, console, lever) -> None:
    create_lever(f.curator(), name="Cut of K")
    sign_in("cleo", "curator", is_staff=True)
    page.goto(live_server.url + reverse("admin:evidence_lever_change", args=[lever.pk]))
    page.get_by_role("link", name="Merge", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge Split-K into another lever?")
    page.get_by_label("Into").focus()
    page.keyboard.type("Cut")
    page.keyboard.press("Tab")
    page.keyboard.type("One technique under two names.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Split-K is merged.")).to_be_visible()
    lever.refresh_from_db()
    assert lever.merged_into.name == "Cut of K"


def test_the_pages_are_fit_for_every_reader_in_both_themes(page: Page, live_server, sign_in, console, lever) -> None:
    row = f.evidence_row()
    flag = flag_row(f.designer(), row.code, reason="doubt")
    user = sign_in("boss", "curator", "administrator", is_staff=True)
    term = Term.objects.get(kind="arch", word="sm_90")
    addresses = [
        reverse("admin:index"),
        *(reverse(f"admin:evidence_{name}_changelist") for name in ("lever", "term", "evidencerow")),
        reverse("admin:evidence_lever_change", args=[lever.pk]),
        reverse("admin:evidence_lever_do", args=[lever.pk, "merge"]),
        reverse("admin:evidence_term_change", args=[term.pk]),
        reverse("admin:evidence_term_add"),
        reverse("admin:evidence_flag_do", args=[flag.pk, "clear"]),
        reverse("admin:core_user_change", args=[user.pk]),
    ]
    found = {}
    for address in addresses:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            page.goto(live_server.url + address)
            page.wait_for_load_state("load")
            assert console == [], address
            violations = Axe().run(page, options=RULES).response["violations"]
            console.clear()  # the checker styles elements as it measures them, which the policy reports
            found |= {(address, theme, one["id"]): [node["target"] for node in one["nodes"]][:4] for one in violations}
    assert found == {}
