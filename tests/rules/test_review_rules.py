"""R78 and R79: open questions, and two engines on each review."""

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from v2kb.rules.spec_rules import spec_report


def asking(blocks, state="OPEN", **more):
    return changed(
        grouped_gemm_spec(), open_questions=[{"id": "Q1", "text": "?", "blocks": blocks, "state": state}], **more
    )


def reviewed(*rows, missing_engine=""):
    cells = ("engine", "item", "verdict", "fixed_where")
    return changed(
        grouped_gemm_spec(),
        reviews={
            "rows": [dict(zip(cells, (*row, "")[:4], strict=True)) for row in rows],
            "missing_engine": missing_engine,
        },
    )


@pytest.mark.parametrize(
    ("blocks", "state", "severity"),
    [
        ("build", "OPEN", "E"),
        ("build", "RESOLVED", None),
        ("build", "FROZEN", None),
        ("stage-2", "OPEN", "E"),
        ("stage-2", "RESOLVED", None),
        ("verdict", "OPEN", "W"),
        ("stage-3", "OPEN", "W"),
        ("verdict", "RESOLVED", None),
    ],
)
def test_r78_open_questions(blocks, state, severity):
    doc = asking(blocks, state)
    findings = found(doc, "R78")
    assert [(f.severity, f.path) for f in findings] == ([(severity, "open_questions[0].state")] if severity else [])
    assert spec_report(doc).states["R78"] == {"E": "failed", "W": "warned", None: "passed"}[severity]


def test_r78_says_what_is_blocked():
    assert found(asking("verdict"), "R78")[0].message == "Q1 is open and blocks the verdict; the build may begin."
    assert found(asking("stage-3"), "R78")[0].message == "Q1 is open and blocks stage 3; the build may begin."
    assert found(asking("build"), "R78")[0].message == "Q1 is open and blocks the build."
    assert found(asking("stage-2"), "R78")[0].message == "Q1 is open and blocks stage 2."
    (finding,) = found(asking(""), "R78", "missing_input")
    assert finding.path == "open_questions[0].blocks"
    assert found(asking("", "FROZEN"), "R78", "missing_input") == []


def test_r78_an_amendment_resolves_a_question():
    assert found(asking("build", amendments=[{"id": "A1", "resolves": ["Q1"]}]), "R78") == []
    assert found(asking("build", amendments=[{"id": "A1", "resolves": ["Q2"]}]), "R78")


def test_r79_two_engines_or_the_missing_one_named():
    one = reviewed(("second engine", "protocol", "SOUND"))
    (finding,) = found(one, "R79")
    assert (finding.severity, finding.path, finding.facts) == (
        "E", "reviews.missing_engine", {"engines": ["second engine"]},
    )  # fmt: skip
    same = reviewed(("One", "protocol", "SOUND"), ("one", "Protocol", "SOUND"))
    assert found(same, "R79")
    apart = reviewed(("one", "protocol", "SOUND"), ("two", "scales", "SOUND"))
    assert found(apart, "R79")[0].message == "Reviewed by one engine only: protocol, scales."
    named = reviewed(("one", "protocol", "SOUND"), missing_engine="ablation review: not available here")
    assert found(named, "R79") == []
    assert spec_report(norm_spec()).states["R79"] == "not_applicable"


@pytest.mark.parametrize(("verdict", "fixed", "fires"), [("FLAWED", "", True), ("FLAWED", "section 4", False)])
def test_r79_a_flaw_stands_until_it_is_fixed(verdict, fixed, fires):
    doc = reviewed(("one", "protocol", "SOUND"), ("two", "protocol", verdict, fixed))
    findings = found(doc, "R79")
    assert [(f.path, f.facts) for f in findings] == (
        [("reviews.rows[1].verdict", {"disagreement": True})] if fires else []
    )


@pytest.mark.parametrize("cell", ["engine", "verdict"])
def test_r79_missing(cell):
    doc = changed(grouped_gemm_spec(), **{f"reviews__rows__0__{cell}": ""})
    assert [f.path for f in found(doc, "R79", "missing_input")] == [f"reviews.rows[0].{cell}"]
