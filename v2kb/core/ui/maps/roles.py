"""Roles and paths of a task as a grid: what each role does with pages and barriers on each path."""

from typing import Any

from v2kb.core.ui.maps.common import Picture, clipped

HEAD_UNITS = 24
ROLE_UNITS = 96
CELL_UNITS = 300
ROW_UNITS = 58
PAD = 8
STATES = {
    "filled": ("answered", "✓"),
    "blank": ("not answered", "?"),
    "finding": ("wrong", "✕"),
    "empty_body": ("empty body", "∅"),
    "no_row": ("no row", "?"),
    "not_applicable": ("never inactive", "–"),
}
BAD = ("finding",)
OPEN = ("blank", "no_row")


def role_map(picture: Picture) -> dict[str, Any]:
    """Cells and table rows from `rules.role_rules.role_matrix`; each cell has glyph, word and its first texts."""
    paths = [
        {"title": path["title"], "x": ROLE_UNITS + n * CELL_UNITS + PAD} for n, path in enumerate(picture["paths"])
    ]
    lines = [_line(role, n) for n, role in enumerate(picture["roles"])]
    return {
        "width": ROLE_UNITS + CELL_UNITS * len(paths) + 2,
        "height": HEAD_UNITS + ROW_UNITS * len(lines) + 2,
        "paths": paths,
        "lines": lines,
        "rows": [_row(role, picture["paths"]) for role in picture["roles"]],
        "description": _describe(picture),
    }


def _line(role: Picture, number: int) -> dict[str, Any]:
    y = HEAD_UNITS + number * ROW_UNITS
    return {
        "role": role["role"],
        "y": y + ROW_UNITS // 2 + 4,
        "cells": [_cell(cell, ROLE_UNITS + n * CELL_UNITS, y) for n, cell in enumerate(role["cells"])],
    }


def _cell(cell: Picture, x: int, y: int) -> dict[str, Any]:
    word, glyph = STATES[cell["state"]]
    room = CELL_UNITS - 2 * PAD
    said = [f"{name}: {cell[key]}" for name, key in (("pages", "pages"), ("barriers", "handshake")) if cell[key]]
    return {
        "x": x + 1,
        "y": y + 1,
        "width": CELL_UNITS - 2,
        "height": ROW_UNITS - 2,
        "text_x": x + PAD,
        "word": f"{glyph} {word}",
        "word_y": y + 17,
        "lines": [{"y": y + 33 + 15 * n, "text": clipped(text, room)} for n, text in enumerate(said)],
        "tone": "bad" if cell["state"] in BAD else "open" if cell["state"] in OPEN else "calm",
    }


def _row(role: Picture, paths: list[Picture]) -> dict[str, Any]:
    cells = [
        {
            "title": path["title"],
            "word": STATES[cell["state"]][0],
            "text": cell["text"],
            "pages": cell["pages"],
            "handshake": cell["handshake"],
            "asked": cell["asked"],
            "messages": cell["messages"],
        }
        for path, cell in zip(paths, role["cells"], strict=True)
    ]
    return {"role": role["role"], "cells": cells}


def _describe(picture: Picture) -> str:
    states = [cell["state"] for role in picture["roles"] for cell in role["cells"]]
    wrong, unanswered = sum(s in BAD for s in states), sum(s in OPEN for s in states)
    text = f"{len(picture['roles'])} roles on {len(picture['paths'])} paths."
    if wrong:
        text += f" {wrong} {'cell is' if wrong == 1 else 'cells are'} wrong."
    if unanswered:
        text += f" {unanswered} {'cell has' if unanswered == 1 else 'cells have'} no answer."
    return text if wrong or unanswered else f"{text} All are answered."
