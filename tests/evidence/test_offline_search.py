"""A search in a checkout gives the rows of the app's search in the same order."""

from pathlib import Path

import pytest
from django.db import transaction

from evidence.search import Query, hits_of, search_rows
from evidence.search import board as app_board
from evidence.search import engine as app
from kernels.selectors.snapshot import snapshot_text
from kernels.starter import load_starter
from tests.evidence.test_golden_queries import ASKED
from v2kb.cli import board as offline_board
from v2kb.cli import search as offline
from v2kb.cli.index import Index, snapshot_index
from v2kb.core.encoder import EncoderAway
from v2kb.core.errors import Refusal
from v2kb.rules.search_query import QueryError

pytestmark = pytest.mark.django_db
MORE = [
    "", "the", "%", "-ring", "verdict:dead", "-verdict:dead", "is:weak", "is:superseded,flagged", "is:archived", "m:1",
    "arch:b200", "-arch:b200", "dtype:fp8", "op:gemv", "delta:>5%", "-delta:>5%", "measured:>=2026-06", "lever:ring",
    "cause:none", "cause:flat", "blocking:no", "tier:1", "baseline:f624d75a", "grid:>=64", "ring -stages", "kernel",
    "pipelnie ring", "warp", "M>=16", "-M>1 ring", "STAGES>=4", "W1..W3", "D1-D9 ring", "lookahead",
    "2.50 TB/s", "2.5 TB/s", "W1..W300", "D1..D3 -D2", "producer -D3", "warp-spec producer -D1",
]  # fmt: skip


@pytest.fixture(scope="module")
def index(django_db_setup, django_db_blocker, tmp_path_factory) -> Index:
    """The starter data in the database, and its snapshot as a checkout reads it."""
    folder: Path = tmp_path_factory.mktemp("offline")
    with django_db_blocker.unblock(), transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        load_starter()
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        snapshot = folder / "snapshot.jsonl"
        snapshot.write_text("".join(snapshot_text()), encoding="utf-8")
        yield snapshot_index(snapshot)
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def without_meaning(monkeypatch):
    """A checkout has no encoder, so the app is asked without one."""

    def away(text: str):
        raise EncoderAway("off in this test")

    monkeypatch.setattr(app, "nearest", away)


@pytest.mark.parametrize("query", [*(asked["q"] for asked in ASKED), *MORE])
def test_the_same_rows_in_the_same_order_for_the_same_reasons(index, query):
    theirs = search_rows(Query(text=query))
    found = offline.search_rows(index, query)
    hits = [(hit.code, hit.why) for hit in hits_of(theirs, theirs.ids.tolist())]
    reasons = found.reasons(found.places)
    assert [(index.codes[place][0], reasons[place]) for place in found.places] == hits
    assert tuple(found.corrections) == theirs.corrections


@pytest.mark.parametrize("query", ["verdict:maybe", "nofield:1", '"open', "m:x", "delta:9..1%"])
def test_the_same_words_for_what_cannot_be_read(index, query):
    with pytest.raises(Refusal) as theirs:
        search_rows(Query(text=query))
    with pytest.raises(QueryError) as mine:
        offline.search_rows(index, query)
    assert (mine.value.message, mine.value.at, mine.value.fix) == (
        theirs.value.message,
        theirs.value.facts["at"],
        theirs.value.fix,
    )


PLANS = [
    ("w13 per-tile tcgen05", (), {"m": "1", "dtype": ["fp8"]}),
    ("", ("stage-depth",), None),
    ("", ("warp-spec producer",), {"arch": ["sm_100"]}),
    ("verdict:win ring", ("split-k",), {}),
    ("-ring lever:split-k", (), None),
]


@pytest.mark.parametrize(("text", "levers", "scope"), [*((a["q"], (), None) for a in ASKED), *PLANS])
def test_the_same_board_for_a_design(index, text, levers, scope):
    slugs = tuple(slug for name in levers if (slug := index.lever_named(name)))
    theirs = app_board.board_of(app_board.Design(text, slugs, scope))
    mine = offline_board.board_of(index, offline_board.Design(text, levers, scope))
    assert [row.as_document() for row in mine.rows] == [row.as_document() for row in theirs.rows]
    assert [row.why for row in mine.rows] == [row.why for row in theirs.rows]
    assert [row.standing for row in mine.rows] == [row.standing for row in theirs.rows]
