"""YAML front matter: what is read, what is a rule of markdown, and what is kept as text and said so."""

import pytest

from references.importers.front_matter import MAX_CHARS, MAX_LINES, read_front_matter
from references.importers.markdown import parse_markdown


def read(text):
    return read_front_matter(text.split("\n"))


def test_names_keep_their_values_as_they_are_written():
    found = read(
        '---\ntitle: "House: rules"\ndate: 2026-07-15\nok: yes\nempty:\ntags: [a, "b c"]\nmore:\n  version: 1.10\n'
        "  people:\n    - name: Ann\n    - name: Bo\nlong: >\n  one\n  two\n---\n# T\n"
    )
    assert found.fields == [
        ("title", ["House: rules"]),
        ("date", ["2026-07-15"]),
        ("ok", ["yes"]),
        ("empty", [""]),
        ("tags", ["a", "b c"]),
        ("more.version", ["1.10"]),
        ("more.people.1.name", ["Ann"]),
        ("more.people.2.name", ["Bo"]),
        ("long", ["one two"]),
    ]
    assert (found.end, found.problem) == (15, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Title\n---\nname: x\n---\n",
        "---\nText between rules\n---\n",
        "---\n\nText: with a colon\n\n# Title\n",
        "---\n# Title\n---\ntext\n",
        "---\n- a\n- b\n---\n",
    ],
)
def test_a_rule_at_the_top_is_no_front_matter(text):
    found = read(text)
    assert (found.end, found.fields, found.problem) == (0, [], "")


@pytest.mark.parametrize("end", ["---", "..."])
def test_both_ends_close_it(end):
    assert read(f"---\na: 1\n{end}\ntext").end == 3


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a: 1\nb: [1, 2", "line 3: the front matter is not YAML"),
        ("a: 1\n\tb: 2", "line 3: the front matter is not YAML"),
        ("a: b: c", "line 2: the front matter is not YAML"),
        ("a: 1\njust words", "line 3: the front matter is not YAML"),
        ("a: &x [1]\nb: *x", "line 3: the front matter uses an alias"),
        ("a: " + "[" * 3000 + "]" * 3000, "is nested too deeply"),
        ('a: 1\nb: "\\0"', "line 3: the front matter holds characters that are not text"),
        ('a: "\\ud800"', "line 2: the front matter holds characters that are not text"),
        ("a: \x07", "line 2: the front matter is not YAML"),
        ("a: 1\n? [x, y]\n: 2", "line 3: the front matter has a name that is not text"),
        ("a: " + "x" * MAX_CHARS, "line 2: the front matter has more than 20,000 characters"),
    ],
)
def test_what_can_not_be_read_is_kept_as_text_and_said(body, said):
    text = f"---\n{body}\n---\n\n# Title\n\nText.\n"
    document = parse_markdown(text)
    assert said in document.problems[0]
    assert document.problems[0].endswith("it is kept as text")
    assert document.front_matter.fields == []
    assert [section.title for section in document.sections] == ["Opening", "Title"]
    assert document.sections[0].text.startswith("---\na: ")
    assert [block.kind for block in document.sections[0].blocks] == ["code"]
    assert document.sections[1].body == "Text."


def test_front_matter_that_never_ends_is_text_and_said():
    document = parse_markdown("---\nname: x\n\n# Title\n" + "word\n" * MAX_LINES + "---\n")
    assert document.problems == [
        "line 1: the front matter has no closing --- in its first 200 lines; it is kept as text"
    ]
    assert document.title == "Title"
    assert document.sections[0].text == "---\nname: x\n"


def test_the_title_is_the_first_value_that_is_said():
    assert read("---\nname: n\ntitle: Two\n  lines\n---\n").value("title", "name") == "Two lines"
    assert read("---\ntitle:\nname: n\n---\n").value("title", "name") == "n"
    assert read("---\nother: x\n---\n").value("title", "name") == ""
