"""A spec written as markdown is read back without loss, whatever its fields hold."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.spec_examples import grouped_gemm_spec, norm_spec, ring_gemm_spec
from v2kb.rules import spec_words
from v2kb.rules.spec_document import empty_row, empty_spec, normalise
from v2kb.rules.spec_fields import ROW_FIELDS
from v2kb.rules.spec_fields.evidence import CITATION
from v2kb.rules.spec_markdown.files import read_file
from v2kb.rules.spec_markdown.marked import decode, decode_list, encode, shield, unshield
from v2kb.rules.spec_markdown.reading import read_markdown
from v2kb.rules.spec_markdown.writing import write_markdown

# Every word that some field may take, and texts that markdown could mistake for its own.
_WORDS = sorted({w for v in vars(spec_words).values() if isinstance(v, tuple) for w in v if isinstance(w, str)})
_TRAPS = [
    "a | b", "\\", "\\|", "<br>", "\\<br>", "x\n\ny", "<!-- v2kb: end -->", "<!-- \\v2kb: end -->", "## 3. SEM table",
    "| a |\n|---|", "```", "1", "8", "C1", "Q1", "#1", ",", '""', "a, b", "-", "—", "STAGES=8",
    "2026-01-02", "[+0] x", "§4",
]  # fmt: skip
_TEXT = st.one_of(st.sampled_from(_WORDS), st.sampled_from(_TRAPS), st.text(max_size=30))


def _like(blank: Any, path: str) -> st.SearchStrategy[Any]:
    """A strategy for a field whose blank form is `blank`."""
    if path in ROW_FIELDS and path != "choices.prediction":
        return st.lists(_record(empty_row(path), path), max_size=3)
    if path == "choices.citations":
        return st.lists(st.one_of([_cited(kind) for kind in CITATION]), max_size=3)
    if path == "choices.acknowledged":
        return st.lists(_record(dict.fromkeys(("code", "revision", "reason"), ""), path), max_size=2)
    if path == "choices.prediction":
        return st.none() | _record(empty_row(path), path)
    if path == "choices.wave_quant":
        return st.none() | _record(dict.fromkeys(("items", "tasks", "old_warps", "new_warps"), ""), path)
    if path == "choices.scope":
        return st.fixed_dictionaries(
            {}, optional={"dtype": st.lists(_TEXT, max_size=2), "m": st.just("1..16"), "baseline": _TEXT}
        )
    if path in ("symbols", "wiring.placeholders"):
        return st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True), _TEXT, max_size=3)
    if isinstance(blank, dict):
        return _record(blank, path)
    if isinstance(blank, bool):
        return st.booleans()
    return st.lists(_TEXT, max_size=3) if isinstance(blank, list) else _TEXT


def _record(blank: dict[str, Any], path: str) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: _like(value, f"{path}.{name}" if path else name) for name, value in blank.items()}
    return st.fixed_dictionaries({}, optional=fields)


def _cited(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": st.just(kind), **dict.fromkeys(CITATION[kind], _TEXT)})


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(_record(empty_spec(), ""))
def test_round_trip(raw):
    doc, _ = normalise(raw)
    assert read_markdown(write_markdown(doc)).document == doc


@pytest.mark.parametrize("make", [grouped_gemm_spec, ring_gemm_spec, norm_spec, empty_spec])
def test_examples_come_back_with_nothing_left_over(make):
    doc = make()
    reading = read_markdown(write_markdown(doc))
    assert reading.document == doc
    assert all(p.state == "read" for p in reading.placements)
    assert reading.problems == ()


def test_it_has_the_shape_of_a_spec():
    text = write_markdown(ring_gemm_spec())
    heads = [line for line in text.split("\n") if line.startswith("#")]
    assert heads == [
        "# Grouped GEMM, per tile", "## 0. Op contract", "## 1. Engine choice", "## 2. SMEM region plan", "## 2.1 TMEM",
        "## 3. SEM ordinal table", "## 4. Stage count and roles", "## 5. Task granularity", "## 6. Evidence table",
        "## 7. Gates and measurement", "## 8. Wiring sketch", "## 9. Open questions", "## 10. Design review log",
    ]  # fmt: skip
    assert "| STAGES | 1 | BSF | STAGES*SLICE + 16 | 1024 | ceil(size/PAGE) |" in text


def test_a_cell_that_was_edited_by_hand_is_read():
    text = write_markdown(grouped_gemm_spec()).replace("| STAGES | 8 |", "| STAGES | 6 |")
    reading = read_markdown(text)
    assert reading.document["symbols"]["STAGES"] == "6"
    assert "STAGES | 6" in text.split("\n")[reading.line_of("symbols.STAGES") - 1]


def test_prose_beside_marked_tables_adds_no_rows():
    text = write_markdown(grouped_gemm_spec()) + "\n## 9. Open questions\n\n- **Q9 (blocking the build)**: more.\n"
    reading = read_markdown(text)
    assert [q["id"] for q in reading.document["open_questions"]] == ["Q1"]
    assert "Q9" in reading.document["notes"]["questions"]


def test_what_a_mark_does_not_know_is_said():
    ops = "<!-- v2kb: ops -->\n| name | colour |\n|---|---|\n| A | red |\n"
    text = f"<!-- v2kb: weather -->\n\n{ops}\n<!-- v2kb: engine -->\ntext\n"
    reading = read_markdown(text)
    said = [p.why for p in reading.placements if p.why]
    assert reading.document["ops"][0]["name"] == "A"
    assert "weather is no part of a spec; what follows is read as text." in said
    assert "colour is no field of ops." in said
    assert "ops, colour: red" in reading.document["notes"]["contract"]
    assert "No table or text of engine follows this mark." in said


def test_json_comes_back_too():
    doc = grouped_gemm_spec()
    assert read_file(json.dumps(doc)).document == doc


@given(_TEXT)
def test_cells(text):
    assert decode(encode(text)) == text.strip(" \t")
    assert unshield(shield(text)) == text


@given(st.lists(_TEXT.map(lambda t: " ".join(t.split())), max_size=4))
def test_lists_in_cells(items):
    assert decode_list(encode(items)) == items
