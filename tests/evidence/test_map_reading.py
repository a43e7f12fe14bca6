"""Reading an evidence map: rows, numbers, dates, sources, guidelines, and what can't be read. No database."""

import pytest

from evidence.importers.cells import read_date, read_sources
from evidence.importers.evidence_map import EvidenceMap, read_map
from evidence.importers.typing_file import TypingRefused, read_typing
from references.importers.markdown import parse_markdown
from tests.evidence.sample import MAP, typing_bytes


def read(text: str = MAP, *, typed: bool = False) -> EvidenceMap:
    typing = read_typing(typing_bytes()) if typed else None
    return read_map(parse_markdown(text), slug="probe-map", typing=typing)


def row(found: EvidenceMap, code: str) -> dict:
    return next(each for each in found.rows if each.code == code).content


def test_each_table_gives_rows_of_its_verdict():
    found = read()
    assert [(each.code, each.content["verdict"], each.line) for each in found.rows] == [
        ("D1", "DEAD", 9),
        ("D2", "DEAD", 10),
        ("D10", "DEAD", 11),
        ("W1", "WIN", 17),
        ("W2", "WIN", 18),
        ("U1", "UNTESTED", 24),
    ]
    assert found.problems == []
    assert found.other_tables == [43]


def test_cells_become_numbers_with_units_and_roles():
    found = read()
    shown = [(n["text"], n["value"], n["low"], n["high"], n["unit"], n["role"]) for n in row(found, "D2")["numbers"]]
    assert shown == [
        ("6.24µs", "6.24", None, None, "us", "verdict"),
        ("2.50 TB/s", "2.50", None, None, "TB/s", "verdict"),
        ("~3.9µs", "3.9", None, None, "us", "data_point"),
    ]
    assert [n["text"] for n in row(found, "D1")["numbers"] if not n["readable"]] == ["3×"]
    win = row(found, "W1")["numbers"][0]
    assert (win["low"], win["high"], win["compared_with"]) == ("-9", "-7", "v1")
    assert {n["role"] for n in row(found, "U1")["numbers"]} == {"bound"}


def test_the_words_of_the_source_are_kept():
    found = read()
    assert row(found, "D1")["measured_note"] == "DEAD, killed 3× (+67%, +17% regressions)"
    assert row(found, "U1")["mechanism"] == "Never tried"
    assert row(found, "U1")["bound"].startswith("Upside bounded by 6.24µs")


def test_dates_and_sources():
    found = read()
    assert row(found, "D2")["measured_on"] == "2026-06-27"
    assert "2026-06-20/27" in row(found, "D2")["measured_note"]
    assert row(found, "D10")["measured_note"] == "ALL FLAT (≤6%); v4/v6"
    kinds = [(source["kind"], source["text"]) for source in row(found, "D10")["sources"]]
    assert kinds == [("document", "Probe map of the test team, Dead"), ("commit", "commit f624d75a")]
    assert row(found, "D1")["sources"][0]["anchor"] == "dead"
    same = row(found, "W2")
    assert same["measured_on"] == "2026-07-03"
    assert [source["text"] for source in same["sources"][1:]] == ["acd86f8a", "note_fold"]


@pytest.mark.parametrize(
    ("cell", "newest", "note", "rest"),
    [
        ("2026-07-03", "2026-07-03", "", ""),
        ("2026-06-28/29; `a`", "2026-06-29", "2026-06-28/29", "`a`"),
        ("2026-06-29 final; `a`", "2026-06-29", "final", "`a`"),
        ("2026-13-45", "", "2026-13-45", ""),
        ("2026-02-30/03", "2026-02-03", "2026-02-30/03", ""),
        ("", "", "", ""),
        ("commit 62449212", "", "", "commit 62449212"),
    ],
)
def test_date_cells(cell, newest, note, rest):
    date = read_date(cell)
    assert (date.newest, date.note, date.rest) == (newest, note, rest)


def test_sources_split_at_semicolons():
    assert [s["kind"] for s in read_sources("commit abc1234; `x`; words", [])] == ["commit", "note", "note"]


def test_guidelines_are_the_top_level_items():
    found = read()
    counts = {kind: len(items) for kind, items in found.guidelines.items()}
    assert counts == {"measurement_rule": 2, "contract_step": 2, "known_gap": 1}
    assert [item["title"] for item in found.guidelines["measurement_rule"]] == ["Tier first", "Cold L2"]
    assert found.guidelines["known_gap"][0] == {
        "title": "No baseline yet",
        "text": "No baseline yet. It must be captured.",
        "anchor": "known-gaps",
        "line": 39,
    }


def test_without_typing_the_lever_is_made_of_the_title_and_the_cause_stays_missing():
    content = row(read(), "D1")
    assert content["lever"] == "loader-warp-in-the-fused-gemv"
    assert (content["cause_class"], content["scope"], content["approaches"]) == ("", {}, [])


def test_typing_supplies_what_no_column_says():
    found = read(typed=True)
    content = row(found, "D1")
    assert (content["lever"], content["title"], content["cause_class"]) == (
        "warp-spec",
        "Loader warp",
        "regressed_in_scope",
    )
    assert content["mechanism"] == "Takes a MAC slot; see W1"
    assert row(found, "D2")["numbers"][0]["unit"] == "us"
    assert next(each for each in found.rows if each.code == "D1").said >= {"lever", "scope", "cause_class"}


# --- what can't be read -------------------------------------------------------------------------------------------


def problems(text: str) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.column, problem.code) for problem in read(text).problems]


def test_a_missing_column_is_named_with_its_table():
    text = MAP.replace(
        "| # | Cell | Status | Bound / caveat |\n|---|---|---|---|", "| # | Cell | Status |\n|---|---|---|"
    ).replace(" | Upside bounded by 6.24µs; predict ≤ 1.18× |", " |")
    assert problems(text) == [(22, "Bound / caveat", "evidence.import.missing_column")]
    assert "# | Cell | Status | Bound / caveat" in read(text).problems[0].fix


def test_a_header_with_another_count_than_the_line_under_it():
    text = MAP.replace("| # | Win | Number | Mechanism (corrected) | Source |", "| # | Win | Number | Source |")
    assert problems(text) == [(15, "", "evidence.import.broken_table")]


def test_an_unknown_verdict_names_line_and_column():
    assert problems(MAP.replace("ALL FLAT (≤6%)", "Promising (≤6%)")) == [
        (11, "Verdict + number", "evidence.import.verdict")
    ]
    assert problems(MAP.replace("ALL FLAT (≤6%)", "WIN, though regress")) == [
        (11, "Verdict + number", "evidence.import.verdict")
    ]
    assert problems(MAP.replace("Never tried", "DEAD since May")) == [(24, "Status", "evidence.import.verdict")]


def test_a_code_that_stands_twice_takes_neither_line():
    text = MAP.replace("| W2 |", "| D2 |")
    found = read(text)
    assert problems(text) == [(10, "#", "evidence.import.duplicate_code"), (18, "#", "evidence.import.duplicate_code")]
    assert "D2" not in [each.code for each in found.rows]
    assert "line 18" in found.problems[0].message


@pytest.mark.parametrize("code", ["", "d2", "D02", "D", "ABCD1", "D1234567", "<b>"])
def test_a_bad_code(code):
    assert problems(MAP.replace("| D2 |", f"| {code} |")) == [(10, "#", "evidence.import.code")]


def test_a_row_with_a_cell_too_few_or_too_many():
    assert problems(MAP.replace(" | 2026-07-03 `note_warps` |", " |")) == [(9, "", "evidence.import.cells")]
    assert problems(MAP.replace("Takes a MAC slot", "Takes a | MAC slot")) == [(9, "", "evidence.import.cells")]


def test_a_document_without_such_tables():
    assert problems("# Notes\n\ntext\n") == [(1, "", "evidence.import.no_tables")]


def test_an_empty_name():
    assert problems(MAP.replace("| Split-K for qkv_a |", "|  |")) == [(10, "Lever", "evidence.import.empty_cell")]


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'{"levers": [,]}', "evidence.import.typing_json", "line 1, column 13"),
        (b"\xff", "evidence.import.typing_json", "Line 1"),
        (b"[]", "evidence.import.typing_shape", "the file"),
        (b'{"rows": {"D1": {"colour": "red"}}}', "evidence.import.typing_shape", "rows.D1.colour"),
        (b'{"levers": [{"slug": "a"}]}', "evidence.import.typing_shape", "levers[0].name"),
        (
            b'{"levers": [{"slug": "a", "name": "a", "parent": "b"}, {"slug": "b", "name": "b", "parent": "a"}]}',
            "evidence.import.typing_shape",
            "a, b",
        ),
        (b"[" * 100_000, "evidence.import.typing_json", "nested too deeply"),
    ],
)
def test_typing_files_that_are_refused(data, code, place):
    with pytest.raises(TypingRefused) as refused:
        read_typing(data)
    assert refused.value.code == code
    assert place in refused.value.message


# --- the corpus ---------------------------------------------------------------------------------------------------


def test_the_corpus_map(corpus):
    text = (corpus / "references" / "m1-decode-evidence.md").read_text()
    found = read_map(parse_markdown(text), slug="m1-decode-evidence")
    verdicts = [each.content["verdict"] for each in found.rows]
    assert {verdict: verdicts.count(verdict) for verdict in set(verdicts)} == {"DEAD": 11, "WIN": 5, "UNTESTED": 3}
    assert {kind: len(items) for kind, items in found.guidelines.items()} == {
        "measurement_rule": 7,
        "contract_step": 4,
        "known_gap": 2,
    }
    assert (found.problems, found.other_tables) == ([], [])
    numbers = {each.code: each.content["numbers"] for each in found.rows}
    by_text = {n["text"]: n for each in numbers.values() for n in each}
    assert (by_text["+67%"]["value"], by_text["+67%"]["unit"]) == ("67", "percent")
    assert (by_text["6.24µs"]["unit"], by_text["2.50 TB/s"]["unit"]) == ("us", "TB/s")
    assert (by_text["−7..−9%"]["low"], by_text["−7..−9%"]["high"]) == ("-9", "-7")
    assert (by_text["≤6%"]["qualifier"], by_text["≤6%"]["value"]) == ("<=", "6")
    assert (by_text["+0.058..+0.342ms"]["low"], by_text["+0.058..+0.342ms"]["high"]) == ("0.058", "0.342")
    unreadable = {code: [n["text"] for n in each if not n["readable"]] for code, each in numbers.items()}
    assert {code: texts for code, texts in unreadable.items() if texts} == {"D1": ["3×"], "D5": ["~4"], "D6": ["4×"]}
