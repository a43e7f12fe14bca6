"""`v2kb COMMAND ...`: finds the command, reads its arguments, turns refusals into a line and an exit code."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

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
}
"""One line of help per command; each has a module of its name, imported only when it runs."""
_AT_FIRST = "%(prog)s COMMAND --help says more of a command."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (`v2kb.cli.exits`)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser("v2kb", description="Evidence, specs and verdicts, where the kernels are written.",
                                     epilog=_AT_FIRST)  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((word for word in given if not word.startswith("-")), "")
    for name, line in COMMANDS.items():
        module = importlib.import_module(f"v2kb.cli.commands.{name}") if name == wanted else None
        example = f"Example: {module.EXAMPLE}" if module else ""
        one = commands.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.", epilog=example)
        one.add_argument("--json", action="store_true", help="the result as one JSON document")
        if module:
            module.arguments(one)
            one.set_defaults(run=module.run)
    read = parser.parse_args(given)
    terminal = standard(json=read.json)
    return _ended(read, terminal)


def _ended(read: argparse.Namespace, terminal: Terminal) -> int:
    try:
        code = read.run(read, terminal)
        sys.stdout.flush()
        return code
    except CliError as error:
        if terminal.json:
            terminal.document({"error": {"message": error.message, "fix": error.fix}})
        terminal.say(f"v2kb {read.command}: {error.message} {error.fix}".rstrip())
        return error.code
    except BrokenPipeError:  # `v2kb ... | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREADABLE
    except KeyboardInterrupt:
        return 130
