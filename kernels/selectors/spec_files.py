"""Specs as files: what a file says and what the rules say of it by line, templates to begin from, and exports."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernels.selectors.checks import checks_document, report_of
from v2kb.rules.rule_registry import ERROR, WARNING
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.draft import Reading
from v2kb.rules.spec_markdown.files import read_file
from v2kb.rules.spec_rules import SpecReport

CLEAR, WARNINGS, ERRORS, UNREADABLE = 0, 1, 2, 3
TEMPLATES = Path(__file__).resolve().parents[2] / "v2kb" / "starter" / "templates"


@dataclass(frozen=True, slots=True)
class Template:
    """A spec to begin from: one per upstream family, and some for a kind of op."""

    name: str
    family: str
    title: str
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A file as it was read, and what the rules say of it. `findings` name their lines."""

    reading: Reading
    summary: dict[str, Any]
    findings: list[dict[str, Any]]

    @property
    def exit_code(self) -> int:
        """0 clear, 1 warnings, 2 what blocks (errors, and inputs that their rules lack), 3 nothing could be read."""
        if self.reading.unreadable:
            return UNREADABLE
        if any(f["severity"] == ERROR for f in self.findings):
            return ERRORS
        return WARNINGS if any(f["severity"] == WARNING for f in self.findings) else CLEAR

    def as_document(self) -> dict[str, Any]:
        """Return the check as plain values."""
        return {
            "exit_code": self.exit_code,
            "unreadable": self.reading.unreadable,
            "summary": self.summary,
            "findings": self.findings,
            "placements": [placement.as_document() for placement in self.reading.placements],
            "about": self.reading.about,
            "document": self.reading.document,
        }


def check_file(text: str, report: Any = report_of) -> FileCheck:
    """Read a spec from the text of a markdown or JSON file and run the rules over it. Nothing is stored."""
    reading = read_file(text)
    if reading.unreadable:
        return FileCheck(reading, {}, [])
    found: SpecReport = report(reading.document)
    checks = checks_document(found)
    shape = [
        {
            "rule": "DOC", "severity": ERROR, "path": problem.field, "message": problem.message, "fix": problem.fix,
            "kind": "violation", "version": 1, "source": "the document's form", "facts": {}, "also": [],
            "state": "open",
        }
        for problem in reading.problems
    ]  # fmt: skip
    findings = [{**finding, "line": reading.line_of(finding["path"])} for finding in [*shape, *checks["findings"]]]
    return FileCheck(reading, checks["summary"], findings)


@cache
def templates() -> dict[str, Template]:
    """Templates by name, in the order of their families."""
    found = []
    for path in sorted(TEMPLATES.glob("*.json")):
        document, _ = normalise(json.loads(path.read_text(encoding="utf-8")))
        found.append(Template(path.stem, document["engine"]["family"], document["title"], document))
    return {template.name: template for template in sorted(found, key=lambda t: (t.family, t.name))}


def spec_json(content: dict[str, Any]) -> str:
    """The JSON of a spec's content, as one would keep it in a repository."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
