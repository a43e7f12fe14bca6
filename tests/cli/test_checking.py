"""Checking a spec in a repository: check, gate and plan, with a snapshot, without one, and files that can't be read."""

import io
import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.test_reading import ROOT, process
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from tests.rules.test_spec_markdown import SPEC
from tests.starter_data import STARTER
from v2kb.cli.main import main
from v2kb.rules.snapshot import read_snapshot, sealed
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.writing import write_markdown

pytestmark = pytest.mark.django_db
W13 = str(STARTER / "specs" / "w13-pipeline.json")


def line_of(text: str, said: str) -> int:
    return text.split("\n").index(said) + 1


@pytest.fixture
def written(repository):
    """written(text) -> the name of a file that holds it."""

    def write(text: str | bytes, name: str = "spec.md") -> str:
        (repository / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


@pytest.fixture
def old_snapshot(repository):
    path = repository / ".v2kb" / "snapshot.jsonl"
    head, lines = read_snapshot(path.read_text())
    made = (datetime.now(UTC) - timedelta(days=15)).isoformat(timespec="seconds")
    every = [line for kind in lines.values() for line in kind]
    path.write_text("".join(sealed(every, made_at=made, change=head.change)))


# --- check ---


def test_findings_stand_at_their_lines(v2kb, written):
    said = v2kb("check", written(SPEC))
    line = line_of(SPEC, "| tail_done | threads | controller init only (precedent) | — |")
    assert said.code == 2
    assert f"spec.md:{line}: R25 error: tail_done is arrived at the task's tail" in said.out
    *lines, counts = said.out.splitlines()
    assert all(text.startswith("spec.md:") for text in lines)
    assert counts.startswith(f"{sum(' error: ' in text for text in lines)} errors, ")


def test_a_spec_in_json_has_lines_too(v2kb, written):
    document = grouped_gemm_spec()
    document["smem"]["regions"][0]["alignment"] = "1000"
    text = json.dumps(document, indent=1)
    line = 1 + text[: text.index('"1000"')].count("\n")
    assert f"spec.json:{line}: R07 error" in v2kb("check", written(text, "spec.json")).out


@pytest.mark.parametrize(
    ("document", "code"),
    [(norm_spec(), 0), (grouped_gemm_spec() | {"open_questions": [{"id": "Q2", "text": "?", "blocks": "verdict"}]}, 1)],
)
def test_it_ends_by_what_was_found(v2kb, written, document, code):
    assert v2kb("check", written(write_markdown(document))).code == code


def test_an_old_snapshot_counts_where_nothing_blocks(v2kb, written, old_snapshot):
    clear = v2kb("check", written(write_markdown(norm_spec())))
    assert (clear.code, "15 days old" in clear.err) == (4, True)
    assert v2kb("check", written(SPEC)).code == 2
    assert v2kb("gate", W13).code == 4
    assert "15 days old" in v2kb("gate", W13).err


def test_the_contract_of_an_op_gives_symbols(v2kb, written):
    document = norm_spec()
    document["granularity"][0]["num_tasks"] = "tokens*28"
    file = written(json.dumps(document))
    assert "tokens is not a known symbol" in v2kb("check", file).out
    assert "tokens is not a known symbol" not in v2kb("check", file, "--op", "w13-grouped-gemm-b200").out
    unknown = v2kb("check", file, "--op", "no-such-op")
    assert (unknown.code, unknown.out) == (3, "")
    assert "The snapshot has rmsnorm-b200, rmsnorm-cpu" in unknown.err


def test_a_part_that_stays_without_an_op_is_missing_it_where_ops_are_given(v2kb, written):
    document = grouped_gemm_spec()
    document["ops"] = [{"name": "W13 routed", "op": "", "contract": ""}, {"name": "W2", "op": "", "contract": ""}]
    file = written(write_markdown(normalise(document)[0]))
    assert "names no op" not in v2kb("check", file).out
    said = v2kb("check", file, "--op", "w13-grouped-gemm-b200").out
    assert "missing input: W2 names no op" in said
    assert "W13 routed names no op" not in said


def test_what_the_snapshot_does_not_have_is_said(v2kb, written):
    document = grouped_gemm_spec()
    document["smem"]["queue"] = ["this", "S404"]
    said = v2kb("check", written(json.dumps(document)))
    assert "specs of the queue S404: the snapshot doesn't have them." in said.err
    assert "this" not in said.err.partition("queue")[2].partition(":")[0]
    assert "The file names no op" in said.err


def test_without_a_snapshot_it_checks_and_says_what_was_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("V2KB_DIR", raising=False)
    assert main(["check", W13]) == 2
    out, err = capsys.readouterr()
    assert "R72 missing input: The weights of one layer are not given, and no contract gives them." in out
    assert "contracts of ops w13-grouped-gemm-b200; evidence rows D2, D3" in err
    assert "there is no snapshot (There is no .v2kb folder" in err
    (tmp_path / ".v2kb").mkdir()
    assert main(["check", W13]) == 2
    assert "there is no snapshot at " in capsys.readouterr().err
    assert main(["gate", W13]) == 3
    assert "The gate judges by the evidence" in capsys.readouterr().err


def test_a_snapshot_that_was_changed_is_refused(v2kb, repository):
    path = repository / ".v2kb" / "snapshot.jsonl"
    path.write_text(path.read_text().replace('"verdict":"DEAD"', '"verdict":"WIN"', 1))
    for command in ("check", "gate", "plan"):
        said = v2kb(command, W13)
        assert (said.code, "its hash differs" in said.err) == (3, True)


def test_an_index_that_is_no_index_is_made_anew_and_one_that_cannot_be_written_is_said(v2kb, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = v2kb("gate", W13)
    (index,) = (tmp_path / "cache" / "v2kb").glob("*.sqlite")
    index.write_bytes(b"no index")
    assert v2kb("gate", W13) == before
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    said = v2kb("gate", W13)
    assert (said.code, "can't be written" in said.err, "XDG_CACHE_HOME" in said.err) == (3, True, True)


def test_placements_say_what_became_of_each_part(v2kb, written):
    line = line_of(SPEC, "Active slots: active_count ∈ 0..8.")
    assert f"spec.md:{line}-{line}: text notes.contract" in v2kb("check", written(SPEC), "--placements").out


def test_sarif(v2kb, written):
    log = json.loads(v2kb("check", written(SPEC, "a spec.md"), "--sarif").out)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0"
    result = next(result for result in run["results"] if result["ruleId"] == "R25")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20spec.md"
    assert place["region"]["startLine"] == line_of(
        SPEC, "| tail_done | threads | controller init only (precedent) | — |"
    )
    assert (result["level"], rules[result["ruleIndex"]]["id"]) == ("error", "R25")
    kinds = {result["properties"]["kind"] for result in run["results"]}
    assert {"error", "missing input"} <= kinds


# --- gate ---


def test_the_gate_is_provisional_and_says_what_would_change_it(v2kb, written):
    said = v2kb("gate", W13)
    assert said.out.splitlines()[0] == "provisional: an approval is given in the app alone"
    assert (said.code, "The gate passes." in said.out) == (0, True)
    assert "Taken with the newest contract, for the file pins none: w13-grouped-gemm-b200." in said.err
    document = json.loads((STARTER / "specs" / "w13-pipeline.json").read_text())
    document["choices"][0]["prediction"]["kill_percent"] = ""
    document["choices"][0]["prediction"]["kill_event"] = ""
    text = json.dumps(document, indent=1)
    said = v2kb("gate", written(text, "spec.json"))
    assert said.code == 2
    blocked = next(line for line in said.out.splitlines() if "UNSATISFIED" in line)
    line = 1 + text[: text.index('"kill_percent"')].count("\n")
    assert blocked.startswith(f"spec.json:{line}: AL6 UNSATISFIED: C1: ")
    assert "    would change it: " in said.out
    assert "NOT_APPLICABLE" not in said.out
    assert "NOT_APPLICABLE" in v2kb("gate", "spec.json", "--all").out


# --- what can't be read ---

GARBAGE = ("| a | é\n" * 120_000).encode()
UNREADABLE = {
    "binary": b"\x89PNG\r\n\x1a\n\x00\xff\xfe",
    "empty": b"",
    "no JSON": b'{"a": ',
    "too deep": b'{"a":' + b"[" * 100_000,
    "too large": b"x" * (2 * 1024 * 1024 + 1),
    "too many lines": GARBAGE,
}


@pytest.mark.parametrize("command", ["check", "gate", "plan"])
@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_said_in_a_line(v2kb, written, command, what):
    said = v2kb(command, written(UNREADABLE[what]))
    assert (said.code, said.out) == (3, "")
    assert "spec.md:" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("command", ["check", "gate", "plan"])
@pytest.mark.parametrize(("file", "says"), [("/nowhere/spec.md", "No such file"), (".", "Is a directory")])
def test_no_file(v2kb, command, file, says):
    said = v2kb(command, file)
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith(f"v2kb {command}: {file}: {says}")


def test_a_megabyte_without_sense_is_text_without_findings_of_its_own(v2kb, written):
    said = v2kb("check", written(b"lorem | ipsum " * 75_000))
    assert said.code in (0, 1, 2)


@pytest.mark.parametrize("command", ["check", "gate", "plan"])
def test_standard_input(v2kb, command, monkeypatch):
    text = (STARTER / "specs" / "w13-pipeline.json").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    by_pipe = v2kb(command, "-", "--json")
    assert by_pipe == v2kb(command, W13, "--json")


def test_json_errors_are_json(v2kb):
    said = v2kb("gate", "/nowhere.md", "--json")
    assert json.loads(said.out)["error"]["message"].startswith("/nowhere.md: No such file")


# --- terminals ---


def in_a_terminal(*arguments: str, keys: bool = False, ends: int | None = None, **environment: str) -> str:
    """What the command writes to a terminal, with `keys` one that it is also read from; `ends` is its exit code."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment}
    env = {name: value for name, value in env.items() if value}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "v2kb.cli", *arguments]
    stdin = theirs if keys else subprocess.DEVNULL
    with subprocess.Popen(command, stdin=stdin, stdout=theirs, stderr=theirs, env=env) as done:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:
            pass  # the other end is closed
        code = done.wait()
    os.close(ours)
    assert ends is None or code == ends, said.decode()
    return said.decode()


def test_colour_is_for_terminals_alone(repository):
    for command in ("check", "gate", "plan"):
        assert "\033[" in in_a_terminal(command, W13, NO_COLOR="")
        assert "\033[" not in in_a_terminal(command, W13, NO_COLOR="1")
        assert "\033[" not in process(command, W13).stdout


def test_start_up_loads_the_standard_library_alone(repository):
    code = (
        "import sys; from v2kb.cli.main import main; main(sys.argv[1:]);"
        "print(sorted({'django', 'numpy', 'scipy', 'torch', 'pydantic'} & sys.modules.keys()), file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    asked = (
        ["check", W13], ["gate", W13], ["plan", W13], ["signature", "hang"],
        ["wavequant", "--items", "7168", "--tasks", "136", "--old", "4", "--new", "7"],
    )  # fmt: skip
    for arguments in asked:
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env)
        assert done.stderr.splitlines()[-1] == "[]", arguments
