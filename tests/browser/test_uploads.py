"""A file that is too large is refused in the browser: nothing is sent, nothing typed is lost."""

import pytest
from playwright.sync_api import Page, expect

from evidence.importers.typing_file import MAX_TYPING_BYTES
from tests.evidence.sample import MAP

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_that_is_too_large_is_not_sent(page: Page, live_server, console, sign_in) -> None:
    sign_in("cora", "curator")
    page.goto(f"{live_server.url}/evidence/imports/new/")
    page.locator("#id_file").set_input_files([{"name": "map.md", "mimeType": "text/markdown", "buffer": MAP.encode()}])
    chosen = page.locator("#id_typing")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    large = {"name": "typing.json", "mimeType": "application/json", "buffer": b" " * (MAX_TYPING_BYTES * 3 // 2)}
    page.get_by_label("Source").fill("typed before")
    chosen.set_input_files([large])
    said = "This has 3 MiB; at most 2 MiB can be sent here."
    expect(chosen).to_have_js_property("validationMessage", said)
    page.get_by_role("button", name="Upload").click()
    assert "POST" not in sent
    expect(page.get_by_label("Source")).to_have_value("typed before")
    chosen.set_input_files([large | {"buffer": b"{}"}])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="map.md", level=1)).to_be_visible()
    assert "POST" in sent
