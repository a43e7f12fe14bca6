"""Rows of similar meaning: every row's vector in memory, a byte a value, compared with the query's at once."""

import threading
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

import numpy as np

from evidence.models import EvidenceChange, RowVector
from v2kb.core.encoder import EncoderAway, encode, is_on

NEAREST = 5
LEAST_COSINE = 0.3
CHUNK = 1000


@dataclass(frozen=True)
class Vectors:
    """All vectors of one model: `ids` (n,), and in `parts` up to CHUNK vectors each: int8 (m, width), times its scale
    (m,). Cosines of unit vectors are off by some 0.001, and two digits are shown.
    """

    mark: tuple = ()
    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    parts: tuple[tuple[np.ndarray, np.ndarray], ...] = ()


_lock = threading.Lock()
_held = Vectors()


def nearest(text: str) -> list[tuple[int, float]]:
    """(row id, cosine) of the rows nearest to a sentence, best first. Raises EncoderAway."""
    model, vector = _encoded(text)
    held = _vectors(model)
    if not len(held.ids):
        return []
    wanted = np.frombuffer(vector, np.float32)
    cosines = np.concatenate([(part.astype(np.float32) @ wanted) * scale for part, scale in held.parts])
    best = np.argsort(-cosines)[:NEAREST]
    return [(int(held.ids[place]), float(cosines[place])) for place in best if cosines[place] >= LEAST_COSINE]


@lru_cache(maxsize=256)
def _encoded(text: str) -> tuple[str, bytes]:
    model, vectors = encode([text])
    return model, vectors[0].tobytes()


def _vectors(model: str) -> Vectors:
    global _held
    with _lock:
        mark = (model, *_newest())
        if _held.mark != mark:
            lines = RowVector.objects.filter(model=model).order_by("pk").values_list("pk", "vector")
            waiting, ids, parts = lines.iterator(chunk_size=CHUNK), [], []
            while chunk := list(islice(waiting, CHUNK)):
                ids += [row_id for row_id, _ in chunk]
                parts.append(_in_bytes([vector for _, vector in chunk]))
            _held = Vectors(mark, np.array(ids, np.int64), tuple(parts))
        return _held


def _newest() -> tuple:
    """How many vectors there are, and of which model and change the one is that was read last. Read by indexes alone:
    rows are read in the order of their changes, so another model shows here when it has read all of them.
    """
    newest = RowVector.objects.order_by("-change", "-pk").values_list("change", "model").first() or (0, "")
    stamp = EvidenceChange.objects.filter(pk=newest[0]).values_list("stamp", flat=True).first()
    return RowVector.objects.count(), *newest, stamp


def _in_bytes(vectors: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Float16 vectors as int8 (n, width) and the scale (n,) of each."""
    exact = np.frombuffer(b"".join(vectors), "<f2").reshape(len(vectors), -1).astype(np.float32)
    scale = np.abs(exact).max(axis=1) / np.float32(127)
    scale[scale == 0] = 1
    return np.rint(exact / scale[:, None]).astype(np.int8), scale


__all__ = ["EncoderAway", "is_on", "nearest"]
