"""Long results on a terminal: a pager where somebody can turn pages, lines that break between words."""

import pytest

from tests.cli.test_checking import W13, in_a_terminal
from tests.cli.test_reading import process
from v2kb.cli.pager import height

pytestmark = pytest.mark.django_db
MARKS = "sed s/^/P:/"
SMALL = {"LINES": "10", "COLUMNS": "80", "NO_COLOR": "1"}


def test_a_result_longer_than_the_screen_goes_through_the_pager_and_notes_come_after(repository):
    said = in_a_terminal("check", W13, "--placements", keys=True, ends=1, PAGER=MARKS, **SMALL)
    assert all(line.startswith("P:") for line in said.splitlines())
    said = in_a_terminal("gate", W13, keys=True, ends=0, PAGER=MARKS, **SMALL)
    *result, note = said.splitlines()
    assert all(line.startswith("P:") for line in result)
    assert note.startswith("note: Taken with the newest contract")
    assert result[0] == "P:provisional: an approval is given in the app alone"


@pytest.mark.parametrize(
    ("environment", "keys"),
    [
        ({"LINES": "500"}, True),
        ({"TERM": "dumb"}, True),
        ({"PAGER": "cat"}, True),
        ({"V2KB_PAGER": "cat"}, True),
        ({"PAGER": "no-such-pager"}, True),
        ({"PAGER": "'"}, True),
        ({}, False),
    ],
)
def test_no_pager(repository, environment, keys):
    asked = SMALL | {"PAGER": MARKS} | environment
    said = in_a_terminal("show", "D3", keys=keys, ends=0, **asked)
    assert said.startswith("D3  DEAD")
    assert "P:" not in said
    assert "Sources" in said


def test_a_pager_of_our_own_comes_first_and_may_be_left_early(repository):
    said = in_a_terminal("show", "D3", keys=True, ends=0, V2KB_PAGER="true", PAGER=MARKS, **SMALL)
    assert said == ""


def test_json_and_what_ends_with_a_refusal_need_no_pager(repository):
    assert in_a_terminal("rule", "--json", keys=True, ends=0, PAGER=MARKS, **SMALL).startswith("[")
    assert in_a_terminal("show", "D99", keys=True, ends=3, PAGER=MARKS, **SMALL).startswith(
        "v2kb show: There is no row"
    )


def test_a_pipe_gets_each_paragraph_on_one_line_and_a_terminal_breaks_it_between_words(repository):
    piped = process("show", "D3").stdout
    (sentence,) = (line for line in piped.splitlines() if "consumer's own MAC time" in line)
    assert len(sentence) > 200
    lines = in_a_terminal("show", "D3", **SMALL).replace("\r", "").splitlines()
    assert max(map(len, lines[1:])) <= 80
    assert " ".join(" ".join(lines).split()) == " ".join(piped.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", 0), ("a\n", 1), ("\n", 1), ("a" * 80, 1), ("a" * 81, 2), ("\033[1m" + "a" * 80 + "\033[0m", 1)],
)
def test_how_many_lines_a_text_takes(text, lines):
    assert height(text, 80) == lines
