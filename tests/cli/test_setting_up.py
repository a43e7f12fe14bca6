"""init with its hook, doctor, completion, result files, and the installed package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import as_schema
from v2kb.cli.checkout import find_checkout
from v2kb.cli.commands.run import KINDS
from v2kb.cli.commands.watch import PASS
from v2kb.cli.logins import Login, keep_login, kept_login
from v2kb.cli.main import COMMANDS, main
from v2kb.cli.results import read_results
from v2kb.wire.outcomes import JobKind, Outcome

ROOT = Path(__file__).resolve().parents[2]
SERVER = "http://127.0.0.1:9"
pytestmark = pytest.mark.django_db


def git(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    return subprocess.run(
        ["git", *arguments], env={**os.environ, **names, **environment}, capture_output=True, text=True
    )


@pytest.fixture
def in_git(v2kb, repository, tmp_path_factory, monkeypatch):
    """A repository of git whose PATH has the command."""
    git("init", "-q")
    programs = tmp_path_factory.mktemp("bin")
    (programs / "v2kb").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m v2kb.cli "$@"\n')
    (programs / "v2kb").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return repository


def test_init_makes_a_config_that_later_ones_keep(v2kb, repository):
    assert v2kb("init", "--server", f"{SERVER}/", "--stale-after-days", "3", "--env", "B200 “a”").code == 0
    again = v2kb("init", "--server", "https://v2kb.example.org")
    assert [line.split()[0] for line in again.out.splitlines()[:2]] == ["changed", "unchanged"]
    config = (repository / ".v2kb" / "config.toml").read_text()
    assert 'server = "https://v2kb.example.org"' in config
    assert "stale_after_days = 3" in config
    assert "B200 “a”" in config
    assert "outbox/" in (repository / ".v2kb" / ".gitignore").read_text()
    assert v2kb("init", "--server", SERVER, "--stale-after-days", "0").code == 3
    assert as_schema("init", v2kb("init", "--server", SERVER, "--json").out)["server"] == SERVER


@pytest.mark.parametrize("env", ["B200 \U0001f525", 'a "b" \\ c', "tab\tand\x7f", "two\nlines", "\u00b5"])
def test_what_init_writes_can_be_read_again(v2kb, repository, env):
    assert v2kb("init", "--server", SERVER, "--env", env).code == 0
    assert find_checkout().env == env


@pytest.mark.parametrize("engine", ["bot \U0001f916", 'the "best"\x7f', ""])
def test_a_sign_in_that_is_kept_can_be_read_again(repository, engine):
    login = Login("https://v2kb.example.org", "abc", "ada", engine, plain_http=True)
    keep_login(login)
    keep_login(Login("https://other.example.org", "abd"))
    assert kept_login(login.server) == login


def test_the_folder_may_be_named_itself(v2kb, repository, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    for name in (repository, repository / ".v2kb"):
        monkeypatch.setenv("V2KB_DIR", str(name))
        assert v2kb("show", "D3").code == 0


def test_the_outbox_stays_out_of_git_and_the_snapshot_goes_in(v2kb, in_git):
    v2kb("init", "--server", SERVER)
    assert v2kb("record", "--verdict", "NULL", "--why", "flat", "--env", "x").code == 5
    v2kb("prior", "ring")
    git("add", "-A")
    staged = git("diff", "--cached", "--name-only").stdout.split()
    assert staged == [".v2kb/.gitignore", ".v2kb/config.toml", ".v2kb/snapshot.jsonl"]


def test_the_hook_checks_what_is_staged(v2kb, in_git):
    assert v2kb("init", "--server", SERVER, "--hook").code == 0
    Path("w13_SPEC.md").write_text("# Spec\n\n## 0. Op contract\n")
    git("add", "w13_SPEC.md")
    Path("w13_SPEC.md").write_text("mended, but not staged")
    refused = git("commit", "-qm", "x")
    assert refused.returncode != 0
    assert "w13_SPEC.md:1: R" in refused.stdout + refused.stderr
    git("rm", "-q", "--cached", "-f", "w13_SPEC.md")
    Path("notes.md").write_text("# Notes\n")
    git("add", "notes.md")
    assert git("commit", "-qm", "x").returncode == 0


def test_a_hook_of_somebody_else_is_left_and_said(v2kb, in_git):
    hook = in_git / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    said = v2kb("init", "--server", SERVER, "--hook")
    assert (said.code, "left as it is" in said.err) == (2, True)
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"


def test_a_hook_needs_git(v2kb, repository):
    said = v2kb("init", "--server", SERVER, "--hook")
    assert (said.code, "git" in said.err) == (3, True)


# --- doctor ---


def doctor(v2kb) -> tuple[int, dict[str, str]]:
    said = v2kb("doctor", "--json")
    return said.code, {line["name"]: line["state"] for line in as_schema("doctor", said.out)}


def test_doctor_tells_what_is_well_missing_and_broken(v2kb, repository, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("V2KB_TOKEN", raising=False)
    v2kb("init", "--server", SERVER)
    code, seen = doctor(v2kb)
    assert code == 1
    assert seen["server"] == seen["token"] == "warning"
    assert seen["python"] == seen["sqlite"] == seen["snapshot"] == seen["rules"] == seen["outbox"] == "ok"
    v2kb("record", "--verdict", "NULL", "--why", "flat", "--env", "x")
    assert doctor(v2kb)[1]["outbox"] == "warning"
    snapshot = repository / ".v2kb" / "snapshot.jsonl"
    snapshot.write_text(snapshot.read_text()[:-9])
    assert (doctor(v2kb)[0], doctor(v2kb)[1]["snapshot"]) == (2, "error")
    snapshot.unlink()
    assert doctor(v2kb)[1]["snapshot"] == "warning"
    kept = tmp_path / "config" / "v2kb" / "tokens.toml"
    kept.parent.mkdir(parents=True)
    kept.write_text("")
    kept.chmod(0o644)
    assert doctor(v2kb)[1]["tokens"] == "error"


def test_doctor_names_rules_of_other_versions(v2kb, repository):
    from v2kb.rules.snapshot import read_snapshot, sealed

    path = repository / ".v2kb" / "snapshot.jsonl"
    head, lines = read_snapshot(path.read_text())
    for rule in lines["rule"]:
        rule["version"] = "99" if rule["id"] == "R12" else rule["version"]
    flat = [line for kind in lines.values() for line in kind]
    path.write_text("".join(sealed(flat, made_at=head.made_at, change=head.change)))
    assert "other versions of R12:" in v2kb("doctor", "--offline").out


def test_doctor_outside_a_repository(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("V2KB_DIR", raising=False)
    assert main(["doctor"]) == 1
    assert "v2kb init" in capsys.readouterr().out


# --- completion ---


def test_bash_completes_commands_options_and_values(v2kb, tmp_path):
    script = tmp_path / "v2kb.bash"
    script.write_text(v2kb("completion", "bash").out)

    def completed(*words: str) -> list[str]:
        array = " ".join(f"'{word}'" for word in words)
        code = f'. {script}; COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _v2kb; echo "${{COMPREPLY[@]}}"'
        return subprocess.run(["bash", "-c", code], capture_output=True, text=True).stdout.split()

    assert set(completed("v2kb", "")) == set(COMMANDS)
    assert completed("v2kb", "import-r") == ["import-run"]
    assert "--trace" in completed("v2kb", "record", "--tr")
    assert completed("v2kb", "record", "--verdict", "P") == ["PARKED"]
    assert "retry" in completed("v2kb", "outbox", "")
    assert (
        as_schema("completion", v2kb("completion", "bash", "--json").out)["script"].strip()
        == script.read_text().strip()
    )


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_its_script(v2kb, tmp_path):
    script = tmp_path / "_v2kb"
    script.write_text(v2kb("completion", "zsh").out)
    code = f"autoload -U compinit; compinit -D; . {script}; whence -w _v2kb"
    read = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True)
    assert (read.stdout, read.stderr) == ("_v2kb: function\n", "")


# --- result files ---


def test_result_files_and_lines_are_read_as_they_stand(tmp_path):
    (tmp_path / "all_results.json").write_text(json.dumps({"a": {"status": "ok", "M": 1}, "b": {"status": "crashed"}}))
    (tmp_path / "spec.json").write_text(json.dumps({"mode": "perf"}))
    lines = [
        "GATE_RESULT {pass: false, metrics: {cos: 0.2}, first_failing_stage: numeric}",
        "12:00 KERNEL_RESULT_REFERENCE w13_body=0.81",
        'FAITHFUL_RESULT {"kind": "w13", "verdict": "BELOW_BAR"}',
        "NOT_A_GATE_RESULTS {}",
    ]
    (tmp_path / "run.log").write_text("\n".join(lines))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "result.json").write_text("[")
    results = read_results(tmp_path)
    assert [(one.kind, one.place) for one in results.found] == [
        ("case", "all_results.json"),
        ("case", "all_results.json"),
        ("GATE_RESULT", "run.log:1"),
        ("KERNEL_RESULT_REFERENCE", "run.log:2"),
        ("FAITHFUL_RESULT", "run.log:3"),
        ("spec", "spec.json"),
    ]
    assert results.found[2].read is None
    assert results.found[4].read["verdict"] == "BELOW_BAR"
    assert [line.split()[0] for line in results.left] == ["sub/result.json"]


def test_what_was_read_as_json(v2kb, repository):
    (repository / "gate.log").write_text('GATE_RESULT {pass: true}\nFAITHFUL_RESULT {"kind": "w13"}\n')
    said = v2kb("import-run", ".", "--json")
    found = as_schema("import-run", said.out)["found"]
    assert (said.code, [one["read"] for one in found]) == (1, [None, {"kind": "w13"}])


@pytest.mark.parametrize("text", ["5", "null", "[]", "[1]", '"x"', "{", "\x00", "[" * 5000])
def test_result_files_that_make_no_sense(tmp_path, text):
    (tmp_path / "result.json").write_text(text)
    results = read_results(tmp_path)
    assert (results.found, len(results.left)) == ([], 1)


# --- the package ---


def test_words_that_the_messages_have_too():
    assert (set(KINDS), PASS) == ({kind.value for kind in JobKind}, Outcome.PASS.value)


def test_the_installed_command_needs_neither_application_nor_pydantic(tmp_path):
    pytest.importorskip("setuptools")
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(ROOT / "v2kb", source / "v2kb", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    made = subprocess.run([*pip, "--target", target, source], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in (target / "v2kb").iterdir() if path.is_dir()) == ["cli", "rules"]
    code = (
        "import sys\n"
        "for name in ('django', 'pydantic', 'scipy', 'numpy', 'torch', 'rest_framework'): sys.modules[name] = None\n"
        "from v2kb.cli.main import COMMANDS, main, parser_of\n"
        "assert __import__('v2kb.cli.main').cli.main.__file__.startswith(sys.argv[1])\n"
        "parser_of(COMMANDS)\n"
        "sys.exit(main(['rule', 'R12']))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(target), "PYTHONSAFEPATH": "1"}
    ran = subprocess.run([sys.executable, "-c", code, target], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.startswith("R12 ")) == (0, True), ran.stderr
    assert (target / "bin" / "v2kb").exists()
