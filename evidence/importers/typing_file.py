"""The typing file that may come with a map: levers with aliases, and per row what no column says. Pure.

`{"levers": [{"slug", "name", "description", "aliases", "parent"}], "rows": {"D3": {"lever", "scope", "cause_class",
...}}}`
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from v2kb.rules.evidence import FIELDS
from v2kb.rules.file_refused import FileRefused
from v2kb.rules.names import lever_key
from v2kb.rules.sizes import too_much_text

MAX_TYPING_BYTES = 2 * 1024 * 1024
MAX_LEVERS = 2000
MAX_DIGITS = 100
_LEVER_FIELDS = ("slug", "name", "description", "aliases", "parent")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_UNITS = {"%": "percent", "µs": "us", "×": "x"}


class TypingRefused(FileRefused):
    """A typing file can't be used; `message` names the place."""


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
        why = too_much_text("The typing file", len(data), "it", MAX_TYPING_BYTES)
        raise TypingRefused("evidence.import.typing_size", why, "Split it.")
    raw = _json(data)
    _need(isinstance(raw, dict), "the file", "an object with levers and rows")
    unknown = sorted(set(raw) - {"levers", "rows"})
    _need(not unknown, ", ".join(unknown)[:80], "one of levers and rows")
    levers = raw.get("levers", [])
    _need(isinstance(levers, list) and len(levers) <= MAX_LEVERS, "levers", f"a list of at most {MAX_LEVERS} levers")
    rows = raw.get("rows", {})
    _need(isinstance(rows, dict), "rows", "an object with one entry per code")
    typed = [_lever(lever, f"levers[{index}]") for index, lever in enumerate(levers)]
    _different_names(typed)
    return Typing(_parents_first(typed), {str(code): _row(code, row) for code, row in rows.items()})


def _json(data: bytes) -> Any:
    try:
        raw = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole
        )
        _check_texts(raw, "")
        return raw
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        why, fix, cause = f"Line {line} of the typing file is not UTF-8.", "Save it as UTF-8.", error
    except json.JSONDecodeError as error:
        why = f"The typing file is not JSON: line {error.lineno}, column {error.colno}."
        fix, cause = "Check quotes, commas and brackets there.", error
    except RecursionError as error:
        why, fix, cause = "The typing file is nested too deeply.", "Write it as the example on the page.", error
    except ValueError as error:
        why, fix, cause = f"The typing file can't be read: {error}.", "Correct it.", error
    raise TypingRefused("evidence.import.typing_json", why, fix) from cause


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:40]!r} stands twice in one object")
        found[name] = value
    return found


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)


def _check_texts(value: Any, place: str) -> None:
    """Refuse NUL and halves of characters, which JSON can write (`\\u0000`) and no database stores."""
    if isinstance(value, str):
        if _NO_TEXT.search(value):
            raise ValueError(f"{place or 'the file'} holds characters that are not text")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_texts(name, f"a name in {place or 'the file'}")
            _check_texts(item, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check_texts(item, f"{place}[{number}]")


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


def _different_names(levers: list[TypedLever]) -> None:
    """Two levers of the file may not share a name, in any spelling."""
    owners: dict[str, str] = {}
    for index, lever in enumerate(levers):
        for name in (lever.name, lever.slug, *lever.aliases):
            owner = owners.setdefault(lever_key(name), lever.slug)
            _need(owner == lever.slug, f"levers[{index}]", f"free of names of another lever: {name[:80]} is {owner}")


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
    for name in ("lever", "measured_note"):
        _need(isinstance(raw.get(name, ""), str), f"{place}.{name}", "text")
    row = dict(raw)
    if isinstance(row.get("numbers"), list):
        row["numbers"] = [
            number | {"unit": _UNITS.get(number["unit"], number["unit"])}
            if isinstance(number, dict) and isinstance(number.get("unit"), str)
            else number
            for number in row["numbers"]
        ]
    return row
