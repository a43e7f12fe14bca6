"""Waivers on a spec's page: who sees which form, and that a refusal comes back with what was typed."""

from html import unescape

import pytest

from kernels.models import FindingWaiver
from tests import factories as f

pytestmark = pytest.mark.django_db

PATH = "granularity[0].listed"


@pytest.fixture
def spec():
    f.op()
    content = f.spec_content(f.evidence_row())
    content["granularity"][0]["listed"] = "2"
    return f.saved_revision(content).spec


@pytest.fixture
def look(client, spec):
    def look(actor):
        client.force_login(actor.user)
        return unescape(client.get(spec.get_absolute_url()).content.decode())

    return look


def post(client, actor, address, **data):
    client.force_login(actor.user)
    return client.post(address, data)


def ask(client, spec, reason="The list counts both runs."):
    return post(client, f.designer(), f"/specs/{spec.code}/waivers/", rule="R40", path=PATH, reason=reason)


def test_the_designer_asks_and_the_reviewer_agrees(client, spec, look):
    assert "Ask for a waiver" in look(f.designer())
    assert "Ask for a waiver" not in look(f.reviewer())
    assert ask(client, spec).status_code == 302
    waiver = FindingWaiver.objects.get()
    assert "dora asks that it may stand: The list counts both runs." in look(f.reviewer())
    assert "Ask for a waiver" not in look(f.designer())
    assert 'value="agreed"' not in look(f.designer())
    address = f"/specs/{spec.code}/waivers/{waiver.pk}/"
    assert 'value="agreed"' in look(f.reviewer())
    assert post(client, f.reviewer(), address, answer="agreed").status_code == 302
    shown = look(f.actor("vera", "viewer"))
    assert "Waived for dora: The list counts both runs. Agreed by remy" in shown
    assert "Nothing blocks. 1 waived." in shown
    assert "Take back" in look(f.designer())


def home(client, actor):
    client.force_login(actor.user)
    return unescape(client.get("/").content.decode())


def test_a_request_is_a_turn_of_who_may_answer_it(client, spec):
    """Whether the spec was handed in or not; it ends with an answer, and with a revision without the finding."""
    waits = "Answer a waiver on S1"
    writer = f.actor("rita", "reviewer_correctness", "designer")
    f.saved_revision({**spec.head.content, "title": "Rita's"}, spec=spec, who=writer)
    ask(client, spec)
    for actor in (f.reviewer(), f.actor("paul", "reviewer_performance")):
        shown = home(client, actor)
        assert waits in shown
        assert "dora asks that R40 may stand: The list counts both runs." in shown
        assert f"/specs/{spec.code}/#findings-h" in shown
    for actor in (f.designer(), writer, f.curator(), f.actor("vera", "viewer")):
        assert waits not in home(client, actor)

    spec.refresh_from_db()
    f.saved_revision({**spec.head.content, "title": "Listed still"}, spec=spec)
    assert waits in home(client, f.reviewer())
    content = spec.head.content
    content["granularity"][0]["listed"] = content["granularity"][0]["num_tasks"]
    f.saved_revision(content, spec=spec)
    assert waits not in home(client, f.reviewer())


def test_an_answered_request_is_nobodys_turn(client, spec):
    ask(client, spec)
    address = f"/specs/{spec.code}/waivers/{FindingWaiver.objects.get().pk}/"
    assert post(client, f.reviewer(), address, answer="agreed").status_code == 302
    assert "Answer a waiver" not in home(client, f.reviewer())


def test_only_who_asked_takes_a_request_back_until_a_reviewer_agrees(client, spec, look):
    ask(client, spec)
    address = f"/specs/{spec.code}/waivers/{FindingWaiver.objects.get().pk}/"
    assert "Take back" in look(f.designer())
    assert "Take back" not in look(f.reviewer())
    assert post(client, f.reviewer(), address, answer="withdrawn").status_code == 403
    assert post(client, f.reviewer(), address, answer="agreed").status_code == 302
    assert "Take back" in look(f.actor("paul", "reviewer_performance"))


def test_a_refusal_keeps_what_was_typed(client, spec):
    refused = ask(client, spec, reason="x" * 2001)
    assert refused.status_code == 422
    assert "x" * 2001 in refused.content.decode()
    assert "A waiver needs a reason" in refused.content.decode()
    ask(client, spec)
    address = f"/specs/{spec.code}/waivers/{FindingWaiver.objects.get().pk}/"
    assert post(client, f.reviewer(), address, answer="refused").status_code == 422
    assert post(client, f.designer(), address, answer="agreed").status_code == 403


def test_a_waiver_of_another_spec_is_not_there(client, spec):
    ask(client, spec)
    pk = FindingWaiver.objects.get().pk
    assert post(client, f.reviewer(), f"/specs/S99/waivers/{pk}/", answer="agreed").status_code == 404
