"""Timers of one call. They live in the candidate's process, so what they say is marked as self-timed.

CPU: the monotonic process clock round the call, after a buffer larger than the caches' private levels was written.
CUDA: device spans from CUPTI (through torch.profiler) with the L2 cache flushed before each call; where CUPTI gives
nothing, event pairs, and the method says so.
"""

import time
from collections.abc import Callable
from typing import Any

import torch

FLUSH_BYTES = 32 * 1024 * 1024
# Names of v2kb.rules.grades, which decide what a number may do.
CPU_METHOD = "process_clock (self-timed)"
CUPTI_METHOD = "cupti_span (self-timed)"
EVENT_METHOD = "event_pair (self-timed)"
_SPAN = "v2kb call "

Kernel = Callable[[dict[str, torch.Tensor]], Any]
Prepare = Callable[[int], dict[str, torch.Tensor]]
Keep = Callable[[int, Any], None]


class CpuTimer:
    """Times calls with the monotonic clock, in ns."""

    method = CPU_METHOD

    def __init__(self) -> None:
        self._buffer = torch.empty(FLUSH_BYTES, dtype=torch.uint8)

    def run(self, kernel: Kernel, prepare: Prepare, keep: Keep, count: int) -> list[int]:
        """Call `kernel` `count` times on prepared inputs; `keep` gets each output after its clock has stopped."""
        clock, buffer = time.perf_counter_ns, self._buffer
        samples: list[int] = []
        for index in range(count):
            inputs = prepare(index)
            buffer.fill_(index & 0xFF)
            start = clock()
            outputs = kernel(inputs)
            end = clock()
            keep(index, outputs)
            samples.append(end - start)
        return samples

    def warm_up(self, kernel: Kernel, prepare: Prepare, count: int) -> None:
        """Call `kernel` without a clock."""
        for index in range(count):
            kernel(prepare(index))

    def synchronize(self) -> None:
        """Nothing runs beside the caller on a CPU."""


class CudaTimer:
    """Times calls on the current CUDA device, in ns."""

    method = CUPTI_METHOD

    def __init__(self) -> None:
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self._buffer = torch.empty(max(2 * l2_bytes, FLUSH_BYTES), dtype=torch.uint8, device="cuda")
        self.synchronize = torch.cuda.synchronize

    def warm_up(self, kernel: Kernel, prepare: Prepare, count: int) -> None:
        """Call `kernel` without a clock, so that starting the profiler is paid once."""
        for index in range(count):
            kernel(prepare(index))
            self.synchronize()

    def run(self, kernel: Kernel, prepare: Prepare, keep: Keep, count: int) -> list[int]:
        """As CpuTimer.run. Device spans take in every stream that the call used."""
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        events: list[int] = []
        with torch.profiler.profile(activities=activities, acc_events=True) as profiler:
            for index in range(count):
                inputs = prepare(index)
                self._buffer.fill_(index & 0xFF)
                self.synchronize()
                events.append(self._one(kernel, inputs, index, keep))
        spans = device_spans(profiler, count)
        if spans is not None:
            return spans
        self.method = EVENT_METHOD
        return events

    def _one(self, kernel: Kernel, inputs: dict[str, torch.Tensor], index: int, keep: Keep) -> int:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.profiler.record_function(f"{_SPAN}{index}"):
            start.record()
            outputs = kernel(inputs)
            end.record()
            self.synchronize()
        keep(index, outputs)
        return max(1, round(start.elapsed_time(end) * 1e6))


def device_spans(profiler: Any, count: int) -> list[int] | None:
    """Return for each call the ns in which the device worked on it, or None where CUPTI saw no work.

    That is the union of the times of its kernels over all streams: time that two share counts once, and the host's
    delay between launches, which the profiler itself lengthens, does not count. A kernel belongs to the call whose
    host range holds it: calls are parted by a synchronisation, so the device's time lies inside that range too.
    """
    ranges: dict[int, tuple[int, int]] = {}
    kernels: list[tuple[int, int]] = []
    for event in profiler.profiler.kineto_results.events():
        on_device = event.device_type() == torch.autograd.DeviceType.CUDA
        name = event.name()
        if name.startswith(_SPAN):
            if not on_device:
                ranges[int(name.removeprefix(_SPAN))] = (event.start_ns(), event.end_ns())
        elif on_device:
            kernels.append((event.start_ns(), event.end_ns()))
    spans: list[int] = []
    for index in range(count):
        begin, end = ranges.get(index, (1, 0))
        inside = [(start, stop) for start, stop in kernels if begin <= start <= end]
        if not inside:
            return None
        spans.append(union_ns(inside))
    return spans


def union_ns(intervals: list[tuple[int, int]]) -> int:
    """Length of the union of half-open intervals."""
    total, reached = 0, min(start for start, _ in intervals)
    for start, stop in sorted(intervals):
        total += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return total
