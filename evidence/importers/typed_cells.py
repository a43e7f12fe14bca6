"""Cells of a row's CSV that hold more than words: scope, approaches, numbers, sources, structural. Pure.

They are written as a person would write them in the form of a row, and read back without a guess.
"""

from collections.abc import Mapping
from typing import Any

from evidence.importers.records import MAX_CELL_CHARS
from evidence.lines import read_approaches, read_numbers, read_sources
from v2kb.rules.problem import Problem
from v2kb.rules.scope import read_description

TYPED = ("scope", "approaches", "numbers", "sources", "structural")
YES, NO = "yes", "no"
_ANSWERS = {YES: True, "true": True, "1": True, NO: False, "false": False, "0": False, "": False}


def read_typed(name: str, cell: str, role: str, units: Mapping[str, str]) -> tuple[Any, list[Problem]]:
    """(what a field of `TYPED` holds, problems) of its cell; `role` is that of a number that names none, `units` as for
    `parse_numbers`."""
    if name == "scope":
        return read_description(cell)
    if name == "approaches":
        return read_approaches(cell)
    if name == "numbers":
        return read_numbers(cell, role=role, longest=MAX_CELL_CHARS, units=units)
    if name == "sources":
        return read_sources(cell, longest=MAX_CELL_CHARS)
    answer = _ANSWERS.get(cell.strip().casefold())
    problems = [Problem(name, f"{cell[:40]!r} is neither yes nor no.", "Write yes or no.")] if answer is None else []
    return bool(answer), problems
