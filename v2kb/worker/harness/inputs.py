"""From an op contract to tensors: shapes of a workload, seeds, conditioning profiles."""

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import torch

from v2kb.rules.expressions import ExpressionError, evaluate_whole
from v2kb.worker.harness.tensorfile import DTYPES

PROFILES = ("random", "large_range", "near_zero", "ill_conditioned")
MAX_ELEMENTS = 2**34
DTYPE_ALIASES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "fp32": "float32",
    "float": "float32",
    "fp64": "float64",
    "double": "float64",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
}


class ContractError(ValueError):
    """The op contract can't be measured; the text names the field and what to write."""


@dataclass(frozen=True)
class TensorSpec:
    """One input or output of a workload, with whole-number shape."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    kind: str
    layout: str
    in_place: bool

    @property
    def size_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Tolerance:
    cos_min: float
    rel_max: float


@dataclass(frozen=True)
class Workload:
    name: str
    profile: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    tolerance: Tolerance


def find_workload(contract: dict[str, Any], name: str) -> Workload:
    """Return the named workload with every shape worked out. Raises ContractError."""
    found = [item for item in _list(contract, "workloads") if item.get("name") == name]
    if not found:
        raise ContractError(f"The contract has no workload named {name!r}.")
    profile = found[0].get("profile") or "random"
    if profile not in PROFILES:
        raise ContractError(f"Workload {name}: profile {profile!r} is unknown; use one of {', '.join(PROFILES)}.")
    sizes = _axis_sizes(contract, found[0])
    inputs = tuple(_tensor(item, sizes, name) for item in _list(contract, "inputs"))
    outputs = tuple(_tensor(item, sizes, name) for item in _list(contract, "outputs"))
    if not outputs:
        raise ContractError("The contract names no outputs; name at least one.")
    for side, tensors in (("inputs", inputs), ("outputs", outputs)):
        if len({tensor.name for tensor in tensors}) != len(tensors):
            raise ContractError(f"Two {side} of the contract have the same name; rename one.")
    return Workload(name, profile, inputs, outputs, read_tolerance(contract))


def read_tolerance(contract: dict[str, Any]) -> Tolerance:
    """Return the contract's bars; cosine at least 0.999 and rel_max at most 0.03 where it names none."""
    policy = contract.get("tolerance") or {}
    try:
        tolerance = Tolerance(float(policy.get("cos_min") or "0.999"), float(policy.get("rel_max") or "0.03"))
    except (TypeError, ValueError, AttributeError) as error:
        raise ContractError("The contract's tolerance holds something that is no number.") from error
    if not (0 < tolerance.cos_min <= 1 and 0 <= tolerance.rel_max < 1):
        raise ContractError("The contract's tolerance must have cos_min in (0, 1] and rel_max in [0, 1).")
    return tolerance


def _list(contract: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = contract.get(key) or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ContractError(f"The contract's {key} must be a list of objects.")
    return items


def _axis_sizes(contract: dict[str, Any], workload: dict[str, Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    given = workload.get("axes") or {}
    for axis, rule in (contract.get("axes") or {}).items():
        value = given.get(axis)
        if value is None and isinstance(rule, dict):
            value = rule.get("value")
        if value is None:
            raise ContractError(f"Workload {workload.get('name')}: give axis {axis!r} a size.")
        sizes[axis] = _whole(str(value), sizes, f"axis {axis}")
    for axis, value in given.items():
        sizes.setdefault(axis, _whole(str(value), sizes, f"axis {axis}"))
    return sizes


def _whole(text: str, sizes: dict[str, int], where: str) -> int:
    try:
        value = evaluate_whole(text, sizes)
    except ExpressionError as error:
        raise ContractError(f"{where}: {text!r} has no value. {error.message} {error.fix}") from error
    if value < 0:
        raise ContractError(f"{where}: {text!r} is negative.")
    return value


def _tensor(item: dict[str, Any], sizes: dict[str, int], workload: str) -> TensorSpec:
    name = item.get("name")
    if not isinstance(name, str) or not name or len(name) > 100:
        raise ContractError("Every input and output needs a name of at most 100 characters.")
    dtype = DTYPE_ALIASES.get(str(item.get("dtype")), str(item.get("dtype")))
    if dtype not in DTYPES:
        raise ContractError(f"{name}: dtype {item.get('dtype')!r} is unknown; use one of {', '.join(DTYPES)}.")
    shape = tuple(_whole(str(size), sizes, f"{name} of workload {workload}") for size in item.get("shape") or [])
    if math.prod(shape) > MAX_ELEMENTS:
        raise ContractError(f"{name}: {math.prod(shape)} elements in workload {workload} are more than can be run.")
    return TensorSpec(
        name,
        shape,
        DTYPES[dtype],
        str(item.get("kind") or "activation"),
        str(item.get("layout") or "row_major"),
        bool(item.get("in_place")),
    )


def tensor_seed(name: str, secret: str, *context: object) -> int:
    """Return the 63-bit seed of a tensor: sha1 of its name (public, equal for both sides) with the run's secret."""
    public = hashlib.sha1(name.encode()).hexdigest()
    mixed = hashlib.sha256("|".join([public, secret, *map(str, context)]).encode()).digest()
    return int.from_bytes(mixed[:8], "big") >> 1


def seed_label(secret: str, workload: str) -> str:
    """Return a hash that identifies a case's inputs without giving the secret away."""
    return hashlib.sha256(f"{secret}|{workload}".encode()).hexdigest()[:16]


def make_inputs(workload: Workload, secret: str, *context: object) -> dict[str, torch.Tensor]:
    """Return fresh CPU input tensors, in the contract's dtypes. `context` tells calls and rounds apart."""
    return {
        spec.name: _fill(spec, workload.profile, tensor_seed(spec.name, secret, workload.name, *context))
        for spec in workload.inputs
    }


def _fill(spec: TensorSpec, profile: str, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if spec.dtype is torch.bool:
        return torch.randint(0, 2, spec.shape, generator=generator).to(torch.bool)
    if not spec.dtype.is_floating_point:
        return torch.randint(0, 100, spec.shape, generator=generator).to(spec.dtype)
    values = torch.randn(spec.shape, generator=generator)
    if spec.kind == "scale":
        values = values.abs() * 0.25 + 0.25
    elif spec.kind == "weight":
        values = values * 0.5
    else:
        values = _condition(values, profile, generator)
    limit = torch.finfo(spec.dtype).max
    return values.clamp(-limit, limit).to(spec.dtype)


def _condition(values: torch.Tensor, profile: str, generator: torch.Generator) -> torch.Tensor:
    if profile == "near_zero":
        return values * 1e-4
    if profile == "large_range":  # magnitudes from 2^-6 to 2^6
        return values * torch.exp2(torch.randint(-6, 7, values.shape, generator=generator).float())
    if profile == "ill_conditioned" and values.dim():  # a large common offset, so that sums cancel
        return values + 16.0 * torch.sign(torch.randn(values.shape[-1:], generator=generator))
    return values
