"""What the gate says names the choice, the rows, the scopes and the fields, in the words of the form."""

import copy
import html
import re

import pytest
from django.urls import reverse

from tests.rules.test_antiloop import (
    FUSED_GEMV,
    GROUPED_ALONE,
    dead_case,
    judge,
    line,
    make_choice,
    make_context,
    make_prediction,
    make_snapshot,
    make_spec,
    mark,
    pin,
    revision,
    row,
)
from v2kb.rules.antiloop import evaluate
from v2kb.rules.canonical import content_hash
from v2kb.rules.prediction_words import LABELS

QUOTED = re.compile(r'"([^"]+)"')


def of(rule, snapshot, choice, **context):
    found = line(judge(snapshot, choice, **context), rule)
    assert found.blocks, found
    return found


def cited(**facts):
    snapshot = make_snapshot()
    snapshot["rows"]["W5"] |= facts
    return of("AL1", snapshot, make_choice(snapshot))


def moved():
    snapshot = make_snapshot()
    old = revision("tcgen05", "WIN", GROUPED_ALONE, mechanism="an older wording")
    head = snapshot["rows"]["W5"]["head_hash"]
    snapshot["rows"]["W5"] = row(snapshot["rows"]["W5"]["revisions"][head], old)
    pinned = pin(snapshot, "W5") | {"revision": content_hash(old)}
    return of("AL2", snapshot, make_choice(snapshot, citations=[pinned]))


def unanswered():
    snapshot, choice = dead_case()
    snapshot["contracts"] = {"c1": {**FUSED_GEMV, "grid": "136"}}
    spec = make_spec({**choice, "citations": [pin(snapshot, "W5")]}) | {"ops": [{"op": "qkv-a", "contract": "c1"}]}
    return line(evaluate(spec, snapshot, make_context()), "AL3")


def outside():
    snapshot = make_snapshot()
    snapshot["contracts"] = {"c1": FUSED_GEMV}
    spec = make_spec(make_choice(snapshot)) | {"ops": [{"op": "qkv-a", "contract": "c1"}]}
    return line(evaluate(spec, snapshot, make_context()), "AL3")


def mechanism(written, marks=()):
    snapshot, choice = dead_case(new_mechanism=written)
    return of("AL4", snapshot, choice, new_mechanism_marks=[mark(choice, **m) for m in marks])


def predicted(rule, **changes):
    snapshot = make_snapshot()
    return of(rule, snapshot, make_choice(snapshot, prediction=make_prediction(**changes)))


def bare(rule):
    snapshot = make_snapshot()
    return of(rule, snapshot, make_choice(snapshot, prediction=None))


def unknown_row():
    snapshot = make_snapshot()
    gone = pin(snapshot, "W5") | {"code": "D99"}
    return of("AL1", snapshot, make_choice(snapshot, citations=[pin(snapshot, "W5"), gone]))


# Each case: the line, and what its message or its fix must name.
CASES = {
    "nothing cited": (lambda: of("AL1", s := make_snapshot(), make_choice(s, citations=[])), ["Rests on"]),
    "flagged": (lambda: cited(flagged=True), ["W5", "flag", "curator"]),
    "superseded": (lambda: cited(superseded_by=["U3"]), ["W5", "cite U3 in its place"]),
    "unknown row": (unknown_row, ["D99", 'row 2 of "Rests on"']),
    "moved": (moved, ["W5", "Pin newest", "Changes acknowledged"]),
    "unanswered": (unanswered, ["tcgen05", "D2", "DEAD for op class: projection_gemv", "equal", "the op qkv-a",
                                "grid: 136", "Rationale"]),
    "outside": (outside, ["the op qkv-a", "envelope: fused_megakernel", "standalone", "Scope of this choice"]),
    "no mechanism": (lambda: mechanism(""), ["D2", "tcgen05", "New mechanism"]),
    "repeated": (lambda: mechanism("Allocation and barriers cost more than the gap that is left."), ["D2", "repeats"]),
    "unsigned": (lambda: mechanism("Paid once."), ["D2", "curator", "Sign the mechanism as new"]),
    "signed by an author": (lambda: mechanism("Paid once.", [{"by": "ann"}]), ["author of the spec"]),
    "no prediction": (lambda: bare("AL5"), ["Prediction", "Metric", "Rounds"]),
    "no kill": (lambda: bare("AL6"), ["Kill below (%)", "Runs allowed"]),
    "no anchor": (lambda: predicted("AL5", anchor="other"), ["Anchor", "other", "Anchors"]),
    "two fields": (lambda: predicted("AL5", metric="", cases=[]), ["Metric", "Workloads"]),
    "no such row": (lambda: predicted("AL5", row="U9"), ["Row probed", "U9"]),
    "no end": (lambda: predicted("AL6", budget_runs=""), ["Runs allowed", "Deadline"]),
    "kill too high": (lambda: predicted("AL6", kill_percent="7"), ["Kill below (%)", "7", "Predicted gain (%)", "5"]),
    "lost in the noise": (lambda: predicted("AL6", delta_percent="3"), ["Practically nothing (%)", "Kill below (%)"]),
    "watched without end": (lambda: predicted("AL6", park_metric="wall_us"), ["Watch metric", "Park above (%)"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_names_the_choice_what_is_wrong_and_what_to_do(case):
    make, words = CASES[case]
    found = make()
    said = f"{found.message} {found.fix}"
    assert re.search(r"\b[Cc]hoice C1\b", found.message), said
    assert found.fix.endswith(".")
    assert [word for word in words if word not in said] == []
    raw = [name for name in LABELS if "_" in name and re.search(rf"\b{name}\b", said)]
    assert raw == [], f"field names of the document: {said}"


@pytest.mark.django_db
def test_each_field_that_a_refusal_quotes_is_on_the_form(client, forms_world):
    code = forms_world["spec"].code
    addresses = [reverse("kernels:spec_edit_choice", args=[code, "C1"])]
    addresses += [reverse("kernels:spec_edit", args=[code, section]) for section in ("choices", "anchors")]
    form = "".join(html.unescape(client.get(address).content.decode()) for address in addresses)
    on_review = {"Sign the mechanism as new"}
    quoted = set()
    for make, _ in CASES.values():
        found = make()
        quoted |= set(QUOTED.findall(f"{found.message} {found.fix}"))
    assert len(quoted) > 15
    assert {label for label in quoted - on_review if not re.search(rf">\s*{re.escape(label)}\s*<", form)} == set()


def test_every_line_of_a_passing_choice_names_it_too():
    snapshot, choice = dead_case()
    for polarity in ("adopts", "avoids", "keeps"):
        tried = copy.deepcopy(choice) | {"polarity": polarity}
        result = judge(snapshot, tried, new_mechanism_marks=[mark(tried)])
        assert result.passed
        assert [found for found in result.lines if not re.search(r"\b[Cc]hoice C1\b", found.message)] == []
