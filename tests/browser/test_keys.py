"""The keyboard help promises what the page has: each key that it shows does something there, and no other does."""

import copy

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from evidence.services.decisions import accept_proposal
from evidence.services.proposals import propose_change
from kernels.services.reviews import comment
from tests import factories as f

pytestmark = pytest.mark.django_db(transaction=True)

KEYS = tuple("jkoecnp[]d/ar")
# The keys that the dialog shows, those after g aside.
PROMISED = """[...document.querySelectorAll('#keys-dialog dl > :not([hidden])')]
  .map((line) => [...line.querySelectorAll('kbd')].map((key) => key.textContent))
  .filter((keys) => keys[0] !== 'g').flat()"""
STAY = "document.addEventListener('click', (event) => event.preventDefault(), true)"
# Presses a key where nothing has the focus, and says whether the page took it.
TAKEN = """(key) => {
  document.activeElement.blur();
  const press = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  document.body.dispatchEvent(press);
  return press.defaultPrevented;
}"""
# What each page must at least promise beside the keys that work anywhere.
PAGES = {
    "home": "jko",
    "spec_list": "jko",
    "middle": "jkoecnp[]d",
    "first": "jkoecnp]",
    "bare": "jkoecd[",
    "gate": "",
    "rows": "jko",
    "row": "[d",
    "old_row": "]",
    "levers": "jko",
    "proposals": "jkoarc",
    "kernels": "jko",
    "workers": "",
    "help": "",
}


@pytest.fixture
def pages() -> dict[str, str]:
    """The addresses of a spec with three revisions and a thread, an evidence row with two, and some lists."""
    row = f.evidence_row()
    changed = {**copy.deepcopy(row.head.content), "bound": "Nothing is left."}
    proposal = propose_change(
        f.actor("prue"), row.code, base_hash=row.head.content_hash, content=changed, reason="measured"
    )
    accept_proposal(f.curator(), proposal.pk)
    row.refresh_from_db()
    again = {**changed, "bound": "Nothing at all is left."}
    propose_change(f.actor("prue"), row.code, base_hash=row.head.content_hash, content=again, reason="again")
    f.kernel_version(f.op(), slug="naive")
    first = f.saved_revision(f.spec_content(row))
    for words in ("two", "three"):
        f.saved_revision({**first.content, "summary": words}, spec=first.spec)
    comment(f.reviewer(), revision=first, place="C1", text="Why?")
    other = f.saved_revision(f.spec_content(row))
    f.saved_revision({**other.content, "summary": "two"}, spec=other.spec)
    spec, bare = first.spec.code, other.spec.code
    return {
        "home": reverse("home"),
        "spec_list": reverse("kernels:spec_list"),
        "middle": reverse("kernels:spec_revision", args=[spec, 2]),
        "first": reverse("kernels:spec_revision", args=[spec, 1]),
        "bare": reverse("kernels:spec_detail", args=[bare]),
        "gate": reverse("kernels:spec_gate", args=[spec, 1]),
        "rows": reverse("evidence:row_list"),
        "row": reverse("evidence:row_detail", args=[row.code]),
        "old_row": reverse("evidence:row_revision", args=[row.code, 1]),
        "levers": reverse("evidence:lever_list"),
        "proposals": reverse("evidence:proposal_list"),
        "kernels": reverse("kernels:kernel_list"),
        "workers": reverse("kernels:worker_list"),
        "help": reverse("help"),
    }


def test_each_page_promises_the_keys_that_it_takes(page: Page, live_server, console, sign_in, pages) -> None:
    sign_in("rita", *f.ALL_DESIGN, "reviewer_correctness", "curator")
    wrong: dict[str, str] = {}
    for name, address in pages.items():
        page.goto(live_server.url + address)
        promised = set(page.evaluate(PROMISED))
        page.evaluate(STAY)
        page.evaluate(TAKEN, "j")  # a line must be at hand before it can be opened
        taken = {key for key in KEYS if page.evaluate(TAKEN, key)}
        if taken != promised & set(KEYS):
            wrong[name] = f"promises {sorted(promised & set(KEYS))}, takes {sorted(taken)}"
        if not set(PAGES[name]) <= taken:
            wrong[name] = f"lacks {sorted(set(PAGES[name]) - taken)}"
    assert wrong == {}


def test_e_opens_the_evidence_of_the_choice_and_the_help_shows_what_works(
    page: Page, live_server, console, sign_in, pages
) -> None:
    sign_in("rita", "reviewer_correctness")
    page.goto(live_server.url + pages["middle"])
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="C1", exact=True).first).to_be_focused()
    evidence = page.locator("#C1 [data-evidence] details").first
    page.keyboard.press("e")
    expect(evidence).to_have_attribute("open", "")
    expect(evidence.locator("summary")).to_be_focused()
    page.keyboard.press("e")
    expect(evidence).not_to_have_attribute("open", "")
    page.keyboard.press("c")
    expect(page.get_by_label("Comment")).to_be_focused()
    page.locator("h1").click()
    page.keyboard.press("[")
    page.wait_for_url("**/r1/")
    page.keyboard.press("]")
    page.wait_for_url("**/r2/")
    page.keyboard.press("?")
    dialog = page.locator("#keys-dialog")
    expect(dialog.get_by_text("Write a comment")).to_be_visible()
    page.goto(live_server.url + pages["workers"])
    page.keyboard.press("?")
    expect(dialog.get_by_text("Search", exact=True)).to_be_visible()
    expect(dialog.get_by_text("Write a comment")).to_be_hidden()
    expect(dialog.get_by_role("heading", name="On a spec", exact=True)).to_be_hidden()
    page.goto(live_server.url + pages["help"])
    expect(page.locator("main").get_by_text("Write a comment")).to_be_visible()
