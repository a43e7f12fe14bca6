"""A symbol that is renamed in its table: the editor offers to rename its uses, and waits until it is asked."""

import pytest
from django.http import QueryDict
from django.urls import reverse

from kernels.editor.screen import Page
from kernels.models import SpecDraft
from tests import factories as f
from tests.web.test_spec_page_design import full_spec

pytestmark = pytest.mark.django_db
OFFER = 'form="spec-form" name="action" value="rename:STAGES=RING"'


@pytest.fixture
def overview(client, forms_world):
    """overview("save", RING="STAGES") posts the section with that name of a symbol changed, and gives the page."""
    url = reverse("kernels:spec_edit", args=[forms_world["spec"].code, "overview"])
    client.get(url)
    draft = SpecDraft.objects.get(user=f.designer().user)
    whole = full_spec()
    kept = {name: draft.content[name] for name in ("ops", "choices")}
    SpecDraft.objects.filter(pk=draft.pk).update(content={**whole, **kept})

    def post(action: str, **names: str) -> str:
        draft.refresh_from_db()
        form = QueryDict(Page("overview").form_of(draft.content), mutable=True)
        for new, old in names.items():
            (place,) = [name for name, value in form.items() if name.startswith("symbols[") and value == old]
            form[place] = new
        form["version"], form["action"] = str(draft.version), action
        answer = client.post(url, form.urlencode(), content_type="application/x-www-form-urlencoded", follow=True)
        assert answer.status_code == 200
        return answer.content.decode()

    return post


def content():
    return SpecDraft.objects.get(user=f.designer().user).content


def test_a_renamed_symbol_with_old_uses_is_offered_and_renamed_when_asked(overview):
    page = overview("save")
    assert "rename:" not in page
    before = content()
    page = overview("save", RING="STAGES")
    assert OFFER in page
    assert "STAGES" not in content()["symbols"]
    assert content()["sems"] == before["sems"], "nothing is renamed before it is asked for"
    page = overview("rename:STAGES=RING")
    assert "rename:" not in page
    after = content()
    assert [row["slots"] for row in after["sems"]["rows"][:3]] == ["RING", "RING", "RING"]
    assert after["sems"]["num_op_sems"] == before["sems"]["num_op_sems"].replace("STAGES", "RING")
    assert after["choices"] == before["choices"]


def test_an_axis_of_the_op_s_contract_is_no_old_name(overview):
    draft = SpecDraft.objects.get(user=f.designer().user)
    for name, offered in (("cols", False), ("colours", True)):
        draft.refresh_from_db()
        draft.content["symbols"]["SPARE"] = "1"
        draft.content["roles"]["stages"] = name
        draft.save()
        assert (f"rename:{name}=SPARE" in overview("save")) == offered


@pytest.mark.parametrize(
    "action", ["rename:STAGES=NOWHERE", "rename:STAGES=ACC", "rename:", "rename:=", "rename:A=B:3"]
)
def test_a_rename_that_was_not_offered_changes_nothing(overview, action):
    before = content()
    overview(action)
    assert content() == before
