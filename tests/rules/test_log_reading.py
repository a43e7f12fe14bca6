"""Reading logs: encodings, records of each format, cells, mappings. Nothing is guessed and nothing dropped."""

import contextlib
import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.importers.entry_matching import pair_lines
from evidence.importers.log_cells import cell_text, read_commit, read_day, read_figures, word_key
from evidence.importers.log_lines import read_line
from evidence.importers.log_mapping import FIELDS, read_mapping, suggest
from evidence.importers.map_writing import table_line
from evidence.importers.records import (
    CSV,
    JSONL,
    SLASHES,
    TABLE,
    Layout,
    NoLog,
    Record,
    find_layout,
    guarded,
    read_records,
    unguarded,
)
from evidence.importers.texts import NoText, encoding_of, lines_of
from v2kb.rules.experiments import read_entry
from v2kb.rules.number_reading import unit_of_heading

plain = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=30)
cells = plain.map(lambda text: " ".join(text.split()))


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@given(st.lists(plain, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 9))
def test_lines_in_any_pieces_and_line_ends(lines, end, size):
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        data = pieces(f"{end.join(lines)}{end}".encode(encoding), size)
        first = next(iter(data), b"")
        if len(first) >= 4:  # a mark that is cut in two is no mark
            assert encoding_of(data) == ("utf-8-sig" if first.startswith(b"\xef\xbb\xbf") else encoding)
        assert list(lines_of(data, encoding)) == lines


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("−9 µs".encode(), "utf-8"),
        ("–9 µs".encode("cp1252"), "cp1252"),
        (b"\x81 \xb5s", "latin-1"),
        (b"\xef\xbb\xbfa", "utf-8-sig"),
        ("a".encode("utf-16"), "utf-16"),
        (b"", "utf-8"),
    ],
)
def test_encodings(data, encoding):
    assert encoding_of([data]) == encoding


def test_what_is_no_text():
    for data in (b"a\0b", b"\xef\xbb\xbf\xff"):
        with pytest.raises(NoText):
            encoding_of([data])


@given(st.lists(st.lists(cells, min_size=3, max_size=3), max_size=5))
def test_a_table_that_is_written_is_read(rows):
    lines = [table_line(["Date", "Result", "Why"]), "|---|---|---|", *map(table_line, rows), "", "| no | table |"]
    layout = find_layout(lines)
    assert (layout.format, layout.header) == (TABLE, ["Date", "Result", "Why"])
    found = list(read_records(lines, layout))
    assert [record.line for record in found] == [number + 3 for number in range(len(rows))]
    for record, row in zip(found, rows, strict=True):
        assert not record.problem
        assert [cell.replace("&#124;", "|") for cell in record.cells] == [
            " ".join(cell.replace("&#124;", "|").split()) for cell in row
        ]


@given(
    st.lists(st.lists(plain | st.just("=1+1") | st.just("a\nb"), min_size=2, max_size=2), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
)
def test_csv_that_is_written_is_read(rows, delimiter):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["Date", "Result"])
    writer.writerows([[guarded(cell) for cell in row] for row in rows])
    lines = list(lines_of([buffer.getvalue().encode()], "utf-8"))
    found = list(read_records(lines, Layout(CSV, ["Date", "Result"], delimiter)))
    assert [record.cells for record in found] == rows


@given(plain | st.sampled_from(["'", "'=", "''-1", "=1", "\t"]))
def test_a_guarded_cell_is_no_formula_and_comes_back(cell):
    assert unguarded(guarded(cell)) == cell
    assert not guarded(cell).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b"]),
            plain | st.none() | st.booleans() | st.integers() | st.lists(st.integers(), max_size=2),
        ),
        max_size=5,
    )
)
def test_json_lines_are_read(documents):
    lines = [json.dumps(document) for document in documents]
    found = list(read_records(lines, Layout(JSONL, ["a", "b"])))
    assert len(found) == len(documents)
    for record, document in zip(found, documents, strict=True):
        for cell, value in zip(record.cells, (document.get("a"), document.get("b")), strict=True):
            assert (
                cell == value
                or (value is None and not cell)
                or json.loads(cell) in (value, [str(v) for v in value] if isinstance(value, list) else value)
            )


@given(st.lists(plain, max_size=12), st.sampled_from([TABLE, SLASHES, CSV, JSONL]))
def test_no_reader_fails(lines, format_):
    layout = Layout(
        format_, ["a", "b"] if format_ != SLASHES else ["Date", "Env", "Verdict", "Why", "Trace", "Commit"], ","
    )
    for record in read_records(["| a | b |", "|---|---|", *lines], layout):
        assert record.problem or len(record.cells) == len(layout.header)
    with contextlib.suppress(NoLog):
        find_layout(lines)


def test_tables_with_other_columns_and_code_are_left_alone():
    text = """| a | b |
|---|---|
| 1 | 2 |

```
| a | b |
|---|---|
| no | no |
```

| c | d |
|---|---|
| 3 | 4 |

| a | b |
|:--|--:|
| 5 | `x|y` |
| 6 |
"""
    lines = text.splitlines()
    layout = find_layout(lines)
    found = list(read_records(lines, layout))
    assert [(record.line, record.cells) for record in found[:2]] == [(3, ["1", "2"]), (17, ["5", "`x|y`"])]
    assert (found[2].line, found[2].problem, layout.others) == (18, "1 cell where the header has 2.", [11])
    assert found[2].fix == "Add those that are missing; they may be empty."


def test_columns_have_names_of_their_own():
    assert find_layout(["| a | a |  |", "|---|---|---|", "| 1 | 2 | 3 |"]).header == ["a", "a (2)", "column 3"]
    for lines in ([""], ["[1]"], ["words"], ["a single column", "1"]):
        with pytest.raises(NoLog):
            find_layout(lines)


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("2026-07-03", "2026-07-03"),
        ("**2026/7/3**", "2026-07-03"),
        ("2026-07-03T14:00:05Z", "2026-07-03"),
        ("2026-07-03 14:00 +02:00", "2026-07-03"),
        ("3 July 2026", "2026-07-03"),
        ("Jul 3rd, 2026", "2026-07-03"),
        ("03/07/2026", None),
        ("2026-02-30", None),
        ("2026-07-03/04", None),
        ("July 2026", None),
        ("3 Foo 2026", None),
    ],
)
def test_days(cell, day):
    assert read_day(cell) == day


def test_cells():
    assert [cell_text(cell) for cell in (" n/a ", "–", "`none`", "a<br/>b", "~5 us")] == ["", "", "", "a\nb", "~5 us"]
    assert word_key("**Reverted**<br>(Below  gate).") == "reverted (below gate)"
    assert [read_commit(cell) for cell in ("`ac3d9736`", "commit ac3d9736", "main@ac3d9736", "two words")] == [
        "ac3d9736", "ac3d9736", "main@ac3d9736", None,
    ]  # fmt: skip


HEADER = ["Date", "Result", "Speed", "Notes", "Name"]
MAPPING = {
    "columns": {"Date": "date", "Result": "verdict", "Speed": "number", "Notes": "why", "Name": "title"},
    "words": {
        "kept": {"as": "entry", "verdict": "WIN", "cause_class": ""},
        "oom": {"as": "row", "verdict": "DEAD", "cause_class": "flat"},
        "later": {"as": "skip", "verdict": "", "cause_class": ""},
    },
}


@pytest.mark.parametrize(
    ("cell", "read", "unread"),
    [
        ("−7..−9%", [("-9", "-7", None)], 0),
        ("≤6%", [(None, None, "6")], 0),
        ("~12.5us", [(None, None, "12.5")], 0),
        ("1.41-1.56×", [("1.41", "1.56", None)], 0),
        ("6.24µs = 2.50 TB/s", [(None, None, "6.24"), (None, None, "2.50")], 0),
        ("3,5%", [], 1),
        ("n/a", [], 0),
    ],
)
def test_numbers_of_a_row(cell, read, unread):
    found = read_line(Record(7, ["2026-07-03", "OOM", cell, "m", "Tile"]), HEADER, MAPPING)
    numbers = found.document["content"]["numbers"]
    assert [(n["low"], n["high"], n["value"]) for n in numbers if n["readable"]] == read
    assert (len([n for n in numbers if not n["readable"]]), len(found.notes)) == (unread, unread)
    assert cell == "n/a" or found.document["content"]["measured_note"] == cell


@pytest.mark.parametrize(
    ("column", "cell", "read", "texts"),
    [
        ("Speed", "2/3", [], ["'2/3'"]),
        ("Speed", "5 furlongs", [], ["'5 furlongs'"]),
        ("Speed", "27", [], ["'27'"]),
        ("Speed", "much faster", [], ["'much faster'"]),
        ("Speed", "1.2.3 us", [], ["'1.2.3 us'"]),
        ("Speed", "8,125%", [], ["'8,125%' (8.125 or 8125)"]),
        ("Speed", "3, 4, 5 ms", ["5"], ["'3'", "'4'"]),
        ("Speed", "27 (3.2× slower)", ["3.2"], ["'27'"]),
        ("Speed", "+3% (M=16), 136 CTA", ["3"], []),
        ("Speed", "n/a", [], []),
        ("result_us", "27", ["27"], []),
        ("result_us", "**27.5**", ["27.5"], []),
        ("result_us", "about 27; ≤ 30", ["27", "30"], []),
        ("result_us", "27 (3.2× slower)", ["27", "3.2"], []),
        ("result_us", "27 ms", ["27"], []),
        ("result_us", "2/3", [], ["'2/3'"]),
        ("result_us", "1,234", [], ["'1,234' (1.234 or 1234)"]),
        ("result_us", "OOM", [], ["'OOM'"]),
        ("Δ (%)", "−4", ["-4"], []),
    ],
)
def test_a_cell_of_numbers_is_read_or_said_to_be_text(column, cell, read, texts):
    header = ["Date", "Result", column, "Notes", "Name"]
    mapping = MAPPING | {"columns": dict(zip(header, MAPPING["columns"].values(), strict=True))}
    found = read_line(Record(7, ["2026-07-03", "OOM", cell, "m", "Tile"]), header, mapping)
    numbers = found.document["content"]["numbers"]
    assert [number["value"] for number in numbers if number["readable"]] == read
    assert found.notes == [f"column {column}: {text} is kept as text, not read as a number" for text in texts]
    assert all(number["text"] in cell for number in numbers)


@pytest.mark.parametrize(
    ("column", "cell", "why"),
    [
        ("Time (µs)", "6.24", "6.24 us"),
        ("result_us", "**27.5**", "**27.5** us"),
        ("result_us", "27 (3.2× slower)", "27 us (3.2× slower)"),
        ("result_us", "about 27; ≤ 30, 31", "about 27 us; ≤ 30 us, 31 us"),
        ("result_us", "3,5", "3,5 us"),
        ("result_us", "27 ms", "27 ms"),
        ("result_us", "2/3", "2/3 us"),
        ("result_us", "OOM", "OOM"),
        ("Δ (%)", "−4", "−4 %"),
        ("Speed", "27", "27"),
    ],
)
def test_a_line_of_the_history_keeps_the_unit_of_a_columns_heading(column, cell, why):
    header = ["Date", "Result", column, "Notes", "Name"]
    mapping = MAPPING | {"columns": dict(zip(header, MAPPING["columns"].values(), strict=True))}
    found = read_line(Record(7, ["2026-07-03", "kept", cell, "m", "Tile"]), header, mapping)
    assert (found.kind, found.document["why"]) == ("entry", f"Tile; {why}; m")


@given(cells, st.sampled_from(["Speed", "result_us"]))
def test_no_cell_of_numbers_is_silent(cell, column):
    numbers, texts = read_figures(cell_text(cell), unit_of_heading(column), "verdict")
    assert numbers or texts or not cell_text(cell)
    assert all(text in cell for text in [*texts, *(number["text"] for number in numbers)])
    assert all(number["readable"] or number["text"] in texts for number in numbers)


@given(st.lists(plain, min_size=5, max_size=5))
def test_every_line_is_read_or_says_why_not(row):
    for word in ("kept", "OOM", "later", row[1]):
        found = read_line(Record(3, [row[0], word, *row[2:]]), HEADER, MAPPING)
        assert found.problems or found.kind in ("entry", "row", "skip")
        assert all(problem["line"] == 3 and problem["message"] and problem["fix"] for problem in found.problems)
        if found.kind == "entry" and not found.problems:
            assert read_entry(found.document) == (found.document, [])


@given(
    st.recursive(
        st.none() | plain | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(plain, inner), max_leaves=8
    )
)
def test_no_mapping_fails(raw):
    for document in (raw, {"columns": raw, "words": raw}, {"columns": {"Date": raw}, "words": {"x": raw}}):
        mapping, problems = read_mapping(document, HEADER)
        assert set(mapping["columns"]) == set(HEADER)
        assert set(mapping["columns"].values()) <= {"", *FIELDS}
        assert problems


def test_suggestions():
    name, mapping = suggest(["When", "Change", "Outcome", "Why"], ["Kept", "WIN", "odd"], [])
    assert (name, mapping["columns"]["Outcome"], set(mapping["words"])) == ("", "verdict", {"kept", "win"})
    saved = [
        (
            "mine",
            {"columns": {"when": "date", "CHANGE": "title", "Outcome": "verdict"}, "words": {"odd": {"as": "skip"}}},
        )
    ]
    name, mapping = suggest(["When", "Change", "Outcome", "Why"], ["odd"], saved)
    assert (name, mapping["columns"]["Change"], mapping["words"]) == ("mine", "title", {"odd": {"as": "skip"}})
    assert suggest(["a", "b"], [], saved)[0] == ""
    assert suggest(["Code", "Verdict"], ["WIN"], [])[1]["words"]["win"]["as"] == "row"


@pytest.mark.parametrize("heading", ["Time (µs)", "Time (μs)", "lat_p50_us", "Δ (%)", "BW [GB/s]"])
def test_a_column_whose_heading_names_a_unit_is_taken_for_numbers(heading):
    assert suggest([heading, "Lane"], [], [])[1]["columns"] == {heading: "number", "Lane": ""}


def entry(**changes):
    read, problems = read_entry({"on": "2026-07-01", "env": "B200", "verdict": "WIN", "why": "a", **changes})
    assert not problems
    return read


def test_pairs_of_lines():
    one, two = entry(why="one", trace="o/1"), entry(why="two", trace="o/2")
    assert pair_lines([(1, entry(why="ONE", trace="o/1"))], [(7, one), (8, two)]) == ({1: 7}, {})
    assert pair_lines([(1, entry(why="x", verdict="NULL", trace="o/2"))], [(7, one), (8, two)]) == ({1: 8}, {})
    assert pair_lines([(1, entry(why="x", verdict="NULL"))], [(7, entry(why="y"))]) == ({}, {})
    assert pair_lines([(1, entry(why="x")), (2, entry(why="z"))], [(7, entry(why="y"))]) == ({}, {1: [7], 2: [7]})
    assert pair_lines([(1, entry(why="x"))], [(7, entry(why="y")), (8, entry(why="z"))]) == ({}, {1: [7, 8]})


@pytest.mark.parametrize(("cell", "code"), [("d3", "D3"), ("`W1`", "W1"), ("S10", None), ("ſ10", None), ("ı1", None)])
def test_the_code_of_a_row(cell, code):
    mapping = {
        "columns": {"Code": "code", "Result": "verdict", "What": "title"},
        "words": {"oom": {"as": "row", "verdict": "DEAD", "cause_class": ""}},
    }
    found = read_line(Record(2, [cell, "OOM", "Tile 128"]), ["Code", "Result", "What"], mapping)
    assert [problem["column"] for problem in found.problems] == ([] if code else ["Code"])
    assert code is None or found.document["code"] == code
