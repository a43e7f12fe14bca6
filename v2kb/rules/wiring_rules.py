"""Rules R46 to R53, on tasks that the runtime starts: ids, descriptors, the task_offset list, arity, rebuilding."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from v2kb.rules.field_words import field_words, to_enter
from v2kb.rules.rule_registry import ERROR, INFO, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView
from v2kb.rules.task_ids import (
    HOPPER_TMA_IDS,
    KNOWN_PLACEHOLDERS,
    KNOWN_TASKS,
    MULTI_GPU_END,
    MULTI_GPU_START,
    TMA_IDS,
    has_descriptors,
    next_free,
)

TABLE = "wiring.tasks"
MAX_INPUTS, MAX_OUTPUTS = 14, 3
_TUPLE = re.compile(r"\(?\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)?")
JIT, LIBRARY = "A", "B"


@dataclass(frozen=True, slots=True)
class Asked:
    """One row of the wiring table with the name that messages use."""

    path: str
    source: Mapping[str, str]
    name: str


def _rows(view: SpecView, report: Reporter) -> list[Asked]:
    """The rows of the wiring table; where the runtime starts the tasks and there is none, that is a missing input.

    A consumer-only op may come without one as long as no contract places it inside the megakernel.
    """
    rows = view.doc["wiring"]["tasks"]
    if rows:
        return [
            Asked(f"{TABLE}[{index}]", row, row["type"] or row["enum"] or f"Row {index + 1}")
            for index, row in enumerate(rows)
        ]
    needed = ("A", "B", "C") if view.contracts else ("A", "C", "")
    if view.in_megakernel and view.family in needed:
        message = "The spec doesn't say how its tasks are wired into the runtime."
        report.missing(Missing(TABLE, message, "Add a row per task type: enum, id, descriptors, arity."))
    else:
        report.skip("The runtime starts no task of this spec that would need a wiring table.")
    return []


def _answer(report: Reporter, row: Asked, name: str, what: str) -> str:
    """The answer in a cell of the row; "" after reporting that it is missing."""
    if not row.source[name]:
        path = f"{row.path}.{name}"
        message = f"{row.name}: {field_words(path)} is not stated, {what}."
        report.missing(Missing(path, message, to_enter(path, "Answer yes or no.")))
    return row.source[name]


def _numbers(view: SpecView, report: Reporter, row: Asked, *names: str) -> tuple[int, ...] | None:
    values = view.row(row.path, row.source, names).values
    absent = {name: value for name, value in values.items() if isinstance(value, Missing)}
    for name, value in absent.items():
        if value.is_empty:
            fix = f"{value.fix[:-1]}{_free_id(view, row)}." if name == "id" else value.fix
            value = replace(value, message=f"{row.name}: {field_words(value.path)} is not given.", fix=fix)
        report.missing(value)
    return None if absent else tuple(values[name] for name in names)


def _placeholders(view: SpecView) -> dict[str, int]:
    """Placeholder enums of the tree: those that are known, and those of the spec, which win."""
    given = {name: view.field(f"wiring.placeholders.{name}") for name in view.doc["wiring"]["placeholders"]}
    return {**KNOWN_PLACEHOLDERS, **{name: value for name, value in given.items() if isinstance(value, int)}}


def _free_id(view: SpecView, row: Asked) -> str:
    """The end of a sentence that asks for an id: which one is free as far as the app and the spec know its tree."""
    tree, tma = row.source["tree"], row.source["tma"] == "yes"
    rows = enumerate(view.doc["wiring"]["tasks"])
    ids = [view.number(f"{TABLE}[{index}].id", other["id"]) for index, other in rows if other["tree"] == tree]
    taken = [number for number in ids if isinstance(number, int)]
    free = next_free(tree, taken, _placeholders(view).values(), tma=tma)
    return "" if free is None else f", such as {free}, the next one that is not known to be taken in {tree}"


@spec_rule(
    "R46",
    severity=ERROR,
    title="Task ids",
    source="wiring-recipe section 1",
    formula="the id is unique among the tasks of its tree; W: no placeholder has it, no literal repeats it",
    inputs=(
        "wiring.tasks[].enum",
        "wiring.tasks[].id",
        "wiring.tasks[].tree",
        "wiring.tasks[].literal_elsewhere",
        "wiring.placeholders",
    ),
)
def r46(view: SpecView, report: Reporter, context: Context) -> None:
    taken: dict[tuple[str, int], str] = {}
    for row in _rows(view, report):
        tree = _answer(report, row, "tree", "the tree that its id belongs to")
        if not row.source["enum"]:
            report.missing(Missing(f"{row.path}.enum", f"{row.name}: enum is not given.", "Name it as in TASK_OP_V2."))
        if _answer(report, row, "literal_elsewhere", "whether its id is written as a number elsewhere") == "yes":
            report.add(
                f"{row.path}.literal_elsewhere",
                f"The id of {row.name} is written as a number elsewhere; ids move at every merge.",
                "Use the enum's name there.",
                severity=WARNING,
            )
        values = _numbers(view, report, row, "id")
        if values is None:
            continue
        if tree:
            _judge_unique(view, report, row, (tree, values[0]), taken)
        for name, value in _placeholders(view).items():
            if value == values[0]:
                report.add(
                    f"{row.path}.id",
                    f"{row.name} has the id {value}, the same number as the placeholder {name}.",
                    f"Nothing is known to read the placeholder; take another id if you can{_free_id(view, row)}.",
                    severity=WARNING,
                    id=value,
                    placeholder=name,
                )


def _judge_unique(
    view: SpecView, report: Reporter, row: Asked, place: tuple[str, int], taken: dict[tuple[str, int], str]
) -> None:
    """Compare an id of a tree with the tree's known tasks and with the rows before; `taken` remembers it."""
    tree, number = place
    enum = row.source["enum"]
    known = {value: name for name, value in KNOWN_TASKS.get(tree, {}).items() if name != enum}
    other = taken.get(place) or known.get(number)
    if other:
        report.add(
            f"{row.path}.id",
            f"{row.name} has the id {number}, which {other} has in {tree}.",
            f"Take a free id{_free_id(view, row)}.",
            id=number,
            taken_by=other,
        )
    taken[place] = enum or row.name


@spec_rule(
    "R47",
    severity=ERROR,
    title="Descriptors of TMA tasks",
    source="wiring-recipe section 1; the grouped GEMM's appendix 10.5, Q4",
    formula="TMA: 231 < id < 256 or explicit descriptor entries; no TMA: id outside",
    inputs=("wiring.tasks[].id", "wiring.tasks[].tma", "wiring.tasks[].descriptor_entries"),
)
def r47(view: SpecView, report: Reporter, context: Context) -> None:
    low, high = TMA_IDS
    for row in _rows(view, report):
        tma = _answer(report, row, "tma", "whether it reads through TMA descriptors")
        values = _numbers(view, report, row, "id")
        if values is None or not tma:
            continue
        (number,) = values
        inside = has_descriptors(number)
        if tma == "no":
            if inside:
                report.add(
                    f"{row.path}.id",
                    f"{row.name} reads no TMA descriptor, and its id {number} lies between {low} and {high}, where "
                    "descriptors are made for it.",
                    f"Take an id outside {low} to {high}.",
                    id=number,
                )
        elif not inside and _answer(report, row, "descriptor_entries", "whether descriptors are made for it") == "no":
            report.add(
                f"{row.path}.id",
                f"{row.name} reads TMA descriptors, and nothing makes them: its id {number} is not between {low} and "
                f"{high}, and it has no entries of its own.",
                "Add it to the runtime's list and to the create and fill cases, or take an id inside.",
                id=number,
            )


@spec_rule(
    "R48",
    severity=WARNING,
    title="Other ranges of ids",
    source="wiring-recipe section 1",
    formula="W: 150 < id < 198 (Hopper TMA); I: 300 <= id <= MULTIGPU_TASK_END (multi-GPU, placeholders only)",
    inputs=("wiring.tasks[].id", "wiring.placeholders"),
)
def r48(view: SpecView, report: Reporter, context: Context) -> None:
    low, high = HOPPER_TMA_IDS
    end = _placeholders(view)[MULTI_GPU_END]
    for row in _rows(view, report):
        values = _numbers(view, report, row, "id")
        if values is None:
            continue
        (number,) = values
        if low < number < high:
            report.add(
                f"{row.path}.id",
                f"{row.name} has the id {number}, inside the range of Hopper TMA tasks ({low} to {high}) that the "
                "generated code checks.",
                "Take an id outside that range.",
                id=number,
            )
        elif MULTI_GPU_START <= number <= end:
            report.add(
                f"{row.path}.id",
                f"{row.name} has the id {number}, inside the nominal multi-GPU range ({MULTI_GPU_START} to {end}).",
                "Harmless while nothing tests that range; check it at each merge.",
                severity=INFO,
                id=number,
            )


@spec_rule(
    "R49",
    severity=ERROR,
    title="The task_offset list",
    source="wiring-recipe section 6",
    formula="a body that indexes by tile or CTA has its enum in the task_offset list",
    inputs=("wiring.tasks[].indexed_by", "wiring.tasks[].in_offset_list", "granularity[].type"),
)
def r49(view: SpecView, report: Reporter, context: Context) -> None:
    for row in _rows(view, report):
        indexed = _answer(report, row, "indexed_by", "what its body takes its tile from")
        if indexed == "task_offset":
            listed = _answer(report, row, "in_offset_list", "whether its enum is in the task_offset list")
            if listed == "no":
                report.add(
                    f"{row.path}.in_offset_list",
                    f"{row.name} indexes by task_offset and is not in the task_offset list: the field stays -1.",
                    "Add the enum to the list.",
                )
        elif indexed == "nothing":
            tasks = _tasks_of(view, row.source["type"])
            if tasks > 1:
                report.add(
                    f"{row.path}.indexed_by",
                    f"{row.name} becomes {tasks:,} tasks, and its body can't tell which tile is its own.",
                    "Index by task_offset, and put the enum into the task_offset list.",
                    tasks=tasks,
                )


def _tasks_of(view: SpecView, kind: str) -> int:
    """Tasks of this type, as far as their counts have a value."""
    counts = [row.values["num_tasks"] for row in view.tasks if kind and row.source["type"] == kind]
    return sum(count for count in counts if isinstance(count, int))


@spec_rule(
    "R50",
    severity=ERROR,
    title="Arity",
    source="wiring-recipe sections 4, 5 and 7",
    formula="inputs <= 14, outputs <= 3; register split = inputs; graph tuple = (inputs, outputs); "
    "wrapper = inputs + outputs",
    inputs=tuple(
        f"wiring.tasks[].{name}" for name in ("inputs", "outputs", "register_split", "graph_tuple", "wrapper_inputs")
    ),
)
def r50(view: SpecView, report: Reporter, context: Context) -> None:
    for row in _rows(view, report):
        values = _numbers(view, report, row, "inputs", "outputs", "register_split", "wrapper_inputs")
        pair = _graph_tuple(report, row)
        if values is None:
            continue
        inputs, outputs, split, wrapper = values
        limits = (("inputs", inputs, MAX_INPUTS), ("outputs", outputs, MAX_OUTPUTS))
        for name, count, most in limits:
            if not 0 <= count <= most:
                message = f"{row.name} has {count:,} {name}; a task has at most {most}."
                report.add(f"{row.path}.{name}", message, "Merge tensors, or split the task.", count=count)
        said = f"{row.name} has {inputs} inputs and {outputs} outputs"
        fix = "Make the spec, the register split, the graph tuple and the wrapper agree."
        if split != inputs:
            report.add(f"{row.path}.register_split", f"{said}; the registration splits after {split}.", fix)
        if pair and pair != (inputs, outputs):
            report.add(f"{row.path}.graph_tuple", f"{said}; the graph's tuple says {pair[0]}, {pair[1]}.", fix)
        if wrapper != inputs + outputs:
            message = f"{said}; the wrapper adds {wrapper} tensors, not {inputs + outputs}."
            report.add(f"{row.path}.wrapper_inputs", message, fix)


def _graph_tuple(report: Reporter, row: Asked) -> tuple[int, int] | None:
    written = row.source["graph_tuple"]
    found = _TUPLE.fullmatch(written)
    if found:
        return int(found.group(1)), int(found.group(2))
    message = (
        f"{row.name}: graph tuple {written} is no pair of counts."
        if written
        else f"{row.name}: graph tuple is not given."
    )
    report.missing(
        Missing(f"{row.path}.graph_tuple", message, "Write the numbers of inputs and outputs, such as 5, 1.")
    )
    return None


@spec_rule(
    "R51",
    severity=ERROR,
    title="Parameters in the variant",
    source="wiring-recipe section 4",
    formula="each behavioural parameter is in the emitted variant string",
    inputs=("wiring.tasks[].parameters", "wiring.tasks[].variant_parameters"),
)
def r51(view: SpecView, report: Reporter, context: Context) -> None:
    rows = _rows(view, report)
    for row in rows:
        absent = [name for name in row.source["parameters"] if name not in row.source["variant_parameters"]]
        if absent:
            report.add(
                f"{row.path}.variant_parameters",
                f"{row.name}: {', '.join(absent)} not in the emitted variant string, so two variants would be one.",
                "Emit each parameter that changes what the body does.",
                absent=absent,
            )
    if rows and not any(row.source["parameters"] for row in rows):
        report.skip("No task has a parameter that changes what its body does.")


@spec_rule(
    "R52",
    severity=ERROR,
    title="Rank of the descriptor",
    source="ferret-v2-dispatch, note 1",
    formula="descriptor rank = dimensions of the copy instruction",
    inputs=("wiring.tasks[].tma", "wiring.tasks[].descriptor_rank", "wiring.tasks[].instruction_dimensions"),
)
def r52(view: SpecView, report: Reporter, context: Context) -> None:
    rows = _rows(view, report)
    copying = [row for row in rows if row.source["tma"] != "no"]
    for row in copying:
        tma = _answer(report, row, "tma", "whether it reads through TMA descriptors")
        values = _numbers(view, report, row, "descriptor_rank", "instruction_dimensions") if tma else None
        if values and values[0] != values[1]:
            report.add(
                f"{row.path}.instruction_dimensions",
                f"{row.name} loads with a {values[1]}-D instruction through a descriptor of rank {values[0]}, which is "
                "illegal.",
                "Match the instruction to the descriptor (zeros for dimensions of size 1), and drop qualifiers that "
                "its form doesn't take.",
                rank=values[0],
                dimensions=values[1],
            )
    if rows and not copying:
        report.skip("No task reads through a TMA descriptor.")


def rebuild_class(path: str) -> str:
    """Return what a change of this file costs: A (compiled at run time), B (the library), "" (neither)."""
    name = path.rpartition("/")[2].lower()
    if name.endswith((".cuh", ".cu")):
        return JIT
    return LIBRARY if name.endswith((".h", ".hpp", ".cc", ".cpp", ".pyx", ".pxd")) else ""


@spec_rule(
    "R53",
    severity=INFO,
    title="What has to be rebuilt",
    source="wiring-recipe section 9",
    formula=".cuh: class A, compiled at run time; spec.h, task_register, graph, runtime: class B, the library",
    inputs=("wiring.files[]",),
)
def r53(view: SpecView, report: Reporter, context: Context) -> None:
    if not _rows(view, report):
        return
    files = view.doc["wiring"]["files"]
    if not files:
        message = "The files that the wiring touches are not listed."
        report.missing(Missing("wiring.files", message, "List them; the class of a rebuild follows from them."))
        return
    library = [file["path"] for file in files if rebuild_class(file["path"]) == LIBRARY]
    if library:
        report.add(
            "wiring.files",
            f"Class B: a change of {', '.join(library)} needs the library rebuilt, or the planner and the kernel "
            "disagree.",
            "Rebuild the library after each such change; only bodies in .cuh files are compiled at run time.",
            library=library,
        )


WIRING_RULES: tuple[Rule, ...] = (r46, r47, r48, r49, r50, r51, r52, r53)
