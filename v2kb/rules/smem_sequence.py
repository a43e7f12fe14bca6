"""Physical pages over the tasks that one SM runs in a row, and the bytes that pass the capacity there.

Follows v2_smem_planner.py: multi-page regions take the lowest free run, single pages follow the preferred
order that the previous task leaves behind. The planner checks no capacity in this step; `Overrun` is what
that can cost. It is arithmetic about the planner, not a defect seen on hardware.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from v2kb.rules.smem import DEFAULT_GEOMETRY, Geometry, Placement, Plan, Region, plan


@dataclass(frozen=True, slots=True)
class PhysicalRegion:
    """One placed region on physical pages; `start_byte` and `end_byte` count from the start of the task's
    memory.
    """

    placement: Placement
    pages: tuple[int, ...]
    start_byte: int
    end_byte: int
    overrun_bytes: int


@dataclass(frozen=True, slots=True)
class TaskOnSM:
    """One task of a queue: its plan, its physical regions, the preferred page orders around it."""

    name: str
    plan: Plan
    regions: tuple[PhysicalRegion, ...]
    preferred_before: tuple[int, ...]
    preferred_after: tuple[int, ...]

    @property
    def overruns(self) -> tuple[PhysicalRegion, ...]:
        """Regions that end past the capacity."""
        return tuple(region for region in self.regions if region.overrun_bytes > 0)

    @property
    def high_byte(self) -> int:
        """Highest byte in use, exclusive."""
        return max((region.end_byte for region in self.regions), default=0)


def fresh_order(geometry: Geometry = DEFAULT_GEOMETRY) -> tuple[int, ...]:
    """The preferred order of an SM that has run nothing: 0, 1, 2, ..."""
    return tuple(range(geometry.pages))


def assign_pages(logical: Plan, preferred: Sequence[int]) -> tuple[PhysicalRegion, ...]:
    """Map a logical plan to physical pages; `preferred` is the order for single pages. Result in region
    order.
    """
    geometry = logical.geometry
    free = set(range(geometry.pages))
    mapped: dict[int, int] = {}
    several = [p for p in logical.placements if p.page >= 0 and p.page_count > 1]
    for placement in sorted(several, key=lambda p: -p.page_count):
        count = placement.page_count
        start = next(s for s in range(geometry.pages - count + 1) if free.issuperset(range(s, s + count)))
        for step in range(count):
            mapped[placement.page + step] = start + step
            free.discard(start + step)
    for placement in logical.placements:
        if placement.page >= 0 and placement.page_count == 1 and placement.page not in mapped:
            page = next(p for p in preferred if p in free)
            mapped[placement.page] = page
            free.discard(page)
    return tuple(_physical(placement, mapped, geometry) for placement in logical.placements)


def _physical(placement: Placement, mapped: dict[int, int], geometry: Geometry) -> PhysicalRegion:
    pages = tuple(mapped[placement.page + step] for step in range(placement.page_count))
    start = pages[0] * geometry.page_bytes + placement.offset_bytes if pages else 0
    end = start + placement.region.size_bytes
    return PhysicalRegion(placement, pages, start, end, max(0, end - geometry.capacity_bytes))


def next_order(regions: Sequence[PhysicalRegion], before: Sequence[int]) -> tuple[int, ...]:
    """Preferred order for the next task: unused pages first, then by last release step, then by page number.

    A task without regions passes the order on as it is.
    """
    if not regions:
        return tuple(before)
    steps: dict[int, int] = {}
    for region in regions:
        for page in region.pages:
            steps[page] = max(steps.get(page, -1), region.placement.region.release_step)
    return tuple(sorted(range(len(before)), key=lambda page: (steps.get(page, -1), page)))


def run_task(name: str, logical: Plan, preferred: Sequence[int]) -> TaskOnSM:
    """Place one planned task on an SM whose pages are preferred in the given order."""
    regions = assign_pages(logical, preferred)
    return TaskOnSM(name, logical, regions, tuple(preferred), next_order(regions, preferred))


def simulate(
    queue: Sequence[tuple[str, Sequence[Region]]], geometry: Geometry = DEFAULT_GEOMETRY
) -> tuple[TaskOnSM, ...]:
    """Run a queue of (name, regions) on a fresh SM. Raises PlanError when a task has no logical plan."""
    preferred = fresh_order(geometry)
    plans: dict[tuple[Region, ...], Plan] = {}
    tasks = []
    for name, regions in queue:
        key = tuple(regions)
        if key not in plans:
            plans[key] = plan(key, geometry)
        task = run_task(name, plans[key], preferred)
        preferred = task.preferred_after
        tasks.append(task)
    return tuple(tasks)


def repeat_until_settled(
    name: str, regions: Sequence[Region], geometry: Geometry = DEFAULT_GEOMETRY, limit: int = 64
) -> tuple[TaskOnSM, ...]:
    """Run the same task on one SM again and again until its page order comes back (or `limit` runs)."""
    logical = plan(regions, geometry)
    preferred = fresh_order(geometry)
    seen: set[tuple[int, ...]] = set()
    tasks: list[TaskOnSM] = []
    while preferred not in seen and len(tasks) < limit:
        seen.add(preferred)
        task = run_task(name, logical, preferred)
        preferred = task.preferred_after
        tasks.append(task)
    return tuple(tasks)
