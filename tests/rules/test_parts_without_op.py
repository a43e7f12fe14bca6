"""Parts of a spec of which nobody knows the op: what each is told, and where it is asked at all."""

import pytest

from tests.rules.spec_examples import norm_spec
from v2kb.rules.spec_check import parts_without_op, report_beside

KNOWN = {"rmsnorm-b200"}
WAITS = "W2 names no op, so no contract says what it computes."


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"name": "W2", "op": "rmsnorm-b200"}, None),
        ({"name": "", "op": "rmsnorm-b200"}, None),
        ({"name": "W2", "op": ""}, ("missing_input", WAITS)),
        ({"name": "W2"}, ("missing_input", WAITS)),
        ({"name": " W2 ", "op": " "}, ("missing_input", WAITS)),
        ({"name": "W2", "op": "rmsnorm"}, ("violation", "There is no op rmsnorm.")),
        ({"name": "", "op": ""}, ("violation", "Row 2 of the ops names no op.")),
        ({}, ("violation", "Row 2 of the ops names no op.")),
        ("W2", ("violation", "Row 2 of the ops names no op.")),
    ],
)
def test_a_part_whose_op_is_not_known_is_told_what_it_lacks(part, said):
    found = parts_without_op({"ops": [{"name": "norm", "op": "rmsnorm-b200"}, part]}, KNOWN)
    assert [(f.kind, f.message) for f in found] == ([said] if said else [])
    assert [(f.rule, f.severity, f.path) for f in found] == ([("DOC", "E", "ops[1].op")] if said else [])
    assert [f for f in found if not f.fix.startswith("Choose its op")] == []


@pytest.mark.parametrize("document", [{}, {"ops": None}, {"ops": "W2"}])
def test_a_document_without_ops_has_no_such_part(document):
    assert parts_without_op(document, KNOWN) == ()


def test_a_spec_is_blocked_by_it_and_a_file_gets_its_ops_later():
    beside = {"ops": {}, "specs": {}, "rows": {}}
    document = {**norm_spec(), "ops": [{"name": "W2", "op": ""}]}
    assert report_beside(document, **beside).passes
    report = report_beside(document, **beside, known_ops=KNOWN)
    assert not report.passes
    assert report.summary["missing_inputs"] == 1
