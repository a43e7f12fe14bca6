"""The verdict table over samples in CSV: a candidate against its anchor, by paired runs, as the app judges them.

What samples can't show (outputs, rungs, how it was timed, when it was registered) is not looked at; the answer says so.
"""

import argparse
import re
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from v2kb.cli.exits import BLOCKED, CLEAR, WARNINGS, CliError
from v2kb.cli.options import count
from v2kb.cli.samples import read_samples
from v2kb.cli.terminal import Terminal
from v2kb.rules.numbers import plain_decimal, read_decimal
from v2kb.rules.prediction_reading import MIN_ROUNDS, parse_prediction
from v2kb.rules.prereg import Prereg
from v2kb.rules.session import ANCHOR, CANDIDATE, LOWER, Case, Session, pair_runs
from v2kb.rules.units import TIME_UNITS_NS, format_percent
from v2kb.rules.verdict import KILL, PARK, SHIP, Verdict, judge_samples
from v2kb.rules.verdict_gates import JudgePolicy

EXAMPLE = "v2kb judge anchor.csv candidate.csv --predict 5% --kill 3%"
PROVISIONAL = "provisional: only samples were judged; a verdict that counts is given in the app alone"
_NOT_LOOKED_AT = """\
Not looked at: whether outputs are right, whether the rungs below stand, how and on what it was timed, whether only
the candidate differs, and whether all this was registered before the first sample."""
_AMOUNT = re.compile(r"(?P<low>[0-9.]+)(?:(?:-|\.\.|–)(?P<high>[0-9.]+))?\s*(?P<unit>%|ns|us|ms|s)?")
_DISPOSED = {SHIP: CLEAR, PARK: WARNINGS, KILL: BLOCKED}
_COLOURS = {SHIP: "green", PARK: "yellow"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("anchor", help="samples of the anchor (CSV: round, time_us, workload, position)")
    parser.add_argument("candidate", help="samples of the candidate; one file may hold both, with a column side")
    parser.add_argument("--predict", required=True, metavar="5%", help="gain predicted: 5%%, 5-8%% or 0.3us")
    parser.add_argument("--kill", required=True, metavar="3%", help="gain that must be exceeded")
    parser.add_argument("--delta", default="1%", metavar="1%", help="change that counts as nothing (1%%)")
    parser.add_argument("--rounds", metavar="N", help="rounds that were registered (as many as there are)")
    parser.add_argument("--min-launches", type=count, default=JudgePolicy.min_launches, metavar="N",
                        help="launches that each run must have (%(default)s)")  # fmt: skip
    parser.add_argument("--tick", type=count, metavar="NS", help="the timer's tick in ns")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: it would ship, 1: nothing was decided, 2: killed, regressed or invalid, 3: the files can't be read."""
    session = _session(read)
    prereg = _registered(read, session)
    try:
        verdict = judge_samples(session, prereg, JudgePolicy(read.min_launches))
        document = verdict.as_document()
    except ModuleNotFoundError as error:
        raise CliError(f"Intervals need {error.name}, which is not installed.", "Run `pip install scipy`.") from None
    if terminal.json:
        terminal.document(document)
    else:
        _text(terminal, verdict, document)
    return _DISPOSED.get(verdict.disposition, BLOCKED)


def _session(read: argparse.Namespace) -> Session:
    pairs = pair_runs([*read_samples(read.anchor, ANCHOR), *read_samples(read.candidate, CANDIDATE)])
    return Session(
        candidate=PurePath(read.candidate).stem,
        anchor=PurePath(read.anchor).stem,
        metric="time_ns",
        unit="ns",
        direction=LOWER,
        envelope="",
        target="",
        hardware="",
        method="",
        cases=tuple(Case(workload, found) for workload, found in pairs.items()),
        timer_tick=read.tick,
    )


def _registered(read: argparse.Namespace, session: Session) -> Prereg:
    """What the options predict, as it would be registered. Raises CliError with the options that are wrong."""
    rounds = read.rounds or str(max(MIN_ROUNDS, *(len(case.pairs) for case in session.cases)))
    prediction = {
        "metric": session.metric, "unit": session.unit, "direction": session.direction, "anchor": session.anchor,
        "tier": "2", "cases": [case.workload for case in session.cases], "rounds": rounds, "budget_runs": rounds,
        **_amount("predict", read.predict, "gain"), **_amount("kill", read.kill, "kill"),
        **_amount("delta", read.delta, "delta"),
    }  # fmt: skip
    parsed = parse_prediction(prediction)
    if parsed.prereg is None:
        raise CliError("\n".join(f"{problem.message} {problem.fix}" for problem in parsed.problems))
    return parsed.prereg


def _amount(option: str, text: str, field: str) -> dict[str, Any]:
    """Fields of a prediction: `5%`, `5-8%` (a predicted gain alone), or a time, in ns."""
    found = _AMOUNT.fullmatch(text.strip())
    low = read_decimal(found["low"]) if found else None
    high = read_decimal(found["high"]) if found and found["high"] else None
    if low is None or (found["high"] and (high is None or field != "gain")):
        raise CliError(f"--{option}: {text!r} is no amount.", "Write 5%, or a time such as 0.3us.")
    unit = found["unit"] or "%"
    if unit == "%":
        fields = {f"{field}_percent": plain_decimal(low)}
        return fields | ({"gain_high_percent": plain_decimal(high)} if high is not None else {})
    if field == "delta" or high is not None:
        raise CliError(f"--{option}: {text!r} must be in percent.", "Write it as 1%.")
    return {f"{field}_absolute": plain_decimal(Decimal(low) * TIME_UNITS_NS[unit])}


def _text(terminal: Terminal, verdict: Verdict, document: dict[str, Any]) -> None:
    terminal.line(terminal.style(PROVISIONAL, "bold"))
    head = terminal.style(verdict.judgement, "bold", _COLOURS.get(verdict.disposition, "red"))
    terminal.line(f"{head}  {document['sentence']}")
    terminal.line(f"  {verdict.disposition}: {verdict.disposition_reason}")
    for case in document["cases"]:
        found = case["estimate"]
        change, low, high = (_percent(found[f"{name}_percent"]) for name in ("change", "low", "high"))
        judged = verdict.case_judgements.get(case["workload"], "")
        said = f"{case['anchor_text']} -> {case['candidate_text']}  {change} [{low}, {high}]  {found['n']} rounds"
        terminal.line(f"  {case['workload']}: {said}  {judged}".rstrip())
    for note in document["notes"]:
        terminal.line(f"  {note}")
    terminal.wrapped(_NOT_LOOKED_AT.replace("\n", " "))


def _percent(text: str | None) -> str:
    return format_percent(None if text is None else float(text), signed=True)
