"""Two at once, on PostgreSQL: locks decide, nobody's work is lost, nothing is done twice."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections

from evidence.models import EvidenceRow, Proposal, RunReceipt, Supersession
from evidence.services import (
    accept_proposal,
    create_lever,
    propose_change,
    propose_from_run,
    propose_row,
    supersede_row,
)
from tests import factories as f
from tests.evidence.sample import changed
from v2kb.core.activity import broken_links
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _postgresql():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run all calls at the same moment, each on its own connection. Returns results; refusals come as their codes."""
    start, results = threading.Barrier(len(calls)), [None] * len(calls)

    def run(index: int, call: Callable[[], Any]) -> None:
        try:
            start.wait(timeout=20)
            results[index] = call()
        except Refusal as refusal:
            results[index] = refusal.code
        except Exception as error:
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(index, call)) for index, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    crashed = [result for result in results if isinstance(result, Exception)]
    assert not crashed, crashed
    return results


def propose(actor: Actor, row: EvidenceRow, bound: str) -> Proposal:
    row = EvidenceRow.objects.select_related("head").get(pk=row.pk)
    content = changed(row.head.content, bound=bound)
    return propose_change(actor, row, base_hash=row.head.content_hash, content=content, reason="x")


def test_two_proposals_accepted_at_once_leave_one_stale():
    row = f.evidence_row()
    one = propose(f.actor("d1", "designer"), row, "one")
    two = propose(f.actor("d2", "designer"), row, "two")
    c1, c2 = f.actor("c1", "curator"), f.actor("c2", "curator")
    results = at_once(lambda: accept_proposal(c1, one.pk).state, lambda: accept_proposal(c2, two.pk).state)
    assert sorted(results) == ["accepted", "evidence.stale_base"]
    row.refresh_from_db()
    assert row.head.number == 2
    assert Proposal.objects.filter(row=row, state="open").count() == 1
    assert broken_links() == []


def test_one_proposal_accepted_twice_at_once_makes_one_revision():
    row = f.evidence_row()
    proposal = propose(f.actor("d1", "designer"), row, "one")
    c1, c2 = f.actor("c1", "curator"), f.actor("c2", "curator")
    results = at_once(lambda: accept_proposal(c1, proposal.pk).state, lambda: accept_proposal(c2, proposal.pk).state)
    assert sorted(results) == ["accepted", "evidence.proposal_closed"]
    assert row.revisions.count() == 2


def test_two_acceptors_at_once_are_two():
    row = f.evidence_row(f.DEAD)
    content = changed(row.head.content, cause_class="abandoned")
    proposal = propose_change(
        f.actor("d1", "designer"), row, base_hash=row.head.content_hash, content=content, reason="x"
    )
    c1, c2 = f.actor("c1", "curator"), f.actor("c2", "curator")
    results = at_once(lambda: accept_proposal(c1, proposal.pk).state, lambda: accept_proposal(c2, proposal.pk).state)
    assert sorted(results) == ["accepted", "open"]
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decisions.count()) == ("accepted", 2)


def test_new_rows_at_once_get_different_codes():
    base = f.evidence_row()
    proposals = [
        propose_row(f.actor("d1", "designer"), content=changed(base.head.content, title=f"Row {n}"), reason="x")
        for n in range(4)
    ]
    curators = [f.actor(f"c{n}", "curator") for n in range(4)]
    calls = [lambda c=c, p=p: accept_proposal(c, p.pk).row.code for c, p in zip(curators, proposals, strict=True)]
    assert sorted(at_once(*calls)) == ["U2", "U3", "U4", "U5"]


def test_two_runs_at_once_make_one_proposal():
    row, author = f.evidence_row(), f.actor("vera", "validator").user

    def send(run: str) -> int:
        return propose_from_run(
            Actor.worker(run), author=author, row_code=row.code, run_id=run, result_hash=run[-1] * 64, judgement="WIN",
            grade="decides", sentence="x", content_change={"mechanism": "faster"},
        ).proposal.pk  # fmt: skip

    results = at_once(lambda: send("R1"), lambda: send("R2"), lambda: send("R1"))
    assert len(set(results)) == 1
    assert RunReceipt.objects.filter(row=row).count() == 2


def test_the_same_person_proposing_twice_at_once_opens_one():
    row, dora = f.evidence_row(), f.actor("d1", "designer")
    results = at_once(lambda: propose(dora, row, "a").state, lambda: propose(dora, row, "b").state)
    assert sorted(results) == ["evidence.proposal_open", "open"]


def test_two_levers_with_one_name_at_once():
    c1, c2 = f.actor("c1", "curator"), f.actor("c2", "curator")
    results = at_once(
        lambda: create_lever(c1, name="Split-Q").slug, lambda: create_lever(c2, name="split_q", slug="another").slug
    )
    assert "evidence.name_taken" in results
    assert len([result for result in results if result in ("split-q", "another")]) == 1


def test_edges_at_once_never_close_a_circle():
    rows = [f.evidence_row(title=f"Row {n}").code for n in range(3)]
    curators = [f.actor(f"c{n}", "curator") for n in range(3)]
    calls = [
        lambda c=c, a=a, b=b: supersede_row(c, newer=a, older=b, kind="narrows", reason="x").kind
        for c, a, b in zip(curators, rows, rows[1:] + rows[:1], strict=True)
    ]
    results = at_once(*calls)
    assert sorted(results) == ["evidence.supersession_cycle", "narrows", "narrows"]
    assert Supersession.objects.count() == 2
