"""Brings the snapshot, says what changed in it, and sends what waits in the outbox."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from v2kb.cli.atomic import write_whole
from v2kb.cli.checkout import Checkout, find_checkout
from v2kb.cli.exits import BLOCKED, CLEAR, QUEUED, CliError
from v2kb.cli.outbox import WAITING, Outbox, Write
from v2kb.cli.server import Server, server_of
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import DONE, Outcome, refusal_lines, send
from v2kb.rules.canonical import canonical_json
from v2kb.rules.snapshot import Head, Line, SnapshotError, read_head, read_snapshot

EXAMPLE = "v2kb sync"
PATH = "/repository-snapshot/"
FETCH_S = 120
RENEW_DATE = timedelta(days=1)
KEYS = {"lever": "slug", "row": "code", "document": "slug", "op": "slug", "spec": "code", "rule": "id"}
MOST = 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--snapshot-only", action="store_true", help="leave the outbox as it is")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: up to date, 2: the server did not take something, 3: the snapshot is not usable, 5: it can't be reached."""
    checkout = find_checkout()
    server = server_of(checkout)
    news = fetch(server, checkout)
    if not terminal.json:
        news.show(terminal)
    make_ready(checkout, terminal)
    outcomes = [] if read.snapshot_only else list(send_all(server, checkout, terminal))
    if terminal.json:
        terminal.document({"snapshot": news.as_document(), "outbox": [one.as_document() for one in outcomes]})
    states = {one.state for one in outcomes}
    return BLOCKED if states - {DONE, WAITING} else QUEUED if WAITING in states else CLEAR


# --- the snapshot ---


@dataclass
class News:
    """What a sync changed in the snapshot: lines for people, and whether anything did."""

    head: Head
    changed: bool
    lines: list[str] = field(default_factory=list)

    def show(self, terminal: Terminal) -> None:
        """Say what changed."""
        held = ", ".join(f"{self.head.counts.get(kind, 0)} {kind}s" for kind in ("row", "lever", "document"))
        state = "renewed" if self.changed else "is what the server has"
        terminal.line(terminal.style(f"The snapshot {state}: {held}; change {self.head.change}.", "bold"))
        for line in self.lines[:MOST]:
            terminal.line(f"  {line}")
        if len(self.lines) > MOST:
            terminal.line(f"  and {len(self.lines) - MOST} more changes")

    def as_document(self) -> dict[str, Any]:
        """The news as plain values."""
        head = {"made_at": self.head.made_at, "change": self.head.change, "sha256": self.head.sha256}
        return {**head, "changed": self.changed, "news": self.lines}


def fetch(server: Server, checkout: Checkout) -> News:
    """Bring the snapshot, unless what is here is what the server has. The old one stays until the new one is whole.

    Raises CliError.
    """
    old = _held(checkout)
    patient = Server(server.login, timeout_s=FETCH_S)
    data = patient.fetch(PATH, old[0].etag if old else "")
    if data is None and old:
        return News(_redated(checkout, old[0]), changed=False)
    try:
        text = (data or b"").decode()
        head, lines = read_snapshot(text)
    except (SnapshotError, UnicodeDecodeError, ValueError) as error:
        raise CliError(f"What the server sent is no snapshot: {error}", "What was here before is unchanged.") from None
    _write(checkout, text)
    return News(head, True, news_of(old[1] if old else {}, lines))


def make_ready(checkout: Checkout, terminal: Terminal) -> None:
    """Make the index that reading needs, so that the first command after a sync does not wait for it; say where it
    can't be written. The snapshot is there either way.
    """
    try:
        checkout.index().close()
    except CliError as error:
        terminal.say(f"note: {error.message} {error.fix}")


def _held(checkout: Checkout) -> tuple[Head, dict[str, list[Line]]] | None:
    """The snapshot that lies here, if it is whole."""
    try:
        return read_snapshot(checkout.snapshot.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _redated(checkout: Checkout, head: Head) -> Head:
    """Note that a snapshot still holds, once a day: its date alone changes, and with it one line of the file."""
    now = datetime.now(UTC)
    if abs(now - datetime.fromisoformat(head.made_at)) < RENEW_DATE:
        return head
    first, _, rest = checkout.snapshot.read_text(encoding="utf-8").partition("\n")
    dated = canonical_json(json.loads(first) | {"made_at": now.isoformat(timespec="seconds")})
    _write(checkout, f"{dated}\n{rest}")
    return read_head(dated)


def _write(checkout: Checkout, text: str) -> None:
    try:
        write_whole(checkout.snapshot, text)
    except OSError as error:
        raise CliError(f"{checkout.snapshot} can't be written: {error.strerror}.", "Make .v2kb writable.") from None


def news_of(old: dict[str, list[Line]], new: dict[str, list[Line]]) -> list[str]:
    """What changed from one snapshot to the next: rows first, then levers, documents, rules, ops, specs and
    the words of scopes, causes and units.

    Nothing for a first snapshot.
    """
    if not old:
        return []
    said: list[str] = []
    for kind, described in (("row", _row_news), ("lever", _lever_news), ("document", None), ("rule", None),
                            ("op", None), ("spec", None)):  # fmt: skip
        was, now = _by_key(kind, old), _by_key(kind, new)
        for key in [*now, *(key for key in was if key not in now)]:
            if key not in now:
                said.append(f"{kind} {key} is gone")
            elif key not in was:
                said.append(f"new {kind} {_called(kind, now[key])}")
            elif was[key] != now[key]:
                told = described(was[key], now[key]) if described else "changed"
                said.append(f"{'' if kind == 'row' else f'{kind} '}{key} {told}")
    if old.get("vocabulary") != new.get("vocabulary"):
        said.append("the vocabulary changed")
    return said


def _by_key(kind: str, lines: dict[str, list[Line]]) -> dict[str, Line]:
    return {line[KEYS[kind]]: line for line in lines.get(kind, ())}


def _called(kind: str, line: Line) -> str:
    if kind == "row":
        return f"{line['code']} {line['content']['verdict']} {line['content']['title']}"
    return " ".join(filter(None, [line[KEYS[kind]], line.get("name") or line.get("title", "")]))


def _row_news(was: Line, now: Line) -> str:
    told = []
    if was["content"]["verdict"] != now["content"]["verdict"]:
        told.append(f"{was['content']['verdict']} is now {now['content']['verdict']}")
    elif was["head_hash"] != now["head_hash"]:
        fields = [n for n, value in now["content"].items() if was["content"].get(n) != value]
        told.append(f"revision {now['revision']}: {', '.join(fields)}")
    for name, words in (("confirmed", "confirmed flags"), ("flags", "open flags"), ("proposals", "open proposals")):
        if was[name] != now[name]:
            told.append(f"{words}: {now[name]}")
    if was["superseded_by"] != now["superseded_by"]:
        told.append(
            f"superseded by {', '.join(now['superseded_by'])}" if now["superseded_by"] else "no longer superseded"
        )
    if was["archived"] != now["archived"]:
        told.append("archived" if now["archived"] else "restored")
    return "; ".join(told) or "changed"


def _lever_news(was: Line, now: Line) -> str:
    if was["merged_into"] != now["merged_into"]:
        return f"merged into {now['merged_into']}" if now["merged_into"] else "no longer merged"
    return f"changed: {', '.join(name for name, value in now.items() if was.get(name) != value)}"


# --- the outbox ---


def send_all(server: Server, checkout: Checkout, terminal: Terminal) -> Iterable[Outcome]:
    """Send what waits, in order, and say what becomes of each. The first that can't be sent ends it.

    Raises CliError where the server does not know the token.
    """
    waiting = [write for write in Outbox(checkout) if write.state == WAITING]
    me = server.get("/me/")["username"] if waiting else ""
    for write in waiting:
        if why := _not_mine(write, server, me):
            outcome = Outcome(write, WAITING, why=why)
        else:
            outcome = send(server, write, checkout)
        if not terminal.json:
            _say(terminal, outcome)
        yield outcome
        if outcome.state == WAITING and not why:
            break
    if (rest := sum(write.state != WAITING for write in Outbox(checkout))) and not terminal.json:
        terminal.say(f"The server did not take {rest} of the outbox: `v2kb outbox` decides.")


def _not_mine(write: Write, server: Server, me: str) -> str:
    """Why a write is not for this sign-in: it would stand under another name, or elsewhere."""
    if write.server != server.address:
        return f"It is for {write.server}."
    return f"{write.user} wrote it, and you are {me}." if write.user not in ("", me) else ""


def _say(terminal: Terminal, outcome: Outcome) -> None:
    terminal.line(f"{outcome.state:<8} {outcome.write.id} {outcome.write.kind}: {terminal.cut(outcome.write.what, 30)}")
    if outcome.state == DONE:
        terminal.line(f"         {outcome.sent.said} {outcome.write.server}{outcome.sent.page}")
    elif outcome.state == WAITING:
        terminal.line(f"         {outcome.why}")
    else:
        for line in refusal_lines(outcome.refusal):
            terminal.line(f"         {line}")
