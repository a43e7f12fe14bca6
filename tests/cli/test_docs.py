"""The examples of docs/cli.md give what stands there."""

import json
import re
import shlex

import pytest

from tests.cli.test_judging import samples
from tests.cli.test_reading import ROOT
from tests.rules.test_task_graph import chain
from tests.services.test_kernels_judging import WIN
from tests.starter_data import STARTER
from v2kb.cli.main import COMMANDS
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.writing import write_markdown

pytestmark = pytest.mark.django_db
CONNECTED = ("sync", "login", "logout", "init", "doctor", "record", "propose", "submit", "run", "watch", "import-run",
             "outbox", "completion")  # fmt: skip
PAGE = (ROOT / "docs" / "cli.md").read_text()
LEFT_OUT, ENDS = "...", "# ends with "


def examples() -> list[tuple[str, list[str]]]:
    """(command line, the lines below it) of each console block."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S):
        for part in re.split(r"^\$ v2kb ", block, flags=re.M)[1:]:
            command, *lines = part.splitlines()
            if command.split()[0] not in CONNECTED:
                found.append((command, lines))
    return found


@pytest.fixture
def files(repository):
    (repository / "specs").mkdir()
    w13, _ = normalise(json.loads((STARTER / "specs" / "w13-pipeline.json").read_text()))
    for name, text in {
        "specs/w13.md": write_markdown(w13), "task_graph.json": json.dumps(chain()),
        "anchor.csv": samples(WIN[0]), "candidate.csv": samples(WIN[1]),
    }.items():  # fmt: skip
        (repository / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("command", "lines"), examples(), ids=[command for command, _ in examples()])
def test_an_example_gives_what_stands_there(v2kb, files, command, lines):
    said = v2kb(*shlex.split(command))
    ends = next((int(line.removeprefix(ENDS)) for line in lines if line.startswith(ENDS)), 0)
    pattern = "".join(
        r"(?:.*\n)*?" if line == LEFT_OUT else f"{re.escape(line)}\n" for line in lines if not line.startswith(ENDS)
    )
    assert re.fullmatch(pattern, said.out), said.out
    assert said.code == ends


def test_every_command_that_reads_or_checks_has_an_example():
    assert {command.split()[0] for command, _ in examples()} == COMMANDS.keys() - set(CONNECTED)
