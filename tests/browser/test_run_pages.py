"""A run's page in Chromium: it follows the run, shows one workload at a time, and reads without a script."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect

from kernels.models import Kernel, KernelVersion, Run
from kernels.services.dispatch import ping_run
from kernels.services.runs import submit_run
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.wire.messages import Ping

WAIT_MS = 30_000
TWO = [{"name": "small", "axes": {"rows": "4"}}, {"name": "large", "axes": {"rows": "64"}}]


@pytest.fixture
def version(live_server, page: Page) -> KernelVersion:
    page.set_default_timeout(WAIT_MS)
    return f.kernel_version(f.op(workloads=TWO), slug="free", basis=Kernel.Basis.EXPLORATORY)


@pytest.fixture
def timed(version: KernelVersion) -> Run:
    """A finished perf run over two workloads."""
    run = submit_run(f.designer(), kind="perf", version=version, anchor=f.pinned_anchor(version.kernel.op), rounds=3)
    body = f.result(run, [100_000] * 3, [102_000] * 3)
    more = f.result(run, [900_000] * 3, [999_000] * 3)["rounds"]
    body["rounds"] += [{**one, "workload": "large", "position": one["position"] + 6} for one in more]
    return f.finish(run, body)


def test_the_plots_follow_the_chosen_workload(page: Page, live_server, timed: Run, console, sign_in) -> None:
    sign_in("vera", "viewer")
    page.goto(live_server.url + timed.get_absolute_url())
    plots, table = page.locator("#plots"), page.locator("#paired-table")
    expect(plots.locator(".js-plotly-plot")).to_have_count(2)
    expect(table).to_be_hidden()
    plots.locator("summary").first.click()
    expect(table).to_contain_text("102.000")
    chooser = page.get_by_label("Workload in the plots")
    chooser.focus()
    chooser.select_option("large")
    expect(page).to_have_url(re.compile(r"\?workload=large$"))
    expect(table).to_contain_text("999.000")
    expect(table).to_be_visible()
    expect(table).not_to_contain_text("102.000")
    expect(plots.locator(".js-plotly-plot")).to_have_count(2)
    expect(chooser).to_be_focused()
    expect(page.locator("#live")).to_have_text("The plots show workload large")
    page.reload()
    expect(chooser).to_have_value("large")
    expect(page.locator("#samples-table")).to_be_hidden()


def test_the_state_beside_the_title_follows_the_run(page: Page, live_server, version, console, sign_in) -> None:
    sign_in("vera", "viewer")
    run = submit_run(f.designer(), kind="validate", version=version)
    page.goto(live_server.url + run.get_absolute_url())
    state = page.locator(".page-title #run-state")
    expect(state).to_contain_text("queued")
    attempt, fence = f.claimed(run)
    expect(state).to_contain_text("claimed")
    ping_run(Actor.worker("w1"), attempt=attempt, ping=Ping(fence=fence, done=1, total=2, phase="half way"))
    expect(state).to_contain_text(re.compile(r"running for \d+ s"))
    expect(page.locator("#live-run")).to_contain_text("half way")
    expect(state).to_have_count(1)


def test_the_form_warns_when_the_version_or_kind_is_changed(page: Page, live_server, version, console, sign_in) -> None:
    sign_in("dina", *f.ALL_DESIGN)
    page.goto(live_server.url + reverse("kernels:run_new", args=[version.kernel.op.slug]))
    page.get_by_label("Version").select_option("free v1")
    page.get_by_label("Kind").select_option("perf")
    expect(page.locator("#run-warning")).to_contain_text("free v1: Never validated over every workload")
    page.get_by_label("Kind").select_option("validate")
    expect(page.locator("#run-warning")).not_to_contain_text("Never")
    expect(page.get_by_label("Version").locator("option:checked")).to_have_text("free v1")


def test_a_run_reads_without_javascript(
    page: Page, browser: Browser, context: BrowserContext, live_server, timed: Run, sign_in
) -> None:
    sign_in("vera", "viewer")
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(live_server.url + timed.get_absolute_url())
    notes = page.locator("#plots noscript p")
    expect(notes).to_have_text(["The plot is drawn with JavaScript. The table has the same points."] * 2)
    expect(notes.first).to_be_visible()
    expect(page.locator("#paired-table")).to_contain_text("102.000")
    expect(page.locator("#samples-table")).to_be_visible()
    page.get_by_label("Workload in the plots").select_option("large")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#paired-table")).to_contain_text("999.000")
    expect(page).to_have_url(re.compile(r"\?workload=large$"))
    plain.close()
