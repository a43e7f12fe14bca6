"""Rows of similar meaning: every row's vector in memory, compared with the query's at once."""

import threading
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from django.db.models import Count, Max

from evidence.models import EvidenceChange, RowVector
from v2kb.core.encoder import EncoderAway, encode, is_on

NEAREST = 5
LEAST_COSINE = 0.3
CHUNK = 1000


@dataclass(frozen=True)
class Vectors:
    """All vectors of one model: `ids` (n,), `matrix` (n, width) of unit length, in half precision as stored."""

    mark: tuple = ()
    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    matrix: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float16))


_lock = threading.Lock()
_held = Vectors()


def nearest(text: str) -> list[tuple[int, float]]:
    """(row id, cosine) of the rows nearest to a sentence, best first. Raises EncoderAway."""
    model, vector = _encoded(text)
    held = _vectors(model)
    if not len(held.ids):
        return []
    wanted = np.frombuffer(vector, np.float32)
    parts = range(0, len(held.ids), CHUNK)
    cosines = np.concatenate([held.matrix[part : part + CHUNK].astype(np.float32) @ wanted for part in parts])
    best = np.argsort(-cosines)[:NEAREST]
    return [(int(held.ids[place]), float(cosines[place])) for place in best if cosines[place] >= LEAST_COSINE]


@lru_cache(maxsize=256)
def _encoded(text: str) -> tuple[str, bytes]:
    model, vectors = encode([text])
    return model, vectors[0].tobytes()


def _vectors(model: str) -> Vectors:
    global _held
    with _lock:
        found = RowVector.objects.filter(model=model).aggregate(count=Count("pk"), change=Max("change"))
        stamp = EvidenceChange.objects.filter(pk=found["change"] or 0).values_list("stamp", flat=True).first()
        mark = (model, found["count"], found["change"], stamp)
        if _held.mark != mark:
            lines = RowVector.objects.filter(model=model).order_by("pk").values_list("pk", "vector")
            ids, joined = [], bytearray()
            for row_id, vector in lines.iterator(chunk_size=CHUNK):
                ids.append(row_id)
                joined += vector
            matrix = np.frombuffer(joined, "<f2").reshape(len(ids), -1) if ids else Vectors().matrix
            _held = Vectors(mark, np.array(ids, np.int64), matrix)
        return _held


__all__ = ["EncoderAway", "is_on", "nearest"]
