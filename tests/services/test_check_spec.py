"""`manage.py check_spec`: lines, formats, exit codes, and files that can't be read."""

import io
import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
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


def test_totals(check):
    _, out, _ = check(SPEC)
    assert "\nspec.md: 69,648 bytes in 5 pages, 5 regions, 9 semaphores, 8 tasks.\n" in out
    _, out, _ = check("# T\n\n## SMEM\n\n| region | size |\n|---|---|\n| A | WHAT |\n")
    assert "spec.md: ? bytes in ? pages, 1 region, " in out


def run_several(*files) -> int:
    with pytest.raises(SystemExit) as ended:
        call_command("check_spec", *map(str, files))
    return ended.value.code


def test_several_files_end_with_the_worst(tmp_path, capsys):
    clear, broken, gone = tmp_path / "clear.md", tmp_path / "broken.md", tmp_path / "gone.md"
    clear.write_text(write_markdown(norm_spec()))
    broken.write_text(SPEC)
    assert [run_several(clear, clear), run_several(clear, broken), run_several(broken, clear)] == [0, 2, 2]
    capsys.readouterr()
    assert run_several(gone, broken, clear) == 3
    out, err = capsys.readouterr()
    assert f"{broken}: 69,648 bytes" in out
    assert f"{clear}: " in out
    assert str(gone) in err
    with pytest.raises(SystemExit):
        call_command("check_spec", str(gone), str(clear), str(broken), "--format", "json")
    assert [one["file"] for one in json.loads(capsys.readouterr().out)] == [str(clear), str(broken)]


def test_it_leaves_nothing_in_the_data_folder(tmp_path):
    spec, data = tmp_path / "spec.md", tmp_path / "data"
    spec.write_text(write_markdown(norm_spec()))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("V2KB_", "DJANGO_"))}
    ended = subprocess.run(
        [sys.executable, "manage.py", "check_spec", str(spec)],
        cwd=settings.BASE_DIR,
        env={**kept, "V2KB_DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "There is no database" in ended.stderr
    assert not data.exists()


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
