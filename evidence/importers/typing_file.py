"""The typing file that may come with a map: levers with aliases, and per row what no column says. Pure.

`{"levers": [{"slug", "name", "description", "aliases", "parent"}], "rows": {"D3": {"lever", "scope", "cause_class",
...}}}`
"""

import json
from dataclasses import dataclass, field
from typing import Any

from v2kb.rules.evidence import FIELDS
from v2kb.rules.names import lever_key

MAX_TYPING_BYTES = 2 * 1024 * 1024
MAX_LEVERS = 2000
_LEVER_FIELDS = ("slug", "name", "description", "aliases", "parent")
_UNITS = {"%": "percent", "µs": "us", "×": "x"}


class TypingRefused(Exception):
    """A typing file can't be used. `code` is stable; `message` names the place; `fix` says what to do."""

    def __init__(self, code: str, message: str, fix: str) -> None:
        self.code, self.message, self.fix = code, message, fix
        super().__init__(message)


@dataclass(frozen=True)
class TypedLever:
    """A lever as the file gives it; `parent` is a slug or empty."""

    slug: str
    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    parent: str = ""


@dataclass(frozen=True)
class Typing:
    """Levers by slug, parents before their children, and row contents by code."""

    levers: dict[str, TypedLever] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def lever_keys(self) -> dict[str, str]:
        """Every name of the file's levers as a key -> slug."""
        return {
            lever_key(name): lever.slug
            for lever in self.levers.values()
            for name in (*lever.aliases, lever.name, lever.slug)
            if lever_key(name)
        }


def read_typing(data: bytes) -> Typing:
    """Read a typing file. Raises TypingRefused evidence.import.typing_size, .typing_json, .typing_shape."""
    if len(data) > MAX_TYPING_BYTES:
        raise TypingRefused(
            "evidence.import.typing_size",
            f"The typing file has {len(data)} bytes; {MAX_TYPING_BYTES} may be.",
            "Split it.",
        )
    try:
        raw = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TypingRefused(
            "evidence.import.typing_json", f"Line {line} of the typing file is not UTF-8.", "Save it as UTF-8."
        ) from error
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        place = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "somewhere"
        raise TypingRefused(
            "evidence.import.typing_json",
            f"The typing file is not JSON: {place}.",
            "Check quotes, commas and brackets there.",
        ) from error
    _need(isinstance(raw, dict), "the file", "an object with levers and rows")
    levers = raw.get("levers", [])
    _need(isinstance(levers, list) and len(levers) <= MAX_LEVERS, "levers", f"a list of at most {MAX_LEVERS} levers")
    rows = raw.get("rows", {})
    _need(isinstance(rows, dict), "rows", "an object with one entry per code")
    typed = [_lever(lever, f"levers[{index}]") for index, lever in enumerate(levers)]
    return Typing(_parents_first(typed), {str(code): _row(code, row) for code, row in rows.items()})


def _need(holds: bool, place: str, what: str) -> None:
    if not holds:
        raise TypingRefused(
            "evidence.import.typing_shape", f"In the typing file, {place} is not {what}.", "Correct it."
        )


def _lever(raw: Any, place: str) -> TypedLever:
    _need(isinstance(raw, dict) and set(raw) <= set(_LEVER_FIELDS), place, f"an object with {', '.join(_LEVER_FIELDS)}")
    for name in ("slug", "name"):
        _need(isinstance(raw.get(name), str) and bool(raw[name].strip()), f"{place}.{name}", "text")
    for name in ("description", "parent"):
        _need(isinstance(raw.get(name, ""), str), f"{place}.{name}", "text")
    aliases = raw.get("aliases", [])
    _need(isinstance(aliases, list) and all(isinstance(a, str) for a in aliases), f"{place}.aliases", "a list of texts")
    return TypedLever(raw["slug"], raw["name"], raw.get("description", ""), tuple(aliases), raw.get("parent", ""))


def _parents_first(levers: list[TypedLever]) -> dict[str, TypedLever]:
    by_slug = {lever.slug: lever for lever in levers}
    _need(len(by_slug) == len(levers), "levers", "a list of different slugs")
    ordered: dict[str, TypedLever] = {}
    waiting = dict(by_slug)
    while waiting:
        ready = [lever for lever in waiting.values() if lever.parent not in waiting]
        _need(bool(ready), f"levers {', '.join(sorted(waiting)[:5])}", "free of circles of parents")
        for lever in ready:
            ordered[lever.slug] = waiting.pop(lever.slug)
    return ordered


def _row(code: str, raw: Any) -> dict[str, Any]:
    place = f"rows.{str(code)[:40]}"
    _need(isinstance(raw, dict), place, "an object with fields of a row")
    unknown = sorted(set(raw) - set(FIELDS))
    _need(not unknown, f"{place}.{', '.join(unknown)[:80]}", f"one of the fields {', '.join(FIELDS)}")
    row = dict(raw)
    if isinstance(row.get("numbers"), list):
        row["numbers"] = [
            number | {"unit": _UNITS.get(number.get("unit"), number.get("unit", ""))}
            if isinstance(number, dict)
            else number
            for number in row["numbers"]
        ]
    return row
