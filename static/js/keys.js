// Keyboard shortcuts. Off while typing, off with a modifier, and off for good when the person says so.
"use strict";
(() => {
  const STORE = "v2kb.keys";
  let enabled = true;
  try { enabled = localStorage.getItem(STORE) !== "off"; } catch { enabled = true; }

  let pendingGo = 0;
  const GO_MS = 1200;

  function typing(target) {
    return Boolean(target.closest?.("input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable=''], [contenteditable=true]"));
  }

  // ---- moving through the lines of a list: any element marked data-rows, its lines data-row ----
  const lines = () => [...document.querySelectorAll("[data-rows] [data-row]")].filter((line) => line.offsetParent !== null);
  const linkOf = (line) => line.querySelector("a[data-open]") ?? line.querySelector("a[href]");

  function step(list, delta) {
    if (!list.length) return false;
    const now = list.findIndex((item) => item.classList.contains("is-current"));
    const next = list[Math.min(list.length - 1, Math.max(0, now < 0 ? (delta > 0 ? 0 : list.length - 1) : now + delta))];
    for (const item of list) item.classList.toggle("is-current", item === next);
    next.scrollIntoView({ block: "nearest" });
    return next;
  }

  let place = -1; // of the current line, kept when its list is swapped

  function moveLine(delta) {
    const line = step(lines(), delta);
    if (line) linkOf(line)?.focus({ preventScroll: true });
    place = lines().indexOf(line);
    return Boolean(line);
  }

  // A list that came anew goes on where the old one was: the next line has moved up to the place of a decided one.
  document.addEventListener("htmx:afterSettle", () => {
    const list = lines();
    if (place < 0 || !list.length || list.some((line) => line.classList.contains("is-current"))) return;
    const line = list[Math.min(place, list.length - 1)];
    line.classList.add("is-current");
    if (document.activeElement === document.body) linkOf(line)?.focus({ preventScroll: true });
  });

  // Within the current line, whatever has data-line-key="x" answers to x.
  function pressInLine(key) {
    const line = lines().find((item) => item.classList.contains("is-current"));
    const target = line && [...line.querySelectorAll("[data-line-key]")].find((item) => item.dataset.lineKey === key);
    target?.click();
    return Boolean(target);
  }

  function moveThread(delta) {
    const thread = step([...document.querySelectorAll("[data-thread]")], delta);
    if (!thread) return false;
    thread.tabIndex = -1;
    thread.focus();
    return true;
  }

  // The evidence of the choice at hand: of the line moved to, else of the first that has some.
  function toggleEvidence() {
    const parts = [...document.querySelectorAll("[data-evidence]")].map((box) => [...box.querySelectorAll("details")]).filter((found) => found.length);
    const found = parts.find(([first]) => first.closest("[data-row]")?.classList.contains("is-current")) ?? parts[0];
    if (!found) return false;
    const open = !found[0].open;
    for (const part of found) part.open = open;
    found[0].querySelector("summary").focus();
    return true;
  }

  function openLine() {
    const line = lines().find((item) => item.classList.contains("is-current"));
    const link = line && linkOf(line);
    link?.click();
    return Boolean(link);
  }

  // Any element with data-key="x" answers to x: fields take the focus, the rest is clicked.
  function press(key) {
    const target = [...document.querySelectorAll("[data-key]")].find((item) => item.dataset.key === key && item.offsetParent !== null);
    if (!target) return false;
    if (target.matches("input, textarea, select")) {
      target.focus();
      target.select?.();
    } else target.click();
    return true;
  }

  function go(key) {
    const link = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
    link?.click();
    return Boolean(link);
  }

  function help() {
    const dialog = document.getElementById("keys-dialog");
    if (!dialog || dialog.open) return false;
    dialog.showModal();
    return true;
  }

  const ACTIONS = { j: () => moveLine(1), k: () => moveLine(-1), o: openLine, e: toggleEvidence, n: () => moveThread(1), p: () => moveThread(-1), "?": help };

  function handle(key) {
    if (performance.now() < pendingGo) {
      pendingGo = 0;
      return go(key);
    }
    if (key === "g") {
      pendingGo = performance.now() + GO_MS;
      return true;
    }
    return pressInLine(key) || press(key) || Boolean(ACTIONS[key]?.());
  }

  document.addEventListener("keydown", (event) => {
    if (!enabled || event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || document.querySelector("dialog[open], :popover-open")) return;
    if (event.key.length === 1 && handle(event.key)) event.preventDefault();
  });

  // The dialog promises what this page has, and no more.
  function showWhatWorksHere() {
    const dialog = document.getElementById("keys-dialog");
    if (!dialog) return;
    for (const line of dialog.querySelectorAll("[data-needs]")) line.hidden = !document.querySelector(line.dataset.needs);
    for (const part of dialog.querySelectorAll("section")) part.hidden = !part.querySelector("dl > :not([hidden])");
  }
  document.addEventListener("htmx:afterSettle", showWhatWorksHere);
  showWhatWorksHere();

  function showSwitches() {
    for (const box of document.querySelectorAll("[data-keys-toggle]")) box.checked = enabled;
  }
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-keys-toggle]")) return;
    enabled = event.target.checked;
    try { localStorage.setItem(STORE, enabled ? "on" : "off"); } catch { /* kept for this page only */ }
    showSwitches();
  });
  showSwitches();
})();
