"""A contract, kernels by name from the catalogue, and a bench that checks and times them in real child processes."""

import hashlib
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from v2kb.wire import Bundle, Job, Limits, Outcome, PerfPlan, Side, make_bundle
from v2kb.worker.harness import perf, validate
from v2kb.worker.harness.endings import Failure
from v2kb.worker.harness.inputs import find_workload
from v2kb.worker.harness.session import Session
from v2kb.worker.harness.supervisor import Supervisor
from v2kb.worker.harness.watch import CappedLog, Watch

CATALOGUE = Path(__file__).parent / "adversarial"
SECRET = "0123456789abcdef-secret"

REFERENCE = """
def reference(inputs):
    x, w = inputs["x"], inputs["w"]
    return {"y": x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w}
"""


def rms_norm_contract(**changes):
    contract = {
        "title": "RMS norm",
        "axes": {"rows": {"symbol": True}, "cols": {"value": "256"}},
        "inputs": [
            {"name": "x", "shape": ["rows", "cols"], "dtype": "bfloat16", "layout": "row_major", "kind": "activation"},
            {"name": "w", "shape": ["cols"], "dtype": "bfloat16", "layout": "row_major", "kind": "weight"},
        ],
        "outputs": [{"name": "y", "shape": ["rows", "cols"], "dtype": "bfloat16", "layout": "row_major"}],
        "target": "cpu",
        "reference": REFERENCE,
        "workloads": [
            {"name": "small", "axes": {"rows": "64"}, "profile": "random"},
            {"name": "wide", "axes": {"rows": "8", "cols": "1024"}, "profile": "large_range"},
        ],
        "tolerance": {"cos_min": "0.999", "rel_max": "0.03"},
    }
    return contract | changes


LIMITS = Limits(
    total_s=120,
    case_s=4,
    compile_s=4,
    memory_bytes=512 * 1024**2,
    output_bytes=64 * 1024**2,
    processes=24,
    log_bytes=64 * 1024,
)


def kernel(source: str | dict[str, str]) -> tuple[Bundle, dict[str, bytes]]:
    """Return the bundle of a source text (or of several files) and its contents by hash."""
    files = {"kernel.py": source} if isinstance(source, str) else source
    data = {path: text.encode() for path, text in files.items()}
    contents = {hashlib.sha256(text).hexdigest(): text for text in data.values()}
    return make_bundle("kernel.py:run", data), contents


def sample(name: str) -> str:
    return (CATALOGUE / f"{name}.py").read_text()


@dataclass(frozen=True)
class Expectation:
    name: str
    outcomes: tuple[str, ...]
    mode: str
    message: str
    seconds: int

    @classmethod
    def read(cls, path: Path) -> "Expectation":
        def header(key: str) -> str:
            found = re.search(rf"^# {key}: (.*)$", path.read_text(), re.M)
            return found[1].strip() if found else ""

        return cls(
            path.stem,
            tuple(header("expect").split("|")),
            header("mode"),
            header("message"),
            int(header("seconds") or LIMITS.case_s),
        )


def make_job(source, *, kind="validate", anchor=None, contract=None, workloads=("small",), plan=None, limits=LIMITS):
    """Return a job and the file contents that go with it."""
    bundle, contents = kernel(source)
    anchor_bundle = None
    if anchor is not None:
        anchor_bundle, more = kernel(anchor)
        contents = contents | more
    job = Job(
        run_id="run-1",
        kind=kind,
        contract=contract or rms_norm_contract(),
        candidate=bundle,
        anchor=anchor_bundle,
        workloads=list(workloads),
        plan=plan,
        limits=limits,
        seed_secret=SECRET,
    )
    return job, contents


@dataclass
class Bench:
    """Checks kernel after kernel behind one fence, starting a new fork server only when a kernel cost the old one."""

    supervisor: Supervisor
    printed: list[str] = field(default_factory=list)
    prepared: dict[str, validate.Prepared] = field(default_factory=dict)

    def session(
        self,
        source: str | dict[str, str],
        plan: PerfPlan | None = None,
        contract: dict | None = None,
        seconds: int = LIMITS.case_s,
    ) -> Session:
        limits = LIMITS.model_copy(update={"compile_s": seconds, "case_s": seconds})
        kind = "capture" if plan else "validate"
        job, contents = make_job(source, kind=kind, plan=plan, contract=contract, limits=limits)
        if self.supervisor._process is None:
            self.supervisor.start()
        log = CappedLog(LIMITS.log_bytes, self.printed.append)
        self.supervisor._output = log.write
        self.log = log
        return Session(job, contents, self.supervisor, "cpu", time.monotonic() + 120, self.printed.append)

    def prepare(self, contract: dict) -> validate.Prepared:
        """Run a contract's reference. Raises Failure when it can't be used."""
        session = self.session(sample("honest_plain"), contract=contract)
        return validate.prepare_case(session, find_workload(contract, "small"))

    def check(self, source: str | dict[str, str], seconds: int = LIMITS.case_s) -> tuple[Outcome, str]:
        """Return outcome and reason or message of a check."""
        self.printed.clear()
        session = self.session(source, seconds=seconds)
        if "small" not in self.prepared:
            workload = find_workload(session.job.contract, "small")
            self.prepared["small"] = validate.prepare_case(session, workload)
        try:
            case, outcome = validate.check_case(session, session.job.candidate, self.prepared["small"], "The candidate")
        except Failure as failure:
            return failure.outcome, failure.message
        finally:
            self.log.close()
        return outcome, case.reason

    def time(self, source: str, plan: PerfPlan) -> tuple[Outcome, str]:
        """Check, then time one run. Returns outcome and reason or message."""
        outcome, reason = self.check(source)
        if outcome is not Outcome.PASS:
            return outcome, f"in the check: {reason}"
        session = self.session(source, plan)
        workload = find_workload(session.job.contract, "small")
        feed = perf.make_feed(session, workload, 0)
        try:
            self.timed = perf.time_run(session, session.job.candidate, workload, feed, (0, Side.CANDIDATE, 0))
        except Failure as failure:
            return failure.outcome, failure.message
        return Outcome.PASS, ""


@pytest.fixture(scope="session")
def bench():
    with Supervisor(LIMITS, Watch(), lambda _: None, "cpu") as supervisor:
        yield Bench(supervisor)
