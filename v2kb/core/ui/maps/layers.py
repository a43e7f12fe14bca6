"""Ops in their layer graph, from left to right, with the tasks that each becomes."""

from textwrap import wrap
from typing import Any

from v2kb.core.ui.maps.common import CHAR_UNITS, Picture, clipped

BOX_UNITS = 230
GAP_UNITS = 56
LINE_UNITS = 15
NAME_LINES = 3
ROW_GAP = 14
ROOM = BOX_UNITS - 16


def layer_map(picture: Picture) -> dict[str, Any]:
    """Boxes, arrows and table rows from `rules.layer_graph.layer_graph`."""
    bottoms: dict[int, int] = {}
    boxes = []
    for node in picture["nodes"]:
        lines = _lines(node)
        names = _wrapped(node["name"])
        height = 12 + LINE_UNITS * (len(names) + len(lines))
        y = bottoms.get(node["layer"], 1)
        bottoms[node["layer"]] = y + height + ROW_GAP
        boxes.append(_box(node, names, lines, y, height))
    tallest = max(bottoms.values(), default=ROW_GAP)
    for box in boxes:
        # Columns stand in the middle of the tallest.
        shift = (tallest - bottoms[box["layer"]]) // 2
        box["y"] += shift
        for line in (*box["names"], *box["lines"]):
            line["y"] += shift
    return {
        "width": picture["layers"] * (BOX_UNITS + GAP_UNITS) - GAP_UNITS + 2,
        "height": tallest - ROW_GAP + 2,
        "box_width": BOX_UNITS,
        "boxes": boxes,
        "arrows": [_arrow(boxes[first], boxes[second]) for first, second in picture["edges"]],
        "rows": [
            _row(picture, index) for index in range(len(picture["nodes"])) if picture["nodes"][index]["kind"] == "op"
        ],
        "loose": picture["loose"],
        "description": _describe(picture),
    }


def _wrapped(name: str) -> list[str]:
    """A name on at most three lines; what is longer is cut with a mark."""
    wide = int(ROOM / CHAR_UNITS)
    return wrap(name, wide, max_lines=NAME_LINES, placeholder="…", break_long_words=True) or [""]


def _lines(node: Picture) -> list[str]:
    if node["kind"] != "op":
        return []
    lines = [f"{item['task']}: {_count(item['tasks'])}" for item in node["instances"]]
    if len(lines) > 1:
        lines.append(f"together {_count(node['tasks'])}")
    return lines or ["no instance listed"]


def _count(tasks: int | None) -> str:
    if tasks is None:
        return "no value"
    return f"{tasks:,} {'task' if tasks == 1 else 'tasks'}"


def _box(node: Picture, names: list[str], lines: list[str], y: int, height: int) -> dict[str, Any]:
    x = 1 + node["layer"] * (BOX_UNITS + GAP_UNITS)
    first = y + 17
    return {
        "layer": node["layer"],
        "is_op": node["kind"] == "op",
        "x": x,
        "y": y,
        "height": height,
        "text_x": x + 8,
        "names": [{"text": text, "y": first + LINE_UNITS * n} for n, text in enumerate(names)],
        "lines": [
            {"text": clipped(text, ROOM), "y": first + LINE_UNITS * (len(names) + n)} for n, text in enumerate(lines)
        ],
    }


def _arrow(first: dict[str, Any], second: dict[str, Any]) -> dict[str, str]:
    """A curve from the right of one box to the left of another; one that runs back goes below both."""
    x1, y1 = first["x"] + BOX_UNITS, first["y"] + first["height"] // 2
    x2, y2 = second["x"] - 2, second["y"] + second["height"] // 2
    bend = GAP_UNITS // 2 if second["layer"] > first["layer"] else BOX_UNITS
    return {
        "path": f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 4} {y2}",
        "tip": f"M{x2} {y2}l-7 -4v8z",
    }


def _row(picture: Picture, index: int) -> dict[str, Any]:
    node = picture["nodes"][index]
    names = [other["name"] for other in picture["nodes"]]
    return {
        **node,
        "producers": [names[first] for first, second in picture["edges"] if second == index],
        "consumers": [names[second] for first, second in picture["edges"] if first == index],
    }


def _describe(picture: Picture) -> str:
    ops = [node for node in picture["nodes"] if node["kind"] == "op"]
    text = f"{len(ops)} {'op' if len(ops) == 1 else 'ops'}, {_count(picture['tasks'])} in all."
    if picture["tasks"] is None:
        text = f"{len(ops)} {'op' if len(ops) == 1 else 'ops'}; the number of tasks has no value yet."
    if picture["loose"]:
        names = ", ".join(item["task"] for item in picture["loose"][:6])
        text += f" No op of the spec is named by {names}."
    if unbound := [node["name"] for node in ops if not node["op"]]:
        text += f" What feeds {', '.join(unbound)} is not known: no op is named there."
    if not picture["edges"]:
        text += " No producer or consumer is written in the contracts."
    return text
