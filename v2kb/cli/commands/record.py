"""One line of the experiment history."""

import argparse
from datetime import date
from typing import Any

from v2kb.cli.checkout import Checkout, find_checkout
from v2kb.cli.exits import BLOCKED, CliError
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import deliver, show
from v2kb.rules.experiments import VERDICTS, read_entry, split_links
from v2kb.rules.problem import Problem

EXAMPLE = 'v2kb record --verdict NULL --why "flat within the noise" --trace outputs/w13_0703 --commit ac3d9736'


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verdict", required=True, type=str.upper, choices=VERDICTS, help="of the experiment")
    parser.add_argument("--why", required=True, help="why, in one line")
    more_arguments(parser)


def more_arguments(parser: argparse.ArgumentParser) -> None:
    """What every line may say besides verdict and why."""
    parser.add_argument("--env", default="", help="the machine and its state; else `env` of .v2kb/config.toml")
    parser.add_argument("--on", default="", metavar="DATE", help="the day, 2026-07-03; else today")
    parser.add_argument("--trace", default="", metavar="DIR", help="where its traces are")
    parser.add_argument("--commit", default="", metavar="HASH", help="the commit that was measured")
    parser.add_argument("--lever", default="", metavar="NAME", help="the lever that was tried")
    parser.add_argument("--link", action="append", default=[], metavar="LINK",
                        help="a row, kernel or run that it speaks of: D3, kernel:fused, run:R12")  # fmt: skip


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: written, 2: refused, 3: something is missing, 5: queued."""
    checkout = find_checkout()
    entry = entry_of(read, checkout, verdict=read.verdict, why=read.why, trace=read.trace)
    outcome = deliver(checkout, "record", f"{entry['verdict']} {entry['why']}", entry)
    show(terminal, outcome)
    return outcome.exit_code


def entry_of(read: argparse.Namespace, checkout: Checkout, *, verdict: str, why: str, trace: str) -> dict[str, Any]:
    """The line in its one spelling. Raises CliError with every field that is wrong."""
    raw = {
        "on": read.on or date.today().isoformat(),
        "env": read.env or checkout.env,
        "verdict": verdict,
        "why": why,
        "trace": trace,
        "commit": read.commit,
        "lever": _slug(checkout, read.lever) if read.lever else "",
        "links": [link for text in read.link for link in split_links(text)],
    }
    entry, problems = read_entry(raw)
    refuse(problems)
    return entry


def refuse(problems: list[Problem]) -> None:
    """Raise CliError with every problem, if there is one."""
    if problems:
        said = [f"{problem.field or 'input'}: {problem.message} {problem.fix}".rstrip() for problem in problems]
        raise CliError("\n  ".join(said), code=BLOCKED)


def _slug(checkout: Checkout, name: str) -> str:
    """The slug of a lever that the snapshot knows; as typed where there is no snapshot, for the server to judge."""
    if not checkout.snapshot.exists():
        return name
    slug = checkout.index().lever_named(name)
    if slug is None:
        raise CliError(f"The snapshot has no lever {name}.", "`v2kb lever NAME` shows names that come near.")
    return slug
