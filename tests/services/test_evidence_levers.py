"""The vocabulary of levers: one name belongs to one lever, however it is spelled."""

import pytest

from evidence.models import LeverAlias
from evidence.selectors import list_levers, resolve_lever
from evidence.services import (
    add_alias,
    archive_lever,
    create_lever,
    edit_lever,
    remove_alias,
    restore_lever,
)
from tests import factories as f
from v2kb.core.activity import activity_of
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def cora(make_actor):
    return make_actor("cora", "curator")


@pytest.fixture
def split_k(cora):
    return create_lever(cora, name="Split-K", aliases=["K splitting"], description="Cut K.")


@pytest.mark.parametrize("role", ["viewer", "designer", "reviewer_performance", "operator"])
def test_other_roles_may_not_write(make_actor, split_k, role):
    actor = make_actor("olga", role)
    for call in (
        lambda: create_lever(actor, name="Another"),
        lambda: edit_lever(actor, "split-k", name="Other"),
        lambda: add_alias(actor, "split-k", "x-y"),
        lambda: remove_alias(actor, "split-k", "K splitting"),
        lambda: archive_lever(actor, "split-k", reason="no"),
        lambda: restore_lever(actor, "split-k"),
    ):
        with pytest.raises(Forbidden) as refused:
            call()
        assert refused.value.code == "core.role"
    assert list_levers().get().name == "Split-K"


def test_the_slug_comes_from_the_name_and_names_resolve_in_any_spelling(split_k):
    assert split_k.slug == "split-k"
    for name in ("Split-K", "split_k", "splitK", "SPLIT K", "k-splitting"):
        assert resolve_lever(name) == split_k
    assert resolve_lever("") is None
    assert resolve_lever("split-n") is None


@pytest.mark.parametrize("name", ["splitK", "split_k", "K-splitting"])
def test_a_taken_name_is_refused_everywhere(cora, split_k, name):
    other = create_lever(cora, name="Seven warps")
    for call in (
        lambda: create_lever(cora, name=name, slug="fresh"),
        lambda: create_lever(cora, name="Fresh", aliases=[name]),
        lambda: add_alias(cora, other.slug, name),
        lambda: edit_lever(cora, other.slug, name=name),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.code == "evidence.name_taken"
        assert refused.value.facts["lever"] == "split-k"
    assert not LeverAlias.objects.filter(lever__slug="fresh").exists()


def test_renaming_keeps_the_old_name(cora, split_k):
    edit_lever(cora, "split-k", name="K split", description="Cut K in parts.")
    assert resolve_lever("Split-K") == split_k
    assert resolve_lever("ksplit").name == "K split"
    assert activity_of(split_k)[0].before["name"] == "Split-K"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "  "}, "evidence.lever_name"),
        ({"name": "---"}, "evidence.lever_name"),
        ({"name": "x" * 201}, "evidence.lever_name"),
        ({"name": "ok", "slug": "Not A Slug"}, "evidence.lever_slug"),
        ({"name": "New"}, "evidence.lever_slug"),
        ({"name": "ok", "parent": "nothing"}, "evidence.no_lever"),
        ({"name": "ok", "description": "x" * 4001}, "evidence.lever_text"),
        ({"name": "ok", "aliases": ["!"]}, "evidence.alias_name"),
    ],
)
def test_bad_levers(cora, fields, code):
    with pytest.raises(Refusal) as refused:
        create_lever(cora, **fields)
    assert refused.value.code == code
    assert refused.value.fix


def test_aliases_come_and_go(cora, split_k):
    add_alias(cora, "split-k", "cut the K axis")
    assert resolve_lever("Cut_the_K_axis") == split_k
    with pytest.raises(Conflict):
        add_alias(cora, "split-k", "cut-the-k-axis")
    remove_alias(cora, "split-k", "CUT THE K AXIS")
    assert resolve_lever("cut the K axis") is None
    with pytest.raises(Missing) as missing:
        remove_alias(cora, "split-k", "cut the K axis")
    assert missing.value.code == "evidence.no_alias"
    with pytest.raises(Refusal) as refused:
        remove_alias(cora, "split-k", "split_k")
    assert refused.value.code == "evidence.alias_is_name"


def test_a_lever_never_stands_above_itself(cora, split_k):
    child = create_lever(cora, name="Split-K by four", parent="split-k")
    grandchild = create_lever(cora, name="Split-K by eight", parent=child.slug)
    with pytest.raises(Refusal) as refused:
        edit_lever(cora, "split-k", name="Split-K", description="Cut K.", parent=grandchild.slug)
    assert refused.value.code == "evidence.lever_cycle"
    with pytest.raises(Refusal) as refused:
        edit_lever(cora, "split-k", name="Split-K", description="Cut K.")
    assert refused.value.code == "evidence.no_change"


def test_archiving(cora, split_k):
    row = f.evidence_row(lever="split-k")
    with pytest.raises(Conflict) as refused:
        archive_lever(cora, "split-k", reason="unused")
    assert (refused.value.code, refused.value.facts["rows"]) == ("evidence.lever_in_use", [row.code])
    lever = create_lever(cora, name="Unused")
    with pytest.raises(Refusal) as refused:
        archive_lever(cora, lever.slug, reason=" ")
    assert refused.value.code == "evidence.reason_missing"
    archive_lever(cora, lever.slug, reason="a twin")
    assert list_levers().filter(slug="unused").count() == 0
    assert list_levers(archived=True).get() == lever
    with pytest.raises(Conflict) as refused:
        archive_lever(cora, lever.slug, reason="again")
    assert refused.value.code == "evidence.lever_archived"
    restore_lever(cora, lever.slug)
    with pytest.raises(Conflict) as refused:
        restore_lever(cora, lever.slug)
    assert refused.value.code == "evidence.not_archived"


def test_a_lever_that_does_not_exist(cora):
    with pytest.raises(Missing) as missing:
        edit_lever(cora, "nothing", name="x")
    assert missing.value.code == "evidence.no_lever"
