"""What the rules find in the field's own Stage-1 spec: exactly what a careful reviewer lists, each at its line.

Each finding was judged by hand against the document: no entry is a false alarm, and what the reviewer saw beyond the
rules' reach is no entry. A change here is a change of that judgement.
"""

from pathlib import Path

import pytest

from tests.rules.spec_checks import changed
from v2kb.rules.rule_registry import FAILED, NOT_APPLICABLE, PASSED
from v2kb.rules.spec_markdown.reading import read_markdown
from v2kb.rules.spec_rules import spec_report

EXEMPLAR = Path(__file__).parents[3] / "shared" / "corpus" / "applications" / "ffn_item1_spec.md"

pytestmark = pytest.mark.skipif(not EXEMPLAR.exists(), reason="the corpus is not at hand")

VIOLATIONS = {
    # The ring claims 12 stages; the semaphores end it at 8.
    ("R12", "E", "claims[0]", 163),
    # The tail barrier that only the controller initialises: the incident of v008.
    ("R25", "E", "sems.rows[6].reinit_owner", 248),
    # Section 4 loads with three coordinates, appendix Q4 makes a descriptor of two dimensions.
    ("R52", "E", "wiring.tasks[0].instruction_dimensions", 281),
    ("R52", "E", "wiring.tasks[1].instruction_dimensions", 281),
    # Five items, one engine.
    ("R79", "E", "reviews.missing_engine", 472),
    ("R04", "W", "smem.regions[0]", 152),
    # Section 0 takes its floors from 2.0 to 3.4 TB/s.
    ("R69", "W", "measurement.floor", 64),
    ("R35", "W", "granularity[2].iterations", 265),
    ("R46", "W", "wiring.tasks[0].id", 491),
    ("R78", "W", "open_questions[0].state", 546),
    ("R10", "I", "smem.regions[1]", 153),
    ("R43", "I", "granularity[2].iterations", 265),
    ("R48", "I", "wiring.tasks[0].id", 491),
    ("R53", "I", "wiring.files", 436),
}
# What the document nowhere says.
MISSING = {
    ("R31", "E", "sems.rows[0].first_phase", 202),
    ("R67", "E", "measurement.statistic", 405),
    ("R70", "E", "measurement.adds_block_maxima", 405),
    ("R71", "E", "measurement.reads_block_sum", 405),
    ("R72", "E", "measurement.layers", 405),
    *(
        (rule, "E", f"wiring.tasks[{task}].{cell}", 435)
        for task in (0, 1)
        for rule, cell in (("R46", "tree"), ("R50", "register_split"), ("R50", "wrapper_inputs"))
    ),
    ("R37", "W", "sems.protocol.exit_snapshot", 194),
    ("R74", "W", "measurement.targets", 405),
    ("R75", "W", "engine.routing.first_bring_up", 96),
}


@pytest.fixture(scope="module")
def reading():
    return read_markdown(EXEMPLAR.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def report(reading):
    return spec_report(reading.document)


def facts(report, rule):
    (found,) = [f for f in report.findings if f.rule == rule and f.kind == "violation" and f.severity != "I"]
    return found.facts


@pytest.mark.parametrize(("kind", "expected"), [("violation", VIOLATIONS), ("missing_input", MISSING)])
def test_the_findings_are_those_of_a_careful_reviewer(reading, report, kind, expected):
    found = [(f.rule, f.severity, f.path, reading.line_of(f.path)) for f in report.findings if f.kind == kind]
    assert len(found) == len(expected)
    assert set(found) == expected


def test_the_states_of_the_rules(report):
    failed = {rule for rule, state in report.states.items() if state == FAILED}
    assert failed == {"R12", "R25", "R52", "R79"}
    quiet = {rule for rule, state in report.states.items() if state == NOT_APPLICABLE}
    assert quiet == {"R13", "R15", "R16", "R21", "R27", "R38", "R64", "R65", "R76"}
    assert not report.passes


def test_the_totals(report):
    totals = {"smem_bytes": 155_664, "regions": 9, "smem_pages": 10, "semaphores": 30, "tasks": 124}
    assert report.totals == totals


def test_growth_breaks_one_budget_after_the_other(report):
    said = facts(report, "R12")
    broken = [("R20", 9), ("R02", 11), ("R08", 11), ("R01", 12)]
    assert list(zip(said["rules"], said["values"], strict=True)) == broken
    assert (said["symbol"], said["low"], said["high"]) == ("STAGES", 8, 12)


def test_the_storer_forgets_stages_without_experts_and_with_one(report):
    said = facts(report, "R35")
    assert (said["active"], said["iterations"], said["stages"]) == ([0, 1], [2, 6], 8)
    assert said["alternative"]
    assert said["never_fired"] == [2, 7]


def test_one_question_is_left_and_it_blocks_the_verdict(report):
    (found,) = [f for f in report.findings if f.rule == "R78"]
    assert found.message.startswith("Q1 is open and blocks the verdict; the build may begin.")


def test_the_second_task_on_an_sm_overruns_the_last_page(report):
    said = facts(report, "R04")
    assert (said["region"], said["overrun_bytes"], said["guessed"]) == ("W_3", 5_120, True)


MENDS = {
    "R12": {"claims__0__high": "8"},
    "R25": {
        "sems__rows__6__reinit_owner": "mma",
        "sems__rows__6__reinit_order": "before tmem_ready is arrived",
        "sems__protocol__tail_before_publish": "yes",
    },
    "R35": {"roles__release__unvisited_stages": "yes"},
    "R52": {f"wiring__tasks__{task}__instruction_dimensions": "2" for task in (0, 1)},
    "R78": {"open_questions__0__blocks": "verdict", "amendments__6__fields": [], "amendments__6__resolves": ["Q1"]},
    "R79": {"reviews__missing_engine": "the second engine was not at hand"},
}


@pytest.mark.parametrize("rule", MENDS)
def test_what_a_finding_asks_for_clears_it_and_nothing_else(reading, report, rule):
    mended = spec_report(changed(reading.document, **MENDS[rule]))
    assert mended.states[rule] == PASSED
    left = {(f.rule, f.path) for f in report.findings if f.rule != rule}
    assert {(f.rule, f.path) for f in mended.findings} == left
