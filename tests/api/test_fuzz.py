"""Schemathesis: requests made from the OpenAPI document, right and wrong, at every endpoint.

None may end in a 500, and every answer has the status, the content type and the form that the document promises.
"""

import pytest
import schemathesis
from django.contrib.auth.models import Group
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from knox.models import AuthToken
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.table import TABLE, rolled_back

pytestmark = pytest.mark.django_db

EXAMPLES = 10
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
BOUNDED = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def headers(make_user, monkeypatch) -> dict[str, str]:
    """A user with every role, who wrote nothing of the world."""
    monkeypatch.setattr("v2kb.api.throttles.TokenThrottle.rate", "100000/hour", raising=False)
    monkeypatch.setattr("v2kb.api.throttles.UserThrottle.rate", "1000000/hour", raising=False)
    everyone = make_user("omar", *Group.objects.values_list("name", flat=True))
    return {"Authorization": f"Token {AuthToken.objects.create(user=everyone)[1]}"}


@pytest.fixture
def _one_connection():
    """Requests work within the test's transaction, as with the framework's own test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("_one_connection")
def test_no_request_ends_in_a_500(subtests, world, headers):
    document = schemathesis.openapi.from_wsgi("/api/schema/", get_wsgi_application())
    asked = 0
    for found in document.get_all_operations():
        operation = found.ok()
        key = f"{operation.method.upper()} {operation.path.removeprefix('/api/v1')}"
        with subtests.test(key), rolled_back():
            _fuzz(operation, _existing(key, world), headers)
        asked += 1
    assert asked == len(TABLE)


def _existing(key: str, world) -> dict[str, str]:
    """Path parameters that lead to something."""
    TABLE[key].before(world)
    return {name: str(value) for name, value in TABLE[key].params(world).items()}


def _fuzz(operation, existing: dict, headers: dict[str, str]) -> None:
    cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in MODES])

    @BOUNDED
    @given(case=cases, at_existing=st.booleans())
    def ask(case, at_existing: bool) -> None:
        if at_existing and existing:
            case.path_parameters = dict(existing)
        with rolled_back():
            case.validate_response(case.call(headers=headers), checks=CHECKS)

    ask()
