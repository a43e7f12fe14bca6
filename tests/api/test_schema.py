"""The committed OpenAPI document is what the code says; the page that shows it needs nothing that our policy blocks."""

import re
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command

COMMITTED = Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.yaml"
RENEW = "python manage.py spectacular --fail-on-warn --file docs/openapi.yaml"


def test_the_committed_document_is_current(tmp_path):
    fresh = tmp_path / "openapi.yaml"
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", str(fresh))
    old, new = yaml.safe_load(COMMITTED.read_text()), yaml.safe_load(fresh.read_text())
    parts = [
        f"{part} {name}"
        for part in ("paths", "components.schemas")
        for name in sorted(_differing(_part(old, part), _part(new, part)))
    ]
    assert old == new, f"docs/openapi.yaml is not what the code says: {parts}. Look at it, then renew it with: {RENEW}"


def _part(document: dict, path: str) -> dict:
    for name in path.split("."):
        document = document[name]
    return document


def _differing(old: dict, new: dict) -> set[str]:
    return {name for name in {*old, *new} if old.get(name) != new.get(name)}


def test_every_operation_may_answer_with_the_error_form():
    document = yaml.safe_load(COMMITTED.read_text())
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            schema = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Error"}, f"{method} {path}"
            assert operation.get("description"), f"{method} {path} has no description"


def test_no_answer_of_a_run_names_its_secrets():
    text = COMMITTED.read_text()
    assert "seed_secret" not in text
    assert "key_hash" not in text


@pytest.mark.django_db
def test_the_viewer_has_no_inline_code(client):
    page = client.get("/api/")
    assert page.status_code == 200
    html = page.content.decode()
    assert "<style" not in html
    assert "style=" not in html
    assert html.count("<script") == html.count("<script src=") == 3
    script = client.get("/api/?script=")
    assert script.headers["Content-Type"].startswith("application/javascript")
    assert "/api/schema/" in script.content.decode()
    assert client.get("/api/schema/").status_code == 200


def test_the_handbook_lists_every_address():
    """docs/api.md has one line per address with the methods that it takes."""
    page = (COMMITTED.parent / "api.md").read_text()
    told = {path: set(methods.split()) for methods, path in re.findall(r"^\| `([A-Z ]+) (/[^`]*)`", page, re.M)}
    paths = yaml.safe_load(COMMITTED.read_text())["paths"]
    true = {path.removeprefix("/api/v1"): {method.upper() for method in found} for path, found in paths.items()}
    assert told == true


def test_the_handbook_names_every_filter():
    page = (COMMITTED.parent / "api.md").read_text()
    for path, found in yaml.safe_load(COMMITTED.read_text())["paths"].items():
        parameters = {p["name"] for p in found.get("get", {}).get("parameters", []) if p["in"] == "query"}
        line = re.search(rf"^\| `[A-Z ]+ {re.escape(path.removeprefix('/api/v1'))}` \|.*$", page, re.M).group()
        for name in parameters - {"page", "page_size", "format"} if "/evidence/" not in path else ():
            assert f"`{name}`" in line or f"{name}=" in line, f"{path} has the filter {name}"
