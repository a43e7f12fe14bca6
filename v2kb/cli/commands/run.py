"""Sends a run of a kernel, with new files and a new kernel where they are given, and follows it."""

import argparse
from pathlib import Path
from typing import Any

from v2kb.cli.checkout import Checkout, find_checkout
from v2kb.cli.commands.watch import follow
from v2kb.cli.exits import CliError
from v2kb.cli.options import count
from v2kb.cli.server import Unreachable, at, read_as_ours, server_of
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import DONE, deliver, show

EXAMPLE = "v2kb run w13-tiled --kind perf --anchor w13-naive --files kernels/w13/"
KINDS = ("validate", "perf", "capture")  # as v2kb.wire.outcomes has them, whose messages need pydantic
MAX_FILES, MAX_BYTES = 64, 2 * 2**20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel", help="name of the kernel")
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0])
    parser.add_argument("--version", type=count, metavar="N", help="an earlier version; else the newest")
    parser.add_argument("--files", default="", metavar="PATH", help="a file or folder that becomes a new version")
    parser.add_argument("--entry", default="", metavar="FILE:FUNCTION", help="of the new version; else kernel.py:run")
    parser.add_argument("--note", default="", help="on the new version")
    parser.add_argument("--new-for", default="", metavar="OP", help="make the kernel first, for this op")
    parser.add_argument("--spec", default="", metavar="CODE", help="the approved spec that a new kernel implements")
    parser.add_argument("--title", default="", help="of a new kernel; else its name")
    parser.add_argument("--anchor", default="", metavar="NAME", help="what a perf run compares with")
    parser.add_argument("--workload", action="append", default=[], metavar="NAME", help="one of the op's; else all")
    parser.add_argument("--rounds", type=count, metavar="N")
    parser.add_argument("--launches", type=count, metavar="N")
    parser.add_argument("--queue", default="", metavar="NAME", help="else the queue of the op's target")
    parser.add_argument("--diagnostic", action="store_true", help="bound to no prediction; can't back a verdict")
    parser.add_argument("--no-wait", action="store_true", help="do not follow the run")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """As `v2kb watch`; 2 also where the run is refused, 5 where it is queued here."""
    checkout = find_checkout()
    body = {"kernel": _kernel(read), "version": _version(read), "order": _order(read)}
    if not body["version"] and "version" not in body["order"]:
        body["order"]["version"] = _newest(checkout, read.kernel)
    outcome = deliver(checkout, "run", f"{read.kind} of {read.kernel}", body)
    if outcome.state != DONE or read.no_wait:
        show(terminal, outcome)
        return outcome.exit_code
    terminal.say(f"{outcome.sent.said} {outcome.write.server}{outcome.sent.page}")
    return follow(server_of(checkout), outcome.sent.answer["id"], terminal)


def _kernel(read: argparse.Namespace) -> dict[str, Any]:
    """What makes the kernel; nothing where it is there."""
    if not read.new_for:
        if read.spec or read.title:
            raise CliError("--spec and --title are of a new kernel.", "Give --new-for OP too, or leave them out.")
        return {}
    made = {"slug": read.kernel, "title": read.title or read.kernel, "op": read.new_for, "basis": "exploratory"}
    return made | ({"basis": "spec", "spec": read.spec.upper()} if read.spec else {})


def _version(read: argparse.Namespace) -> dict[str, Any]:
    """What makes the version; nothing where one is there. Raises CliError."""
    if not read.files:
        if read.new_for:
            raise CliError("A new kernel has no version.", "Give --files PATH.")
        return {}
    if read.version:
        raise CliError("--files makes a new version.", "Leave --version out.")
    said = {"entry": read.entry, "note": read.note}
    return {"files": _files(Path(read.files)), **{name: text for name, text in said.items() if text}}


def _files(path: Path) -> dict[str, str]:
    """Texts by their paths below `path`, hidden and compiled ones left out. Raises CliError."""
    if not path.exists():
        raise CliError(f"There is no {path}.", "Give the kernel's file or folder.")
    if path.is_file():
        found = {path.name: path}
    else:
        paths = [one for one in sorted(path.rglob("*")) if one.is_file()]
        found = {one.relative_to(path).as_posix(): one for one in paths}
        found = {n: p for n, p in found.items() if not any(x.startswith((".", "__pycache__")) for x in n.split("/"))}
    if not 0 < len(found) <= MAX_FILES:
        raise CliError(f"{path} holds {len(found)} files.", f"A version has 1 to {MAX_FILES}.")
    try:
        if sum(one.stat().st_size for one in found.values()) > MAX_BYTES:
            raise CliError(f"{path} is larger than {MAX_BYTES // 2**20} MB.", "Give the kernel's own files.")
        return {name: one.read_text(encoding="utf-8") for name, one in found.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{path} can't be read: {error}.", "Kernel files are text in UTF-8.") from None


def _order(read: argparse.Namespace) -> dict[str, Any]:
    said = {
        "version": read.version,
        "anchor": read.anchor,
        "workloads": read.workload,
        "rounds": read.rounds,
        "launches": read.launches,
        "queue": read.queue,
        "diagnostic": read.diagnostic,
    }
    return {"kernel": read.kernel, "kind": read.kind, **{name: value for name, value in said.items() if value}}


def _newest(checkout: Checkout, kernel: str) -> int:
    """The number of the kernel's newest version. Raises CliError."""
    server = server_of(checkout)
    try:
        with read_as_ours(server):
            newest = server.get(at("kernels", kernel))["newest_version"]
    except Unreachable as error:
        raise CliError(error.message, "Give --version N: the newest is not known offline.") from None
    if newest is None:
        raise CliError(f"{kernel} has no version.", "Give --files PATH.")
    return newest
