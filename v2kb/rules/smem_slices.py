"""Parts inside one region: where each slice lies, and rule R11."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from v2kb.rules.expressions import names_in
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.smem_rules import REGIONS, has_regions
from v2kb.rules.spec_view import SLICE_NUMBERS, Missing, Row, SpecView

MAX_SLICES = 128
MAX_SPEC_SLICES = 512


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a region: `start` and `size` in bytes from the region's first one; `slot` is its `s`."""

    row: Row
    name: str
    slot: int
    start: int
    size: int
    alignment: int

    @property
    def end(self) -> int:
        """First byte behind it."""
        return self.start + self.size


def slice_rows(view: SpecView, region: Row) -> list[Row]:
    """Return the rows of slices of one region row with their numbers; the offset is that of slot 0."""
    rows = []
    for index, source in enumerate(region.source["slices"]):
        path = f"{region.path}.slices[{index}]"
        values = dict(view.row(path, source, SLICE_NUMBERS).values)
        values["offset_bytes"] = _offset(view, path, source["offset_bytes"], 0)
        rows.append(Row(path, source, values))
    return rows


def slices_of(view: SpecView, region: Row) -> tuple[list[Slice], list[Missing]]:
    """Return (slices of one region in the order of the table, inputs that are missing for the others)."""
    return _expand(view, region, slice_rows(view, region))


def _expand(view: SpecView, region: Row, rows: Sequence[Row]) -> tuple[list[Slice], list[Missing]]:
    found: list[Slice] = []
    missing: list[Missing] = []
    counts = [row.values["slots"] for row in rows]
    if sum(max(count, 0) for count in counts if isinstance(count, int)) > MAX_SLICES:
        message = f"{region.label()} has more than {MAX_SLICES} slices."
        return [], [Missing(f"{region.path}.slices", message, "Check the slots; more than that are not compared.")]
    for row in rows:
        absent = [value for value in row.values.values() if isinstance(value, Missing)]
        missing += absent
        if absent:
            continue
        slots = row.values["slots"]
        offset = row.source["offset_bytes"]
        moves = "s" in names_in(offset)
        for slot in range(slots):
            start = _offset(view, row.path, offset, slot) if moves else row.values["offset_bytes"]
            if isinstance(start, Missing):
                missing.append(start)
                break
            name = f"{row.label()}{slot}" if slots != 1 else row.label()
            found.append(Slice(row, name, slot, start, row.values["size_bytes"], row.values["alignment"]))
    return found, missing


def _offset(view: SpecView, path: str, text: str, slot: int) -> int | Missing:
    return view.number(f"{path}.offset_bytes", text, {"s": slot})


def overlaps(slices: Sequence[Slice]) -> list[tuple[Slice, Slice]]:
    """Return (slice, an earlier one that it overlaps), by start, at most one for each slice."""
    found = []
    reaching: Slice | None = None
    for part in sorted((part for part in slices if part.size > 0), key=lambda part: part.start):
        if reaching is not None and part.start < reaching.end:
            found.append((part, reaching))
        if reaching is None or part.end > reaching.end:
            reaching = part
    return found


@spec_rule(
    "R11",
    severity=ERROR,
    title="Slices inside a region",
    source="ffn_item1_spec section 2; house-style section 4",
    formula="slices lie inside their region, apart from each other, each at a multiple of its alignment",
    inputs=("smem.regions[].slices[]", "smem.regions[].size_bytes", "smem.regions[].alignment"),
)
def r11(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_regions(view, report):
        return
    sliced = [region for region in view.regions if region.source["slices"]]
    if not sliced:
        report.skip("No region has slices.")
    compared = 0
    for region in sliced:
        numbers = report.need(region, "size_bytes", "alignment")
        rows = slice_rows(view, region)
        slices, missing = _expand(view, region, rows)
        compared += len(slices)
        if compared > MAX_SPEC_SLICES:
            message = f"The spec has more than {MAX_SPEC_SLICES} slices."
            report.missing(Missing(REGIONS, message, "Check the slots; more than that are not compared."))
            return
        for absent in missing:
            report.missing(absent)
        for row in rows:
            _check_row(report, row)
        if numbers is not None:
            for part in _first_of_each_row(slices, lambda part, size=numbers[0]: part.start < 0 or part.end > size):
                _outside(report, region, part, numbers[0])
        for part in _first_of_each_row(slices, _misaligned):
            report.add(
                f"{part.row.path}.offset_bytes",
                f"Slice {part.name} starts at byte {part.start:,}, which is no multiple of {part.alignment:,}.",
                "Move it to a multiple of its alignment, or correct the alignment.",
                offset_bytes=part.start,
                alignment=part.alignment,
            )
        if numbers is not None:
            _check_region_alignment(report, region, slices, numbers[1])
        _report_overlaps(report, slices)


def _misaligned(part: Slice) -> bool:
    return part.alignment > 0 and part.start % part.alignment != 0


def _first_of_each_row(slices: Sequence[Slice], wrong: Callable[[Slice], bool]) -> list[Slice]:
    first: dict[str, Slice] = {}
    for part in slices:
        if wrong(part):
            first.setdefault(part.row.path, part)
    return list(first.values())


def _check_row(report: Reporter, row: Row) -> None:
    for name, least in (("slots", 1), ("size_bytes", 1)):
        value = row.values[name]
        if isinstance(value, int) and value < least:
            report.add(f"{row.path}.{name}", f"Slice {row.label()} has {name} {value:,}.", "Write 1 or more.")
    alignment = row.values["alignment"]
    if isinstance(alignment, int) and (alignment <= 0 or alignment & (alignment - 1)):
        report.add(
            f"{row.path}.alignment",
            f"Slice {row.label()} is aligned {alignment:,}, which is not a power of two.",
            "Use a power of two.",
            alignment=alignment,
        )


def _outside(report: Reporter, region: Row, part: Slice, size: int) -> None:
    if part.start < 0:
        said = f"starts at byte {part.start:,}, before {region.label()}"
    else:
        said = f"ends at byte {part.end:,}, but {region.label()} has {size:,}"
    report.add(
        f"{part.row.path}.offset_bytes",
        f"Slice {part.name} {said}.",
        "Correct its offset or size, or make the region larger.",
        end_byte=part.end,
        size_bytes=size,
    )


def _check_region_alignment(report: Reporter, region: Row, slices: Sequence[Slice], alignment: int) -> None:
    for part in _first_of_each_row(slices, lambda part: 0 < alignment < part.alignment):
        report.add(
            f"{part.row.path}.alignment",
            f"Slice {part.name} is aligned {part.alignment:,}, but {region.label()} only {alignment:,}.",
            "Align the region at least as much as its slices.",
            alignment=part.alignment,
            region_alignment=alignment,
        )


def _report_overlaps(report: Reporter, slices: Sequence[Slice]) -> None:
    seen: set[tuple[str, str]] = set()
    for part, other in overlaps(slices):
        rows = (part.row.path, other.row.path)
        if rows in seen:
            continue
        seen.add(rows)
        report.add(
            f"{part.row.path}.offset_bytes",
            f"Slice {part.name} overlaps {other.name}.",
            f"{other.name} ends at byte {other.end:,}; start {part.name} there or later.",
            offset_bytes=part.start,
            other_end_byte=other.end,
        )


SLICE_RULES: tuple[Rule, ...] = (r11,)
