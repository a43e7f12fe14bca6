"""A NUL byte in an address reaches no view, and one in a form is no 500: PostgreSQL looks neither up."""

import pytest
from django.test import Client
from django.urls import get_resolver
from django.urls.resolvers import URLPattern

from tests import factories as f

pytestmark = pytest.mark.django_db

OPEN = ("static/", "worker/", "admin/")


def plain_addresses() -> list[str]:
    """Every address of the site that names nothing."""
    found: list[str] = []

    def walk(patterns, before: str) -> None:
        for pattern in patterns:
            path = before + str(pattern.pattern).lstrip("^").replace("\\Z", "").removesuffix("$")
            if not isinstance(pattern, URLPattern):
                walk(pattern.url_patterns, path)
            elif not set("<(") & set(path) and not path.startswith(OPEN):
                found.append(f"/{path}")

    walk(get_resolver().url_patterns, "")
    return found


@pytest.fixture
def client():
    client = Client()
    client.force_login(f.designer().user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_no_view_sees_a_nul_of_a_query(client):
    addresses = plain_addresses()
    assert {"/evidence/", "/api/v1/evidence/", "/evidence/levers/", "/search/"} <= set(addresses)
    for address in addresses:
        for query in ("q=a%00b", "x=%00", "q=a\x00b"):
            answer = client.get(address, QUERY_STRING=query)
            assert answer.status_code == 400, (address, query)


def test_a_nul_in_the_form_of_a_design_search_is_shown_as_one_that_was_typed(client):
    f.evidence_row(f.DEAD)
    answer = client.post("/specs/search/", {"q": "no\x00rm", "spec": "S\x001", "op": "\x00", "arch": "sm\x00"})
    assert answer.status_code in (404, 422)
    answer = client.post("/specs/search/", {"q": "no\x00rm", "lever": "a\x00b"})
    assert answer.status_code == 422
    assert "no\N{REPLACEMENT CHARACTER}rm" in answer.content.decode()
