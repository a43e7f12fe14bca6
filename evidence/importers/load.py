"""Importing an evidence map: the document goes to the references, its rows, rules, steps and gaps to where they
belong.
"""

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evidence.baseline import CHANGED, NEW, UNCHANGED, ComparedRow, compare_rows
from evidence.importers.evidence_map import EvidenceMap, read_map
from evidence.importers.map_tables import MapProblem
from evidence.importers.typing_file import TypedLever, Typing, TypingRefused, read_typing
from evidence.models import LeverAlias
from evidence.policies import require_curator
from evidence.services.baseline import BaselineReport, import_baseline, lock_for_import
from evidence.services.levers import add_alias, create_lever
from evidence.vocabulary import unit_spellings
from references.importers.archive import Files
from references.importers.documents import REFUSED, import_documents, previous_anchors, slug_of_paths
from references.importers.markdown import DocumentRefused, decode_document, parse_markdown
from references.models import Document, Guideline, Section
from references.services.guidelines import set_guidelines
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.uploads import file_name
from v2kb.rules.names import lever_key
from v2kb.rules.sizes import too_much_text
from v2kb.rules.words import counted

MAX_MAP_BYTES = 1024 * 1024


@dataclass(frozen=True)
class GuidelineLine:
    """One measurement rule, contract step or known gap and what the import does with it."""

    kind: str
    label: str
    number: int
    line: int
    title: str
    state: str


@dataclass
class MapPlan:
    """What an import does, line by line; `report` is set once it was done."""

    name: str
    text: str
    slug: str
    map: EvidenceMap
    rows: list[ComparedRow]
    guidelines: list[GuidelineLine]
    typing: Typing
    report: BaselineReport | None = None
    problems: list[MapProblem] = field(default_factory=list)

    @property
    def fit(self) -> list[ComparedRow]:
        """Rows that can be taken over."""
        return [row for row in self.rows if not row.refusals]

    @property
    def counts(self) -> dict[str, int]:
        """State -> number of rows, and `unreadable` for lines that can't be taken over."""
        counts = {state: sum(row.state == state for row in self.fit) for state in (NEW, CHANGED, UNCHANGED)}
        return counts | {"unreadable": len(self.problems)}

    @property
    def verdict_counts(self) -> dict[str, int]:
        """Verdict -> number of rows that can be taken over."""
        return {
            verdict: sum(row.content["verdict"] == verdict for row in self.fit)
            for verdict in ("DEAD", "WIN", "UNTESTED")
        }

    @property
    def has_changes(self) -> bool:
        return any(row.state != UNCHANGED for row in self.fit) or any(
            line.state != UNCHANGED for line in self.guidelines
        )


def plan_map(*, name: str, data: bytes, typing: bytes | None = None) -> MapPlan:
    """Read an evidence map and compare it with what is stored; writes nothing.

    Raises Refusal evidence.import.not_utf8 (line and column), document.*, evidence.import.typing_*.
    """
    name = file_name(name, "evidence-map.md")
    text = _text(name, data)
    typed = checked_typing(typing)
    slug = slug_of_paths([name])[name]
    head = list(Section.objects.filter(revision__head_of__slug=slug).defer("text", "blocks").order_by("order"))
    found = read_map(
        parse_markdown(text, slug, previous_anchors(head)), slug=slug, typing=typed, units=unit_spellings()
    )
    rows = compare_rows(found.rows, typed.lever_keys())
    return MapPlan(
        name=name,
        text=text,
        slug=slug,
        map=found,
        rows=rows,
        guidelines=_guideline_lines(slug, found),
        typing=typed,
        problems=sorted([*found.problems, *_unfit(rows)], key=lambda problem: problem.line),
    )


def load_map(
    actor: Actor,
    *,
    name: str,
    data: bytes,
    typing: bytes | None = None,
    source: str = "",
    skip_unreadable: bool = False,
) -> MapPlan:
    """Import an evidence map in one transaction: the document, levers of the typing file, rows, guidelines.

    Lines that can't be read refuse the whole import, unless `skip_unreadable` leaves them out. Raises what `plan_map`
    raises; Forbidden core.role; Refusal evidence.import_unreadable with one problem per line; what `import_baseline`
    raises.
    """
    require_curator(actor)
    with transaction.atomic():
        plan = plan_map(name=name, data=data, typing=typing)
        if plan.problems and (not skip_unreadable or not plan.fit):
            raise _unreadable(plan.problems)
        plan.report = _store(actor, plan, source)
    return plan


def try_map(
    actor: Actor, *, name: str, data: bytes, typing: bytes | None = None, source: str = ""
) -> tuple[MapPlan, Refusal | None]:
    """A dry run: the plan, and what would refuse the import of its readable lines. Nothing stays written.

    Raises Forbidden core.role, and what `plan_map` raises.
    """
    require_curator(actor)
    plan, refusal = plan_map(name=name, data=data, typing=typing), None
    if plan.fit:
        try:
            with transaction.atomic():
                _store(actor, plan, source)
                transaction.set_rollback(True)
        except Refusal as error:
            refusal = error
    return plan, refusal


def _store(actor: Actor, plan: MapPlan, source: str) -> BaselineReport:
    lock_for_import([row.row.code for row in plan.fit])
    documents = import_documents(actor, files=Files(texts=[(plan.name, plan.text)]), source=source)
    line = documents.lines[0]
    if line.state == REFUSED:
        raise Refusal(line.code, line.message, field="file", fix=line.fix)
    _add_levers(actor, plan.typing)
    reason = f"Import of {plan.name}" + (f" ({source})" if source else "")
    report = import_baseline(actor, rows=[row.row for row in plan.fit], source=reason, log=log_of_map(plan.slug))
    document = Document.objects.get(slug=plan.slug)
    for kind, items in plan.map.guidelines.items():
        set_guidelines(actor, document, kind, [_item(item) for item in items])
    return report


def log_of_map(slug: str) -> str:
    """The name under which the lines of a map are remembered."""
    return f"map:{slug}"


def _text(name: str, data: bytes) -> str:
    if len(data) > MAX_MAP_BYTES:
        raise Refusal(
            "evidence.import.too_large",
            too_much_text(name, len(data), "a map", MAX_MAP_BYTES),
            field="file",
            fix="Leave out what is not part of the map.",
        )
    try:
        return decode_document(name, data)
    except DocumentRefused as error:
        if isinstance(error.__cause__, UnicodeDecodeError):
            start = error.__cause__.start
            line, column = data[:start].count(b"\n") + 1, start - (data.rfind(b"\n", 0, start) + 1) + 1
            raise Refusal(
                "evidence.import.not_utf8",
                f"{name} is not UTF-8: line {line}, column {column} can't be read.",
                field="file",
                fix="Save the file as UTF-8 and send it again.",
                facts={"line": line, "column": column},
            ) from error
        raise Refusal(error.code, error.message, field="file", fix=error.fix) from error


def checked_typing(data: bytes | None) -> Typing:
    """The typing file of a map; an empty one without data. Raises Refusal evidence.import.typing_*."""
    if not data:
        return Typing()
    try:
        return read_typing(data)
    except TypingRefused as error:
        raise Refusal(error.code, error.message, field="typing", fix=error.fix) from error


def _unfit(rows: list[ComparedRow]) -> list[MapProblem]:
    return [
        MapProblem(row.row.line, problem.field, "evidence.field", f"{row.row.code}: {problem.message}", problem.fix)
        for row in rows
        for problem in row.refusals
    ]


def _unreadable(problems: list[MapProblem]) -> Refusal:
    first = problems[0]
    return Refusal(
        "evidence.import_unreadable",
        f"{counted(len(problems), 'line')} can't be read, the first in {first.place}: {first.message}",
        field="file",
        fix=first.fix,
        problems=[
            {
                "code": problem.code,
                "message": f"{problem.place.capitalize()}: {problem.message}",
                "field": "file",
                "rule": None,
                "fix": problem.fix,
            }
            for problem in problems
        ],
    )


def _add_levers(actor: Actor, typing: Typing) -> None:
    """Add the levers of a typing file that are not there yet, and to those that are the aliases they lack.

    Raises what the services of levers raise, with the place in the file.
    """
    owners = dict(LeverAlias.objects.values_list("normalised", "lever__slug"))
    slugs = set(owners.values())
    for lever in typing.levers.values():
        try:
            _add_lever(actor, lever, owners, is_new=lever.slug not in slugs)
        except Refusal as error:
            error.message = f"In the typing file, lever {lever.slug[:80]}, {error.field}: {error.message}"
            error.field = "typing"
            raise


def _add_lever(actor: Actor, lever: TypedLever, owners: dict[str, str], *, is_new: bool) -> None:
    if is_new:
        names = [name for name in lever.aliases if owners.get(lever_key(name), lever.slug) == lever.slug]
        create_lever(
            actor, name=lever.name, slug=lever.slug, description=lever.description, parent=lever.parent, aliases=names
        )
        owners |= dict.fromkeys(map(lever_key, (lever.name, lever.slug, *names)), lever.slug)
        return
    for name in lever.aliases:
        if lever_key(name) and lever_key(name) not in owners:
            add_alias(actor, lever.slug, name)
            owners[lever_key(name)] = lever.slug


def _item(item: dict[str, Any]) -> dict[str, str]:
    return {"title": item["title"], "text": item["text"], "anchor": item["anchor"]}


def _guideline_lines(slug: str, found: EvidenceMap) -> list[GuidelineLine]:
    stored = {
        (guideline.kind, guideline.number): (guideline.title, guideline.text, guideline.anchor)
        for guideline in Guideline.objects.filter(document__slug=slug)
    }
    lines = []
    for kind, items in found.guidelines.items():
        for number, item in enumerate(items, start=1):
            known = stored.get((kind, number))
            state = (
                NEW
                if known is None
                else UNCHANGED
                if known == (item["title"], item["text"], item["anchor"])
                else CHANGED
            )
            label = Guideline.Kind(kind).label
            lines.append(GuidelineLine(kind, label, number, item["line"], item["title"], state))
    return lines
