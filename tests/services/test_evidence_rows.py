"""Flags, supersession, archive, and what they do to a pin."""

import pytest

from evidence import hooks
from evidence.models import EvidenceRevision, Supersession
from evidence.selectors import pin_reasons, states_of
from evidence.services import archive_row, clear_flag, confirm_flag, edit_lever, flag_row, restore_row, supersede_row
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(db):
    """U1, U2, U3."""
    return [f.evidence_row(title=f"Row {number}") for number in (1, 2, 3)]


@pytest.fixture
def vita(make_actor):
    return make_actor("vita", "viewer")


def pinned(row):
    revision = EvidenceRevision.objects.select_related("row__head").get(pk=row.head_id)
    return revision, revision.created_at


def test_anyone_signed_in_raises_a_flag_and_a_curator_confirms(rows, vita, cleo):
    row = rows[0]
    flag = flag_row(vita, row.code, reason="the trace is gone")
    assert (states_of([row.pk])[row.pk].flags, states_of([row.pk])[row.pk].confirmed) == (1, 0)
    assert pin_reasons(*pinned(row)) == []
    with pytest.raises(Forbidden) as refused:
        confirm_flag(vita, flag.pk)
    assert refused.value.code == "core.role"
    confirm_flag(cleo, flag.pk)
    assert [reason.code for reason in pin_reasons(*pinned(row))] == ["flag"]
    with pytest.raises(Forbidden) as refused:
        clear_flag(vita, flag.pk, reason="it is back")
    assert refused.value.code == "evidence.not_author"
    clear_flag(cleo, flag.pk, reason="it is back")
    assert pin_reasons(*pinned(row)) == []


def test_flags_that_are_refused(rows, vita, cleo):
    row = rows[0]
    with pytest.raises(Forbidden) as refused:
        flag_row(Actor(user=None, kind="user", channel="page"), row.code, reason="x")
    assert refused.value.code == "core.sign_in"
    with pytest.raises(Refusal) as refused:
        flag_row(vita, row.code, reason="")
    assert refused.value.code == "evidence.reason_missing"
    flag = flag_row(vita, row.code, reason="x")
    with pytest.raises(Conflict) as refused:
        flag_row(vita, row.code, reason="y")
    assert refused.value.code == "evidence.flag_open"
    flag_row(cleo, row.code, reason="mine too")
    confirm_flag(cleo, flag.pk)
    with pytest.raises(Conflict) as refused:
        confirm_flag(cleo, flag.pk)
    assert refused.value.code == "evidence.flag_closed"
    clear_flag(cleo, flag.pk, reason="done")
    for call in (lambda: confirm_flag(cleo, flag.pk), lambda: clear_flag(cleo, flag.pk, reason="again")):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.code == "evidence.flag_closed"
    with pytest.raises(Missing) as missing:
        confirm_flag(cleo, 424242)
    assert missing.value.code == "evidence.no_flag"


def test_nobody_confirms_a_flag_that_they_raised(rows, cleo, make_actor):
    row = rows[0]
    flag = flag_row(cleo, row.code, reason="the trace is gone")
    with pytest.raises(Forbidden) as refused:
        confirm_flag(cleo, flag.pk)
    assert refused.value.code == "evidence.own_flag"
    assert pin_reasons(*pinned(row)) == []
    confirm_flag(make_actor("carl", "curator"), flag.pk)
    assert [reason.code for reason in pin_reasons(*pinned(row))] == ["flag"]


def test_the_author_takes_an_unconfirmed_flag_down(rows, vita, make_actor):
    flag = flag_row(vita, rows[0].code, reason="x")
    with pytest.raises(Forbidden):
        clear_flag(make_actor("dirk", "designer"), flag.pk, reason="I disagree")
    assert clear_flag(vita, flag.pk, reason="my mistake").cleared_by == vita.user


def test_supersession_shows_at_both_ends_and_moves_pins(rows, cleo):
    older, newer, _ = rows
    revision = pinned(older)
    supersede_row(cleo, newer="U2", older="U1", kind="replaces", reason="a better probe")
    assert states_of([older.pk])[older.pk].superseded_by == ("U2",)
    assert newer.supersedes.get().older == older
    assert [reason.code for reason in pin_reasons(*revision)] == ["supersession"]
    supersede_row(cleo, newer="U3", older="U2", kind="contradicts", reason="other machine")
    assert states_of([newer.pk])[newer.pk].superseded_by == ()


def test_supersession_is_never_a_circle(rows, cleo):
    supersede_row(cleo, newer="U2", older="U1", kind="narrows", reason="x")
    supersede_row(cleo, newer="U3", older="U2", kind="replaces", reason="x")
    with pytest.raises(Conflict) as refused:
        supersede_row(cleo, newer="U1", older="U3", kind="merges", reason="x")
    assert refused.value.code == "evidence.supersession_cycle"
    assert Supersession.objects.count() == 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"kind": "improves"}, "evidence.supersession_kind"),
        ({"newer": "U1"}, "evidence.supersession_self"),
        ({"newer": "U9"}, "evidence.no_row"),
        ({"reason": " "}, "evidence.reason_missing"),
    ],
)
def test_supersessions_that_are_refused(rows, cleo, fields, code):
    with pytest.raises(Refusal) as refused:
        supersede_row(cleo, **{"newer": "U2", "older": "U1", "kind": "replaces", "reason": "x", **fields})
    assert refused.value.code == code


def test_the_same_edge_twice_and_other_roles(rows, cleo, vita):
    edge = {"newer": "U2", "older": "U1", "kind": "replaces", "reason": "x"}
    with pytest.raises(Forbidden):
        supersede_row(vita, **edge)
    supersede_row(cleo, **edge)
    with pytest.raises(Conflict) as refused:
        supersede_row(cleo, **edge)
    assert refused.value.code == "evidence.supersession_exists"


def test_one_person_can_not_lift_a_blocking_row_by_superseding_or_archiving(rows, cleo):
    dead = f.evidence_row(f.DEAD)
    survey = f.evidence_row(f.DEAD, cause_class="ruled_out_by_survey", title="Survey")
    other = f.evidence_row(f.DEAD, title="A wider kill")
    for newer in ("U1", survey.code):
        with pytest.raises(Refusal) as refused:
            supersede_row(cleo, newer=newer, older=dead.code, kind="replaces", reason="x")
        assert refused.value.code == "evidence.supersession_disarms"
    supersede_row(cleo, newer="U1", older=dead.code, kind="contradicts", reason="another regime")
    supersede_row(cleo, newer=other.code, older=dead.code, kind="replaces", reason="it says more")
    with pytest.raises(Refusal) as refused:
        archive_row(cleo, dead.code, reason="old")
    assert refused.value.code == "evidence.archive_blocking"


@pytest.mark.parametrize("kind", ["replaces", "merges"])
def test_a_blocking_row_is_not_superseded_by_one_that_blocks_something_else(cleo, kind):
    dead = f.evidence_row(f.DEAD)
    narrow = {**f.DEAD["scope"], "dtype": ["bfloat16"]}
    other_lever = f.evidence_row(f.DEAD, lever="another-lever", title="Another kill")
    for newer in (other_lever, f.evidence_row(f.DEAD, scope=narrow, title="A narrow kill")):
        with pytest.raises(Refusal) as refused:
            supersede_row(cleo, newer=newer.code, older=dead.code, kind=kind, reason="x")
        assert refused.value.code == "evidence.supersession_disarms"
    edit_lever(cleo, f.DEAD["lever"], name=dead.head.lever.name, parent="another-lever")
    supersede_row(cleo, newer=other_lever.code, older=dead.code, kind=kind, reason="the lever above is dead")


def test_archive_only_what_nobody_cites(rows, cleo, vita):
    row = rows[0]
    with pytest.raises(Forbidden):
        archive_row(vita, row.code, reason="x")
    hooks.CITATIONS.add("test", lambda cited: [{"title": "S1", "url": "/", "state": ""}] if cited == row else [])
    try:
        with pytest.raises(Conflict) as refused:
            archive_row(cleo, row.code, reason="x")
        assert refused.value.code == "evidence.row_cited"
        assert "S1" in refused.value.message
    finally:
        hooks.CITATIONS.add("test", lambda cited: [])
    assert archive_row(cleo, row.code, reason="a twin").archived_at
    with pytest.raises(Conflict) as refused:
        archive_row(cleo, row.code, reason="again")
    assert refused.value.code == "evidence.row_archived"
    with pytest.raises(Forbidden):
        restore_row(vita, row.code)
    assert restore_row(cleo, row.code).archived_at is None
    with pytest.raises(Conflict) as refused:
        restore_row(cleo, row.code)
    assert refused.value.code == "evidence.not_archived"
