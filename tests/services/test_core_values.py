"""Core: values that columns can't hold, rows that somebody else wrote first, links and roles looked up once."""

import pytest
from django import forms
from django.db import DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from evidence.models import Lever
from kernels.models import Anchor, Kernel
from tests import factories as f
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.guards.errors import refusal_from_database
from v2kb.core.markdown import links_looked_up_once, render
from v2kb.core.models import User
from v2kb.core.service import SERVICES, service
from v2kb.core.values import check_document, check_text, check_values, whole_number
from v2kb.core.views import add_refusal


@pytest.mark.parametrize(
    ("model", "values", "code"),
    [
        (Kernel, {"slug": "a b"}, "core.bad_value"),
        (Kernel, {"slug": ""}, "core.bad_value"),
        (Kernel, {"title": "x" * 201}, "core.bad_value"),
        (Anchor, {"method": "a\x00"}, "core.bad_text"),
        (Anchor, {"method": "\ud800"}, "core.bad_text"),
    ],
)
def test_a_text_that_its_column_cannot_hold_is_refused(model, values, code):
    with pytest.raises(Refusal) as caught:
        check_values(model, **values)
    assert (caught.value.code, caught.value.field) == (code, next(iter(values)))


def test_texts_that_columns_hold_pass():
    check_values(Kernel, slug="row-norm_2", title="Ünïcode 漢字 " + "x" * 180)
    check_text("tabs\tand\nlines \U0001f600", "note")
    check_document({"a": ["1", 2, None, True, {"b": "c"}]}, "content", 1000)


def test_documents_name_the_place_of_what_is_wrong():
    deep: list = []
    for _ in range(3000):
        deep = [deep]
    for value, field in [
        ({"a": {"b": [0.5]}}, "a.b[0]"),
        ({"a": {"b": ["x\x00"]}}, "content.a.b[0]"),
        ({"a": "x" * 2000}, "content"),
        (deep, "content"),
    ]:
        with pytest.raises(Refusal) as caught:
            check_document(value, "content", 1000)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("007", 7), ("", 5), ("x", 5), ("-1", 5), ("1.5", 5), ("\u00b2", 5), ("\u0663", 5), ("9" * 5000, 5)],
)
def test_whole_numbers_of_forms(text, number):
    assert whole_number(text, default=5) == number


@pytest.mark.django_db
def test_a_row_that_somebody_wrote_first_is_a_conflict_in_every_service():
    @service("test.twice", silent=True)
    def twice(actor):
        for _ in range(2):
            Lever.objects.create(slug="same", name="same")

    try:
        with pytest.raises(Conflict) as caught:
            twice(f.designer())
    finally:
        del SERVICES["test.twice"]
    assert caught.value.code == "database.taken"
    assert not Lever.objects.exists()


@pytest.mark.django_db
def test_faults_of_the_program_stay_faults():
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        Lever.objects.create(slug="x", name=None)
    assert refusal_from_database(caught.value) is None
    assert refusal_from_database(DataError("value too long for type character varying(80)")).status == 400


@pytest.mark.django_db
def test_a_link_is_looked_up_once_within_a_request():
    row = f.evidence_row()
    text = f"[[{row.code}]] and [[{row.code}]] and [[D99]] and [[D99]]"
    with CaptureQueriesContext(connection) as alone:
        outside = render(text)
    with links_looked_up_once(), CaptureQueriesContext(connection) as together:
        inside = render(text)
        assert render(text) == inside
    assert inside == outside
    assert (len(alone), len(together)) == (4, 2)
    assert inside.count(row.get_absolute_url()) == 2


@pytest.mark.django_db
def test_a_request_has_one_actor_for_each_user_and_channel(rf, make_user):
    request = rf.get("/")
    request.user = make_user("ann", "designer")
    first = actor_from_request(request)
    assert first.roles == {"designer"}
    assert actor_from_request(request) is first
    assert actor_from_request(request, "api") is not first
    request.user = make_user("bob")
    assert actor_from_request(request).user.username == "bob"
    assert actor_from_request(rf.get("/")).user is None
    assert User.objects.count() == 2


def test_a_refusal_goes_to_the_field_it_is_about_and_says_where_inside_it():
    class Contract(forms.Form):
        inputs = forms.CharField()
        title = forms.CharField()

    form = Contract({"inputs": "x", "title": "t"})
    problems = [
        {"code": "a", "message": "No dtype.", "field": "inputs[0].dtype", "fix": "Name one."},
        {"code": "b", "message": "Too long.", "field": "title", "fix": None},
        {"code": "c", "message": "Unknown.", "field": "choices[1].lever", "fix": None},
        {"code": "d", "message": "In general.", "field": None, "fix": None},
    ]
    add_refusal(form, Refusal("x", "y", problems=problems))
    assert form.errors["inputs"] == ["inputs[0].dtype: No dtype. Name one."]
    assert form.errors["title"] == ["Too long."]
    assert form.non_field_errors() == ["choices[1].lever: Unknown.", "In general."]
