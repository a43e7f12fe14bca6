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
