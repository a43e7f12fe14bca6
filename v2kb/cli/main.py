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
_OUR_FAULT = "Report it with what stands on standard error."
_AT_FIRST = "%(prog)s COMMAND --help says more of a command."


class _Parser(argparse.ArgumentParser):
    """Arguments that can't be read end with 3, as all such input does; 2 would say that a rule blocks."""

    def error(self, message: str) -> NoReturn:
        raise CliError(f"{message}.", self.format_usage().strip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (`v2kb.cli.exits`)."""
    if arguments is None:
        gc.disable()  # a command ends before there is garbage worth the milliseconds; one that waits turns it on
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        parser_of(()).print_help(sys.stderr)
        return UNREADABLE
    wanted = next((word for word in given if not word.startswith("-")), "")
    terminal = standard(json="--json" in given, pages=wanted in PAGED)
    return _ended(given, wanted if wanted in COMMANDS else "", terminal)


def parser_of(wanted: Container[str]) -> argparse.ArgumentParser:
    """The parser of the wanted commands alone, for each costs time; of none, that of all, without their arguments."""
    parser = _Parser("v2kb", description="Evidence, specs and verdicts, where the kernels are written.",
                     epilog=_AT_FIRST, allow_abbrev=False)  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = {name: line for name, line in COMMANDS.items() if name in wanted}
    for name, line in (chosen or COMMANDS).items():
        module = _module(name) if chosen else None
        example = f"Example: {module.EXAMPLE}" if module else ""
        one = commands.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.", epilog=example,
                                  allow_abbrev=False)  # fmt: skip
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


def _ended(given: Sequence[str], wanted: str, terminal: Terminal) -> int:
    name = f"v2kb {wanted}".rstrip()
    try:
        code = _answered(given, wanted, name, terminal)
        terminal.out.flush()
        return code
    except BrokenPipeError:  # `v2kb ... | head` has read enough
        _close_output()
        return UNREADABLE
    except OSError as error:
        terminal.say(f"{name}: {error.strerror or error}.")
        _close_output()
        return UNREADABLE
    except KeyboardInterrupt:
        return 130


def _answered(given: Sequence[str], wanted: str, name: str, terminal: Terminal) -> int:
    """Run the command; what stops it is said, with `--json` as a document too. Raises OSError of the output."""
    try:
        if not all(map(_is_text, given)):
            raise CliError("An argument is no text in UTF-8.")
        read = parser_of({wanted}).parse_args(given)
        with terminal:
            return read.run(read, terminal)
    except CliError as error:
        why = error
    except OSError as error:
        if error.filename is None:
            raise
        why = CliError(f"{error.filename}: {error.strerror or error}.")
    except Exception as error:  # left to Python it ends with 1, and whoever asked goes on as after a warning
        from traceback import format_exc

        terminal.say(format_exc())
        said = f"v2kb is at fault: {type(error).__name__}: {error}."
        why = CliError(said, _OUR_FAULT)
    if terminal.json:
        terminal.document({"error": {"message": why.message, "fix": why.fix}})
    said = why.message if len(why.message) <= MOST_SAID else f"{why.message[:MOST_SAID]} …"
    terminal.say(f"{name}: {said} {why.fix}".rstrip())
    return why.code


def _close_output() -> None:
    """What is still to be written has nowhere to go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
