"""`v2kb COMMAND ...`: finds the command, reads its arguments, turns refusals into a line and an exit code."""

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Container, Sequence
from types import ModuleType
from typing import NoReturn

from v2kb.cli.exits import UNREADABLE, CliError
from v2kb.cli.terminal import Terminal, standard

COMMANDS = {
    "prior": "what was tried: DEAD, WIN and UNTESTED rows for words, levers and a scope",
    "show": "one evidence row, whole",
    "lever": "a lever: its names, its family, all its rows",
    "rule": "a spec rule or a rule of the gate",
    "doc": "a section of a document",
    "check": "a spec in a file against all spec rules, line by line",
    "gate": "the anti-loop gate over a spec in a file, provisionally",
    "plan": "the planner of shared memory over a spec or the queues of a task graph",
    "wavequant": "whether more warps per task save a trip (R65)",
    "judge": "a candidate against its anchor, from samples in CSV",
    "signature": "failures that look like this one, with what to do",
    "record": "one line of the experiment history",
    "propose": "a change of an evidence row, or a new one, for a curator to decide",
    "submit": "a spec in a file, handed in for review",
    "run": "a run of a kernel on a worker, followed until it ends",
    "watch": "a run, followed until it ends",
    "import-run": "result files and lines from elsewhere, recorded in the experiment history",
    "sync": "the newest snapshot; then what waits in the outbox is sent",
    "outbox": "writes that wait, and those that the server did not take",
    "init": "make the .v2kb folder of a repository",
    "login": "keep a token for the server",
    "logout": "revoke the token on the server and forget it",
    "doctor": "what is installed, reachable, old or waiting",
    "completion": "a script that completes commands in bash or zsh",
}
"""One line of help per command; each has a module of its name, imported only when it runs."""
PAGED = {"prior", "show", "lever", "rule", "doc", "check", "gate", "plan", "signature", "outbox"}
"""Commands whose whole result stands on a terminal at once."""
MOST_SAID = 4000
"""Characters of a refusal: it may repeat what was typed, however long that is."""
_AT_FIRST = "%(prog)s COMMAND --help says more of a command."


class _Parser(argparse.ArgumentParser):
    """Arguments that can't be read end with 3, as all such input does; 2 would say that a rule blocks."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(UNREADABLE, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (`v2kb.cli.exits`)."""
    if arguments is None:
        gc.disable()  # a command ends before there is garbage worth the milliseconds; one that waits turns it on
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not all(map(_is_text, given)):
        standard().say("v2kb: an argument is no text in UTF-8.")
        return UNREADABLE
    if not given:
        parser_of(()).print_help(sys.stderr)
        sys.exit(UNREADABLE)
    wanted = next((word for word in given if not word.startswith("-")), "")
    read = parser_of({wanted}).parse_args(given)
    return _ended(read, standard(json=read.json, pages=read.command in PAGED))


def parser_of(wanted: Container[str]) -> argparse.ArgumentParser:
    """The parser of the wanted commands alone, for each costs time; of none, that of all, without their arguments."""
    parser = _Parser("v2kb", description="Evidence, specs and verdicts, where the kernels are written.",
                     epilog=_AT_FIRST)  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = {name: line for name, line in COMMANDS.items() if name in wanted}
    for name, line in (chosen or COMMANDS).items():
        module = _module(name) if chosen else None
        example = f"Example: {module.EXAMPLE}" if module else ""
        one = commands.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.", epilog=example)
        one.add_argument("--json", action="store_true", help="the result as one JSON document")
        if module:
            module.arguments(one)
            one.set_defaults(run=module.run)
    return parser


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"v2kb.cli.commands.{name.replace('-', '_')}")


def _ended(read: argparse.Namespace, terminal: Terminal) -> int:
    try:
        with terminal:
            code = read.run(read, terminal)
        terminal.out.flush()
        return code
    except CliError as error:
        if terminal.json:
            terminal.document({"error": {"message": error.message, "fix": error.fix}})
        said = error.message if len(error.message) <= MOST_SAID else f"{error.message[:MOST_SAID]} …"
        terminal.say(f"v2kb {read.command}: {said} {error.fix}".rstrip())
        return error.code
    except BrokenPipeError:  # `v2kb ... | head` has read enough
        _close_output()
        return UNREADABLE
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        terminal.say(f"v2kb {read.command}: {named}{error.strerror or error}.")
        _close_output()
        return UNREADABLE
    except KeyboardInterrupt:
        return 130


def _close_output() -> None:
    """What is still to be written has nowhere to go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
