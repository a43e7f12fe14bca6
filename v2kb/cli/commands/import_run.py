"""Result files and lines of a run that was measured elsewhere, as one line of the experiment history.

The server keeps results of its own workers alone, because only those are bound to a sealed prediction and judged. What
was measured elsewhere is recorded as an experiment, with its traces; the verdict is yours to say.
"""

import argparse
from pathlib import Path

from v2kb.cli.checkout import find_checkout
from v2kb.cli.commands.record import entry_of, more_arguments
from v2kb.cli.exits import WARNINGS, CliError
from v2kb.cli.results import Found, Results, read_results
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import deliver, show
from v2kb.rules.experiments import MAX_LENGTHS, VERDICTS

EXAMPLE = "v2kb import-run outputs/w13_0703 --verdict NULL --commit ac3d9736"
NO_PLACE = "Results from elsewhere are not kept as runs: they become one line of the experiment history."
MOST = 40


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "dir", help="the folder with the result files; it is the line's trace where --trace does not say"
    )
    parser.add_argument("--verdict", type=str.upper, choices=VERDICTS, help="of the experiment; no file says it")
    parser.add_argument("--why", default="", help="why, in one line; else what the files say")
    more_arguments(parser)


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: recorded, 1: only read, as no verdict was given, 2: refused, 3: nothing can be read, 5: queued."""
    folder = Path(read.dir)
    if not folder.is_dir():
        raise CliError(f"{folder} is no folder.", "Give the folder that the test left behind.")
    results = read_results(folder)
    if not results.found:
        why = f" {results.left[0]}" if results.left else ""
        raise CliError(
            f"{folder} holds no result file and no result line.{why}",
            "Known: result.json, all_results.json, and lines such as GATE_RESULT in logs.",
        )
    why = read.why or _words(results)
    if not read.verdict:
        _show(terminal, results, why)
        terminal.say(f"{NO_PLACE} Give --verdict to record it.")
        return WARNINGS
    checkout = find_checkout()
    entry = entry_of(read, checkout, verdict=read.verdict, why=why, trace=read.trace or read.dir)
    if not terminal.json:
        _show(terminal, results, why)
    terminal.say(NO_PLACE)
    outcome = deliver(checkout, "record", f"{entry['verdict']} {entry['why']}", entry)
    show(terminal, outcome)
    return outcome.exit_code


def _words(results: Results) -> str:
    """What the files say, in a line: verdicts of gates and statuses of cases, in their own words."""
    said = [text for one in results.found if (text := _word(one))]
    return "; ".join(dict.fromkeys(said))[: MAX_LENGTHS["why"]]


def _word(one: Found) -> str:
    return "" if one.kind == "spec" else one.text if one.kind == "case" else f"{one.kind} {one.text}"


def _show(terminal: Terminal, results: Results, why: str) -> None:
    if terminal.json:
        found = [one.as_document() for one in results.found]
        terminal.document({"found": found, "left": results.left, "why": why})
        return
    for one in results.found[:MOST]:
        terminal.line(f"{one.place}: {terminal.cut(f'{one.kind} {one.text}', len(one.place) + 2)}")
    if len(results.found) > MOST:
        terminal.line(f"and {len(results.found) - MOST} more")
    for line in results.left:
        terminal.say(line)
