"""Rows as CSV: every column is read back, so that an export changes nothing and a fresh site has the same rows."""

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import exports
from evidence.baseline import BaselineRow
from evidence.importers.log_lines import read_line
from evidence.importers.log_mapping import suggest
from evidence.importers.records import Record
from evidence.lines import read_numbers
from evidence.models import EvidenceRow, ImportLine, Term
from evidence.services import import_work as work
from evidence.services.baseline import import_baseline
from evidence.services.import_jobs import apply_import, cancel_import, map_import, start_import
from evidence.services.terms import add_term_alias
from evidence.vocabulary import unit_spellings
from kernels.starter import load_starter
from tests import factories as f
from tests.evidence.sample import load_sample
from tests.starter_data import STARTER, load
from v2kb.rules.evidence import CAUSE_CLASSES, SOURCE_KINDS, read_content
from v2kb.rules.numbers import DIRECTIONS, QUALIFIERS, ROLES, TIERS, UNITS

pytestmark = pytest.mark.django_db
HEADER = exports.ROW_COLUMNS
CODES = {"DEAD": "D7", "WIN": "W7", "UNTESTED": "U7"}


def mapping() -> dict:
    return suggest(HEADER, ["DEAD", "WIN", "UNTESTED"], [])[1]


def read_back(content: dict) -> dict:
    """The content that a fresh site reads out of the row's line."""
    cells = exports.row_cells(content) | {"Code": CODES[content["verdict"]]}
    read = read_line(Record(1, [cells.get(name, "") for name in HEADER]), HEADER, mapping())
    assert read.problems == []
    found, problems = read_content(read.document["content"])
    assert problems == []
    return found


def checked(actor, text: str):
    job = start_import(actor, name="rows.csv", chunks=[text.encode()])
    for pk in work.due_jobs():
        work.work_on(pk)
    job.refresh_from_db()
    assert job.message == ""
    map_import(actor, job.public_id, mapping=job.mapping)
    for pk in work.due_jobs():
        work.work_on(pk)
    job.refresh_from_db()
    return job


def states(job) -> set[tuple]:
    """(state, code, what differs or is wrong) of the lines that are not as they were."""
    wrong = job.lines.exclude(state=ImportLine.State.UNCHANGED)
    return {(line.state, line.target, str(line.problems), str(line.document.get("changes"))) for line in wrong}


def test_importing_the_export_of_the_starter_rows_changes_nothing():
    load_starter()
    job = checked(f.curator(), "".join(exports.export("rows.csv")))
    assert states(job) == set()
    assert job.lines.count() == EvidenceRow.objects.count() > 15


@pytest.mark.parametrize("code", sorted(load(STARTER / "levers.json")["rows"]))
def test_a_fresh_site_reads_the_typed_columns_of_a_starter_row(code):
    typed = load(STARTER / "levers.json")["rows"][code]
    content = read_content({**typed, "verdict": {"D": "DEAD", "W": "WIN", "U": "UNTESTED"}[code[0]]})[0]
    back = read_back(content)
    for name in ("scope", "approaches", "sources", "structural", "cause_class", "not_checked"):
        assert back[name] == content[name], name
    for number, found in zip(content["numbers"], back["numbers"], strict=True):
        unsaid = ("text",) if number["readable"] else ("qualifier",)
        assert found | {name: number[name] for name in unsaid} == number


@pytest.mark.parametrize(
    ("column", "cell", "changes", "field", "value"),
    [
        ("Scope", "op class: gemv; M: 1..4; architecture: sm_100; envelope: fused_megakernel", ["scope: M"], "scope",
         {"op_class": "gemv", "m": "1..4", "arch": "sm_100", "envelope": "fused_megakernel"}),
        ("Scope", "M: 1; envelope: fused", ["scope: op class", "scope: architecture"], "scope",
         {"m": "1", "envelope": "fused"}),
        ("Approaches", "one\ntwo\nthree", ["approaches tried"], "approaches", ["one", "two", "three"]),
        ("Structural", "yes", ["structural"], "structural", True),
        ("Sources, typed", "commit: 62449212 | probe-map#dead", ["sources"], "sources",
         [{"kind": "commit", "text": "62449212", "document": "probe-map", "anchor": "dead"}]),
    ],
)  # fmt: skip
def test_a_changed_cell_is_exactly_that_change(cleo, system, column, cell, changes, field, value):
    load_sample(system)
    lines = list(csv.DictReader(io.StringIO("".join(exports.export("rows.csv")), newline="")))
    next(line for line in lines if line["Code"] == "D1")[column] = cell
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, HEADER, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(lines)
    job = checked(cleo, text.getvalue())
    (line,) = job.lines.exclude(state=ImportLine.State.UNCHANGED)
    assert (line.state, line.target, line.document["content"][field]) == ("changed", "D1", value)
    assert [change["label"] for change in line.document["diff"]] == changes


def test_numbers_in_an_added_spelling_come_back_whether_they_were_read_before_it_was_added_or_after():
    texts = {"D7": "6 usec | vs v1", "D8": "+7 usec | tier 2"}
    for code, text in texts.items():
        if code == "D8":
            add_term_alias(f.curator(), Term.objects.get(kind="unit", word="us").pk, "usec")
        numbers, problems = read_numbers(text, role="verdict", units=unit_spellings())
        assert problems == []
        row = BaselineRow(code, 1, {**f.DEAD, "numbers": numbers}, said=frozenset({"lever"}))
        import_baseline(f.curator(), rows=[row], source="a log")
    text = "".join(exports.export("rows.csv"))
    assert "7 µs | verdict" in text
    assert states(checked(f.curator(), text)) == set()
    job = checked(f.curator(), text.replace("6 usec", "6 microsec").replace("+7 µs", "+8 usec"))
    lines = {line.target: line.document["content"]["numbers"] for line in job.lines.filter(state="changed")}
    assert [(number["readable"], number["text"]) for number in lines["D7"]] == [(False, "6 microsec")]
    assert [(number["unit"], number["value"], number["text"]) for number in lines["D8"]] == [("us", "8", "+8 usec")]


def test_a_changed_number_is_that_change_and_an_empty_cell_of_scope_or_approaches_says_nothing(cleo, system):
    load_sample(system)
    text = "".join(exports.export("rows.csv"))
    job = checked(cleo, text.replace("6.24µs | verdict", "6.5 µs | verdict | tier 2"))
    (line,) = job.lines.exclude(state=ImportLine.State.UNCHANGED)
    assert (line.target, [change["label"] for change in line.document["diff"]]) == ("D2", ["numbers"])
    assert [(number["value"], number["tier"]) for number in line.document["content"]["numbers"]] == [("6.5", "2")]
    scopes = "op class: gemv; M: 1; architecture: sm_100; envelope: fused_megakernel"
    assert scopes in text
    assert states(checked(cleo, text.replace(scopes, "").replace("one\ntwo", ""))) == set()


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("Scope", "for small rows", "'for small rows' names no dimension of a scope."),
        ("Scope", "M: 1; m: 2", "'m' stands twice."),
        ("Structural", "perhaps", "'perhaps' is neither yes nor no."),
        ("Numbers, typed", "5 us | about", "Line 1: 'about' is not understood."),
    ],
)
def test_what_a_typed_cell_can_not_say_is_named_with_its_column(column, cell, said):
    content = read_content({"verdict": "WIN", "lever": "x", "title": "x"})[0]
    cells = exports.row_cells(content) | {"Code": "W7", column: cell}
    read = read_line(Record(4, [cells.get(name, "") for name in HEADER]), HEADER, mapping())
    (problem,) = read.problems
    assert (problem["line"], problem["column"], problem["message"]) == (4, column, said)
    assert problem["fix"]


def test_a_fresh_site_takes_the_rows_of_a_csv(cleo):
    content = read_content({
        "lever": "split-k", "title": "Split-K", "verdict": "DEAD", "cause_class": "flat", "mechanism": "a|b",
        "scope": {"op_class": ["gemv", "norm"], "m": "1, 4..8", "baseline": "v1; M: 2"},
        "approaches": ["two slices", "four | slices"], "not_checked": "M above 8.",
        "numbers": [{"text": "≤6%", "readable": True, "value": "6", "unit": "percent", "qualifier": "<=", "tier": "1"}],
        "sources": [{"kind": "note", "text": "commit: x | y", "document": "", "anchor": ""}],
    })[0]  # fmt: skip
    text = "".join(
        exports.csv_lines([HEADER, [(exports.row_cells(content) | {"Code": "D7"}).get(n, "") for n in HEADER]])
    )
    job = checked(cleo, text)
    apply_import(cleo, job.public_id)
    for pk in work.due_jobs():
        work.work_on(pk)
    assert EvidenceRow.objects.get(code="D7").head.content == content


# --- any row ---

line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
ODD = ["a | b", "a \\| b", "\\", "x\\", "6 us and 7 us", "+5% vs v1", "-3 us", "'=1", "n/a", "<br>", "note: a",
       "a\r\nb", "a\rb", "\u2028"]  # fmt: skip
words = line | st.sampled_from(ODD)
figure = st.decimals(-1000, 1000, places=2).map(str)
figures = st.one_of(
    figure.map(lambda value: {"value": value}),
    st.tuples(figure, figure).map(lambda ends: dict(zip(("low", "high"), sorted(ends, key=float), strict=True))),
)
numbers = st.builds(
    lambda said, ends: said | ends,
    st.fixed_dictionaries(
        {
            "text": words, "readable": st.booleans(), "unit": st.sampled_from(UNITS), "tier": st.sampled_from(TIERS),
            "qualifier": st.sampled_from(QUALIFIERS), "direction": st.sampled_from(DIRECTIONS),
            "compared_with": words, "n": st.sampled_from(["", "3"]), "verified": st.booleans(),
            "role": st.sampled_from(ROLES),
        }
    ),
    figures,
)  # fmt: skip
contents = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from(sorted(CODES)), "lever": st.just("split-k"), "title": words, "mechanism": words,
        "not_checked": words, "bound": words, "measured_note": words, "structural": st.booleans(),
        "approaches": st.lists(words, max_size=3), "numbers": st.lists(numbers, max_size=3),
        "cause_class": st.sampled_from(["", *CAUSE_CLASSES]), "measured_on": st.sampled_from(["", "2026-07-01"]),
        "scope": st.fixed_dictionaries(
            {}, optional={"op_class": st.just(["gemv", "norm"]), "m": st.just("1, 4..8"), "baseline": words}
        ),
        "sources": st.lists(
            st.fixed_dictionaries(
                {
                    "kind": st.sampled_from(SOURCE_KINDS), "text": words,
                    "document": st.sampled_from(["", "some-map"]), "anchor": st.sampled_from(["", "a"]),
                }
            ),
            max_size=3,
        ),
    }
)  # fmt: skip


@given(raw=contents)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_importing_the_export_of_any_row_changes_nothing(cleo, raw):
    content, problems = read_content(raw)
    if problems or not content["title"].strip():
        return
    code = f"{CODES[content['verdict']][0]}{EvidenceRow.objects.count() + 1000}"
    row = BaselineRow(code=code, line=1, content=content, lever_name="Split-K", said=frozenset(content))
    import_baseline(cleo, rows=[row], source="test", log="test")
    head = EvidenceRow.objects.get(code=code).head.content
    cells = exports.row_cells(head) | {"Code": code}
    job = checked(cleo, "".join(exports.csv_lines([HEADER, [cells.get(name, "") for name in HEADER]])))
    assert states(job) == set()
    cancel_import(cleo, job.public_id)


@given(raw=contents)
@settings(max_examples=60, deadline=None)
def test_typed_cells_say_the_same_when_they_come_back(raw):
    content, problems = read_content(raw)
    if problems or not content["title"].strip():
        return
    cells = exports.row_cells(content)
    read = read_line(Record(1, [(cells | {"Code": "D7"}).get(name, "") for name in HEADER]), HEADER, mapping())
    assert read.problems == []
    back = exports.row_cells(read_content(read.document["content"])[0])
    for name in ("Scope", "Numbers, typed", "Sources, typed", "Structural"):
        assert back[name] == cells[name], name
