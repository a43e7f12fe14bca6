// Page behaviour shared by every page. Everything here is an extra: pages read and post without it.
"use strict";

const csrfToken = () => document.querySelector('meta[name="csrf-token"]')?.content ?? "";
const live = () => document.getElementById("live");

function announce(text) {
  const region = live();
  if (!region || !text) return;
  region.textContent = "";
  requestAnimationFrame(() => { region.textContent = text; });
}

// ---- theme ----
const storedTheme = () => { try { return localStorage.getItem("v2kb.theme") ?? "auto"; } catch { return "auto"; } };

function showTheme() {
  const current = storedTheme();
  for (const button of document.querySelectorAll("[data-theme-set]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeSet === current));
  }
}

function setTheme(choice) {
  try { localStorage.setItem("v2kb.theme", choice); } catch { /* private mode: the cookie alone keeps it */ }
  const age = choice === "auto" ? 0 : 31536000;
  document.cookie = `theme=${choice}; path=/; max-age=${age}; samesite=lax`;
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  showTheme();
  document.dispatchEvent(new CustomEvent("v2kb:theme"));
}

// ---- clicks: theme, dialogs, formset rows, copying ----
document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-theme-set], [data-open-dialog], [data-add-row], [data-remove-row], [data-copy], [data-back]");
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  if (!target) return;
  if (target.dataset.themeSet) setTheme(target.dataset.themeSet);
  else if (target.dataset.openDialog) openDialog(event, target.dataset.openDialog);
  else if (target.dataset.addRow !== undefined) addRow(event, target);
  else if (target.dataset.removeRow !== undefined) removeRow(event, target);
  else if (target.dataset.copy !== undefined) copyText(target);
  else if (target.dataset.back !== undefined) history.back();
});

function openDialog(event, id) {
  const dialog = document.getElementById(id);
  if (!dialog?.showModal) return;
  event.preventDefault();
  for (const menu of document.querySelectorAll("details[data-menu][open]")) menu.open = false;
  dialog.showModal();
}

async function copyText(button) {
  const source = button.dataset.copy ? document.getElementById(button.dataset.copy)?.textContent : button.dataset.copyText;
  try {
    await navigator.clipboard.writeText((source ?? "").trim());
    announce("Copied");
  } catch {
    announce("The browser did not allow copying; select the text instead");
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details[data-menu][open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// ---- formset rows: the submit buttons work on the server; with a <template> the row is added here ----
function addRow(event, button) {
  const box = button.closest("[data-formset]");
  const template = box?.querySelector("template[data-empty-row]");
  const total = box?.querySelector(`[name="${box.dataset.formset}-TOTAL_FORMS"]`);
  if (!template || !total) return;
  event.preventDefault();
  const index = Number(total.value);
  const html = template.innerHTML.replaceAll("__prefix__", String(index)).replaceAll("__number__", String(index + 1));
  box.querySelector("[data-rows-list]").insertAdjacentHTML("beforeend", html);
  total.value = String(index + 1);
  const row = box.querySelector("[data-rows-list]").lastElementChild;
  row.querySelector("input:not([type=hidden]), select, textarea")?.focus();
  announce(`Row ${index + 1} added`);
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

function removeRow(event, button) {
  const row = button.closest("[data-row-item]");
  const mark = row?.querySelector('input[name$="-DELETE"]');
  if (!mark) return;
  event.preventDefault();
  mark.checked = !mark.checked;
  row.classList.toggle("is-removed", mark.checked);
  button.textContent = mark.checked ? "Keep row" : "Remove";
  announce(mark.checked ? "Row will be removed when you save" : "Row kept");
  row.dispatchEvent(new Event("change", { bubbles: true }));
}

// ---- autosave: a form with data-autosave="id of its indicator" ----
const clock = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });

function autosave(form, state, text) {
  const indicator = document.getElementById(form.dataset.autosave);
  if (!indicator) return;
  indicator.dataset.state = state;
  indicator.textContent = text;
}

const autosaveForm = (node) => node?.closest?.("form[data-autosave]");

document.addEventListener("input", (event) => {
  const form = autosaveForm(event.target);
  if (!form) return;
  form.dataset.dirty = "yes";
  autosave(form, "changed", "Changed, not saved yet");
});
// A save by hand waits for the automatic one in flight, whose answer brings the version that the next save must name.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.autosave) return;
  if (form.classList.contains("htmx-request")) {
    event.preventDefault();
    form.dataset.leaving = "yes";
    form.addEventListener("htmx:afterRequest", () => form.requestSubmit(event.submitter), { once: true });
    return;
  }
  form.dataset.leaving = "yes";
  delete form.dataset.dirty;
});
window.addEventListener("pageshow", () => { for (const form of document.querySelectorAll("form[data-leaving]")) delete form.dataset.leaving; });
window.addEventListener("beforeunload", (event) => {
  if (document.querySelector("form[data-autosave][data-dirty]")) event.preventDefault();
});

// ---- files that are too large: said before they are sent, so that nothing typed is lost ----
document.addEventListener("change", (event) => {
  const most = Number(event.target.dataset?.maxBytes);
  if (!most || !event.target.files) return;
  const size = Array.from(event.target.files).reduce((sum, file) => sum + file.size, 0);
  const mebibytes = (bytes) => `${(bytes / 1048576).toFixed(1).replace(".0", "")} MiB`;
  event.target.setCustomValidity(size > most ? `This has ${mebibytes(size)}; at most ${mebibytes(most)} can be sent here.` : "");
  event.target.reportValidity();
});

// ---- htmx ----
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = csrfToken();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.dataset?.leaving) return event.preventDefault();
  // A part that polls waits while a question in it is open.
  if (event.detail.elt.matches?.('[hx-trigger^="every"]') && event.detail.target?.querySelector(":popover-open")) return event.preventDefault();
  event.detail.target?.setAttribute("aria-busy", "true");
  const form = autosaveForm(event.detail.elt);
  if (form) {
    delete form.dataset.dirty;
    autosave(form, "saving", "Saving…");
  }
});

document.addEventListener("htmx:afterRequest", (event) => {
  event.detail.target?.removeAttribute("aria-busy");
  const form = autosaveForm(event.detail.elt);
  if (!form || form.dataset.dirty) return;
  if (event.detail.successful) return autosave(form, "saved", `Saved ${clock()}`);
  form.dataset.dirty = "yes";
  const reason = { 409: "someone saved before you; reload to compare", 422: "the note beside the form says why" }[event.detail.xhr?.status] ?? "try again or press Save";
  autosave(form, "failed", `Not saved: ${reason}`);
});

// Focus: when the focused element went away with the swap, go to the part that asks for it, else stay near.
let focusLost = false;
document.addEventListener("htmx:beforeSwap", (event) => { focusLost = event.detail.target?.contains(document.activeElement) ?? false; });
document.addEventListener("htmx:afterSettle", (event) => {
  const part = event.detail.target?.isConnected ? event.detail.target : document.getElementById(event.detail.target?.id);
  if (!part) return;
  const said = part.matches("[data-announce]") ? part : part.querySelector("[data-announce]");
  if (said) announce(said.dataset.announce || said.textContent.trim());
  const problem = part.querySelector("[data-error-summary]");
  const request = event.detail.requestConfig;
  // A refused autosave leaves the cursor where the person types; a refused submit shows what is wrong.
  const typing = autosaveForm(request?.elt) && request?.triggeringEvent?.type !== "submit";
  if (problem && event.detail.elt && event.detail.xhr?.status === 422 && !typing) return problem.focus();
  if (focusLost && document.activeElement === document.body) {
    const next = part.querySelector("[data-focus], [autofocus]") ?? part;
    if (!next.hasAttribute("tabindex") && next === part) next.tabIndex = -1;
    next.focus({ preventScroll: next === part });
  }
  focusLost = false;
});
document.addEventListener("announce", (event) => announce(event.detail?.value ?? event.detail));

// A refused or failed request that is not swapped still says why: its error summary goes to the messages.
function showProblem(node) {
  const messages = document.getElementById("messages");
  if (!messages) return;
  const item = document.createElement("li");
  item.append(node);
  messages.replaceChildren(item);
  node.tabIndex = -1;
  node.focus();
}

function plainProblem(text) {
  const box = document.createElement("div");
  box.className = "note note-bad";
  const words = document.createElement("p");
  words.textContent = text;
  box.append(words);
  return box;
}

document.addEventListener("htmx:responseError", (event) => {
  const xhr = event.detail.xhr;
  const parsed = new DOMParser().parseFromString(xhr.responseText ?? "", "text/html");
  const summary = parsed.querySelector("[data-error-summary]");
  const text = `The server refused this (${xhr.status}). Nothing was changed. Reload the page and try again.`;
  showProblem(summary ? document.importNode(summary, true) : plainProblem(text));
});
document.addEventListener("htmx:sendError", () => {
  showProblem(plainProblem("The server can't be reached. What you typed is still here; try again when the connection is back."));
});

// ---- log viewers follow their end until the reader scrolls up ----
document.addEventListener("htmx:beforeSwap", () => {
  for (const log of document.querySelectorAll(".log")) {
    log.dataset.follow = String(log.scrollHeight - log.scrollTop - log.clientHeight < 24);
  }
});
function followLogs() {
  for (const log of document.querySelectorAll(".log")) {
    if (log.dataset.follow !== "false") log.scrollTop = log.scrollHeight;
  }
}
document.addEventListener("htmx:afterSettle", followLogs);

// A table or plot that scrolls can be reached and scrolled with the keyboard.
function markScrollers() {
  for (const box of document.querySelectorAll(".table-wrap, .map, .log, .code-block, .prose pre, .prose table")) {
    const sideways = box.scrollWidth > box.clientWidth + 1;
    const scrolls = sideways || box.scrollHeight > box.clientHeight + 1;
    box.toggleAttribute("data-sideways", sideways);
    if (scrolls) box.tabIndex = 0;
    else if (box.tabIndex === 0) box.removeAttribute("tabindex");
  }
}
document.addEventListener("htmx:afterSettle", markScrollers);
window.addEventListener("resize", markScrollers);

// ---- filters: no empty keys in the address; folded away in a narrow window until asked for ----
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("form.filters, form[data-clean-query]")) return;
  for (const name of new Set(event.formData.keys())) {
    const filled = event.formData.getAll(name).filter((value) => value !== "");
    event.formData.delete(name);
    for (const value of filled) event.formData.append(name, value);
  }
});
// A search takes along what was decided below it, so that nothing is lost.
document.addEventListener("formdata", (event) => {
  const other = document.getElementById(event.target.dataset?.carry ?? "");
  if (!other) return;
  for (const [name, value] of new FormData(other)) if (value && /^(d|why)-/.test(name)) event.formData.append(name, value);
});
let foldOpen = null;
function foldFilters() {
  for (const fold of document.querySelectorAll("details[data-fold]")) fold.open = foldOpen ?? window.innerWidth > 860;
}
document.addEventListener("click", (event) => {
  const fold = event.target.closest("details[data-fold] > summary")?.parentElement;
  if (fold) foldOpen = !fold.open;
});
document.addEventListener("htmx:afterSettle", foldFilters);

// ---- a link to a field puts the cursor there; a part without a field of its own leads to the nearest one ----
function focusTarget() {
  let id = decodeURIComponent(location.hash.slice(1));
  if (!id.startsWith("f-")) return;
  while (id && !document.getElementById(id)) id = id.slice(0, Math.max(0, id.lastIndexOf("-")));
  const node = id && document.getElementById(id);
  if (!node) return;
  for (let fold = node.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const controls = "input:not([type=hidden]), select, textarea";
  const field = node.matches(controls) ? node : (node.closest("[data-edit-row]") ?? node).querySelector(controls);
  (field ?? node).scrollIntoView({ block: "center" });
  field?.focus();
}
window.addEventListener("hashchange", focusTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href*="#f-"]');
  if (link && link.href === location.href) setTimeout(focusTarget);
});

function start() {
  foldFilters();
  showTheme();
  markScrollers();
  followLogs();
  document.querySelector("[data-error-summary]")?.focus();
  focusTarget();
  const here = document.querySelector(".areas [aria-current]");
  const strip = here?.closest(".areas");
  if (strip && strip.scrollWidth > strip.clientWidth) strip.scrollLeft = here.offsetLeft - 24;
}
start();
