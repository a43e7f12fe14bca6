"""A spec rule or a rule of the gate, as this installation judges by it."""

import argparse
from typing import Any

from v2kb.cli.exits import CLEAR, CliError
from v2kb.cli.terminal import Terminal
from v2kb.rules.antiloop_rules import GATE_RULES, GateRule
from v2kb.rules.rule_list import GATE_SOURCE, rule_documents

EXAMPLE = "v2kb rule R12"
_SEVERITIES = {"E": "error: it blocks", "W": "warning", "I": "information"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", default="", help="R12, AL4; without one, the list")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    rules = {rule["id"]: rule for rule in [*rule_documents(), *map(_gate_rule, GATE_RULES)]}
    wanted = read.id.upper().strip()
    if wanted and wanted not in rules:
        raise CliError(f"There is no rule {read.id}.", "`v2kb rule` lists them.")
    if terminal.json:
        terminal.document(rules[wanted] if wanted else list(rules.values()))
        return CLEAR
    if not wanted:
        for rule in rules.values():
            terminal.line(f"{rule['id']:<5} {rule['severity']}  {rule['title']}")
        return CLEAR
    rule = rules[wanted]
    terminal.line(terminal.style(f"{rule['id']}  {rule['title']}", "bold"))
    for name, value in (
        ("severity", _SEVERITIES[rule["severity"]]),
        ("version", str(rule["version"])),
        ("rule", rule["formula"]),
        ("reads", ", ".join(rule["inputs"])),
        ("source", rule["source"]),
        ("judged by", ", ".join(rule["gate"])),
        ("note", rule["note"]),
    ):
        if value:
            terminal.fact(name, value)
    return CLEAR


def _gate_rule(rule: GateRule) -> dict[str, Any]:
    """A rule of the gate in the form of a spec rule."""
    return {"id": rule.id, "version": int(rule.version), "severity": "E", "title": rule.text, "source": GATE_SOURCE,
            "formula": "", "inputs": ["choices[]"], "gate": [], "note": ""}  # fmt: skip
