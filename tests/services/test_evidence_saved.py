"""Saved searches: what is kept, whose they are, and what counts as new."""

import pytest

from evidence.models import SavedSearch
from evidence.search.saved import saved_searches
from evidence.services.searches import MAX_SAVED, delete_search, mark_search_seen, save_search
from tests import factories as f
from v2kb.core.errors import Missing, Refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def dead(db):
    return f.evidence_row(f.DEAD)


def test_only_what_makes_a_search_is_kept_in_one_order(dead):
    saved = save_search(f.designer(), name=" Norms ", query="?page=3&verdict=DEAD&q=norm&nonsense=1&cause=")
    assert (saved.name, saved.query) == ("Norms", "q=norm&verdict=DEAD")
    assert saved.get_absolute_url() == "/evidence/?q=norm&verdict=DEAD"


def test_the_same_name_overwrites(dead):
    first = save_search(f.designer(), name="Norms", query="q=norm")
    again = save_search(f.designer(), name="Norms", query="q=row")
    assert first.pk == again.pk
    assert SavedSearch.objects.get().query == "q=row"


def test_rows_that_come_or_change_are_new_until_they_are_seen(dead):
    saved = save_search(f.designer(), name="Norms", query="q=norm&verdict=DEAD")
    user = f.designer().user
    assert [(view.new, view.sentence) for view in saved_searches(user)] == [(0, "")]
    other = f.evidence_row(f.DEAD, title="Another row norm")
    f.evidence_row(title="A norm that is not dead")
    (view,) = saved_searches(user)
    assert (view.new, view.codes) == (1, (other.code,))
    assert view.sentence == "1 new or changed row"
    mark_search_seen(f.designer(), saved.pk)
    assert saved_searches(user)[0].new == 0
    assert saved_searches(f.curator().user) == []


def test_a_search_that_can_not_be_read_any_more_says_so(dead):
    SavedSearch.objects.create(user=f.designer().user, name="Old", query="q=foo%3Abar", seen=0)
    (view,) = saved_searches(f.designer().user)
    assert "There is no field 'foo'" in view.sentence


@pytest.mark.parametrize(
    ("name", "query", "code"),
    [
        ("x", "page=2", "evidence.saved_empty"),
        ("x", "q=foo:bar", "evidence.query"),
        ("x", "q=" + "a" * 2100, "evidence.saved_long"),
        ("", "q=norm", "core.bad_value"),
        ("n" * 101, "q=norm", "core.bad_value"),
        ("a\x00b", "q=norm", "core.bad_text"),
        ("x", "q=a%00b", "core.bad_text"),
        ("x", "lever=a%00b", "core.bad_text"),
    ],
)
def test_what_is_refused(dead, name, query, code):
    with pytest.raises(Refusal) as caught:
        save_search(f.designer(), name=name, query=query)
    assert caught.value.code == code


def test_there_is_an_end_to_them(dead):
    user = f.designer().user
    SavedSearch.objects.bulk_create(
        SavedSearch(user=user, name=f"s{number}", query="q=norm", seen=0) for number in range(MAX_SAVED)
    )
    with pytest.raises(Refusal) as caught:
        save_search(f.designer(), name="one more", query="q=norm")
    assert caught.value.code == "evidence.too_many_saved"
    assert save_search(f.designer(), name="s1", query="q=row").query == "q=row"


def test_nobody_touches_the_searches_of_others(dead):
    saved = save_search(f.designer(), name="Norms", query="q=norm")
    for act in (delete_search, mark_search_seen):
        with pytest.raises(Missing) as caught:
            act(f.curator(), saved.pk)
        assert caught.value.code == "evidence.no_saved_search"
    delete_search(f.designer(), saved.pk)
    assert not SavedSearch.objects.exists()
