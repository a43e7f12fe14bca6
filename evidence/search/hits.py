"""Why each shown hit is there: its words compared with those of the query, for the rows of one page only."""

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.models import EvidenceRow
from evidence.search.engine import Found
from v2kb.core.models import SearchEntry
from v2kb.core.search import Kind
from v2kb.rules.search_words import Word


@dataclass(frozen=True)
class Hit:
    """A row that is shown, with why it was found (empty when nothing was typed)."""

    row: EvidenceRow
    why: str = ""

    @property
    def code(self) -> str:
        return self.row.code


def hits_of(found: Found, ids: Sequence[int]) -> list[Hit]:
    """The rows with these ids, in this order, with their heads and levers; two queries at most."""
    rows = EvidenceRow.objects.select_related("head__lever").in_bulk(list(ids))
    wanted = [word for text in found.query.wanted for word in text.words]
    entries: dict[int, SearchEntry] = {}
    if wanted:
        entries = SearchEntry.objects.in_bulk([Kind.ROW.entry_id(row_id) for row_id in ids])
    return [
        Hit(rows[row_id], found.reasons.get(row_id) or _why(entries.get(Kind.ROW.entry_id(row_id)), wanted))
        for row_id in ids
        if row_id in rows
    ]


def _why(entry: SearchEntry | None, wanted: Sequence[Word]) -> str:
    if entry is None or not wanted:
        return ""
    names = [word.text for word in wanted if word.is_identifier]
    if all(_stands_in(word, entry.title, entry.whole) for word in wanted):
        return "words in its title"
    if names and len(names) == len(wanted):
        return "identifier in the row" if len(names) == 1 else "identifiers in the row"
    return f"{', '.join(names)} and words in the row" if names else "words in the row"


def _stands_in(word: Word, text: str, wholes: str) -> bool:
    atoms = text.split()
    if not word.atoms:
        return False
    last = word.prefix or word.atoms[-1]
    size = len(word.atoms)
    for place in range(len(atoms) - size + 1):
        run = atoms[place : place + size]
        if run[:-1] == list(word.atoms[:-1]) and (run[-1].startswith(last) if word.prefix else run[-1] == last):
            return True
    return False
