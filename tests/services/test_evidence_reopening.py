"""Only a material change reopens an approved spec; wording does not; a flag does when it is confirmed. The dry run says
the same beforehand."""

import copy
from typing import Any

import pytest

from evidence.curation import effects_of, effects_of_confirming
from evidence.models import EvidenceRow
from evidence.selectors import get_flag, get_proposal
from evidence.services import (
    accept_proposal,
    clear_flag,
    confirm_flag,
    flag_row,
    propose_change,
    reject_proposal,
    supersede_row,
)
from evidence.services.merging import propose_merge
from evidence.services.proposals import propose_revert
from evidence.services.watching import note_driver, set_bounds
from kernels.models import Spec
from kernels.selectors.gate import evidence_snapshot
from kernels.selectors.specs import spec_status
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.rules.number_reading import parse_numbers
from v2kb.rules.states import APPROVED, STALE

pytestmark = pytest.mark.django_db


def number(text: str, role: str = "bound", **changes: Any) -> dict[str, Any]:
    (found,) = parse_numbers(text, role=role)
    return {**found, **changes}


NUMBER = number("≤6%")
BOUNDED = {**f.EVIDENCE, "numbers": [NUMBER]}


@pytest.fixture
def row(db) -> EvidenceRow:
    return f.evidence_row(BOUNDED)


@pytest.fixture
def spec(row) -> Spec:
    """A spec that pins the row at revision 1 and was approved by somebody else."""
    f.op()
    found = f.approved_revision(row).spec
    assert spec_status(found).state == APPROVED
    return found


def proposed(row: EvidenceRow, **changes: Any):
    row.refresh_from_db()
    content = {**copy.deepcopy(row.head.content), **changes}
    ines = f.actor("ines", "designer")
    return propose_change(ines, row, base_hash=row.head.content_hash, content=content, reason="measured")


def accepted(proposal):
    """Accept by as many curators as it takes."""
    for name in ("cleo", "carl"):
        if get_proposal(proposal.pk).state == "open":
            accept_proposal(f.actor(name, "curator"), proposal.pk)


def told(proposal) -> list[tuple[str, str]]:
    found = get_proposal(proposal.pk)
    return [(line["title"], line["effect"]) for line in effects_of([found])[found.pk]]


WIN = {
    "verdict": "WIN",
    "numbers": [number("−6%", "verdict", compared_with="v1")],
    "sources": [{"kind": "note", "text": "bench", "document": "", "anchor": ""}],
}
DEAD = {name: f.DEAD[name] for name in ("verdict", "numbers", "mechanism", "cause_class", "not_checked", "sources")}
POINT = number("+40%", "data_point")

MATERIAL = {
    "verdict, won": WIN,
    "verdict, died": DEAD,
    "scope, other": {"scope": {"envelope": ["cpu"], "arch": ["cpu"], "dtype": ["bf16"]}},
    "scope, less": {"scope": {"envelope": ["cpu"], "arch": ["cpu"], "m": "1"}},
    "number outside": {"numbers": [number("≤9%")]},
    "number gone": {"numbers": []},
    "cause class": {"cause_class": "abandoned"},
}
WORDING = {
    "title": {"title": "Fused row norm, better said"},
    "mechanism": {"mechanism": "One pass keeps the row in registers."},
    "bound in words": {"bound": "At most what one read and one write take."},
    "not checked": {"not_checked": "Rows longer than 8192."},
    "approaches": {"approaches": ["one pass"]},
    "sources": {"sources": [{"kind": "note", "text": "a further note", "document": "", "anchor": ""}]},
    "date": {"measured_on": "2026-10-01", "measured_note": "in the evening"},
    "data point of related work": {"numbers": [NUMBER, POINT]},
    "number inside": {"numbers": [number("≤5%")]},
}


@pytest.mark.parametrize("name", MATERIAL)
def test_a_material_change_reopens(row, spec, name):
    proposal = proposed(row, **MATERIAL[name])
    assert proposal.kind == "change"
    assert told(proposal) == [(f"{spec.code}, C1", "reopens")]
    assert spec_status(spec).state == APPROVED, "proposing alone reopens nothing"
    accepted(proposal)
    status = spec_status(spec)
    assert (status.state, [pin.code for pin in status.moved]) == (STALE, [row.code])


@pytest.mark.parametrize("name", WORDING)
def test_wording_reopens_nothing(row, spec, name):
    proposal = proposed(row, **WORDING[name])
    assert proposal.kind == "wording"
    assert told(proposal) == []
    accepted(proposal)
    row.refresh_from_db()
    assert row.head.number == 2
    assert spec_status(spec).state == APPROVED


def test_a_rejected_change_reopens_nothing(row, spec):
    reject_proposal(f.actor("cleo", "curator"), proposed(row, **WIN).pk, reason="no trace")
    assert spec_status(spec).state == APPROVED


def test_going_back_lets_the_spec_hold_again(row, spec):
    accepted(proposed(row, **MATERIAL["number outside"]))
    further = proposed(row, numbers=[number("≤12%")])
    assert told(further) == [(f"{spec.code}, C1", "stale already")]
    reject_proposal(f.actor("cleo", "curator"), further.pk, reason="not so")
    back = propose_revert(f.actor("ines"), row.code, 1, reason="the first was right")
    assert told(back) == [(f"{spec.code}, C1", "holds again")]
    accepted(back)
    assert spec_status(spec).state == APPROVED


def test_a_flag_blocks_and_reopens_only_when_it_is_confirmed(row, spec):
    def is_flagged() -> bool:
        document = {"choices": [{"citations": [{"kind": "evidence", "code": row.code, "revision": ""}]}]}
        return bool(evidence_snapshot(document)["rows"][row.code]["flagged"])

    flag = flag_row(f.actor("vera", "viewer"), row.code, reason="Which machine?")
    assert (spec_status(spec).state, is_flagged()) == (APPROVED, False)
    told = [(line["title"], line["effect"]) for line in effects_of_confirming(get_flag(flag.pk))]
    assert told == [(f"{spec.code}, C1", "reopens")]
    confirm_flag(f.curator(), flag.pk)
    assert effects_of_confirming(get_flag(flag.pk)) == [], "it is confirmed already"
    assert (spec_status(spec).state, is_flagged()) == (STALE, True)
    clear_flag(f.curator(), flag.pk, reason="The log names it.")
    assert (spec_status(spec).state, is_flagged()) == (APPROVED, False)


def test_a_flag_of_the_system_waits_for_a_curator_too(row, spec):
    set_bounds(f.designer(), row.code, driver="570.1")
    (flag,) = note_driver(Actor.system(), driver="580.2", arch="cpu", worker="w1")
    assert spec_status(spec).state == APPROVED
    confirm_flag(f.curator(), flag.pk)
    assert spec_status(spec).state == STALE


@pytest.mark.parametrize(
    ("kind", "state"),
    [("replaces", STALE), ("merges", STALE), ("narrows", APPROVED), ("contradicts", APPROVED), ("splits", APPROVED)],
)
def test_which_successors_reopen(row, spec, kind, state):
    newer = f.evidence_row(title="Another look")
    supersede_row(f.curator(), newer=newer.code, older=row.code, kind=kind, reason="measured again")
    assert spec_status(spec).state == state


def test_a_merge_reopens_what_rests_on_the_row_that_is_taken_in(row, spec):
    other = f.evidence_row(title="Another look")
    proposal = propose_merge(f.actor("ines", "designer"), into=other.code, taken=row.code, reason="twins")
    assert told(proposal) == [(f"{spec.code}, C1", "reopens")]
    accepted(proposal)
    assert spec_status(spec).state == STALE
    row.refresh_from_db()
    citation = spec.head.citations.get(kind="evidence")
    assert citation.evidence.row == row, "the citation still resolves"


def test_a_merge_into_the_cited_row_that_only_adds_words_reopens_nothing(row, spec):
    other = f.evidence_row(title="Another look", approaches=["one pass"])
    proposal = propose_merge(f.actor("ines", "designer"), into=row.code, taken=other.code, reason="twins")
    assert told(proposal) == []
    accepted(proposal)
    assert spec_status(spec).state == APPROVED
