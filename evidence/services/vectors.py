"""Keeping the meaning of rows: which rows are due, what the encoder is given, and storing what it says."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import F, OuterRef, Q, Subquery

from evidence.models import EvidenceRow, RowFacts, RowVector
from evidence.policies import require_curator
from v2kb.core.actor import Actor
from v2kb.core.service import service

TEXT_CHARS = 2000


@dataclass(frozen=True)
class DueRow:
    """A row whose vector is missing or older than its facts."""

    row_id: int
    change: int
    text: str

    @property
    def text_hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def due_rows(model: str, limit: int) -> list[DueRow]:
    """Rows that the encoder `model` has still to read, oldest change first."""
    held = RowVector.objects.filter(row_id=OuterRef("row_id"), model=model).values("change")
    waiting = RowFacts.objects.annotate(read=Subquery(held[:1])).filter(Q(read=None) | Q(read__lt=F("change")))
    changes = dict(waiting.order_by("change", "row_id").values_list("row_id", "change")[:limit])
    rows = EvidenceRow.objects.select_related("head__lever").in_bulk(list(changes))
    return [DueRow(row_id, change, meaning_text(rows[row_id])) for row_id, change in changes.items() if row_id in rows]


def meaning_text(row: EvidenceRow) -> str:
    """What a row says, without figures and sources: title, lever, mechanism, what was not checked, bound."""
    content = row.head.content
    parts = [content["title"], row.head.lever.name, content["mechanism"], content["bound"], content["not_checked"]]
    return ". ".join(part for part in parts if part)[:TEXT_CHARS]


@service("evidence.store_vectors", silent=True)
def store_vectors(actor: Actor, model: str, rows: Sequence[DueRow], vectors: np.ndarray) -> int:
    """Store the unit vectors (float32, shape (len(rows), width)) of these rows. Returns how many. Raises Forbidden."""
    require_curator(actor)
    if len(rows) != len(vectors):
        raise ValueError(f"{len(vectors)} vectors for {len(rows)} rows")
    stored = [
        RowVector(
            row_id=row.row_id,
            change=row.change,
            model=model,
            text_hash=row.text_hash,
            vector=vector.astype("<f2").tobytes(),
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]
    RowVector.objects.bulk_create(
        stored, update_conflicts=True, unique_fields=["row"], update_fields=["change", "model", "text_hash", "vector"]
    )
    return len(stored)


@service("evidence.keep_vectors", silent=True)
def keep_vectors(actor: Actor, model: str, rows: Sequence[DueRow]) -> list[DueRow]:
    """Mark the vectors of rows whose words have not changed as read again. Returns the rows that must be encoded.

    Raises Forbidden.
    """
    require_curator(actor)
    hashes = dict(
        RowVector.objects.filter(row_id__in=[row.row_id for row in rows], model=model).values_list(
            "row_id", "text_hash"
        )
    )
    same = [row for row in rows if hashes.get(row.row_id) == row.text_hash]
    for row in same:
        RowVector.objects.filter(row_id=row.row_id).update(change=row.change)
    return [row for row in rows if hashes.get(row.row_id) != row.text_hash]
