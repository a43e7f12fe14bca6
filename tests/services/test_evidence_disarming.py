"""No single person takes a blocking DEAD row out of the way, by whichever door."""

import pytest

from evidence.models import Lever
from evidence.services import accept_proposal, create_lever, edit_lever, propose_change
from tests import factories as f
from v2kb.core.errors import Refusal

pytestmark = pytest.mark.django_db


def test_less_scope_on_a_blocking_row_needs_two_people():
    row = f.evidence_row(f.DEAD)
    narrower = {**row.head.content, "scope": {**row.head.content["scope"], "m": "1"}}
    proposal = propose_change(
        f.actor("prue", "curator", "designer"), row, base_hash=row.head.content_hash, content=narrower, reason="less"
    )
    accept_proposal(f.curator(), proposal.pk)
    row.refresh_from_db()
    assert row.head.number == 1
    accept_proposal(f.actor("carl", "curator"), proposal.pk)
    row.refresh_from_db()
    assert row.head.number == 2


def test_a_parent_with_blocking_rows_can_not_be_taken_away():
    f.evidence_row(f.DEAD)
    create_lever(f.curator(), name="Fused row norm, vectorised", slug="fused-vector", parent="fused-row-norm")
    with pytest.raises(Refusal) as caught:
        edit_lever(f.curator(), "fused-vector", name="Fused row norm, vectorised", parent="")
    assert (caught.value.code, caught.value.field) == ("evidence.lever_disarms", "parent")
    assert Lever.objects.get(slug="fused-vector").parent is not None
