"""The columns of tensor memory: which object takes which, what is allocated and what nobody uses."""

from typing import Any

from v2kb.core.ui.maps.common import Picture, fits, tones

WIDTH_UNITS = 1_024
TICK_COLUMNS = 64
_DONE_BY = (("alloc_role", "allocated"), ("dealloc_role", "freed"))
_USES = (("writer", "writes"), ("reader", "reads"))


def tmem_map(picture: Picture) -> dict[str, Any]:
    """Spans, gaps and the allocation from `rules.tmem_rules.tmem_map` or the columns calculator.

    The scale ends at the allocation where that is valid and holds all (so that 64 columns fill the width), else at 512.
    """
    columns = picture["columns"]
    highest = max((item["last"] + 1 for item in picture["objects"]), default=0)
    alloc = picture["alloc"] if picture["alloc"] is not None else picture["wanted"]
    end = min(columns, max(alloc or 0, highest)) if alloc and alloc > 0 else columns
    unit = WIDTH_UNITS / end
    gaps = [*picture["gaps"]]
    if picture["alloc_valid"] and highest < end:
        gaps.append({"first": highest, "last": end - 1})
    known = tones(item["name"] for item in picture["objects"])
    clashing = [(clash["first"], clash["last"]) for clash in picture["overlaps"]]
    step = max(4, end // 8)
    return {
        "width": WIDTH_UNITS + 2,
        "objects": [_object(item, known[item["name"]], unit, end, clashing) for item in picture["objects"]],
        "gaps": [
            {"x": round(gap["first"] * unit, 2), "width": round((gap["last"] - gap["first"] + 1) * unit, 2)}
            for gap in gaps
            if gap["first"] < end
        ],
        "ticks": [
            {"x": round(n * unit, 2), "number": n, "anchor": "start" if n == 0 else "end" if n == end else "middle"}
            for n in [*range(0, end, step), end]
        ],
        "limit_x": round(min(alloc, end) * unit, 2) if alloc else None,
        "rows": [
            {
                **item,
                **(picture["users"][item["index"]] if "users" in picture else {}),
                "columns": item["last"] - item["first"] + 1,
                "clash": _clashes(item, clashing),
            }
            for item in picture["objects"]
        ],
        "has_users": "users" in picture,
        "description": _describe(picture, gaps, end),
    }


def _object(item: Picture, tone: int, unit: float, end: int, clashing: list[tuple[int, int]]) -> dict[str, Any]:
    first, last = max(item["first"], 0), min(item["last"], end - 1)
    width = max(2.0, (last - first + 1) * unit)
    return {
        "x": round(first * unit, 2),
        "width": round(width, 2),
        "mid": round(first * unit + width / 2, 2),
        "tone": tone,
        "over": item["outside"] or _clashes(item, clashing),
        "text": item["name"] if fits(item["name"], width) else "",
    }


def _clashes(item: Picture, clashing: list[tuple[int, int]]) -> bool:
    return any(first <= item["last"] and item["first"] <= last for first, last in clashing)


def _describe(picture: Picture, gaps: list[Picture], end: int) -> str:
    if picture.get("error"):
        return f"Nothing can be drawn yet: {picture['error']['message']}"
    text = f"Columns 0 to {end - 1} of the {picture['columns']} that an SM has. {picture['need']:,} are needed"
    if picture["alloc"] is not None:
        text += f", {picture['alloc']:,} allocated"
    elif picture["wanted"]:
        text += f", {picture['wanted']:,} to be allocated"
    by = [f"{done} by {picture[role]}" for role, done in _DONE_BY if picture.get(role)]
    text += f" ({', '.join(by)})." if by else "."
    text += "".join(f" {said}." for said in _objects_in_words(picture))
    if picture["alloc"] is not None and not picture["alloc_valid"]:
        text += " The allocation doesn't hold them, or is none of 32, 64, 128, 256 and 512."
    elif picture["wanted"] is None:
        text += f" That is more than the {picture['columns']} that there are."
    for clash in picture["overlaps"]:
        text += f" {' and '.join(clash['names'])} overlap in columns {clash['first']} to {clash['last']}."
    if gaps:
        spans = [f"{gap['first']} to {gap['last']}" for gap in gaps[:6]]
        text += f" Nobody uses {', '.join(spans)} (hatched)."
    return text


def _objects_in_words(picture: Picture) -> list[str]:
    """Each row of the table: its columns, who writes and who reads them."""
    spans: dict[int, list[Picture]] = {}
    for item in picture["objects"]:
        spans.setdefault(item["index"], []).append(item)
    said = []
    for index, slots in spans.items():
        first, last = slots[0], slots[-1]
        name = first["name"] if first is last else f"{first['name']} to {last['name']}"
        users = picture["users"][index] if "users" in picture else {}
        done = [f"{role} {does}" for key, does in _USES if (role := users.get(key))]
        said.append(": ".join(filter(None, (f"{name} in {first['first']} to {last['last']}", ", ".join(done)))))
    return said
