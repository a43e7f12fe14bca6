"""One evidence row, whole."""

import argparse

from v2kb.cli.checkout import age, find_checkout, read_ended, said_age
from v2kb.cli.exits import CliError
from v2kb.cli.terminal import Terminal
from v2kb.rules.evidence import blocking_kind, cause_label, weak_dead
from v2kb.rules.names import exact_codes
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import describe
from v2kb.rules.snapshot import Line

EXAMPLE = "v2kb show D3"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", help="code of the row")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    checkout = find_checkout()
    index = checkout.index()
    code = next(iter(exact_codes(read.code)), read.code)
    row = index.line("row", code)
    if row is None:
        raise CliError(
            f"There is no row {read.code}.", f"The snapshot is {said_age(age(index))}; `v2kb sync` renews it."
        )
    if terminal.json:
        terminal.document(row)
    else:
        _text(terminal, row, index.lever_names.get(row["content"]["lever"], row["content"]["lever"]))
    return read_ended(checkout, index, terminal)


def _text(terminal: Terminal, row: Line, lever: str) -> None:
    content = row["content"]
    kind = blocking_kind(content, superseded=bool(row["superseded_by"]))
    terminal.line(terminal.style(f"{row['code']}  {content['verdict']}  {content['title']}", "bold"))
    states = [
        {"full": "blocks", "weak": "blocks weakly"}.get(kind, ""),
        "one approach tried" if weak_dead(content) else "",
        f"superseded by {', '.join(row['superseded_by'])}" if row["superseded_by"] else "",
        f"{row['flags']} open flags" if row["flags"] else "",
        "contested by an open proposal" if row["proposals"] else "",
        "archived" if row["archived"] else "",
    ]
    facts = {
        "lever": lever,
        "scope": describe(content["scope"]),
        "standing": "; ".join(filter(None, states)),
        "cause": cause_label(content["cause_class"]) if content["cause_class"] else "",
        "measured": " ".join(filter(None, [content["measured_on"], content["measured_note"]])),
        "cite": f"{row['code']}@{row['head_hash'][:12]} (revision {row['revision']})",
    }
    for name, value in facts.items():
        if value:
            terminal.fact(name, value)
    for number in content["numbers"]:
        versus = f" against {number['compared_with']}" if number["compared_with"] else ""
        unsure = "" if number["verified"] else " (no file backs it)"
        shown = format_number(number) if number["readable"] else number["text"]
        terminal.fact("number", f"{shown}{versus}{unsure}")
    for name, text in (("Mechanism", "mechanism"), ("Bound", "bound"), ("Not checked", "not_checked")):
        if content[text]:
            terminal.line(terminal.style(name, "bold"))
            terminal.wrapped(content[text])
    for name, texts in (("Tried", content["approaches"]), ("Sources", [s["text"] for s in content["sources"]])):
        if texts:
            terminal.line(terminal.style(name, "bold"))
            for text in texts:
                terminal.wrapped(text, "    ", "  - ")
