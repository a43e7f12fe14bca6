"""Main pages in Chromium: axe in both themes, a narrow window, a quiet console; and the editor while it is typed into.

Pages are visited in loops, because a database that is flushed per test costs more than a page.
"""

import copy
import time
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect

from kernels.editor.layout import BY_SLUG
from kernels.models import Kernel, Op, Run, Spec, SpecDraft
from kernels.services.reviews import comment
from kernels.services.runs import submit_run
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.models import User

pytestmark = pytest.mark.django_db(transaction=True)

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
NARROW, WIDE = {"width": 380, "height": 900}, {"width": 1440, "height": 900}
SIDEWAYS_PX = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PLOTS_FOLLOW_S = 4  # plots are drawn again a moment after the window changed
NORM = "row-norm"


def judged_run() -> dict[str, Run]:
    """A perf run of two versions of a kernel against a pinned anchor, a failed run and a queued one."""
    op = f.op(NORM)
    anchor = f.pinned_anchor(op, "row-norm-naive", f.kernel_version(op, slug="row-norm-naive"))
    runs = {}
    for number, times in ((1, [94_000, 95_200, 93_800]), (2, [88_000, 87_500, 89_000])):
        kernel = Kernel.objects.filter(slug="row-norm-fused").first()
        source = f.SOURCE + b"# %d\n" % number
        version = (
            f.add_version(f.designer(), kernel=kernel, files={"kernel.py": source}, entry="kernel.py:run")
            if kernel
            else f.kernel_version(op, slug="row-norm-fused", basis=Kernel.Basis.EXPLORATORY, source=source)
        )
        runs["perf"] = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
        f.finish(runs["perf"], f.result(runs["perf"], [100_000, 101_000, 99_500], times))
    output = {"name": "y", "cos": 0.99895, "rel_max": 3.11e-2, "nan_count": 2, "shape_ok": True, "dtype_ok": False}
    case = {"workload": "small", "profile": "random", "seed": "s", "passed": False, "reason": "call 0: y is wrong"}
    runs["failed"] = submit_run(f.designer(), kind="validate", version=version)
    body = f.result(runs["failed"], [], [], outcome="FAIL_NUMERIC", message="1 of 1 workloads failed.")
    f.finish(runs["failed"], {**body, "cases": [{**case, "outputs": [{**output, "reference_error_fp64": 1.1e-7}]}]})
    runs["queued"] = submit_run(f.designer(), kind="validate", version=version)
    return runs


def crowded_spec() -> Spec:
    """A spec in review with twelve choices of long texts, of which each adopts a lever that is dead in its scope."""
    dead = f.evidence_row(f.DEAD, lever="row-scratch-copy", title="A scratch copy of the row " * 4)
    document = f.spec_content(dead, anchor="row-norm-naive")
    first = document["choices"][0]
    document["choices"] = [
        {
            **copy.deepcopy(first),
            "id": f"C{number}",
            "title": f"Choice {number} with a title that is as long as a hurried designer writes it down",
            "rationale": "The row is read once, kept in registers and written once. " * (number % 4 + 2),
            "new_mechanism": "The scratch row is gone, so its copy can't cost anything." if number % 2 else "",
        }
        for number in range(1, 13)
    ]
    revision = f.saved_revision(document)
    submit_spec(f.designer(), revision=revision)
    comment(f.reviewer(), revision=revision, place="C1", text="Which `rows`?\n\n" + "long-word" * 30)
    comment(f.reviewer(), revision=revision, place="smem", text="Nothing is planned here.")
    return revision.spec


def pages_of(runs: dict[str, Run], crowded: Spec) -> list[str]:
    """The address of each main page."""
    editor = [reverse("kernels:spec_edit", args=["S2", section]) for section in BY_SLUG]
    names = (
        *(
            "home",
            "health",
            "help",
            "evidence:row_list",
            "evidence:lever_list",
            "evidence:import_job_new",
            "evidence:row_new",
        ),
        *("evidence:proposal_list", "evidence:lever_new", "references:document_list", "references:document_import"),
        *("references:snapshot_list", "references:guideline_list", "kernels:op_list", "kernels:op_new"),
        *("kernels:family_questions", "kernels:spec_list", "kernels:spec_new", "kernels:spec_search"),
        *("kernels:spec_import", "kernels:rule_list"),
        *("kernels:kernel_list", "kernels:kernel_new", "kernels:anchor_list", "kernels:run_list"),
        "kernels:worker_list",
    )
    with_arguments: tuple[tuple[str, list[Any]], ...] = (
        ("evidence:row_detail", ["D3"]),
        ("evidence:row_propose", ["U4"]),
        ("evidence:lever_detail", ["fused-row-norm"]),
        ("references:document_detail", ["validation-ladder"]),
        ("kernels:op_detail", ["w13-grouped-gemm-b200"]),
        ("kernels:op_detail", [NORM]),
        ("kernels:op_edit", [NORM]),
        ("kernels:op_stop", [NORM]),
        ("kernels:run_new", [NORM]),
        ("kernels:anchor_new", [NORM]),
        ("kernels:kernel_detail", ["row-norm-fused"]),
        ("kernels:version_detail", ["row-norm-fused", 1]),
        ("kernels:version_new", ["row-norm-fused"]),
        *(("kernels:spec_detail", [code]) for code in ("S1", "S2", crowded.code)),
        ("kernels:spec_gate", [crowded.code, 1]),
        ("kernels:spec_diff", ["S2", 1, 1]),
        ("kernels:spec_edit_choice", ["S2", "C1"]),
        ("kernels:spec_finish", ["S2"]),
        *(("kernels:run_detail", [run.public_id]) for run in runs.values()),
    )
    some = [reverse(name, args=args) for name, args in with_arguments]
    return [
        *(reverse(name) for name in names),
        *some,
        *editor,
        reverse("search") + "?q=norm",
        "/search/?q=xyzzy",
        "/no-page/",
    ]


def complaints(page: Page, url: str) -> list[str]:
    """What is wrong with one page: status, heading, axe in both themes, sideways scrolling when narrow."""
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    answer = page.goto(url)
    page.wait_for_load_state("load")
    found = [] if answer.ok or "no-page" in url else [f"status {answer.status}"]
    if page.locator("h1").count() != 1 or not page.locator("h1").inner_text().strip():
        found.append("no single heading")
    for theme, rules in (("light", RULES), ("dark", COLOURS)):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for violation in Axe().run(page, options=rules).response["violations"]:
            found.append(f"{theme}: {violation['id']} {[node['target'] for node in violation['nodes']][:4]}")
    page.set_viewport_size(NARROW)
    end = time.monotonic() + PLOTS_FOLLOW_S
    while sideways := page.evaluate(SIDEWAYS_PX):
        if time.monotonic() > end:
            return [*found, f"scrolls sideways by {sideways} px at 380 px"]
        page.wait_for_timeout(100)
    return found


def test_every_main_page_in_both_themes_and_narrow(page: Page, site: str, console, sign_in) -> None:
    page.set_default_timeout(30_000)
    addresses = pages_of(judged_run(), crowded_spec())
    sign_in("polly", *f.ALL_DESIGN, "curator", "reviewer_correctness")
    problems: dict[str, list[str]] = {}
    for address in addresses:
        heard = len(console)
        said = complaints(page, site + address) + console[heard:]
        if said:
            problems[address] = said
    console.clear()
    assert problems == {}


def test_empty_pages_and_pages_that_a_viewer_may_not_use(page: Page, live_server, console, sign_in) -> None:
    op = f.op("lone-op")
    Op.objects.filter(pk=op.pk).update(archived_at=op.created_at)
    sign_in("vera", "viewer")
    problems: dict[str, list[str]] = {}
    lists = ("home", "evidence:row_list", "evidence:lever_list", "evidence:proposal_list", "references:document_list")
    lists += ("kernels:op_list", "kernels:spec_list", "kernels:kernel_list", "kernels:anchor_list", "kernels:run_list")
    for name in (*lists, "kernels:worker_list"):
        said = complaints(page, live_server.url + reverse(name))
        if page.locator("main .empty").count() == 0:
            said.append("no empty state")
        if page.get_by_role("link", name="New").count():
            said.append("offers what a viewer may not do")
        if said:
            problems[name] = said
    forms = [reverse(f"kernels:{name}") for name in ("op_new", "spec_new", "kernel_new")]
    forms += [reverse(f"kernels:{name}", args=["lone-op"]) for name in ("op_edit", "op_stop", "run_new", "anchor_new")]
    for address in forms:
        said = [line for line in complaints(page, live_server.url + address) if line != "status 403"]
        if not page.get_by_text("role").count() or page.locator("main form").count():
            said.append("shows a form, or does not name the role")
        if said:
            problems[address] = said
    assert problems == {}


@pytest.fixture
def designer(site: str, sign_in, page: Page) -> User:
    """The owner of the starter specs, signed in."""
    page.set_default_timeout(30_000)
    return sign_in("dora", *f.ALL_DESIGN)


def draft_of(user: User) -> dict[str, Any]:
    return SpecDraft.objects.get(user=user, spec__code="S2").content


def test_the_editor_without_javascript(
    page: Page, browser: Browser, context: BrowserContext, site: str, designer
) -> None:
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.set_default_timeout(30_000)
    page.goto(f"{site}/specs/S2/edit/smem/")
    rows = page.locator("[data-edit-row]")
    before = rows.count()
    page.get_by_role("button", name="Add region").click()
    expect(rows).to_have_count(before + 1)
    page.get_by_label(f"name, row {before + 1}", exact=True).fill("EXTRA")
    page.get_by_role("button", name="Save draft").click()
    assert draft_of(designer)["smem"]["regions"][-1]["name"] == "EXTRA"
    page.get_by_role("button", name=f"move row {before + 1} up").click()
    assert draft_of(designer)["smem"]["regions"][-2]["name"] == "EXTRA"
    page.get_by_role("button", name=f"Remove row {before}", exact=True).click()
    expect(rows).to_have_count(before)
    page.goto(f"{site}/specs/S2/edit/choices/C1/")
    expect(page.get_by_label("Lever", exact=True)).to_have_attribute("list", "lever-list")
    expect(page.get_by_label("Anchor", exact=True)).to_have_attribute("list", "anchor-list")
    page.get_by_label("Title", exact=True).fill("Written without a script")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", name="Written without a script")).to_be_visible()
    plain.close()


def test_keys_and_the_decision_bar(page: Page, site: str, console, sign_in) -> None:
    f.pinned_anchor(f.op(NORM), "row-norm-naive")
    crowded = crowded_spec()
    sign_in("rita", "reviewer_correctness")
    page.set_viewport_size(WIDE)
    page.goto(f"{site}/specs/{crowded.code}/")
    bar = page.locator(".decision-bar")
    for place in ("C1", "C12", "comment-h"):
        page.evaluate(f"document.getElementById('{place}').scrollIntoView({{block: 'center'}})")
        expect(bar.get_by_role("heading")).to_be_in_viewport()
    assert bar.bounding_box()["height"] < WIDE["height"] / 2
    bar.get_by_role("link", name="Take a position").click()
    expect(page.get_by_role("button", name="Take this position")).to_be_in_viewport()
    page.locator("h1").click()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.wait_for_url("**/evidence/")
