"""How a finished run ended, what a job is for, and the two sides of a perf round. Lists of the vocabulary page."""

from enum import StrEnum


class Outcome(StrEnum):
    """Outcome of a finished run. The worker reports one; the app decides what follows from it."""

    PASS = "PASS"
    FAIL_NUMERIC = "FAIL_NUMERIC"
    FAIL_SHAPE = "FAIL_SHAPE"
    COMPILE_ERROR = "COMPILE_ERROR"
    COMPILE_TIMEOUT = "COMPILE_TIMEOUT"
    WEDGE = "WEDGE"
    IMA = "IMA"
    MISALIGNED = "MISALIGNED"
    TIMEOUT = "TIMEOUT"
    CRASHED = "CRASHED"
    OOM = "OOM"
    DECODE_FAILED = "DECODE_FAILED"
    TAMPERED = "TAMPERED"
    INVALID_REFERENCE = "INVALID_REFERENCE"
    NO_CASES = "NO_CASES"
    NO_DATA = "NO_DATA"
    INFRA = "INFRA"
    CANCELLED = "CANCELLED"


RUN_OUTCOMES = tuple(outcome.value for outcome in Outcome)


class JobKind(StrEnum):
    """validate: correctness alone; perf: correctness, then paired rounds; capture: one kernel timed as an anchor."""

    VALIDATE = "validate"
    PERF = "perf"
    CAPTURE = "capture"


class Side(StrEnum):
    """Which kernel a timed run belongs to."""

    ANCHOR = "anchor"
    CANDIDATE = "candidate"
