"""Reading a posted section into the document. Nothing typed is dropped."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from kernels.editor import rows as row_actions
from kernels.editor.citations import read_citation
from kernels.editor.fresh import added_name, blank_row
from kernels.editor.layout import (
    ACKNOWLEDGED,
    BANDS,
    CHOICE,
    CITATIONS,
    PREDICTION,
    SCOPE,
    SCOPE_LISTS,
    WAVE_QUANT,
    Input,
    Section,
    Table,
)
from kernels.editor.rows import MAX_ROWS, Action
from v2kb.core.values import plain_copy, whole_number
from v2kb.rules.spec_document import empty_spec


def split_list(text: str) -> list[str]:
    """ "a, b" -> ["a", "b"]."""
    return [part.strip() for part in text.split(",") if part.strip()]


def without_nul(data: QueryDict) -> QueryDict:
    """What was posted, with each NUL as a replacement character: it shows, and every database stores it."""
    clean = data.copy()
    for name, values in data.lists():
        clean.setlist(name, [value.replace("\x00", "\N{REPLACEMENT CHARACTER}") for value in values])
    return clean


def at(document: Any, path: str) -> Any:
    """The value at a dotted path without indexes, or None."""
    for part in path.split("."):
        document = document.get(part) if isinstance(document, Mapping) else None
    return document


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path without indexes; parents that are missing are made."""
    *parents, last = path.split(".")
    for part in parents:
        if not isinstance(document.get(part), dict):
            document[part] = {}
        document = document[part]
    document[last] = value


def complete(content: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a draft in which every top-level part exists."""
    return {**empty_spec(), **plain_copy(dict(content))}


def _value(data: QueryDict, name: str, wanted: Input) -> Any:
    if wanted.kind == "check":
        return name in data
    if wanted.kind == "several":
        return [word for word in data.getlist(name) if word]
    text = data.get(name, "").replace("\r\n", "\n")
    return split_list(text) if wanted.kind == "list" else text


def read_rows(data: QueryDict, table: Table, path: str, action: Action) -> list[dict[str, Any]]:
    """The rows that were posted at `path`, and the rows inside them, after the action on either."""
    rows = []
    for number in range(min(whole_number(data.get(f"{path}.total", "0")), MAX_ROWS)):
        here = f"{path}[{number}]"
        row = {i.name: _value(data, f"{here}.{i.name}", i) for i in table.all_inputs}
        row |= {inner.path: read_rows(data, inner, f"{here}.{inner.path}", action) for inner in table.tables}
        rows.append(row)
    row_actions.apply(rows, path, action, blank_row(table, len(rows)))
    return rows


def _named(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Names to values. A value without a name, or with one that is taken, gets a name of its own."""
    named: dict[str, str] = {}
    for row in rows:
        name, value = row["name"].strip(), row["value"]
        if not name and not value:
            continue
        free, number = name or added_name(len(named)), 2
        while free in named:
            free, number = f"{name or 'NAME'}_{number}", number + 1
        named[free] = value
    return named


def read_section(section: Section, data: QueryDict, content: Mapping[str, Any], action: str) -> dict[str, Any]:
    """The draft with what was posted for `section`, after the action of the pressed button.

    A field or a table that was not posted stays as it is.
    """
    document = complete(content)
    pressed = Action.read(action)
    for wanted in section.inputs:
        if wanted.name in data:
            put(document, wanted.name, _value(data, wanted.name, wanted))
    for table in section.tables:
        if f"{table.path}.total" in data:
            rows = read_rows(data, table, table.path, pressed)
            put(document, table.path, _named(rows) if table.named else rows)
    if section.slug == "choices":
        row_actions.apply(document["choices"], "choices", pressed, {})
    return document


def read_choice(data: QueryDict, choice: Mapping[str, Any], action: str) -> dict[str, Any]:
    """A choice with what was posted for it."""
    read = plain_copy(dict(choice))
    pressed = Action.read(action)
    for wanted in CHOICE:
        read[wanted.name] = _value(data, wanted.name, wanted)
    scope = {i.name: data.get(f"scope.{i.name}", "").strip() for i in SCOPE}
    read["scope"] = {n: split_list(v) if n in SCOPE_LISTS else v for n, v in scope.items() if v}
    citations = read_rows(data, CITATIONS, "citations", pressed)
    if pressed.verb == "pin" and pressed.path == "citations" and 0 <= pressed.index < len(citations):
        citations[pressed.index]["revision"] = ""  # the head is pinned when a revision is saved
    read["citations"] = [read_citation(row) for row in citations]
    acknowledged = read_rows(data, ACKNOWLEDGED, "acknowledged", pressed)
    read["acknowledged"] = [_acknowledged(row) for row in acknowledged]
    prediction = {i.name: _value(data, f"prediction.{i.name}", i) for i in PREDICTION}
    prediction["bands"] = read_rows(data, BANDS, BANDS.path, pressed)
    read["prediction"] = prediction if any(prediction.values()) else None
    wave = {i.name: data.get(f"wave_quant.{i.name}", "").strip() for i in WAVE_QUANT}
    read["wave_quant"] = wave if any(wave.values()) else None
    return read


def _acknowledged(row: Mapping[str, str]) -> dict[str, str]:
    """The revision that was acknowledged stays while the code stays; else the head is meant."""
    code, _, revision = row["revision"].partition("|")
    return {**row, "revision": revision if revision and code == row["code"] else "HEAD"}


_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]{1,4})\]")


def replace_at(document: Any, path: str, value: Any) -> bool:
    """Set the value at a path with indexes; None takes a row away. False where the document has no such place."""
    steps = [name if name else int(number) for name, number in _STEP.findall(path)]
    for step in steps[:-1]:
        if not _has(document, step):
            return False
        document = document[step]
    if not steps or not _has(document, steps[-1]):
        return False
    if value is None and isinstance(document, list):
        del document[steps[-1]]
    else:
        document[steps[-1]] = value
    return True


def _has(holder: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(holder, list) and step < len(holder)
    return isinstance(holder, dict) and step in holder
