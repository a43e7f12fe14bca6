"""The page that shows the OpenAPI document works under the site's content security policy."""

from playwright.sync_api import expect


def test_the_api_page_lists_operations_without_complaints(live_server, page, sign_in, console_errors):
    sign_in("vera", "viewer")
    page.goto(f"{live_server.url}/api/")
    expect(page.get_by_role("heading", name="v2kb", exact=False).first).to_be_visible()
    tags = page.locator(".opblock-tag")
    expect(tags.last).to_contain_text("workers")
    page.locator("#operations-tag-ops").click()
    operation = page.locator("#operations-ops-ops_list")
    expect(operation).to_be_visible()
    operation.get_by_role("button").first.click()
    expect(operation.get_by_text("Words of name or title")).to_be_visible()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table tr.response .response-col_status").first).to_contain_text("200")
    assert console_errors == []
