"""The shared-memory planner of the runtime, reproduced exactly: which page each region of a task lands on.

A task has 14 pages of 16,384 B, but only 224,256 B in all, so that page 13 holds 11,264 B. Placement happens
on logical pages; physical pages are chosen afterwards from an order that the previous task on the same SM
leaves behind, and no capacity is checked there. `simulate` shows where that second step runs past the
capacity. Follows v2_smem_planner.py; house-style section 4 for the constants.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

PAGE_BYTES = 16_384
PAGES = 14
CAPACITY_BYTES = 230_400 - 6_144
TASK_ALIGNMENT = 1_024


@dataclass(frozen=True, slots=True)
class Geometry:
    """Page size and count may come from a task graph; the capacity never does."""

    page_bytes: int = PAGE_BYTES
    pages: int = PAGES
    capacity_bytes: int = CAPACITY_BYTES

    def usable_bytes(self, page: int) -> int:
        """Bytes of logical page `page` that lie below the capacity (11,264 for page 13)."""
        return max(0, min(self.page_bytes, self.capacity_bytes - page * self.page_bytes))


DEFAULT_GEOMETRY = Geometry()


@dataclass(frozen=True, slots=True)
class Region:
    """One region of a task. `page_count` -1 means derived from the size; sizes in bytes."""

    name: str
    size_bytes: int
    alignment: int = TASK_ALIGNMENT
    page_count: int = -1
    can_pack: bool = False
    release_step: int = 0
    contiguous: bool = True

    def page_need(self, geometry: Geometry = DEFAULT_GEOMETRY) -> int:
        """Pages that the planner counts for this region: the pinned number, else the size rounded up."""
        return self.page_count if self.page_count >= 0 else -(-self.size_bytes // geometry.page_bytes)

    def packable(self, geometry: Geometry = DEFAULT_GEOMETRY) -> bool:
        """True when the region may share a page: asked for, at most one page, and strictly less than one."""
        return self.can_pack and self.page_need(geometry) <= 1 and self.size_bytes < geometry.page_bytes


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one region lies on logical pages. `page` is -1 for a region of no bytes."""

    index: int
    region: Region
    page: int
    page_count: int
    offset_bytes: int
    packed: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A logical plan: placements in the order of the regions, and what was used."""

    placements: tuple[Placement, ...]
    page_count: int
    total_bytes: int
    high_byte: int
    geometry: Geometry = DEFAULT_GEOMETRY


class PlanError(ValueError):
    """The planner refuses the region at `index`.

    `code` is one of negative_size, bad_alignment, page_count_too_small, not_contiguous, no_run, no_gap,
    last_page; `needed_bytes` is set for last_page: the bytes needed there. `placed` holds what was placed
    before the refusal.
    """

    def __init__(self, code: str, index: int, reason: str, needed_bytes: int = 0) -> None:
        super().__init__(reason)
        self.code = code
        self.index = index
        self.reason = reason
        self.needed_bytes = needed_bytes
        self.placed: tuple[Placement, ...] = ()


def check_region(index: int, region: Region, geometry: Geometry = DEFAULT_GEOMETRY) -> None:
    """Raise PlanError for a region that the planner refuses to read."""
    if region.size_bytes < 0:
        raise PlanError("negative_size", index, f"its size is {region.size_bytes:,} B")
    if region.alignment <= 0 or region.alignment & (region.alignment - 1):
        raise PlanError("bad_alignment", index, f"alignment {region.alignment:,} is not a power of two")
    if region.page_count >= 0 and region.page_count * geometry.page_bytes < region.size_bytes:
        raise PlanError(
            "page_count_too_small",
            index,
            f"page_count {region.page_count} holds {region.page_count * geometry.page_bytes:,} B "
            f"and the region has {region.size_bytes:,} B",
        )
    if not region.contiguous:
        raise PlanError("not_contiguous", index, "the planner takes contiguous regions only")


@dataclass(slots=True)
class _Pages:
    """Logical pages while a plan grows: whole bookings, and the spans of packed regions."""

    geometry: Geometry
    whole: set[int] = field(default_factory=set)
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def empty(self, page: int) -> bool:
        return page not in self.whole and page not in self.spans

    def find_run(self, size_bytes: int, count: int) -> tuple[int | None, int | None]:
        """First run of empty pages that fits, and the first that only the capacity refuses."""
        refused = None
        for start in range(self.geometry.pages - count + 1):
            if all(self.empty(page) for page in range(start, start + count)):
                if start * self.geometry.page_bytes + size_bytes <= self.geometry.capacity_bytes:
                    return start, None
                refused = start if refused is None else refused
        return None, refused

    def find_gap(self, page: int, size_bytes: int, alignment: int, limit_bytes: int) -> int | None:
        """First aligned offset with `size_bytes` free on `page` below `limit_bytes`."""
        if page in self.whole:
            return None
        offset = 0
        for start, end in sorted(self.spans.get(page, ())):
            if offset + size_bytes <= start:
                break
            offset = max(offset, -(-end // alignment) * alignment)
        return offset if offset + size_bytes <= limit_bytes else None


def plan(regions: Sequence[Region], geometry: Geometry = DEFAULT_GEOMETRY) -> Plan:
    """Place `regions` (in ordinal order) on logical pages. Raises PlanError at the first that cannot be
    placed.
    """
    for index, region in enumerate(regions):
        check_region(index, region, geometry)
    pages = _Pages(geometry)
    placed: dict[int, Placement] = {}
    order = sorted(
        range(len(regions)),
        key=lambda i: (
            regions[i].packable(geometry),
            -regions[i].page_need(geometry),
            -regions[i].size_bytes,
        ),
    )
    for index in order:
        try:
            placed[index] = _place(pages, index, regions[index])
        except PlanError as error:
            error.placed = tuple(placed[i] for i in sorted(placed))
            raise
    placements = tuple(placed[index] for index in range(len(regions)))
    return Plan(
        placements=placements,
        page_count=len(pages.whole | set(pages.spans)),
        total_bytes=sum(region.size_bytes for region in regions),
        high_byte=max(
            (p.page * geometry.page_bytes + p.offset_bytes + p.region.size_bytes for p in placements if p.page >= 0),
            default=0,
        ),
        geometry=geometry,
    )


def _place(pages: _Pages, index: int, region: Region) -> Placement:
    if region.size_bytes == 0:
        return Placement(index, region, -1, 0, 0, False)
    return (_place_packed if region.packable(pages.geometry) else _place_whole)(pages, index, region)


def _place_whole(pages: _Pages, index: int, region: Region) -> Placement:
    geometry = pages.geometry
    count = region.page_need(geometry)
    start, refused = pages.find_run(region.size_bytes, count)
    if start is not None:
        pages.whole.update(range(start, start + count))
        return Placement(index, region, start, count, 0, False)
    if refused is not None:
        last = refused + count - 1
        needed = region.size_bytes - (count - 1) * geometry.page_bytes
        reason = f"the free run ends on page {last}, which has {geometry.usable_bytes(last):,} usable bytes"
        raise PlanError("last_page", index, reason, needed)
    noun = "page" if count == 1 else f"run of {count} pages"
    raise PlanError("no_run", index, f"no empty {noun} is left")


def _place_packed(pages: _Pages, index: int, region: Region) -> Placement:
    geometry = pages.geometry
    for page in range(geometry.pages):
        limit = geometry.usable_bytes(page)
        offset = pages.find_gap(page, region.size_bytes, region.alignment, limit)
        if offset is not None:
            pages.spans.setdefault(page, []).append((offset, offset + region.size_bytes))
            return Placement(index, region, page, 1, offset, True)
    last = geometry.pages - 1
    offset = pages.find_gap(last, region.size_bytes, region.alignment, geometry.page_bytes)
    if offset is not None:
        reason = f"the only gap is on page {last}, which has {geometry.usable_bytes(last):,} usable bytes"
        raise PlanError("last_page", index, reason, offset + region.size_bytes)
    raise PlanError("no_gap", index, f"no page has an aligned gap of {region.size_bytes:,} B")


def pages_needed(regions: Sequence[Region], geometry: Geometry = DEFAULT_GEOMETRY) -> int:
    """Pages that `regions` would take without limits. Raises PlanError for unreadable ones."""
    for index, region in enumerate(regions):
        check_region(index, region, geometry)
    packed = [region for region in regions if region.packable(geometry)]
    whole = sum(region.page_need(geometry) for region in regions if region.size_bytes and not region.packable(geometry))
    endless = Geometry(geometry.page_bytes, len(packed), len(packed) * geometry.page_bytes)
    return whole + plan(packed, endless).page_count
