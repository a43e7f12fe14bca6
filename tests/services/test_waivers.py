"""Waivers: a designer says why a finding may stand, a reviewer agrees, and the waiver ends with the finding's words."""

import pytest
from django.db import DatabaseError, transaction

from kernels.models import FindingWaiver, Submission, WaiverAnswer
from kernels.selectors.checks import blocking_now
from kernels.selectors.reviews import what_is_missing
from kernels.services.specs import submit_spec
from kernels.services.waivers import answer_waiver, ask_waiver
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden, Refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def revision():
    """A handed-back revision with one finding that blocks: its tasks are listed wrongly."""
    f.op()
    content = f.spec_content(f.evidence_row())
    content["granularity"][0]["listed"] = "2"
    return f.saved_revision(content)


@pytest.fixture
def finding(revision):
    (found,) = blocking_now(revision)
    assert found["rule"] == "R40"
    return found


@pytest.fixture
def waiver(revision, finding):
    reason = "The list counts both runs."
    return ask_waiver(f.designer(), spec=revision.spec, rule="R40", path=finding["path"], reason=reason)


def test_an_agreed_waiver_lets_the_finding_stand_and_it_stays_visible(revision, waiver):
    assert blocking_now(revision)
    answer_waiver(f.reviewer(), waiver=waiver, answer="agreed")
    assert blocking_now(revision) == []
    assert not any("R40" in sentence for sentence in what_is_missing(revision))
    submit_spec(f.designer(), revision=revision)
    assert Submission.objects.filter(revision=revision).exists()


def test_a_waiver_that_is_asked_refused_or_taken_back_has_no_effect(revision, waiver):
    assert blocking_now(revision)
    answer_waiver(f.reviewer(), waiver=waiver, answer="refused", note="Correct the list.")
    assert blocking_now(revision)


def test_taking_an_agreed_waiver_back_brings_the_finding_back(revision, waiver):
    answer_waiver(f.reviewer(), waiver=waiver, answer="agreed")
    answer_waiver(f.designer(), waiver=waiver, answer="withdrawn")
    assert blocking_now(revision)
    with pytest.raises(Conflict, match="withdrawn"):
        answer_waiver(f.reviewer(), waiver=waiver, answer="agreed")


def test_a_waiver_ends_when_the_finding_says_something_else(revision, waiver):
    answer_waiver(f.reviewer(), waiver=waiver, answer="agreed")
    content = f.spec_content(revision.spec.head.citations.first().evidence.row)
    content["granularity"][0]["listed"] = "3"
    later = f.saved_revision(content, spec=revision.spec)
    assert [found["rule"] for found in blocking_now(later)] == ["R40"]


def test_an_unchanged_finding_stays_waived_over_revisions(revision, waiver):
    answer_waiver(f.reviewer(), waiver=waiver, answer="agreed")
    content = f.spec_content(revision.spec.head.citations.first().evidence.row)
    content["granularity"][0]["listed"] = "2"
    content["summary"] = "Another sentence."
    assert blocking_now(f.saved_revision(content, spec=revision.spec)) == []


@pytest.mark.parametrize(("who", "error"), [("designer", Forbidden), ("viewer", Forbidden), ("implementer", Forbidden)])
def test_only_a_reviewer_answers(waiver, who, error):
    actor = f.designer() if who == "designer" else f.actor("vera", who)
    with pytest.raises(error):
        answer_waiver(actor, waiver=waiver, answer="agreed")


def test_who_asked_never_agrees_nor_who_wrote_a_revision(revision, finding):
    both = f.actor("bo", "designer", "reviewer_correctness")
    asked = ask_waiver(both, spec=revision.spec, rule="R40", path=finding["path"], reason="It is known.")
    with pytest.raises(Forbidden) as refused:
        answer_waiver(both, waiver=asked, answer="agreed")
    assert refused.value.code == "waiver.own"
    revision.author.groups.add(f.reviewer().user.groups.first())
    with pytest.raises(Forbidden):
        answer_waiver(f.designer(), waiver=asked, answer="agreed")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rule": "R99"}, "waiver.no_finding"),
        ({"path": "granularity[7].listed"}, "waiver.no_finding"),
        ({"reason": "  "}, "waiver.reason_missing"),
        ({"reason": "x" * 2001}, "waiver.reason_missing"),
        ({"reason": "a\x00b"}, "core.bad_text"),
    ],
)
def test_what_cannot_be_asked(revision, finding, change, code):
    asked = {"rule": "R40", "path": finding["path"], "reason": "It is known.", **change}
    with pytest.raises(Refusal) as refused:
        ask_waiver(f.designer(), spec=revision.spec, **asked)
    assert refused.value.code == code
    assert not FindingWaiver.objects.exists()


def test_a_missing_input_cannot_be_waived():
    f.op()
    content = f.spec_content(f.evidence_row())
    content["granularity"][0]["listed"] = ""
    revision = f.saved_revision(content)
    (missing,) = blocking_now(revision)
    with pytest.raises(Refusal) as refused:
        ask_waiver(f.designer(), spec=revision.spec, rule="R40", path=missing["path"], reason="Never mind.")
    assert refused.value.code == "waiver.not_waivable"


def test_one_waiver_at_a_time(revision, finding, waiver):
    with pytest.raises(Conflict, match="asked"):
        ask_waiver(f.designer(), spec=revision.spec, rule="R40", path=finding["path"], reason="Once more.")
    answer_waiver(f.reviewer(), waiver=waiver, answer="refused", note="No.")
    ask_waiver(f.designer(), spec=revision.spec, rule="R40", path=finding["path"], reason="Better said.")


@pytest.mark.parametrize(("answer", "code"), [("maybe", "waiver.unknown_answer"), ("refused", "waiver.note_missing")])
def test_answers_that_are_refused(waiver, answer, code):
    with pytest.raises(Refusal) as refused:
        answer_waiver(f.reviewer(), waiver=waiver, answer=answer)
    assert refused.value.code == code


def test_the_database_refuses_an_agreement_by_one_person(waiver):
    with pytest.raises(DatabaseError), transaction.atomic():
        WaiverAnswer.objects.create(waiver=waiver, kind="agreed", user=waiver.asked_by)
    with pytest.raises(DatabaseError), transaction.atomic():
        WaiverAnswer.objects.create(waiver=waiver, kind="agreed", user=f.actor("vera", "viewer").user)


def test_waivers_and_answers_never_change(waiver):
    answer_waiver(f.reviewer(), waiver=waiver, answer="refused", note="No.")
    for row in (FindingWaiver.objects, WaiverAnswer.objects):
        with pytest.raises(DatabaseError), transaction.atomic():
            row.update(**({"reason": "x"} if row.model is FindingWaiver else {"kind": "agreed"}))
