"""Comparing outputs with the reference. Runs in the parent only; every number here is a fact of the parent's own."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from v2kb.wire import OutputResult
from v2kb.worker.harness.inputs import TensorSpec, Tolerance, Workload

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Reference:
    """Outputs of the contract's reference for one call, in fp32 and again in fp64."""

    single: dict[str, torch.Tensor]
    double: dict[str, torch.Tensor]


def cosine(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Cosine of two tensors read as vectors, in fp64: 1 when both are all zeros, 0 when just one is."""
    a, b = got.reshape(-1).double(), expected.reshape(-1).double()
    scale_a, scale_b = _largest(a), _largest(b)
    if scale_a == 0 or scale_b == 0:
        return 1.0 if scale_a == scale_b else 0.0
    a, b = a / scale_a, b / scale_b
    return max(-1.0, min(1.0, float(torch.dot(a, b) / (a.norm() * b.norm()))))


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """rel_max: largest absolute error over the largest absolute expected value; 0 when equal; inf over zeros."""
    error = _largest(got.double() - expected.double())
    scale = _largest(expected.double())
    if error == 0:
        return 0.0
    return error / scale if scale else math.inf


def _largest(values: torch.Tensor) -> float:
    return float(values.abs().max()) if values.numel() else 0.0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def check_reference(workload: Workload, reference: Reference) -> str:
    """Return why the reference of a call can't be used, or an empty string."""
    for spec in workload.outputs:
        for precision, tensors in (("fp32", reference.single), ("fp64", reference.double)):
            tensor = tensors.get(spec.name)
            if tensor is None:
                return f"the reference returns no output named {spec.name!r}; return it"
            if tuple(tensor.shape) != spec.shape:
                return (
                    f"the reference's {spec.name} has shape {list(tensor.shape)}; the contract says {list(spec.shape)}"
                )
            if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
                return f"the reference's {spec.name} holds NaN or Inf in {precision}"
    extra = sorted(set(reference.single) - {spec.name for spec in workload.outputs})
    return f"the reference returns {extra[0]!r}, which is no output of the contract" if extra else ""


def within_bars(
    got: torch.Tensor, spec: TensorSpec, reference: Reference, bars: Tolerance
) -> tuple[float, float, bool]:
    """Return cosine, rel_max and whether both meet the bars.

    The candidate may be nearer to fp64 than the fp32 reference is, so the better of both comparisons counts.
    Outputs of whole numbers and truth values must be equal.
    """
    results = []
    for expected in (reference.single[spec.name], reference.double[spec.name]):
        cos, rel = cosine(got, expected), relative_error(got, expected)
        exact = spec.dtype.is_floating_point or rel == 0
        results.append((exact and cos >= bars.cos_min and rel <= bars.rel_max, -rel, cos))
    passed, negative_rel, cos = max(results)
    return cos, -negative_rel, passed


def compare_output(
    got: torch.Tensor | None, spec: TensorSpec, reference: Reference, bars: Tolerance
) -> tuple[OutputResult, str]:
    """Return the facts of one output of one call, and why it fails (empty when it passes)."""
    own_error = _finite(relative_error(reference.single[spec.name], reference.double[spec.name]))
    if got is None:
        return OutputResult(name=spec.name, reference_error_fp64=own_error), f"output {spec.name} is missing"
    shape_ok, dtype_ok = tuple(got.shape) == spec.shape, got.dtype == spec.dtype
    facts = {"name": spec.name, "shape_ok": shape_ok, "dtype_ok": dtype_ok, "reference_error_fp64": own_error}
    if not shape_ok:
        return OutputResult(**facts), f"output {spec.name} has shape {list(got.shape)}, expected {list(spec.shape)}"
    if not dtype_ok:
        return OutputResult(**facts), f"output {spec.name} is {_name(got.dtype)}, expected {_name(spec.dtype)}"
    bad = int((~torch.isfinite(got.double())).sum()) if got.is_floating_point() else 0
    if bad:
        return OutputResult(**facts, nan_count=bad), f"output {spec.name} holds {bad} NaN or Inf"
    cos, rel, passed = within_bars(got, spec, reference, bars)
    result = OutputResult(**facts, nan_count=0, cos=_finite(cos), rel_max=_finite(rel))
    if passed:
        return result, ""
    if not spec.dtype.is_floating_point:
        return result, f"output {spec.name} differs; whole numbers must be equal"
    shown = f"cos {cos:.6f} (at least {bars.cos_min:g}), rel_max {rel:.3g} (at most {bars.rel_max:g})"
    return result, f"output {spec.name} is wrong: {shown}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def merge_outputs(calls: list[OutputResult]) -> OutputResult:
    """Return the worst of several calls' facts of the same output."""

    def worst(values: list[float | None], pick) -> float | None:
        known = [value for value in values if value is not None]
        return pick(known) if known else None

    return OutputResult(
        name=calls[0].name,
        cos=worst([call.cos for call in calls], min),
        rel_max=worst([call.rel_max for call in calls], max),
        nan_count=worst([call.nan_count for call in calls], max),
        shape_ok=all(call.shape_ok for call in calls),
        dtype_ok=all(call.dtype_ok for call in calls),
        reference_error_fp64=worst([call.reference_error_fp64 for call in calls], max),
    )


def null_kernel(workload: Workload, inputs: Tensors, reference: Reference, stale: Reference) -> str:
    """Return which kernel that does no work would pass this call, or an empty string.

    Tried: zeros, a constant (the reference's own mean), a copy of each input, and the answer of another call.
    """
    attempts: list[tuple[str, dict[str, torch.Tensor | None]]] = [
        ("all zeros", {s.name: torch.zeros(s.shape) for s in workload.outputs}),
        ("a constant", {s.name: _constant(reference.double[s.name]) for s in workload.outputs}),
        ("the answer for other inputs", {s.name: stale.double[s.name] for s in workload.outputs}),
    ]
    for name, tensor in inputs.items():
        copies = {s.name: _copy(tensor, s.shape) for s in workload.outputs}
        attempts.append((f"a copy of {name}", copies))
    for label, outputs in attempts:
        if all(
            outputs[spec.name] is not None and within_bars(outputs[spec.name], spec, reference, workload.tolerance)[2]
            for spec in workload.outputs
        ):
            return label
    return ""


def _constant(expected: torch.Tensor) -> torch.Tensor:
    values = expected.double()
    return values.mean().expand(values.shape) if values.numel() else values


def _copy(tensor: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor | None:
    return tensor.double().reshape(shape) if tensor.numel() == math.prod(shape) else None
