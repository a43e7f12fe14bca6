"""From how a process ended to the run's outcome and a sentence for people."""

import signal
from typing import Any

from v2kb.wire import Limits, Outcome
from v2kb.worker.harness.supervisor import Ending

_MEMORY_WORDS = (
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "out of memory",
    "unable to mmap",
    "std::bad_alloc",
)
_DEVICE_WORDS = {
    "illegal memory access": Outcome.IMA,
    "misaligned address": Outcome.MISALIGNED,
}
_WHERE = {
    "load": "while it was loaded",
    "call": "when it was called",
    "warm-up": "during warm-up",
    "timed calls": "during the timed calls",
}
MAX_SHOWN = 1500


class Failure(Exception):
    """A run that can't go on: outcome and message of the result."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message


def raise_for_ending(ending: Ending, who: str, limits: Limits, device: str) -> dict[str, Any]:
    """Return the status of a run that came to its end, or raise Failure with the outcome of one that did not.

    `who` begins the message: "The candidate", "The anchor" or "The reference".
    """
    status = ending.status or {}
    phase = str(status.get("phase", ""))
    by_cause = {
        "compile_timeout": (Outcome.COMPILE_TIMEOUT, f"took more than {limits.compile_s} s to load"),
        "timeout": (_hang(device), f"ran for more than {limits.case_s} s in one case"),
        "total_timeout": (Outcome.TIMEOUT, f"was still running when the job's {limits.total_s} s were over"),
        "memory": (Outcome.OOM, f"used too much memory: {ending.detail}"),
        "processes": (Outcome.CRASHED, f"started too many processes: {ending.detail}; all were killed"),
        "output": (Outcome.CRASHED, f"wrote too much: {ending.detail}"),
        "lost": (Outcome.TAMPERED, "ended the process that supervises it"),
    }
    if ending.cause in by_cause:
        outcome, text = by_cause[ending.cause]
        raise Failure(outcome, f"{who} {text}.")
    if ending.cause == "signal":
        raise _signalled(ending.code, who, limits)
    error = status.get("error")
    if isinstance(error, dict):
        raise _raised(error, phase, who)
    if ending.code or phase != "done":
        raise Failure(Outcome.CRASHED, f"{who} ended its own process (exit code {ending.code}) without returning.")
    return status


def texts(value: object) -> list[str]:
    """Return the strings of a list that a child wrote, whatever it wrote."""
    return [text[:300] for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _hang(device: str) -> Outcome:
    return Outcome.WEDGE if device == "cuda" else Outcome.TIMEOUT


def _signalled(number: int, who: str, limits: Limits) -> Failure:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = str(number)
    if number == signal.SIGXCPU:
        return Failure(Outcome.TIMEOUT, f"{who} used more processor time than its {limits.case_s} s a case allow.")
    return Failure(Outcome.CRASHED, f"{who} was ended by {name}.")


def _raised(error: dict[str, Any], phase: str, who: str) -> Failure:
    kind, message = str(error.get("type", "")), str(error.get("message", ""))
    trace = str(error.get("traceback", ""))
    text = f"{who} raised {kind} {_WHERE.get(phase, 'in the harness')}: {message[:300]}\n{trace[-MAX_SHOWN:]}"
    lower = message.lower()
    if error.get("memory") or any(word in lower for word in _MEMORY_WORDS):
        return Failure(Outcome.OOM, f"{who} ran out of memory {_WHERE.get(phase, '')}: {message[:300]}")
    for words, outcome in _DEVICE_WORDS.items():
        if words in lower:
            return Failure(outcome, text)
    return Failure(Outcome.COMPILE_ERROR if phase == "load" else Outcome.CRASHED, text)
