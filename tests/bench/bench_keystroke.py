"""How long the spec editor takes from a key to its result: `python -m tests.bench.bench_keystroke [times]`.

Starts the web site as `manage.py up` does, imports the exemplar (without it, the starter's grouped GEMM is edited) and
types a digit behind the size of its first region, then takes it away, so many times. What counts is the moment when the
picture of the memory and the findings of the panel have both changed and are painted. Bar: 200 ms.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.bench.bench_spec_rules import EXEMPLAR
from tests.bench.timing import timing
from tests.browser.chromium import CHROMIUM, FLAGS
from tests.make_run import free_port, start, stop

TIMES = 30
WARM_UP = 4
BAR_MS = 200
UP = (sys.executable, "manage.py", "up", "--no-worker")
SIZE = "#f-smem-regions-0-size_bytes"
# Behind a key, `result` is a promise of what the time went into, in ms.
WATCH = """
() => {
  const shown = () => [document.getElementById("picture").innerHTML, document.getElementById("checks").textContent];
  document.addEventListener("keydown", (key) => {
    const [picture, findings] = shown();
    performance.clearResourceTimings();
    window.result = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`no result; the page says: ${shown()[1]}`)), 10_000);
      const watch = new MutationObserver(() => {
        const now = shown();
        if (now[0] === picture || now[1] === findings) return;
        watch.disconnect();
        const changed = performance.now();
        requestAnimationFrame(() => setTimeout(() => {
          const painted = performance.now();
          const request = performance.getEntriesByType("resource").find((entry) => entry.initiatorType === "fetch");
          resolve({
            "until the draft is sent": request.requestStart - key.timeStamp,
            "the server, until its first byte": request.responseStart - request.requestStart,
            "the answer comes into the page": changed - request.responseStart,
            "it is painted": painted - changed,
            "from key to result": painted - key.timeStamp,
          });
        }));
      });
      watch.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
  }, true);
}
"""


@contextmanager
def running_site() -> Iterator[tuple[str, str]]:
    """(address, one-time password of the designer) of a site of its own, which is gone afterwards."""
    data, port = tempfile.mkdtemp(prefix="v2kb-bench-"), free_port()
    try:
        process, _ = start(data, port, UP, subprocess.DEVNULL)
        try:
            logins = (Path(data) / "first-logins.txt").read_text(encoding="utf-8").splitlines()
            passwords = dict(line.split()[:2] for line in logins)
            yield f"http://127.0.0.1:{port}", passwords["designer"]
        finally:
            stop(process)
    finally:
        shutil.rmtree(data, ignore_errors=True)


def signed_in(browser: Browser, site: str, password: str) -> Page:
    """A page of the designer, who has spent the one-time password."""
    page = browser.new_page()
    page.goto(f"{site}/sign-in/")
    page.locator("#id_username").fill("designer")
    page.locator("#id_password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.locator("#id_old_password").fill(password)
    for field in ("#id_new_password1", "#id_new_password2"):
        page.locator(field).fill("a phrase of this bench alone")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    return page


def imported(page: Page, site: str) -> str:
    """The address of the draft that begins with the exemplar."""
    page.goto(f"{site}/specs/import/")
    page.get_by_label("Or its text").fill(EXEMPLAR.read_text(encoding="utf-8"))
    page.locator("input[name=ops]").first.check()
    page.get_by_role("button", name="Show what is read").click()
    page.get_by_role("button", name="Begin the spec").click()
    expect(page.locator("#spec-form")).to_be_visible()
    return page.url.removesuffix("overview/")


def typed(page: Page, times: int) -> list[dict[str, float]]:
    """What the time of each keystroke went into, in ms: a digit and its removal in turn."""
    field = page.locator(SIZE)
    field.focus()
    field.press("End")
    page.evaluate(WATCH)
    found = []
    for place in range(WARM_UP + 2 * times):
        page.keyboard.press("Backspace" if place % 2 else "1")
        found.append(page.evaluate("window.result"))
        expect(page.locator("#autosave")).to_have_attribute("data-state", "saved")
    return found[WARM_UP:]


def main(times: int = TIMES) -> None:
    if CHROMIUM is None:
        print("Chromium is not installed (apt-get install chromium), so nothing is typed.")
        return
    with running_site() as (site, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = signed_in(browser, site, password)
        draft = imported(page, site) if EXEMPLAR.exists() else f"{site}/specs/S2/edit/"
        page.goto(f"{draft}smem/")
        found = typed(page, times)
        browser.close()
    print(f"{len(found)} keystrokes in a region's size, ms; load {os.getloadavg()[0]:.1f}")
    print(f"{'':<34} {'p50':>6} {'p95':>6} {'bar':>6}")
    for name in found[0]:
        p50, p95 = timing([parts[name] for parts in found])
        bar = f"{BAR_MS:>6} {'' if p95 <= BAR_MS else 'MISSED'}" if name == "from key to result" else ""
        print(f"{name:<34} {p50:>6.0f} {p95:>6.0f} {bar}".rstrip())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=int, nargs="?", default=TIMES)
    main(parser.parse_args().times)
