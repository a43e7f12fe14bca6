"""REST of references: what it shows, to whom, and bad input."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Document, Section
from references.services.guidelines import set_guidelines

pytestmark = pytest.mark.django_db

RULES = "# House rules\n\n## 1. Roles\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n### Loader\n\nloads\n"
CATALOGUE = """# Catalogue — up/main @ 0123abcd (studied 2026-01-02)

| Kernel | Family | Task type | Arity |
|---|---|---|---|
| gemm.cuh | A | TASK_GEMM_V2 (7) | (2,1) |

## Family A — ring pipeline

When to copy: real GEMMs.
"""
LISTS = ["documents", "sections", "snapshots", "families", "upstream-kernels", "guidelines"]


@pytest.fixture
def documents(system):
    import_documents(system, files=Files(texts=[("rules.md", RULES), ("catalogue.md", CATALOGUE)]))
    rule = {"title": "Cold caches", "text": "Measure cold.", "anchor": "roles"}
    set_guidelines(system, Document.objects.get(slug="rules"), "measurement_rule", [rule])


@pytest.fixture
def viewer(client, make_user):
    client.force_login(make_user("vera", "viewer"))
    return client


def get(client, path):
    response = client.get(f"/api/v1/{path}")
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.parametrize("name", LISTS)
def test_anonymous_gets_nothing(client, documents, name):
    assert client.get(f"/api/v1/{name}/").status_code in (401, 403)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_written(viewer, documents, name, method):
    assert getattr(viewer, method)(f"/api/v1/{name}/", {}, content_type="application/json").status_code == 405


def test_documents_with_head_and_revisions(viewer, documents, system):
    import_documents(system, files=Files(texts=[("rules.md", RULES + "\nmore\n")]))
    body = get(viewer, "documents/")
    assert [item["slug"] for item in body["results"]] == ["catalogue", "rules"]
    assert body["results"][1]["head"]["number"] == 2
    assert body["results"][1]["section_count"] == 3
    assert [item["number"] for item in get(viewer, "documents/rules/revisions/")] == [2, 1]
    assert [item["slug"] for item in get(viewer, "documents/?q=loads")["results"]] == ["rules"]
    assert get(viewer, "documents/rules/")["title"] == "House rules"


def test_the_archived_filter(viewer, documents, system):
    from references.services.documents import archive_document

    archive_document(system, slug="catalogue")
    assert [item["slug"] for item in get(viewer, "documents/?archived=true")["results"]] == ["catalogue"]
    assert [item["slug"] for item in get(viewer, "documents/?archived=false")["results"]] == ["rules"]


def test_sections_of_heads_and_of_a_cited_revision(viewer, documents, system):
    old = Document.objects.get(slug="rules").head.content_hash
    import_documents(system, files=Files(texts=[("rules.md", RULES.replace("loads", "waits"))]))
    heads = get(viewer, "sections/?document=rules")["results"]
    assert [item["anchor"] for item in heads] == ["house-rules", "roles", "loader"]
    assert heads[1]["blocks"][0]["rows"] == [{"line": 7, "cells": ["1", "2"]}]
    assert heads[2]["parent"] == "roles"
    assert "waits" in heads[2]["text"]
    assert "loads" in get(viewer, f"sections/?document=rules&anchor=loader&revision={old}")["results"][0]["text"]
    cited = get(viewer, f"documents/rules/sections/loader/?revision={old}")
    assert (cited["revision"], cited["revision_number"]) == (old, 1)
    assert get(viewer, "documents/rules/sections/1/")["anchor"] == "roles"
    first = Section.objects.order_by("id").first()
    assert get(viewer, f"sections/{first.pk}/")["anchor"] == first.anchor


def test_snapshots_families_kernels_and_guidelines(viewer, documents):
    snapshot = get(viewer, "snapshots/")["results"][0]
    assert (snapshot["commit"], snapshot["kernel_count"], snapshot["family_count"]) == ("0123abcd", 1, 1)
    assert (snapshot["document"], snapshot["studied_on"]) == ("catalogue", "2026-01-02")
    family = get(viewer, "families/?current=true")["results"][0]
    assert (family["letter"], family["when_to_copy"]) == ("A", "real GEMMs.")
    kernel = get(viewer, f"upstream-kernels/?snapshot={snapshot['id']}&family=A")["results"][0]
    assert (kernel["name"], kernel["task_ids"], kernel["arities"]) == ("gemm", [7], [[2, 1]])
    assert get(viewer, "upstream-kernels/?family=B")["results"] == []
    rule = get(viewer, "guidelines/?kind=measurement_rule&document=rules")["results"][0]
    assert (rule["number"], rule["title"]) == (1, "Cold caches")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("documents/none/", 404),
        ("documents/none/revisions/", 404),
        ("documents/rules/sections/none/", 404),
        ("documents/rules/sections/roles/?revision=abc", 404),
        ("documents/rules/sections/roles/?revision=%00", 400),
        ("documents/rules/sections/%00/", 400),
        ("sections/999999999999999999/", 404),
        ("sections/x/", 404),
        ("snapshots/9/", 404),
        ("upstream-kernels/?family=Q", 400),
        ("guidelines/?kind=advice", 400),
        ("families/?snapshot=x", 400),
        ("documents/?q=" + "x" * 300, 400),
        ("sections/?q=%00", 400),
    ],
)
def test_bad_requests_get_an_answer_with_a_code(viewer, documents, path, status):
    response = viewer.get(f"/api/v1/{path}")
    assert response.status_code == status
    if "json" in response.headers["Content-Type"]:
        assert response.json()["code"]


def test_query_counts_do_not_grow(viewer, documents, system):
    paths = [f"{name}/" for name in LISTS]

    def counts():
        found = {}
        for path in paths:
            with CaptureQueriesContext(connection) as captured:
                get(viewer, path)
            found[path] = len(captured)
        return found

    counts()
    before = counts()
    many = [(f"d{n}.md", f"# Doc {n}\n\n## A\n\n## B\n") for n in range(20)]
    import_documents(system, files=Files(texts=many))
    import_documents(system, files=Files(texts=[("catalogue.md", CATALOGUE.replace("0123abcd", "4567abcd"))]))
    assert counts() == before
