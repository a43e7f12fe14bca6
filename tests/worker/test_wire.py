"""Messages: unknown fields and NaN are refused, bundles are safe and content-addressed, hashes follow content."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from v2kb.rules.canonical import content_hash
from v2kb.wire import (
    RUN_OUTCOMES,
    Bundle,
    BundleFile,
    ErrorBody,
    Job,
    LogChunk,
    OutputResult,
    Ping,
    ResultRequest,
    RunMessage,
    RunResult,
    bundle_digest,
    check_path,
    make_bundle,
    message_hash,
)

SHA = "a" * 64
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "path",
    ["../kernel.py", "a/../../b.py", "/etc/passwd", "a//b.py", "", "./a.py", "a/.", "C:\\x.py", "C:x.py", "a\\b.py",
     ".hidden", "a/.git/config", "a\nb.py", "a b.py", "x" * 200, "a\0.py"],
)  # fmt: skip
def test_paths_that_could_leave_the_folder_are_refused(path):
    with pytest.raises(ValueError):
        check_path(path)
    with pytest.raises(ValidationError):
        make_bundle("kernel.py:run", {"kernel.py": b"", path: b""})


@pytest.mark.parametrize("path", ["kernel.py", "lib/tiles.py", "a_b-c+d.1.py", "_x/y"])
def test_plain_relative_paths_are_taken(path):
    assert check_path(path) == path


def test_digest_is_the_content_hash_of_language_entry_and_files():
    bundle = make_bundle("kernel.py:run", {"kernel.py": b"x = 1\n", "lib/a.py": b""})
    files = {file.path: file.sha256 for file in bundle.files}
    assert bundle.digest == content_hash({"language": "python", "entry": "kernel.py:run", "files": files})
    assert bundle.digest == bundle_digest("python", "kernel.py:run", dict(reversed(files.items())))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"digest": "b" * 64}, "does not match"),
        ({"entry": "other.py:run"}, "not among the files"),
        ({"entry": "kernel.py"}, "path:function"),
        ({"entry": "kernel.py:not a name"}, "path:function"),
        ({"language": "cobol"}, "language"),
        ({"files": []}, "at least 1"),
    ],
)
def test_a_bundle_that_does_not_hold_together_is_refused(changes, words):
    good = make_bundle("kernel.py:run", {"kernel.py": b""}).model_dump()
    with pytest.raises(ValidationError, match=words):
        Bundle.model_validate(good | changes)


def test_two_files_of_one_path_are_refused_whatever_their_case():
    with pytest.raises(ValidationError, match="same path"):
        make_bundle("kernel.py:run", {"kernel.py": b"", "Kernel.py": b""})
    with pytest.raises(ValidationError, match="both a file and a folder"):
        make_bundle("kernel.py:run", {"kernel.py": b"", "kernel.py/x.py": b""})


def test_unknown_fields_and_versions_are_refused():
    with pytest.raises(ValidationError, match="surprise"):
        Ping.model_validate({"fence": 1, "done": 0, "total": 1, "surprise": 1})
    with pytest.raises(ValidationError, match="schema_version"):
        Ping.model_validate({"fence": 1, "done": 0, "total": 1, "schema_version": 2})
    with pytest.raises(ValidationError):
        Ping(fence=-1, done=0, total=1)
    with pytest.raises(ValidationError):
        LogChunk(fence=1, seq=0, text="x" * 20_000)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_floats_are_finite_or_null(value):
    with pytest.raises(ValidationError):
        OutputResult(name="y", cos=value)
    assert OutputResult(name="y").cos is None


def test_run_ids_and_addresses_are_plain():
    for wrong in ({"run_id": "../x"}, {"base_url": "file:///etc"}, {"run_key": "short"}):
        good = {"run_id": "r1", "base_url": "http://127.0.0.1:8000", "run_key": "k" * 32}
        with pytest.raises(ValidationError):
            RunMessage.model_validate(good | wrong)


def test_a_job_has_what_its_kind_needs():
    bundle = make_bundle("kernel.py:run", {"kernel.py": b""})
    base = {"run_id": "r", "contract": {}, "candidate": bundle, "workloads": [], "seed_secret": "s" * 16}
    Job(kind="validate", **base)
    with pytest.raises(ValidationError, match="plan"):
        Job(kind="perf", anchor=bundle, **base)
    with pytest.raises(ValidationError, match="anchor"):
        Job(kind="perf", plan={"rounds": 5}, **base)


def test_equal_contents_have_equal_hashes_however_they_were_spelled():
    result = RunResult(outcome="PASS", started_at=NOW, finished_at=NOW)
    request = ResultRequest(fence=1, result=result)
    spelled = ResultRequest.model_validate_json(request.model_dump_json(indent=3))
    assert message_hash(request) == message_hash(spelled)
    assert message_hash(request) != message_hash(ResultRequest(fence=2, result=result))
    assert RunResult.model_validate_json(result.model_dump_json()) == result


def test_outcomes_are_those_of_the_vocabulary():
    text = (
        "PASS, FAIL_NUMERIC, FAIL_SHAPE, COMPILE_ERROR, COMPILE_TIMEOUT, WEDGE, IMA, MISALIGNED, TIMEOUT, CRASHED, "
        "OOM, DECODE_FAILED, TAMPERED, INVALID_REFERENCE, NO_CASES, NO_DATA, INFRA, CANCELLED"
    )
    assert list(RUN_OUTCOMES) == text.split(", ")


def test_error_body_has_exactly_the_agreed_fields():
    assert set(ErrorBody(code="a.b", message="m").model_dump()) == {
        "code", "message", "field", "rule", "fix", "facts",
    }  # fmt: skip
    assert BundleFile(path="a", sha256=SHA, size_bytes=0).size_bytes == 0
