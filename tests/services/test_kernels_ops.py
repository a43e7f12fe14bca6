"""Ops: created with a contract, revised on top of the one that was read, stopped with the rows that decided."""

import copy

import pytest

from evidence.services.archive import archive_row
from kernels.models import Op, OpContract, OpStop
from kernels.selectors.specs import spec_status
from kernels.services.ops import create_op, revise_op, stop_op
from kernels.services.specs import create_spec
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.rules.canonical import content_hash

pytestmark = pytest.mark.django_db


def changed(op, **fields):
    return {**copy.deepcopy(op.head.content), **fields}


def test_an_op_begins_with_its_first_contract():
    op = f.op()
    assert (op.head.number, op.head.content_hash) == (1, content_hash(op.head.content))
    assert (op.head.envelope, op.head.target, op.head.family) == ("cpu", "cpu", "B")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"title": ""}, "title"),
        ({"title": "x" * 300}, "title"),
        ({"axes": {"rows": {"value": "1/0"}}}, "axes"),
        ({"inputs": [{"name": "x", "shape": ["nowhere"]}]}, "inputs"),
        ({"outputs": []}, "outputs"),
        ({"envelope": "moon"}, "envelope"),
        ({"workloads": [{"name": "small", "axes": {"rows": "-4"}}]}, "workloads"),
        ({"reference": 7}, "reference"),
        ({"tolerance": {"cos_min": "2", "rel_max": "x"}}, "tolerance"),
        ({"grid": 1.5}, "grid"),
        ({"surprise": "x"}, "surprise"),
    ],
)
def test_a_contract_that_cannot_be_read_names_the_field(fields, named):
    with pytest.raises(Refusal) as caught:
        f.op(**fields)
    assert caught.value.code == "op.unreadable"
    assert any(problem["field"].startswith(named) for problem in caught.value.problems)
    assert not Op.objects.exists()


@pytest.mark.parametrize("content", [None, [], "text", {}, {"axes": "rows"}, {"inputs": {"x": 1}}, {"title": "\ud800"}])
def test_what_is_no_contract_at_all_is_refused_too(content):
    with pytest.raises(Refusal) as caught:
        create_op(f.designer(), slug="odd", content=content)
    assert caught.value.code == "op.unreadable"


@pytest.mark.parametrize("slug", ["", "a b", "../x", "x" * 81, "a\x00b", "ä"])
def test_a_name_that_no_address_can_hold_is_refused(slug):
    with pytest.raises(Refusal) as caught:
        f.op(slug)
    assert (caught.value.field, caught.value.status) == ("slug", 422)
    assert not Op.objects.exists()


def test_a_taken_name_is_a_conflict():
    f.op()
    with pytest.raises(Conflict) as caught:
        f.op()
    assert (caught.value.code, caught.value.field) == ("op.slug_taken", "slug")


def test_a_revision_on_a_stale_base_loses_nothing_and_writes_nothing():
    op = f.op()
    base = op.head.content_hash
    revise_op(f.designer(), op=op, base_hash=base, content=changed(op, title="Theirs"))
    with pytest.raises(Conflict) as caught:
        revise_op(f.actor("dan", "designer"), op=op, base_hash=base, content=changed(op, title="Mine"))
    assert (caught.value.code, caught.value.facts) == ("op.stale_base", {"head": 2})
    op.refresh_from_db()
    assert (op.title, op.contracts.count()) == ("Theirs", 2)


def test_the_same_contract_makes_no_new_one():
    op = f.op()
    revise_op(f.designer(), op=op, base_hash=op.head.content_hash, content=changed(op))
    assert OpContract.objects.count() == 1


def test_a_stop_needs_a_reason_and_rows_that_exist():
    op, row = f.op(), f.evidence_row()
    for fields, code in [
        ({"reason": " ", "codes": [row.code]}, "op.reason_missing"),
        ({"reason": "enough", "codes": []}, "op.rows_missing"),
        ({"reason": "enough", "codes": [row.code, "D99"]}, "op.unknown_rows"),
        ({"reason": "a\x00b", "codes": [row.code]}, "core.bad_text"),
        ({"reason": "enough", "codes": [row.code], "lever": "x" * 81}, "core.bad_value"),
    ]:
        with pytest.raises(Refusal) as caught:
            stop_op(f.designer(), op=op, **fields)
        assert caught.value.code == code
    assert not OpStop.objects.exists()


def test_a_stop_pins_the_rows_and_stops_specs_that_were_begun():
    op, row = f.op(), f.evidence_row()
    spec = create_spec(f.designer(), title="Fused", ops=[op])
    stop = stop_op(f.designer(), op=op, reason="the bound leaves nothing", codes=[row.code])
    assert stop.rows == [{"code": row.code, "revision": row.head.content_hash}]
    status = spec_status(spec)
    assert status.state == "stopped"
    assert "the bound leaves nothing" in status.reason


def test_an_archived_row_can_still_have_decided():
    op, row = f.op(), f.evidence_row()
    archive_row(f.curator(), row.code, reason="old")
    assert stop_op(f.designer(), op=op, reason="enough", codes=[row.code]).rows[0]["code"] == row.code


@pytest.mark.parametrize("roles", [(), ("viewer",), ("implementer", "validator", "curator", "administrator")])
def test_only_designers_write_ops(roles, make_actor):
    op, row = f.op(), f.evidence_row()
    who = make_actor("ann", *roles)
    for act in (
        lambda: create_op(who, slug="other", content=f.CONTRACT),
        lambda: revise_op(who, op=op, base_hash=op.head.content_hash, content=changed(op, title="x")),
        lambda: stop_op(who, op=op, reason="x", codes=[row.code]),
    ):
        with pytest.raises(Forbidden):
            act()
    assert (Op.objects.count(), OpContract.objects.count(), OpStop.objects.count()) == (1, 1, 0)
