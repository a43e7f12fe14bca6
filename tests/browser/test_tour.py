"""The README's tour, clicked by four users: evidence, spec, gate, review, anchor, kernel, runs, proposal, stale."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

FUSED = Path(__file__).resolve().parents[2] / "v2kb/starter/kernels/rmsnorm-cpu/fused/kernel.py"
RUN_MS = 180_000


def wait_for_result(page: Page, outcome: str = "PASS") -> None:
    """The live page reloads by itself when the run is over."""
    expect(page.locator(".page-title")).to_contain_text("finished", timeout=RUN_MS)
    expect(page.locator(".page-title")).to_contain_text(outcome)


def test_the_tour(page: Page, site: str, worker, console, sign_in_by_form) -> None:
    page.set_default_timeout(15_000)
    sign_in = sign_in_by_form
    sign_in("designer")
    page.goto(f"{site}/evidence/?q=D3")
    expect(page.locator(".code-id", has_text="D3").first).to_be_visible()
    page.goto(f"{site}/evidence/rows/U4/")
    expect(page.get_by_text("UNTESTED").first).to_be_visible()

    page.goto(f"{site}/specs/S1/")
    expect(page.locator(".page-title")).to_contain_text("draft")
    page.get_by_role("button", name="Hand in for review").click()
    expect(page.locator(".page-title")).to_contain_text("in review")
    expect(page.get_by_text("others review it")).to_be_visible()

    sign_in("reviewer")
    page.get_by_role("link", name=re.compile("Review S1")).click()
    page.get_by_label("Comment").fill("Is the **epsilon** the same?")
    page.get_by_role("button", name="Comment").click()
    expect(page.locator("strong", has_text="epsilon")).to_be_visible()
    page.get_by_label("Aspect").select_option("correctness")
    page.get_by_label("Position").select_option("approve")
    page.get_by_role("button", name="Take this position").click()
    expect(page.locator(".page-title")).to_contain_text("approved to build")

    sign_in("designer")
    page.goto(f"{site}/ops/rmsnorm-cpu/")
    page.get_by_role("link", name="capture it").click()
    page.get_by_label("Version").select_option("rmsnorm-cpu-baseline v1")
    page.get_by_role("button", name="Send the run").click()
    wait_for_result(page)
    page.goto(f"{site}/specs/S1/")
    expect(page.locator(".page-title")).to_contain_text("verdict-ready")

    page.get_by_role("link", name="Add a kernel").click()
    page.get_by_label("Name").fill("rmsnorm-cpu-fused")
    page.get_by_label("Title").fill("RMS norm on the CPU, fused")
    page.get_by_role("button", name="Add the kernel").click()
    page.get_by_label("Or files").set_input_files(FUSED)
    page.get_by_role("button", name="Add the version").click()
    page.get_by_role("link", name="Validate").click()
    page.get_by_role("button", name="Send the run").click()
    wait_for_result(page)
    expect(page.get_by_role("heading", name="Correctness")).to_be_visible()

    page.goto(f"{site}/kernels/rmsnorm-cpu-fused/")
    page.get_by_role("link", name="Measure").click()
    page.get_by_label("Anchor").select_option("rmsnorm-cpu-baseline")
    page.get_by_role("button", name="Send the run").click()
    wait_for_result(page)
    expect(page.get_by_role("heading", name="Judgement")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    judged = page.locator("section", has=page.get_by_role("heading", name="Judgement")).inner_text()
    assert "decides" in judged, judged

    sign_in("curator")
    page.get_by_role("link", name=re.compile("U4")).first.click()
    page.get_by_role("button", name="Accept", exact=True).first.click()
    page.get_by_label("I have none").check()
    page.get_by_role("alertdialog").get_by_role("button", name="Accept").click()
    page.goto(f"{site}/evidence/rows/U4/")
    expect(page.locator(".page-title")).not_to_contain_text("UNTESTED")
    page.goto(f"{site}/specs/S1/")
    expect(page.locator(".page-title")).to_contain_text("stale")
    expect(page.get_by_text(re.compile("moved from revision 1 to 2"))).to_be_visible()
