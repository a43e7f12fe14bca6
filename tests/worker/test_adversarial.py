"""Every sample of the catalogue ends as its first lines say: cheats are caught, hogs are stopped, honest ones pass."""

import time
from pathlib import Path

import psutil
import pytest

from v2kb.wire import PerfPlan
from v2kb.worker.harness import facts, sandbox

from .conftest import CATALOGUE, LIMITS, Expectation, sample

SAMPLES = [Expectation.read(path) for path in sorted(CATALOGUE.glob("*.py"))]
PLAN = PerfPlan(rounds=1, launches=8, warmup=3)
ROOT = Path(__file__).resolve().parents[2]
FENCED = sandbox.probe().namespaces


def checked(mode):
    return [pytest.param(found, id=found.name) for found in SAMPLES if found.mode in mode]


def processes_below(pid):
    return [p for p in psutil.Process(pid).children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("expected", checked({"check", "fenced"}))
def test_checked_sample(bench, expected, monkeypatch):
    if expected.mode == "fenced" and not FENCED:
        pytest.skip("needs namespaces (bubblewrap)")
    monkeypatch.setenv("V2KB_WORKER_TOKEN", "a secret of the worker")
    before = facts.harness_hash()
    started = time.monotonic()
    outcome, reason = bench.check(sample(expected.name), expected.seconds)
    assert outcome.value in expected.outcomes, reason
    assert expected.message in reason
    assert time.monotonic() - started < 90
    assert facts.harness_hash() == before, "no kernel may change the harness"
    if expected.outcomes != ("PASS",):
        assert reason, "a failing run says why"
    reason.encode()  # whole characters only
    if bench.supervisor._process is not None:  # what is left is the fence, the fence within it, and the fork server
        assert len(processes_below(bench.supervisor._process.pid)) <= 3


@pytest.mark.parametrize("expected", checked({"time"}))
def test_timed_sample(bench, expected):
    outcome, reason = bench.time(sample(expected.name), PLAN)
    assert outcome.value in expected.outcomes, reason
    assert expected.message in reason


def test_samples_forged_through_the_frame_do_not_agree_with_the_file_systems_clock(bench):
    outcome, reason = bench.time(sample("timing_forged_samples"), PerfPlan(rounds=1, launches=8, warmup=1))
    assert outcome.value == "TAMPERED", reason
    assert "file system's clock" in reason


def test_a_kernel_can_not_give_its_timer_a_better_name(bench):
    source = sample("timing_honest").replace(
        "import torch",
        "import sys\n\nimport torch\n\nsys.modules['v2kb.worker.harness.timers'].CpuTimer.method = 'globaltimer_span'",
        1,
    )
    outcome, reason = bench.time(source, PLAN)
    assert outcome.value == "PASS", reason
    assert bench.timed.method.startswith("process_clock")


def test_catalogue_has_controls_of_every_kind():
    names = {found.name for found in SAMPLES}
    for kind in ("honest", "wrong", "hog", "cheat", "timing"):
        assert sum(name.startswith(kind) for name in names) >= 4
    assert all(found.outcomes[0] and found.mode for found in SAMPLES)


def test_after_a_crash_the_next_kernel_runs(bench):
    assert bench.check(sample("hog_segfault"))[0].value == "CRASHED"
    assert bench.check(sample("hog_loop"))[0].value == "TIMEOUT"
    assert bench.check(sample("honest_plain"))[0].value == "PASS"


def test_a_leftover_of_one_run_is_not_seen_by_the_next(bench):
    for _ in range(2):
        outcome, reason = bench.check(sample("cheat_disk_cache"))
        assert outcome.value == "PASS", reason


def test_the_grandchild_is_killed_and_told(bench):
    outcome, _ = bench.check(sample("honest_leaves_a_grandchild"))
    assert outcome.value == "PASS"
    assert any("left-over process" in text for text in bench.printed)


def test_a_hundred_megabytes_of_print_become_a_short_log(bench):
    bench.check(sample("honest_prints_100_mb"))
    text = "".join(bench.printed)
    assert len(text) < LIMITS.log_bytes + 1000
    assert "bytes left out" in text
    assert bench.log.seen_bytes > 100_000_000


def test_a_raised_error_is_in_the_log_with_its_traceback(bench):
    outcome, reason = bench.check(sample("wrong_raises"))
    assert outcome.value == "CRASHED"
    assert 'File "' in "".join(bench.printed)
    assert "RuntimeError" in reason
    assert "in run" in reason


def test_files_of_a_bundle_never_stand_in_for_installed_modules(bench):
    shadow = "raise RuntimeError('a shadow module was imported')\n"
    source = sample("honest_plain").replace(
        "import torch\n", "import json\nimport time\nimport torch\nimport helper\n", 1
    )
    files = {"kernel.py": source, "helper.py": "import v2kb.worker.harness.timers\n"}
    files |= dict.fromkeys(("torch.py", "time.py", "json.py", "tensorfile.py", "sitecustomize.py"), shadow)
    outcome, reason = bench.check(files)
    assert outcome.value == "PASS", reason


def test_the_fork_server_never_loads_a_candidate(bench):
    marker = "candidate_marker_7391"
    assert bench.check(f"import torch\n{marker} = 'x' * 100\n" + sample("honest_plain"))[0].value == "PASS"
    found = bench.check(
        sample("honest_plain") + "\n\nimport gc\nif any('candidate_marker_7391' in vars(m) for m in gc.get_objects()"
        " if isinstance(m, type(gc))):\n    raise RuntimeError('loaded before')\n"
    )
    assert found[0].value == "PASS", found[1]


@pytest.mark.skipif(not FENCED, reason="needs namespaces (bubblewrap)")
def test_the_fence_hides_the_rest_of_the_file_system(bench, tmp_path):
    (tmp_path / "token").write_text("secret")
    own = [
        str(tmp_path / "token"),
        str(ROOT / "pyproject.toml"),
        str(ROOT),
        "/",
        "/etc",
        "/usr",
        "/var",
        "/dev",
        "/box",
    ]
    source = sample("honest_plain").replace(
        "import torch",
        "import os\nimport torch\n"
        f"seen = [p for p in {own!r} if os.path.isfile(p) or (os.path.isdir(p) and os.access(p, os.W_OK))]\n"
        "if seen:\n    raise RuntimeError(f'sees {seen}')",
        1,
    )
    outcome, reason = bench.check(source)
    assert outcome.value == "PASS", reason
