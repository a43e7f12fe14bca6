"""Tensor memory: which of the 512 columns each object takes, and how many a task allocates.

An allocation is a power of two of 32 to 512 columns (tcgen05.alloc, PTX ISA). An object without a start column follows
the one before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

COLUMNS = 512
LEAST_COLUMNS = 32


@dataclass(frozen=True, slots=True)
class TmemObject:
    """One object: `columns` per slot, `start` None where it follows the object before it."""

    name: str
    slots: int
    columns: int
    start: int | None = None


@dataclass(frozen=True, slots=True)
class TmemSpan:
    """Columns first..last of one slot of the object at `index`."""

    index: int
    name: str
    slot: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TmemLayout:
    """`total` sums slots * columns; `need` is the larger of it and the highest column in use plus one; `alloc` is the
    allocation that holds `need`, None where even 512 don't. Gaps and overlaps are (first, last) columns below `need`.
    """

    spans: tuple[TmemSpan, ...]
    total: int
    need: int
    alloc: int | None
    gaps: tuple[tuple[int, int], ...]
    overlaps: tuple[tuple[int, int, str, str], ...]


def allocation(columns: int) -> int | None:
    """Return the smallest power of two from 32 that holds `columns`, None above 512, 0 for none."""
    if columns <= 0:
        return 0
    size = max(LEAST_COLUMNS, 1 << (columns - 1).bit_length())
    return size if size <= COLUMNS else None


def valid_allocation(columns: int) -> bool:
    """True for 32, 64, 128, 256 and 512."""
    return LEAST_COLUMNS <= columns <= COLUMNS and columns & (columns - 1) == 0


def layout(objects: Sequence[TmemObject]) -> TmemLayout:
    """Lay out `objects` in order. Slots of an object are adjacent; those past column 512 are counted, not drawn.

    Objects of less than one slot or column take nothing.
    """
    spans: list[TmemSpan] = []
    follows = total = need = 0
    for index, item in enumerate(objects):
        first = follows if item.start is None else item.start
        slots, columns = max(item.slots, 0), max(item.columns, 0)
        size = slots * columns
        total += size
        follows = first + size
        need = max(need, follows if size else 0)
        for slot in range(min(slots, COLUMNS) if columns else 0):
            name = f"{item.name}{slot}" if item.slots != 1 else item.name
            start = first + slot * columns
            if start < COLUMNS:
                spans.append(TmemSpan(index, name, slot, start, start + columns - 1))
    need = max(need, total)
    gaps, overlaps = _compare(spans, min(need, COLUMNS))
    return TmemLayout(tuple(spans), total, need, allocation(need), gaps, overlaps)


def _compare(
    spans: Sequence[TmemSpan], end: int
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int, str, str], ...]]:
    gaps: list[tuple[int, int]] = []
    overlaps: list[tuple[int, int, str, str]] = []
    reached, holder = 0, ""
    for span in sorted(spans, key=lambda span: (span.first, span.index)):
        if span.first > reached:
            gaps.append((reached, span.first - 1))
        elif holder and span.first < reached:
            overlaps.append((max(span.first, 0), min(span.last, reached - 1), span.name, holder))
        if span.last + 1 > reached:
            reached, holder = span.last + 1, span.name
    if reached < end:
        gaps.append((reached, end - 1))
    return tuple(gaps), tuple(overlaps)
