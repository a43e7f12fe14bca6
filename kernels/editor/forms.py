"""Reading a posted section into the document, and a document's section into cells. Nothing typed is dropped."""

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from kernels.editor.fresh import BLANK_ACKNOWLEDGED, BLANK_CITATION, added_symbol, blank_row
from kernels.editor.layout import (
    ACKNOWLEDGED,
    CHOICE,
    CITATION,
    PREDICTION,
    SCOPE,
    WAVE_QUANT,
    Cell,
    Input,
    Section,
    anchor_of,
)
from references.selectors import parse_citation
from v2kb.core.values import whole_number
from v2kb.rules.spec_document import empty_spec

MAX_ROWS = 128
LISTS = ("smem.queue", "cases")
SCOPE_LISTS = ("op_class", "dtype", "arch", "envelope", "sharding")
_CODE = re.compile(r"(?P<tree>[^:@\s]+):(?P<path>[^@\s]+)@(?P<commit>[^:\s]+)(?::(?P<lines>[0-9-]+))?\Z")


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


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for part in parents:
        if not isinstance(document.get(part), dict):
            document[part] = {}
        document = document[part]
    document[last] = value


def complete(content: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a draft in which every top-level part exists."""
    return {**empty_spec(), **copy.deepcopy(dict(content))}


def _value(data: QueryDict, name: str, wanted: Input) -> Any:
    if wanted.kind == "check":
        return name in data
    text = data.get(name, "").replace("\r\n", "\n")
    return split_list(text) if wanted.name in LISTS else text


def _rows(data: QueryDict, path: str, inputs: Sequence[Input]) -> list[dict[str, Any]]:
    count = min(whole_number(data.get(f"{path}.total", "0")), MAX_ROWS)
    return [{i.name: _value(data, f"{path}[{n}].{i.name}", i) for i in inputs} for n in range(count)]


def _apply_action(rows: list[dict[str, Any]], path: str, action: str, blank: dict[str, Any]) -> None:
    """Add, remove or move a row as the pressed button says: "add:PATH", "remove:PATH:2", "up:PATH:2"."""
    name, _, rest = action.partition(":")
    target, _, index = rest.partition(":")
    if target != path:
        return
    number = whole_number(index, default=-1)
    if name == "add" and len(rows) < MAX_ROWS:
        rows.append(blank)
    elif name == "remove" and 0 <= number < len(rows):
        del rows[number]
    elif name == "up" and 0 < number < len(rows):
        rows[number - 1], rows[number] = rows[number], rows[number - 1]


def read_section(section: Section, data: QueryDict, content: Mapping[str, Any], action: str) -> dict[str, Any]:
    """The draft with what was posted for `section`, after the action of the pressed button."""
    document = complete(content)
    for wanted in section.inputs:
        _put(
            document,
            wanted.name,
            _value(data, wanted.name, wanted) if wanted.name in data else at(document, wanted.name),
        )
    for table in section.tables:
        rows = _rows(data, table.path, table.inputs)
        _apply_action(rows, table.path, action, blank_row(table))
        _put(document, table.path, rows)
    if section.slug == "overview":
        document["symbols"] = _read_symbols(data, action)
    if section.slug == "choices":
        _apply_action(document["choices"], "choices", action, {})
    return document


def _read_symbols(data: QueryDict, action: str) -> dict[str, str]:
    rows = _rows(data, "symbols", (Input("name", ""), Input("value", "")))
    _apply_action(rows, "symbols", action, {"name": added_symbol(len(rows)), "value": ""})
    return {row["name"].strip(): row["value"] for row in rows if row["name"].strip()}


def read_choice(data: QueryDict, choice: Mapping[str, Any], action: str) -> dict[str, Any]:
    """A choice with what was posted for it."""
    read = copy.deepcopy(dict(choice))
    for wanted in CHOICE:
        read[wanted.name] = _value(data, wanted.name, wanted)
    scope = {i.name: data.get(f"scope.{i.name}", "").strip() for i in SCOPE}
    read["scope"] = {n: split_list(v) if n in SCOPE_LISTS else v for n, v in scope.items() if v}
    citations = _rows(data, "citations", CITATION)
    _apply_action(citations, "citations", action, dict(BLANK_CITATION))
    _pin_newest(citations, action)
    read["citations"] = [_citation(row) for row in citations]
    acknowledged = _rows(data, "acknowledged", ACKNOWLEDGED)
    _apply_action(acknowledged, "acknowledged", action, dict(BLANK_ACKNOWLEDGED))
    known = {a.get("code"): a.get("revision", "") for a in choice.get("acknowledged") or []}
    read["acknowledged"] = [{**row, "revision": known.get(row["code"], "HEAD") or "HEAD"} for row in acknowledged]
    prediction = {i.name: _value(data, f"prediction.{i.name}", i) for i in PREDICTION}
    read["prediction"] = prediction if any(prediction.values()) else None
    wave = {i.name: data.get(f"wave_quant.{i.name}", "").strip() for i in WAVE_QUANT}
    read["wave_quant"] = wave if any(wave.values()) else None
    return read


def _pin_newest(citations: list[dict[str, str]], action: str) -> None:
    """Forget the pin of the citation that "pin:citations:2" names; the head is pinned when a revision is saved."""
    name, _, rest = action.partition(":")
    index = rest.removeprefix("citations:")
    if name == "pin" and index.isdigit() and int(index) < len(citations):
        citations[int(index)]["revision"] = ""


def _citation(row: dict[str, str]) -> dict[str, Any]:
    """What a typed target names. The pin stays while the target stays; else the head is pinned on saving."""
    target, stance = row["target"].strip(), row["stance"]
    pinned_target, _, pin = row["revision"].partition("|")
    revision = pin if pin and pinned_target == target else "HEAD"
    # A citation copied from a document's page carries its pin: slug#anchor@hash.
    if copied := parse_citation(target):
        document, anchor, copied_pin = copied
        revision = copied_pin or revision
        return {"kind": "section", "document": document, "anchor": anchor, "revision": revision, "stance": stance}
    code = _CODE.match(target)
    if code:
        return {"kind": "code", **code.groupdict(""), "sha256": "", "stance": stance}
    if "#" in target:
        document, _, anchor = target.partition("#")
        return {"kind": "section", "document": document, "anchor": anchor, "revision": revision, "stance": stance}
    return {"kind": "evidence", "code": target, "revision": revision, "stance": stance}


def citation_target(citation: Mapping[str, Any]) -> str:
    """A citation as it is typed."""
    if citation.get("kind") == "section":
        return f"{citation.get('document', '')}#{citation.get('anchor', '')}"
    if citation.get("kind") == "code":
        lines = f":{citation['lines']}" if citation.get("lines") else ""
        return f"{citation.get('tree', '')}:{citation.get('path', '')}@{citation.get('commit', '')}{lines}"
    return str(citation.get("code", ""))


class Cells:
    """Turns values into cells, each with the findings at its path."""

    def __init__(self, findings: Sequence[Mapping[str, Any]]) -> None:
        self._by_path: dict[str, list[Mapping[str, Any]]] = {}
        for finding in findings:
            self._by_path.setdefault(finding["path"], []).append(finding)

    def cell(self, wanted: Input, path: str, value: Any, prefix: str = "") -> Cell:
        """`path` is the form's field name, `prefix` + `path` the place in the document."""
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        blank = False if wanted.kind == "check" else ""
        return Cell(wanted, path, blank if shown is None else shown, self._by_path.get(prefix + path, []))

    def fields(self, inputs: Sequence[Input], source: Any, path: str = "", prefix: str = "") -> list[Cell]:
        """Cells of scalar inputs of `source`, named `path` + input name."""
        return [self.cell(i, f"{path}{i.name}", at(source, i.name), prefix) for i in inputs]

    def rows(self, inputs: Sequence[Input], rows: Any, path: str, prefix: str = "") -> list[dict[str, Any]]:
        """For each row its number, its id, its cells, and findings of the row as a whole."""
        rows = rows if isinstance(rows, list) else []
        return [
            {
                "number": n,
                "id": "f-" + anchor_of(f"{path}[{n}]"),
                "cells": self.fields(inputs, row if isinstance(row, Mapping) else {}, f"{path}[{n}].", prefix),
                "findings": self._by_path.get(f"{prefix}{path}[{n}]", []),
            }
            for n, row in enumerate(rows)
        ]
