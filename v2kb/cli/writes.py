"""How each kind of write is sent, and what becomes of it: done, queued, refused or in conflict."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from v2kb.cli.checkout import Checkout
from v2kb.cli.exits import BLOCKED, CLEAR, QUEUED, CliError
from v2kb.cli.logins import LOGIN, login_of
from v2kb.cli.outbox import CONFLICT, REFUSED, WAITING, Outbox, Write, new_write
from v2kb.cli.server import Refused, Server, Unreachable, address_of, at, read_as_ours
from v2kb.cli.spec_links import link_spec
from v2kb.cli.terminal import Terminal

DONE = "done"


@dataclass(frozen=True, slots=True)
class Sent:
    """What a write made: a sentence, its page on the server, and the server's last answer."""

    said: str
    page: str = ""
    answer: dict[str, Any] = field(default_factory=dict)


def _record(server: Server, write: Write, checkout: Checkout) -> Sent:
    line = server.post("/experiments/", write.body, write.key)
    return Sent(
        f"Experiment {line['id']}: {line['verdict']}, {line['why']}", f"/evidence/experiments/{line['id']}/", line
    )


def _propose(server: Server, write: Write, checkout: Checkout) -> Sent:
    made = server.post("/proposals/", write.body, write.key)
    about = made["row"] or "a new row"
    needed = made["acceptances_needed"]
    said = f"Proposal {made['id']} on {about}; {needed} curator{'s' if needed > 1 else ''} must accept it."
    return Sent(said, f"/evidence/proposals/{made['id']}/", made)


def _submit(server: Server, write: Write, checkout: Checkout) -> Sent:
    """A spec, its searches, a revision, its handing in: each under a key of its own, so that what was done before an
    interruption is not done again.
    """
    body, key = write.body, write.key
    code = body["code"] or server.post("/specs/", {"title": body["title"], "ops": body["ops"]}, f"{key}.spec")["code"]
    link_spec(checkout, body["file"], code, body["base_hash"])
    for number, search in enumerate(body["searches"]):
        server.post(at("specs", code, "searches"), search, f"{key}.search.{number}")
    posted = {"base_hash": body["base_hash"], "content": body["content"], "reason": body["reason"]}
    revision = server.post(at("specs", code, "revisions"), posted, f"{key}.revision")
    link_spec(checkout, body["file"], code, revision["content_hash"])
    number = revision["number"]
    server.post(at("specs", code, "revisions", number, "submit"), {}, f"{key}.submit")
    review = server.get(at("specs", code, "revisions", number, "review"))
    said = f"{code} revision {number} is handed in for review."
    if review["missing"]:
        said += " Missing for an approval: " + " ".join(review["missing"])
    answer = {"code": code, "number": number, "content_hash": revision["content_hash"], "missing": review["missing"]}
    return Sent(said, f"/specs/{code}/", answer)


def _run(server: Server, write: Write, checkout: Checkout) -> Sent:
    """A kernel where one is made, a version where files are given, and the run."""
    body, order = write.body, dict(write.body["order"])
    if body["kernel"]:
        server.post("/kernels/", body["kernel"], f"{write.key}.kernel")
    if body["version"]:
        made = server.post(at("kernels", order["kernel"], "versions"), body["version"], f"{write.key}.version")
        order["version"] = made["number"]
    run = server.post("/runs/", order, f"{write.key}.run")
    said = (
        f"Run {run['id']}: {run['kind']} of {run['kernel']} version {run['version']}, {run['state']} on {run['queue']}."
    )
    return Sent(said, f"/runs/{run['id']}/", run)


KINDS: dict[str, Callable[[Server, Write, Checkout], Sent]] = {
    "record": _record,
    "propose": _propose,
    "submit": _submit,
    "run": _run,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a write. `state` is done, waiting, refused or conflict."""

    write: Write
    state: str
    sent: Sent = Sent("")
    why: str = ""
    refusal: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        return {DONE: CLEAR, WAITING: QUEUED}.get(self.state, BLOCKED)

    def as_document(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "id": self.write.id,
            "key": self.write.key,
            "kind": self.write.kind,
            "what": self.write.what,
            "outcome": "queued" if self.state == WAITING else self.state,
            "said": self.sent.said,
            "page": self.write.server + self.sent.page if self.sent.page else "",
            "answer": self.sent.answer,
            "why": self.why,
            "refusal": self.refusal,
        }


def send(server: Server, write: Write, checkout: Checkout) -> Outcome:
    """Send a write that lies in the outbox and keep there what the server did not take. Raises CliError, and then too
    the write stays.
    """
    outbox = Outbox(checkout)
    try:
        with read_as_ours(server):
            sent = KINDS[write.kind](server, write, checkout)
    except Unreachable as error:
        return Outcome(write, WAITING, why=error.message)
    except Refused as error:
        state = CONFLICT if error.is_conflict else REFUSED
        return Outcome(outbox.mark(write, state, error.document), state, why=error.message, refusal=error.document)
    outbox.drop(write)
    return Outcome(write, DONE, sent)


def deliver(checkout: Checkout, kind: str, what: str, body: dict[str, Any]) -> Outcome:
    """Make a write and send it now; where the server can't be reached it waits for `v2kb sync`. What the server refuses
    is shown and not kept: the command can be given again.
    """
    login = login_of(address_of(checkout))
    outbox, write = Outbox(checkout), new_write(kind, what, body, login)
    server = Server(login)
    outbox.put(write)
    if not login.token:
        return Outcome(write, WAITING, why=f"You are not signed in to {login.server}. {LOGIN}")
    try:
        outcome = send(server, write, checkout)
    except CliError as error:
        return Outcome(write, WAITING, why=f"{error.message} {error.fix}".strip())
    except KeyboardInterrupt:
        return Outcome(write, WAITING, why="Interrupted; whether the server has it is not known.")
    if outcome.state in (REFUSED, CONFLICT):
        outbox.drop(outcome.write)
    return outcome


def show(terminal: Terminal, outcome: Outcome) -> None:
    """Say what became of a write, on the result's side where it was done, else beside it."""
    if terminal.json:
        terminal.document(outcome.as_document())
    elif outcome.state == DONE:
        terminal.line(outcome.sent.said)
        terminal.line(terminal.style(outcome.write.server + outcome.sent.page, "faint"))
    elif outcome.state == WAITING:
        terminal.say(f"{outcome.why} Queued as {outcome.write.id}: {outcome.write.what}. `v2kb sync` sends it.")
    else:
        first, *more = refusal_lines(outcome.refusal)
        terminal.say(f"{outcome.state} {first}")
        for line in more:
            terminal.say(line)


def refusal_lines(refusal: dict[str, Any]) -> list[str]:
    """A refusal as lines: code and message, every problem, what to do, and what the server has now."""
    lines = [f"{refusal['code']}: {refusal['message']}"]
    problems = [problem for problem in refusal.get("problems", ()) if problem["message"] not in refusal["message"]]
    lines += [_problem(problem) for problem in problems]
    if refusal.get("fix"):
        lines.append(f"  {refusal['fix']}")
    for name, value in sorted(refusal.get("facts", {}).items()):
        if name == "fields":
            lines += [f"  {part['label']}: was {_short(part['base'])}; the server has {_short(part['theirs'])};"
                      f" you say {_short(part['mine'])}" for part in value]  # fmt: skip
        elif value not in ("", [], None):
            lines.append(f"  {name.replace('_', ' ')}: {_short(value)}")
    return lines


def _problem(problem: dict[str, Any]) -> str:
    rule = f"{problem['rule']} " if problem.get("rule") else ""
    fix = f" {problem['fix']}" if problem.get("fix") else ""
    return f"  {problem.get('field') or 'input'}: {rule}{problem['message']}{fix}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 160 else f"{text[:159]}…"
