// The spec editor: saves while one types, shows what the rules say, and keeps what was typed whatever becomes of the
// connection, the sign-in or another tab. Uses autosave(), announce(), clock(), showProblem() and plainProblem() of app.js.
"use strict";

(() => {
  const DELAY_MS = 30; // after the last keystroke; one save flies at a time
  const RETRY_MS = 3000;
  const form = () => document.querySelector("form[data-editor]");
  if (!form()) return;

  let timer = 0;
  let retry = 0;
  let flying = false;
  let next = ""; // the action that waits for the one in flight, or for a connection
  let leaveTo = ""; // the page that was asked for while something was unsaved
  let stopped = ""; // "away", "signed out", or who is signed in instead: why nothing can be sent
  const person = (page) => page.querySelector('meta[name="person"]')?.dataset.name ?? "";

  const NOT_TYPED = /^(csrfmiddlewaretoken|version|base|action|choose:.*)$/;

  /** What the form holds, as the server reads it. */
  function typed(node) {
    const pairs = new URLSearchParams();
    for (const [name, value] of new FormData(node)) if (!NOT_TYPED.test(name)) pairs.append(name, value);
    return pairs.toString();
  }

  function schedule(delay = DELAY_MS) {
    clearTimeout(timer);
    timer = setTimeout(() => send("autosave"), delay);
  }

  async function send(action) {
    clearTimeout(timer);
    clearTimeout(retry);
    const node = form();
    if (!node || (node.hasAttribute("data-hold") && action === "autosave")) return;
    if (flying) {
      if (action !== "autosave" || !next) next = action;
      return;
    }
    flying = true;
    next = "";
    const sent = typed(node);
    const body = new URLSearchParams(new FormData(node));
    body.set("action", action);
    autosave(node, "saving", "Saving…");
    const held = focused();
    if (action !== "autosave") node.inert = true; // its answer brings the fields anew
    let answer = await post(body);
    let now = person(document);
    if (answer?.status === 403) {
      now = await renewToken();
      if (now === person(document)) answer = await post(body);
    }
    const text = answer && answer.type !== "opaqueredirect" ? await answer.text().catch(() => null) : "";
    node.inert = false;
    if (document.activeElement === document.body) restore(held); // what is inert loses the focus
    flying = false;
    if (text !== null && answer?.status === 403 && now && now !== person(document)) signIn(action, now);
    else if (text === null) take(null, "", action, sent);
    else take(answer, text, action, sent);
  }

  function post(body) {
    const headers = { "HX-Request": "true", "X-CSRFToken": csrfToken() };
    body.set("csrfmiddlewaretoken", csrfToken());
    return fetch(location.pathname, { method: "POST", body, headers, redirect: "manual" }).catch(() => null);
  }

  /** After a new sign-in the page's token is an old one: fetches that of the same person. Says who is signed in now. */
  async function renewToken() {
    const page = await fetch(location.pathname, { redirect: "manual" }).catch(() => null);
    const fresh = new DOMParser().parseFromString((await page?.text().catch(() => "")) ?? "", "text/html");
    const token = fresh.querySelector('meta[name="csrf-token"]')?.content;
    if (token && person(fresh) === person(document)) {
      document.querySelector('meta[name="csrf-token"]').content = token;
      for (const field of document.querySelectorAll('[name="csrfmiddlewaretoken"]')) field.value = token;
    }
    return person(fresh);
  }

  /** Goes on with what the server answered; null when there was no answer. */
  function take(answer, text, action, sent) {
    const node = form();
    if (!answer || answer.status >= 500) return wait(action, answer ? `the server failed (${answer.status})` : "the server can't be reached");
    if (answer.type === "opaqueredirect" || answer.status === 401) return signIn(action);
    if (answer.headers.get("HX-Redirect")) {
      delete node.dataset.dirty;
      return location.assign(answer.headers.get("HX-Redirect"));
    }
    back();
    const reply = new DOMParser().parseFromString(text, "text/html");
    if (answer.status === 409 && reply.getElementById("editor")) {
      if (typed(node) !== sent) return send(action); // typed on: both sides are merged again
      return merged(reply);
    }
    if (!answer.ok) return refused(answer, reply);
    for (const field of node.querySelectorAll("[name=version]")) field.value = reply.getElementById("checks").dataset.version;
    node.querySelector("[name=base]").value = sent;
    const still = typed(node) !== sent;
    if (action === "autosave") {
      swap(reply);
      say();
    } else {
      const told = reply.querySelector("#messages [data-announce]");
      swap(reply, action);
      if (told) announce(told.dataset.announce);
    }
    if (action === "autosave" && still) return schedule(0);
    stored();
    delete form().dataset.dirty;
    autosave(form(), "saved", `Saved ${clock()}`);
    goOn();
  }

  function goOn() {
    if (next) return send(next);
    if (leaveTo) location.assign(leaveTo);
  }

  /** Another tab saved: its changes come into this page. With nothing to ask, both are saved at once. */
  function merged(reply) {
    leaveTo = "";
    swap(reply);
    form().dataset.dirty = "yes";
    if (form().hasAttribute("data-hold")) {
      autosave(form(), "failed", "Not saved: choose what stands, then save");
      announce("Another tab changed the same fields. Choose which value stands.");
      document.querySelector("[data-error-summary]")?.focus();
    } else {
      form().dataset.merged = "yes";
      announce("Another tab changed this page; its changes are shown here beside yours.");
      send("autosave");
    }
  }

  /** A save went through: what the page said of one that did not is no longer true. */
  function stored() {
    document.getElementById("merged")?.remove();
    const summary = document.querySelector("#editor [data-error-summary]");
    if (summary && form().dataset.merged) {
      const note = document.createElement("p");
      Object.assign(note, { id: "merged", className: "note note-good", textContent: "Another tab changed this page too. Its changes and yours are stored." });
      summary.before(note);
    }
    summary?.remove();
    delete form().dataset.merged;
    delete form().dataset.refused;
  }

  function refused(answer, reply) {
    leaveTo = "";
    const node = form();
    node.dataset.dirty = "yes";
    autosave(node, "failed", "Not saved: the note above says why");
    const summary = reply.querySelector("[data-error-summary]");
    const plain = `The server refused this (${answer.status}). What you typed is still here.`;
    note(summary ? document.importNode(summary, true) : plainProblem(plain));
  }

  /** No connection, or a failing server: try again until it works. */
  function wait(action, why) {
    leaveTo = "";
    stopped = "away";
    keep(action);
    autosave(form(), "failed", `Not saved: ${why}. What you typed is kept here and sent again.`);
    retry = setTimeout(() => send(next || "autosave"), RETRY_MS);
  }

  /** Nobody is signed in any more, or somebody `other`. */
  function signIn(action, other = "") {
    leaveTo = "";
    keep(action);
    const why = other ? `${other} is signed in now` : "you are signed out";
    autosave(form(), "failed", `Not saved: ${why}`);
    if (stopped === (other || "signed out")) return;
    stopped = other || "signed out";
    const box = plainProblem(`Not saved: ${why}. What you typed is kept on this page. Sign in as ${person(document)} in another tab, then come back: it is sent then.`);
    const link = document.createElement("a");
    Object.assign(link, { href: `${form().dataset.login}?next=/`, target: "_blank", textContent: "Sign in in a new tab", className: "btn btn-sm" });
    const again = document.createElement("button");
    Object.assign(again, { type: "button", textContent: "Send it now", className: "btn btn-sm" });
    again.addEventListener("click", () => send(next || "autosave"));
    box.id = "signed-out";
    box.append(link, " ", again);
    note(box);
  }

  function keep(action) {
    form().dataset.dirty = "yes";
    if (action !== "autosave" || !next) next = action;
  }

  /** What could not be sent is about to be: take away what was said about it. */
  function back() {
    stopped = "";
    document.querySelector("#messages [data-unsent]")?.remove();
  }

  function note(node) {
    const item = document.createElement("li");
    item.dataset.unsent = "yes";
    item.append(node);
    document.getElementById("messages").replaceChildren(item);
    announce(node.querySelector("p, h2")?.textContent);
  }

  // ---- what the server answered comes into the page ----
  function swap(reply, action = "") {
    const held = focused();
    const folds = [...document.querySelectorAll("#editor details[open][id], #checks details[id]")].map((fold) => [fold.id, fold.open]);
    for (const id of ["heading", "messages", "editor", "checks", "gate", "sections", "picture"]) {
      const fresh = reply.getElementById(id);
      const old = document.getElementById(id);
      if (id === "sections" && fresh && !reply.getElementById("gate")) keepGate(old, fresh);
      if (fresh && old && !(id === "picture" && reply.getElementById("editor"))) old.replaceWith(document.importNode(fresh, true));
    }
    for (const [id, open] of folds) document.getElementById(id)?.toggleAttribute("open", open);
    if (reply.getElementById("editor")) {
      if (!goToRow(action)) restore(held);
    }
    markScrollers();
  }

  /** Where the gate was not asked, because typing here can't change what it says, its counts stay. */
  function keepGate(old, fresh) {
    for (const count of old.querySelectorAll("[data-gate]")) {
      const link = [...fresh.querySelectorAll("a")].find((other) => other.getAttribute("href") === count.closest("a").getAttribute("href"));
      link?.append(" ", count);
    }
  }

  /** Where the focus is, and the selection in it: a field by its id, a button by what it does. */
  function focused() {
    const { id, name, value, selectionStart: start, selectionEnd: end } = document.activeElement ?? {};
    const place = id ? `#${CSS.escape(id)}` : name === "action" ? `#editor button[name="action"][value="${CSS.escape(value)}"]:not([tabindex="-1"])` : "";
    return { place, start, end };
  }

  function restore(held) {
    const field = held.place && document.querySelector(held.place);
    if (!field) return;
    field.focus({ preventScroll: true });
    if (held.start != null && field.setSelectionRange) field.setSelectionRange(held.start, held.end);
  }

  /** After a button of a row: the same button of that row at its new place, or the first field of a new row. */
  function goToRow(action) {
    const [verb, path, index, to] = action.split(":");
    const table = path && document.querySelector(`[data-edit-table="${CSS.escape(path)}"]`);
    if (!table) return false;
    for (let fold = table.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const rows = [...table.querySelectorAll("[data-edit-row]")].filter((row) => row.closest("[data-edit-table]") === table);
    const place = { add: rows.length - 1, copy: +index + 1, up: +index - 1, down: +index + 1, move: +to, remove: Math.min(+index, rows.length - 1) }[verb];
    const row = rows[place];
    const fields = "input:not([type=hidden]), select, textarea";
    const again = row?.querySelector(`button[value^="${verb}:${CSS.escape(path)}:"]:not(:disabled)`);
    const target = !row ? table.querySelector(`button[value="add:${CSS.escape(path)}"]`)
      : verb === "add" || verb === "copy" ? row.querySelector(fields)
      : again ?? row.querySelector(".row-tools button:not(:disabled)");
    target?.focus();
    return Boolean(target);
  }

  /** Puts each finding of the panel beside its field, or at the nearest part of the page around it. */
  function say() {
    const node = form();
    for (const box of node.querySelectorAll(".say")) if (box.firstChild) box.replaceChildren();
    for (const field of node.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    for (const field of node.querySelectorAll(".field-invalid")) field.classList.remove("field-invalid");
    for (const item of document.querySelectorAll("#checks [data-at]")) {
      let id = `f-${item.dataset.at}`;
      while (id && !document.getElementById(`${id}-say`)) id = id.slice(0, Math.max(0, id.lastIndexOf("-")));
      if (!id) continue;
      const words = document.createElement("p");
      words.className = "field-error";
      words.dataset.level = item.dataset.level;
      words.append(document.createElement("span"));
      const rule = item.querySelector(".code-id");
      const said = item.querySelector("[data-said]").textContent;
      words.firstChild.append(rule ? `${rule.textContent}: ${said}` : said);
      for (const more of item.querySelectorAll(item.dataset.level === "missing" ? "[data-fix]" : "[data-link]")) words.firstChild.append(" ", more.cloneNode(true));
      document.getElementById(`${id}-say`).append(words);
      const blocks = item.dataset.level === "error" || item.dataset.level === "missing";
      const field = document.getElementById(id);
      if (blocks && field?.matches("input, select, textarea")) field.setAttribute("aria-invalid", "true");
      if (blocks) field?.closest(".field")?.classList.add("field-invalid");
    }
  }

  // ---- what the person does ----
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => {
      if (!event.target.closest("form[data-editor]") || event.target.name?.startsWith("choose:")) return;
      form().dataset.dirty = "yes";
      schedule();
    });
  }
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-editor]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    send(event.submitter?.value || "save");
  }, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const node = form();
    if (!node?.dataset.dirty || node.hasAttribute("data-hold") || stopped) return;
    if (link.pathname === location.pathname && link.hash) return;
    event.preventDefault();
    leaveTo = link.href;
    send("autosave");
  });
  const again = () => { if (stopped && !document.hidden) send(next || "autosave"); };
  window.addEventListener("online", again);
  window.addEventListener("focus", again);
  document.addEventListener("visibilitychange", again);

  // ---- rows are dragged by their handle; the buttons do the same ----
  let dragged = null;
  const rowUnder = (event) => {
    let row = event.target.closest?.("[data-edit-row]");
    while (row && row.closest("[data-drag]") !== dragged?.table) row = row.parentElement.closest("[data-edit-row]");
    return row;
  };
  const unmark = () => { for (const row of document.querySelectorAll(".is-drop-above, .is-drop-below, .is-dragged")) row.classList.remove("is-drop-above", "is-drop-below", "is-dragged"); };
  document.addEventListener("dragstart", (event) => {
    const handle = event.target.closest?.("[data-handle]");
    if (!handle) return;
    const row = handle.closest("[data-edit-row]");
    dragged = { row, table: row.closest("[data-drag]") };
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", row.dataset.editRow);
    event.dataTransfer.setDragImage(row, 12, 12);
    row.classList.add("is-dragged");
  });
  const below = (event, row) => event.clientY > row.getBoundingClientRect().top + row.getBoundingClientRect().height / 2;
  document.addEventListener("dragover", (event) => {
    const row = dragged && rowUnder(event);
    if (!row) return;
    event.preventDefault();
    for (const other of dragged.table.querySelectorAll(".is-drop-above, .is-drop-below")) other.classList.remove("is-drop-above", "is-drop-below");
    row.classList.add(below(event, row) ? "is-drop-below" : "is-drop-above");
  });
  document.addEventListener("drop", (event) => {
    const row = dragged && rowUnder(event);
    if (!row) return;
    event.preventDefault();
    const from = Number(dragged.row.dataset.editRow);
    const before = Number(row.dataset.editRow) + (below(event, row) ? 1 : 0);
    const to = before > from ? before - 1 : before;
    if (to !== from) send(`move:${dragged.table.dataset.drag}:${from}:${to}`);
  });
  document.addEventListener("dragend", () => { unmark(); dragged = null; });

  if (form().hasAttribute("data-refused") && !form().hasAttribute("data-hold")) form().dataset.dirty = "yes";
})();
