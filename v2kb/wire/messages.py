"""Messages of the run protocol: broker message, hello, claim, ping, log, result request."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from v2kb.wire.base import Message, Part
from v2kb.wire.bundle import Bundle
from v2kb.wire.outcomes import JobKind
from v2kb.wire.result import RunResult

TASK_NAME = "v2kb.worker.execute_run"
MAX_LOG_CHUNK = 16 * 1024
MAX_LAUNCHES = 10_000
MAX_ROUNDS = 64

RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Text = Annotated[str, StringConstraints(max_length=300)]
PositiveInt = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0, lt=2**31)]


class RunMessage(Message):
    """What travels through the broker: where to claim, with a key that is good for this one run."""

    run_id: RunId
    base_url: Annotated[str, StringConstraints(pattern=r"^https?://\S+$", max_length=500)]
    run_key: Annotated[str, StringConstraints(min_length=16, max_length=200)]


class WorkerInfo(Part):
    """Who measures. `card` is empty on a machine without a GPU; `sandbox` is the level found by trying at start."""

    name: Name
    queue: Name
    card: Text = ""
    cpu: Text = ""
    torch: Text = ""
    python: Text = ""
    driver: Text = ""
    sandbox: Text = ""
    harness_hash: Text = ""


class Hello(Message):
    worker: WorkerInfo


class ClaimRequest(Message):
    worker: WorkerInfo


class PerfPlan(Part):
    """`rounds` pairs of fresh processes, each with `launches` timed calls after `warmup`; letter A is the anchor."""

    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 5
    launches: Annotated[int, Field(ge=1, le=MAX_LAUNCHES)] = 30
    warmup: Annotated[int, Field(ge=0, le=1000)] = 5
    first_letter: Literal["A", "B"] = "A"


class Limits(Part):
    """What one job may use. Times in seconds, sizes in bytes; `memory_bytes` is beyond what importing torch takes."""

    total_s: PositiveInt = 600
    case_s: PositiveInt = 60
    compile_s: PositiveInt = 60
    memory_bytes: PositiveInt = 4 * 1024**3
    output_bytes: PositiveInt = 1024**3
    processes: PositiveInt = 64
    log_bytes: PositiveInt = 256 * 1024


class Job(Message):
    """All that a worker needs. `seed_secret` never reaches the candidate's process."""

    run_id: RunId
    kind: JobKind
    contract: dict[str, Any]
    candidate: Bundle
    anchor: Bundle | None = None
    workloads: list[Name]
    plan: PerfPlan | None = None
    limits: Limits = Limits()
    seed_secret: Annotated[str, StringConstraints(min_length=16, max_length=200)]

    @model_validator(mode="after")
    def _plan_fits_kind(self) -> Self:
        if self.kind is not JobKind.VALIDATE and self.plan is None:
            raise ValueError(f"A {self.kind.value} job needs a plan.")
        if self.kind is JobKind.PERF and self.anchor is None:
            raise ValueError("A perf job needs an anchor kernel.")
        return self


class ClaimReply(Message):
    """`fence` numbers the attempt's claim and goes with every later message; `lease_s` runs out without a ping."""

    fence: Count
    attempt: PositiveInt
    lease_s: PositiveInt
    ping_s: PositiveInt
    job: Job


class Ping(Message):
    fence: Count
    done: Count
    total: Count
    phase: Text = ""


class PingReply(Message):
    cancel: bool = False


class LogChunk(Message):
    """`seq` counts from 0; the same `seq` sent twice is the same chunk."""

    fence: Count
    seq: Count
    text: Annotated[str, StringConstraints(max_length=MAX_LOG_CHUNK)]


class ResultRequest(Message):
    fence: Count
    result: RunResult
