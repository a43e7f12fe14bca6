"""Bad input at every endpoint that takes a body: refused with a code, never a 500, and nothing is written."""

import json
import time
from typing import Any

import pytest

from tests.api.table import ANYONE, PUBLIC, TABLE, request_of, rolled_back
from v2kb.core.models import Activity, User

pytestmark = pytest.mark.django_db

WRITES = sorted(key for key in TABLE if key.startswith(("POST", "PUT")))
BROKEN_BODIES = {
    "not UTF-8": b'{"a": "\xff\xfe"}',
    "not JSON": b"{title: x",
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "a list": b"[1, 2]",
    "a text": b'"title"',
    "null": b"null",
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 500 + b"1" + b"}" * 500,
    "a name twice": b'{"reason": "a", "reason": "b"}',
    "half a surrogate pair": b'{"reason": "\\ud83d"}',
    "an endless number": b'{"a": ' + b"9" * 6000 + b"}",
}
NOT_FOR_CLIENTS = ["id", "state", "created_at", "author", "is_superuser"]
ODD_VALUES = [None, True, -1, 10**30, 1e308, [], [[[]]], {}, {"a": {"b": 1.5}}, "", " ", "\x00", "x" * 30_000, "\u202e"]


def caller(key: str, api_of, nobody):
    name = TABLE[key].user
    return nobody if name == PUBLIC else api_of(User.objects.get(username=name))


def refused(response, *statuses: int) -> dict[str, Any]:
    """The one error form, with one of the statuses."""
    assert response.status_code in statuses, (response.status_code, response.content[:500])
    body = response.json()
    assert {"code", "message", "field", "rule", "fix", "facts"} <= set(body), body
    assert body["code"]
    assert body["message"]
    return body


@pytest.fixture
def viewer(make_user):
    return make_user(ANYONE, "viewer")


@pytest.fixture(autouse=True)
def _many_attempts(monkeypatch):
    """These tests are about bodies, not about how often a token may be asked for."""
    monkeypatch.setattr("v2kb.api.throttles.TokenThrottle.rate", "100000/hour", raising=False)


def test_broken_bodies(subtests, world, viewer, api_of, nobody):
    for key in WRITES:
        for name, body in BROKEN_BODIES.items():
            with subtests.test(f"{key} {name}"), rolled_back():
                TABLE[key].before(world)
                method, path, _ = request_of(key, world)
                lines = Activity.objects.count()
                refused(caller(key, api_of, nobody).send(method, path, body), 400)
                assert Activity.objects.count() == lines


def test_fields_that_only_the_server_writes_are_refused(subtests, world, viewer, api_of, nobody):
    for key in WRITES:
        for name in NOT_FOR_CLIENTS:
            with subtests.test(f"{key} {name}"), rolled_back():
                TABLE[key].before(world)
                method, path, body = request_of(key, world)
                answer = refused(caller(key, api_of, nobody).send(method, path, {**(body or {}), name: "x"}), 400)
                codes = {problem["code"]: problem["field"] for problem in answer["problems"]}
                assert codes == {"api.unknown_field": name}


def test_odd_values_in_every_field(subtests, world, viewer, api_of, nobody):
    for key in WRITES:
        user = caller(key, api_of, nobody)
        for field in sorted(_body(key, world)):
            for value in ODD_VALUES:
                with subtests.test(f"{key} {field}={str(value)[:20]!r}"), rolled_back():
                    TABLE[key].before(world)
                    method, path, body = request_of(key, world)
                    response = user.send(method, path, {**body, field: value})
                    if response.status_code >= 400:
                        refused(response, 400, 403, 404, 409, 422)


def test_missing_fields(subtests, world, viewer, api_of, nobody):
    for key in WRITES:
        for field in sorted(_body(key, world)):
            with subtests.test(f"{key} without {field}"), rolled_back():
                TABLE[key].before(world)
                method, path, body = request_of(key, world)
                body.pop(field)
                response = caller(key, api_of, nobody).send(method, path, body)
                if response.status_code >= 400:
                    refused(response, 400, 403, 404, 409, 422)


def _body(key: str, world) -> dict[str, Any]:
    body = TABLE[key].body
    return (body(world) if callable(body) else body) or {}


def test_a_name_of_nothing_is_told_with_what_it_should_name(world, api_of):
    dora = api_of(User.objects.get(username="dora"))
    for path, body, field, message in (
        ("/anchors/", {"name": "vendor", "op": "nosuch", "method": "harness"}, "op", "There is no op nosuch."),
        ("/specs/", {"title": "One", "ops": ["nosuch"]}, "ops[0]", "There is no op nosuch."),
    ):
        answer = refused(dora.send("POST", path, body), 400)
        assert [(problem["field"], problem["message"]) for problem in answer["problems"]] == [(field, message)]


def test_a_body_of_another_kind(world, viewer, api_of):
    client = api_of(User.objects.get(username="dora"))
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        sent = client.client.post("/api/v1/ops/", b"slug=x", content_type=kind, headers=client.headers)
        assert refused(sent, 415)["code"] == "api.unsupported_media_type"


def test_a_body_that_is_too_large(world, api_of):
    body = json.dumps({"slug": "x", "content": {"title": "x" * (9 * 1024 * 1024)}}).encode()
    answer = refused(api_of(User.objects.get(username="dora")).send("POST", "/ops/", body), 413)
    assert answer["code"] == "api.too_large"


def test_a_million_names_with_the_last_one_twice_are_refused_at_once(nobody):
    names = ",".join(f'"{number:x}":0' for number in range(400_000))
    started = time.monotonic()
    answer = refused(nobody.send("POST", "/tokens/", f'{{{names},"z":0,"z":1}}'.encode()), 400)
    assert "'z' is used twice" in answer["message"]
    assert time.monotonic() - started < 60, "the search for it took hours when it counted each name"


def test_addresses_that_do_not_exist(nobody, world, viewer, api_of):
    for path in ("/nothing/", "/ops", "/specs/S1/revisions/99999999999/", "/ops/%ff/", "/runs/../"):
        assert refused(nobody.send("GET", path), 404)["code"] == "api.no_such_address"
    refused(nobody.send("GET", "/ops/a%00b/"), 400)
    api = api_of(viewer)
    for path, code in {
        "/ops/none/": "api.not_found",
        "/ops/none/contracts/": "op.none",
        "/specs/S99/": "spec.none",
        "/specs/S1/revisions/99/": "spec.no_revision",
        "/specs/S99/revisions/": "spec.none",
        "/specs/S1/diff/?old=1&new=9": "spec.no_revision",
        "/kernels/none/versions/": "kernel.none",
        "/kernels/fused/versions/9/": "kernel.no_version",
        "/kernels/fused/versions/1/files/none.py/": "kernel.no_file",
        "/runs/R0/": "run.none",
        f"/runs/{world.queued.public_id}/result/": "run.no_result",
    }.items():
        assert refused(api.send("GET", path), 404)["code"] == code, path
    for path in (
        "/specs/S1/diff/",
        "/specs/S1/diff/?old=x&new=1",
        "/runs/?state=lost",
        "/specs/?state=x",
        "/ops/?q=%00",
        "/families/?snapshot=1e99",
    ):
        refused(api.send("GET", path), 400)
    assert refused(api.send("GET", "/ops/?page=9"), 404)["code"] == "api.not_found"
    assert refused(api.send("GET", "/ops/", Accept="application/pdf"), 406)["code"] == "api.not_acceptable"
