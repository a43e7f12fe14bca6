"""Task graphs of the runtime: worked numbers of the planner over queues, and what a file says of its own plan."""

import pytest

from v2kb.rules.smem import Plan
from v2kb.rules.task_graph import GraphError, plan_graph, read_task_graph


def region(name: str, size: int, alignment: int = 1024, **changes) -> dict:
    return {"name": name, "size": size, "alignment": alignment, "page_count": -1, "can_pack": False,
            "release_step": 1, "contiguous": True} | changes  # fmt: skip


def linear(late: bool = False) -> list[dict]:
    """Six stages of W and A and a scratch; `late`: released stage by stage."""
    stages = [region(f"W{s}", 32768, release_step=s + 1 if late else 1) for s in range(6)]
    stages += [region(f"A{s}", 4096, can_pack=True, release_step=s + 1 if late else 1) for s in range(6)]
    return [*stages, region("scratch", 16, 16, can_pack=True, release_step=7 if late else 1)]


def grouped(stages: int = 8) -> list[dict]:
    return [*(region(f"W{s}", 16384, page_count=1) for s in range(stages)), region("BSF", stages * 3072 + 16)]


def graph(queues: list[list[int]]) -> dict:
    """Two tasks without regions, a linear, a grouped product, a linear, two grouped products."""
    kinds = ((901, []), (902, []), (245, linear(late=True)), (356, grouped()), (245, linear(late=True)),
             (356, grouped()), (356, grouped()))  # fmt: skip
    tasks = [{"task_type": kind, **({"smem_regions": regions} if regions else {})} for kind, regions in kinds]
    return {"all_tasks": tasks, "all_events": [], "first_tasks": [], "v2_worker_task_queues": queues}


def chain() -> dict:
    return graph([[2, 3, 4], [5, 6]])


def overruns(raw: dict) -> list[tuple[int, int, str, int]]:
    made = plan_graph(read_task_graph(raw))
    return [
        (worker, place, region.placement.region.name, region.overrun_bytes)
        for worker, tasks in enumerate(made.workers)
        for place, task in enumerate(tasks)
        for region in task.overruns
    ]


def test_worked_numbers_of_chains():
    """Spec-rules section 3.0.1: linear, grouped, linear; and two grouped products on one SM."""
    assert overruns(chain()) == [(0, 2, "A2", 1024), (0, 2, "A3", 5120), (1, 1, "W3", 5120)]
    early = chain()
    for index in (2, 4):
        early["all_tasks"][index]["smem_regions"] = linear()
    assert overruns(early) == [(1, 1, "W3", 5120)]


def test_a_task_without_regions_passes_the_order_of_pages_on():
    raw = graph([[5, 0, 6]])
    assert overruns(raw) == [(0, 2, "W3", 5120)]


def test_a_task_that_is_refused_is_named_and_passed_over():
    raw = graph([[2, 3]])
    raw["all_tasks"][2]["smem_regions"] = grouped(11)
    made = plan_graph(read_task_graph(raw))
    assert made.refused == (2,)
    assert [task.name for task in made.workers[0]] == ["task 3 (type 356)"]
    assert made.peaks() == [10]


def test_the_geometry_may_come_from_the_file():
    raw = graph([[3]]) | {"v2_smem_config": {"page_size": 32768, "num_pages": 7}}
    raw["all_tasks"][3]["smem_regions"] = grouped(5)
    made = plan_graph(read_task_graph(raw))
    plan = made.plans[made.graph.tasks[3].regions]
    assert isinstance(plan, Plan)
    assert (plan.geometry.pages, plan.geometry.page_bytes) == (7, 32768)


SAID = {
    "page_size": 16384, "num_pages": 14, "capacity_bytes": 224_256, "num_workers": 2, "per_worker_peak_pages": [14, 10],
    "global_peak_pages": 14, "invalid_plan_tasks": 0, "page_planned_tasks": 5, "zero_page_tasks": 2, "version": 1,
}  # fmt: skip


def differences(raw: dict) -> list[tuple]:
    return [(d.path, d.said, d.planned) for d in plan_graph(read_task_graph(raw)).differences]


def test_a_file_that_says_what_the_planner_gives_has_no_differences():
    raw = chain() | {"v2_smem_planner": SAID}
    raw["all_tasks"][5] |= {
        "planned_smem_valid": True, "planned_smem_num_pages": 14, "planned_smem_used_page_count": 10,
        "planned_smem_peak_pages": 10, "planned_smem_used_pages": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
        "planned_smem_release_order": [10, 11, 12, 13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "planned_smem_failure": "",
    }  # fmt: skip
    assert differences(raw) == []
    raw["all_tasks"][5]["planned_smem_release_order"] = list(range(10))
    assert differences(raw) == []


@pytest.mark.parametrize("name", [name for name in SAID if name != "version"])
def test_each_number_of_the_summary_is_compared(name):
    said = [3] if name == "per_worker_peak_pages" else 3
    assert [path for path, *_ in differences(chain() | {"v2_smem_planner": SAID | {name: said}})] == [
        f"v2_smem_planner.{name}"
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [("valid", False), ("num_pages", 13), ("used_page_count", 9), ("peak_pages", 9), ("used_pages", [0, 1]),
     ("release_order", [0, 1]), ("used_pages", "all")],
)  # fmt: skip
def test_each_field_of_a_task_is_compared(name, said):
    raw = chain()
    raw["all_tasks"][5][f"planned_smem_{name}"] = said
    ((path, given, _),) = differences(raw)
    assert (path, given) == (f"all_tasks[5].planned_smem_{name}", said)


def test_a_plan_that_is_called_valid_and_is_none_is_a_difference():
    raw = graph([[3]])
    raw["all_tasks"][3] |= {"smem_regions": grouped(11), "planned_smem_valid": True}
    assert differences(raw) == [("all_tasks[3].planned_smem_valid", True, False)]


@pytest.mark.parametrize(
    "raw", [{"all_tasks": None}, {"all_tasks": [None]}, {"all_tasks": [], "v2_worker_task_queues": 3}]
)
def test_what_is_no_task_graph_raises_its_path(raw):
    with pytest.raises(GraphError):
        read_task_graph(raw)
