"""Rules R05 to R09: the rows of the region table, each by itself."""

from collections import Counter

from v2kb.rules.data_rules import tma_targets
from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.smem import PAGE_BYTES, TASK_ALIGNMENT
from v2kb.rules.smem_rules import REGIONS, has_regions, sized
from v2kb.rules.spec_view import Missing, Row, SpecView

MAX_REGIONS = 16


@spec_rule(
    "R05",
    severity=ERROR,
    title="Number of regions",
    source="house-style section 4; runtime_header.h",
    formula="number of regions <= 16",
    inputs=("smem.regions",),
)
def r05(view: SpecView, report: Reporter, context: Context) -> None:
    if has_regions(view, report) and view.region_count > MAX_REGIONS:
        report.add(
            REGIONS,
            f"{view.region_count} regions; the descriptor holds {MAX_REGIONS}.",
            "Fold small regions of the same life into one with slices.",
            regions=view.region_count,
        )


@spec_rule(
    "R06",
    severity=ERROR,
    title="Region ordinals and names",
    version=2,
    source="house-style section 4",
    formula="ordinals are 0..n-1 without gap or repeat, `slots` of them per row; names are unique",
    inputs=("smem.regions[].ordinal", "smem.regions[].slots", "smem.regions[].name"),
)
def r06(view: SpecView, report: Reporter, context: Context) -> None:
    rows = sized(view, report, "ordinal", "slots")
    for row, (_, slots) in rows:
        if slots < 1:
            report.add(f"{row.path}.slots", f"{row.label()} has {slots} slots.", "Give it at least one, or remove it.")
    _check_ordinals(report, [(first, first + slots, row) for row, (first, slots) in rows if slots > 0], view)
    names = Counter(row.source["name"] for row in view.regions)
    for row in view.regions:
        name = row.source["name"]
        if not name:
            report.missing(Missing(f"{row.path}.name", "The region has no name.", "Name it."))
        elif names[name] > 1:
            report.add(f"{row.path}.name", f"{names[name]} regions are named {name}.", "Give each its own name.")


def _check_ordinals(report: Reporter, spans: list[tuple[int, int, Row]], view: SpecView) -> None:
    count, reached, holder = view.region_count, 0, ""
    gaps: list[str] = []
    for first, end, row in sorted(spans, key=lambda span: span[0]):
        path = f"{row.path}.ordinal"
        if holder and first < reached:
            report.add(path, f"Ordinal {first} belongs to {holder} already.", "Number the regions 0, 1, 2, ...")
        elif first < 0 or end > count:
            outside = first if not 0 <= first < count else end - 1
            report.add(path, f"Ordinal {outside} is outside 0..{count - 1}.", "Number the regions 0, 1, 2, ...")
        gaps += _gap(reached, min(first, count))
        if end > reached:
            reached, holder = end, row.label()
    gaps += _gap(reached, count)
    if gaps and len(spans) == len(view.regions):
        report.add(
            REGIONS,
            f"Region ordinals have a gap at {', '.join(gaps)}.",
            "Number the regions 0, 1, 2, ...; the device addresses them by ordinal.",
            gaps=gaps,
        )


def _gap(start: int, end: int) -> list[str]:
    """The ordinals from `start` up to, not including, `end` in words; nothing where there are none."""
    if end <= start:
        return []
    return [str(start)] if end == start + 1 else [f"{start}..{end - 1}"]


@spec_rule(
    "R07",
    severity=ERROR,
    title="Alignment",
    version=2,
    source="house-style sections 4 and 5",
    formula="power of two, at most 1,024; a TMA destination exactly 1,024",
    inputs=("smem.regions[].alignment", "smem.regions[].tma_dst", "sems.rows[].storage"),
)
def r07(view: SpecView, report: Reporter, context: Context) -> None:
    targets = tma_targets(view)
    for row, (alignment,) in sized(view, report, "alignment"):
        path, name = f"{row.path}.alignment", row.label()
        if row.source["tma_dst"] or row.path in targets:
            if alignment < TASK_ALIGNMENT or alignment % TASK_ALIGNMENT:
                report.add(
                    path,
                    f"{name} is a TMA target but aligned {alignment:,}.",
                    "Align it to 1,024: the 128-byte swizzle needs that.",
                    alignment=alignment,
                )
                continue
        elif alignment <= 0 or alignment & (alignment - 1):
            report.add(
                path,
                f"{name} is aligned {alignment:,}, which is not a power of two.",
                "Use a power of two; the planner refuses anything else.",
                severity=WARNING,
                alignment=alignment,
            )
            continue
        if alignment > TASK_ALIGNMENT:
            report.add(
                path,
                f"{name} is aligned {alignment:,}, but a task's memory starts aligned {TASK_ALIGNMENT:,} only.",
                "Ask for at most 1,024.",
                severity=WARNING,
                alignment=alignment,
            )


@spec_rule(
    "R08",
    severity=ERROR,
    title="Pinned page count",
    source="v2_smem_planner.py",
    formula="page_count * 16,384 >= size_bytes, and no larger than needed",
    inputs=("smem.regions[].page_count", "smem.regions[].size_bytes"),
)
def r08(view: SpecView, report: Reporter, context: Context) -> None:
    for row, (size, count) in sized(view, report, "size_bytes", "page_count"):
        path = f"{row.path}.page_count"
        needed = -(-size // PAGE_BYTES)
        if count < 0:
            continue
        if count < needed:
            report.add(
                path,
                f"page_count {count} is too small for {size:,} B.",
                f"Pin {needed}, or write -1 to derive it.",
                page_count=count,
                needed=needed,
            )
        elif count > needed:
            report.add(
                path,
                f"page_count {count} books more than the {needed} pages that {size:,} B need.",
                f"Pin {needed}, or write -1 to derive it.",
                severity=WARNING,
                page_count=count,
                needed=needed,
            )


@spec_rule(
    "R09",
    severity=WARNING,
    title="Intent to pack",
    source="v2_smem_planner.py",
    formula="can_pack only on regions smaller than one page",
    inputs=("smem.regions[].can_pack", "smem.regions[].size_bytes", "smem.regions[].page_count"),
)
def r09(view: SpecView, report: Reporter, context: Context) -> None:
    for row, (size, count) in sized(view, report, "size_bytes", "page_count"):
        if row.source["can_pack"] and (size >= PAGE_BYTES or count > 1):
            why = f"{size:,} B fill a page" if size >= PAGE_BYTES else f"page_count is pinned to {count}"
            report.add(
                f"{row.path}.can_pack",
                f"can_pack has no effect on {row.label()}: {why}.",
                "Untick it, or make the region smaller than one page.",
                size_bytes=size,
            )


SMEM_TABLE_RULES: tuple[Rule, ...] = (r05, r06, r07, r08, r09)
