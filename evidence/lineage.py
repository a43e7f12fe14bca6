"""The supersession graph around a row: which rows and edges, and where they stand in a drawing."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from evidence.models import EvidenceRow, Supersession

MOST_ROWS, MOST_STEPS = 24, 6
WIDTH, HEIGHT, GAP_X, GAP_Y = 132, 40, 116, 20
Kind = Supersession.Kind
READ_FORWARD = {
    Kind.REPLACES: "replaced by",
    Kind.NARROWS: "narrowed by",
    Kind.CONTRADICTS: "contradicted by",
    Kind.MERGES: "merged into",
    Kind.SPLITS: "split into",
}
"""What an edge is called along its arrow, from the older row to the newer one."""


@dataclass(frozen=True)
class Lineage:
    """Rows and edges from older to newer; `more` where the graph goes on beyond them."""

    rows: tuple[EvidenceRow, ...]
    edges: tuple[Supersession, ...]
    more: bool


def lineage_of(row: EvidenceRow) -> Lineage:
    """Rows that are connected with this one, nearest first, at most 24 within six steps."""
    known, edges, border, more = {row.pk: row}, {}, {row.pk}, False
    for _ in range(MOST_STEPS):
        if not border:
            break
        found = Supersession.objects.filter(Q(newer__in=border) | Q(older__in=border))
        border = set()
        for edge in found.select_related("newer__head", "older__head").order_by("id"):
            ends = [end for end in (edge.newer, edge.older) if end.pk not in known]
            if len(known) + len(ends) > MOST_ROWS:
                more = True
                continue
            edges[edge.pk] = edge
            for end in ends:
                known[end.pk] = end
                border.add(end.pk)
    return Lineage(tuple(known.values()), tuple(edges[key] for key in sorted(edges)), more or bool(border))


def drawing(lineage: Lineage, row: EvidenceRow) -> dict[str, Any]:
    """Boxes in columns, the oldest at the left, and the edges between them, in SVG units."""
    columns = _columns(lineage)
    places: dict[int, tuple[int, int]] = {}
    boxes = []
    for number, ids in enumerate(columns):
        for place, each in enumerate(ids):
            x, y = number * (WIDTH + GAP_X), place * (HEIGHT + GAP_Y)
            places[each.pk] = (x, y)
            boxes.append({"x": x, "y": y, "row": each, "is_here": each.pk == row.pk, "mid_y": y + 16, "low_y": y + 31})
    return {
        "width": len(columns) * (WIDTH + GAP_X) - GAP_X + 4,
        "height": max(len(ids) for ids in columns) * (HEIGHT + GAP_Y) - GAP_Y + 4,
        "box_width": WIDTH,
        "box_height": HEIGHT,
        "boxes": boxes,
        "edges": [_edge(edge, places) for edge in lineage.edges],
    }


def _edge(edge: Supersession, places: dict[int, tuple[int, int]]) -> dict[str, Any]:
    """A curve from the right side of the older row to the left side of the newer one, with its kind on it."""
    (x1, y1), (x2, y2) = places[edge.older_id], places[edge.newer_id]
    x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
    middle = (x1 + x2) // 2
    return {
        "path": f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2 - 7} {y2}",
        "tip": f"M{x2 - 8} {y2 - 4}L{x2 - 1} {y2}L{x2 - 8} {y2 + 4}z",
        "x": middle,
        "y": (y1 + y2) // 2 - 5,
        "kind": READ_FORWARD[Kind(edge.kind)],
        "ends": edge.kind in (Kind.REPLACES, Kind.MERGES),
    }


def _columns(lineage: Lineage) -> list[list[EvidenceRow]]:
    """Each row one column right of the newest of those that it supersedes."""
    older: dict[int, list[int]] = {}
    for edge in lineage.edges:
        older.setdefault(edge.newer_id, []).append(edge.older_id)
    depth: dict[int, int] = {}

    def depth_of(key: int) -> int:
        if key not in depth:
            depth[key] = 1 + max((depth_of(each) for each in older.get(key, ())), default=-1)
        return depth[key]

    columns: dict[int, list[EvidenceRow]] = {}
    for each in lineage.rows:
        columns.setdefault(depth_of(each.pk), []).append(each)
    return [columns[key] for key in sorted(columns)]
