"""What a page of the editor shows: its fields with the findings beside them, the panel, the list of sections."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.text import Truncator

from evidence.models import Lever
from kernels.calculators.links import calculator_link
from kernels.editor.amending import follow_rows
from kernels.editor.cells import Cells, choice_parts, posted_form, section_parts
from kernels.editor.citations import citation_target
from kernels.editor.forms import complete, read_choice, read_section
from kernels.editor.fresh import Filled, without_fresh_rows
from kernels.editor.layout import BY_SLUG, GROUPS, anchor_of, audit_to_begin_with
from kernels.editor.places import field_label, field_url, form_path, label_of, row_of_path, section_of_path
from kernels.editor.rows import MAX_ROWS, Action
from kernels.models import Anchor, Op, Spec
from kernels.selectors.checks import checks_document, contracts_of, report_of
from kernels.selectors.gate import gate_preview
from kernels.selectors.pictures import DRAWN, pictures_of
from kernels.services.specs import pin_citations
from v2kb.core.values import whole_number
from v2kb.rules.amendments import Setting
from v2kb.rules.formulas import Rename, renamed_symbols
from v2kb.rules.rule_registry import MISSING_INPUT, WAIVED
from v2kb.rules.spec_view import SpecView
from v2kb.rules.spec_words import ROLES

FINISH = "finish"
# The gate reads choices, ops and anchors: on other pages its answer can't change while one types.
GATED = ("overview", "choices", "anchors", FINISH)
# A long value of an amendment stands whole at the amendment; beside the field its beginning is enough.
SAID_CHARACTERS = 120
SEVERITIES = (
    ("error", "Errors"),
    ("missing", "Missing"),
    ("warning", "Warnings"),
    ("info", "Notes"),
    ("amended", "Amended"),
    ("waived", "Waived"),
)
QUIET = ("info", "amended", "waived")
_OF = {"E": "error", "W": "warning", "I": "info"}


@dataclass(frozen=True)
class Page:
    """One page of the editor: a section, or one choice of the section of choices, or the last page."""

    slug: str
    choice_id: str = ""

    def index(self, document: Mapping[str, Any]) -> int | None:
        """Which choice of the document the page is about; None where it has no such choice."""
        for number, choice in enumerate(document["choices"]):
            if isinstance(choice, dict) and choice.get("id") == self.choice_id:
                return number
        return None

    def read(self, data: QueryDict, content: Mapping[str, Any], action: str = "save") -> dict[str, Any]:
        """The draft with what was posted for this page, after the action of the pressed button."""
        before = complete(content)
        if not self.choice_id:
            document = read_section(BY_SLUG[self.slug], data, content, action)
        else:
            document, index = complete(content), self.index(before)
            if index is not None:
                document["choices"][index] = read_choice(data, document["choices"][index], action)
        pressed = Action.read(action)
        posted = data.get(f"{pressed.path}.total")
        count = len(before["choices"]) if pressed.path == "choices" else whole_number(posted or "")
        follow_rows(document, f"{self.cells(before).prefix}{pressed.path}", pressed, min(count, MAX_ROWS))
        return document

    def parts(self, document: Mapping[str, Any], cells: Cells) -> dict[str, Any]:
        """The fields and tables of the page by name."""
        if self.choice_id:
            return choice_parts(cells, document["choices"][self.index(document)])
        if self.slug not in BY_SLUG:
            return {}
        if self.slug == "audit" and not document["self_audit"]:
            document = {**document, "self_audit": audit_to_begin_with()}
        return {"parts": section_parts(cells, BY_SLUG[self.slug], document)}

    def cells(self, document: Mapping[str, Any]) -> Cells:
        return Cells(f"choices[{self.index(document)}]." if self.choice_id else "")

    def form_of(self, content: Mapping[str, Any]) -> str:
        """What the page's form would post for a draft if nothing were changed."""
        document = complete(content)
        if self.choice_id and self.index(document) is None:
            return ""
        parts = self.parts(document, self.cells(document))
        return posted_form(list(parts["parts"] if "parts" in parts else parts.values()))

    @property
    def is_drawn(self) -> bool:
        """True where the page has a picture below its fields."""
        return not self.choice_id and self.slug in DRAWN

    @property
    def gated(self) -> bool:
        """True where typing may change what the gate says."""
        return bool(self.choice_id) or self.slug in GATED


def judged(spec: Spec, page: Page, document: dict[str, Any], *, gate: bool) -> dict[str, Any]:
    """What the rules, and with `gate` the gate too, say of a draft: for the panel, the sections and the pictures."""
    filled = Filled(document) if page.slug == FINISH else without_fresh_rows(document)
    pinned = pin_citations(filled.document)
    report = report_of(pinned, spec)
    checks = checks_document(report)
    place = _Placing(spec, page, document, filled)
    findings = [place.finding(finding) for finding in checks["findings"]]
    findings += [place.amended(path, setting) for path, setting in report.amended.items()]
    context: dict[str, Any] = {
        "checks": checks["summary"],
        "findings": findings,
        "severities": [
            {
                "slug": slug,
                "title": title,
                "count": len(found),
                "folded": slug in QUIET,
                "rows": _by_row(found) if slug == "missing" else [{"title": "", "findings": found}],
            }
            for slug, title in SEVERITIES
            if (found := [finding for finding in findings if finding["level"] == slug])
        ],
        "fresh_rows": filled.left_out,
    }
    if page.slug == "overview":
        context["renames"] = _renames(spec, pinned)
    if page.is_drawn:
        context["picture"] = pictures_of(pinned, (page.slug,)).get(page.slug)
    blocked: list[str] = []
    if gate:
        result = gate_preview(spec, pinned)
        blocked = [filled.place(line.field) for line in result.blocking_lines]
        urls = (field_url(spec.code, path, document) for path in blocked)
        lines = [{"line": line, "url": url} for line, url in zip(result.blocking_lines, urls, strict=True)]
        context |= {"gate": result, "gate_lines": lines}
    return context | {"groups": _groups(spec, page, findings, blocked)}


def _renames(spec: Spec, document: dict[str, Any]) -> list[Rename]:
    """Symbols of a draft that were renamed while formulas use their old names."""
    view = SpecView(document)
    before = spec.head.content["symbols"] if spec.head else {}
    found = renamed_symbols(view.written, before, view.symbols.constants)
    axes = {name for contract in contracts_of(document).values() for name in contract["axes"]} if found else ()
    return [rename for rename in found if rename.old not in axes]


@dataclass(frozen=True)
class _Placing:
    """Puts what is said of a draft at its place in the form; `filled` is the draft that the rules saw."""

    spec: Spec
    page: Page
    document: dict[str, Any]
    filled: Filled

    def finding(self, finding: Mapping[str, Any]) -> dict[str, Any]:
        """A finding with its level and its place."""
        level = "missing" if finding["kind"] == MISSING_INPUT else _OF[finding["severity"]]
        return {**finding, "level": "waived" if finding["state"] == WAIVED else level, **self._at(finding["path"])}

    def amended(self, path: str, setting: Setting) -> dict[str, Any]:
        """What an amendment sets a field to, at that field, with the way to the amendment."""
        said = f"sets this to {Truncator(setting.value).chars(SAID_CHARACTERS)}" if setting.value else "empties this"
        link = field_url(self.spec.code, self.filled.place(setting.path), self.document)
        return {
            "rule": "",
            "level": "amended",
            "label": label_of(path),
            "message": f"{setting.by} {said}, which the rules read.",
            "link": link,
            **self._at(path),
        }

    def _at(self, path: str) -> dict[str, Any]:
        path = self.filled.place(path)
        place = form_path(path, self.document)
        here = place.removeprefix(self.page.cells(self.document).prefix)
        url = field_url(self.spec.code, path, self.document)
        return {"path": path, "place": place, "url": url, "anchor": anchor_of(here)}


def _by_row(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The findings with those of one row together, under the row's name where it has several."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        row = row_of_path(finding["path"])
        rows.setdefault(row or finding["path"], []).append(finding)
    return [
        {
            "title": label_of(row) if len(found) > 1 else "",
            "anchor": anchor_of(row),
            "findings": [{**finding, "label": field_label(finding["path"])} for finding in found],
        }
        for row, found in rows.items()
    ]


def _groups(
    spec: Spec, page: Page, findings: Sequence[Mapping[str, Any]], blocked: Sequence[str]
) -> list[dict[str, Any]]:
    """The sections in their groups, each with how many findings it has, whether any blocks, and how many of the
    fields at which the gate is `blocked`.
    """
    by_gate = Counter(section_of_path(path) for path in blocked)
    by_section: dict[str, list[str]] = {}
    for finding in findings:
        if finding["level"] not in QUIET:
            by_section.setdefault(section_of_path(finding["path"]), []).append(finding["level"])
    return [
        {
            "title": title,
            "sections": [
                {
                    "title": section.title,
                    "url": reverse("kernels:spec_edit", args=[spec.code, section.slug]),
                    "here": page.slug == section.slug,
                    "count": len(by_section.get(section.slug, ())),
                    "gate": by_gate[section.slug],
                    "blocks": any(level != "warning" for level in by_section.get(section.slug, ())),
                }
                for section in sections
            ],
        }
        for title, sections in GROUPS
    ]


def fields_of(page: Page, document: dict[str, Any], findings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The fields and tables of a page, each with what the rules say there, and the words that they suggest."""
    cells = page.cells(document)
    parts = page.parts(document, cells)
    cells.say(findings)
    context: dict[str, Any] = {**parts, "section": BY_SLUG.get(page.slug), "roles": ROLES}
    context["calculator"] = calculator_link(page.slug, document)
    if page.choice_id:
        context["choice"] = document["choices"][page.index(document)]
        context["levers"] = Lever.objects.filter(archived_at__isnull=True).values_list("slug", "name")
    elif page.slug == "choices":
        context["choice_rows"] = [
            {"choice": choice, "targets": [citation_target(c) for c in choice.get("citations") or []]}
            for choice in document["choices"]
            if isinstance(choice, dict) and choice.get("id")
        ]
    elif page.slug == "overview":
        context["op_slugs"] = Op.objects.filter(archived_at__isnull=True).values_list("slug", flat=True)
    if page.choice_id or page.slug == "anchors":
        own = [str(row.get("name")) for row in document["anchors"] if isinstance(row, dict) and row.get("name")]
        context["anchor_names"] = dict.fromkeys([*own, *Anchor.objects.values_list("name", flat=True)])
    if page.choice_id:
        contracts = contracts_of(document).values()
        context["case_names"] = dict.fromkeys(case["name"] for one in contracts for case in one["workloads"])
    return context
