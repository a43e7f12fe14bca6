"""Importing an existing map: unknown codes come in as they stand, known ones with other content become proposals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.baseline import CHANGED, NEW, UNCHANGED, BaselineRow, ComparedRow, compare_rows
from evidence.models import CodeSeries, EvidenceRow, ImportedLine, Lever, Proposal
from evidence.policies import require_curator
from evidence.services.levers import create_lever
from evidence.services.revisions import checked_reason, code_was_taken, write_revision
from evidence.vocabulary import added_causes
from v2kb.core.activity import also_changed, record
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.models import User
from v2kb.core.service import service
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import read_content
from v2kb.rules.names import lever_slug
from v2kb.rules.words import counted

__all__ = ["BaselineReport", "BaselineRow", "import_baseline", "lock_for_import"]


@dataclass
class BaselineReport:
    """Codes by what happened to them. `kept` holds (code, why) of changed rows for which nothing could be proposed."""

    added: list[str] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    levers: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """One sentence with the counts."""
        parts = [
            f"{counted(len(self.added), 'row')} added",
            f"{counted(len(self.proposed), 'change')} proposed",
            f"{len(self.unchanged)} unchanged",
        ]
        if self.kept:
            parts.append(f"{len(self.kept)} left as they are")
        if self.levers:
            parts.append(f"{counted(len(self.levers), 'lever')} added")
        return ", ".join(parts)


@service("evidence.import_baseline", silent=True)
def import_baseline(actor: Actor, *, rows: Sequence[BaselineRow], source: str, log: str = "") -> BaselineReport:
    """Insert unknown codes as they stand, missing fields and all; propose a change where a known code has other
    content.

    A curator's right, or the system's for starter data; nothing is overwritten, and the system proposes nothing.
    `source` says where the map comes from and becomes the reason; under `log` it is remembered what each line said. A
    second import of the same map changes nothing and records nothing. Raises Forbidden core.role; Refusal
    evidence.import_rows (content that no row can hold, with one problem per field), evidence.duplicate_code,
    evidence.code.
    """
    require_curator(actor)
    source = checked_reason(source)
    codes = [row.code for row in rows]
    twice = sorted(code for code, count in Counter(codes).items() if count > 1)
    if twice:
        raise Refusal(
            "evidence.duplicate_code",
            f"{', '.join(twice)} stands twice.",
            field="code",
            fix="Keep one row of each code.",
        )
    lock_for_import(codes)
    compared = compare_rows(rows)
    _refuse_unfit(compared)
    report = BaselineReport()
    for found in compared:
        if found.new_lever:
            report.levers.append(_lever_of(actor, found))
        if found.missing:
            report.missing[found.row.code] = [problem.field for problem in found.missing]
        if found.state == NEW:
            _insert(actor, found, source)
            report.added.append(found.row.code)
        elif found.state == UNCHANGED:
            report.unchanged.append(found.row.code)
        elif why := _propose(actor, found, source):
            report.kept.append((found.row.code, why))
        else:
            report.proposed.append(found.row.code)
    if log:
        _remember(log, compared)
    return report


def _remember(log: str, compared: Sequence[ComparedRow]) -> None:
    """Keep what each line of a log or map said of its row; what is only proposed is not taken for known."""
    rows = {row.code: row for row in EvidenceRow.objects.filter(code__in=[found.row.code for found in compared])}
    keys = [found.row.key or found.row.code for found in compared]
    known = dict(ImportedLine.objects.filter(log=log, key__in=keys).values_list("key", "content"))
    lines, causes = [], added_causes()
    for key, found in zip(keys, compared, strict=True):
        before = known.get(key, {})
        plain = before.get("plain", {}) if found.state == CHANGED else _plain(found.row, causes)
        content = {"content": read_content(found.row.content, causes)[0], "plain": plain}
        if content != before:
            lines.append(ImportedLine(log=log, key=key, row=rows[found.row.code], content=content))
    ImportedLine.objects.bulk_create(
        lines, update_conflicts=True, unique_fields=["log", "key"], update_fields=["row", "content"]
    )
    also_changed(line.row for line in lines)  # rows are found by the words of their cells


def _plain(row: BaselineRow, causes: Mapping[str, str]) -> dict[str, Any]:
    """The fields as the source alone gives them, in their one spelling."""
    content = read_content(row.content | row.plain, causes)[0]
    return {name: content[name] for name in row.plain}


def lock_for_import(codes: Sequence[str]) -> None:
    """Lock the series and the rows of an import, always in this order, before anything is recorded."""
    list(CodeSeries.objects.select_for_update().order_by("pk"))
    list(EvidenceRow.objects.select_for_update().filter(code__in=codes).order_by("pk"))


def _refuse_unfit(compared: Sequence[ComparedRow]) -> None:
    problems = [
        {
            "code": "evidence.field",
            "message": f"{found.row.code}, line {found.row.line}: {problem.message}",
            "field": problem.field or None,
            "rule": None,
            "fix": problem.fix or None,
        }
        for found in compared
        for problem in found.refusals
    ]
    if problems:
        raise Refusal(
            "evidence.import_rows",
            problems[0]["message"],
            field=problems[0]["field"],
            fix=problems[0]["fix"],
            problems=problems,
        )


def _lever_of(actor: Actor, found: ComparedRow) -> str:
    """Add the lever that a row names and nobody has; a slug that another name took is made different."""
    slug = found.content["lever"]
    name = found.new_lever
    if Lever.objects.filter(name=name).exists():
        name = f"{name} ({found.row.code})"
    return create_lever(actor, name=name[:200], slug=slug or lever_slug(name)).slug


def _insert(actor: Actor, found: ComparedRow, source: str) -> None:
    code = found.row.code
    code_was_taken(code)
    row = EvidenceRow.objects.create(code=code)
    author_id = actor.user.pk if actor.user else None
    revision = write_revision(actor, row, found.content, author_id=author_id, reason=source)
    missing = sorted({problem.field for problem in found.missing})
    record(
        actor,
        "evidence.import_row",
        row,
        f"{code} imported as {revision.verdict}" + (f"; missing: {', '.join(missing)}" if missing else ""),
        after={"head": revision.content_hash, "verdict": revision.verdict, "missing": missing, "source": source},
    )


def already_proposed(author: User, compared: Sequence[ComparedRow]) -> dict[str, str]:
    """Code -> why nothing is proposed of a changed row of which the author has an open proposal; one query."""
    changed = {found.row.code: found for found in compared if found.state == CHANGED}
    own = Proposal.objects.filter(author=author, state=Proposal.State.OPEN, origin=Proposal.Origin.PERSON)
    said = {}
    for mine in own.filter(row__code__in=changed).select_related("row").order_by("pk"):
        same = content_hash(mine.content) == content_hash(changed[mine.row.code].content)
        said[mine.row.code] = f"your {mine} says this already" if same else f"your {mine} is open; decide that first"
    return said


def _propose(actor: Actor, found: ComparedRow, source: str) -> str:
    """Open a proposal for a changed row. Returns why not, or an empty text."""
    row = EvidenceRow.objects.select_related("head").get(code=found.row.code)
    if row.archived_at:
        return "the row is archived"
    if actor.user is None:
        return "only a person can propose"
    if why := already_proposed(actor.user, [found]).get(row.code):
        return why
    proposal = Proposal.objects.create(
        row=row, base=row.head, content=found.content, reason=source, author=actor.user, kind=Proposal.Kind.IMPORT
    )
    record(
        actor,
        "evidence.propose_change",
        proposal,
        f"change of {row.code} proposed by an import",
        after={"row": row.code, "base": row.head.content_hash, "content": content_hash(found.content)},
    )
    return ""
