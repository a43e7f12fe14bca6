"""Whether more warps per task save a trip (rule R65): items are dealt to warps in whole trips."""

import argparse

from v2kb.cli.exits import BLOCKED, CLEAR, CliError
from v2kb.cli.terminal import Terminal
from v2kb.rules.calculators.sums import wave_quantisation
from v2kb.rules.wave_quant import MAY_WIN

EXAMPLE = "v2kb wavequant --items 7168 --tasks 136 --old 4 --new 7"
_FIELDS = {"items": "items", "tasks": "tasks", "old": "old_warps", "new": "new_warps"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--items", required=True, metavar="N", help="items of work in all: a number or a formula")
    parser.add_argument("--tasks", required=True, metavar="N", help="tasks that share them")
    parser.add_argument("--old", required=True, metavar="N", help="warps per task before")
    parser.add_argument("--new", required=True, metavar="N", help="warps per task after")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: a trip is saved, so that it may win; 2: a tie or more trips, so that a regression is predicted."""
    answer = wave_quantisation({field: getattr(read, option) for option, field in _FIELDS.items()})
    if answer["problems"]:
        options = {field: option for option, field in _FIELDS.items()}
        said = [f"--{options.get(p['field'], p['field'])}: {p['message']} {p['fix']}" for p in answer["problems"]]
        raise CliError("\n".join(said))
    result = answer["result"]
    if terminal.json:
        terminal.document(result)
    else:
        terminal.line(result["message"])
    return CLEAR if result["outcome"] == MAY_WIN else BLOCKED
