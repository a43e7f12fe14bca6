"""What a worker reports of a run: facts per case and raw samples. The app judges; nothing here is a verdict."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from v2kb.wire.base import Message, Part
from v2kb.wire.outcomes import Outcome, Side

Finite = Annotated[float, Field(allow_inf_nan=False)]
Nanoseconds = Annotated[int, Field(ge=0, lt=2**63)]
Short = Annotated[str, StringConstraints(max_length=300)]
Long = Annotated[str, StringConstraints(max_length=4000)]


class OutputResult(Part):
    """One output tensor against the reference, worst over the checked calls; null where nothing could be computed.

    `cos` is the cosine of the flattened tensors, `rel_max` the largest absolute error over the largest absolute
    reference value, `reference_error_fp64` the fp32 reference's own rel_max against fp64.
    """

    name: Short
    cos: Finite | None = None
    rel_max: Finite | None = None
    nan_count: Annotated[int, Field(ge=0)] | None = None
    shape_ok: bool = False
    dtype_ok: bool = False
    reference_error_fp64: Finite | None = None


class CaseResult(Part):
    """One workload. `seed` is a hash of the inputs' seeds, shown after the run; `reason` is empty when it passed."""

    workload: Short
    profile: Short
    seed: Short
    passed: bool
    reason: Long = ""
    outputs: list[OutputResult] = []
    count_ok: bool = False


class RoundRun(Part):
    """One fresh process: its timed calls in order, in ns. `position` counts all runs of the job from 0."""

    round: Annotated[int, Field(ge=0)]
    side: Side
    position: Annotated[int, Field(ge=0)]
    workload: Short
    samples_ns: list[Nanoseconds]
    clock_mhz: list[Annotated[int, Field(ge=0)]] | None = None
    method: Short
    started_at: datetime
    setup_ns: Nanoseconds


class RunResult(Message):
    """The facts of one attempt. `harness_hash` covers the harness, `checker_hash` its files that compare outputs."""

    outcome: Outcome
    message: Long = ""
    cases: list[CaseResult] = []
    rounds: list[RoundRun] = []
    environment: dict[str, str] = {}
    harness_hash: Short = ""
    checker_hash: Short = ""
    sandbox: Short = ""
    started_at: datetime
    finished_at: datetime
