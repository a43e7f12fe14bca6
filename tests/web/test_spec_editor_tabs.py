"""Two tabs over one draft, without a script: nothing is overwritten unseen; and a sign-in that ended."""

import json
from urllib.parse import quote

import pytest
from django.http import QueryDict
from django.urls import reverse

from kernels.editor.conflict import apply_choices, merge_tabs
from kernels.editor.screen import Page
from kernels.models import SpecDraft
from tests import factories as f

pytestmark = pytest.mark.django_db


def draft() -> SpecDraft:
    return SpecDraft.objects.get(user=f.designer().user)


class Tab:
    """One tab: what its page held when it was opened, and what is posted from it."""

    def __init__(self, client, section: str, choice: str = "") -> None:
        names = ["S1", choice] if choice else ["S1", section]
        self.address = reverse(f"kernels:spec_edit{'_choice' if choice else ''}", args=names)
        self.client, self.base, self.version = client, Page(section, choice).form_of(draft().content), draft().version

    def save(self, *, htmx: bool = False, base: bool = True, **typed: str):
        data = QueryDict(self.base, mutable=True)
        data |= {"version": str(self.version)}
        if base:
            data["base"] = self.base
        for name, value in typed.items():
            data[name] = value
        return self.client.post(
            self.address,
            data.urlencode(),
            content_type="application/x-www-form-urlencoded",
            headers={"HX-Request": "true"} if htmx else {},
        )


@pytest.fixture
def tab(client, forms_world):
    return lambda section, choice="": Tab(client, section, choice)


def test_changes_of_another_section_are_no_matter(tab):
    first, second = tab("overview"), tab("roles")
    assert second.save(**{"roles.stages": "8"}).status_code == 302
    assert first.save(title="New title").status_code == 302
    assert (draft().content["title"], draft().content["roles"]["stages"]) == ("New title", "8")
    assert draft().version == first.version + 2


def test_changes_of_other_fields_are_shown_and_saved_with_the_next_press(tab):
    first, second = tab("overview"), tab("overview")
    second.save(summary="By the second tab")
    answer = first.save(title="By the first tab")
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "By the second tab" in page
    assert 'value="By the first tab"' in page
    assert 'id="asked"' not in page
    assert draft().content["title"] != "By the first tab"
    again = tab("overview")
    assert again.save(title="By the first tab").status_code == 302
    assert (draft().content["title"], draft().content["summary"]) == ("By the first tab", "By the second tab")


@pytest.mark.parametrize(
    ("chosen", "title"), [("", "By the first tab"), (json.dumps("By the second"), "By the second")]
)
def test_a_field_that_both_changed_is_asked_with_all_three_values(tab, chosen, title):
    first, second = tab("overview"), tab("overview")
    before = draft().content["title"]
    second.save(title="By the second")
    page = first.save(title="By the first tab").content.decode()
    asked = page[page.index('id="asked"') :]
    for value in (before, "By the first tab", "By the second"):
        assert value in asked
    assert draft().content["title"] == "By the second"
    answered = tab("overview")
    answered.save(**{"title": "By the first tab", "choose:title": chosen})
    assert draft().content["title"] == title


@pytest.mark.parametrize("remover", ["mine", "theirs"])
def test_a_row_that_one_removed_and_the_other_edited_is_asked_with_its_edited_fields(remover):
    base = {"smem": {"regions": [{"ordinal": "1", "name": "W", "size_bytes": "16384", "can_pack": False}]}}
    gone = {"smem": {"regions": []}}
    edited = {"smem": {"regions": [{"ordinal": "1", "name": "W", "size_bytes": "8192", "can_pack": True}]}}
    mine, theirs = (gone, edited) if remover == "mine" else (edited, gone)
    posted = QueryDict(mutable=True)
    posted.update({"document": json.dumps(mine), "base": f"document={quote(json.dumps(base))}"})
    merged = merge_tabs(lambda form: json.loads(form["document"]), posted, f"document={quote(json.dumps(theirs))}")
    (asked,) = merged.asked
    kept = asked.theirs if remover == "mine" else asked.mine
    assert asked.base == "1 W 16384 (size (B): 16384; can pack: no)"
    assert kept == "1 W 8192 (size (B): 8192; can pack: yes)"
    assert (asked.mine if remover == "mine" else asked.theirs) == "(removed)"


def test_a_choice_of_two_tabs_is_merged_too(tab):
    first, second = tab("choices", "C1"), tab("choices", "C1")
    second.save(rationale="Second")
    page = first.save(title="First").content.decode()
    assert "Second" in page
    assert 'value="First"' in page


def test_a_form_without_its_base_asks_about_every_difference(tab):
    first, second = tab("overview"), tab("overview")
    second.save(title="Second")
    page = first.save(base=False, title="First").content.decode()
    assert page.count('name="choose:') == 2  # mine and theirs of the one question


def test_an_autosave_that_meets_another_tab_gets_the_merged_fields(tab):
    first, second = tab("overview"), tab("overview")
    second.save(summary="By the second tab")
    answer = first.save(htmx=True, title="First")
    assert answer.status_code == 409
    page = answer.content.decode()
    assert 'id="editor"' in page
    assert "By the second tab" in page
    assert "<html" not in page


def test_choices_that_cannot_be_read_change_nothing():
    document = {"a": "1", "rows": [{"b": "1"}, {"b": "2"}]}
    posted = QueryDict(mutable=True)
    posted.update({"choose:a": "{", "choose:nowhere": '"x"', "choose:rows[0]": "null", "choose:rows[1].b": '"3"'})
    posted.update({"choose:\N{SUPERSCRIPT TWO}": "1", f"choose:rows[{'9' * 5000}]": "1"})
    apply_choices(document, posted)
    assert document == {"a": "1", "rows": [{"b": "3"}]}


def test_a_part_that_is_sent_after_the_sign_in_ended_is_refused_and_the_page_stays(client, tab):
    open_tab = tab("overview")
    before = draft().content
    client.logout()
    answer = open_tab.save(htmx=True, title="Kept")
    assert answer.status_code == 401
    assert "HX-Redirect" not in answer
    assert b"You are signed out" in answer.content
    assert draft().content == before
    assert client.get(open_tab.address, headers={"HX-Request": "true"})["HX-Redirect"].startswith("/sign-in/")
