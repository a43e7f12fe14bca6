// What was typed into a form that was sent after the sign-in had ended comes back into it, once the same person is
// signed in again. It stays in this tab (session storage), for an hour at most; files and passwords are not kept.
// The editor of specs keeps its own.
"use strict";
(() => {
  const STORE = "v2kb.unsent";
  const MAX_CHARS = 2_000_000;
  const MAX_AGE_MS = 3_600_000;
  const person = document.querySelector('meta[name="person"]')?.content ?? "";
  const here = () => location.pathname + location.search;
  const addressOf = (form) => new URL(form.getAttribute("action") || location.href, location.href).pathname;
  const twins = (address) => [...document.forms].filter((form) => form.method === "post" && addressOf(form) === address);

  function stored() {
    try { return JSON.parse(sessionStorage.getItem(STORE)); } catch { return null; }
  }
  function store(kept) {
    try {
      const text = JSON.stringify(kept);
      if (kept && text.length <= MAX_CHARS) sessionStorage.setItem(STORE, text);
      else sessionStorage.removeItem(STORE);
    } catch { /* private mode or full: the sign-in page shows what was sent */ }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const typed = [...form.elements].some((field) => field.name && !["hidden", "submit", "button", "fieldset"].includes(field.type));
    if (event.defaultPrevented || form.method !== "post" || !person || !typed || form.matches("[data-editor]")) return;
    const secret = new Set([...form.elements].filter((field) => field.type === "password").map((field) => field.name));
    const entries = [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken" && !secret.has(name));
    const address = addressOf(form);
    store({
      person, page: here(), address, place: twins(address).indexOf(form), at: Date.now(), refused: false,
      fields: entries.filter(([, value]) => typeof value === "string"), files: entries.some(([, value]) => value instanceof File && value.name),
    });
  });

  /** Adds rows to the formsets until there are as many as were sent. */
  function addRows(form, fields) {
    for (const [name, value] of fields) {
      const total = name.endsWith("-TOTAL_FORMS") && form.elements[name];
      const button = total && form.querySelector(`[data-formset="${CSS.escape(name.slice(0, -12))}"] [data-add-row]`);
      for (let more = Number(value) - Number(total?.value ?? value); button && more > 0; more -= 1) button.click();
    }
  }

  function fill(form, fields) {
    addRows(form, fields);
    const values = new Map();
    for (const [name, value] of fields) values.set(name, [...(values.get(name) ?? []), value]);
    for (const field of form.elements) {
      const said = values.get(field.name);
      if (!field.name || ["file", "password", "submit", "button", "fieldset"].includes(field.type)) continue;
      if (["checkbox", "radio"].includes(field.type)) field.checked = said?.includes(field.value) ?? false;
      else if (field.type === "select-multiple") for (const option of field.options) option.selected = said?.includes(option.value) ?? false;
      else if (said?.length) field.value = said.shift();
      else continue;
      if (field.type !== "hidden") field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    for (let fold = form.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const box = form.closest("dialog, [popover]");
    if (box?.matches("dialog")) box.showModal();
    else box?.showPopover?.();
  }

  function bring(kept) {
    const form = twins(kept.address)[kept.place];
    const said = form ? "What you typed is back in its form. Nothing was stored yet: look it over and send it again." : "This is what you typed. Its form is not on this page any more, and nothing was stored.";
    const note = plainProblem(said + (kept.files ? " Choose the file again." : ""));
    note.className = "note note-warn";
    if (!form) {
      const text = document.createElement("pre");
      text.textContent = kept.fields.filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`).join("\n");
      note.append(text);
    }
    showProblem(note);
    if (form) fill(form, kept.fields);
  }

  const kept = stored();
  if (!kept) return;
  if (document.querySelector("form[data-sign-in]")) store({ ...kept, refused: true });
  else if (!kept.refused || kept.person !== person || Date.now() - kept.at > MAX_AGE_MS) store(null);
  else if (kept.page === here()) {
    store(null);
    bring(kept);
  }
})();
