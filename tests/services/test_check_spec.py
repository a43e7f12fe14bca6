"""`manage.py check_spec`: lines, formats, exit codes, and files that can't be read."""

import io
import json
import sys

import pytest
from django.core.management import call_command
from django.db import DatabaseError

from kernels.management.commands import check_spec
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from tests.rules.test_spec_markdown import SPEC
from v2kb.rules.spec_markdown.writing import write_markdown

pytestmark = pytest.mark.django_db


@pytest.fixture
def check(tmp_path, capsys):
    """check(text, *arguments) -> (exit code, standard output, standard error)."""

    def run(text: str | bytes, *arguments: str):
        path = tmp_path / "spec.md"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(SystemExit) as ended:
            call_command("check_spec", str(path), *arguments)
        out, err = capsys.readouterr()
        return ended.value.code, out.replace(str(path), "spec.md"), err

    return run


def test_clear(check):
    code, out, _ = check(write_markdown(norm_spec()))
    assert code == 0
    assert out.endswith("0 errors, 0 missing inputs, 0 warnings; 0 parts of the file have no field.\n")


def test_warnings_alone(check):
    doc = grouped_gemm_spec()
    doc["open_questions"].append({"id": "Q2", "text": "anchors", "blocks": "verdict"})
    code, out, _ = check(write_markdown(doc))
    assert code == 1
    assert "R78 warning: Q2" in out


def test_errors_name_file_line_and_rule(check):
    code, out, _ = check(SPEC)
    line = SPEC.split("\n").index("| tail_done | threads | controller init only (precedent) | — |") + 1
    assert code == 2
    assert any(text.startswith(f"spec.md:{line}: R25 error: tail_done") for text in out.split("\n"))


def test_json(check):
    code, out, _ = check(SPEC, "--format", "json")
    said = json.loads(out)
    assert code == said["exit_code"] == 2
    assert {"rule", "line", "path", "message"} <= said["findings"][0].keys()
    assert said["placements"][0]["first"] == 3
    assert said["about"]["designer"] == "Ada, 2026-01-02."


def test_placements(check):
    _, out, _ = check(SPEC, "--placements")
    line = SPEC.split("\n").index("Active slots: active_count ∈ 0..8.") + 1
    assert f"spec.md:{line}-{line}: text notes.contract" in out


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b'{"a": ', b"x" * (2 * 1024 * 1024 + 1)])
def test_unreadable(check, text):
    code, out, err = check(text)
    assert code == 3
    assert out == ""
    assert "spec.md" in err


def test_no_file(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("check_spec", "/nowhere/spec.md")
    assert ended.value.code == 3
    assert "No such file" in capsys.readouterr().err


def test_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(write_markdown(norm_spec()).encode())))
    with pytest.raises(SystemExit) as ended:
        call_command("check_spec", "-")
    assert ended.value.code == 0


def test_a_shape_that_is_wrong_is_an_error(check):
    code, out, _ = check(json.dumps({**norm_spec(), "colour": "red"}, indent=1))
    assert code == 2
    assert "DOC error: This field is not known here." in out


def test_without_a_database(check, monkeypatch):
    def broken(document):
        raise DatabaseError

    monkeypatch.setattr(check_spec, "report_of", broken)
    code, _, err = check(write_markdown(norm_spec()))
    assert code == 0
    assert "database can't be read" in err
