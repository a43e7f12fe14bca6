"""Bodies that are too large are refused before they are read, at every door."""

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from references.models import UploadDraft

pytestmark = pytest.mark.django_db

SIXTY_MIB = 60 * 1024 * 1024
FORM = "multipart/form-data; boundary=x"


class Unread:
    """A body that nobody may read."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = read


@pytest.fixture
def send(make_user):
    """send(path, length, type) -> the answer to a curator's POST that declares this length and is never read."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("cora", "curator"))

    def post(path: str, length: int | str, content_type: str = FORM, **extra):
        return client.generic("POST", path, content_type=content_type, **extra | {
            "CONTENT_LENGTH": str(length), "wsgi.input": Unread(),
        })  # fmt: skip

    return post


@pytest.mark.parametrize(
    ("path", "field", "limit"),
    [
        ("/references/import/", "files", "33 MiB"),
        ("/evidence/imports/new/", "file", "53 MiB"),
        ("/evidence/rows/propose/", "", "12 MiB"),
        ("/references/import/1/", "", "12 MiB"),
        ("/kernels/new/", "", "12 MiB"),
    ],
)
def test_a_page_names_the_limit_and_the_field(send, path, field, limit):
    response = send(path, SIXTY_MIB)
    html = response.content.decode()
    assert response.status_code == 413
    assert "This has 60 MiB; " in html
    assert f"may have {limit}." in html
    assert (f"Field: {field}<" in html) == bool(field)
    assert "core.body_too_large" in html
    assert "Go back" in html


@pytest.mark.parametrize("content_type", [FORM, "application/json"])
@pytest.mark.parametrize("path", ["/api/v1/evidence/import/", "/api/v1/ops/", "/api/v1/tokens/"])
def test_rest_answers_with_a_code(send, path, content_type):
    response = send(path, SIXTY_MIB, content_type)
    assert response.status_code == 413
    assert response.json()["code"] == "core.body_too_large"
    assert response.json()["facts"] == {"bytes": SIXTY_MIB, "limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}


def test_a_page_that_answers_programs_gives_them_the_code(send):
    response = send("/references/import/", SIXTY_MIB, HTTP_ACCEPT="application/json")
    assert (response.status_code, response.json()["field"]) == (413, "files")


def test_nobody_uploads_without_signing_in(client):
    response = client.generic("POST", "/references/import/", content_type=FORM, **{"wsgi.input": Unread()})
    assert response.status_code == 401


@pytest.mark.parametrize("length", ["nonsense", "-1", "0"])
def test_odd_lengths_are_no_body(make_user, client, length):
    client.force_login(make_user("cora", "curator"))
    response = client.generic("POST", "/references/import/", content_type=FORM, CONTENT_LENGTH=length)
    assert response.status_code == 422


def test_a_body_of_unknown_length_is_refused(send):
    response = send("/api/v1/ops/", "", "application/json", HTTP_TRANSFER_ENCODING="chunked")
    assert (response.status_code, response.json()["code"]) == (411, "core.length_needed")
    assert send("/references/import/", "", HTTP_TRANSFER_ENCODING="chunked").status_code == 411


def test_too_much_text_in_a_form_with_files_is_coded(make_user, client):
    client.force_login(make_user("cora", "curator"))
    response = client.post("/references/import/", {"source": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)})
    assert response.status_code == 413
    assert "12 MiB of text together" in response.content.decode()


def test_two_thousand_files_may_be_sent_and_no_more(make_user, client):
    client.force_login(make_user("cora", "curator"))
    files = [SimpleUploadedFile(f"{number}.md", b"# x") for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FILES + 1)]
    response = client.post("/references/import/", {"files": files})
    assert response.status_code == 400
    assert "core.too_many_parts" in response.content.decode()
    assert "At most 2,000 files" in response.content.decode()
    for file in files:
        file.seek(0)
    assert client.post("/references/import/", {"files": files[1:]}).status_code == 302
    assert UploadDraft.objects.count() == 1


def test_too_many_fields_are_coded(make_user, client):
    client.force_login(make_user("cora", "curator"))
    fields = {f"f{number}": "x" for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1)}
    response = client.post("/references/import/", fields)
    assert (response.status_code, "core.too_many_parts" in response.content.decode()) == (400, True)


def test_other_bad_requests_keep_their_page(client):
    assert client.get("/", HTTP_HOST="elsewhere.example").status_code == 400
