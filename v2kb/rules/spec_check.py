"""A spec in a file against the spec rules: what was read, findings with their lines, and how they are said.

Web, REST, `manage.py check_spec` and `v2kb check` share this; they differ in where contracts, evidence rows and other
specs come from (`beside` names them, `report_beside` hands them to the rules).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from v2kb.rules.antiloop_facts import items, mapping, text
from v2kb.rules.ceilings import ceilings_of
from v2kb.rules.rule_registry import DOCUMENT_RULE, ERROR, MISSING_INPUT, OPEN, VIOLATION, WARNING, Finding
from v2kb.rules.spec_markdown.draft import LEFT, TEXT, Reading
from v2kb.rules.spec_markdown.files import read_file
from v2kb.rules.spec_rules import SpecReport, findings_as_document, spec_report
from v2kb.rules.spec_words import THIS_SPEC
from v2kb.rules.waivers import Waiver
from v2kb.rules.words import counted

CHOOSE_OP = "Choose its op in the section Overview; add the op first where it isn't there."
CLEAR, WARNINGS, ERRORS, UNREADABLE = 0, 1, 2, 3
_WORDS = {"E": "error", "W": "warning", "I": "info"}
Report = Callable[[dict[str, Any]], SpecReport]


@dataclass(frozen=True, slots=True)
class Beside:
    """What a document names outside itself: slugs of ops, codes of the specs in its queue, codes of evidence rows."""

    ops: frozenset[str]
    specs: frozenset[str]
    rows: frozenset[str]


def beside(document: Mapping[str, Any]) -> Beside:
    """What the rules need beside a document, canonical or as typed."""
    choices = [mapping(choice) for choice in items(document.get("choices"))]
    cited = {text(mapping(one).get("code")) for choice in choices for one in items(choice.get("citations"))}
    probed = {text(mapping(choice.get("prediction")).get("row")) for choice in choices}
    return Beside(
        frozenset(text(mapping(op).get("op")) for op in items(document.get("ops"))) - {""},
        frozenset(map(text, items(mapping(document.get("smem")).get("queue")))) - {"", THIS_SPEC},
        frozenset(cited | probed) - {""},
    )


def parts_without_op(document: Mapping[str, Any], known: Collection[str]) -> tuple[Finding, ...]:
    """What keeps a document, canonical or as typed, from review: a part of it that names no op, or none of `known`
    (slugs). A part that only waits for its op is a missing input, with which a draft can become a revision.
    """
    found = []
    for index, part in enumerate(map(mapping, items(document.get("ops")))):
        slug, name = text(part.get("op")), text(part.get("name"))
        if slug in known:
            continue
        kind, fix = VIOLATION, CHOOSE_OP
        if slug:
            said = f"There is no op {slug}."
        elif name:
            said, kind = f"{name} names no op, so no contract says what it computes.", MISSING_INPUT
        else:
            said, fix = f"Row {index + 1} of the ops names no op.", "Choose its op, or remove the row."
        found.append(Finding(DOCUMENT_RULE, ERROR, f"ops[{index}].op", said, fix, kind, source="the document's form"))
    return tuple(found)


def report_beside(
    document: dict[str, Any],
    *,
    ops: Mapping[str, Mapping[str, Any]],
    specs: Mapping[str, Mapping[str, Any]],
    rows: Mapping[str, Mapping[str, Any]],
    waivers: Iterable[Waiver] = (),
    known_ops: Collection[str] | None = None,
) -> SpecReport:
    """What the rules say of a document with the contracts of its ops, the specs of its queue, and the heads of the
    evidence rows that it names (content by slug or code).

    `known_ops` are the slugs that a part of a spec may name; a file (None) gets its ops when a spec begins with it.
    """
    report = spec_report(
        document,
        neighbours=specs,
        ops=ops,
        ceilings={code: ceilings_of(code, content) for code, content in rows.items()},
        verdicts={code: content["verdict"] for code, content in rows.items()},
        waivers=waivers,
    )
    if known_ops is None:
        return report
    return replace(report, findings=(*parts_without_op(document, known_ops), *report.findings))


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

    def why_unreadable(self, file: str) -> str:
        """The line that says why nothing could be read."""
        return f"{file}:{self.reading.placements[0].first}: {self.reading.unreadable}"

    def placement_lines(self, file: str) -> list[str]:
        """What became of each part of the file."""
        return [
            f"{file}:{p.first}-{p.last}: {p.state} {', '.join(p.where)} {p.why}".rstrip()
            for p in self.reading.placements
        ]

    def totals_line(self, file: str) -> str:
        """What the design takes: bytes, pages, regions, semaphores, tasks; a question mark for what has no value."""
        units = {
            "smem_bytes": "byte",
            "smem_pages": "page",
            "regions": "region",
            "semaphores": "semaphore",
            "tasks": "task",
        }
        said = {
            name: f"? {unit}s" if (value := self.summary[name]) is None else counted(value, unit)
            for name, unit in units.items()
        }
        return f"{file}: {said.pop('smem_bytes')} in {', '.join(said.values())}."

    def sentence(self) -> str:
        """Counts, for the last line."""
        left = sum(p.state in (TEXT, LEFT) for p in self.reading.placements)
        total = self.summary
        return (
            f"{total['errors']} errors, {total['missing_inputs']} missing inputs, {total['warnings']} warnings; "
            f"{left} parts of the file have no field."
        )


def finding_word(finding: Mapping[str, Any]) -> str:
    """How a finding is called: error, warning, info or missing input."""
    return "missing input" if finding["kind"] == MISSING_INPUT else _WORDS[finding["severity"]]


def finding_line(file: str, finding: Mapping[str, Any]) -> str:
    """`spec.md:163: R12 error: message fix [path]`."""
    said = f"{file}:{finding['line']}: {finding['rule']} {finding_word(finding)}: {finding['message']}"
    return f"{said} {finding['fix']} [{finding['path']}]"


def check_file(text: str, report: Report = spec_report) -> FileCheck:
    """Read a spec from the text of a markdown or JSON file and run the rules over it. Nothing is stored."""
    reading = read_file(text)
    if reading.unreadable:
        return FileCheck(reading, {}, [])
    found = report(reading.document)
    shape = [
        {
            "rule": "DOC", "severity": ERROR, "path": problem.field, "message": problem.message, "fix": problem.fix,
            "kind": VIOLATION, "version": 1, "source": "the document's form", "facts": {}, "also": [], "state": OPEN,
        }
        for problem in reading.problems
    ]  # fmt: skip
    said = [*shape, *findings_as_document(found.findings)]
    return FileCheck(reading, found.summary, [{**one, "line": reading.line_of(one["path"])} for one in said])
