"""A task graph of the runtime (`task_graph.json`): what its tasks need, in which order each worker runs them, and how
what the file says it planned compares with the planner.

Sources: v2_smem_planner.py and runtime.cc. `planned_smem_valid` is always true there and `invalid_plan_tasks` always 0,
so that a plan is made anew here and never believed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from v2kb.rules.smem import CAPACITY_BYTES, PAGE_BYTES, PAGES, Geometry, Plan, PlanError, Region, plan
from v2kb.rules.smem_sequence import TaskOnSM, fresh_order, run_task

NOT_COMPARED = ("planned_smem_page_regions", "planned_smem_failure")
"""Fields whose form is not published."""
_REGION_FIELDS = {"size": "size_bytes", "alignment": "alignment", "page_count": "page_count",
                  "release_step": "release_step"}  # fmt: skip
_PLANNED = "planned_smem_"
_SUMMARY = "v2_smem_planner"
MAX_PAGES = 64


class GraphError(ValueError):
    """A task graph that can't be read: the path in it, what is wrong, and what to do."""

    def __init__(self, path: str, message: str, fix: str = "Export the task graph again.") -> None:
        super().__init__(f"{path}: {message}")
        self.path, self.message, self.fix = path, message, fix


@dataclass(frozen=True, slots=True)
class Task:
    """One entry of all_tasks. `said` holds its fields planned_smem_*, without that beginning."""

    index: int
    type: str
    regions: tuple[Region, ...]
    said: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"task {self.index} (type {self.type})" if self.type else f"task {self.index}"


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """`queues` hold, for each worker, indexes of tasks in the order in which it runs them."""

    geometry: Geometry
    tasks: tuple[Task, ...]
    queues: tuple[tuple[int, ...], ...]
    said: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """What the file says at `path`, and what the planner gives."""

    path: str
    said: Any
    planned: Any

    def as_document(self) -> dict[str, Any]:
        return {"path": self.path, "said": self.said, "planned": self.planned}


@dataclass(frozen=True)
class GraphPlan:
    """`plans` by the regions of a task, `workers` the tasks of each queue on its SM (refused ones are left out)."""

    graph: TaskGraph
    plans: Mapping[tuple[Region, ...], Plan | PlanError]
    workers: tuple[tuple[TaskOnSM, ...], ...]
    differences: tuple[Difference, ...]
    refused: tuple[int, ...]

    def pages(self, index: int) -> int:
        """Pages that a task uses; 0 for one that the planner refuses."""
        found = self.plans[self.graph.tasks[index].regions]
        return found.page_count if isinstance(found, Plan) else 0

    def peaks(self) -> list[int]:
        """The most pages that a task of each worker uses."""
        return [max(map(self.pages, queue), default=0) for queue in self.graph.queues]


# --- reading ---


def read_task_graph(raw: Any) -> TaskGraph:
    """Read the JSON of a task graph. Raises GraphError."""
    tasks = _list(raw.get("all_tasks"), "all_tasks")
    config = raw.get("v2_smem_config") or {}
    if not isinstance(config, Mapping):
        raise GraphError("v2_smem_config", "It is no set of fields.")
    geometry = Geometry(
        _whole(config, "page_size", "v2_smem_config", PAGE_BYTES, least=1),
        _whole(config, "num_pages", "v2_smem_config", PAGES, least=1, most=MAX_PAGES),
        CAPACITY_BYTES,
    )
    queues = []
    for worker, queue in enumerate(_list(raw.get("v2_worker_task_queues") or [], "v2_worker_task_queues")):
        path = f"v2_worker_task_queues[{worker}]"
        for place, index in enumerate(_list(queue, path)):
            if not _is_whole(index) or not 0 <= index < len(tasks):
                raise GraphError(f"{path}[{place}]", f"{str(index)[:40]} is no index of all_tasks.")
        queues.append(tuple(queue))
    said = raw.get(_SUMMARY)
    read = tuple(_task(index, task) for index, task in enumerate(tasks))
    return TaskGraph(geometry, read, tuple(queues), said if isinstance(said, Mapping) else {})


def _task(index: int, raw: Any) -> Task:
    path = f"all_tasks[{index}]"
    if not isinstance(raw, Mapping):
        raise GraphError(path, "A task is a set of fields.")
    regions = _list(raw.get("smem_regions") or [], f"{path}.smem_regions")
    said = {name.removeprefix(_PLANNED): value for name, value in raw.items() if name.startswith(_PLANNED)}
    read = tuple(_region(f"{path}.smem_regions[{place}]", place, region) for place, region in enumerate(regions))
    return Task(index, str(raw.get("task_type", "")), read, said)


def _region(path: str, place: int, raw: Any) -> Region:
    if not isinstance(raw, Mapping):
        raise GraphError(path, "A region is a set of fields.")
    if "size" not in raw:
        raise GraphError(f"{path}.size", "A region has no size.")
    numbers = {ours: _whole(raw, name, path, 0) for name, ours in _REGION_FIELDS.items() if name in raw}
    flags = {name: raw[name] for name in ("can_pack", "contiguous") if name in raw}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise GraphError(f"{path}.{name}", f"{str(value)[:40]} is neither true nor false.")
    return Region(str(raw.get("name") or f"region {place}"), **numbers, **flags)


def _whole(
    raw: Mapping[str, Any], name: str, path: str, blank: int, *, least: int | None = None, most: int | None = None
) -> int:
    value = raw.get(name, blank)
    if not _is_whole(value):
        raise GraphError(f"{path}.{name}", f"{str(value)[:40]} is no whole number.")
    if (least is not None and value < least) or (most is not None and value > most):
        raise GraphError(f"{path}.{name}", f"{value} is out of range.")
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise GraphError(path, "It must be a list.")
    return value


# --- planning ---


def plan_graph(graph: TaskGraph) -> GraphPlan:
    """Plan every task and follow every queue. A task that the planner refuses passes the page order on as it is."""
    plans = {regions: _planned(regions, graph.geometry) for regions in {task.regions for task in graph.tasks}}
    workers = tuple(tuple(_on_worker(graph, plans, queue)) for queue in graph.queues)
    refused = tuple(task.index for task in graph.tasks if isinstance(plans[task.regions], PlanError))
    made = GraphPlan(graph, plans, workers, (), refused)
    return GraphPlan(graph, plans, workers, tuple(_differences(made)), refused)


def _planned(regions: tuple[Region, ...], geometry: Geometry) -> Plan | PlanError:
    try:
        return plan(regions, geometry)
    except PlanError as error:
        return error


def _on_worker(
    graph: TaskGraph, plans: Mapping[tuple[Region, ...], Plan | PlanError], queue: Sequence[int]
) -> Iterator[TaskOnSM]:
    preferred = fresh_order(graph.geometry)
    for index in queue:
        task = graph.tasks[index]
        logical = plans[task.regions]
        if isinstance(logical, Plan):
            placed = run_task(task.name, logical, preferred)
            preferred = placed.preferred_after
            yield placed


def _differences(made: GraphPlan) -> Iterator[Difference]:
    graph = made.graph
    peaks = made.peaks()
    with_pages = sum(bool(made.pages(task.index)) for task in graph.tasks)
    whole = {
        "page_size": graph.geometry.page_bytes,
        "num_pages": graph.geometry.pages,
        "capacity_bytes": graph.geometry.capacity_bytes,
        "num_workers": len(graph.queues),
        "per_worker_peak_pages": peaks,
        "global_peak_pages": max(peaks, default=0),
        "invalid_plan_tasks": len(made.refused),
        "page_planned_tasks": with_pages,
        "zero_page_tasks": len(graph.tasks) - with_pages - len(made.refused),
    }
    yield from _unlike(_SUMMARY, graph.said, whole, whole)
    placed = dict(_placed(made))
    for task in graph.tasks:
        found = made.plans[task.regions]
        planned: dict[str, Any] = {"valid": isinstance(found, Plan), "num_pages": graph.geometry.pages}
        if isinstance(found, Plan):
            planned |= {"used_page_count": found.page_count, "peak_pages": found.page_count}
        if task.index in placed:
            planned |= _on_pages(placed[task.index], task.said)
        names = [name for name in task.said if name in planned]
        yield from _unlike(f"all_tasks[{task.index}].{_PLANNED}", task.said, planned, names, joint="")


def _placed(made: GraphPlan) -> Iterator[tuple[int, TaskOnSM]]:
    """Index of a task -> it on its SM, for tasks that one queue runs, once."""
    counts = Counter(index for queue in made.graph.queues for index in queue)
    refused = set(made.refused)
    for queue, tasks in zip(made.graph.queues, made.workers, strict=True):
        runs = [index for index in queue if index not in refused]
        yield from ((index, task) for index, task in zip(runs, tasks, strict=True) if counts[index] == 1)


def _on_pages(task: TaskOnSM, said: Mapping[str, Any]) -> dict[str, Any]:
    """The physical pages of a task, and their order of release: of those pages that the file lists."""
    used = sorted({page for region in task.regions for page in region.pages})
    order = said.get("release_order")
    listed = set(order) if isinstance(order, list) and all(map(_is_whole, order)) else set()
    listed = listed if listed == set(task.preferred_after) else set(used)
    return {"used_pages": used, "release_order": [page for page in task.preferred_after if page in listed]}


def _unlike(
    path: str, said: Mapping[str, Any], planned: Mapping[str, Any], names: Iterable[str], joint: str = "."
) -> Iterator[Difference]:
    for name in names:
        if name in said and _plain(name, said[name]) != planned[name]:
            yield Difference(f"{path}{joint}{name}", said[name], planned[name])


def _plain(name: str, value: Any) -> Any:
    """A value as it is compared: pages in use in their order, numbers and text as they are."""
    return sorted(value) if name == "used_pages" and isinstance(value, list) and all(map(_is_whole, value)) else value
