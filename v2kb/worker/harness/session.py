"""What the checking and the timing part of one job share: supervisor, bundles on disk, reference runs, deadlines."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from v2kb.wire import Bundle, Job, Outcome
from v2kb.worker.harness import tensorfile
from v2kb.worker.harness.compare import Reference, check_reference
from v2kb.worker.harness.endings import Failure, raise_for_ending
from v2kb.worker.harness.inputs import TensorSpec, Workload
from v2kb.worker.harness.supervisor import Deadlines, Supervisor
from v2kb.worker.harness.tensorfile import DTYPE_NAMES

THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))
"""torch threads of a kernel: half the cores, so that the worker itself and the system don't disturb the timing."""
Tensors = dict[str, torch.Tensor]


@dataclass
class Session:
    """One job at work. `contents` maps sha256 to the bytes of every bundle file; `log` takes a line of text."""

    job: Job
    contents: Mapping[str, bytes]
    supervisor: Supervisor
    device: str
    job_end: float
    say: Callable[[str], None]
    _placed: set[str] = field(default_factory=set)

    @property
    def deadlines(self) -> Deadlines:
        return Deadlines(self.job.limits.compile_s, self.job.limits.case_s, self.job_end)

    def folder(self, name: str) -> Path:
        return self.supervisor.workspace / name

    def place(self, bundle: Bundle) -> str:
        """Write a bundle's files where the fenced side can read them; returns the folder as seen from there."""
        name = f"kernel-{bundle.digest[:16]}"
        if name not in self._placed:
            root = self.folder("in") / name
            for file in bundle.files:
                path = root / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self.contents[file.sha256])
            self._placed.add(name)
        return f"{self.supervisor.paths['in']}/{name}"

    def place_inputs(self, calls: list[Tensors]) -> list[str]:
        """Write the inputs of each call; returns the files' paths as seen from inside the fence."""
        for old in self.folder("in").glob("call*.tensors"):
            old.unlink()
        for index, inputs in enumerate(calls):
            tensorfile.write_tensors(self.folder("in") / f"call{index}.tensors", inputs)
        return [f"{self.supervisor.paths['in']}/call{index}.tensors" for index in range(len(calls))]

    def read_out(self, name: str) -> Tensors:
        """Read a tensor file that the fenced side wrote. Raises Failure when it is none."""
        try:
            return tensorfile.read_tensors(self.folder("out") / name, self.job.limits.output_bytes)
        except FileNotFoundError:
            return {}
        except tensorfile.BadTensorFile as error:
            raise Failure(Outcome.DECODE_FAILED, f"The outputs could not be read: {error}.") from error

    def task(self, role: str, calls: list[str], workload: Workload) -> dict[str, Any]:
        """Return the task common to all roles. It holds nothing that the candidate must not know."""
        return {
            "role": role,
            "calls": calls,
            "out": self.supervisor.paths["out"],
            "audit": f"{self.supervisor.paths['in']}/audit",
            "device": self.device,
            "threads": THREADS,
            "outputs": [_described(spec) for spec in workload.outputs],
            "in_place": [spec.name for spec in workload.inputs if spec.in_place],
        }

    def references(self, workload: Workload, calls: list[Tensors]) -> list[Reference]:
        """Run the contract's reference in a process of its own, in fp32 and fp64, for every call.

        Raises Failure INVALID_REFERENCE when it can't be used.
        """
        task = self.task("reference", self.place_inputs(calls), workload)
        task["reference"] = str(self.job.contract.get("reference") or "")
        ending = self.supervisor.run(task, self.deadlines)
        try:
            raise_for_ending(ending, "The reference", self.job.limits, "cpu")
        except Failure as failure:
            if ending.cause in ("total_timeout", "lost"):
                raise
            raise Failure(Outcome.INVALID_REFERENCE, f"Workload {workload.name}: {failure.message}") from failure
        found = []
        for index in range(len(calls)):
            outputs = self.read_out(f"call{index}.tensors")
            reference = Reference(
                {name[3:]: tensor for name, tensor in outputs.items() if name.startswith("32/")},
                {name[3:]: tensor for name, tensor in outputs.items() if name.startswith("64/")},
            )
            if problem := check_reference(workload, reference):
                raise Failure(Outcome.INVALID_REFERENCE, f"Workload {workload.name}: {problem}.")
            found.append(reference)
        self.supervisor.clear_out()
        return found


def _described(spec: TensorSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "shape": list(spec.shape),
        "dtype": DTYPE_NAMES[spec.dtype],
        "layout": spec.layout,
    }
