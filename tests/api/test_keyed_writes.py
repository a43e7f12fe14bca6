"""A write with an Idempotency-Key is done once: replays, other bodies, refusals, two at once, every POST."""

import threading

import pytest
from django.db import connection

from evidence.models import ExperimentEntry
from kernels.models import Kernel, Run
from tests import factories as f
from tests.api.conftest import Api
from tests.api.table import PUBLIC, TABLE, request_of, rolled_back
from v2kb.api.keyed import KEPT
from v2kb.core.models import Activity, SentWrite, User

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "k1"}


@pytest.fixture
def dora(api_of):
    return api_of(f.designer().user)


def test_a_replay_gives_the_same_answer_and_writes_once(dora):
    first = dora.send("POST", "/experiments/", f.EXPERIMENT, **KEY)
    lines = Activity.objects.count()
    again = dora.send("POST", "/experiments/", f.EXPERIMENT, **KEY)
    assert (again.status_code, again.json()) == (first.status_code, first.json()) == (201, again.json())
    assert (first.headers.get("Idempotent-Replayed"), again.headers["Idempotent-Replayed"]) == (None, "true")
    assert (ExperimentEntry.objects.count(), Activity.objects.count()) == (1, lines)


def test_a_key_of_another_request_is_a_conflict(dora):
    dora.post("/experiments/", f.EXPERIMENT, **KEY)
    for path, body in (("/experiments/", f.EXPERIMENT | {"why": "Other."}), ("/experiments/1/correct/", f.EXPERIMENT)):
        refused = dora.post(path, body, status=409, **KEY)
        assert (refused["code"], refused["field"]) == ("api.key_reused", "idempotency_key")
    assert ExperimentEntry.objects.count() == 1


def test_keys_are_of_one_user(dora, api_of):
    dora.post("/experiments/", f.EXPERIMENT, **KEY)
    val = api_of(f.actor("val", "validator").user)
    val.post("/experiments/", f.EXPERIMENT | {"why": "Other."}, **KEY)
    assert ExperimentEntry.objects.count() == 2


def test_a_refusal_leaves_the_key_free(dora):
    assert dora.post("/experiments/", f.EXPERIMENT | {"why": ""}, status=400, **KEY)["field"] == "why"
    refused = dora.send("POST", "/experiments/", f.EXPERIMENT | {"lever": "no-such"}, **KEY)
    assert refused.json()["code"] == "evidence.no_lever"
    dora.post("/experiments/", f.EXPERIMENT, **KEY)
    assert SentWrite.objects.count() == ExperimentEntry.objects.count() == 1


def test_the_write_and_its_answer_are_one_transaction(dora, monkeypatch):
    monkeypatch.setattr(SentWrite.objects, "create", lambda **_: 1 / 0)
    assert dora.send("POST", "/experiments/", f.EXPERIMENT, **KEY).status_code == 500
    assert ExperimentEntry.objects.count() == Activity.objects.filter(verb__startswith="evidence.").count() == 0


@pytest.mark.parametrize("key", ["", "k" * 81, "caf\u00e9", "a\tb"])
def test_keys_that_cannot_be_stored(dora, key):
    refused = dora.post("/experiments/", f.EXPERIMENT, status=400, **{"Idempotency-Key": key})
    assert refused["field"] == "idempotency_key"


def test_answers_are_forgotten_after_a_while(dora):
    dora.post("/experiments/", f.EXPERIMENT, **KEY)
    SentWrite.objects.update(at=SentWrite.objects.get().at - KEPT)
    dora.post("/experiments/", f.EXPERIMENT | {"why": "Other."}, **{"Idempotency-Key": "k2"})
    assert list(SentWrite.objects.values_list("key", flat=True)) == ["k2"]


def test_an_upload_can_be_sent_again(dora):
    f.kernel_version(f.op(), slug="tiled", basis=Kernel.Basis.EXPLORATORY)
    form = b'--b\r\nContent-Disposition: form-data; name="files"; filename="kernel.py"\r\n\r\nx = 1\r\n--b--\r\n'
    sent = [
        dora.client.post(
            "/api/v1/kernels/tiled/versions/",
            form,
            "multipart/form-data; boundary=b",
            headers={**dora.headers, **KEY},
        )
        for _ in range(2)
    ]
    assert [response.status_code for response in sent] == [201, 201]
    assert sent[0].json() == sent[1].json()


def test_nobody_is_told_an_answer_without_a_token(dora, nobody):
    dora.post("/experiments/", f.EXPERIMENT, **KEY)
    nobody.post("/experiments/", f.EXPERIMENT, status=401, **KEY)


def test_every_post_takes_a_key(subtests, world, api_of):
    for name, line in sorted(TABLE.items()):
        if not name.startswith("POST ") or line.user == PUBLIC:
            continue
        with subtests.test(name), rolled_back():
            line.before(world)
            method, path, body = request_of(name, world)
            user = User.objects.filter(username=line.user).first() or f.actor(line.user, "viewer").user
            api = api_of(user)
            first = api.send(method, path, body, **KEY)
            assert first.status_code == line.status, first.content
            lines = Activity.objects.count()
            again = api.send(method, path, body, **KEY)
            assert (again.status_code, again.content) == (first.status_code, first.content)
            assert again.headers["Idempotent-Replayed"] == "true"
            assert Activity.objects.count() == lines


def test_a_token_is_never_kept_as_an_answer(make_user, nobody):
    make_user("vera", "viewer")
    nobody.post("/tokens/", {"username": "vera", "password": "pass-vera-phrase"}, **KEY)
    assert not SentWrite.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_at_once_write_once(api_of):
    f.kernel_version(f.op(), slug="mine", basis=Kernel.Basis.EXPLORATORY)
    token = api_of(f.designer().user).headers["Authorization"].removeprefix("Token ")
    body = {"kind": "validate", "kernel": "mine", "version": 1}
    start, answers = threading.Barrier(4, timeout=30), []

    def send(key: str) -> None:
        try:
            start.wait()
            answers.append((key, Api(token).post("/runs/", body, **{"Idempotency-Key": key})["id"]))
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=[key]) for key in ("same", "same", "same", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(answers), len(set(answers))) == (4, 2)
    assert (Run.objects.count(), SentWrite.objects.count()) == (2, 2)
