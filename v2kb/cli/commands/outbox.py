"""Writes that wait to be sent, and those that the server did not take."""

import argparse
import json
from dataclasses import asdict

from v2kb.cli.checkout import find_checkout
from v2kb.cli.exits import BLOCKED, CLEAR, QUEUED, CliError
from v2kb.cli.outbox import WAITING, Outbox, Write
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import refusal_lines

EXAMPLE = "v2kb outbox show 3f9a1c2b"
DOES = ("list", "show", "drop", "retry")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("do", nargs="?", choices=DOES, default="list",
                        help="list all; show one; drop one for good; retry one that was refused")  # fmt: skip
    parser.add_argument("id", nargs="?", default="", help="the first characters of its key")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: nothing waits, 2: something was refused or is in conflict, 5: something waits."""
    outbox = Outbox(find_checkout())
    if read.do == "list":
        return _list(outbox, terminal)
    if not read.id:
        raise CliError(f"Say which write to {read.do}.", "`v2kb outbox` lists them.")
    write = outbox.find(read.id)
    if read.do == "drop":
        outbox.drop(write)
    elif read.do == "retry":
        write = outbox.mark(write, WAITING, {})
    if terminal.json:
        terminal.document(asdict(write))
    elif read.do == "show":
        _show(terminal, write)
    else:
        done = "Dropped" if read.do == "drop" else "`v2kb sync` sends it again:"
        terminal.line(f"{done} {write.id} {write.kind}: {write.what}")
    return CLEAR


def _list(outbox: Outbox, terminal: Terminal) -> int:
    writes = list(outbox)
    if terminal.json:
        terminal.document([asdict(write) for write in writes])
    elif not writes:
        terminal.line("The outbox is empty.")
    else:
        for write in writes:
            head = f"{write.id} {write.state:<8} {write.at[:16].replace('T', ' ')} {write.kind}"
            terminal.line(f"{head} {terminal.cut(write.what, len(head) + 1)}")
            if write.answer:
                terminal.line(f"         {terminal.cut(str(write.answer.get('message', '')), 9)}")
    states = {write.state for write in writes}
    return BLOCKED if states - {WAITING} else QUEUED if states else CLEAR


def _show(terminal: Terminal, write: Write) -> None:
    by = f"{write.user or 'whoever signs in'}{f' ({write.engine})' if write.engine else ''}"
    terminal.line(terminal.style(f"{write.id} {write.kind}: {write.what}", "bold"))
    terminal.line(f"  {write.state}, made {write.at} by {by} for {write.server}")
    if write.answer:
        for line in refusal_lines(write.answer):
            terminal.line(f"  {line}")
    terminal.line(json.dumps(write.body, indent=1, ensure_ascii=False, sort_keys=True))
