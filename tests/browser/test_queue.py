"""The curation queue in Chromium: decided with keys alone, a dialog before each decision, axe and a narrow window."""

import copy
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from evidence.models import EvidenceRow, Proposal
from evidence.services import accept_proposal, flag_row, propose_change, supersede_row, withdraw_proposal
from evidence.services.watching import watch_row
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.models import User

pytestmark = pytest.mark.django_db(transaction=True)

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SIDEWAYS_PX = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def propose(row: EvidenceRow, **changes) -> Proposal:
    row.refresh_from_db()
    content = {**copy.deepcopy(row.head.content), **changes}
    actor = f.actor("ines", "designer")
    return propose_change(actor, row, base_hash=row.head.content_hash, content=content, reason="said better")


@pytest.fixture
def proposals(transactional_db) -> list[Proposal]:
    """Four of wording, in the order of the queue."""
    return [propose(f.evidence_row(title=f"Row {number}"), mechanism="clearer") for number in range(4)]


def current(page: Page):
    return page.locator("tr.is-current")


def test_the_queue_is_worked_off_with_keys(page, live_server, sign_in, console, proposals):
    first, second, third = proposals[:3]
    sign_in("cleo", "curator")
    page.goto(f"{live_server.url}/evidence/proposals/?kind=wording")
    page.keyboard.press("a")
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(current(page)).to_contain_text(f"{first.pk}: Row 0")

    page.keyboard.press("c")
    expect(page.locator("tr", has_text="Row 0")).to_contain_text("claimed by you")
    expect(current(page)).to_contain_text("Row 0")

    page.keyboard.press("a")
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text(f"Accept proposal {first.pk}?")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("a")
    dialog.get_by_role("button", name="Accept").click()
    expect(dialog).to_be_visible()  # the browser asks for the statement first
    dialog.get_by_label("I have none").check()
    dialog.get_by_role("button", name="Accept").click()
    expect(page.locator("tr", has_text="Row 0")).to_have_count(0)
    expect(page.locator("#messages")).to_contain_text("is at revision 2.")
    expect(current(page)).to_contain_text(f"{second.pk}: Row 1")

    page.keyboard.press("r")
    dialog = page.get_by_role("alertdialog")
    dialog.get_by_label(re.compile("Reason")).fill("no trace of it")
    dialog.get_by_role("button", name="Reject the proposal").click()
    expect(current(page)).to_contain_text(f"{third.pk}: Row 2")
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(f"/evidence/proposals/{third.pk}/"))
    states = dict(Proposal.objects.values_list("pk", "state"))
    assert [states[each.pk] for each in proposals] == ["accepted", "rejected", "open", "open"]

    page.goto(f"{live_server.url}/evidence/proposals/?kind=wording")
    page.get_by_role("link", name="Choose all that you may decide").click()
    page.get_by_role("button", name="Accept the chosen: preview").click()
    expect(page.get_by_role("heading", name="Accept 2 proposals?")).to_be_visible()
    page.get_by_label("I have none").check()
    page.get_by_role("button", name="Accept 2 proposals").click()
    expect(page.get_by_role("heading", name="What became of 2 proposals")).to_be_visible()
    assert not Proposal.objects.filter(state="open").exists()


def test_pages_of_a_rows_life_are_accessible_and_narrow(page, live_server, sign_in, console, proposals):
    row, other = (proposal.row for proposal in proposals[:2])
    sign_in("cleo", "curator", "designer")
    accept_proposal(f.actor("carl", "curator"), proposals[0].pk, conflict="I own the machine.")
    supersede_row(f.curator(), newer=other.code, older=row.code, kind="narrows", reason="a case of it")
    watch_row(Actor.of_user(User.objects.get(username="cleo")), other.code)
    flag_row(f.actor("vera", "viewer"), other.code, reason="Which machine?")
    withdraw_proposal(f.actor("ines"), proposals[1].pk)
    propose(other, bound="less")
    found = []
    own, decided = f"/evidence/rows/{row.code}/", f"/evidence/proposals/{proposals[0].pk}/"
    queue = "/evidence/proposals/"
    pages = ["/", queue, f"{queue}?kind=wording&choose=all", f"{queue}{proposals[2].pk}/", decided, own]
    pages += [f"{own}compare/", f"{own}revert/1/", f"{own}merge/", "/evidence/over-time/"]
    for path in pages:
        for scheme, width in (("light", 1440), ("dark", 380)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{live_server.url}{path}")
            found += [
                (path, scheme, v["id"], v["nodes"][0]["html"][:200])
                for v in Axe().run(page, options=RULES).response["violations"]
            ]
            if (over := page.evaluate(SIDEWAYS_PX)) > 0:
                found.append((path, width, f"{over} px too wide"))
    assert found == [], "\n".join(map(str, found))
    expect(page.locator(".js-plotly-plot")).to_be_visible()
