"""The import wizard in Chromium: upload, mapping, dry run with progress, resumed where it stopped, import, result."""

import datetime
import itertools

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from evidence.models import EvidenceRow, ExperimentEntry, ImportJob, ImportMapping
from evidence.services import import_work

pytestmark = pytest.mark.django_db(transaction=True)

SIDEWAYS_PX = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOG = """Time,Change,Result,Speed,Notes
2026-07-01,Fold MACs,Kept,-9%,integer trips
2026-07-02,Deeper stages,Reverted (below gate),<=6%,flat
2026-07-03,Huge tile,OOM,n/a,does not fit
2026-07-04,Fold again,Kept,-8%,more trips
04/07/2026,Fold once more,Kept,1.2x,which month
"""


def work(batches: int | None = None) -> None:
    """What `manage.py import_jobs` does beside the web; with `batches` it is stopped after so many."""
    asked = itertools.count(1)
    for pk in import_work.due_jobs():
        import_work.work_on(pk, stop=lambda: batches is not None and next(asked) > batches)


def fits(page: Page) -> None:
    """Nothing to complain of, and nothing that scrolls sideways in a narrow window."""
    assert Axe().run(page).response["violations"] == []
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate(SIDEWAYS_PX) == 0
    page.set_viewport_size({"width": 1280, "height": 800})


def stat(page: Page, label: str):
    return page.locator(".stat", has_text=label)


def test_a_log_is_uploaded_mapped_checked_and_imported(page: Page, live_server, sign_in, console, monkeypatch) -> None:
    monkeypatch.setattr(import_work, "BATCH", 2)
    monkeypatch.setattr("evidence.services.import_apply.BATCH", 2)
    sign_in("cora", "curator")
    page.goto(f"{live_server.url}/evidence/")
    page.get_by_role("link", name="Import", exact=True).click()
    fits(page)
    page.locator("#id_file").set_input_files([{"name": "log.csv", "mimeType": "text/csv", "buffer": LOG.encode()}])
    page.get_by_label("Source").fill("the team's log")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="log.csv", level=1)).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    work()

    # the page notices by itself that the file was read
    expect(page.get_by_role("heading", name="How the file is read")).to_be_visible()
    fits(page)
    expect(page.get_by_label("Time", exact=True)).to_have_value("date")
    page.get_by_label("Change", exact=True).select_option("title")
    page.get_by_label("Result", exact=True).select_option("verdict")
    page.get_by_role("button", name="Show the words of the verdict column").click()
    page.get_by_label("Kept", exact=True).select_option("entry:WIN:")
    page.get_by_label("Reverted (below gate)", exact=True).select_option("entry:NULL:")
    page.get_by_label("OOM", exact=True).select_option("row:DEAD:ruled_out_by_construction")
    page.get_by_label("Keep this mapping as").fill("team log")
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "0")

    # stopped in the middle: what was done stays, and another process goes on there
    work(batches=1)
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "2")
    fits(page)
    page.get_by_role("link", name="Imports").first.click()
    expect(page.get_by_role("row", name="log.csv")).to_be_visible()
    page.get_by_role("link", name="log.csv").click()
    work()
    expect(page.get_by_role("heading", name="What the import would do")).to_be_visible()
    expect(stat(page, "New lines")).to_contain_text("4")
    expect(stat(page, "Lines that can't be read")).to_contain_text("1")
    expect(page.get_by_text("Line 6, column Time: '04/07/2026' can't be read as one date.")).to_be_visible()
    assert not ExperimentEntry.objects.exists()
    fits(page)

    # a line that can't be read stops the import until it is left out
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("1 line can't be read.")
    page.get_by_label("Leave out the lines that can't be read").check()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    work(batches=1)
    assert ImportJob.objects.get().state == "applying"
    work()
    expect(page.get_by_role("heading", name="What the import did")).to_be_visible()
    fits(page)
    assert list(ExperimentEntry.objects.order_by("on").values_list("verdict", flat=True)) == ["WIN", "NULL", "WIN"]
    assert EvidenceRow.objects.get().head.cause_class == "ruled_out_by_construction"
    assert ImportMapping.objects.get().name == "team log"

    # the same file again: the mapping is suggested, and nothing is new
    page.goto(f"{live_server.url}/evidence/imports/new/")
    page.locator("#id_file").set_input_files([{"name": "log.csv", "mimeType": "text/csv", "buffer": LOG.encode()}])
    page.get_by_role("button", name="Upload").click()
    work()
    expect(page.get_by_text("Suggested by the mapping “team log”")).to_be_visible()
    page.get_by_role("button", name="Dry run").click()
    work()
    expect(page.get_by_text("Nothing is new or changed.")).to_be_visible()


def upload(page: Page, site: str, text: str) -> None:
    """Upload a log whose mapping is known, and have its dry run made."""
    page.goto(f"{site}/evidence/imports/new/")
    page.locator("#id_file").set_input_files([{"name": "log.csv", "mimeType": "text/csv", "buffer": text.encode()}])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    work()
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    work()
    expect(page.get_by_role("heading", name="What the import would do")).to_be_visible()


def test_a_changed_cell_stands_beside_the_old_one_and_a_long_one_opens_with_keys(
    page: Page, live_server, sign_in, console
) -> None:
    sign_in("cora", "curator")
    start = "What was tried in full. " * 20
    history = f"date,env,verdict,why\n2026-07-01,B200,WIN,short\n2026-07-02,B200,NULL,{start}It trips 4 times.\n"
    upload(page, live_server.url, history)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    work()
    expect(page.get_by_role("heading", name="What the import did")).to_be_visible()
    upload(page, live_server.url, history.replace("4 times", "6 times").replace("WIN,short", "WIN,longer"))
    first = page.get_by_role("region", name="What line 2 changes")
    expect(first.get_by_role("row", name="why short longer")).to_be_visible()
    fold = page.get_by_role("region", name="What line 3 changes").locator("summary", has_text="6 times.")
    expect(fold).not_to_contain_text(start)
    fold.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"{start}It trips 6 times.", exact=True)).to_be_visible()
    fits(page)


def test_an_import_whose_process_was_killed_says_so_by_itself(page: Page, live_server, sign_in, console) -> None:
    sign_in("cora", "curator")
    page.goto(f"{live_server.url}/evidence/imports/new/")
    page.locator("#id_file").set_input_files([{"name": "log.csv", "mimeType": "text/csv", "buffer": LOG.encode()}])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_text("No progress since")).to_have_count(0)
    heard = timezone.now() - datetime.timedelta(minutes=1)
    ImportJob.objects.update(updated_at=heard, leased_until=heard + ImportJob.LEASE)
    expect(page.get_by_text(f"No progress since {heard:%H:%M:%S} UTC.")).to_be_visible()
    expect(page.get_by_text(f"where it stopped at {heard + ImportJob.LEASE:%H:%M:%S} UTC.")).to_be_visible()
    fits(page)
    ImportJob.objects.update(leased_until=None)
    work()
    expect(page.get_by_role("heading", name="How the file is read")).to_be_visible()
