"""Specs and evidence: a cited row stays, and who has an open spec on a lever may not disarm its DEAD row."""

import pytest

from evidence.hooks import citations_of, open_spec_authors
from evidence.services import accept_proposal, archive_row, create_lever, propose_change
from kernels.models import Spec
from tests import factories as f
from tests.evidence.sample import changed
from v2kb.core.errors import Conflict, Forbidden

pytestmark = pytest.mark.django_db


def test_a_cited_row_is_not_archived():
    row = f.evidence_row()
    f.op()
    spec = f.saved_revision(f.spec_content(row)).spec
    assert [citation["title"] for citation in citations_of(row)] == [spec.code]
    with pytest.raises(Conflict) as refused:
        archive_row(f.curator(), row.code, reason="a twin")
    assert refused.value.code == "evidence.row_cited"
    Spec.objects.filter(pk=spec.pk).update(archived_at=spec.created_at)
    assert archive_row(f.curator(), row.code, reason="a twin").archived_at


def test_authors_of_open_specs_on_a_lever_or_one_below_it():
    row, dead = f.evidence_row(), f.evidence_row(f.DEAD)
    f.op()
    author = f.saved_revision(f.spec_content(row)).author
    slug = row.head.content["lever"]
    assert open_spec_authors(slug) == {author.pk}
    above = create_lever(f.curator(), name="Row norms")
    row.head.lever.parent = above
    row.head.lever.save()
    assert open_spec_authors(above.slug) == {author.pk}
    assert open_spec_authors(create_lever(f.curator(), name="Unrelated").slug) == set()
    refuse_acceptance(author, dead)


def test_who_turns_the_choice_away_stays_interested():
    row, dead = f.evidence_row(), f.evidence_row(f.DEAD)
    f.op()
    first = f.saved_revision(f.spec_content(row))
    away = f.saved_revision(f.spec_content(row, polarity="defers"), spec=first.spec)
    assert (away.number, away.content["choices"][0]["polarity"], first.spec.drafts.exists()) == (2, "defers", False)
    refuse_acceptance(first.author, dead)
    Spec.objects.filter(pk=first.spec_id).update(archived_at=first.created_at)
    assert open_spec_authors(dead.head.content["lever"]) == set()


def refuse_acceptance(author, dead):
    """The author of a spec is a curator too, and may not accept a change that disarms the DEAD row."""
    author.groups.add(*f.curator().user.groups.all())
    content = changed(dead.head.content, cause_class="abandoned")
    proposal = propose_change(
        f.actor("ines", "designer"), dead, base_hash=dead.head.content_hash, content=content, reason="x"
    )
    with pytest.raises(Forbidden) as refused:
        accept_proposal(f.actor(author.username), proposal.pk)
    assert refused.value.code == "evidence.interested"
