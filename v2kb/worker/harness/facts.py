"""Facts about the machine and about the harness itself."""

import contextlib
import hashlib
import importlib.metadata
import itertools
import os
import platform
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

HARNESS = Path(__file__).resolve().parent
CHECKER_FILES = ("compare.py", "inputs.py", "tensorfile.py", "validate.py", "session.py", "endings.py", "shift.py")
CLOCK_INTERVAL_S = 0.25
_MAX_CLOCKS = 200


def harness_hash() -> str:
    """sha256 over all files of the harness, by name and content."""
    return _hash_files(sorted(HARNESS.glob("*.py")))


def checker_hash() -> str:
    """sha256 over the files that make inputs and compare outputs."""
    return _hash_files([HARNESS / name for name in CHECKER_FILES])


def _hash_files(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def torch_version() -> str:
    """The installed torch, read without importing it; empty when there is none."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def cpu_name() -> str:
    names = re.findall(r"model name\s*:\s*(.+)", _read("/proc/cpuinfo"))
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def query_card(field: str) -> str:
    """One value of the first card from nvidia-smi; empty without a card."""
    if not shutil.which("nvidia-smi"):
        return ""
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if lines else ""


def _arch(device: str) -> str:
    """What a kernel runs on, as ops name their target: "cpu", or "sm_90" for compute capability 9.0."""
    if device != "cuda":
        return "cpu"
    capability = query_card("compute_cap")
    return f"sm_{capability.replace('.', '')}" if capability else ""


def timer_tick_ns() -> int:
    """The smallest step of the process clock, in ns, seen over a thousand readings."""
    readings = [time.perf_counter_ns() for _ in range(1000)]
    steps = [b - a for a, b in itertools.pairwise(readings) if b > a]
    return min(steps, default=1)


def environment(device: str) -> dict[str, str]:
    """Everything that two runs must share to be compared, as text."""
    found = {
        "device": device,
        "arch": _arch(device),
        "timer_tick_ns": str(timer_tick_ns()),
        "cpu": cpu_name(),
        "python": platform.python_version(),
        "torch": torch_version(),
        "kernel": platform.release(),
        "load_before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }
    if device == "cuda":
        found |= {
            "card": query_card("name"),
            "driver": query_card("driver_version"),
            "power_limit_w": query_card("power.limit"),
        }
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found["triton"] = importlib.metadata.version("triton")
    return found


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


class Clocks:
    """Clock readings in MHz while a run lasts: the card's SM clock, or the fastest core's."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._readings: list[int] = []
        self._next = 0.0
        self._busy: threading.Thread | None = None

    def sample(self) -> None:
        """Take a reading if one is due. A card is asked in a thread, since the answer takes tens of milliseconds."""
        now = time.monotonic()
        if now < self._next or len(self._readings) >= _MAX_CLOCKS:
            return
        self._next = now + CLOCK_INTERVAL_S
        if self._device != "cuda":
            self._add(max(re.findall(r"cpu MHz\s*:\s*([\d.]+)", _read("/proc/cpuinfo")), key=float, default=""))
        elif self._busy is None or not self._busy.is_alive():
            self._busy = threading.Thread(target=lambda: self._add(query_card("clocks.sm")), daemon=True)
            self._busy.start()

    def _add(self, text: str) -> None:
        with contextlib.suppress(ValueError):
            self._readings.append(round(float(text)))

    def mhz(self) -> list[int] | None:
        """The readings in order, or None where the machine tells no clock."""
        if self._busy is not None:
            self._busy.join()
        return list(self._readings) or None
