"""Tokens: made with name and password, limited, locked with the account, spent, revoked; and who one is."""

from datetime import timedelta

import pytest
from axes.utils import reset
from django.core.cache import cache
from django.utils import timezone
from knox.models import AuthToken

from tests.api.conftest import Api
from v2kb.api.services import MAX_TOKENS
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db
DORA = {"username": "dora", "password": "pass-dora-phrase"}


@pytest.fixture(autouse=True)
def _no_earlier_attempts(db):
    cache.clear()
    reset()


@pytest.fixture
def dora(make_user):
    return make_user("dora", "designer", "validator")


def test_a_token_signs_in_until_it_is_revoked(dora, nobody):
    made = nobody.post("/tokens/", {**DORA, "days": 3})
    api = Api(made["token"])
    me = api.get("/me/")
    assert me == {
        "username": "dora",
        "display_name": "dora",
        "engine_name": "",
        "roles": ["designer", "validator"],
        "by_token": True,
    }
    listed = api.get("/tokens/")["results"]
    assert [token["key"] for token in listed] == [made["key"]]
    assert "token" not in listed[0]
    assert made["token"] not in str(list(AuthToken.objects.values()))
    api.ask("DELETE", f"/tokens/{made['key']}/", status=204)
    api.get("/me/", status=401)
    verbs = list(Activity.objects.values_list("verb", "channel"))
    assert sorted(verbs) == [("api.issue_token", "api"), ("api.revoke_token", "api")]
    assert made["token"] not in str(list(Activity.objects.values()))


def test_the_life_of_a_token_is_what_was_asked_for(dora, nobody):
    nobody.post("/tokens/", {**DORA, "days": 3})
    nobody.post("/tokens/", DORA)
    short, long = AuthToken.objects.order_by("expiry")
    assert timedelta(days=2.9) < short.expiry - timezone.now() <= timedelta(days=3)
    assert timedelta(days=89.9) < long.expiry - timezone.now() <= timedelta(days=90)
    for days in (0, 367, "many"):
        assert nobody.post("/tokens/", {**DORA, "days": days}, status=400)["field"] == "days"


def test_wrong_credentials_tell_nothing(dora, nobody):
    answers = [
        nobody.post("/tokens/", {"username": name, "password": "wrong-phrase"}, status=403)
        for name in ("dora", "nobody-of-this-name")
    ]
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "api.bad_credentials"
    assert not AuthToken.objects.exists()


def test_spaces_are_part_of_a_password(dora, nobody):
    dora.set_password("  spaced out phrase ")
    dora.save()
    nobody.post("/tokens/", {"username": "dora", "password": "  spaced out phrase "})
    nobody.post("/tokens/", {"username": "dora", "password": "spaced out phrase"}, status=403)


def test_a_locked_account_gets_no_token_even_with_the_right_password(dora, nobody, settings):
    wrong = {"username": "dora", "password": "wrong-phrase"}
    codes = [nobody.post("/tokens/", wrong, status=403)["code"] for _ in range(settings.AXES_FAILURE_LIMIT)]
    assert codes == ["api.bad_credentials"] * (settings.AXES_FAILURE_LIMIT - 1) + ["api.locked"]
    assert nobody.post("/tokens/", DORA, status=403)["code"] == "api.locked"
    reset(username="dora")
    nobody.post("/tokens/", DORA)


def test_attempts_are_limited_per_address_whatever_a_client_says_of_itself(dora, nobody, monkeypatch):
    monkeypatch.setattr("v2kb.api.throttles.TokenThrottle.rate", "3/hour", raising=False)
    for number in range(3):
        nobody.post("/tokens/", DORA, **{"X-Forwarded-For": f"10.0.0.{number}"})
    refused = nobody.send("POST", "/tokens/", DORA, **{"X-Forwarded-For": "10.0.0.9"})
    assert refused.status_code == 429
    assert refused.json()["code"] == "api.throttled"
    assert int(refused["Retry-After"]) > 3000
    signed_in = Api(AuthToken.objects.create(user=dora)[1])
    signed_in.post("/tokens/", DORA, status=429)


def test_requests_of_a_user_are_limited(dora, monkeypatch):
    monkeypatch.setattr("v2kb.api.throttles.UserThrottle.rate", "2/hour", raising=False)
    api = Api(AuthToken.objects.create(user=dora)[1])
    assert [api.send("GET", "/me/").status_code for _ in range(3)] == [200, 200, 429]


def test_a_one_time_password_makes_no_token_and_stops_older_ones(dora, nobody):
    api = Api(nobody.post("/tokens/", DORA)["token"])
    dora.must_change_password = True
    dora.save()
    assert nobody.post("/tokens/", DORA, status=403)["code"] == "api.one_time_password"
    assert api.get("/me/", status=403)["code"] == "api.one_time_password"


def test_an_inactive_user_is_out(dora, nobody):
    api = Api(nobody.post("/tokens/", DORA)["token"])
    dora.is_active = False
    dora.save()
    api.get("/me/", status=401)
    nobody.post("/tokens/", DORA, status=403)


def test_an_expired_token_is_no_token_and_makes_room(dora, nobody):
    for _ in range(MAX_TOKENS):
        AuthToken.objects.create(user=dora, expiry=timedelta(days=1))
    refused = nobody.post("/tokens/", DORA, status=409)
    assert refused["code"] == "api.too_many_tokens"
    _, text = AuthToken.objects.create(user=dora, expiry=timedelta(seconds=-1))
    Api(text).get("/me/", status=401)
    AuthToken.objects.filter(pk=AuthToken.objects.first().pk).update(expiry=timezone.now() - timedelta(seconds=1))
    nobody.post("/tokens/", DORA)


def test_tokens_of_others_do_not_exist(dora, make_user, api_of):
    other = AuthToken.objects.create(user=make_user("remy", "viewer"))[0]
    api = api_of(dora)
    assert api.ask("DELETE", f"/tokens/{other.token_key}/", status=404)["code"] == "api.no_token"
    assert other.token_key not in [token["key"] for token in api.get("/tokens/")["results"]]


def test_a_session_needs_the_csrf_token_to_write(dora, client, make_user):
    client.handler.enforce_csrf_checks = True
    client.force_login(dora)
    assert client.get("/api/v1/me/").json()["by_token"] is False
    refused = client.post("/api/v1/ops/", {"slug": "x"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "api.permission_denied")
