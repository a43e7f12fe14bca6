"""A position of someone who lost the role, or left, closes no quorum."""

import pytest

from kernels.models import Approval
from kernels.selectors.reviews import what_is_missing
from kernels.services.reviews import close_quorum, take_position
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict

pytestmark = pytest.mark.django_db


def test_an_approval_needs_an_approver_who_may_still_review():
    f.op()
    revision = f.saved_revision(f.spec_content(f.evidence_row()))
    submit_spec(f.designer(), revision=revision)
    # A discussion keeps the quorum open while the first reviewer approves and leaves.
    other = f.actor("rita", "reviewer_performance", "reviewer_correctness")
    take_position(other, revision=revision, aspect="performance", position="discuss", note="why 5%?")
    take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    f.reviewer().user.groups.clear()
    take_position(other, revision=revision, aspect="performance", position="no_objection")
    assert not Approval.objects.exists()
    assert any("correctness" in line for line in what_is_missing(revision))
    with pytest.raises(Conflict):
        close_quorum(Actor.of_user(other.user), revision=revision)
    take_position(Actor.of_user(other.user), revision=revision, aspect="correctness", position="approve")
    assert Approval.objects.get().approver == other.user
