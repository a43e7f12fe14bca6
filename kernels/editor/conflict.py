"""Two tabs over one draft: what each changed is merged, and what both changed is asked."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from kernels.editor.forms import replace_at
from kernels.editor.places import field_label, label_of
from v2kb.core.values import whole_number
from v2kb.rules.three_way import ABSENT, Conflict, merge

CHOICE = "choose:"
Reader = Callable[[QueryDict], dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """A field that both tabs changed, as the page asks about it."""

    path: str
    label: str
    base: str
    mine: str
    theirs: str
    name: str
    take_theirs: str


@dataclass(frozen=True)
class Merged:
    """The draft with both tabs' changes, what has to be asked, and whether the other tab changed this page at all."""

    document: dict[str, Any]
    asked: list[Asked]
    same_page: bool


def merge_tabs(read: Reader, posted: QueryDict, theirs_form: str) -> Merged:
    """Merge what was posted with what the other tab stored.

    `read` turns a posted form into the draft; `theirs_form` is what the form of the stored draft would post. The
    posted field `base` is the form as this tab saw it last; without it every difference is asked.
    """
    mine, theirs = read(posted), read(QueryDict(theirs_form))
    base = read(QueryDict(posted["base"])) if posted.get("base") else {}
    document, conflicts = merge(base, mine, theirs)
    return Merged(document, [_asked(conflict) for conflict in conflicts], same_page=base != theirs)


def _asked(conflict: Conflict) -> Asked:
    theirs = None if conflict.theirs is ABSENT else conflict.theirs
    return Asked(
        conflict.path,
        label_of(conflict.path),
        _side(conflict, conflict.base),
        _side(conflict, conflict.mine),
        _side(conflict, conflict.theirs),
        f"{CHOICE}{conflict.path}",
        json.dumps(theirs),
    )


def _side(conflict: Conflict, value: Any) -> str:
    """What one side has; of a row that one tab removed, also the fields that the other edited."""
    if value is ABSENT:
        return "(nothing)" if conflict.base is ABSENT else "(removed)"
    copies = [row for row in (conflict.base, conflict.mine, conflict.theirs) if isinstance(row, dict)]
    if not isinstance(value, dict) or len(copies) < 2:
        return _spoken(value)
    edited = [name for name in value if any(row.get(name) != value[name] for row in copies)]
    said = [f"{field_label(f'{conflict.path}.{name}')}: {_spoken(value[name])}" for name in edited]
    return f"{_title(value)} ({'; '.join(said)})"


def _spoken(value: Any) -> str:
    """A value as the page shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "(empty)"
    if isinstance(value, list):
        return f"{len(value)} row{'' if len(value) == 1 else 's'}: " + ", ".join(_title(row) for row in value)
    return _title(value) if isinstance(value, dict) else str(value) or "(empty)"


def _title(row: Any) -> str:
    """A row by its first filled texts."""
    texts = [text for text in row.values() if isinstance(text, str) and text] if isinstance(row, dict) else [str(row)]
    return " ".join(texts[:3]) or "(an empty row)"


def apply_choices(document: dict[str, Any], posted: QueryDict) -> None:
    """Put the other tab's values where the person chose them. A choice that can't be read changes nothing."""
    chosen = [(name.removeprefix(CHOICE), posted[name]) for name in posted if name.startswith(CHOICE) and posted[name]]
    for path, text in sorted(chosen, key=lambda item: _numbers(item[0]), reverse=True):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        replace_at(document, path, value)


def _numbers(path: str) -> list[tuple[int, str]]:
    """An order in which a later row comes after an earlier one, so that taking rows away leaves the others' numbers."""
    return [(whole_number(part, default=-1), part) for part in path.replace("[", ".").replace("]", "").split(".")]
