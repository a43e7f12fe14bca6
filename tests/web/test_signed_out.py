"""A form that is sent after the sign-in ended: nothing is stored, what was typed is shown, the way leads back."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evidence.models import EvidenceRow, Flag
from tests import factories as f

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> EvidenceRow:
    return f.evidence_row()


def send(row: EvidenceRow, data: dict, page: str = "", client: Client | None = None):
    address = row.get_absolute_url()
    referer = page or f"http://testserver{address}?x=1"
    return (client or Client()).post(f"{address}flag/", data, headers={"Referer": referer})


def shown(answer) -> str:
    return re.sub(r"\s+", " ", answer.content.decode())


def test_the_sign_in_page_shows_what_was_typed_and_leads_back_to_the_page_of_the_form(row):
    answer = send(row, {"reason": "long <b>text</b>", "new_password1": "hush-hush", "csrfmiddlewaretoken": "tok3n"})
    page = shown(answer)
    assert answer.status_code == 401
    assert "what you sent was not stored" in page
    assert "<dt>reason</dt><dd>long &lt;b&gt;text&lt;/b&gt;</dd>" in page
    assert "hush-hush" not in page
    assert "tok3n" not in page
    assert f'name="next" value="{row.get_absolute_url()}?x=1"' in page
    assert "Copy what you need from below before you sign in" in page.split("<noscript>")[1].split("</noscript>")[0]
    assert not Flag.objects.exists()


def test_signing_in_there_leads_back(row):
    user = f.designer().user
    user.set_password("a-long-phrase-of-mine")
    user.must_change_password = False
    user.save()
    client = Client(enforce_csrf_checks=True)
    page = shown(send(row, {"reason": "x"}, client=client))
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    signed_in = client.post(
        "/sign-in/", fields | {"username": user.username, "password": "a-long-phrase-of-mine"},
        headers={"Referer": "http://testserver/"},
    )  # fmt: skip
    assert (signed_in.status_code, signed_in.url) == (302, f"{row.get_absolute_url()}?x=1")


def test_what_another_site_sends_is_not_shown(row):
    page = shown(send(row, {"reason": "Call this number"}, page="http://elsewhere.example/evil/"))
    assert "Call this number" not in page
    assert 'name="next" value="/"' in page


@pytest.mark.parametrize("size", [10, 2 << 20])
def test_files_and_large_forms_are_not_shown_and_the_page_says_what_to_do(row, size):
    data = {"reason": "y" * size} if size > 10 else {"file": SimpleUploadedFile("log.csv", b"a,b")}
    answer = send(row, data)
    assert answer.status_code == 401
    assert "Go back, copy what you need from the form" in shown(answer)
    assert "What you sent" not in shown(answer)


def test_a_body_that_cannot_be_read_is_no_fault(row):
    address = f"{row.get_absolute_url()}flag/"
    headers = {"Referer": f"http://testserver{address}"}
    sent = Client().post(address, b"no parts", content_type="multipart/form-data; boundary=", headers=headers)
    assert sent.status_code == 401
