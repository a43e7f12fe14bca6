"""The process that runs reference or candidate code, forked afresh for every run. Nothing it writes is trusted.

A task is a JSON file: role (reference, check or time), where its inputs lie and where its outputs go. The candidate
gets tensors and returns tensors; expected values, seeds and bars stay with the parent.
"""

import gc
import importlib.util
import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from v2kb.worker.harness import tamper, tensorfile, timers
from v2kb.worker.harness.shift import rolled

MAX_STATUS_TEXT = 20_000
READ_LIMIT = 2**40
POLL_S = 0.002
HARNESS = Path(__file__).parent

Tensors = dict[str, torch.Tensor]


class Ended(Exception):
    """The run can't go on; the status says why."""


def main(task_path: str) -> None:
    """Do the task and write `status.json` beside its outputs."""
    task = json.loads(Path(task_path).read_text())
    out = Path(task["out"])
    torch.set_num_threads(task["threads"])
    status: dict[str, Any] = {"phase": "load", "error": None, "problems": [], "tampered": []}
    try:
        {"reference": _reference, "check": _check, "time": _time}[task["role"]](task, out, status)
        status["phase"] = "done"
    except Ended:
        pass
    except Exception as error:
        _fail(status, error)
    write_status(out, status)


def write_status(out: Path, status: dict[str, Any]) -> None:
    temporary = out / "status.tmp"
    temporary.write_text(json.dumps(status))
    os.rename(temporary, out / "status.json")


def _fail(status: dict[str, Any], error: BaseException) -> None:
    text = "".join(traceback.format_exception(error.with_traceback(_below_harness(error))))
    sys.stderr.write(text)
    sys.stderr.flush()
    status["error"] = {
        "type": type(error).__name__,
        "message": str(error)[:MAX_STATUS_TEXT],
        "traceback": text[-MAX_STATUS_TEXT:],
        "memory": isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)),
    }


def _below_harness(error: BaseException) -> TracebackType | None:
    """The traceback from the first frame that is not the harness's own; the whole one when there is none."""
    trace = error.__traceback__
    while trace is not None and Path(trace.tb_frame.f_code.co_filename).parent == HARNESS:
        trace = trace.tb_next
    return trace or error.__traceback__


def _guarded(status: dict[str, Any], phase: str, action: Callable[[], Any]) -> Any:
    """Run code that isn't ours. Anything it raises, sys.exit included, ends the run and is told."""
    status["phase"] = phase
    try:
        return action()
    except BaseException as error:
        _fail(status, error)
        raise Ended from error


def _to_device(tensors: Tensors, device: str) -> Tensors:
    return {name: tensor.to(device, copy=True) for name, tensor in tensors.items()}


def _read_inputs(task: dict[str, Any], index: int) -> Tensors:
    return tensorfile.read_tensors(Path(task["calls"][index]), READ_LIMIT)


def _reference(task: dict[str, Any], out: Path, status: dict[str, Any]) -> None:
    namespace: dict[str, Any] = {"torch": torch, "math": math, "__name__": "reference"}
    source = task["reference"]
    _guarded(status, "load", lambda: exec(compile(source, "reference.py", "exec"), namespace))
    (out / "loaded").touch()
    for index in range(len(task["calls"])):
        inputs = _read_inputs(task, index)
        results: Tensors = {}
        for label, dtype in (("32", torch.float32), ("64", torch.float64)):
            given = {
                name: tensor.to(dtype) if tensor.is_floating_point() else tensor.clone()
                for name, tensor in inputs.items()
            }
            returned = _guarded(status, "call", lambda given=given: namespace["reference"](given))
            if not isinstance(returned, dict) or not all(type(v) is torch.Tensor for v in returned.values()):
                raise TypeError("reference(inputs) must return a dict of tensors")
            results |= {f"{label}/{name}": tensor for name, tensor in returned.items()}
        tensorfile.write_tensors(out / f"call{index}.tensors", results)


def _load_candidate(task: dict[str, Any], out: Path, status: dict[str, Any]) -> timers.Kernel:
    path, _, name = task["entry"].rpartition(":")
    folder = Path(task["files"])

    def load() -> timers.Kernel:
        sys.path.append(str(folder))  # last, so that no file of the bundle can stand in for an installed module
        spec = importlib.util.spec_from_file_location("candidate_kernel", folder / path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["candidate_kernel"] = module
        spec.loader.exec_module(module)
        kernel = getattr(module, name, None)
        if not callable(kernel):
            raise ImportError(f"{path} defines no function named {name}")
        return kernel

    kernel = _guarded(status, "load", load)
    (out / "loaded").touch()
    return kernel


def _timer(device: str) -> timers.CpuTimer | timers.CudaTimer:
    return timers.CudaTimer() if device == "cuda" else timers.CpuTimer()


def _check(task: dict[str, Any], out: Path, status: dict[str, Any]) -> None:
    """Three calls in one process: fresh objects, other objects, and the first objects again with new contents."""
    before = tamper.snapshot(sys.modules[__name__])
    timer = _timer(task["device"])
    kernel = _load_candidate(task, out, status)
    first: Tensors = {}
    for index in range(len(task["calls"])):
        contents = _read_inputs(task, index)
        if index == 2:
            for name, tensor in first.items():
                tensor.copy_(contents[name])
            given = first
        else:
            given = _to_device(contents, task["device"])
            first = first or given
        _poison(task["outputs"], task["device"])
        returned = _guarded(status, "call", lambda given=given: _called(kernel, dict(given), timer))
        good, problems = examine(returned, task["outputs"], task["device"])
        status["problems"] += [f"call {index}: {problem}" for problem in problems]
        tensorfile.write_tensors(out / f"call{index}.tensors", good)
        status["problems"] += [
            f"call {index}: input {name} was changed by the kernel"
            for name, tensor in given.items()
            if name not in task["in_place"] and not _equal_bytes(tensor, contents[name])
        ]
    status["tampered"] = tamper.changes(before, tamper.snapshot(sys.modules[__name__]))


def _called(kernel: timers.Kernel, inputs: Tensors, timer: timers.CpuTimer | timers.CudaTimer) -> Any:
    returned = kernel(inputs)
    timer.synchronize()
    return returned


def _equal_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and tensorfile.tensor_bytes(a) == tensorfile.tensor_bytes(b)


def _poison(outputs: list[dict[str, Any]], device: str) -> None:
    """Fill and free blocks of the outputs' sizes, so that an output that is never written holds NaN."""
    blocks = []
    for output in outputs:
        size = math.prod(output["shape"]) * tensorfile.DTYPES[output["dtype"]].itemsize
        blocks.append(torch.full((size,), 0xFF, dtype=torch.uint8, device=device))
    del blocks


def examine(returned: Any, expected: list[dict[str, Any]], device: str) -> tuple[Tensors, list[str]]:
    """Return the outputs that are plain tensors with storage of their own, and what is wrong with the others."""
    if type(returned) is not dict:
        return {}, [f"run returned {type(returned).__name__}; return a dict of tensors by output name"]
    problems, good = [], {}
    names = {output["name"]: output for output in expected}
    problems += [f"output {str(name)[:60]!r} is not in the contract" for name in returned if name not in names]
    for name, output in names.items():
        if name not in returned:
            problems.append(f"output {name} is missing")
            continue
        problem = _output_problem(returned[name], output, device)
        if problem:
            problems.append(f"output {name} {problem}")
        else:
            good[name] = returned[name]
    return good, problems


def _output_problem(tensor: Any, output: dict[str, Any], device: str) -> str:
    if type(tensor) is not torch.Tensor:
        return f"is a {type(tensor).__name__}, not exactly a torch.Tensor"
    if tensor.layout is not torch.strided or tensor.dtype not in tensorfile.DTYPE_NAMES:
        return f"has layout {tensor.layout} and dtype {tensor.dtype}; return a dense tensor"
    if tensor.device.type != device:
        return f"is on {tensor.device.type}, expected {device}"
    if output["layout"] == "row_major" and not tensor.is_contiguous():
        return f"has strides {list(tensor.stride())}; the contract says row-major"
    if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.dtype.itemsize:
        return "has less storage than elements"
    return ""


def _time(task: dict[str, Any], out: Path, status: dict[str, Any]) -> None:
    """Warm up, then timed calls, each at new addresses with new contents; the parent then asks for one output."""
    before = tamper.snapshot(sys.modules[__name__])
    timer = _timer(task["device"])
    setup = time.perf_counter_ns()
    kernel = _load_candidate(task, out, status)
    inputs = _Inputs(task)
    kept: dict[int, Tensors] = {}
    wanted = set(task["keep"])
    gc.collect()
    gc.disable()

    def keep(index: int, returned: Any) -> None:
        good, problems = examine(returned, task["outputs"], task["device"])
        status["problems"] += [f"timed call {index}: {problem}" for problem in problems][:3]
        if index in wanted:
            kept[index] = {name: tensor.clone() for name, tensor in good.items()}

    _guarded(status, "warm-up", lambda: timer.warm_up(kernel, inputs.warmup, task["warmup"]))
    status["setup_ns"] = time.perf_counter_ns() - setup
    samples = _guarded(status, "timed calls", lambda: timer.run(kernel, inputs.timed, keep, task["launches"]))
    burst = [inputs.timed(index) for index in range(inputs.burst)]
    (out / "burst.begin").touch()
    for given in burst:
        _guarded(status, "timed calls", lambda given=given: _called(kernel, given, timer))
    (out / "burst.end").touch()
    status["tampered"] = tamper.changes(before, tamper.snapshot(sys.modules[__name__]))
    status |= {"samples_ns": samples, "method": timer.method, "burst": len(burst)}
    write_status(out, status | {"phase": "audit"})
    index = _asked_index(Path(task["audit"]))
    tensorfile.write_tensors(out / "audit.tensors", kept.get(index, {}))


def _asked_index(path: Path) -> int:
    """Wait for the parent to name the timed call that it wants to see. The parent ends a run that waits too long."""
    while not path.exists():
        time.sleep(POLL_S)
    return int(path.read_text())


class _Inputs:
    """Inputs of every call: a base set from the pool, rolled by the call's shift, at addresses not used before."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.device = task["device"]
        self.schedule = task["schedule"]
        self.warm = task["warmup"]
        self.pool = [_to_device(_read_inputs(task, index), self.device) for index in range(len(task["calls"]))]
        self.held: list[Tensors] = []
        self.hold = task["hold"]
        self.burst = min(task["launches"], self.hold)

    def warmup(self, index: int) -> Tensors:
        return self._make(index)

    def timed(self, index: int) -> Tensors:
        return self._make(self.warm + index)

    def _make(self, call: int) -> Tensors:
        base, shift = self.schedule[call]
        made = {name: rolled(tensor, shift) for name, tensor in self.pool[base].items()}
        self.held.append(made)
        if len(self.held) > self.hold:
            self.held.pop(0)
        return dict(made)
