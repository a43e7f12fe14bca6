"""Schemathesis: requests made from the OpenAPI document, right and wrong, at every endpoint. None may end in a 500."""

import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, settings
from knox.models import AuthToken
from schemathesis.checks import not_a_server_error

import pytest

from kernels.policies import REVIEWER_OF
from tests.api.table import TABLE, rolled_back
from v2kb.core.rest import SLUG  # noqa: F401

EXAMPLES = 12
ROLES = ("designer", "implementer", "validator", "curator", "operator", "administrator", *sorted(REVIEWER_OF.values()))


@pytest.fixture
def document(db):
    return schemathesis.openapi.from_wsgi("/api/schema/", get_wsgi_application())


schema = schemathesis.pytest.from_fixture("document")
