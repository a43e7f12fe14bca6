"""The gate in a repository reads a part of the evidence, and says what it says of all of it."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.test_antiloop import FUSED_GEMV, make_choice, make_context, make_spec, revision
from tests.rules.test_lever_family import SLUGS, vocabularies
from v2kb.cli.commands.gate import rows_looked_at
from v2kb.cli.index import snapshot_index
from v2kb.rules.antiloop import evaluate
from v2kb.rules.canonical import canonical_json, content_hash
from v2kb.rules.evidence import check_revision
from v2kb.rules.snapshot import Line, gate_facts, lines_by_kind, sealed

CODES = tuple(f"{letter}{number}" for letter in "DWU" for number in (1, 2, 10))
VERDICTS = {"D": "DEAD", "W": "WIN", "U": "UNTESTED"}
PINS = ("head", "older", "0" * 64)


def row_line(code: str, lever: str, newer: list[str], flags: int) -> Line:
    content = check_revision(revision(lever, VERDICTS[code[0]], FUSED_GEMV, title=code), imported=True).content
    return {
        "kind": "row", "code": code, "revision": 2, "head_hash": content_hash(content), "content": content,
        "older": {content_hash({**content, "title": "before"}): "UNTESTED"}, "archived": False, "flags": flags,
        "confirmed": flags, "proposals": 0, "superseded_by": newer, "cells": [],
    }  # fmt: skip


@st.composite
def evidence(draw) -> list[Line]:
    """The lines of a snapshot: levers with parents, some of them merged, and rows that supersede each other."""
    parents, merges = draw(vocabularies())
    merged = {taken: into for taken, into in merges if taken != into}
    lines: list[Line] = [{"kind": "vocabulary", "aliases": {}, "causes": []}]
    lines += [
        {"kind": "lever", "slug": slug, "name": f"Lever {slug}", "aliases": [f"{slug}{slug}"], "parent": parents[slug],
         "merged_into": merged.get(slug, ""), "archived": False, "description": ""} for slug in SLUGS
    ]  # fmt: skip
    levers = st.sampled_from(SLUGS) if draw(st.booleans()) else st.sampled_from((*SLUGS, "AA", "nowhere"))
    newer = st.lists(st.sampled_from((*CODES, "D99")), max_size=2, unique=True)
    for code in draw(st.lists(st.sampled_from(CODES), unique=True)):
        lines.append(row_line(code, draw(levers), draw(newer), draw(st.sampled_from((0, 0, 1)))))
    return lines


@st.composite
def designs(draw) -> dict:
    """A spec with two choices, whatever they cite."""
    cited = st.tuples(st.sampled_from((*CODES, "D99")), st.sampled_from(PINS))
    choices = [
        make_choice(
            {"rows": {"W5": {"head_hash": ""}}},
            id=name,
            lever=draw(st.sampled_from((*SLUGS, "Lever b", "cc", "nowhere", "", "D D"))),
            polarity=draw(st.sampled_from(("adopts", "avoids", "keeps"))),
            scope=dict(FUSED_GEMV),
            citations=[
                {"kind": "evidence", "code": code, "revision": pin, "stance": "supports"}
                for code, pin in draw(st.lists(cited, max_size=3))
            ],
            new_mechanism=draw(st.sampled_from(("", "Paid once, over the whole step, and never again."))),
        )
        for name in ("C1", "C2")
    ]
    choices[0]["prediction"]["row"] = draw(st.sampled_from(("", *CODES)))
    return make_spec(*choices)


def pinned(design: dict, rows: list[Line]) -> dict:
    """The design whose citations name the hashes that they mean."""
    known = {row["code"]: {"head": row["head_hash"], "older": next(iter(row["older"]))} for row in rows}
    for choice in design["choices"]:
        for citation in choice["citations"]:
            meant = known.get(citation["code"], {})
            citation["revision"] = meant.get(citation["revision"], citation["revision"])
    return design


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=evidence(), design=designs())
def test_a_part_of_the_evidence_gives_the_same_answer_byte_for_byte(lines, design):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", name)
        snapshot = Path(name) / "snapshot.jsonl"
        text = "".join(sealed(lines, made_at="2026-11-29T10:00:00+00:00", change=1))
        snapshot.write_text(text, encoding="utf-8")
        index = snapshot_index(snapshot)
        everything = lines_by_kind(text.partition("\n")[2])
        document = pinned(design, everything["row"])
        part = {**everything, "row": rows_looked_at(document, index)}
        index.close()
    answers = [evaluate(document, gate_facts(known), make_context()).as_document() for known in (everything, part)]
    assert canonical_json(answers[0]) == canonical_json(answers[1])


def test_rows_that_no_choice_is_about_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    levers = [
        {"kind": "lever", "slug": slug, "name": slug, "aliases": [], "parent": "", "merged_into": "", "archived": False,
         "description": ""} for slug in "ab"
    ]  # fmt: skip
    rows = [row_line("D1", "a", [], 0), row_line("D2", "b", [], 0), row_line("W1", "a", [], 0),
            row_line("W2", "b", [], 0), row_line("D10", "a", ["U1"], 0), row_line("U1", "b", [], 0)]  # fmt: skip
    snapshot = tmp_path / "snapshot.jsonl"
    lines = [{"kind": "vocabulary", "aliases": {}, "causes": []}, *levers, *rows]
    snapshot.write_text("".join(sealed(lines, made_at="2026-11-29T10:00:00+00:00", change=1)), encoding="utf-8")
    choice = make_choice({"rows": {"W5": {"head_hash": ""}}}, lever="a", citations=[{"kind": "evidence", "code": "W2"}])
    read = rows_looked_at(make_spec(choice), snapshot_index(snapshot))
    assert sorted(row["code"] for row in read) == ["D1", "D10", "U1", "W2"]
