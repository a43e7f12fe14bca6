"""Comparing outputs with the reference. Runs in the parent only; every number here is a fact of the parent's own."""

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from v2kb.wire import OutputResult
from v2kb.worker.harness.inputs import TensorSpec, Tolerance, Workload

Tensors = Mapping[str, torch.Tensor]

PIECE = 1 << 18
SAMPLE = 1 << 16


@dataclass(frozen=True)
class Reference:
    """Outputs of the contract's reference for one call, in fp32 and again in fp64."""

    single: dict[str, torch.Tensor]
    double: dict[str, torch.Tensor]

    @functools.cached_property
    def own_error(self) -> dict[str, float]:
        """rel_max of fp32 against fp64 by output."""
        return {name: relative_error(tensor, self.double[name]) for name, tensor in self.single.items()}

    @functools.cached_property
    def scale(self) -> dict[str, float]:
        """Largest absolute fp64 value by output."""
        return {name: _largest(tensor) for name, tensor in self.double.items()}


def _pieces(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Give the flattened tensors in fp64, a piece that fits the caches at a time."""
    flat = [tensor.reshape(-1) for tensor in tensors]
    for start in range(0, flat[0].numel(), PIECE):
        yield tuple(tensor[start : start + PIECE].double() for tensor in flat)


def cosine(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Cosine of two tensors read as vectors, in fp64: 1 when both are all zeros, 0 when just one is."""
    scale_a, scale_b = _largest(got), _largest(expected)
    if scale_a == 0 or scale_b == 0:
        return 1.0 if scale_a == scale_b else 0.0
    product = square_a = square_b = 0.0
    for a, b in _pieces(got, expected):
        a, b = a / scale_a, b / scale_b
        product += float(torch.dot(a, b))
        square_a += float(torch.dot(a, a))
        square_b += float(torch.dot(b, b))
    return max(-1.0, min(1.0, product / math.sqrt(square_a * square_b)))


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """rel_max: largest absolute error over the largest absolute expected value; 0 when equal; inf over zeros."""
    error = scale = 0.0
    for a, b in _pieces(got, expected):
        error = max(error, float((a - b).abs().max()))
        scale = max(scale, float(b.abs().max()))
    if error == 0:
        return 0.0
    return error / scale if scale else math.inf


def _largest(values: torch.Tensor) -> float:
    return max((float(piece.abs().max()) for (piece,) in _pieces(values)), default=0.0)


def count_not_finite(values: torch.Tensor) -> int:
    """How many elements are NaN or infinite."""
    if not values.is_floating_point():
        return 0
    return sum(int((~torch.isfinite(piece)).sum()) for (piece,) in _pieces(values))


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
            if count_not_finite(tensor):
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
    best = (False, -math.inf, -1.0)
    for expected in (reference.single[spec.name], reference.double[spec.name]):
        cos, rel = cosine(got, expected), relative_error(got, expected)
        exact = spec.dtype.is_floating_point or rel == 0
        best = max(best, (exact and cos >= bars.cos_min and rel <= bars.rel_max, -rel, cos))
        if best[0]:
            break
    passed, negative_rel, cos = best
    return cos, -negative_rel, passed


def compare_output(
    got: torch.Tensor | None, spec: TensorSpec, reference: Reference, bars: Tolerance
) -> tuple[OutputResult, str]:
    """Return the facts of one output of one call, and why it fails (empty when it passes)."""
    own_error = _finite(reference.own_error[spec.name])
    if got is None:
        return OutputResult(name=spec.name, reference_error_fp64=own_error), f"output {spec.name} is missing"
    shape_ok, dtype_ok = tuple(got.shape) == spec.shape, got.dtype == spec.dtype
    facts = {"name": spec.name, "shape_ok": shape_ok, "dtype_ok": dtype_ok, "reference_error_fp64": own_error}
    if not shape_ok:
        return OutputResult(**facts), f"output {spec.name} has shape {list(got.shape)}, expected {list(spec.shape)}"
    if not dtype_ok:
        return OutputResult(**facts), f"output {spec.name} is {_name(got.dtype)}, expected {_name(spec.dtype)}"
    if bad := count_not_finite(got):
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
        if all(_would_pass(outputs[spec.name], spec, reference, workload.tolerance) for spec in workload.outputs):
            return label
    return ""


def _would_pass(got: torch.Tensor | None, spec: TensorSpec, reference: Reference, bars: Tolerance) -> bool:
    """Whether an output meets the bars. A few elements mostly show that it doesn't, which saves the full comparison."""
    if got is None:
        return False
    step = max(1, got.numel() // SAMPLE)
    few = got.reshape(-1)[::step].double() - reference.double[spec.name].reshape(-1)[::step].double()
    margin = bars.rel_max + reference.own_error[spec.name]
    if _largest(few) > 2 * margin * reference.scale[spec.name]:
        return False
    return within_bars(got, spec, reference, bars)[2]


def _constant(expected: torch.Tensor) -> torch.Tensor:
    values = expected.double()
    return values.mean().expand(values.shape) if values.numel() else values


def _copy(tensor: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor | None:
    return tensor.double().reshape(shape) if tensor.numel() == math.prod(shape) else None
