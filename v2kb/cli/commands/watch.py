"""Follows a run until it ends."""

import argparse
import gc
import time
from typing import Any

from v2kb.cli.checkout import find_checkout
from v2kb.cli.exits import BLOCKED, CLEAR, QUEUED, WARNINGS, CliError
from v2kb.cli.server import Server, Unreachable, at, read_as_ours, server_of
from v2kb.cli.terminal import Terminal
from v2kb.rules.states import RUN
from v2kb.rules.verdict_table import WIN

EXAMPLE = "v2kb watch R3f9a1c2b4d5e"
PASS = "PASS"
EVERY_S, OFFLINE_S = 1.0, 600.0
BAR = 24


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="run", help="id of the run")
    parser.add_argument("--log", action="store_true", help="also its log, on standard error")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: it passed, and a perf run is a WIN; 1: it passed and is judged otherwise, or not; 2: it failed or was
    cancelled; 5: the server can't be reached any more.
    """
    return follow(server_of(find_checkout()), read.run_id, terminal, log=read.log)


def follow(server: Server, run_id: str, terminal: Terminal, *, log: bool = False) -> int:
    """Ask about a run until it ends, say what changes, and show how it ended. Returns the exit code."""
    gc.enable()
    status = Status(terminal)
    try:
        with read_as_ours(server):
            return _follow(server, run_id, terminal, status, log=log)
    except KeyboardInterrupt:
        status.end()
        terminal.say(f"The run goes on: `v2kb watch {run_id}` follows it again.")
        raise


def _follow(server: Server, run_id: str, terminal: Terminal, status: "Status", *, log: bool) -> int:
    pieces, reached = 0, time.monotonic()
    while True:
        try:
            found = server.get(at("runs", run_id))
            pieces = _log(server, run_id, terminal, status, pieces) if log else 0
            reached = time.monotonic()
        except Unreachable as error:
            if time.monotonic() - reached > OFFLINE_S:
                status.end()
                raise CliError(error.message, f"The run goes on: `v2kb watch {run_id}` later.", QUEUED) from None
            status.show(f"{error.message} Asking again.")
        else:
            if not RUN[found["state"]]:
                status.end()
                return _ended(found, server, terminal)
            status.show(_progress(found, bar=status.in_place))
        time.sleep(EVERY_S)


class Status:
    """One line that changes in place on a terminal; elsewhere a line for each change."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal, self.in_place, self.shown = terminal, terminal.err.isatty(), ""

    def show(self, text: str) -> None:
        """Show how it stands."""
        if text == self.shown:
            return
        self.shown = text
        if self.in_place:
            self.terminal.err.write(f"\r\033[K{self.terminal.cut(text)}")
            self.terminal.err.flush()
        else:
            self.terminal.say(text)

    def end(self) -> None:
        """Leave room for what comes."""
        if self.in_place and self.shown:
            self.terminal.err.write("\r\033[K")
            self.terminal.err.flush()
        self.shown = ""


def _progress(found: dict[str, Any], *, bar: bool) -> str:
    seen = found["progress"]
    done, total = seen["done"], seen["total"]
    filled = BAR * done // total if total else 0
    drawn = f" [{'#' * filled}{'.' * (BAR - filled)}]" if bar and total else ""
    counted = f" {done}/{total}" if total else ""
    return f"{found['id']} {found['state']} on {found['queue']}{drawn}{counted} {seen['phase']}".rstrip()


def _log(server: Server, run_id: str, terminal: Terminal, status: Status, seen: int) -> int:
    """Print the pieces of the log after the first `seen`; returns how many there are."""
    size = 50
    while True:
        page = server.get(at("runs", run_id, "log"), page=seen // size + 1, page_size=size)
        fresh = page["results"][seen % size :]
        if fresh:
            status.end()
        for piece in fresh:
            terminal.err.write(piece["text"])
        seen += len(fresh)
        if seen >= page["count"] or not fresh:
            return seen


def _ended(found: dict[str, Any], server: Server, terminal: Terminal) -> int:
    judged = found["judgement"]
    if terminal.json:
        terminal.document(found)
    else:
        said = found["outcome"] or found["state"]
        passed = found["outcome"] == PASS
        terminal.line(
            f"{found['id']} {terminal.style(said, 'green' if passed else 'red', 'bold')} {found['message']}".rstrip()
        )
        if judged and judged["judgement"]:
            terminal.line(
                f"{judged['judgement']} (grade {judged['grade']}, {judged['disposition']}): {judged['sentence']}"
            )
        elif judged:
            terminal.line(judged["sentence"])
        elif found["kind"] == "perf" and passed:
            terminal.line("It has no judgement yet.")
        terminal.line(terminal.style(f"{server.address}/runs/{found['id']}/", "faint"))
    if found["outcome"] != PASS:
        return BLOCKED
    if found["kind"] != "perf":
        return CLEAR
    return CLEAR if judged and judged["judgement"] == WIN else WARNINGS
