"""Every endpoint for nobody, for a viewer and for the right user; a new one without a line in the table fails."""

import pytest
from drf_spectacular.generators import SchemaGenerator

from tests.api.table import ANYONE, OTHER_CODES, PRIVATE, PUBLIC, TABLE, request_of, rolled_back
from v2kb.core.models import User

pytestmark = pytest.mark.django_db

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture(scope="session")
def operations() -> set[str]:
    """Every operation of the OpenAPI document, as "GET /ops/"."""
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    return {f"{method.upper()} {path.removeprefix('/api/v1')}" for path, found in paths.items() for method in found}


def test_every_endpoint_has_a_line(operations):
    missing, gone = sorted(operations - set(TABLE)), sorted(set(TABLE) - operations)
    assert not missing, f"add lines to tests/api/table.py for {missing}"
    assert not gone, f"remove these lines of tests/api/table.py: {gone}"


def test_nobody_viewer_and_the_right_user(subtests, world, nobody, api_of, make_user):
    viewer = make_user(ANYONE, "viewer")
    for key in sorted(TABLE):
        with subtests.test(key), rolled_back():
            _three_callers(key, world, nobody, api_of, viewer)


def _three_callers(key, world, nobody, api_of, viewer) -> None:
    line = TABLE[key]
    line.before(world)
    method, path, body = request_of(key, world)
    if line.user != PUBLIC:
        refused = nobody.ask(method, path, body, 401)
        assert refused["code"] == "api.not_authenticated"
    if line.user not in (ANYONE, PUBLIC):
        refused = api_of(viewer).ask(method, path, body, 404 if key in PRIVATE else 403)
        assert refused["code"] == PRIVATE.get(key, OTHER_CODES.get(key, "core.role"))
    right = nobody if line.user == PUBLIC else api_of(User.objects.get(username=line.user))
    right.ask(method, path, body, line.status)


def test_other_methods_are_not_allowed(subtests, api_of, make_user):
    """PUT, PATCH, DELETE and POST exist only where they mean something."""
    everything = api_of(make_user("omar", "designer", "implementer", "validator", "curator", "administrator"))
    for template in sorted({key.partition(" ")[2] for key in TABLE}):
        allowed = {key.partition(" ")[0] for key in TABLE if key.partition(" ")[2] == template}
        path = template.format(
            slug="x", code="S1", number=1, id=1, name="x", path="x.py", key="x", anchor="x", content_hash="0" * 64
        )
        for method in set(METHODS) - allowed:
            with subtests.test(f"{method} {template}"):
                assert everything.ask(method, path, {}, 405)["code"] == "api.method_not_allowed"
