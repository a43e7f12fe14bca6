"""The contract of an op: what it computes, on what shapes, where it lives in production, and how it is checked.

Source: domain page 2.1 and measurement page section 2.
"""

import ast
from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.numbers import read_decimal
from v2kb.rules.problem import Problem
from v2kb.rules.scope import ENVELOPES, read_scope

KINDS = ("gemm_pipeline", "gemv", "attention", "elementwise", "reduction", "collective", "other")
DTYPES = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "int64",
    "int32",
    "int8",
    "uint8",
)
SHARDINGS = ("rep", "col", "row", "ep", "vocab")
TARGETS = ("cpu", "sm_90", "sm_100")
PROFILES = ("random", "large_range", "near_zero")
TENSOR_KINDS = ("activation", "weight", "scale", "index")
MAX_ELEMENTS = 1 << 28

_NAME = shape.matching(r"[A-Za-z_][A-Za-z0-9_]{0,63}", 64, "Use letters, digits and underscores.")
_PROSE = shape.text(20_000, lines=True)
_DIMENSION = shape.matching(r"[A-Za-z_][A-Za-z0-9_]{0,63}|[1-9][0-9]{0,9}", 64, "Use an axis name or a whole number.")
_COUNT = shape.matching(r"[1-9][0-9]{0,9}", 10, "Use a whole number above 0.")


def _scope(value: Any, path: str, problems: shape.Problems) -> dict[str, Any]:
    scope, found = read_scope(value or {})
    problems += [problem.under(path) for problem in found]
    return scope


_TENSOR = {
    "name": _NAME,
    "shape": shape.rows(_DIMENSION, 8),
    "dtype": shape.one_of(*DTYPES, blank="float32"),
    "layout": shape.text(60, blank="row_major"),
    "kind": shape.one_of(*TENSOR_KINDS, blank="activation"),
}
_WORKLOAD = {
    "name": shape.matching(r"[a-z0-9][a-z0-9_.-]{0,79}", 80, "Use lower-case letters, digits, '_', '-' and '.'."),
    "axes": shape.named(r"[A-Za-z_][A-Za-z0-9_]{0,63}", _COUNT, 32, "Name axes of this contract."),
    "profile": shape.one_of(*PROFILES, blank="random"),
}
_AXIS = shape.record({"value": _COUNT, "symbol": shape.flag()})
_CONTRACT = {
    "title": shape.text(200),
    "kind": shape.one_of(*KINDS, blank="other"),
    "family": shape.one_of("A", "B", "C", "D", "E"),
    "answers": shape.named(r"[a-z_]{1,60}", shape.one_of("yes", "no"), 20, "Answer the family questions."),
    "axes": shape.named(r"[A-Za-z_][A-Za-z0-9_]{0,63}", _AXIS, 32, "Name axes such as rows or hidden."),
    "inputs": shape.rows(shape.record(_TENSOR), 14),
    "outputs": shape.rows(shape.record(_TENSOR), 3),
    "sharding": shape.one_of(*SHARDINGS, blank="rep"),
    "producers": shape.rows(shape.text(120), 14),
    "consumers": shape.rows(shape.text(120), 14),
    "envelope": shape.one_of(*ENVELOPES),
    "target": shape.one_of(*TARGETS),
    "grid": shape.matching(r"[1-9][0-9]{0,5}", 6, "Use a whole number of blocks."),
    "levers": shape.rows(shape.text(80), 64),
    "scope": _scope,
    "reference": _PROSE,
    "workloads": shape.rows(shape.record(_WORKLOAD), 64),
    "tolerance": shape.record({"cos_min": shape.decimal(), "rel_max": shape.decimal()}),
}
_READ = shape.record(_CONTRACT)
DEFAULT_TOLERANCE = {"cos_min": "0.999", "rel_max": "0.03"}


def empty_contract() -> dict[str, Any]:
    """The contract in which nothing has been filled in."""
    contract = _READ(None, "", [])
    contract["tolerance"] = dict(DEFAULT_TOLERANCE)
    return contract


def read_contract(raw: Any) -> tuple[dict[str, Any], list[Problem]]:
    """Return (canonical contract, problems). A contract with problems must not be stored. Never raises."""
    problems: list[Problem] = []
    contract = _READ(raw, "", problems)
    for name, default in DEFAULT_TOLERANCE.items():
        contract["tolerance"][name] = contract["tolerance"][name] or default
    _require(contract, problems)
    _check_axes(contract, problems)
    _check_workloads(contract, problems)
    _check_reference(contract["reference"], problems)
    _check_tolerance(contract["tolerance"], problems)
    return contract, problems


def _check_tolerance(tolerance: dict[str, str], problems: list[Problem]) -> None:
    """The bars of measurement section 2: a cosine above 0 and up to 1, a relative error from 0 up to below 1."""
    cos_min, rel_max = read_decimal(tolerance["cos_min"]), read_decimal(tolerance["rel_max"])
    if cos_min is None or not 0 < cos_min <= 1:
        problems.append(
            Problem("tolerance.cos_min", "The cosine must be above 0 and at most 1.", "The field's is 0.999.")
        )
    if rel_max is None or not 0 <= rel_max < 1:
        problems.append(
            Problem("tolerance.rel_max", "The relative error must be from 0 to below 1.", "The field's is 0.03.")
        )


def _require(contract: dict[str, Any], problems: list[Problem]) -> None:
    if not contract["title"]:
        problems.append(Problem("title", "The op has no title.", "Name it, for example 'RMS norm'."))
    if not contract["envelope"]:
        problems.append(
            Problem("envelope", "Where the op runs in production is not stated.", f"One of {', '.join(ENVELOPES)}.")
        )
    if not contract["target"]:
        problems.append(Problem("target", "The card it is meant for is not stated.", f"One of {', '.join(TARGETS)}."))
    if contract["envelope"] and contract["target"] and (contract["envelope"] == "cpu") != (contract["target"] == "cpu"):
        problems.append(
            Problem("target", "Envelope and target disagree about the CPU.", "Set both to cpu, or neither.")
        )
    for part in ("inputs", "outputs"):
        if not contract[part]:
            problems.append(Problem(part, f"The contract names no {part}.", "Add at least one tensor."))
        seen: set[str] = set()
        for index, tensor in enumerate(contract[part]):
            if not tensor["name"]:
                problems.append(Problem(f"{part}[{index}].name", "The tensor has no name.", "Name it, for example x."))
            elif tensor["name"] in seen:
                problems.append(Problem(f"{part}[{index}].name", f"{tensor['name']} is named twice.", "Rename one."))
            seen.add(tensor["name"])


def _check_axes(contract: dict[str, Any], problems: list[Problem]) -> None:
    axes = contract["axes"]
    for name, axis in axes.items():
        if not axis["value"] and not axis["symbol"]:
            problems.append(
                Problem(
                    f"axes.{name}",
                    "The axis has neither a value nor is it symbolic.",
                    "Give its value, or mark it symbolic.",
                )
            )
        if axis["value"] and axis["symbol"]:
            problems.append(Problem(f"axes.{name}", "The axis has a value and is symbolic.", "Keep one of the two."))
    for part in ("inputs", "outputs"):
        for index, tensor in enumerate(contract[part]):
            for place, dimension in enumerate(tensor["shape"]):
                if dimension and not dimension.isdigit() and dimension not in axes:
                    problems.append(
                        Problem(
                            f"{part}[{index}].shape[{place}]", f"There is no axis {dimension}.", "Add it to the axes."
                        )
                    )


def _check_workloads(contract: dict[str, Any], problems: list[Problem]) -> None:
    symbolic = {name for name, axis in contract["axes"].items() if axis["symbol"]}
    seen: set[str] = set()
    for index, workload in enumerate(contract["workloads"]):
        path = f"workloads[{index}]"
        if not workload["name"] or workload["name"] in seen:
            problems.append(
                Problem(f"{path}.name", "A workload needs a name of its own.", "For example decode_1x7168.")
            )
        seen.add(workload["name"])
        missing = sorted(symbolic - set(workload["axes"]))
        if missing:
            problems.append(
                Problem(
                    f"{path}.axes",
                    f"The axes {', '.join(missing)} have no value here.",
                    "Give each symbolic axis a value.",
                )
            )
        unknown = sorted(set(workload["axes"]) - symbolic)
        if unknown:
            problems.append(
                Problem(
                    f"{path}.axes",
                    f"{', '.join(unknown)} is no symbolic axis.",
                    "Remove it, or mark the axis symbolic.",
                )
            )
        if not missing and not unknown:
            _check_size(contract, workload, path, problems)


def _check_size(contract: dict[str, Any], workload: dict[str, Any], path: str, problems: list[Problem]) -> None:
    for tensor in (*contract["inputs"], *contract["outputs"]):
        elements = 1
        for dimension in resolve_shape(contract, tensor, workload):
            elements *= dimension
        if elements > MAX_ELEMENTS:
            problems.append(
                Problem(
                    f"{path}.axes",
                    f"{tensor['name']} would have {elements:,} elements; {MAX_ELEMENTS:,} are allowed.",
                    "Choose smaller axes.",
                )
            )


def resolve_shape(contract: dict[str, Any], tensor: dict[str, Any], workload: dict[str, Any]) -> list[int]:
    """The shape of `tensor` in `workload`, as whole numbers; an unknown axis counts as 1."""
    sizes = {name: axis["value"] for name, axis in contract["axes"].items() if axis["value"]} | workload["axes"]
    return [int(d) if d.isdigit() else int(sizes.get(d) or 1) for d in tensor["shape"] if d]


def _check_reference(source: str, problems: list[Problem]) -> None:
    if not source:
        return
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        problems.append(Problem("reference", f"The reference is not Python{where}: {error}.", "Correct it."))
        return
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if "reference" not in functions:
        problems.append(
            Problem(
                "reference",
                "The reference defines no function 'reference'.",
                "Write: def reference(inputs): return {'y': ...}",
            )
        )
