"""The markdown parser: sections, anchors, tables, checklists, refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from references.importers.anchors import Heading, assign_anchors, heading_paths, slugify, split_number
from references.importers.markdown import MAX_DOCUMENT_BYTES, DocumentRefused, decode_document, parse_markdown
from references.importers.tables import split_row

DOCUMENT = """# House rules — the pipeline idiom

Opening words.

## 1. Roles

### Loader
Loads.

### §1.2 Mma

| role | duty | code |
|---|:-:|--:|
| loader | loads \\| stages | `warp|tma|mma` |
| storer | stores |

## 2. Memory

### Loader

- [ ] align to 1024
- [x] at most 14 pages
  - nested note
1. not a task

```cpp
# no heading
int x;
```

> # quoted heading
"""


def paths(document):
    return [(section.level, section.number, section.title, section.anchor) for section in document.sections]


def test_sections_have_levels_numbers_titles_and_parents():
    document = parse_markdown(DOCUMENT)
    assert document.title == "House rules — the pipeline idiom"
    assert paths(document) == [
        (1, "", "House rules — the pipeline idiom", "house-rules-the-pipeline-idiom"),
        (2, "1", "Roles", "roles"),
        (3, "", "Loader", "loader"),
        (3, "1.2", "Mma", "mma"),
        (2, "2", "Memory", "memory"),
        (3, "", "Loader", "loader--memory"),
    ]
    assert [section.parent for section in document.sections] == [None, 0, 1, 1, 0, 4]


def test_line_ranges_are_those_of_the_file():
    document = parse_markdown(DOCUMENT)
    lines = DOCUMENT.split("\n")
    for section in document.sections:
        assert section.text == "\n".join(lines[section.start_line - 1 : section.end_line])
    assert document.section("loader").body == "Loads."


def test_a_table_keeps_rows_with_lines_code_and_escaped_pipes_and_names_the_short_row():
    table = parse_markdown(DOCUMENT).section("mma").tables[0]
    assert table.header == ["role", "duty", "code"]
    assert [(row.line, row.cells) for row in table.rows] == [
        (14, ["loader", "loads | stages", "`warp|tma|mma`"]),
        (15, ["storer", "stores"]),
    ]
    assert table.problems == ["line 15: 2 cells where the header has 3"]
    assert table.records() == [{"role": "loader", "duty": "loads | stages", "code": "`warp|tma|mma`"}]
    assert parse_markdown(DOCUMENT).problems == table.problems


def test_an_extra_cell_is_named_and_not_cut_off():
    table = parse_markdown("|a|b|\n|-|-|\n|1|2|3|\n").sections[0].tables[0]
    assert table.rows[0].cells == ["1", "2", "3"]
    assert table.problems == ["line 3: 3 cells where the header has 2"]


@pytest.mark.parametrize(
    ("line", "width", "cells"),
    [
        ("| a | b |", 2, ["a", "b"]),
        ("a | b", 2, ["a", "b"]),
        ("| a \\| b | c |", 2, ["a | b", "c"]),
        ("| `a|b` | c |", 2, ["`a|b`", "c"]),
        ("| ``a`|b`` | c |", 2, ["``a`|b``", "c"]),
        ("| `a | b` | c |", 3, ["`a", "b`", "c"]),
        ("| `a | b |", 2, ["`a", "b"]),
        ("| | |", 2, ["", ""]),
        ("", 1, [""]),
        ("|", 1, [""]),
    ],
)
def test_rows_split_at_pipes_that_are_neither_escaped_nor_in_code(line, width, cells):
    assert split_row(line, width) == cells


def test_a_header_with_a_pipe_in_code_is_still_a_table():
    table = parse_markdown("| `a|b` | c |\n|---|---|\n| 1 | 2 |\n").sections[0].tables[0]
    assert table.header == ["`a|b`", "c"]
    assert table.rows[0].cells == ["1", "2"]


def test_a_checklist_has_items_with_lines_depth_and_state():
    section = parse_markdown(DOCUMENT).section("loader--memory")
    items = section.checklists[0].items
    assert [(item.line, item.depth, item.text, item.checked) for item in items] == [
        (21, 0, "align to 1024", False),
        (22, 0, "at most 14 pages", True),
        (23, 1, "nested note", None),
    ]
    assert [block.kind for block in section.blocks] == ["checklist", "list", "code", "quote"]
    assert section.blocks[2].language == "cpp"
    assert section.blocks[2].text == "# no heading\nint x;\n"


def test_text_before_the_first_heading_is_a_section_of_its_own():
    document = parse_markdown("\nSome words.\n\n## First\n", "notes")
    assert paths(document) == [(0, "", "notes", "notes"), (2, "", "First", "first")]
    assert document.title == "notes"
    assert [(section.start_line, section.end_line) for section in document.sections] == [(1, 3), (4, 4)]


def test_front_matter_gives_the_title_and_is_no_part_of_a_section():
    document = parse_markdown("---\nname: my-skill\ndescription: x\n---\n\nText.\n", "file")
    assert document.title == "my-skill"
    assert document.front_matter.fields == [("name", ["my-skill"]), ("description", ["x"])]
    assert [(section.text, section.start_line) for section in document.sections] == [("\nText.", 5)]
    with_heading = parse_markdown("---\nname: my-skill\n---\n# Rules\n\nText.\n")
    assert [(section.title, section.start_line) for section in with_heading.sections] == [("Rules", 4)]
    assert with_heading.title == "Rules"
    assert parse_markdown("---\nname: alone\n---\n\n").sections == []


def test_windows_and_old_mac_line_ends_read_the_same():
    expected = paths(parse_markdown(DOCUMENT))
    assert paths(parse_markdown(DOCUMENT.replace("\n", "\r\n"))) == expected
    assert paths(parse_markdown(DOCUMENT.replace("\n", "\r"))) == expected


@pytest.mark.parametrize(
    ("heading", "number", "title"),
    [
        ("4. SMEM", "4", "SMEM"),
        ("§4 SMEM", "4", "SMEM"),
        ("10.5 Appendix", "10.5", "Appendix"),
        ("§1.1: prefix", "1.1", "prefix"),
        ("3 ways to hang", "", "3 ways to hang"),
        ("2.", "", "2."),
        ("Stage 0 — LOAD", "", "Stage 0 — LOAD"),
        ("2026-07-15 notes", "", "2026-07-15 notes"),
    ],
)
def test_section_numbers(heading, number, title):
    assert split_number(heading) == (number, title)


def test_slugs_are_ascii_and_bounded():
    assert slugify("CPU→1-GPU `spec.h` [link](http://x/y)") == "cpu-1-gpu-spec-h-link"
    assert slugify("日本") == "section"
    assert len(slugify("word " * 100)) <= 70


def anchors_by_title(text, previous=None):
    document = parse_markdown(text, previous=previous or ())
    return document, [section.anchor for section in document.sections]


def known(document):
    first = next((i for i, section in enumerate(document.sections) if section.level), None)
    headings = [
        Heading(
            section.title, section.number, section.parent, section.level == 0 or (section.level == 1 and index == first)
        )
        for index, section in enumerate(document.sections)
    ]
    return list(zip(heading_paths(headings), [section.anchor for section in document.sections], strict=True))


def test_anchors_stay_when_an_equal_heading_is_put_in_front():
    before, anchors = anchors_by_title("# T\n## A\n### Notes\n## B\n### Notes\n")
    assert anchors == ["t", "a", "notes", "b", "notes--b"]
    _, after = anchors_by_title("# T\n## Z\n### Notes\n## A\n### Notes\n## B\n### Notes\n", known(before))
    assert after == ["t", "z", "notes--z", "a", "notes", "b", "notes--b"]


def test_anchors_stay_when_sections_are_renumbered_and_the_title_changes():
    before, anchors = anchors_by_title("# T\n## 1. A\n## 2. B\n")
    _, after = anchors_by_title("# T (new)\n## 1. New\n## 2. A\n## 3. B\n", known(before))
    assert after[2:] == anchors[1:]


titles = st.sampled_from(["Loader", "Notes", "1. Roles", "§2 Notes", "", "日本", "`x`"])
trees = st.lists(st.tuples(st.integers(2, 4), titles), max_size=12)


def markdown_of(tree):
    return "# Title\n" + "".join(f"{'#' * level} {title}\n\ntext\n" for level, title in tree)


@given(trees)
def test_anchors_are_unique(tree):
    _, anchors = anchors_by_title(markdown_of(tree))
    assert len(set(anchors)) == len(anchors) == len(tree) + 1


@given(trees, st.data())
def test_adding_a_top_section_at_the_end_or_reparsing_keeps_every_anchor(tree, data):
    before, anchors = anchors_by_title(markdown_of(tree))
    _, again = anchors_by_title(markdown_of(tree), known(before))
    assert again == anchors
    _, longer = anchors_by_title(markdown_of([*tree, (2, data.draw(titles))]), known(before))
    assert longer[: len(anchors)] == anchors


@given(trees, titles)
def test_adding_a_new_top_section_in_front_keeps_every_anchor(tree, title):
    before, anchors = anchors_by_title(markdown_of(tree))
    same_path = any(level == 2 and split_number(name)[1] == split_number(title)[1] for level, name in tree)
    if same_path or (tree and tree[0][0] > 2):
        return  # an equal sibling in front, or one that adopts the first sections, is another tree
    _, after = anchors_by_title(markdown_of([(2, title), *tree]), known(before))
    assert after[2:] == anchors[1:]


ugly = st.text(
    alphabet=st.sampled_from([*"#-|`*>[]()! \n\t\\x1.\r=~<_+:", "\x00", "\u2028", "\x0c", "é"]), max_size=400
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(ugly, st.text(max_size=400), ugly.map(lambda text: f"---\na: {text}\n---\n{text}")))
def test_any_text_parses_and_sections_cover_every_line_once(text):
    document = parse_markdown(text, "name")
    covered = [line for section in document.sections for line in range(section.start_line, section.end_line + 1)]
    above = 0 if document.front_matter.problem else document.front_matter.end
    if any(line.strip() for line in document.lines[above:]):
        assert covered == list(range(above + 1, len(document.lines) + 1))
        assert "\n".join(section.text for section in document.sections) == "\n".join(document.lines[above:])
    else:
        assert covered == []
    for section in document.sections:
        for block in section.blocks:
            assert section.start_line <= block.start_line <= block.end_line <= section.end_line
            block.to_dict()


@given(ugly)
def test_splitting_a_row_loses_no_sign_but_pipes_and_spaces(line):
    line = line.replace("\n", " ").replace("\r", " ").replace("\\", "")
    kept = "".join("".join(split_row(line)).split())
    assert kept.replace("|", "") == "".join(line.split()).replace("|", "")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "document.empty"),
        (b" \n\t\n", "document.empty"),
        (b"\xff\xfe# x", "document.not_utf8"),
        ("größe".encode("latin-1"), "document.not_utf8"),
        (b"PK\x03\x04\x00\x00", "document.binary"),
        (b"\x01\x02\x03abc", "document.binary"),
        (b"x" * (MAX_DOCUMENT_BYTES + 1), "document.too_large"),
        (b"# x\n" * 60_000, "document.too_large"),
    ],
)
def test_what_is_no_document_is_refused_with_a_code_and_a_fix(data, code):
    with pytest.raises(DocumentRefused) as refused:
        decode_document("notes.md", data)
    assert refused.value.code == code
    assert "notes.md" in refused.value.message
    assert refused.value.fix


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert decode_document("x.md", b"\xef\xbb\xbf# T\r\n") == "# T\n"


def test_anchors_of_a_given_list():
    headings = [Heading("A", "", None), Heading("B", "", 0), Heading("B", "", 0), Heading("A", "", None)]
    assert assign_anchors(headings) == ["a", "b", "b--a", "a-2"]
