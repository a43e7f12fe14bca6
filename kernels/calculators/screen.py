"""What the page of a calculator shows: fields and rows with the problems beside them, and the answer."""

from dataclasses import dataclass, field
from typing import Any

from kernels.calculators.forms import MAX_ROWS, Field, Form, Rows
from kernels.calculators.typed import Typed


@dataclass
class Cell:
    """One field with its value, its name in the address and what is wrong there."""

    input: Field
    name: str
    value: str
    label: str = ""
    problems: list[dict[str, str]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"f-{self.name}"


def screen(form: Form, typed: Typed, *, more: str = "") -> dict[str, Any]:
    """The parts of a page. `more` names the table that gets one more empty row."""
    answer = typed.answer() if not typed.empty else {"result": None, "problems": []}
    at: dict[str, list[dict[str, str]]] = {}
    for problem in answer["problems"]:
        at.setdefault(problem["anchor"], []).append(problem)
    tables = [_table(table, typed.rows[table.name], table.name == more, at) for table in form.rows]
    return {
        "form": form,
        "cells": [
            Cell(part, part.name, typed.fields[part.name], part.label, at.get(part.name, [])) for part in form.fields
        ],
        "tables": tables,
        "result": answer["result"],
        "problems": answer["problems"],
        "is_empty": typed.empty,
        "address": typed.address(),
    }


def _table(table: Rows, rows: list[tuple[int, dict[str, str]]], more: bool, at: dict[str, Any]) -> dict[str, Any]:
    """The rows of a table, filled ones first under their own numbers, then empty ones."""
    after = max((number for number, _ in rows), default=-1) + 1
    wanted = max(table.spare - len(rows), 1) + more
    blank = dict.fromkeys((part.name for part in table.fields), "")
    shown = [*rows, *((after + n, blank) for n in range(wanted))][:MAX_ROWS]
    lines = [
        {
            "number": place + 1,
            "id": f"f-{table.name}-{number}",
            "cells": [
                Cell(
                    part,
                    name := f"{table.name}-{number}-{part.name}",
                    values[part.name],
                    f"{part.label}, {table.row} {place + 1}",
                    at.get(name, []),
                )
                for part in table.fields
            ],
            "problems": at.get(f"{table.name}-{number}", []),
        }
        for place, (number, values) in enumerate(shown)
    ]
    troubled = any(anchor == table.name or anchor.startswith(f"{table.name}-") for anchor in at)
    return {
        "table": table,
        "rows": lines,
        "filled": len(rows),
        "problems": at.get(table.name, []),
        "open": not table.folded or bool(rows) or troubled or more,
        "full": len(shown) >= MAX_ROWS,
    }
