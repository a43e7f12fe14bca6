"""A file that is too large is refused in the browser: nothing is sent, nothing typed is lost."""

import pytest
from playwright.sync_api import Page, expect

from evidence.importers.load import MAX_MAP_BYTES

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_that_is_too_large_is_not_sent(page: Page, live_server, console, sign_in) -> None:
    sign_in("cora", "curator")
    page.goto(f"{live_server.url}/evidence/import/")
    chosen = page.locator("#id_file")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    large = {"name": "map.md", "mimeType": "text/markdown", "buffer": b"x" * (MAX_MAP_BYTES * 3 // 2)}
    page.get_by_label("Source").fill("typed before")
    chosen.set_input_files([large])
    said = "This has 1.5 MiB; at most 1 MiB can be sent here."
    expect(chosen).to_have_js_property("validationMessage", said)
    page.get_by_role("button", name="Preview").click()
    assert "POST" not in sent
    expect(page.get_by_label("Source")).to_have_value("typed before")
    chosen.set_input_files([large | {"buffer": b"# Map\n"}])
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("h2").first).to_contain_text("What the import of map.md would do")
    assert "POST" in sent
