"""Keeping the facts and the search entry of rows in step with their heads, in the same transaction as the change."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from evidence.families import lever_families
from evidence.models import EvidenceChange, EvidenceRow, ImportedLine, Lever, RowFacts
from evidence.selectors import states_of
from v2kb.core.activity import lock_log
from v2kb.core.search import Document, Kind, put
from v2kb.rules.row_facts import CELLS, RowStates, row_facts, row_words

_NAMES = [field.name for field in RowFacts._meta.concrete_fields if not field.primary_key]


def refresh_facts(row_ids: Iterable[int]) -> None:
    """Rewrite facts and search entry of these rows, under one EvidenceChange; a follower of what services change."""
    ids = list(row_ids)
    if not ids:
        return
    lock_log()
    change = EvidenceChange.objects.create().pk
    rows, states = _rows(ids), states_of(ids)
    facts = [_facts(row, lever, states[row.pk], change) for row, lever in rows]
    RowFacts.objects.bulk_create(facts, update_conflicts=True, unique_fields=["row"], update_fields=_NAMES)
    put(_documents(rows))


def row_documents(ids: list[int]) -> list[Document]:
    """What the search should know of these rows; archived ones are found too, where they are asked for."""
    return _documents(_rows(ids))


def rows_with_other_facts(ids: list[int]) -> set[int]:
    """Rows among these whose RowFacts are missing or differ from their head and standing."""
    stored, states = RowFacts.objects.in_bulk(ids), states_of(ids)
    told = [name for name in _NAMES if name != "change"]
    wrong = set()
    for row, lever in _rows(ids):
        present, right = stored.get(row.pk), _facts(row, lever, states[row.pk], 0)
        if present is None or any(_value(present, name) != _value(right, name) for name in told):
            wrong.add(row.pk)
    return wrong


def _value(facts: RowFacts, name: str) -> Any:
    return facts.lever_id if name == "lever" else getattr(facts, name)


def _rows(ids: list[int]) -> list[tuple[EvidenceRow, Lever]]:
    """Rows with their heads, each with the lever that it stands under and the lever's names."""
    rows = list(EvidenceRow.objects.filter(pk__in=ids, head__isnull=False).select_related("head"))
    families = lever_families()
    standing_for = {row.head.lever_id: families.survivor(row.head.lever_id) for row in rows}
    levers = Lever.objects.prefetch_related("aliases").in_bulk(set(standing_for.values()))
    return [(row, levers[standing_for[row.head.lever_id]]) for row in rows]


def _documents(rows: list[tuple[EvidenceRow, Lever]]) -> list[Document]:
    imported = words_of_cells([row.pk for row, _ in rows])
    return [_document(row, lever, imported[row.pk]) for row, lever in rows]


def _document(row: EvidenceRow, lever: Lever, cells: set[str]) -> Document:
    """A row is found by what it says, and by what the cells that it was imported from say and it does not."""
    return Document(Kind.ROW, row.pk, *row_words(row.code, row.head.content, names_of(lever), cells))


def names_of(lever: Lever) -> list[str]:
    """Every name of a lever, its own first."""
    return [lever.name, *(alias.name for alias in lever.aliases.all())]


def words_of_cells(row_ids: list[int]) -> dict[int, set[str]]:
    """Row id -> the texts of its lines in maps, as the cells alone give them: a typing file may say it otherwise."""
    found: dict[int, set[str]] = defaultdict(set)
    lines = ImportedLine.objects.filter(row__in=row_ids).values_list("row_id", "content")
    for row_id, content in lines:
        plain = content.get("plain", {})
        found[row_id] |= {plain[name] for name in CELLS if plain.get(name)}
    return found


def _facts(row: EvidenceRow, lever: Lever, states: RowStates, change: int) -> RowFacts:
    archived = row.archived_at is not None
    facts = row_facts(row.head.content, states)
    return RowFacts(row=row, change=change, code=row.code, archived=archived, lever=lever, **facts)
