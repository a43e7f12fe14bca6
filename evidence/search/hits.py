"""Why each shown hit is there: its words compared with those of the query, for the rows of one page only."""

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.models import EvidenceRow
from evidence.search.engine import Found
from v2kb.core.search import Kind, titles_of
from v2kb.rules.search_why import why_found


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
    titles = titles_of([Kind.ROW.entry_id(row_id) for row_id in ids]) if wanted else {}
    return [
        Hit(rows[row_id], found.reasons.get(row_id) or why_found(titles.get(Kind.ROW.entry_id(row_id)), wanted, "row"))
        for row_id in ids
        if row_id in rows
    ]
