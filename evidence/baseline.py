"""Comparing the rows of an imported map with what is stored: new, changed, unchanged."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.models import EvidenceRevision, EvidenceRow, ImportedLine, LeverAlias
from evidence.vocabulary import added_causes
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import check_revision, read_content
from v2kb.rules.evidence_change import FieldChange, diff
from v2kb.rules.names import lever_key, lever_slug
from v2kb.rules.number_reading import two_ways
from v2kb.rules.problem import Problem

NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"
# What the columns of a map can't say. Where a row exists and no typing says otherwise, its head speaks.
UNSAID = ("lever", "scope", "cause_class", "approaches", "not_checked", "structural")


@dataclass(frozen=True)
class BaselineRow:
    """One row of a map. `lever_name` names the lever that is added where `content["lever"]` is not known yet.

    `said` lists the fields of `UNSAID` that a typing file gave. `reread` gives, for the content of a row, what the
    source could say of it: writing it there and reading it again. `key` names the line in its source where that is not
    the code. `plain` holds the fields as the source alone gives them, without a typing file.
    """

    code: str
    line: int
    content: dict[str, Any]
    lever_name: str = ""
    said: frozenset[str] = frozenset()
    reread: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    key: str = ""
    plain: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparedRow:
    """What an import would do to one row. `missing` is what its verdict still lacks; `refusals` must be empty to
    import.
    """

    row: BaselineRow
    state: str
    content: dict[str, Any]
    missing: tuple[Problem, ...] = ()
    refusals: tuple[Problem, ...] = ()
    changes: tuple[FieldChange, ...] = ()
    new_lever: str = ""
    note: str = ""

    @property
    def unreadable_numbers(self) -> list[str]:
        """Texts that look like numbers and could not be read, with the readings of one that has two."""
        return [
            f"{number['text']}{two_ways(number['text'])}"
            for number in self.content["numbers"]
            if not number["readable"]
        ]


@dataclass
class _Levers:
    """Names that stand for a lever: those stored, and those that earlier rows of the same map will add."""

    by_key: dict[str, str] = field(default_factory=dict)
    causes: dict[str, str] = field(default_factory=added_causes)

    def kept(self, slug: str, head: str) -> str:
        """The name that a row keeps: a lever that was merged into the one meant here (`slug`) is that one."""
        return head if self.by_key.get(lever_key(head)) == slug else slug

    def resolve(self, row: BaselineRow) -> tuple[str, str]:
        """(slug, name of the lever to add or "")."""
        slug = str(row.content.get("lever", ""))
        for name in (slug, row.lever_name):
            if known := self.by_key.get(lever_key(name)):
                return known, ""
        slug = lever_slug(slug)
        for name in (slug, row.lever_name):
            if lever_key(name):
                self.by_key[lever_key(name)] = slug
        return slug, row.lever_name or slug


def compare_rows(rows: Sequence[BaselineRow], planned_levers: dict[str, str] | None = None) -> list[ComparedRow]:
    """Compare every row with the stored one of its code, in a fixed number of queries. `planned_levers`: key -> slug of
    levers that a typing file will add first.

    A field that says what an earlier revision said, or what the source could say of the head, is no change: only what
    is new in the source is taken over.
    """
    levers = _Levers(dict(planned_levers or {}))
    levers.by_key |= dict(LeverAlias.objects.values_list("normalised", "lever__slug"))
    stored = {
        row.code: row
        for row in EvidenceRow.objects.filter(code__in=[row.code for row in rows]).select_related("head__lever")
    }
    revisions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for code, content in EvidenceRevision.objects.filter(row__in=stored.values()).values_list("row__code", "content"):
        revisions[code].append(content)
    for code, said in ImportedLine.objects.filter(row__in=stored.values()).values_list("row__code", "content"):
        revisions[code].append(said.get("plain", {}))
    return [_compare(row, stored.get(row.code), levers, revisions[row.code]) for row in rows]


def _compare(
    row: BaselineRow, stored: EvidenceRow | None, levers: _Levers, revisions: list[dict[str, Any]]
) -> ComparedRow:
    raw = dict(row.content)
    head = stored.head if stored else None
    if head is not None:
        raw |= {name: head.content[name] for name in UNSAID if name not in row.said}
        new_lever = ""
        if "lever" in row.said and row.content["lever"] != head.content["lever"]:
            raw["lever"], new_lever = levers.resolve(row)
            raw["lever"] = levers.kept(raw["lever"], head.content["lever"])
    else:
        raw["lever"], new_lever = levers.resolve(row)
    check = check_revision(raw, imported=True, causes=levers.causes)
    earlier: set[str] = set()
    if head is not None:
        known = [read_content(row.reread(head.content), levers.causes)[0]] if row.reread else []
        known += [
            {"sources": _grown(said["sources"], one["sources"])}
            for one in known
            for said in revisions
            if "sources" in said
        ]
        as_written = _said_before(check.content, head.content, known, row.said)
        earlier = _said_before(check.content, head.content, revisions, row.said) - as_written
        content = check.content | {name: head.content[name] for name in as_written | earlier}
        check = check_revision(content, imported=True, causes=levers.causes)
    common = {"row": row, "content": check.content, "missing": check.missing, "refusals": check.refusals}
    if head is None:
        return ComparedRow(state=NEW, new_lever=new_lever, **common)
    if content_hash(check.content) == head.content_hash:
        note = f"an earlier revision says this; the row is at {head.number} now" if earlier and head.number > 1 else ""
        return ComparedRow(state=UNCHANGED, note=note, **common)
    note = "archived: nothing is proposed" if stored and stored.archived_at else ""
    changes = tuple(diff(read_content(head.content, levers.causes)[0], check.content))
    return ComparedRow(state=CHANGED, changes=changes, new_lever=new_lever, note=note, **common)


def _grown(before: list[dict[str, str]], now: list[dict[str, str]]) -> list[dict[str, str]]:
    """The sources that a line gave, and behind them those that the row has beyond them, as a map is written again."""
    return [*before, *(source for source in now if source not in before)]


def _said_before(
    content: dict[str, Any], head: dict[str, Any], known: Sequence[dict[str, Any]], said: frozenset[str]
) -> set[str]:
    """The fields that differ from the head and say only what one of `known` says."""
    differ = {name for name, value in content.items() if value != head[name] and (name in said or name not in UNSAID)}
    return {name for name in differ if any(name in one and content[name] == one[name] for one in known)}
