"""Vectors in memory: which rows are nearest, when they are read again, and how little memory they take."""

import numpy as np
import pytest

from evidence.models import EvidenceRow, RowVector
from evidence.search import meaning
from evidence.services.vectors import due_rows, store_vectors
from tests import factories as f

pytestmark = pytest.mark.django_db
WIDTH = 384


def unit(count: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((count, WIDTH), np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def near(vector: np.ndarray, by: float) -> np.ndarray:
    """A unit vector that differs from this one."""
    moved = vector + by * unit(1, 99)[0]
    return moved / np.linalg.norm(moved)


@pytest.fixture
def encoder(monkeypatch):
    """An encoder whose answers a test sets: (model, vector)."""
    said = {"model": "first", "vector": unit(1, 1)[0]}
    monkeypatch.setattr(meaning, "encode", lambda texts: (said["model"], said["vector"][None]))
    monkeypatch.setattr(meaning, "_held", meaning.Vectors())
    meaning._encoded.cache_clear()
    yield said
    meaning._encoded.cache_clear()


def read_all(model: str, vectors: np.ndarray, at_once: int = 100) -> None:
    """What `manage.py embed` does, with these vectors in the order of the rows."""
    by_row = dict(zip(EvidenceRow.objects.order_by("pk").values_list("pk", flat=True), vectors, strict=True))
    while due := due_rows(model, at_once):
        store_vectors(f.curator(), model, due, np.stack([by_row[row.row_id] for row in due]))


def test_the_nearest_rows_come_first_with_their_cosines(encoder, monkeypatch):
    monkeypatch.setattr(meaning, "CHUNK", 3)
    rows = [f.evidence_row(title=f"Row {number}") for number in range(8)]
    vectors = unit(len(rows), 2)
    vectors[5], vectors[2] = near(encoder["vector"], 0.1), near(encoder["vector"], 0.4)
    vectors[7] = 0
    read_all("first", vectors)
    found = meaning.nearest("anything")
    assert [row_id for row_id, _ in found] == [rows[5].pk, rows[2].pk]
    exact = vectors @ encoder["vector"]
    assert [cosine for _, cosine in found] == pytest.approx([exact[5], exact[2]], abs=0.003)


def test_a_vector_takes_a_byte_a_value(encoder):
    f.evidence_row()
    f.evidence_row(title="Another")
    read_all("first", unit(2, 3))
    held = meaning._vectors("first")
    assert sum(part.nbytes for part, _ in held.parts) == 2 * WIDTH
    assert meaning._vectors("first") is held


def test_what_is_read_anew_is_noticed(encoder):
    rows = [f.evidence_row(title=f"Row {number}") for number in range(3)]
    read_all("first", unit(3, 4))
    assert meaning.nearest("anything") == []
    rows.append(f.evidence_row(title="One more"))
    read_all("first", np.stack([*unit(3, 4), encoder["vector"]]))
    assert [row_id for row_id, _ in meaning.nearest("anything")] == [rows[3].pk]
    RowVector.objects.filter(row=rows[3]).delete()
    assert meaning.nearest("anything") == []


def test_another_model_counts_when_it_has_read_the_rows(encoder):
    rows = [f.evidence_row(title=f"Row {number}") for number in range(3)]
    vectors = unit(3, 5)
    read_all("first", vectors)
    meaning.nearest("anything")
    encoder["model"] = "second"
    meaning._encoded.cache_clear()
    assert meaning.nearest("anything") == [], "vectors of another model are never compared"
    vectors[1] = encoder["vector"]
    read_all("second", vectors, at_once=1)
    assert [row_id for row_id, _ in meaning.nearest("anything")] == [rows[1].pk]


def test_a_search_by_meaning_looks_at_no_vector_again(encoder, django_assert_num_queries):
    f.evidence_row()
    read_all("first", unit(1, 6))
    meaning.nearest("anything")
    with django_assert_num_queries(3) as asked:
        meaning.nearest("anything else")
    assert not [query["sql"] for query in asked if '"vector"' in query["sql"]]
