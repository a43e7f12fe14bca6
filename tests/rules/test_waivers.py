"""Waivers of findings, and what findings say of amendments."""

import pytest

from tests.rules.spec_checks import changed
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.amendments import Setting, amendments_behind
from v2kb.rules.canonical import canonical_json
from v2kb.rules.spec_rules import findings_as_document, spec_report
from v2kb.rules.waivers import Waiver, read_waiver, waive

BROKEN = changed(
    grouped_gemm_spec(), engine__tiles_per_task="2", roles__stages="5", measurement__timer="", engine__family="Z"
)
HUNG = changed(grouped_gemm_spec(), engine__tiles_per_task="2", measurement__targets=[
    {"what": "body", "now": "27", "target": "12.2", "ratio": "3"}])  # fmt: skip


def finding_of(report, rule):
    return next(finding for finding in report.findings if finding.rule == rule)


def waiver(finding, **changes):
    about = {"rule": finding.rule, "path": finding.path, "message": finding.message}
    return Waiver(**{**about, "reason": "One tile of two halves.", "by": "dora", "reviewer": "rita", **changes})


def test_a_waived_finding_keeps_its_place_and_no_longer_blocks():
    before = spec_report(HUNG)
    assert (before.passes, before.states["R45"], before.summary["waived"]) == (False, "failed", 0)
    after = spec_report(HUNG, waivers=[waiver(finding_of(before, "R45"))])
    assert [(f.rule, f.path, f.message) for f in after.findings] == [
        (f.rule, f.path, f.message) for f in before.findings
    ]
    assert {f.rule for f in after.findings if f.state == "waived"} == {"R45"}
    assert (after.states["R45"], after.states["R76"]) == ("waived", before.states["R76"])
    counts = [(r.summary["errors"], r.summary["warnings"], r.summary["waived"]) for r in (before, after)]
    assert counts[1] == (counts[0][0] - 1, counts[0][1], 1)
    assert after.passes
    assert after.ended_waivers == after.refused_waivers == ()
    canonical_json([findings_as_document(after.findings), after.summary])


def test_a_warning_can_be_waived_too():
    before = spec_report(HUNG)
    after = spec_report(HUNG, waivers=[waiver(finding_of(before, "R76"))])
    assert after.states["R76"] == "waived"
    assert not after.passes


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"by": ""}, "by"),
        ({"reviewer": ""}, "reviewer"),
        ({"reviewer": "dora"}, "reviewer"),
        ({"reviewer": "DORA"}, "reviewer"),
        ({"rule": ""}, "rule"),
        ({"path": ""}, "path"),
        ({"message": ""}, "message"),
    ],
)
def test_a_waiver_needs_a_reason_and_somebody_else_who_agrees(change, field):
    before = spec_report(HUNG)
    after = spec_report(HUNG, waivers=[waiver(finding_of(before, "R45"), **change)])
    assert after.findings == before.findings
    assert not after.passes
    ((_, problem),) = after.refused_waivers
    assert (problem.field, bool(problem.fix)) == (field, True)


@pytest.mark.parametrize("rule", ["DOC", "R68"])
def test_what_is_unreadable_or_missing_cannot_be_waived(rule):
    before = spec_report(BROKEN)
    after = spec_report(BROKEN, waivers=[waiver(f) for f in before.findings if f.rule == rule])
    assert after.findings == before.findings
    assert after.refused_waivers
    assert not after.passes


def test_a_waiver_ends_when_the_finding_says_something_else():
    agreed = waiver(finding_of(spec_report(HUNG), "R45"))
    for doc in (changed(HUNG, engine__tiles_per_task="3"), changed(HUNG, engine__tiles_per_task="1")):
        after = spec_report(doc, waivers=[agreed])
        assert after.ended_waivers == (agreed,)
        assert all(f.state == "open" for f in after.findings)


def test_one_of_two_findings_of_a_rule():
    doc = changed(HUNG, engine__m="17")
    report = spec_report(doc)
    first, second = (f for f in report.findings if f.rule == "R45")
    half = spec_report(doc, waivers=[waiver(first)])
    assert half.states["R45"] == "failed"
    both = spec_report(doc, waivers=[waiver(first), waiver(second), waiver(second)])
    assert both.states["R45"] == "waived"
    assert both.summary["waived"] == 2


def test_a_waiver_is_read_from_plain_values():
    raw = {"rule": "R45", "path": "engine.m", "message": "M is 17.", "reason": "why", "by": "dora", "reviewer": "rita"}
    assert read_waiver(raw) == (Waiver(**raw), [])
    given, problems = read_waiver({"rule": 5, "colour": "red"})
    assert {problem.field for problem in problems} == {"rule", "colour"}
    assert given.problems
    assert read_waiver("text")[1]
    assert waive([], [Waiver(**raw)]).ended == (Waiver(**raw),)


# --- amendments ---


def amending(field, value, **edits):
    amendment = {"id": "A1", "fields": [{"field": field, "value": value}]}
    return spec_report(changed(grouped_gemm_spec(), amendments=[amendment], **edits))


def test_a_finding_says_which_amendment_set_its_field():
    (finding,) = [f for f in amending("engine.tiles_per_task", "2").findings if f.rule == "R45"]
    assert finding.message.endswith(" As amended by A1.")
    assert finding.facts == {"tiles_per_task": 2, "amended_by": ["A1"]}


def test_a_finding_elsewhere_says_nothing_of_amendments():
    report = amending("engine.idiom", "role pipeline with rings", engine__tiles_per_task="2")
    assert "amended" not in finding_of(report, "R45").message


def test_an_amendment_can_clear_a_finding():
    written = changed(grouped_gemm_spec(), engine__tiles_per_task="2")
    assert any(f.rule == "R45" for f in spec_report(written).findings)
    report = amending("engine.tiles_per_task", "1", engine__tiles_per_task="2")
    assert not [f for f in report.findings if f.rule == "R45"]


@pytest.mark.parametrize(
    ("path", "inputs", "behind"),
    [
        ("roles.release.owners", (), ("A1",)),
        ("roles.release", (), ("A1",)),
        ("roles.rows[1].pages", ("roles.release",), ("A1",)),
        ("roles.rows[1].pages", ("roles.release.owners",), ("A1",)),
        ("roles.rows[1].pages", ("roles.stages",), ()),
        ("sems.rows[3].reinit_owner", (), ("A2",)),
        ("sems.rows[3]", (), ("A2",)),
        ("sems.rows", (), ("A2",)),
        ("sems.rows[30].reinit_owner", (), ()),
        ("sems.rows[4].reinit_owner", ("sems.rows[].reinit_owner",), ()),
        ("sems.rows[3].count", ("sems.rows[].reinit_owner",), ("A2",)),
        ("sems.rows[3].count", ("sems.rows[]", "sems.rows[].kind"), ()),
        ("roles.rows[3].pages", ("sems.rows[].reinit_owner",), ()),
    ],
)
def test_which_amendments_stand_behind_a_finding(path, inputs, behind):
    changed_fields = {
        "roles.release.owners": Setting("A1", "", ""), "sems.rows[3].reinit_owner": Setting("A2", "", "")
    }  # fmt: skip
    assert amendments_behind(path, inputs, changed_fields) == behind
