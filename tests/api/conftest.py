"""Clients of the API: one that signs in as programs do, and a world to ask about."""

import json
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from knox.models import AuthToken

from tests.api.world import World, build

ROOT = "/api/v1"


class Api:
    """The API as one user sees it, over real requests; `token` empty for nobody."""

    def __init__(self, token: str = "") -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Token {token}"} if token else {}

    def send(self, method: str, path: str, body: Any = None, **headers: str):
        """Send `body` as JSON (bytes as they are) and return the response."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(
            method, f"{ROOT}{path}", data, "application/json", headers={**self.headers, **headers}
        )

    def ask(self, method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        """Send, demand the status, and return the JSON of the answer."""
        response = self.send(method, path, body, **headers)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.content[:2000]}"
        return response.json() if response.content and "/json" in response["Content-Type"] else response.content

    def get(self, path: str, status: int = 200, **headers: str) -> Any:
        return self.ask("GET", path, None, status, **headers)

    def post(self, path: str, body: Any = None, status: int = 201, **headers: str) -> Any:
        return self.ask("POST", path, body, status, **headers)


@pytest.fixture(autouse=True)
def _fresh_limits():
    caches["process"].clear()


@pytest.fixture
def nobody() -> Api:
    return Api()


@pytest.fixture
def api_of():
    """api_of(user) -> the API with a token of this user."""

    def make(user) -> Api:
        return Api(AuthToken.objects.create(user=user)[1])

    return make


@pytest.fixture
def world(db) -> World:
    return build()
