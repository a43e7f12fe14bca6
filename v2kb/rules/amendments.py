"""The design that stands: a spec document with the fields that its amendments replace.

An amendment is an appendix of the spec that changes a section without rewriting it. The rules judge what stands, and
the page shows both.
"""

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from v2kb.rules.document_shape import Problems, add_problem
from v2kb.rules.spec_fields import DOCUMENT

_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([0-9]{1,3})\])?")
_TRUE, _FALSE = ("yes", "true"), ("no", "false")


@dataclass(frozen=True, slots=True)
class Setting:
    """What an amendment makes of a field: its id (`by`), the value, and where it says so (`path`)."""

    by: str
    value: str
    path: str


def amended(document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Setting], Problems]:
    """Return (document as amended, field -> what set it, problems).

    `document` is canonical and stays as it is. A later amendment of a field wins. A field that the document doesn't
    have, or a value that the field can't take, is a problem at the amendment's own path, and changes nothing.
    """
    problems: Problems = []
    changed: dict[str, Setting] = {}
    result = document
    for number, amendment in enumerate(document["amendments"]):
        for index, entry in enumerate(amendment["fields"]):
            path = f"amendments[{number}].fields[{index}]"
            if not entry["field"]:
                add_problem(problems, f"{path}.field", "The amended field is not named.", "Name a field of the spec.")
                continue
            part = _STEP.match(entry["field"])[1]
            tried = {**result, part: copy.deepcopy(result.get(part))}
            if part not in DOCUMENT or not _put(tried, entry["field"], entry["value"]):
                message = f"The spec has no field {entry['field']}."
                add_problem(problems, f"{path}.field", message, "Name one that it has, such as roles.release.owners.")
                continue
            found: Problems = []
            read = DOCUMENT[part](tried[part], part, found)
            if found:
                add_problem(problems, f"{path}.value", f"{entry['field']}: {found[0].message}", found[0].fix)
                continue
            result = {**result, part: read}
            by = amendment["id"] or f"amendment {number + 1}"
            changed[entry["field"]] = Setting(by, entry["value"], path)
    return result, changed, problems


def amendments_behind(path: str, inputs: Iterable[str], changed: Mapping[str, Setting]) -> tuple[str, ...]:
    """Return the ids of the amendments that set what a rule read for its finding at `path`: the field there, one above
    or below it, or one of the rule's `inputs` that isn't a cell of some row. `changed` is that of `amended`.
    """
    single = [one for name in inputs if "[]" not in (one := _in_row(name, path))]
    behind = [
        setting.by
        for field, setting in changed.items()
        if _holds(field, path) or _holds(path, field) or any(_holds(one, field) for one in single)
    ]
    return tuple(dict.fromkeys(behind))


def _in_row(name: str, path: str) -> str:
    """A field of a table, such as wiring.tasks[].id, in the row of that table that `path` lies in."""
    table, _, cell = name.partition("[].")
    row = re.match(rf"{re.escape(table)}\[[0-9]+\]", path)
    return f"{row[0]}.{cell}" if row and cell else name


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _put(document: dict[str, Any], path: str, value: str) -> bool:
    """Set the value at `path`; False where the document has no such field, or a table stands there."""
    steps = [(match.group(1), match.group(2)) for match in _STEP.finditer(path)]
    if steps[0][0] == "amendments":
        return False
    holder: Any = document
    for position, (name, index) in enumerate(steps):
        if not isinstance(holder, dict) or name not in holder:
            return False
        last = position == len(steps) - 1
        if last and index is None:
            return _set(holder, name, value)
        holder = holder[name]
        if index is not None:
            if not isinstance(holder, list) or int(index) >= len(holder):
                return False
            holder = holder[int(index)]
    return False


def _set(holder: dict[str, Any], name: str, value: str) -> bool:
    now = holder[name]
    if isinstance(now, dict) or (isinstance(now, list) and any(isinstance(item, dict) for item in now)):
        return False
    if isinstance(now, list):
        holder[name] = [part.strip() for part in value.split(",") if part.strip()]
    elif isinstance(now, bool):
        word = value.strip().lower()
        holder[name] = True if word in _TRUE else False if word in _FALSE else value
    else:
        holder[name] = value
    return True
