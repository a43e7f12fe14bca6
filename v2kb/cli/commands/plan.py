"""The shared-memory planner over a spec, or over the queues of a task graph: pages, orders, peaks, and what the file
itself says of its plan.
"""

import argparse
import json
from typing import Any

from v2kb.cli.exits import BLOCKED, CLEAR, WARNINGS, CliError
from v2kb.cli.facts import Facts, facts_at_hand, say_notes
from v2kb.cli.files import read_text
from v2kb.cli.plan_text import graph_text, spec_text
from v2kb.cli.terminal import Terminal
from v2kb.rules.page_map import page_map, queue_map
from v2kb.rules.rule_registry import ERROR
from v2kb.rules.smem import Plan, PlanError, Region
from v2kb.rules.smem_rules import SMEM_PLAN_RULES, QueueOfSM, queue_of
from v2kb.rules.smem_sequence import TaskOnSM
from v2kb.rules.spec_check import check_file
from v2kb.rules.spec_markdown.draft import CHECKED, DOUBT
from v2kb.rules.spec_view import SpecView
from v2kb.rules.task_graph import NOT_COMPARED, GraphError, GraphPlan, plan_graph, read_task_graph

EXAMPLE = "v2kb plan task_graph.json --worker 3"
MAX_BYTES = 512 * 1024 * 1024
_RULES = tuple(rule.id for rule in SMEM_PLAN_RULES)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a spec (markdown, JSON) or a task graph (JSON); - reads standard input")
    parser.add_argument("--op", action="append", default=[], metavar="SLUG", help="an op that the spec is for")
    parser.add_argument("--worker", type=int, metavar="N", help="the tasks of this worker's queue, one by one")
    parser.add_argument("--all", action="store_true", help="every difference and overrun, however many lines")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: planned, 1: warnings or differences, 2: the planner refuses or bytes end past the capacity, 3: unreadable."""
    text = read_text(read.file, MAX_BYTES)
    raw = _graph_in(text)
    return _spec(read, terminal, text) if raw is None else _graph(read, terminal, raw)


def _graph_in(text: str) -> dict[str, Any] | None:
    """The task graph that a text holds; None for anything else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return raw if "all_tasks" in raw else None


# --- a spec ---


def _spec(read: argparse.Namespace, terminal: Terminal, text: str) -> int:
    facts = facts_at_hand(read.op)
    check = check_file(text, facts.report)
    if check.reading.unreadable:
        raise CliError(check.why_unreadable(read.file))
    document = facts.covered(check.reading.document)
    view = SpecView(document, facts.contracts(document))
    findings = [finding for finding in check.findings if finding["rule"] in _RULES]
    said = [p for p in check.reading.placements if p.state in (CHECKED, DOUBT) and any(map(_of_smem, p.where))]
    queue = _queue(view, facts) if isinstance(view.plan, Plan) and view.regions else QueueOfSM(())
    planned = {
        "kind": "spec",
        "map": page_map(view),
        "queue": queue_map(queue.tasks),
        "guessed": queue.guessed,
        "peak_pages": max((task.plan.page_count for task in queue.tasks), default=None),
        "high_byte": max((task.high_byte for task in queue.tasks), default=None),
        "findings": findings,
        "compared": [placement.as_document() for placement in said],
    }
    if terminal.json:
        terminal.document(planned)
    else:
        spec_text(terminal, read.file, planned)
    say_notes(terminal, facts)
    blocks = any(finding["severity"] == ERROR for finding in findings)
    return facts.exit_code(BLOCKED if blocks else WARNINGS if findings else CLEAR)


def _of_smem(path: str) -> bool:
    return path.startswith("smem")


def _queue(view: SpecView, facts: Facts) -> QueueOfSM:
    others = {code: SpecView(content) for code, content in facts.neighbours(view.written).items()}
    return queue_of(view, others)


# --- a task graph ---


def _graph(read: argparse.Namespace, terminal: Terminal, raw: dict[str, Any]) -> int:
    try:
        made = plan_graph(read_task_graph(raw))
    except GraphError as error:
        raise CliError(f"{read.file}: {error.path}: {error.message}", error.fix) from None
    if read.worker is not None and not 0 <= read.worker < len(made.workers):
        raise CliError(f"There is no worker {read.worker}.", f"{read.file} has {len(made.workers)} queues, from 0.")
    document = _graph_document(made)
    if terminal.json:
        terminal.document(document)
    else:
        graph_text(terminal, document, worker=read.worker, everything=read.all)
    if made.refused or document["overruns"]:
        return BLOCKED
    return WARNINGS if made.differences else CLEAR


def _graph_document(made: GraphPlan) -> dict[str, Any]:
    graph, shapes = made.graph, _shapes(made)
    places = {id(made.plans[regions]): place for place, regions in enumerate(shapes)}
    placings = _Placings()
    workers = [
        {
            "worker": number,
            "peak_pages": peak,
            "high_byte": max((task.high_byte for task in tasks), default=0),
            "tasks": [{"name": task.name, "placing": placings.of(task, places[id(task.plan)])} for task in tasks],
        }
        for number, (tasks, peak) in enumerate(zip(made.workers, made.peaks(), strict=True))
    ]
    return {
        "kind": "task_graph",
        "page_bytes": graph.geometry.page_bytes,
        "pages": graph.geometry.pages,
        "capacity_bytes": graph.geometry.capacity_bytes,
        "tasks": len(graph.tasks),
        "shapes": [_shape(made, regions, indexes) for regions, indexes in shapes.items()],
        "placings": placings.documents,
        "workers": workers,
        "overruns": [
            {
                "worker": worker["worker"],
                "place": place,
                "task": task["name"],
                "region": region["name"],
                "overrun_bytes": region["overrun_bytes"],
            }
            for worker in workers
            for place, task in enumerate(worker["tasks"])
            for region in placings.documents[task["placing"]]["regions"]
            if region["overrun_bytes"]
        ],
        "differences": [difference.as_document() for difference in made.differences],
        "says_a_plan": bool(graph.said) or any(task.said for task in graph.tasks),
        "not_compared": [name for name in NOT_COMPARED if any(name[13:] in task.said for task in graph.tasks)],
    }


class _Placings:
    """The ways in which tasks lie on an SM: tasks of one shape that meet the pages in one order lie alike, so there
    are few, and each stands in the document once.
    """

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}

    def of(self, task: TaskOnSM, shape: int) -> int:
        """The place of a task's way among `documents`."""
        way = shape, task.preferred_before
        if way not in self._known:
            self._known[way] = len(self.documents)
            (placed,) = queue_map((task,))
            self.documents.append({name: value for name, value in placed.items() if name != "name"} | {"shape": shape})
        return self._known[way]


def _shapes(made: GraphPlan) -> dict[tuple[Region, ...], list[int]]:
    """Regions -> the tasks that have just these, in the order of the first of each."""
    first: dict[tuple[Region, ...], list[int]] = {}
    for task in made.graph.tasks:
        first.setdefault(task.regions, []).append(task.index)
    return first


def _shape(made: GraphPlan, regions: tuple[Region, ...], indexes: list[int]) -> dict[str, Any]:
    plan = made.plans[regions]
    is_refused = isinstance(plan, PlanError)
    return {
        "tasks": len(indexes),
        "first_task": made.graph.tasks[indexes[0]].name,
        "total_bytes": sum(region.size_bytes for region in regions),
        "page_count": None if is_refused else plan.page_count,
        "refused": f"{regions[plan.index].name} could not be placed: {plan.reason}." if is_refused else "",
        "regions": [
            {
                "name": placement.region.name,
                "size_bytes": placement.region.size_bytes,
                "page": placement.page,
                "page_count": placement.page_count,
                "offset_bytes": placement.offset_bytes,
                "packed": placement.packed,
            }
            for placement in (plan.placed if is_refused else plan.placements)
        ],
    }
