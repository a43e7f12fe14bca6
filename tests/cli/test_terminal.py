"""Long results on a terminal: a pager where somebody can turn pages, lines that break between words; and outputs,
inputs and arguments that are odd.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.test_checking import W13, in_a_terminal
from tests.cli.test_reading import ROOT, process
from v2kb.cli.pager import height

pytestmark = pytest.mark.django_db
MARKS = "sed s/^/P:/"
AGE = "note: The snapshot is less than an hour old."
SMALL = {"LINES": "10", "COLUMNS": "80", "NO_COLOR": "1"}


def test_a_result_longer_than_the_screen_goes_through_the_pager_and_notes_come_after(repository):
    said = in_a_terminal("check", W13, "--placements", keys=True, ends=1, PAGER=MARKS, **SMALL)
    *result, note = said.splitlines()
    assert (all(line.startswith("P:") for line in result), note) == (True, AGE)
    said = in_a_terminal("gate", W13, keys=True, ends=0, PAGER=MARKS, **SMALL)
    *result, note, age = said.splitlines()
    assert (all(line.startswith("P:") for line in result), age) == (True, AGE)
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
    assert said.splitlines() == [AGE]


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
    assert lines.pop() == AGE
    assert " ".join(" ".join(lines).split()) == " ".join(piped.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", 0), ("a\n", 1), ("\n", 1), ("a" * 80, 1), ("a" * 81, 2), ("\033[1m" + "a" * 80 + "\033[0m", 1)],
)
def test_how_many_lines_a_text_takes(text, lines):
    assert height(text, 80) == lines


def test_a_search_takes_forty_lines_of_a_terminal_too(repository):
    said = in_a_terminal("prior", "kernel", "--scope", "arch=sm_100", "--no-receipt", COLUMNS="60", NO_COLOR="")
    assert "\033[31;1mBLOCKS" in said
    assert height(said.replace("\r", ""), 60) <= 41  # the first line may take two


# --- what is odd ---


def in_a_shell(line: str, **environment: str) -> subprocess.CompletedProcess:
    """A line of a shell; `v2kb` in it is the command."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    line = line.replace("v2kb", f"{sys.executable} -m v2kb.cli")
    return subprocess.run(["bash", "-c", line], capture_output=True, env=env)


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("v2kb show D3 > /dev/full", 3, b"No space left"),
        ("v2kb show D3 --json > /dev/full", 3, b"No space left"),
        ("v2kb show D3 >&-", 0, b""),
        ("v2kb show D99 2>&-", 3, b""),
        ("v2kb check - <&-", 3, b"Standard input is closed."),
        ("v2kb login --server http://127.0.0.1:9 <&-", 3, b"No token was given."),
        ("v2kb show $'\\xff'", 3, b"no text in UTF-8"),
        ("v2kb prior $'\\xff' --json", 3, b"no text in UTF-8"),
        ("v2kb show D$(seq -s '' 20000)", 3, "…".encode()),
    ],
)
def test_odd_streams_and_arguments_end_with_a_line(repository, line, code, says):
    done = in_a_shell(line)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"ignored" not in done.stderr
    assert len(done.stderr) < 5000


def test_a_result_is_utf_8_wherever_it_goes(repository):
    for encoding in ("ascii", "latin-1"):
        done = in_a_shell("v2kb show D3 --json", PYTHONIOENCODING=encoding)
        assert "µs" in json.dumps(json.loads(done.stdout.decode()), ensure_ascii=False)
