"""Without bubblewrap: weaker, said so in every result, but limits, endings and clean-up still hold."""

import time

import psutil
import pytest

from v2kb.worker.harness import sandbox
from v2kb.worker.harness.job import run_job
from v2kb.worker.harness.sandbox import Sandbox
from v2kb.worker.harness.supervisor import Supervisor
from v2kb.worker.harness.watch import Watch

from .conftest import CATALOGUE, LIMITS, Bench, Expectation, make_job, sample


@pytest.fixture(scope="module")
def open_bench():
    patch = pytest.MonkeyPatch()
    patch.setattr(sandbox, "probe", lambda: Sandbox("process-group"))
    with Supervisor(LIMITS, Watch(), lambda _: None, "cpu") as supervisor:
        yield Bench(supervisor)
    patch.undo()


@pytest.mark.parametrize(
    "name",
    ["honest_plain", "wrong_no_weight", "wrong_raises", "hog_segfault", "hog_memory", "cheat_patched_clock",
     "cheat_kills_fork_server", "hog_loop"],
)  # fmt: skip
def test_sample_ends_as_it_does_behind_the_fence(open_bench, name):
    expected = Expectation.read(CATALOGUE / f"{name}.py")
    outcome, reason = open_bench.check(sample(name), expected.seconds)
    assert outcome.value in expected.outcomes, reason


def test_a_grandchild_in_another_session_is_killed(open_bench):
    assert open_bench.check(sample("honest_leaves_a_grandchild"))[0].value == "PASS"
    assert not psutil.Process(open_bench.supervisor._process.pid).children(recursive=True)


def test_a_hanging_kernel_with_grandchildren_leaves_nothing(open_bench):
    source = sample("honest_leaves_a_grandchild").replace("return {", "while True:\n        pass\n    return {")
    assert open_bench.check(source)[0].value == "TIMEOUT"
    deadline = time.monotonic() + 5
    left = ["?"]
    while left and time.monotonic() < deadline:
        left = [p.pid for p in psutil.process_iter(["cmdline"]) if str(open_bench.supervisor.workspace) in str(p.info)]
    assert not left


def test_the_level_is_in_the_result(monkeypatch):
    monkeypatch.setattr(sandbox, "probe", lambda: Sandbox("process-group"))
    job, contents = make_job(sample("honest_plain"))
    result = run_job(job, contents, "cpu")
    assert result.outcome.value == "PASS", result.message
    assert result.sandbox == "process-group"
